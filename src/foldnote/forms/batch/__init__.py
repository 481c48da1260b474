"""The batch table of a form."""
