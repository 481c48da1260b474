"""The way of a job from the queue to its end: dispatcher, attempts, runner, executors."""
