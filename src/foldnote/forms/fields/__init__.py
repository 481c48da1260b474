"""The fields of a form and the kinds of fields."""
