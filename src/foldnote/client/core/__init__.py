"""HTTP to one service: operations for both APIs, transport, retries, pacing and error mapping."""
