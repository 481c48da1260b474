"""Colourings of several structures in one scene: by deviation, and by properties that all of them have."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pandas as pd

from foldnote.results import Structure
from foldnote.viewers.scene import palette
from foldnote.viewers.scene.coloring import Scale, color_by_values
from foldnote.viewers.scene.model import Coloring

_STEPS = 24
_QUANTILE = 0.98
_LEAST_RANGE_A = 1


def color_by_deviation(structures: Sequence[Structure], pairs: Sequence[pd.DataFrame]) -> Coloring:
    """Colour each residue by its distance from its counterpart in the reference, in Å.

    The reference is coloured by the root mean square of the others' distances. The scale ends at the 98th
    percentile, rounded up to whole Å; unpaired residues have no value.

    Args:
        structures: the reference, then the others.
        pairs: for each of the others ``chain``, ``number``, ``mobile_chain``, ``mobile_number`` and
            ``distance`` in Å, as in :class:`foldnote.results.Superposition`.
    """
    all_pairs = pd.concat(pairs, ignore_index=True)
    squares = all_pairs.assign(square=all_pairs["distance"] ** 2).groupby(["chain", "number"])["square"]
    reference_values = dict(zip(squares.groups, np.sqrt(squares.mean()), strict=True))
    values_by_structure = [reference_values]
    for frame in pairs:
        keys = zip(frame["mobile_chain"], frame["mobile_number"], strict=True)
        values_by_structure.append(dict(zip(keys, frame["distance"], strict=True)))
    limit = max(_LEAST_RANGE_A, math.ceil(all_pairs["distance"].quantile(_QUANTILE)))
    scale = Scale(palette.ramp(palette.MAGNITUDE, _STEPS), 0.0, limit, " Å")
    colorings = [
        color_by_values(
            "Deviation (Å)",
            {
                chain.name: [values.get((chain.name, number)) for number in chain.numbers]
                for chain in structure.chains
            },
            key="deviation",
            source="distance of paired Cα (C3' of nucleic acids) after superposition",
            scale=scale,
            ends=("", "", " or more"),
        )
        for structure, values in zip(structures, values_by_structure, strict=True)
    ]
    return _stack(colorings)


def join_colorings(colorings: Sequence[Sequence[Coloring]]) -> list[Coloring]:
    """Join the colourings that all structures have with the same colours and legend."""
    first, *other_lists = colorings
    joined = []
    for coloring in first:
        matches = [
            next((candidate for candidate in own if candidate.key == coloring.key), None)
            for own in other_lists
        ]
        matching = [coloring, *(candidate for candidate in matches if candidate is not None)]
        if len(matching) == len(colorings) and len({candidate.name for candidate in matching}) == 1:
            joined.append(
                _stack(
                    matching if len({candidate.legend for candidate in matching}) == 1 else _rescale(matching)
                )
            )
    return joined


def color_by_fluctuation(rmsf: pd.DataFrame, structure: Structure, models: int) -> Coloring:
    """Colour the residues of all ``models`` of an ensemble by their RMSF in Å.

    Args:
        rmsf: ``chain``, ``number`` and ``rmsf`` in Å, as in :class:`foldnote.results.Ensemble`.
        structure: the file of the ensemble.
        models: number of models in the scene.
    """
    values = dict(zip(zip(rmsf["chain"], rmsf["number"], strict=True), rmsf["rmsf"], strict=True))
    limit = max(_LEAST_RANGE_A, math.ceil(rmsf["rmsf"].quantile(_QUANTILE)))
    coloring = color_by_values(
        "RMSF (Å)",
        {
            chain.name: [values.get((chain.name, number)) for number in chain.numbers]
            for chain in structure.chains
        },
        key="rmsf",
        source="root mean square distance of each Cα (C3' of nucleic acids) from its mean position",
        scale=Scale(palette.ramp(palette.MAGNITUDE, _STEPS), 0.0, limit, " Å"),
        ends=("", "", " or more"),
    )
    return _stack([coloring] * models)


def _rescale(colorings: Sequence[Coloring]) -> list[Coloring]:
    """Rescale colourings by numbers, such as predicted errors, to the range of all structures."""
    numbers = [
        v
        for coloring in colorings
        for rows in coloring.values
        for row in rows.values()
        for v in row
        if v is not None
    ]
    first = colorings[0]
    unit = next((unit for unit in (" Å²", " Å") if f"({unit.strip()}" in first.name), "")
    ends = (", smallest error", "", ", largest error") if first.key == "error" else ("", "", "")
    span = (min(numbers, default=0.0), max(numbers, default=1.0))
    scale = Scale(first.palette, *span, unit)
    return [
        color_by_values(coloring.name, rows, key=coloring.key, source=coloring.source, scale=scale, ends=ends)
        for coloring in colorings
        for rows in coloring.values
    ]


def _stack(colorings: Sequence[Coloring]) -> Coloring:
    """Return one colouring of several models, one after the other."""
    sources = dict.fromkeys(coloring.source for coloring in colorings)
    return colorings[0].model_copy(
        update={
            "shades": tuple(shades for coloring in colorings for shades in coloring.shades),
            "values": tuple(values for coloring in colorings for values in coloring.values),
            "source": "; ".join(filter(None, sources)) if len(sources) < 3 else "",
        }
    )
