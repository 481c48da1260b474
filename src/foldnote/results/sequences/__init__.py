"""Sequences, alignments and antibody numbering."""
