"""How bundled engines report to their runner: progress, failure, score, notes, seed and settings used.

It runs inside the engines' own environments and uses only the standard library.
"""

from __future__ import annotations

import csv
import json
import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn

USER_FAILURE = 2
"""Exit status of a failure that the user can correct, and that every run of the same job would repeat."""
PROGRAM_FAILURE = 1
"""Exit status of any other failure."""
AMINO_ACIDS = "ACDEFGHIKLMNPQRSTVWY"
"""One-letter codes of the standard amino acids."""


def read_job() -> dict[str, Any]:
    """Read the job of this working folder."""
    job: dict[str, Any] = json.loads(Path("job.json").read_text("utf-8"))
    return job


def clean_sequence(text: str) -> str:
    """Return the sequence in capitals, without white space."""
    return "".join(text.split()).upper()


def list_nonstandard_letters(sequence: str) -> str:
    """Return the letters of a sequence that are not standard amino acids, once each; empty for none."""
    return ", ".join(sorted(set(sequence) - set(AMINO_ACIDS)))


def report(fraction: float, message: str) -> None:
    """Report the progress: ``fraction`` from 0 to 1."""
    line = json.dumps({"fraction": fraction, "message": message})
    sys.stdout.write(f"FOLDNOTE_PROGRESS {line}\n")
    sys.stdout.flush()


def fail(sentence: str, *, is_worth_repeating: bool = False) -> NoReturn:
    """End the run with a sentence for the user.

    Args:
        sentence: what is wrong and what to do.
        is_worth_repeating: whether another run of the same job may succeed, as after a shortage of memory;
            invalid settings or files are not worth repeating.
    """
    sys.stderr.write(f"FOLDNOTE_ERROR {sentence}\n")
    sys.exit(PROGRAM_FAILURE if is_worth_repeating else USER_FAILURE)


def reject_nonstandard_letters(subject: str, sequence: str, method: str) -> None:
    """End the run with a sentence if a sequence has letters that are not standard amino acids.

    Args:
        subject: the sequence, described as the beginning of the sentence.
        sequence: in capitals, without white space.
        method: the method that accepts only the standard ones.
    """
    if strange := list_nonstandard_letters(sequence):
        fail(f"{subject} has {strange}; {method} takes the 20 standard amino acids only.")


def write_score(figures: Mapping[str, float | int | str]) -> None:
    """Write the figures of the run."""
    Path("score.json").write_text(json.dumps(figures), "utf-8")


def write_table(
    name: str,
    rows: Iterable[Mapping[str, object] | Sequence[object]],
    columns: Sequence[str] | None = None,
) -> None:
    """Write a table of the result as CSV: UTF-8, line feeds, quotes where needed.

    Args:
        name: file name in ``outputs``.
        rows: each a mapping by column, in which a missing column is an empty cell, or the cells in order.
        columns: in order; by default the keys of the first row.

    Raises:
        ValueError: a row has a column that is not among ``columns``, or another number of cells.
    """
    if columns is None:
        rows = list(rows)
        columns = [str(name) for name in rows[0]] if rows else []
    with Path("outputs", name).open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(_order_cells(row, columns) for row in rows)


def _order_cells(row: Mapping[str, object] | Sequence[object], columns: Sequence[str]) -> Sequence[object]:
    cells = [row.get(name, "") for name in columns] if isinstance(row, Mapping) else row
    if len(cells) != len(columns) or (isinstance(row, Mapping) and not row.keys() <= set(columns)):
        raise ValueError(f"A row does not fit the columns {', '.join(columns)}: {row!r}")
    return cells


def write_notes(notes: Sequence[str]) -> None:
    """Write notes for readers of the result; they go into the manifest."""
    Path("notes.json").write_text(json.dumps(list(notes)), "utf-8")


def read_add_ons(environment: Mapping[str, str]) -> dict[str, dict[str, Any]]:
    """Return the engine's add-ons by name: method, version, command, timeLimitS; reason if one cannot run."""
    add_ons: dict[str, dict[str, Any]] = json.loads(environment.get("FOLDNOTE_ADD_ONS", "{}"))
    return add_ons


def read_options(environment: Mapping[str, str] = os.environ) -> dict[str, Any]:
    """Return the configured options of this engine: a text or a list of texts by name."""
    options: dict[str, Any] = json.loads(environment.get("FOLDNOTE_OPTIONS", "{}"))
    return options


def write_used(
    *,
    seed: int | None,
    settings: Mapping[str, Any] | None = None,
    ignored: Mapping[str, str] | None = None,
    add_ons: Mapping[str, Mapping[str, Any]] | None = None,
    databases: Sequence[Mapping[str, Any]] = (),
) -> None:
    """Write what the run used; the manifest records it.

    Args:
        seed: seed of the random numbers; None if the method uses none.
        settings: values that differ from those in job.json, such as a computed default.
        ignored: settings that had no effect, each with the reason.
        add_ons: for each add-on whether it was ``used``, and the ``reason`` if it was not.
        databases: of each database searched, ``name``, ``modified`` (RFC 3339 UTC), ``sizeBytes``, and
            ``program``, name and version of the searching program.
    """
    used: dict[str, Any] = {"seed": seed, "settings": dict(settings or {}), "ignored": dict(ignored or {})}
    if add_ons:
        used["addOns"] = {name: dict(record) for name, record in add_ons.items()}
    if databases:
        used["databases"] = [dict(record) for record in databases]
    Path("used.json").write_text(json.dumps(used), "utf-8")
