"""Who asks, how often, and whether they may."""
