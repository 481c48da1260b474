"""Stand-in for DiffAb's package."""
