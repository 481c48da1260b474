"""Search the lab's own MMseqs2 databases for the alignment of a job, with ColabFold's program.

``colabfold_search`` runs the search and pairs the sequences of a complex's chains, with the MMseqs2 and the
databases that the administrator has configured. Nothing is sent anywhere.
"""

from __future__ import annotations

import itertools
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from engine_protocol import fail, report
from program_lines import read_lines, start

FOLDER = Path("search")
"""The program's working folder, in the job's folder; it is removed afterwards."""
BEGIN, END = 0.02, 0.2
"""The part of the search in the run's progress."""
NEEDED_FLAGS = {"search": "--prefilter-mode", "pairaln": "--pairing-dummy-mode"}
"""For each module of MMseqs2, a flag that ColabFold's program uses and that earlier releases lack."""
STEPS, STEPS_OF_SECOND, STEPS_OF_PAIRING = 20, 10, 19
"""Number of MMseqs2 commands for one database, for a second one, and to pair sequences."""
FIRST_NAME = 101
"""ColabFold calls the chains of a job 101, 102, …"""
LONGEST_QUOTE = 200
_RUNNING = re.compile(r"Running \S+ (\w+)(.*)")
_ERRORS = (
    "error",
    "invalid",
    "cannot",
    "can not",
    "no such file",
    "does not exist",
    "not found",
    "could not",
)
"""Words in the lines with which MMseqs2 reports errors."""


@dataclass(frozen=True)
class OwnDatabases:
    """The databases that the administrator has configured."""

    program: str
    """The MMseqs2 program."""
    uniref: Path
    environmental: Path | None = None
    sensitivity: str = ""
    """Empty for the default of ColabFold's server."""
    arguments: tuple[str, ...] = ()
    """Additional arguments of ColabFold's program."""

    @property
    def paths(self) -> list[Path]:
        """The databases to search."""
        return [self.uniref, *([self.environmental] if self.environmental else [])]

    @property
    def names(self) -> str:
        """Their names, in words."""
        return " and ".join(path.name for path in self.paths)


def find_own_databases(options: Mapping[str, Any]) -> OwnDatabases | None:
    """Return the configured databases; None without any."""
    if "uniref" not in options:
        return None
    environmental = options.get("environmental")
    return OwnDatabases(
        program=options["mmseqs"],
        uniref=Path(options["uniref"]),
        environmental=Path(environmental) if environmental else None,
        sensitivity=options.get("sensitivity", ""),
        arguments=tuple(options.get("search_arguments", ())),
    )


def describe(databases: OwnDatabases) -> list[dict[str, Any]]:
    """Return the databases for the manifest: name, date, size, and the searching program."""
    program = f"MMseqs2 {read_version(databases.program)}".strip()
    rows = []
    for path in databases.paths:
        files = [each for each in path.parent.glob(f"{path.name}*") if each.is_file()]
        newest = max(each.stat().st_mtime for each in files)
        rows.append(
            {
                "name": path.name,
                "modified": datetime.fromtimestamp(newest, UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
                "sizeBytes": sum(each.stat().st_size for each in files),
                "program": program,
            }
        )
    return rows


def read_version(program: str) -> str:
    """Return MMseqs2's own version: a release, or the commit from which it was built."""
    return _ask(program, "version").strip().partition("\n")[0][:LONGEST_QUOTE]


def search(chains: Sequence[str], pairing: str | None, databases: OwnDatabases, target: Path) -> int:
    """Search the databases and write the alignment; return its number of rows besides the job's own.

    Args:
        chains: sequences of the chains.
        pairing: whether rows of a complex are paired; None for ColabFold's default.
        databases: the databases to search.
        target: the A3M file, in the layout of ColabFold.
    """
    is_complex = len(chains) > 1
    refuse_old_program(databases, is_complex=is_complex)
    query = Path("query.fasta")
    query.write_text(f">{target.stem}\n{':'.join(chains)}\n", "utf-8")
    options = [] if pairing is None else ["--pair-mode", pairing]
    process = start([*make_command(query, databases), *options], dict(os.environ))
    module, lines = follow(process, list_steps(databases, is_complex=is_complex), databases)
    found = FOLDER / target.name
    if process.wait() or not found.is_file():
        fail(explain(module, lines, databases), is_worth_repeating=True)
    found.rename(target)
    shutil.rmtree(FOLDER)
    own = {str(FIRST_NAME + number) for number in range(len(chains))}
    with target.open(encoding="utf-8", errors="replace") as stream:
        return sum(line.startswith(">") and not set(line[1:].split()) <= own for line in stream)


def refuse_old_program(databases: OwnDatabases, *, is_complex: bool) -> None:
    """Fail if MMseqs2 is too old for ColabFold's program, which would fail after the first step."""
    for module in ("search", "pairaln") if is_complex else ("search",):
        if NEEDED_FLAGS[module] not in _ask(databases.program, module, "-h"):
            fail(
                f"MMseqs2 {read_version(databases.program)}, which this service is configured to search its"
                f" databases with, has no {NEEDED_FLAGS[module]} of {module}: it is too old for ColabFold."
                " The administrator of the service can install a newer one.",
                is_worth_repeating=True,
            )


def make_command(query: Path, databases: OwnDatabases) -> list[str]:
    """Return the command line of ColabFold's program, without the pairing."""
    program = Path(sys.executable).with_name("colabfold_search")
    environmental = databases.environmental
    return [
        *(sys.executable, "-u", str(program), str(query), str(databases.uniref.parent), str(FOLDER)),
        *("--mmseqs", databases.program, "--threads", os.environ.get("OMP_NUM_THREADS", "1")),
        *("--db1", databases.uniref.name, "--use-env", str(int(environmental is not None))),
        *(("--db3", str(environmental)) if environmental else ()),
        *(("-s", databases.sensitivity) if databases.sensitivity else ()),
        *databases.arguments,
    ]


def list_steps(databases: OwnDatabases, *, is_complex: bool) -> int:
    """Return the approximate number of MMseqs2 commands of the search."""
    return STEPS + (len(databases.paths) - 1) * STEPS_OF_SECOND + is_complex * STEPS_OF_PAIRING


def follow(process: subprocess.Popen[str], steps: int, databases: OwnDatabases) -> tuple[str, list[str]]:
    """Copy the output to the log and report the progress; return the last module and lines."""
    lines: list[str] = []
    done, module, began = 0, "", time.monotonic()
    message = f"Searching {databases.uniref.name}"
    report(BEGIN, message)
    for line in read_lines(process):
        if line is not None:
            sys.stdout.write(line)
            sys.stdout.flush()
            lines = [*lines[-200:], line.strip()]
            if not (found := _RUNNING.search(line)):
                continue
            done, module = min(done + 1, steps), found[1]
            name = next((path.name for path in reversed(databases.paths) if path.name in found[2]), "")
            message = f"Searching {name} (mmseqs {module})" if name else f"Searching (mmseqs {module})"
        report(BEGIN + (END - BEGIN) * done / steps, f"{message}, {time.monotonic() - began:.0f} s so far")
    return module, lines


def explain(module: str, lines: Sequence[str], databases: OwnDatabases) -> str:
    """Explain why the search failed, in a sentence without paths."""
    said = next(_find_errors(lines), "")
    where = f" in mmseqs {module}" if module else ""
    quote = f": {said}" if said else ""
    return (
        f"The search of the service's own databases ({databases.names}) failed{where}{quote}. The log has all"
        " of it. The administrator of the service can check the databases, or give an alignment of your own."
    )


def _find_errors(lines: Sequence[str]) -> Iterator[str]:
    """Yield the lines in which MMseqs2 reports errors, the last first, with names in place of paths.

    ColabFold's own lines after them only say where it noticed the error.
    """
    own = list(itertools.takewhile(lambda line: not line.startswith("Traceback"), lines))
    for line in reversed(own):
        if any(word in line.lower() for word in _ERRORS):
            yield re.sub(r"\S*/(\S+)", r"\1", line)[:LONGEST_QUOTE].rstrip(".! ")


def _ask(program: str, *arguments: str) -> str:
    """Return the output of MMseqs2 for these arguments."""
    try:
        done = subprocess.run(
            [program, *arguments], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
        )
    except OSError as exc:
        fail(
            f"MMseqs2, which this service is configured to search its databases with, could not be started:"
            f" {exc.strerror or exc}. The administrator of the service can correct that.",
            is_worth_repeating=True,
        )
    return done.stdout + done.stderr
