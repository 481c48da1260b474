"""The routes, one module per subject; they read requests, call the service and write responses."""
