"""Fetching results, resuming broken downloads, selecting parts of an archive."""
