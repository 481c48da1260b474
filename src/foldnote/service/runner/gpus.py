"""NVIDIA GPUs of this machine, and the GPU memory that the processes of a run use.

Both come from ``nvidia-smi``, which is part of the driver. This module imports only the standard library,
since each runner loads it.
"""

from __future__ import annotations

import contextlib
import re
import subprocess
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

ASSIGNED = "CUDA_VISIBLE_DEVICES"
"""Variable that names the GPUs that a process may use."""
ORDER = {"CUDA_DEVICE_ORDER": "PCI_BUS_ID"}
"""Lets CUDA number the GPUs as ``nvidia-smi`` does."""
_PROGRAM = "nvidia-smi"
_FORMAT = "--format=csv,noheader,nounits"
_ANSWER_S = 10.0
"""Timeout of a query: a GPU that has failed can block the driver."""
_MEASURE_EVERY_S = 2.0
_MEASURE_FIRST_S = 0.1
"""Pause after the first query of a run's memory, and its maximum; the pause doubles after each query."""
_LAST_S = 0.5
"""Time to wait for the last answer if nothing was observed before."""
_BEFORE_KILL_S = 2.0
"""The same for a run that is ended by force, which is delayed by the wait."""
_MAX_QUOTED = 200
_WHOLE = re.compile(r"GPU \d+: .*\(UUID: (GPU-[0-9a-f-]+)\)")
_PART = re.compile(r"\s+MIG \S*?(\d+)gb\S*\s+Device\s+\d+: \(UUID: (MIG-\S+)\)")


@dataclass(frozen=True, slots=True)
class Gpu:
    """One GPU, or a part of one that counts as a GPU (MIG)."""

    identity: str
    """Its name in ``CUDA_VISIBLE_DEVICES``: its number, or the identifier that the service was given."""
    memory_mb: int = 0
    """Memory in MB (2**20 bytes); 0 if unknown."""


@dataclass(frozen=True, slots=True)
class FoundGpus:
    """The GPUs that a service or a node may use."""

    gpus: tuple[Gpu, ...] = ()
    unknown: tuple[str, ...] = ()
    """Words of ``CUDA_VISIBLE_DEVICES`` that match no GPU of this machine."""
    reason: str = ""
    """Why there are none; empty if there are any."""

    def describe(self) -> str:
        """Return one sentence: the number of GPUs and the memory of each, or why there are none."""
        if not self.gpus:
            return f"No NVIDIA GPU can be used: {self.reason}."
        number = len(self.gpus)
        listed = ", ".join(f"{gpu.identity} ({_format_memory(gpu.memory_mb)})" for gpu in self.gpus)
        return f"{number} NVIDIA GPU{'s' * (number != 1)} can be used: {listed}."


def list_gpus(environment: Mapping[str, str]) -> tuple[Gpu, ...]:
    """Return the GPUs that ``CUDA_VISIBLE_DEVICES`` allows, each once; all if it is not set."""
    return find_gpus(environment).gpus


def find_gpus(environment: Mapping[str, str]) -> FoundGpus:
    """Return the allowed GPUs, and the reason if there are none.

    Args:
        environment: environment of the service or the node.
    """
    allowed = environment.get(ASSIGNED)
    if allowed is not None and not allowed.strip():
        return FoundGpus(reason=f"{ASSIGNED} is empty")
    try:
        output = _ask(environment, "--query-gpu=index,uuid,memory.total", _FORMAT)
    except FileNotFoundError:
        return FoundGpus(reason=f"{_PROGRAM}, which is part of the driver, is not on PATH")
    except subprocess.CalledProcessError as exc:
        message = " ".join((exc.stdout or exc.stderr).split())[:_MAX_QUOTED]
        return FoundGpus(
            reason=f"{_PROGRAM} ended with exit code {exc.returncode}{message and ': '}{message.rstrip('.')}"
        )
    except subprocess.TimeoutExpired:
        return FoundGpus(reason=f"{_PROGRAM} did not answer within {_ANSWER_S:g} s")
    except (OSError, ValueError) as exc:
        return FoundGpus(reason=f"{_PROGRAM} cannot be run: {getattr(exc, 'strerror', None) or exc}")
    rows = [row for line in output.splitlines() if (row := _cells(line, 3)) and row[0].isdecimal()]
    if not rows:
        return FoundGpus(reason=f"{_PROGRAM} lists none")
    parts = _list_parts(environment)
    if allowed is None:
        return FoundGpus(
            tuple(
                gpu
                for index, identifier, memory in rows
                for gpu in parts.get(identifier) or (Gpu(index, _number(memory)),)
            )
        )
    return _choose_allowed(allowed, rows, parts)


def _ask(environment: Mapping[str, str], *question: str) -> str:
    """Return the output of the driver's program; raise the exceptions of `subprocess.run`."""
    return subprocess.run(
        [_PROGRAM, *question],
        env=dict(environment),
        capture_output=True,
        text=True,
        errors="replace",
        timeout=_ANSWER_S,
        check=True,
    ).stdout


def _list_parts(environment: Mapping[str, str]) -> dict[str, tuple[Gpu, ...]]:
    """Return the parts (MIG) of each divided GPU, by its identifier; CUDA cannot use such a GPU as a whole.

    ``nvidia-smi -L`` reports their nominal memory, as in ``1g.5gb``; a part has at least 95 % of it.
    """
    try:
        output = _ask(environment, "-L")
    except (OSError, ValueError, subprocess.SubprocessError):
        return {}
    parts: dict[str, tuple[Gpu, ...]] = {}
    whole = ""
    for line in output.splitlines():
        if (match := _WHOLE.match(line)) is not None:
            whole = match[1]
        elif (match := _PART.match(line)) is not None:
            memory_mb = int(match[1]) * 1024 * 95 // 100
            parts[whole] = (*parts.get(whole, ()), Gpu(match[2], memory_mb))
    return parts


def _choose_allowed(
    allowed: str, rows: Sequence[Sequence[str]], parts: Mapping[str, Sequence[Gpu]]
) -> FoundGpus:
    """Return the GPUs that the value of ``CUDA_VISIBLE_DEVICES`` names, in its order."""
    gpus: dict[str, Gpu] = {}
    unknown = []
    listed = {part.identity: part for own_parts in parts.values() for part in own_parts}
    for identity in filter(None, map(str.strip, allowed.split(","))):
        if identity.startswith("MIG-"):  # a driver that does not list it may still know it
            gpus.setdefault(identity, listed.get(identity, Gpu(identity)))
        elif (row := _find(identity, rows)) is not None:
            for part in parts.get(row[1], ()):
                gpus.setdefault(part.identity, part)
            if row[1] not in parts:
                gpus.setdefault(row[1], Gpu(identity, _number(row[2])))
        else:
            unknown.append(identity)
    reason = "" if gpus else f"{ASSIGNED} names none of those that {_PROGRAM} lists"
    return FoundGpus(tuple(gpus.values()), tuple(unknown), reason)


def _find(identity: str, listed: Sequence[Sequence[str]]) -> Sequence[str] | None:
    """Return number, identifier and memory of the GPU that a word of ``CUDA_VISIBLE_DEVICES`` names, if any.

    The word is a number, or an unambiguous prefix of an identifier.
    """
    rows = [
        row
        for row in listed
        if identity == row[0] or (identity.startswith("GPU-") and row[1].startswith(identity))
    ]
    return rows[0] if len(rows) == 1 else None


def show_gpus(gpus: Sequence[Gpu]) -> dict[str, str]:
    """Return variables that make only these GPUs visible to a run."""
    return {**ORDER, ASSIGNED: ",".join(gpu.identity for gpu in gpus)}


_SHORTAGE = re.compile(
    r"CUDA out of memory|CUDA_ERROR_OUT_OF_MEMORY|cudaErrorMemoryAllocation|RESOURCE_EXHAUSTED: Out of memory"
    r"|cupy\S*\.OutOfMemoryError|HIP out of memory"
)
_WANTED = re.compile(r"(?:[Tt]ried to allocate|trying to allocate|allocating) ([\d,.]+) ?([KMGT]i?B|bytes)")
_FREE = re.compile(r"total capacity of ([\d.]+ \w+) of which ([\d.]+ \w+) is free")


def reports_shortage(line: str) -> bool:
    """Return whether a line of a program reports insufficient GPU memory (PyTorch, JAX, CuPy, CUDA)."""
    return _SHORTAGE.search(line) is not None


def explain_shortage(name: str, line: str, gpus: Sequence[str]) -> str:
    """Return a sentence on what was requested of which GPU, and one on what to do.

    Args:
        name: name of the program.
        line: the program's line, for which ``reports_shortage`` is true.
        gpus: the GPUs of the run, as ``CUDA_VISIBLE_DEVICES`` names them.
    """
    device = f"GPU {', '.join(gpus)}" if len(gpus) == 1 else f"GPUs {', '.join(gpus)}"
    requested, free = _WANTED.search(line), _FREE.search(line)
    parts = [f"it asked for {_format_amount(requested[1], requested[2])}"] if requested else []
    parts += [f"{free[2]} of {free[1]} were free"] if free else []
    amounts = f": {', and '.join(parts)}" if parts else ""
    return (
        f"{name} ran out of memory on {device}{amounts}."
        " Try a smaller input, fewer results at a time, or a GPU with more memory."
    )


def _format_amount(number: str, unit: str) -> str:
    """Format an amount of memory with its unit; a number of bytes in GiB or MiB."""
    if unit != "bytes":
        return f"{number} {unit}"
    count = int(re.sub(r"\D", "", number) or 0)
    return f"{count / 2**30:.1f} GiB" if count >= 2**30 else f"{count / 2**20:.1f} MiB"


class GpuMeter:
    """Measures the GPU memory of a run while it is in progress, without blocking on the answer.

    Queries are frequent at first, so that even a run of less than a second is observed.

    Args:
        last_s: seconds for which ``finish`` waits for the last answer.
    """

    def __init__(self, last_s: float = _LAST_S) -> None:
        self._last_s = last_s
        self.peak_mb: float | None = None
        """Peak memory of the run's processes together, in MB (2**20 bytes); None if none was observed.

        In that case the run used none, ended too soon, or the driver does not report it (MIG, containers).
        """
        self._query: subprocess.Popen[str] | None = None
        self._own: set[int] = set()
        """The run's processes at the time of the query; they may have ended before the answer."""
        self._asked = float("-inf")
        self._pause_s = _MEASURE_FIRST_S
        self._is_possible = True

    def measure(self, list_processes: Callable[[], Collection[int]], *, is_due: bool = False) -> None:
        """Process the answer to the last query, if any; query again when it is time, or if `is_due`."""
        if self._query is not None:
            if self._query.poll() is None:
                if time.monotonic() - self._asked > _ANSWER_S:
                    self.close()
                return
            self._note(self._query.communicate()[0], self._own.union(list_processes()))
            self._query = None
        if self._is_possible and (is_due or time.monotonic() - self._asked >= self._pause_s):
            self._own = set(list_processes())
            self._ask()

    def finish(self, list_processes: Callable[[], Collection[int]] | None = None) -> None:
        """Process the last answer, waiting for it after a short run, and stop measuring.

        Args:
            list_processes: the processes of a run that is about to be ended, for one more query.
        """
        if list_processes is not None:
            self._take_answer(_BEFORE_KILL_S)
            self.measure(list_processes, is_due=True)
            self._take_answer(_BEFORE_KILL_S)
        elif self._query is not None and (not self.peak_mb or self._query.poll() is not None):
            self._take_answer(self._last_s)
        self.close()

    def _take_answer(self, limit_s: float) -> None:
        if self._query is not None:
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._note(self._query.communicate(timeout=limit_s)[0], self._own)
                self._query = None

    def close(self) -> None:
        """Stop measuring."""
        self._is_possible = False
        if self._query is not None:
            self._query.kill()
            with contextlib.suppress(subprocess.TimeoutExpired):  # the driver may block it
                self._query.communicate(timeout=1.0)
            self._query = None

    def _ask(self) -> None:
        if self._asked > 0:
            self._pause_s = min(2 * self._pause_s, _MEASURE_EVERY_S)
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

    def _note(self, output: str, own: Collection[int]) -> None:
        rows = [row for line in output.splitlines() if (row := _cells(line, 2))]
        used = sum(_number(memory) for pid, memory in rows if pid.isdecimal() and int(pid) in own)
        if used:  # "[N/A]" is no amount
            self.peak_mb = max(self.peak_mb or 0.0, float(used))


def _cells(line: str, number: int) -> list[str]:
    """Return the cells of a CSV line; empty if their number is not ``number``."""
    cells = [cell.strip() for cell in line.split(",")]
    return cells if len(cells) == number else []


def _format_memory(memory_mb: int) -> str:
    return f"{memory_mb / 1024:.1f} GiB" if memory_mb else "memory unknown"


def _number(text: str) -> int:
    """Parse a number of the answer; 0 for ``[N/A]``."""
    return int(text) if text.isdecimal() else 0
