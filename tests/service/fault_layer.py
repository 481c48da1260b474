"""A service whose writes, syncs and renames can be made to fail, and those of its runners with it."""

import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from service_process import ServiceProcess

SOURCE = Path(__file__).with_name("faults.c")
SERVICE, RUNNER, BOTH = "service.serve", "service.queue", "service"
"""Words of the command lines that a fault is meant for."""


def build(folder: Path) -> Path:
    """The library that is loaded into the processes."""
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    if compiler is None:
        pytest.skip("faults of the file system are injected by a small C library, and there is no C compiler")
    library = folder / "faults.so"
    command = [compiler, "-shared", "-fPIC", "-O1", "-o", str(library), str(SOURCE), "-ldl"]
    subprocess.run(command, check=True)
    return library


class FaultLayer:
    """Switches faults on and off in the running processes of one service."""

    def __init__(self, library: Path, service: ServiceProcess) -> None:
        self._control = service.folder / "faults"
        self._control.write_text("")
        service.environment |= {
            "LD_PRELOAD": str(library),
            "FOLDNOTE_FAULTS": str(self._control),
            "FOLDNOTE_FAULTS_BELOW": str(service.folder / "data"),
        }

    def set(self, action: str, kinds: str, every: int, who: str = BOTH) -> None:
        self._write(f"{action} {kinds} {every} {who}")

    def clear(self) -> None:
        self._write("")

    def _write(self, line: str) -> None:
        """At once: a half written line would be another fault."""
        draft = self._control.with_suffix(".draft")
        draft.write_text(line)
        draft.rename(self._control)

    @contextmanager
    def active(self, action: str, kinds: str, every: int, who: str = BOTH) -> Iterator[None]:
        self.set(action, kinds, every, who)
        try:
            yield
        finally:
            self.clear()
