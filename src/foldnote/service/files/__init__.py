"""Contents stored by hash, names of uploads, result archives and signed links."""
