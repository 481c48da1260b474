"""The linked explorer: 3D view, sequence, plots and table with one selection."""
