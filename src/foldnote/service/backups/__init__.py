"""Backup and restore of a data folder, each as one act: all of it or nothing of it."""
