"""Stand-in for AlphaFlow's package."""
