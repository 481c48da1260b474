"""Programs that start with their modules loaded, as forks of a process that imported them.

The imports would take longer than most services and commands of a test run. A forked process can be killed, has its own
streams and starts engines like any other. Tests of the start of Python itself, such as of a library that is preloaded,
have to start Python instead.
"""

import atexit
import json
import os
import select
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from functools import cache
from pathlib import Path
from typing import IO, Any

SOURCE = """
import gc, importlib, json, os, socket, sys
for name in sys.argv[2:]:
    name, _, function = name.partition(":")
    module = importlib.import_module(name)
    if function:
        getattr(module, function)()
channel = socket.socket(fileno=int(sys.argv[1]))
assert os.listdir("/proc/self/task") == [str(os.getpid())], "a thread would not be in a fork"
gc.freeze()
while True:
    message, streams, _, _ = socket.recv_fds(channel, 1 << 20, 3)
    if not message:
        sys.exit()
    request = json.loads(message)
    if "ended" in request:
        answer = os.waitstatus_to_exitcode(os.waitpid(request["ended"], 0)[1])
    elif not (answer := os.fork()):
        break
    channel.send(str(answer).encode())
    for stream in streams:
        os.close(stream)
channel.close()
for number, stream in enumerate(streams):
    os.dup2(stream, number)
    os.close(stream)
os.umask(request["umask"])
os.chdir(request["folder"])
os.environ.clear()
os.environ.update(request["environment"])
sys.argv = ["-c", *request["arguments"]]
exec(compile(request["code"], "<string>", "exec"), {"__name__": "__main__"})
"""
SERVICE = (
    "foldnote.service.admin",
    "foldnote.service.serve",
    "foldnote.service.engines.registry:load_engines",
)
"""Modules, and a function that reads the bundled engines, which takes a tenth of a second."""


class ForkedPython:
    """A process that runs ``code`` like ``python -c``, with the part of ``subprocess.Popen``'s interface that tests use.

    Attributes:
        pid: its process id, which is not reused until the process has been waited for.
        stdout: what it prints, as bytes.
        returncode: exit status, or minus the signal that ended it; None until it is known.
    """

    def __init__(
        self,
        code: str,
        *arguments: str,
        environment: dict[str, str],
        stderr: IO[Any],
        stdin: IO[Any] | None = None,
        modules: tuple[str, ...] = SERVICE,
    ) -> None:
        """Start the process with ``modules`` loaded; their names are not defined in the code."""
        umask = os.umask(0)
        os.umask(umask)
        request = {"code": code, "arguments": arguments, "environment": environment}
        request |= {"umask": umask, "folder": str(Path.cwd())}
        self._source = _source(modules)
        reading, writing = os.pipe()
        with Path(os.devnull).open() as nothing, os.fdopen(writing, "wb") as stdout:
            streams = (nothing if stdin is None else stdin, stdout, stderr)
            self.pid = self._source.ask(request, *(stream.fileno() for stream in streams))
        self.stdout = os.fdopen(reading, "rb")
        self.returncode: int | None = None
        self._end = os.pidfd_open(self.pid)

    def poll(self) -> int | None:
        """Return the exit status; None while the process runs."""
        return self.returncode if self._is_over(0) else None

    def wait(self, timeout: float | None = None) -> int:
        """Wait for the process to end and return its exit status."""
        if not self._is_over(timeout):
            raise subprocess.TimeoutExpired(f"process {self.pid}", timeout or 0)
        assert self.returncode is not None
        return self.returncode

    def send_signal(self, number: int) -> None:
        """Send a signal, unless the process has ended."""
        if self.poll() is None:
            signal.pidfd_send_signal(self._end, number)

    def kill(self) -> None:
        """Kill the process."""
        self.send_signal(signal.SIGKILL)

    def _is_over(self, timeout: float | None) -> bool:
        if self.returncode is None:
            waiting = select.poll()
            waiting.register(self._end, select.POLLIN)
            if not waiting.poll(None if timeout is None else timeout * 1000):
                return False
            self.returncode = self._source.ask({"ended": self.pid})
            os.close(self._end)
        return True


def run_forked(
    code: str,
    *arguments: str,
    environment: dict[str, str],
    said: str = "",
    modules: tuple[str, ...] = SERVICE,
) -> subprocess.CompletedProcess[str]:
    """Run ``code`` to its end and capture its output, like ``subprocess.run([sys.executable, "-c", code, ...])``."""
    with tempfile.TemporaryFile("w+") as given, tempfile.TemporaryFile() as errors:
        given.write(said)
        given.seek(0)
        process = ForkedPython(
            code, *arguments, environment=environment, stdin=given, stderr=errors, modules=modules
        )
        with process.stdout:
            printed = process.stdout.read().decode()
        status = process.wait(120)
        errors.seek(0)
        return subprocess.CompletedProcess(arguments, status, printed, errors.read().decode())


class _Source:
    """The process that is forked."""

    def __init__(self, modules: tuple[str, ...]) -> None:
        self._channel, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._is_asked = threading.Lock()
        self._process = subprocess.Popen(
            [sys.executable, "-c", SOURCE, str(theirs.fileno()), *modules],
            pass_fds=[theirs.fileno()],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            env={name: value for name, value in os.environ.items() if name != "FOLDNOTE_ENGINE_PATH"},
        )
        theirs.close()
        atexit.register(self._close)

    def ask(self, request: dict[str, Any], *streams: int) -> int:
        """Send a request and return the response: a new process id, or the status of an ended process."""
        with self._is_asked:
            socket.send_fds(self._channel, [json.dumps(request).encode()], streams)
            return int(self._channel.recv(100))

    def _close(self) -> None:
        self._channel.close()
        self._process.wait()


@cache
def _source(modules: tuple[str, ...]) -> _Source:
    return _Source(modules)
