"""Warnings about the geometry of predicted models: one sentence per model, with residues and limits."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from typing import Any

import pandas as pd

from foldnote.errors import UnreadableFileError
from foldnote.results import Result
from foldnote.results.structure.geometry import CHIRALITY, CIS, CLASH, TWISTED
from foldnote.text import count

MAX_RESIDUES = 10_000
"""Total residues above which no further models are checked for a view."""
CLASHES_PER_RESIDUE = 0.01
"""Minimum number of clashes per residue that is reported, since crystal structures have a few, too."""
_MIN_CLASHES = 3
_SEVERE_A = 2.0
"""Atoms closer than this, in Å, are always reported."""
_MAX_NAMED = 5
_MAX_MODELS = 5
_LIMITS = (
    "Limits, as in MolProbity: ω 30° from planar, cis before proline only, overlap of heavy atoms 0.4 Å."
)
_NAMES = {
    TWISTED: ("twisted peptide bond", "ω {:.1f}°"), CIS: ("cis peptide bond not before proline", "ω {:.1f}°"),
    CHIRALITY: ("Cα of inverted chirality", ""), CLASH: ("clash of heavy atoms", "{:.1f} Å"),
}  # fmt: skip
_PLURALS = {
    TWISTED: "twisted peptide bonds", CIS: "cis peptide bonds not before proline",
    CHIRALITY: "Cα of inverted chirality", CLASH: "clashes of heavy atoms",
}  # fmt: skip


def note_geometry(result: Result) -> tuple[str, ...]:
    """Warn about each predicted model with geometric outliers; empty if there are none."""
    if result.poses:
        return ()
    warnings, skipped, checked = [], 0, 0
    for model in result.models:
        try:
            residues = sum(len(chain) for chain in model.structure.chains)
            if checked and checked + residues > MAX_RESIDUES:
                skipped += 1
                continue
            checked += residues
            outliers = (
                list(_describe(model.structure.geometry, residues))
                if not model.structure.is_experimental
                else []
            )
        except UnreadableFileError:
            continue
        if outliers:
            warnings.append(f"{model.name}: {'; '.join(outliers)}.")
    if not warnings:
        return ()
    omitted = (
        [f"{count(len(warnings) - _MAX_MODELS, 'more model')} with outliers."]
        if len(warnings) > _MAX_MODELS
        else []
    )
    unchecked = [f"{count(skipped, 'model')} not checked; make_geometry_table checks all."] if skipped else []
    first, *others = warnings[:_MAX_MODELS]
    return (f"Check the geometry of {first}", *others, " ".join([*omitted, *unchecked, _LIMITS]))


def _describe(outliers: pd.DataFrame, residues: int) -> Iterator[str]:
    for kind, (singular, form) in _NAMES.items():
        rows = outliers[outliers["kind"] == kind]
        if rows.empty or (kind == CLASH and not _is_notable(rows, residues)):
            continue
        names = [_name_outlier(row, form) for row in rows.head(_MAX_NAMED).to_dict("records")]
        ending = f" and {len(rows) - _MAX_NAMED} more" if len(rows) > _MAX_NAMED else ""
        yield f"{len(rows)} {singular if len(rows) == 1 else _PLURALS[kind]}: {', '.join(names)}{ending}"


def _is_notable(clashes: pd.DataFrame, residues: int) -> bool:
    is_often = len(clashes) >= max(_MIN_CLASHES, CLASHES_PER_RESIDUE * residues)
    return is_often or bool((clashes["value"] < _SEVERE_A).any())


def _name_outlier(row: Mapping[Hashable, Any], form: str) -> str:
    name = f"{row['chain']} {row['residue']} {row['number']}".strip()
    if row["kind"] == CLASH:
        partner = f"{row['other_chain']} {row['other_residue']} {row['other_number']}".strip()
        name = f"{name} {row['atom']}–{partner} {row['other_atom']}"
    return f"{name} ({form.format(row['value'])})" if form else name
