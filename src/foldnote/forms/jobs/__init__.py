"""What a form asks of a service: names of jobs, files of earlier jobs, calls in the background."""
