"""Tell users at the end of a job, by requests to addresses that the administrator allows."""
