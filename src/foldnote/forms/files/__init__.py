"""Files that a form refers to, and what they hold."""
