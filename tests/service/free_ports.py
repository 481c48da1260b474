"""Ports for programs that get their port as an option and start listening later."""

import random
import socket

_BEGIN, _END = 10_000, 32_000
"""Below the range from which Linux assigns ports to outgoing connections (from 32,768), which might take one meanwhile."""


def free_port() -> int:
    """Return a random unused port of this machine; random, so that parallel tests get different ones."""
    while True:
        port = random.SystemRandom().randrange(_BEGIN, _END)
        with socket.socket() as probe:
            try:
                probe.bind(("", port))
            except OSError:
                continue
        return port
