"""Speaking HTTP to one service: operations for both APIs, transport, retry, pacing, errors."""
