"""Interactive HTML tables of DataFrames."""
