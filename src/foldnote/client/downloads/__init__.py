"""Download results, resume interrupted downloads, and extract parts of an archive."""
