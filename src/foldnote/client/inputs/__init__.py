"""Inputs of jobs: files, tables of settings, FASTA records, stages of a pipeline."""
