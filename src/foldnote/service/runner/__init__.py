"""The processes that run attempts and publish their outcomes."""
