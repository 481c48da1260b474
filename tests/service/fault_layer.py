"""Programs, with their children, whose writes, syncs and renames can be made to fail."""

import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

SERVICE, RUNNER, BOTH = "service.serve", "service.queue", "service"
"""Words in the command lines of the programs that a fault is meant for."""


def build(folder: Path, source: str = "faults.c") -> Path:
    """Build the library that is preloaded into the processes."""
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    if compiler is None:
        pytest.skip("faults of the file system are injected by a small C library, and there is no C compiler")
    library = folder / f"{source}.so"
    command = [
        compiler,
        "-shared",
        "-fPIC",
        "-O1",
        "-o",
        str(library),
        str(Path(__file__).with_name(source)),
        "-ldl",
    ]
    subprocess.run(command, check=True)
    return library


class FaultLayer:
    """Switch faults on and off in running programs that have ``environment``.

    Attributes:
        environment: the variables that a program needs; they affect only files ``below`` a folder.
    """

    def __init__(self, folder: Path, below: Path) -> None:
        self._control = folder / "faults"
        self._control.write_text("")
        self.environment = {
            "LD_PRELOAD": str(build(folder)),
            "FOLDNOTE_FAULTS": str(self._control),
            "FOLDNOTE_FAULTS_BELOW": str(below),
        }

    def set(self, action: str, kinds: str, every: int, who: str = BOTH) -> None:
        self._write(f"{action} {kinds} {every} {who}")

    def clear(self) -> None:
        self._write("")

    def _write(self, line: str) -> None:
        """Write the file atomically: a half-written line would be another fault."""
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
