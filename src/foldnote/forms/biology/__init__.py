"""Parse sequences and residue numbers as typed."""
