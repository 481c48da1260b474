"""The items of a comparison: results, models and structures as named records with the data they have.

A record without a structure contains the reason, so that its settings and scores can still be compared.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from foldnote.errors import ArgumentError
from foldnote.results.prediction.model import Model
from foldnote.results.provenance.identity import find_job_name, find_settings, find_tool_type
from foldnote.results.result import Result
from foldnote.results.sequences.antibody_numbering import Region
from foldnote.results.structure.formats import MOLECULE_FORMATS
from foldnote.results.structure.structure import Structure
from foldnote.results.tables.tabular import Scalar
from foldnote.text import count

Source = Result | Model | Structure | str | Path


@dataclass(frozen=True, eq=False)
class ComparedItem:
    """A job, result, model or structure in a comparison.

    Attributes:
        name: label, unique in the comparison; the job's name if there is one.
        tool: tool type of the job; "" if unknown.
        settings: settings of the job; empty if unknown.
        scores: single figures under the names of the files; empty without any.
        structure: the structure to compare: for a result, its best model, else its first structure; or None.
        regions: regions of the result's own antibody numbering.
        problem: why there is no structure or result; "" if there is one.
        note: what a reader must know about the choice of the structure; may be empty.
        is_job: whether it is a job or the result of one.
    """

    name: str
    tool: str = ""
    settings: Mapping[str, Any] = field(default_factory=dict, repr=False)
    scores: Mapping[str, Scalar] = field(default_factory=dict, repr=False)
    structure: Structure | None = None
    regions: tuple[Region, ...] = field(default=(), repr=False)
    problem: str = ""
    note: str = ""
    is_job: bool = False


def make_item(source: Source, name: str) -> ComparedItem:
    """Read the data to compare from ``source``, under the label ``name``.

    Raises:
        ArgumentError: it is the result of a batch, or of another type.
        UnreadableFileError: the file does not exist, or is damaged or holds no atoms.
    """
    if isinstance(source, Result):
        return _read_result(source, name)
    if isinstance(source, Model):
        description = _describe(source.structure)
        return ComparedItem(name, scores=source.scores, **description)
    if isinstance(source, Structure):
        return ComparedItem(name, **_describe(source))
    return ComparedItem(name, **_describe(Structure.open(source)))


def name_sources(sources: Sequence[Source | ComparedItem]) -> list[str]:
    """Return unique labels: the short name, else a longer one, else a numbered one."""
    choices = [_list_names(source) for source in sources]
    names = [choice[0] for choice in choices]
    if len(set(names)) < len(names):
        names = [choice[-1] if names.count(choice[0]) > 1 else choice[0] for choice in choices]
    return [
        f"{name} ({names[: index + 1].count(name)})" if names.count(name) > 1 else name
        for index, name in enumerate(names)
    ]


def _list_names(source: Source | ComparedItem) -> tuple[str, str]:
    """Return a short and a longer name."""
    if isinstance(source, ComparedItem):
        return source.name, source.name
    if isinstance(source, Result):
        name = find_job_name(source) or source.name
        return name, f"{name}, {source.structure.name}" if source.structure else name
    if isinstance(source, Model):
        longer = f"{source.prediction} rank {source.rank}".strip() if source.ranked_by else source.name
        return source.title, longer
    if isinstance(source, Structure):
        return source.name, source.name
    if isinstance(source, str | Path):
        path = Path(source)
        return path.name, f"{path.absolute().parent.name}/{path.name}"
    raise ArgumentError(
        f"An object of the type {type(source).__name__} is not a structure."
        " Pass a structure, a model, a result or a path."
    )


def _read_result(result: Result, name: str) -> ComparedItem:
    if result.jobs:
        raise ArgumentError(
            f"{name} holds the results of {count(len(result.jobs), 'job')}. "
            "Compare the results of its jobs: fn.compare(*result.jobs.values())."
        )
    structure = result.structure
    description = _describe(structure) if structure else {"problem": "its result has no readable structure"}
    models = len(result.models)
    if structure is not None and models > 1 and structure is result.models[0].structure:
        description["note"] = f"{name}: its best model of {models} is compared ({structure.name})."
    return ComparedItem(
        name,
        find_tool_type(result),
        find_settings(result),
        result.scores,
        regions=result.regions,
        is_job=True,
        **{"note": "", **description},
    )


def _describe(structure: Structure) -> dict[str, Any]:
    """Return the structure, or why it cannot be compared."""
    if structure.format in MOLECULE_FORMATS:
        return {"problem": f"{structure.name} holds small molecules, which cannot be superposed"}
    if not structure.chains:
        return {"problem": f"{structure.name} has no chain of a protein or nucleic acid"}
    if structure.models > 1:
        note = f"{structure.name} has {structure.models} models; the first is compared."
        return {"structure": structure, "note": note}
    return {"structure": structure}
