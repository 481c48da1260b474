"""Align the sequences of compared chains by the residues that the superpositions paired.

The columns are the residues of the reference, with insertions of the others between them.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise

from foldnote.results.comparison.superposition import Superposition
from foldnote.results.comparison.traces import CentralAtoms, read_traces
from foldnote.results.sequences.alignment import GAP, Alignment
from foldnote.results.structure.structure import Structure


def align_chains(
    reference: str, structures: Mapping[str, Structure], fits: Mapping[str, Superposition]
) -> dict[str, Alignment]:
    """Align the chains of each structure with those of the reference.

    Args:
        reference: name of the reference.
        structures: all structures by name.
        fits: superpositions on the reference by name.

    Returns:
        By chain of the reference, the sequences of the residues with coordinates: the reference first, then
        each structure with a counterpart of the chain.

    Raises:
        UnreadableFileError: a structure's file is damaged or holds no atoms.
    """
    traces = {
        name: {trace.chain: trace for trace in read_traces(structure)}
        for name, structure in structures.items()
    }
    return {chain: _align_chain(reference, trace, traces, fits) for chain, trace in traces[reference].items()}


def _align_chain(
    reference: str,
    trace: CentralAtoms,
    traces: Mapping[str, Mapping[str, CentralAtoms]],
    fits: Mapping[str, Superposition],
) -> Alignment:
    rows = {}
    for name, fit in fits.items():
        pairs = fit.pairs[fit.pairs["chain"] == trace.chain]
        if len(pairs) and (other := traces[name].get(str(pairs["mobile_chain"].iloc[0]))) is not None:
            placed = _place_letters(trace, other, list(pairs["number"]), list(pairs["mobile_number"]))
            if placed is not None:
                rows[name] = placed
    own = [("", letter) for letter in trace.letters] + [("", "")]
    everything = {reference: own, **rows}
    widths = [max(len(row[column][0]) for row in everything.values()) for column in range(len(own))]
    sequences = [
        "".join(
            inserted.ljust(width, GAP) + letter for (inserted, letter), width in zip(row, widths, strict=True)
        )
        for row in everything.values()
    ]
    return Alignment(f"chain {trace.chain}", tuple(everything), ("",) * len(everything), tuple(sequences))


def _place_letters(
    fixed: CentralAtoms, mobile: CentralAtoms, numbers: list[str], mobile_numbers: list[str]
) -> list[tuple[str, str]] | None:
    """For each residue of ``fixed`` and the end: letters inserted before it, and its counterpart or a gap.

    None if the pairs are not in the order of both sequences, as when residue numbers repeat.
    """
    columns = {number: index for index, number in enumerate(fixed.numbers)}
    mobile_indices = {number: index for index, number in enumerate(mobile.numbers)}
    pairs = [(columns[a], mobile_indices[b]) for a, b in zip(numbers, mobile_numbers, strict=True)]
    if any(a[0] >= b[0] or a[1] >= b[1] for a, b in pairwise(pairs)):
        return None
    row: list[tuple[str, str]] = [("", GAP) for _ in range(len(fixed))] + [("", "")]
    last = 0
    for index, other in pairs:
        row[index] = (mobile.letters[last:other], mobile.letters[other])
        last = other + 1
    row[-1] = (mobile.letters[last:], "")
    return row
