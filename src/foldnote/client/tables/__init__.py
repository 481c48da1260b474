"""Jobs, tools and the results of a batch as lists and DataFrames."""
