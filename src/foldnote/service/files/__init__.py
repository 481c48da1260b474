"""Bytes: content kept once by its hash, names of uploads, result archives, signed links."""
