"""Routes that are not part of the interface and exist only if the service is configured for them."""
