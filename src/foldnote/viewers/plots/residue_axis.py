"""The axis of the residues of one chain, with their numbers where these can stand at ticks."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from foldnote.viewers.plots.drawing import Axis, find_ticks

_WHOLE = re.compile(r"-?\d+")


def number_axis(axis: Axis, numbers: Sequence[str], first: float = 1.0) -> Axis | None:
    """Return the axis with residue numbers at round numbers, wherever these are along the chain.

    Args:
        axis: label and limits.
        numbers: number of each residue, in the order of the axis.
        first: position of the first residue; the others follow at a distance of 1.

    Returns:
        None if a number has an insertion code, or the numbers do not increase.
    """
    if not numbers or not all(_WHOLE.fullmatch(number) for number in numbers):
        return None
    whole = [int(number) for number in numbers]
    if any(after <= before for before, after in pairwise(whole)):
        return None
    places = {number: first + place for place, number in enumerate(whole)}
    ticks = [tick for tick in find_ticks(whole[0], whole[-1]) if tick in places] or whole[:1]
    return Axis(axis.label, axis.low, axis.high, [places[int(t)] for t in ticks], [f"{t:g}" for t in ticks])
