"""The HTTP interface: application, middleware, request bodies, error responses and routes."""
