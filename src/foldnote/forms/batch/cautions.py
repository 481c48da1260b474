"""Cautions on valid rows of a batch that may still be wrong: unlikely sequences, salts, identical rows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from foldnote.forms.biology.plausibility import find_doubts
from foldnote.forms.biology.unbonded_parts import find_unbonded, find_unbonded_lines
from foldnote.forms.fields.field import is_same
from foldnote.forms.schema.spec import FieldSpec
from foldnote.forms.ui.label import Caution

Row = Mapping[str, Any]


def find_cautions(rows: Sequence[Row], specs: Sequence[FieldSpec], shown: Iterable[int]) -> dict[int, str]:
    """Return a sentence for each of some rows that has a caution, by index.

    Args:
        rows: the completed settings of every row.
        specs: the tool's settings.
        shown: indices of the rows that are described.
    """
    doubtful = [spec for spec in specs if spec.role in ("sequence", "smiles")]
    first: dict[str, int] = {}
    numbers = [
        first.setdefault(repr(sorted(row.items())), number) for number, row in enumerate(rows, start=1)
    ]
    cautions = {}
    for index in shown:
        if numbers[index] != index + 1:
            cautions[index] = f"The same settings as row {numbers[index]}: the job would be run twice."
        else:
            doubts = (_describe(rows[index], spec) for spec in doubtful)
            cautions[index] = next(filter(None, doubts), "")
    return {index: caution for index, caution in cautions.items() if caution}


def _describe(row: Row, spec: FieldSpec) -> str:
    caution = _find_caution(row.get(spec.name), spec)
    return f"{spec.title}: {caution.text}" if caution else ""


def _find_caution(value: Any, spec: FieldSpec) -> Caution | None:
    if isinstance(value, list):
        return find_unbonded_lines([str(item) for item in value]) if spec.role == "smiles" else None
    if not isinstance(value, str):
        return None
    if spec.role == "smiles":
        return find_unbonded(value)
    return next(iter(find_doubts("".join(value.split()).upper(), spec)), None)


def find_differing(rows: Sequence[Row]) -> list[str]:
    """Return the settings that differ between rows or that only some rows give, in order."""
    if not rows:
        return []
    names = dict.fromkeys(name for row in rows for name in row)
    first = rows[0]
    return [
        name
        for name in names
        if any(name not in row or not is_same(row[name], first.get(name)) for row in rows)
    ]
