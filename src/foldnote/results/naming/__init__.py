"""How programs name the files of a prediction, and what kind a file is."""
