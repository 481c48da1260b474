"""Notify users of the end of a job by requests to URLs that the administrator allows."""
