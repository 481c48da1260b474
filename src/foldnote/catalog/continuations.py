"""Find the tools that can use the output of a job: its files and its input sequences.

The matches are derived from the tools' schemas. A file feeds a file field that names its extension; a
sequence feeds a sequence field of the same chain. Only a tool's required fields are considered, or all of its
fields if none is required.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any

from foldnote.models import Tool

_FILE, _FILES, _SEQUENCE, _SEQUENCES = "file", "files", "sequence", "sequences"
_ROLES = frozenset({_FILE, _FILES, _SEQUENCE, _SEQUENCES})
_CHAINS = {"heavy": re.compile(r"heavy|^vh", re.I), "light": re.compile(r"light|^vl", re.I)}
_RECORDS = frozenset({"manifest.json", "score.json", "job.log", "settings.json"})
"""Files in a result that describe the run itself."""


@dataclass(frozen=True)
class Continuation:
    """A tool that can continue from a job.

    Attributes:
        tool: the tool.
        files: paths in the job's result by file field; several for a field that takes a list.
        sequences: by sequence field, the job's setting that feeds it.
        missing: required inputs that the job does not provide, by their titles.
    """

    tool: Tool
    files: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    sequences: Mapping[str, str] = field(default_factory=dict)
    missing: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Input:
    """A field of a tool that takes a file or a sequence."""

    name: str
    title: str
    role: str
    extensions: tuple[str, ...]
    is_list: bool
    is_required: bool

    @property
    def chain(self) -> str:
        """``heavy`` or ``light`` if the name says so; else empty."""
        return next((chain for chain, words in _CHAINS.items() if words.search(self.name)), "")


def find_continuations(
    tools: Iterable[Tool], paths: Sequence[str], source: Tool | None, settings: Mapping[str, Any]
) -> tuple[Continuation, ...]:
    """Return the tools that take a file of a result or a sequence of its job, best first.

    Args:
        tools: the tools to choose from.
        paths: files of the result, best first: the first file of each kind is taken.
        source: the job's tool; None if unknown, which leaves out sequences.
        settings: the job's settings.
    """
    given = _list_given(source, settings)
    outputs = [path for path in paths if PurePosixPath(path).name not in _RECORDS]
    found = [_join(tool, outputs, given) for tool in tools if source is None or tool.type != source.type]
    useful = [each for each in found if each.files or each.sequences]
    return tuple(sorted(useful, key=lambda each: (not each.tool.available, len(each.missing))))


def _list_given(source: Tool | None, settings: Mapping[str, Any]) -> dict[str, str]:
    """Map chains to the job's settings with their sequences; chains with several settings are left out."""
    found: dict[str, list[str]] = {}
    for each in _list_inputs(source) if source is not None else ():
        if each.role == _SEQUENCE and settings.get(each.name):
            found.setdefault(each.chain, []).append(each.name)
    return {chain: names[0] for chain, names in found.items() if len(names) == 1}


def _join(tool: Tool, paths: Sequence[str], given: Mapping[str, str]) -> Continuation:
    inputs = list(_list_inputs(tool))
    wanted = [each for each in inputs if each.is_required] or inputs
    files: dict[str, tuple[str, ...]] = {}
    taken: set[tuple[str, ...]] = set()
    for each in wanted:
        fitting = [path for path in paths if _find_extension(path) in each.extensions]
        if each.role in (_FILE, _FILES) and fitting and each.extensions not in taken:
            files[each.name] = tuple(fitting) if each.is_list else (fitting[0],)
            taken.add(each.extensions)  # a second field of the same kind takes another molecule
    sequences = _feed_sequences([each for each in wanted if each.role in (_SEQUENCE, _SEQUENCES)], given)
    missing = [each.title for each in wanted if each.is_required and each.name not in {*files, *sequences}]
    return Continuation(tool, files, sequences, tuple(missing))


def _feed_sequences(wanted: Sequence[_Input], given: Mapping[str, str]) -> dict[str, str]:
    """Match sequence fields with the job's settings by chain, or one field without a chain."""
    return {
        each.name: given[each.chain]
        for each in wanted
        if each.chain in given and sum(other.chain == each.chain for other in wanted) == 1
    }


def _find_extension(path: str) -> str:
    return PurePosixPath(path.lower()).suffix.removeprefix(".")


def _list_inputs(tool: Tool) -> Iterator[_Input]:
    schema = tool.settings_schema
    properties, required = schema.get("properties"), schema.get("required", ())
    for name, part in properties.items() if isinstance(properties, Mapping) else ():
        items = part.get("items")
        is_list = isinstance(items, Mapping)
        notes = part.get("x-foldnote") or (items.get("x-foldnote") if isinstance(items, Mapping) else None)
        if not isinstance(notes, Mapping) or notes.get("role") not in _ROLES:
            continue
        yield _Input(
            name=name,
            title=str(part.get("title") or name),
            role=str(notes["role"]),
            extensions=tuple(str(each).lower() for each in notes.get("extensions") or ()),
            is_list=is_list,
            is_required=name in required or notes.get("group") == "required",
        )
