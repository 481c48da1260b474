"""Colourings of several structures in one scene: by deviation, and by what all of them can be coloured by."""

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

    The reference has the root mean square of the distances of the others. The scale ends at the 98th
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
    scale = Scale(palette.ramp(palette.DEVIATION, _STEPS), 0.0, limit, " Å")
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
    """The colourings that all structures have with the same colours and legend, as one for all of them."""
    first, *others = colorings
    found = []
    for coloring in first:
        same = [next((one for one in rest if _is_same(coloring, one)), None) for rest in others]
        known = [coloring, *(one for one in same if one is not None)]
        if len(known) == len(colorings):
            found.append(_stack(known))
    return found


def _is_same(first: Coloring, second: Coloring) -> bool:
    return (first.key, first.name, first.palette, first.legend) == (
        second.key, second.name, second.palette, second.legend,
    )  # fmt: skip


def _stack(colorings: Sequence[Coloring]) -> Coloring:
    """One colouring of several models, one after the other."""
    sources = dict.fromkeys(coloring.source for coloring in colorings)
    return colorings[0].model_copy(
        update={
            "shades": tuple(shades for coloring in colorings for shades in coloring.shades),
            "values": tuple(values for coloring in colorings for values in coloring.values),
            "source": "; ".join(filter(None, sources)) if len(sources) < 3 else "",
        }
    )
