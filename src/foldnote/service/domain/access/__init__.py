"""Authentication, rate limits and permissions."""
