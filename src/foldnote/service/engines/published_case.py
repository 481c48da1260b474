"""A published case of an engine: an input with published figures.

A case is the file ``case.toml`` in the engine's folder. Running it shows whether an installation, including
any published weights, reproduces the figures; the outcome is stored in the engine's home.
"""

from __future__ import annotations

import csv
import json
import math
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from foldnote.errors import EngineError
from foldnote.io import write_atomically

CASE = "case.toml"
RECORD = "published-case.json"


@dataclass(frozen=True, slots=True)
class Figure:
    """One published figure, and its place in an engine's result.

    Attributes:
        what: what it is, with its unit.
        expected: the published value.
        tolerance: maximum difference at which two numbers count as equal.
        file: file below ``outputs``, or ``score.json``.
        column: column of a table (CSV), or key of a JSON object; empty for a text that contains ``expected``.
        where: values of other columns of the row.
    """

    what: str
    expected: float | str
    file: str
    column: str = ""
    tolerance: float = 0.0
    where: Mapping[str, str] = field(default_factory=dict)

    def find(self, work: Path) -> float | str | None:
        """Return the value in the result of the run in ``work``; None if it is missing."""
        path = work / self.file if self.file == "score.json" else work / "outputs" / self.file
        try:
            text = path.read_text("utf-8")
        except (OSError, UnicodeDecodeError):
            return None
        if not self.column:
            return self.expected if str(self.expected) in text else None
        if path.suffix == ".json":
            value = json.loads(text).get(self.column)
            return value if isinstance(value, int | float | str) else None
        rows = csv.DictReader(text.splitlines())
        matching = (row for row in rows if all(row.get(name) == want for name, want in self.where.items()))
        return next((row.get(self.column) for row in matching), None)

    def is_reached(self, found: float | str | None) -> bool:
        """Return whether a value matches the published one."""
        if found is None or isinstance(self.expected, str):
            return found == self.expected
        try:
            number = float(found)
        except ValueError:
            return False
        return math.isfinite(number) and abs(number - self.expected) <= self.tolerance


@dataclass(frozen=True, slots=True)
class PublishedCase:
    """An input with published figures.

    Attributes:
        title: what is computed.
        source: publication of the figures.
        tool: type of the tool.
        settings: settings that differ from the defaults.
        files: file of the engine's folder for each file field.
        seed: seed of the random numbers.
        figures: expected figures of the result.
    """

    title: str
    source: str
    tool: str
    figures: tuple[Figure, ...]
    settings: Mapping[str, Any] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)
    seed: int = 0


@dataclass(frozen=True, slots=True)
class CaseRecord:
    """The result of an engine's latest run of its published case.

    Attributes:
        checked: RFC 3339 UTC.
        version: version of the engine.
        weights: SHA-256 of each file of weights used.
        reached, figures: number of figures that matched, and number of all figures.
    """

    checked: str
    version: str
    weights: tuple[str, ...]
    reached: int
    figures: int

    @property
    def sentence(self) -> str:
        """The result as a sentence for users."""
        with_weights = " with the published weights" if self.weights else ""
        day = self.checked.partition("T")[0]
        how_many = f"{self.reached} of {self.figures} figures of the published case are reached"
        return f"Checked here{with_weights} on {day}: {how_many}."


def read_case(folder: Path) -> PublishedCase | None:
    """Return the published case of the engine in ``folder``; None if it has none.

    Raises:
        EngineError: the file is invalid.
    """
    path = folder / CASE
    try:
        content = tomllib.loads(path.read_text("utf-8"))
        figures = tuple(Figure(**row) for row in content.pop("figures"))
        if not figures:
            raise ValueError("it has no figures")
        return PublishedCase(**content, figures=figures)
    except FileNotFoundError:
        return None
    except (KeyError, OSError, TypeError, ValueError) as exc:
        raise EngineError(f"{path} cannot be used: {exc}") from exc


def read_record(home: Path, version: str, weights: Sequence[str]) -> CaseRecord | None:
    """Return the record in an engine's home, if it is for this version and these weights."""
    try:
        content = json.loads((home / RECORD).read_text("utf-8"))
        record = CaseRecord(**content | {"weights": tuple(content["weights"])})
    except (KeyError, OSError, TypeError, ValueError):
        return None
    return record if (record.version, record.weights) == (version, tuple(weights)) else None


def write_record(home: Path, record: CaseRecord) -> None:
    """Store a record in an engine's home.

    Raises:
        OSError: the folder cannot be written.
    """
    home.mkdir(parents=True, exist_ok=True)
    write_atomically(home / RECORD, json.dumps(asdict(record), indent=1))
