"""Ports for programs that are told where to listen, and begin to listen later."""

import random
import socket

_BEGIN, _END = 10_000, 32_000
"""Below the ports that Linux gives to outgoing connections (from 32,768), any of which may take one meanwhile."""


def free_port() -> int:
    """A port of this machine that nobody uses; chosen at random, so that tests side by side differ."""
    while True:
        port = random.SystemRandom().randrange(_BEGIN, _END)
        with socket.socket() as probe:
            try:
                probe.bind(("", port))
            except OSError:
                continue
        return port
