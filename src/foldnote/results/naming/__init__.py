"""File-name conventions of prediction programs, and kinds of files."""
