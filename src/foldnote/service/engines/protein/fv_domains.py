"""Find and number the variable domain of an antibody's chain, and number the residues of a PDB file by it.

It runs inside the environments of engines that have immunum; numbers are those of IMGT.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

import engine_protocol as protocol
from variable_domains import explain_missing_ends

FIELDS = {"H": "heavy", "L": "light"}
_KINDS = {"H": ("H",), "L": ("K", "L")}


@dataclass(frozen=True)
class FvDomain:
    """The variable domain of one chain."""

    chain: str
    sequence: str
    first_index: int
    """1-based index of its first residue in the given sequence."""
    left_out: int
    """Residues of the given sequence outside of it."""
    numbering: tuple[tuple[tuple[int, str], str], ...]
    """((IMGT number, insertion), amino acid) of each residue."""


def find_domain(chain: str, sequence: str, method: str) -> FvDomain:
    """Return the variable domain of a sequence; fail if there is none.

    Args:
        chain: H or L.
        sequence: in capitals, without white space.
        method: name of the method that predicts its structure, for the messages.
    """
    import immunum

    field = FIELDS[chain]
    protocol.reject_nonstandard_letters(f"The {field} sequence", sequence, method)
    try:
        found = immunum.Annotator(chains=["H", "K", "L"], scheme="imgt").number(sequence)
    except (RuntimeError, ValueError) as exc:
        protocol.fail(f"The {field} sequence cannot be numbered: {' '.join(str(exc).split())[:200]}")
    if found.error:
        protocol.fail(
            f"The {field} sequence is not recognised as the variable domain of an antibody's {field} chain."
            " Give the whole domain."
        )
    if found.chain not in _KINDS[chain]:
        protocol.fail(
            f"The {field} sequence is not that of a {field} chain."
            " Check that heavy and light are not exchanged."
        )
    numbering = tuple((split_position(name), letter) for name, letter in found.numbering.items())
    numbers = [number for (number, _), _ in numbering]
    if fault := explain_missing_ends(field, numbers):
        protocol.fail(fault)
    domain = "".join(letter for _, letter in numbering)
    if domain not in sequence:
        protocol.fail(f"The residues of the {field} sequence's variable domain cannot be told apart.")
    return FvDomain(chain, domain, sequence.index(domain) + 1, len(sequence) - len(domain), numbering)


def split_position(name: str) -> tuple[int, str]:
    """Return the number and insertion letter of a position such as ``111A``."""
    digits = name.rstrip("ABCDEFGHIJKLMNOPQRSTUVWXYZ")
    return int(digits), name[len(digits) :]


def note_what_is_left_out(domains: Iterable[FvDomain]) -> list[str]:
    """Return notes on residues that are not in the structure."""
    return [
        f"{each.left_out} residues of the {FIELDS[each.chain]} sequence are outside the variable domain and"
        " were not used."
        for each in domains
        if each.left_out
    ]


def renumber(lines: Iterable[str], domains: Mapping[str, FvDomain]) -> Iterator[str]:
    """Yield the lines of a PDB file, whose residues count from 1 in each chain, with IMGT numbers."""
    for line in lines:
        if not line.startswith(("ATOM", "TER")) or not line[22:26].strip():
            yield line
            continue
        (number, insertion), _ = domains[line[21]].numbering[int(line[22:26]) - 1]
        yield f"{line[:22]}{number:4d}{insertion or ' '}{line[27:]}"
