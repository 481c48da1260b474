"""The HTTP routes of the Jupyter server extension."""
