"""The table of known metrics: meaning, unit, direction and source."""
