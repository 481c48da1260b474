"""HTTP: the application, middleware, bodies, error answers and routes."""
