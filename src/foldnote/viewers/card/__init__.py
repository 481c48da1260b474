"""The live card of a job in a cell."""
