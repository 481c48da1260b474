"""How results are displayed in cells and on pages."""
