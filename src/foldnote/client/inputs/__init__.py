"""What a job is given: files, tables of settings, FASTA records, stages of a pipeline."""
