"""A batch as a table in a form."""
