"""Backup and restore of a data folder; each either succeeds completely or changes nothing."""
