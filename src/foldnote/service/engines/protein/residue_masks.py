"""Read the ranges of residues that a language model of antibodies fills in.

It runs inside the engines' own environments and uses only the standard library.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from engine_protocol import fail


def read_masks(
    settings: Mapping[str, Any],
    chains: Mapping[str, str],
    fields: Mapping[str, tuple[str, str]],
    ignored: dict[str, str],
    *,
    is_used: bool,
) -> dict[str, range]:
    """Return the indices of the masked residues, from 0, by chain.

    Args:
        settings: settings of the job.
        chains: sequences by chain.
        fields: the settings of a chain: sequence, mask.
        ignored: settings without effect, with the reason; a mask for which the task has no use is added.
        is_used: whether the task fills in residues; the run then fails if nothing is masked.
    """
    masks = {}
    for name, (field, mask) in fields.items():
        text = (settings.get(mask) or "").strip()
        if not text or mask in ignored:
            continue
        if not is_used:
            ignored[mask] = "Only the mask tasks fill in residues."
        elif name not in chains:
            fail(f"{mask} is given without {field}.")
        else:
            masks[name] = _parse_range(text, mask, len(chains[name]))
    if is_used and not masks:
        fail("Nothing is masked. Give a range of residues such as 97-105 as heavyMask or lightMask.")
    return masks


def _parse_range(text: str, mask: str, length: int) -> range:
    """Parse ``97-105``, counted from 1 and both included, to indices."""
    first, _, last = text.partition("-")
    if not first.strip().isdigit() or not (last or first).strip().isdigit():
        fail(f"{mask} is {text!r}; write it like 97-105.")
    begin, end = int(first), int(last or first)
    if not 1 <= begin <= end <= length:
        fail(f"{mask} is {text!r}; the chain has residues 1 to {length}.")
    if end - begin + 1 == length:
        fail(f"{mask} covers the whole chain. Leave residues to go by.")
    return range(begin - 1, end)
