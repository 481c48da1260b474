"""Files that a form's settings name, and their contents."""
