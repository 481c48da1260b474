"""DataFrames as interactive tables."""
