"""The framework or CDR of each numbered position, and the table that the antibody engines write.

It runs inside the engines' own environments and uses only the standard library. It does not number residues:
positions come from ANARCI. CDR definitions differ between authors, so each row of a table names the one used:

- ``imgt``: Lefranc et al. (2003) Dev. Comp. Immunol. 27, 55-77; the same positions for all receptors.
- ``kabat``: Kabat et al. (1991) Sequences of Proteins of Immunological Interest, 5th edition.
- ``chothia``: Chothia & Lesk (1987) J. Mol. Biol. 196, 901-917 with the insertion sites of Al-Lazikani et al.
  (1997) J. Mol. Biol. 273, 927-948, in the bounds that A. Martin's tables give; used for the numberings
  ``chothia`` and ``martin`` (Abhinandan & Martin (2008) Mol. Immunol. 45, 3832-3839).
- ``north``: North et al. (2011) J. Mol. Biol. 406, 228-256, in AHo numbers (Honegger & Plückthun (2001)
  J. Mol. Biol. 309, 657-670); antibodies only.
- ``wolfguy``: Bujotzek et al. (2015) Proteins 83, 681-695; the number itself says the region: within each
  block of a hundred, 1 to 50 is framework and 51 to 99 is CDR.
"""

from __future__ import annotations

from collections.abc import Iterable

COLUMNS = ("chain", "index", "residue", "position", "region", "scheme", "cdr_definition")
"""Columns of numbering.csv: chain (H, L, or A, B, G, D for a T-cell receptor); index, 1-based in the given
sequence; residue, one letter; position, number and insertion letter; region, FR1 to FR4 and CDR1 to CDR3,
empty if the definition says nothing; scheme of numbering; cdr_definition, empty if region is. A row is
a residue.
"""

DEFINITION_OF_SCHEME = {
    "imgt": "imgt",
    "kabat": "kabat",
    "chothia": "chothia",
    "martin": "chothia",
    "aho": "north",
    "wolfguy": "wolfguy",
}
REGIONS = ("FR1", "CDR1", "FR2", "CDR2", "FR3", "CDR3", "FR4")
_IMGT = ((27, 38), (56, 65), (105, 117))
_BOUNDS = {
    ("imgt", "H"): _IMGT,
    ("imgt", "L"): _IMGT,
    ("imgt", "A"): _IMGT,
    ("imgt", "B"): _IMGT,
    ("imgt", "G"): _IMGT,
    ("imgt", "D"): _IMGT,
    ("kabat", "H"): ((31, 35), (50, 65), (95, 102)),
    ("kabat", "L"): ((24, 34), (50, 56), (89, 97)),
    ("chothia", "H"): ((26, 32), (52, 56), (95, 102)),
    ("chothia", "L"): ((24, 34), (50, 56), (89, 97)),
    ("north", "H"): ((24, 42), (57, 69), (107, 138)),
    ("north", "L"): ((24, 42), (57, 72), (107, 138)),
}
"""First and last number of CDR1, CDR2 and CDR3, both included, with every insertion after them."""


def find_region(scheme: str, chain: str, number: int) -> str:
    """Return the region of position ``number``; empty if the scheme does not define it for this chain."""
    definition = DEFINITION_OF_SCHEME[scheme]
    if definition == "wolfguy":
        return _find_wolfguy_region(number)
    bounds = _BOUNDS.get((definition, chain))
    if bounds is None:
        return ""
    for index, (first, last) in enumerate(bounds):
        if number < first:
            return REGIONS[2 * index]
        if number <= last:
            return REGIONS[2 * index + 1]
    return REGIONS[-1]


def _find_wolfguy_region(number: int) -> str:
    block = (number // 100 - 1) % 4
    return REGIONS[min(2 * block + (number % 100 > 50), len(REGIONS) - 1)]


def number_rows(
    numbering: Iterable[tuple[tuple[int, str], str]], *, scheme: str, chain: str, first_index: int
) -> list[dict[str, str | int]]:
    """Return the rows of numbering.csv from ANARCI's pairs ((number, insertion), letter), gaps left out.

    Args:
        numbering: ANARCI's result for one domain.
        scheme: scheme of the numbers.
        chain: H, L, A, B, G or D.
        first_index: 1-based index of the domain's first residue in the given sequence.
    """
    rows: list[dict[str, str | int]] = []
    for (number, insertion), letter in numbering:
        if letter == "-":
            continue
        region = find_region(scheme, chain, number)
        rows.append(
            {
                "chain": chain,
                "index": first_index + len(rows),
                "residue": letter,
                "position": f"{number}{insertion.strip()}",
                "region": region,
                "scheme": scheme,
                "cdr_definition": DEFINITION_OF_SCHEME[scheme] if region else "",
            }
        )
    return rows
