"""The job queue: dispatcher, executors, outcomes and cleanup."""
