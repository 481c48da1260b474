"""Warnings about the geometry of predicted models: one sentence per model, with residues and limits."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from typing import Any

import pandas as pd

from foldnote.errors import UnreadableFileError
from foldnote.results import Result
from foldnote.results.structure.geometry import CHIRALITY, CIS, CLASH, TWISTED
from foldnote.text import count

MOST_RESIDUES = 10_000
"""Total residues above which no further models are checked for a view."""
CLASHES_PER_RESIDUE = 0.01
"""Fewer clashes of heavy atoms are not reported, because crystal structures have some, too."""
_FEWEST_CLASHES = 3
_SEVERE_A = 2.0
"""Atoms closer than this, in Å, are always reported."""
_MOST_NAMED = 5
_MOST_MODELS = 5
_LIMITS = (
    "Limits, as in MolProbity: ω 30° from planar, cis before proline only, overlap of heavy atoms 0.4 Å."
)
_WORDS = {
    TWISTED: ("twisted peptide bond", "ω {:.1f}°"), CIS: ("cis peptide bond not before proline", "ω {:.1f}°"),
    CHIRALITY: ("Cα of inverted chirality", ""), CLASH: ("clash of heavy atoms", "{:.1f} Å"),
}  # fmt: skip
_MANY = {
    TWISTED: "twisted peptide bonds", CIS: "cis peptide bonds not before proline",
    CHIRALITY: "Cα of inverted chirality", CLASH: "clashes of heavy atoms",
}  # fmt: skip


def note_geometry(result: Result) -> tuple[str, ...]:
    """A sentence for each predicted model with geometry outliers; empty without any."""
    if result.poses:
        return ()
    told, left, looked = [], 0, 0
    for model in result.models:
        try:
            residues = sum(len(chain) for chain in model.structure.chains)
            if looked and looked + residues > MOST_RESIDUES:
                left += 1
                continue
            looked += residues
            words = (
                list(_tell(model.structure.geometry, residues)) if not model.structure.is_experimental else []
            )
        except UnreadableFileError:
            continue
        if words:
            told.append(f"{model.name}: {'; '.join(words)}.")
    if not told:
        return ()
    more = (
        [f"{count(len(told) - _MOST_MODELS, 'more model')} with outliers."]
        if len(told) > _MOST_MODELS
        else []
    )
    unseen = [f"{count(left, 'model')} not checked; make_geometry_table checks all."] if left else []
    first, *rest = told[:_MOST_MODELS]
    return (f"Check the geometry of {first}", *rest, " ".join([*more, *unseen, _LIMITS]))


def _tell(outliers: pd.DataFrame, residues: int) -> Iterator[str]:
    for kind, (one, form) in _WORDS.items():
        rows = outliers[outliers["kind"] == kind]
        if rows.empty or (kind == CLASH and not _is_notable(rows, residues)):
            continue
        named = [_name(row, form) for row in rows.head(_MOST_NAMED).to_dict("records")]
        more = f" and {len(rows) - _MOST_NAMED} more" if len(rows) > _MOST_NAMED else ""
        yield f"{len(rows)} {one if len(rows) == 1 else _MANY[kind]}: {', '.join(named)}{more}"


def _is_notable(clashes: pd.DataFrame, residues: int) -> bool:
    is_often = len(clashes) >= max(_FEWEST_CLASHES, CLASHES_PER_RESIDUE * residues)
    return is_often or bool((clashes["value"] < _SEVERE_A).any())


def _name(row: Mapping[Hashable, Any], form: str) -> str:
    who = f"{row['chain']} {row['residue']} {row['number']}".strip()
    if row["kind"] == CLASH:
        other = f"{row['other_chain']} {row['other_residue']} {row['other_number']}".strip()
        who = f"{who} {row['atom']}–{other} {row['other_atom']}"
    return f"{who} ({form.format(row['value'])})" if form else who
