"""What an administrator's programs ask of a running service: whether it is ready, and its measurements."""
