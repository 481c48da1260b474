"""Calls of ANARCI, and the parts of the results that both of its tools write for a domain."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from antibody_regions import number_rows
from engine_protocol import fail, reject_nonstandard_letters
from profiles import load_anarci

SPECIES = ("human", "mouse")
"""Species whose profiles and germlines the program uses by default."""
_CLASS_OF_TYPE = {"K": "L"}


def check_letters(sequence: str, what: str = "sequence") -> None:
    """Fail unless ANARCI accepts the letters and the length."""
    from anarci import validate_sequence

    if not sequence:
        fail(f"The {what} is empty. Give one protein sequence.")
    reject_nonstandard_letters(f"The {what}", sequence, "ANARCI")
    try:
        validate_sequence(sequence)
    except AssertionError as exc:
        fail(f"The {what} cannot be numbered: {exc}.")


def run_anarci(sequence: str, scheme: str, species: Sequence[str] = SPECIES) -> tuple[list, list]:
    """Return domains and their details, if any; the arguments are those of the ANARCI program."""
    numbered, details, _ = load_anarci()(
        [("sequence", sequence)], scheme=scheme, assign_germline=True, allowed_species=list(species), ncpu=1
    )
    return numbered[0] or [], details[0] or []


def number_domain(
    domain: Any, detail: Any, sequence: str, scheme: str, index: int
) -> list[dict[str, str | int]]:
    """Return the rows of numbering.csv for one domain."""
    numbering, _, _ = domain
    if not numbering:
        fail(f"The scheme {scheme} has too few positions for a loop of domain {index}. Use another.")
    letters = "".join(letter for _, letter in numbering if letter != "-")
    first = sequence.index(letters, max(0, detail["query_start"] - 1)) + 1
    return number_rows(numbering, scheme=scheme, chain=chain_of(detail), first_index=first)


def chain_of(detail: Any) -> str:
    """Return the chain's letter: kappa and lambda are both L."""
    return _CLASS_OF_TYPE.get(detail["chain_type"], detail["chain_type"])


def describe_germlines(detail: Any) -> dict[str, str]:
    """Return the most identical V and J genes, with identities (0 to 1, four decimals); empty if none."""
    germlines = detail.get("germlines") or {}
    v_name, v_identity = germlines.get("v_gene", (None, None))
    j_name, j_identity = germlines.get("j_gene", (None, None))
    return {
        "germline_species": v_name[0] if v_name else "",
        "v_gene": v_name[1] if v_name else "",
        "v_identity": _as_fraction(v_identity),
        "j_gene": j_name[1] if j_name else "",
        "j_identity": _as_fraction(j_identity),
    }


def _as_fraction(value: object) -> str:
    return f"{value:.4f}" if isinstance(value, float) else ""
