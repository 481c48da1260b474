"""Resolve `stageName/path` in a file field to files of an earlier stage's result.

`path` is a file of the result, a pattern (`*.pdb`), or a folder (`models/`, or empty for the whole result),
which matches the tool's output files with one of the field's extensions. If several files match and the field
takes one, or if the stage's `chooseBest` is true, the best model is used: the one with the smallest rank in
its name (`rank_1`), else the first in a ranking file (`order` in `ranking_debug.json`), else the first by
name. If `chooseBest` is false, all files are used; a field for one file then makes one job per file.
"""

from __future__ import annotations

import fnmatch
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from foldnote.models.tool import Tool
from foldnote.service.domain.file_resolution import file_values, suggest_names
from foldnote.service.files import archives
from foldnote.service.runner.publishing import OWN_NAMES

_RANK = re.compile(r"rank(?:ed)?[_-]?0*(\d+)", re.IGNORECASE)
_RANKING_FILES = ("ranking_debug.json", "ranking.json")
_RANKING_BYTES = 1 << 20


class ReferenceFaultError(Exception):
    """A reference that matches no file; the message is a sentence for the user."""


@dataclass(frozen=True)
class Reference:
    """A file field's value that names an earlier stage."""

    stage: str
    path: str


def read_reference(value: str, stages: Sequence[str]) -> Reference | None:
    """Parse a value as a reference (the name of one of the stages, a slash and a path); None otherwise."""
    head, slash, path = value.partition("/")
    return Reference(head, path) if slash and "\n" not in value and head in stages else None


def choose_members(
    archive: Path, path: str, extensions: Sequence[str], *, takes_many: bool, choose_best: bool | None
) -> list[str]:
    """Find the members of a stage's result that match a reference, best first.

    Raises:
        ReferenceFaultError: no member matches.
    """
    if (exact := archives.find_member(archive, path)) is not None:
        return [exact]
    matching = _match(archives.member_names(archive), path, extensions)
    if not matching:
        raise ReferenceFaultError(f"its result has no file {path!r}.{suggest_names(archive, path)}")
    ranked = rank(archive, matching)
    return ranked[:1] if choose_best or (choose_best is None and not takes_many) else ranked


def _match(names: Sequence[str], path: str, extensions: Sequence[str]) -> list[str]:
    if any(letter in path for letter in "*?["):
        return [name for name in names if fnmatch.fnmatchcase(name, path)]
    if path and not path.endswith("/"):
        return []
    endings = tuple(f".{extension.lstrip('.').lower()}" for extension in extensions)
    inside = [name for name in names if name.startswith(path) and name not in OWN_NAMES]
    return [name for name in inside if not endings or name.lower().endswith(endings)]


def rank(archive: Path, names: Sequence[str]) -> list[str]:
    """Sort names of models, best first."""
    order = [re.compile(rf"{re.escape(model)}(?!\d)") for model in _read_order(archive)]

    def place(name: str) -> tuple[float, float, str]:
        match = _RANK.search(name.rpartition("/")[2])
        listed = next((index for index, model in enumerate(order) if model.search(name)), len(order))
        return (float(match[1]) if match else float("inf"), listed, name)

    return sorted(names, key=place)


def _read_order(archive: Path) -> list[str]:
    for name in archives.member_names(archive):
        if name.rpartition("/")[2] in _RANKING_FILES:
            return _order_of(archives.read_start(archive, name, _RANKING_BYTES))
    return []


def _order_of(content: bytes) -> list[str]:
    try:
        value = json.loads(content)
    except (ValueError, RecursionError):
        return []
    order = value.get("order") if isinstance(value, dict) else None
    return [item for item in order if isinstance(item, str)] if isinstance(order, list) else []


def substitute(tool: Tool, settings: Mapping[str, Any], stages: Sequence[str]) -> dict[str, Any]:
    """Replace each reference by a placeholder file name of a valid type, to validate the settings."""
    changed = dict(settings)
    for field, path, value, extensions in list(file_values(tool, settings)):
        if read_reference(value, stages) is None:
            continue
        neutral = f"stage.{extensions[0]}"
        if "." in path:
            position = int(path.rpartition(".")[2])
            changed[field] = [*changed[field][:position], neutral, *changed[field][position + 1 :]]
        else:
            changed[field] = neutral
    return changed
