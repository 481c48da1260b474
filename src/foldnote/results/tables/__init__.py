"""Delimited text, spreadsheets, JSON records and arrays as DataFrames and NumPy arrays."""
