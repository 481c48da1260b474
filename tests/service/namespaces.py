"""Hosts of a private network: kernel namespaces, each with an address, joined by one bridge.

They need administrator rights for networks (`CAP_NET_ADMIN` and `CAP_SYS_ADMIN`) and iproute2.
"""

import contextlib
import ctypes
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

_OWN = Path("/proc/thread-self/ns/net")
_NETWORK = 0x40000000  # CLONE_NEWNET
_FOLDER = Path("/run/netns")
_WORD = "foldnote-test"


class UnavailableError(Exception):
    """This machine does not let this user create namespaces."""


class Host:
    """One namespace with the address 10.213.0.`number`."""

    def __init__(self, name: str, number: int) -> None:
        self.name = f"{_WORD}-{os.getpid()}-{name}"
        self.address = f"10.213.0.{number}"
        self.port = f"port{number}"
        """The end of its link at the bridge."""
        self.prefix = ("nsenter", f"--net={_FOLDER / self.name}")

    @property
    def identity(self) -> int:
        """The inode number of the namespace."""
        return (_FOLDER / self.name).stat().st_ino

    def has(self, pid: int) -> bool:
        """Return whether the process is on this host."""
        try:
            return Path(f"/proc/{pid}/ns/net").stat().st_ino == self.identity
        except OSError:
            return False

    @contextmanager
    def entered(self) -> Iterator[None]:
        """Move this thread to the host for the block, so that its sockets and child processes are there."""
        with _OWN.open() as before, (_FOLDER / self.name).open() as there:
            _set_namespace(there.fileno())
            try:
                yield
            finally:
                _set_namespace(before.fileno())


class Network:
    """Hosts that reach one another; the bridge is in the namespace of the first."""

    def __init__(self, *names: str) -> None:
        self.hosts = {name: Host(name, number) for number, name in enumerate(names, 1)}
        self._middle = self.hosts[names[0]]

    def __enter__(self) -> "Network":
        _remove_left()
        try:
            self._make()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        for host in self.hosts.values():  # removes its links, too
            with contextlib.suppress(UnavailableError):
                _ip("netns", "del", host.name)

    def cut(self, host: Host) -> None:
        """Take the host's link down: nothing arrives there, and no connection is reset."""
        self._in_middle("link", "set", host.port, "down")

    def restore(self, host: Host) -> None:
        self._in_middle("link", "set", host.port, "up")

    def _make(self) -> None:
        for host in self.hosts.values():
            _ip("netns", "add", host.name)
            _ip("-n", host.name, "link", "set", "lo", "up")
        self._in_middle("link", "add", "bridge", "type", "bridge")
        self._in_middle("addr", "add", f"{self._middle.address}/24", "dev", "bridge")
        self._in_middle("link", "set", "bridge", "up")
        for host in self.hosts.values():
            if host is self._middle:
                continue
            self._in_middle(
                "link", "add", host.port, "type", "veth", "peer", "name", "net", "netns", host.name
            )
            self._in_middle("link", "set", host.port, "master", "bridge", "up")
            _ip("-n", host.name, "addr", "add", f"{host.address}/24", "dev", "net")
            _ip("-n", host.name, "link", "set", "net", "up")

    def _in_middle(self, *arguments: str) -> None:
        _ip("-n", self._middle.name, *arguments)


@contextmanager
def private_network(*names: str) -> Iterator[Network]:
    """Make these hosts, and move this thread to the first; skip the test where that is not allowed."""
    with contextlib.ExitStack() as stack:
        try:
            made = stack.enter_context(Network(*names))
        except UnavailableError as exc:
            pytest.skip(f"no network namespaces can be made here: {exc}")
        stack.enter_context(made.hosts[names[0]].entered())
        yield made


def _ip(*arguments: str) -> None:
    try:
        path = f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin"
        program = shutil.which("ip", path=path) or "ip"
        done = subprocess.run((program, *arguments), capture_output=True, text=True, check=False)
    except FileNotFoundError as exc:
        raise UnavailableError("iproute2 is not installed") from exc
    if done.returncode:
        raise UnavailableError(f"ip {' '.join(arguments)}: {done.stderr.strip()}")


def _remove_left() -> None:
    """Remove the namespaces of test processes that no longer exist."""
    for path in _FOLDER.glob(f"{_WORD}-*"):
        number = re.fullmatch(rf"{_WORD}-(\d+)-\w+", path.name)
        if number and not Path(f"/proc/{number[1]}").exists():
            with contextlib.suppress(UnavailableError):
                _ip("netns", "del", path.name)


def _set_namespace(descriptor: int) -> None:
    library = ctypes.CDLL(None, use_errno=True)
    if library.setns(descriptor, _NETWORK):
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))
