"""Which tools fit a task that somebody describes: local, explainable, without any network."""
