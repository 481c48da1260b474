"""Safe reading of untrusted ZIP and tar archives."""
