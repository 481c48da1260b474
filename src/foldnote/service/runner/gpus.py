"""NVIDIA GPUs of this machine: which there are, and how much of their memory a run's processes use.

Both are asked of ``nvidia-smi``, which is part of the driver. Imports the standard library only, since each
runner loads it.
"""

from __future__ import annotations

import contextlib
import re
import subprocess
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

ASSIGNED = "CUDA_VISIBLE_DEVICES"
"""Variable that names the GPUs which a process may use."""
ORDER = {"CUDA_DEVICE_ORDER": "PCI_BUS_ID"}
"""Lets CUDA number the GPUs as ``nvidia-smi`` does."""
_PROGRAM = "nvidia-smi"
_FORMAT = "--format=csv,noheader,nounits"
_ANSWER_S = 10.0
"""Time after which an unanswered question is given up: a GPU that has failed can block the driver."""
_MEASURE_EVERY_S = 2.0


@dataclass(frozen=True, slots=True)
class Gpu:
    """One GPU, or a part of one that counts as such (MIG)."""

    identity: str
    """As ``CUDA_VISIBLE_DEVICES`` names it: its number, or the identifier that the service was given."""
    memory_mb: int = 0
    """Memory in MB (2**20 bytes); 0 if unknown."""


def list_gpus(
    environment: Mapping[str, str], note_unknown: Callable[[str], object] = lambda _word: None
) -> tuple[Gpu, ...]:
    """The GPUs that ``CUDA_VISIBLE_DEVICES`` allows, each once, all if it is not set; none without a driver.

    Args:
        environment: of the service or the node.
        note_unknown: called with each word of the variable that names no GPU of this machine.
    """
    allowed = environment.get(ASSIGNED)
    if allowed is not None and not allowed.strip():
        return ()
    try:
        answer = subprocess.run(
            [_PROGRAM, "--query-gpu=index,uuid,memory.total", _FORMAT],
            env=dict(environment),
            capture_output=True,
            text=True,
            timeout=_ANSWER_S,
            check=True,
        ).stdout
    except (OSError, ValueError, subprocess.SubprocessError):
        return ()
    found = [row for line in answer.splitlines() if (row := _cells(line, 3))]
    if allowed is None:
        return tuple(Gpu(index, _number(memory)) for index, _, memory in found)
    gpus: dict[str, Gpu] = {}
    for word in filter(None, map(str.strip, allowed.split(","))):
        if word.startswith("MIG-"):  # a part; the question lists whole GPUs only
            gpus.setdefault(word, Gpu(word))
        elif (named := _find(word, found)) is not None:
            gpus.setdefault(named[1], Gpu(word, _number(named[2])))
        else:
            note_unknown(word)
    return tuple(gpus.values())


def _find(word: str, found: Sequence[Sequence[str]]) -> Sequence[str] | None:
    """Number, identifier and memory of the GPU that a word of ``CUDA_VISIBLE_DEVICES`` names, if any does.

    The word is a number, or the beginning of an identifier that no other GPU has.
    """
    rows = [row for row in found if word == row[0] or (word.startswith("GPU-") and row[1].startswith(word))]
    return rows[0] if len(rows) == 1 else None


def show_gpus(gpus: Sequence[Gpu]) -> dict[str, str]:
    """Variables by which a run sees these GPUs and no others."""
    return {**ORDER, ASSIGNED: ",".join(gpu.identity for gpu in gpus)}


_SHORTAGE = re.compile(
    r"CUDA out of memory|CUDA_ERROR_OUT_OF_MEMORY|cudaErrorMemoryAllocation|RESOURCE_EXHAUSTED: Out of memory"
    r"|cupy\S*\.OutOfMemoryError|HIP out of memory"
)
_WANTED = re.compile(r"(?:[Tt]ried to allocate|trying to allocate|allocating) ([\d,.]+) ?([KMGT]i?B|bytes)")
_FREE = re.compile(r"total capacity of ([\d.]+ \w+) of which ([\d.]+ \w+) is free")


def tells_shortage(line: str) -> bool:
    """Whether a program's line says that the memory of its GPU was not enough (PyTorch, JAX, CuPy, CUDA)."""
    return _SHORTAGE.search(line) is not None


def explain_shortage(name: str, line: str, gpus: Sequence[str]) -> str:
    """One sentence on what was wanted of which GPU, and one on what to do.

    Args:
        name: of what was run.
        line: the program's line, for which ``tells_shortage`` is true.
        gpus: the GPUs of the run, as ``CUDA_VISIBLE_DEVICES`` names them.
    """
    where = f"GPU {', '.join(gpus)}" if len(gpus) == 1 else f"GPUs {', '.join(gpus)}"
    wanted, free = _WANTED.search(line), _FREE.search(line)
    parts = [f"it asked for {_format_amount(wanted[1], wanted[2])}"] if wanted else []
    parts += [f"{free[2]} of {free[1]} were free"] if free else []
    amounts = f": {', and '.join(parts)}" if parts else ""
    return (
        f"{name} ran out of memory on {where}{amounts}."
        " Try a smaller input, fewer results at a time, or a GPU with more memory."
    )


def _format_amount(number: str, unit: str) -> str:
    """An amount of memory with its unit; a number of bytes in GiB or MiB."""
    if unit != "bytes":
        return f"{number} {unit}"
    count = int(re.sub(r"\D", "", number) or 0)
    return f"{count / 2**30:.1f} GiB" if count >= 2**30 else f"{count / 2**20:.1f} MiB"


class GpuMeter:
    """Measures the GPU memory of a run while it goes on, without ever waiting for the answer."""

    def __init__(self) -> None:
        self.peak_mb: float | None = None
        """Most memory that the run's processes had together, in MB (2**20 bytes); None if none was seen."""
        self._query: subprocess.Popen[str] | None = None
        self._asked = float("-inf")
        self._is_possible = True

    def measure(self, list_processes: Callable[[], Collection[int]]) -> None:
        """Take the answer to the last question, if there is one, and ask again when it is time."""
        if self._query is not None:
            if self._query.poll() is None:
                if time.monotonic() - self._asked > _ANSWER_S:
                    self.close()
                return
            self._note(self._query.communicate()[0], set(list_processes()))
            self._query = None
        if self._is_possible and time.monotonic() - self._asked >= _MEASURE_EVERY_S:
            self._ask()

    def close(self) -> None:
        """Stop measuring."""
        self._is_possible = False
        if self._query is not None:
            self._query.kill()
            with contextlib.suppress(subprocess.TimeoutExpired):  # the driver may hold it
                self._query.communicate(timeout=1.0)
            self._query = None

    def _ask(self) -> None:
        self._asked = time.monotonic()
        command = [_PROGRAM, "--query-compute-apps=pid,used_gpu_memory", _FORMAT]
        try:
            self._query = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
                errors="replace",
            )
        except OSError:
            self._is_possible = False

    def _note(self, answer: str, own: Collection[int]) -> None:
        rows = [row for line in answer.splitlines() if (row := _cells(line, 2))]
        used = [_number(memory) for pid, memory in rows if pid.isdecimal() and int(pid) in own]
        if used:
            self.peak_mb = max(self.peak_mb or 0.0, float(sum(used)))


def _cells(line: str, number: int) -> list[str]:
    """The cells of a line of CSV; empty if there are not ``number``."""
    cells = [cell.strip() for cell in line.split(",")]
    return cells if len(cells) == number else []


def _number(text: str) -> int:
    """A number of the answer; 0 for ``[N/A]``."""
    return int(text) if text.isdecimal() else 0
