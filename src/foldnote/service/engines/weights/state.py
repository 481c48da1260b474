"""The weights that an engine has: those of its authors, stand-ins for tests, or none.

Stand-in weights have the right shapes and random content. They only show that an engine runs, so every result
obtained with them says so.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal

from foldnote.io import write_atomically
from foldnote.service.engines.weights.declared import Weights

FOLDER = "weights"
"""The engine's weights, below its home."""
RECORD = "weights.json"
UNCHECKED = "Installed and run with stand-in weights; not yet checked with the published weights."
HAS_STAND_IN = "Stand-in weights are installed here: what it computes means nothing."

WeightState = Literal["published", "stand-in"]


@dataclass(frozen=True, slots=True)
class InstalledWeights:
    """One installed file of weights, or archive."""

    file: str
    state: WeightState
    sha256: str
    """SHA-256 of the file or archive; for a stand-in that was a folder, over its files."""
    size_bytes: int
    """Size on disk."""
    basis: str
    """What the content was compared with: ``declared``, ``recorded`` (at the first installation), ``first``
    (this is the first one) or ``none`` (a stand-in)."""
    origin: str
    """URL or file from which it came."""
    url: str
    installed: str
    """RFC 3339 UTC."""
    content: str
    """Path of the shared content, below the folder of all weights."""
    files_sha256: str = ""
    """SHA-256 over names and contents of an unpacked archive's files; empty for a file, and in older
    records."""


def read_installed(home: Path) -> tuple[InstalledWeights, ...]:
    """Return the record in an engine's home; empty if it is missing or unreadable."""
    try:
        rows = json.loads((home / RECORD).read_text("utf-8"))
        return tuple(InstalledWeights(**row) for row in rows)
    except (OSError, ValueError, TypeError):
        return ()


def write_installed(home: Path, rows: Sequence[InstalledWeights]) -> None:
    """Record the weights of an engine.

    Raises:
        OSError: the folder cannot be written.
    """
    content = sorted((asdict(row) for row in rows), key=lambda row: str(row["file"]))
    write_atomically(home / RECORD, json.dumps(content, indent=1), is_durable=True)


def find_usable(declared: Sequence[Weights], home: Path) -> tuple[InstalledWeights, ...]:
    """Return the installed weights whose address, hash and size are as declared and recorded."""
    return tuple(row for row in _find_recorded(declared, home) if not _has_other_size(row, home))


def find_damaged(declared: Sequence[Weights], home: Path) -> tuple[InstalledWeights, ...]:
    """Return the declared weights whose size has changed since their installation; contents are not read."""
    return tuple(row for row in _find_recorded(declared, home) if _has_other_size(row, home))


def measure(path: Path) -> int:
    """Return the bytes of a file, or of all files of a folder."""
    files = [path] if path.is_file() else path.rglob("*")
    return sum(each.stat().st_size for each in files if each.is_file())


def _find_recorded(declared: Sequence[Weights], home: Path) -> Iterator[InstalledWeights]:
    known = {row.file: row for row in read_installed(home)}
    for each in declared:
        row = known.get(each.file)
        if (
            row is not None
            and (row.state == "stand-in" or (row.url == each.url and each.sha256 in ("", row.sha256)))
            and (home / FOLDER / each.file).exists()
        ):
            yield row


def _has_other_size(row: InstalledWeights, home: Path) -> bool:
    try:
        return measure(home / FOLDER / row.file) != row.size_bytes
    except OSError:  # removed meanwhile
        return True


def is_stand_in(rows: Sequence[InstalledWeights]) -> bool:
    """Return whether any of them is a stand-in."""
    return any(row.state == "stand-in" for row in rows)
