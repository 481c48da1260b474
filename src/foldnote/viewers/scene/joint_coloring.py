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
    everything = pd.concat(pairs, ignore_index=True)
    squares = everything.assign(square=everything["distance"] ** 2).groupby(["chain", "number"])["square"]
    own = dict(zip(squares.groups, np.sqrt(squares.mean()), strict=True))
    known = [own]
    for frame in pairs:
        keys = zip(frame["mobile_chain"], frame["mobile_number"], strict=True)
        known.append(dict(zip(keys, frame["distance"], strict=True)))
    limit = max(_LEAST_RANGE_A, math.ceil(everything["distance"].quantile(_QUANTILE)))
    scale = Scale(palette.ramp(palette.MAGNITUDE, _STEPS), 0.0, limit, " Å")
    made = [
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
        for structure, values in zip(structures, known, strict=True)
    ]
    return _stack(made)


def join_colorings(colorings: Sequence[Sequence[Coloring]]) -> list[Coloring]:
    """Join the colourings that all structures have with the same colours and legend."""
    first, *others = colorings
    found = []
    for coloring in first:
        same = [next((one for one in rest if one.key == coloring.key), None) for rest in others]
        known = [coloring, *(one for one in same if one is not None)]
        if len(known) == len(colorings) and len({one.name for one in known}) == 1:
            found.append(_stack(known if len({one.legend for one in known}) == 1 else _rescale(known)))
    return found


def color_by_fluctuation(rmsf: pd.DataFrame, structure: Structure, models: int) -> Coloring:
    """Colour the residues of all ``models`` of an ensemble by their RMSF in Å.

    Args:
        rmsf: ``chain``, ``number`` and ``rmsf`` in Å, as in :class:`foldnote.results.Ensemble`.
        structure: the file of the ensemble.
        models: number of models in the scene.
    """
    known = dict(zip(zip(rmsf["chain"], rmsf["number"], strict=True), rmsf["rmsf"], strict=True))
    limit = max(_LEAST_RANGE_A, math.ceil(rmsf["rmsf"].quantile(_QUANTILE)))
    made = color_by_values(
        "RMSF (Å)",
        {
            chain.name: [known.get((chain.name, number)) for number in chain.numbers]
            for chain in structure.chains
        },
        key="rmsf",
        source="root mean square distance of each Cα (C3' of nucleic acids) from its mean position",
        scale=Scale(palette.ramp(palette.MAGNITUDE, _STEPS), 0.0, limit, " Å"),
        ends=("", "", " or more"),
    )
    return _stack([made] * models)


def _rescale(colorings: Sequence[Coloring]) -> list[Coloring]:
    """Rescale colourings by numbers, such as predicted errors, to the range of all structures."""
    known = [
        v for one in colorings for rows in one.values for row in rows.values() for v in row if v is not None
    ]
    first = colorings[0]
    unit = next((unit for unit in (" Å²", " Å") if f"({unit.strip()}" in first.name), "")
    ends = (", smallest error", "", ", largest error") if first.key == "error" else ("", "", "")
    span = (min(known, default=0.0), max(known, default=1.0))
    scale = Scale(first.palette, *span, unit)
    return [
        color_by_values(one.name, rows, key=one.key, source=one.source, scale=scale, ends=ends)
        for one in colorings
        for rows in one.values
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
