"""The common part of all adapters: read options, run the lab's program with log and progress, collect files.

It runs with the service's Python and uses only the standard library. The program runs with the Python that
the user configured, in an environment that keeps libraries from contacting other machines.
"""

from __future__ import annotations

import os
import re
import select
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from engine_protocol import AMINO_ACIDS, clean_sequence, fail, report

OUTPUTS = Path("outputs")
PROGRAM_FOLDER = Path("program")
"""Folder for the program's output, in the job's working folder."""
SILENT = {
    "HF_HUB_OFFLINE": "1",
    "TRANSFORMERS_OFFLINE": "1",
    "HF_HUB_DISABLE_TELEMETRY": "1",
    "WANDB_MODE": "disabled",
    "WANDB_DISABLED": "true",
}
"""Variables that tell libraries to download, send and report nothing."""
HEARTBEAT_S = 3.0
CHUNK_BYTES = 65_536
LONGEST_QUOTE = 300
PROGRESS_BAR = re.compile(r"(\d+)%\|.*?\|\s*(\d+)/(\d+)")
"""A line of tqdm: percent, bar, steps done and in all."""
CAUSES = (
    ("out of memory", "The GPU's memory was not enough; try a smaller job, or a larger GPU."),
    ("RESOURCE_EXHAUSTED", "The GPU's memory was not enough; try a smaller job, or a larger GPU."),
    ("No CUDA GPUs are available", "It found no GPU."),
    ("Found no NVIDIA driver", "It found no GPU."),
    ("not compiled with CUDA", "It found no GPU that its PyTorch can use."),
    ("No module named", "The Python that is configured for it lacks this module."),
)
"""Phrases in a program's last lines, with an explanation for the user."""
LAST_LINES = 40


@dataclass(frozen=True)
class ProgressSpan:
    """The part that one run of a program takes in the progress of the whole job.

    Attributes:
        begin: fraction of the job that is done before the run.
        end: fraction that is done after the run.
        message: what the run does.
    """

    begin: float
    end: float
    message: str

    def at(self, fraction: float) -> float:
        """Return the fraction of the job when this part is done to ``fraction``."""
        return self.begin + (self.end - self.begin) * min(max(fraction, 0.0), 1.0)


class LineCount:
    """Computes the fraction of finished results from lines that the program prints for each."""

    def __init__(self, words: str, results: int) -> None:
        """Expect ``results`` lines with these words."""
        self._words = words
        self._results = results
        self._made = 0

    def __call__(self, line: str) -> float | None:
        """Return the fraction that a line reports, or None."""
        if self._words not in line:
            return None
        self._made += 1
        return self._made / self._results


def require_integer(settings: Mapping[str, Any], name: str, lowest: int = 1) -> int:
    """Return a setting that the program takes as a whole number; fail if it is not one."""
    value = settings[name]
    if float(value) != int(value) or int(value) < lowest:
        fail(f"{name} is {value}; the program takes a whole number of {lowest} or more.")
    return int(value)


def read_chains(text: str, letters: str = AMINO_ACIDS + "X") -> list[str]:
    """Return the chains of a sequence with ``:`` between them; fail for other than ``letters``."""
    chains = [clean_sequence(part) for part in text.split(":")]
    for number, chain in enumerate(chains, 1):
        where = f"Chain {number} of the sequence" if len(chains) > 1 else "The sequence"
        if not chain:
            fail(f"{where} is empty.")
        if strange := ", ".join(sorted(set(chain) - set(letters))):
            fail(f"{where} has letters that the program does not know: {strange}.")
    return chains


def read_alignment(path: Path, query: str) -> str:
    """Return the text of an A3M file whose first sequence is ``query``; fail if it is not.

    Leading comment lines and Windows line ends are removed.
    """
    lines = path.read_text("utf-8", "replace").splitlines()
    text = "\n".join(line for line in lines if line.strip() and not line.startswith("#")) + "\n"
    records = ["".join(record.split("\n")[1:]) for record in ("\n" + text).split("\n>")[1:]]
    if not records:
        fail("The alignment has no sequences; A3M has a line with > before each.")
    first = "".join(letter for letter in records[0] if letter.isupper())
    if first != query:
        fail(
            "The first sequence of the alignment is not the sequence of the job"
            f" ({len(first)} and {len(query)} residues). Make the alignment for this sequence."
        )
    widths = {sum(not letter.islower() for letter in "".join(record.split())) for record in records}
    if len(widths) > 1:
        fail("The sequences of the alignment have different numbers of columns; it is no A3M file.")
    return text


def run_program(
    name: str,
    command: Sequence[str | Path],
    span: ProgressSpan,
    *,
    folder: Path | None = None,
    read_progress: Callable[[str], float | None] | None = None,
    variables: Mapping[str, str] | None = None,
    more_logs: str = "",
) -> None:
    """Run a program to its end, with its output as the job's log; fail if it fails.

    Args:
        name: name of the program.
        command: program and arguments.
        span: its part of the job's progress.
        folder: working directory; a separate folder below the job's by default.
        read_progress: returns the fraction done that an output line reports; by default that of tqdm's bars.
        variables: additional environment variables.
        more_logs: pattern of files below the folder, whose last lines are added to the log after a failure.
    """
    where = folder or PROGRAM_FOLDER
    where.mkdir(parents=True, exist_ok=True)
    words = [os.fspath(word) for word in command]
    sys.stdout.write("$ " + " ".join(words) + "\n")
    sys.stdout.flush()
    report(span.begin, span.message)
    try:
        process = subprocess.Popen(
            words,
            cwd=where,
            env=make_environment(words[0], variables),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
    except OSError as exc:
        fail(f"{name} could not be started: {exc.strerror or exc}.", is_worth_repeating=True)
    lines = OutputFollower(span, read_progress or read_bar).follow(process)
    code = process.wait()
    if code:
        for path in sorted(where.glob(more_logs)) if more_logs else ():
            tail = path.read_text("utf-8", "replace").splitlines()[-LAST_LINES:]
            sys.stdout.write(
                "\n".join([f"-- {path.relative_to(where)}", *map(escape_control_line, tail), ""])
            )
        fail(explain_failure(name, code, lines), is_worth_repeating=True)


def escape_control_line(line: str) -> str:
    """Escape a program's line, so that it is never mistaken for a message of the engine."""
    return (" " if line.startswith("FOLDNOTE_") else "") + line


def make_environment(python: str, variables: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return the program's environment: without our variables, with its Python's folder first on PATH."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("FOLDNOTE_") and name != "PYTHONPATH"
    }
    path = os.pathsep.join([str(Path(python).parent), kept.get("PATH", os.defpath)])
    return {**kept, **SILENT, "PATH": path, "PYTHONUNBUFFERED": "1", **(variables or {})}


class OutputFollower:
    """Copies a program's output to the log line by line and reports its progress.

    A redrawn progress bar counts as progress and is not logged. While the program prints nothing, the elapsed
    time is reported.
    """

    def __init__(self, span: ProgressSpan, read_progress: Callable[[str], float | None]) -> None:
        self._span = span
        self._read_progress = read_progress
        self._fraction = 0.0
        self._started_at = self._last_reported_s = time.monotonic()
        self._last: list[str] = []

    def follow(self, process: subprocess.Popen[bytes]) -> list[str]:
        """Read until the program closes its output; return its last lines."""
        stream = process.stdout
        if stream is None:
            return []
        rest = b""
        while True:
            is_ready, _, _ = select.select([stream], [], [], HEARTBEAT_S)
            if is_ready:
                chunk = os.read(stream.fileno(), CHUNK_BYTES)
                if not chunk:
                    break
                *parts, rest = re.split(rb"[\r\n]", rest + chunk)
                for part in parts:
                    self._process_line(part.decode("utf-8", "replace"))
            self._report_time()
        self._process_line(rest.decode("utf-8", "replace"))
        return self._last

    def _process_line(self, line: str) -> None:
        if not line.strip():
            return
        fraction = self._read_progress(line)
        if fraction is not None:
            self._fraction = fraction
            self._last_reported_s = time.monotonic()
            report(self._span.at(fraction), self._span.message)
        if PROGRESS_BAR.search(line):
            return
        sys.stdout.write(escape_control_line(line) + "\n")
        sys.stdout.flush()
        self._last = [*self._last[1 - LAST_LINES :], line.strip()]

    def _report_time(self) -> None:
        now = time.monotonic()
        if now - self._last_reported_s >= HEARTBEAT_S:
            self._last_reported_s = now
            report(self._span.at(self._fraction), f"{self._span.message}, for {now - self._started_at:.0f} s")


def read_bar(line: str, of: int = 0) -> float | None:
    """Return the fraction that a bar of tqdm shows; None without a bar, or one without ``of`` steps."""
    found = PROGRESS_BAR.search(line)
    if found is None or (of and int(found[3]) != of):
        return None
    return int(found[2]) / max(int(found[3]), 1)


def explain_failure(name: str, code: int, lines: Sequence[str]) -> str:
    """Explain why a program failed, as far as its last lines show."""
    how = f"was ended by signal {-code}" if code < 0 else f"ended with exit code {code}"
    text = "\n".join(lines)
    cause = next((f" {sentence}" for words, sentence in CAUSES if words in text), "")
    last = f" Its last line: {lines[-1][:LONGEST_QUOTE]}" if lines else ""
    return f"{name} {how}.{cause}{last}"


def require_files(name: str, paths: Iterable[Path], what: str) -> list[Path]:
    """Return the paths, sorted; fail if there are none or one is empty."""
    found = sorted(path for path in paths if path.is_file())
    if not found or any(path.stat().st_size == 0 for path in found):
        fail(
            f"{name} ended without an error, but wrote no {what}. The log says what it did.",
            is_worth_repeating=True,
        )
    return found


def copy_file(source: Path, name: str) -> Path:
    """Copy a file into the result, under ``name``."""
    target = OUTPUTS / name
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(source, target)
    return target


def describe_program(name: str, folder: Path, arguments: Sequence[str] = ()) -> list[str]:
    """Return notes on which copy of the program ran, and with which of the lab's arguments."""
    commit = read_commit(folder)
    known = f"at commit {commit}" if commit else "at an unknown commit"
    more = [f"The configuration adds these arguments: {' '.join(arguments)}."] if arguments else []
    return [f"Run by your own copy of {name}, {known}.", *more]


def describe_weights(path: Path) -> str:
    """Return a note on a file of weights."""
    return f"Weights: {path.name} ({path.stat().st_size} bytes)."


def read_commit(folder: Path) -> str:
    """Return the commit of a git checkout; empty if unknown."""
    try:
        head = (folder / ".git" / "HEAD").read_text("utf-8").strip()
        if not head.startswith("ref: "):
            return head
        reference = folder / ".git" / head.removeprefix("ref: ")
        if reference.is_file():
            return reference.read_text("utf-8").strip()
        packed = (folder / ".git" / "packed-refs").read_text("utf-8").splitlines()
    except OSError:
        return ""
    return next((row.split()[0] for row in packed if row.endswith(head.removeprefix("ref: "))), "")
