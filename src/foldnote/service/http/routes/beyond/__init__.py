"""Routes that are not part of the interface, which a service has only where its configuration says so."""
