"""The service's logic, without HTTP and SQL."""
