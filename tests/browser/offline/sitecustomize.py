"""Cut the network of every Python process that has this on its path: only this computer can be reached.

Refused addresses are written to the file that ``FOLDNOTE_TEST_REFUSED`` names, for tests to read.
"""

import atexit
import gc
import ipaddress
import os
import pathlib
import socket
import sys

# Importing it builds 38 parsers, which takes every Jupyter server two seconds, and its schemas have no such
# fields.
sys.modules["rfc3987_syntax"] = None
# Several searches for garbage at its end take a kernel a second, a quarter of its processor time.
atexit.register(gc.freeze)

_connect, _connect_ex, _resolve = socket.socket.connect, socket.socket.connect_ex, socket.getaddrinfo


def _is_local(host):
    if host in ("", "localhost", None):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback or ipaddress.ip_address(host).is_unspecified
    except ValueError:
        return False


def _check(host):
    host = host.decode() if isinstance(host, bytes) else host
    if not _is_local(host):
        with pathlib.Path(os.environ["FOLDNOTE_TEST_REFUSED"]).open("a") as record:
            record.write(f"{host}\n")
        raise OSError(101, f"The network is cut: {host}")


def _guarded(original):
    def call(self, address):
        if self.family in (socket.AF_INET, socket.AF_INET6):
            _check(address[0])
        return original(self, address)

    return call


def _guarded_resolve(host, *args, **kwargs):
    if host != socket.gethostname():
        _check(host)
    return _resolve(host, *args, **kwargs)


if os.environ.get("FOLDNOTE_TEST_REFUSED"):
    socket.socket.connect = _guarded(_connect)
    socket.socket.connect_ex = _guarded(_connect_ex)
    socket.getaddrinfo = _guarded_resolve
