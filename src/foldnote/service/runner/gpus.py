"""NVIDIA GPUs of this machine: which there are, and how much of their memory a run's processes use.

Both are asked of ``nvidia-smi``, which is part of the driver. Imports the standard library only, since each
runner loads it.
"""

from __future__ import annotations

import contextlib
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


def list_gpus(environment: Mapping[str, str]) -> tuple[Gpu, ...]:
    """The GPUs that ``CUDA_VISIBLE_DEVICES`` allows, all if it is not set; none without a driver."""
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
    return tuple(_find(word.strip(), found) for word in allowed.split(",") if word.strip())


def _find(word: str, found: Sequence[Sequence[str]]) -> Gpu:
    """The GPU that a word of ``CUDA_VISIBLE_DEVICES`` names: a number, or the beginning of an identifier."""
    for index, uuid, memory in found:
        if word == index or (word.startswith("GPU-") and uuid.startswith(word)):
            return Gpu(word, _number(memory))
    return Gpu(word)


def show_gpus(gpus: Sequence[Gpu]) -> dict[str, str]:
    """Variables by which a run sees these GPUs and no others."""
    return {**ORDER, ASSIGNED: ",".join(gpu.identity for gpu in gpus)}


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
