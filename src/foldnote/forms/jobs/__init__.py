"""Job names, files of earlier jobs, and client calls in the background."""
