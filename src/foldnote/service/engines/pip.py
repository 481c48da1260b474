"""Run ``pip install``, or uv for builds of PyTorch; follow the output line by line, and explain failures.

The user's own pip configuration determines the registry. Retries are left to pip. uv knows which build of
PyTorch fits the machine's GPU, or that there is none: the build for the CPU is gigabytes smaller than the one
with CUDA, which pip installs on Linux.
"""

from __future__ import annotations

import os
import re
import selectors
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

_SILENCE_S = 3.0
_SERVES_OTHERS = (22, 3)
_SHOWN = re.compile(
    r"^\s*(Collecting|Downloading|Processing|Building|Preparing|Installing collected|Using cached)\b[^\n]*"
)
_SHOWN_LENGTH = 100
_OWN_LENGTH = 300
_COMPLAINT = re.compile(r"^\s*(ERROR|error)\b|^× |No matching distribution|WARNING: Retrying")
_REGISTRY = re.compile(r"^[^=\n]*\.(index-url|extra-index-url|no-index)=", re.MULTILINE)
_OTHER_HASH = "DO NOT MATCH THE HASHES"
_FULL_DISK = re.compile(r"No space left on device|Disk quota exceeded")
_REASONS = (
    (
        re.compile(r"No matching distribution|Could not find a version"),
        "The registry that pip is configured for does not have this version for this python or machine.",
    ),
    (  # newer pips name the fault before their sentence about it
        re.compile(
            r"name resolution|service not known|Network is unreachable|Connection|timed out|ProxyError"
            r"|error: (?:connection-failed|connection-timeout|proxy-connection-failed|incomplete-download)"
        ),
        "The package registry that pip is configured for cannot be reached: check the network and try again.",
    ),
    (
        re.compile(r"CERTIFICATE_VERIFY_FAILED|error: ssl-verification-failed"),
        "The registry's certificate is not trusted: check pip's cert setting.",
    ),
    (
        re.compile(r"Failed building wheel|error: (?:command|failed-wheel-build-for-install)"),
        "A package has no prebuilt wheel for this machine.",
    ),
)


def can_serve_others() -> bool:
    """Return whether this interpreter has a pip that can install into other environments (22.3 or later)."""
    try:
        major, minor, *_ = version("pip").split(".")
        return (int(major), int(minor)) >= _SERVES_OTHERS
    except (PackageNotFoundError, ValueError):
        return False


def pip_command(python: Path, requirements: Sequence[str]) -> list[str]:
    """Return the pip command that installs ``requirements`` in the environment of ``python``."""
    return [*_call_pip(python), "install", "--progress-bar", "off", *requirements]


def _call_pip(python: Path) -> list[str]:
    """Return the environment's own pip, or that of the running interpreter if it has none."""
    folder = python.parent.parent
    if any(folder.glob("lib/python*/site-packages/pip")) or (folder / "Lib/site-packages/pip").exists():
        return [str(python), "-m", "pip"]
    return [sys.executable, "-m", "pip", "--python", str(python)]


def uv_command(python: Path, requirements: Sequence[str], environment: Mapping[str, str]) -> list[str] | None:
    """Return the uv command that installs the builds of ``requirements`` that fit the machine's GPU, if any.

    None if uv is not on PATH, on systems other than Linux, where there is only one build, and if pip is
    configured for a registry, which uv would ignore.
    """
    uv = shutil.which("uv", path=environment.get("PATH"))
    if uv is None or sys.platform != "linux" or _has_own_registry(python, environment):
        return None
    backend = [] if environment.get("UV_TORCH_BACKEND") else ["--torch-backend", "auto"]
    return [uv, "pip", "install", "--no-progress", "--python", str(python), *backend, *requirements]


def _has_own_registry(python: Path, environment: Mapping[str, str]) -> bool:
    """Return whether the user's pip is configured for registries other than PyPI, or for none."""
    listing = subprocess.run(
        [*_call_pip(python), "config", "list"],
        capture_output=True,
        text=True,
        errors="replace",
        env=dict(environment),
        check=False,
    )
    return bool(listing.returncode or _REGISTRY.search(listing.stdout))


class InstallerRun:
    """A run of pip or uv.

    Attributes:
        returncode: the exit status once ``lines`` has ended.
        errors: lines of the output that state the failure, or its last lines.
        mismatch: pip's output about packages with unexpected hashes; else empty.
    """

    def __init__(self, command: Sequence[str], environment: Mapping[str, str], log: Path) -> None:
        self._command = list(command)
        self._environment = dict(environment)
        self._log = log
        self._tail: list[str] = []
        self.returncode = 0
        self.errors: list[str] = []
        self.mismatch: list[str] = []

    def lines(self) -> Iterator[str]:
        """Yield the program's current activity, repeated every few seconds while there is no new output."""
        shown = ""
        with self._log.open("a", encoding="utf-8") as log:
            for line in self._read():
                if line is not None:
                    log.write(line + "\n")
                    log.flush()
                    self._remember(line)
                    if match := _SHOWN.match(line):
                        shown = _shorten(match.group(0).strip())
                yield shown
        if self.returncode and not self.errors:
            self.errors = self._tail[-3:]

    def _remember(self, line: str) -> None:
        self._tail = [*self._tail[-20:], line]
        if self.mismatch or _OTHER_HASH in line:
            self.mismatch.append(line)
        if _COMPLAINT.search(line) or _FULL_DISK.search(line):
            self.errors.append(line.strip())

    def _read(self) -> Iterator[str | None]:
        """Yield lines of the output; None after some seconds of silence."""
        with (
            subprocess.Popen(
                self._command,
                env=self._environment,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
            ) as process,
            selectors.DefaultSelector() as selector,
        ):
            assert process.stdout is not None
            selector.register(process.stdout, selectors.EVENT_READ)
            try:
                yield from _split(process, selector)
            except BaseException:
                process.terminate()  # Ctrl-C ends the installer, and must end this as well
                raise
        self.returncode = process.returncode


def _split(process: subprocess.Popen[bytes], selector: selectors.DefaultSelector) -> Iterator[str | None]:
    assert process.stdout is not None
    rest = b""
    while True:
        if not selector.select(_SILENCE_S):
            yield None
            continue
        chunk = os.read(process.stdout.fileno(), 65_536)
        if not chunk:
            break
        *lines, rest = (rest + chunk).split(b"\n")
        yield from (line.decode("utf-8", "replace") for line in lines)
    if rest:
        yield rest.decode("utf-8", "replace")


def tells_full_disk(lines: Sequence[str]) -> bool:
    """Return whether a program reports in ``lines`` that the disk is full."""
    return any(_FULL_DISK.search(line) for line in lines)


def explain_failure(errors: Sequence[str]) -> str:
    """Explain why pip failed, with pip's own message if it is short or there is no explanation."""
    text = "\n".join(errors)
    meaning = next((sentence for pattern, sentence in _REASONS if pattern.search(text)), "")
    own = errors[-1].removeprefix("ERROR: ").removeprefix("× ").rstrip(".") if errors else "it gave no reason"
    if meaning and len(own) > _SHOWN_LENGTH:
        return meaning
    return f"{meaning} pip says: {own[:_OWN_LENGTH]}.".strip()


def _shorten(line: str) -> str:
    """Reduce paths and addresses in the line to their last part."""
    words = [word.rsplit("/", 1)[-1] if "/" in word else word for word in line.split()]
    return " ".join(words)[:_SHOWN_LENGTH]
