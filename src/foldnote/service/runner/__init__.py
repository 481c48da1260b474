"""The process that runs one attempt and publishes its outcome."""
