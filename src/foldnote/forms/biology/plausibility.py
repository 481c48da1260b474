"""What is unlikely about a sequence that its tool would take: a word of caution while it is typed, no error.

Chains are told apart by the J region of variable domains, W-G-X-G of heavy and F-G-X-G of light chains behind
the second cysteine (Lefranc et al. 2003, Dev. Comp. Immunol. 27:55-77).
"""

from __future__ import annotations

import re
from typing import Final

from foldnote.forms.schema.spec import FieldSpec

_HEAVY = re.compile(r"C[A-Z]{2,45}WG[A-Z]GT")
_LIGHT = re.compile(r"C[A-Z]{2,30}FG[A-Z]GT")
_SHORTEST_DOMAIN: Final = 90
"""Residues; variable domains of antibodies have about 105 to 130."""
_SHORTEST_DNA: Final = 12
"""From here on a protein of A, C, G, T, U and N alone is rather DNA or RNA."""


def find_caution(chain: str, spec: FieldSpec) -> str:
    """What to look at in a cleaned chain of a field of amino acids; empty where nothing is odd."""
    if str(spec.notes.get("alphabet") or "amino-acid") == "nucleotide" or not chain:
        return ""
    letters = set(chain)
    if len(chain) >= _SHORTEST_DNA and letters <= set("ACGTUN") and len(letters & set("ACGTU")) >= 3:
        return "only the letters of DNA or RNA: is this a protein?"
    wanted = _wanted_kind(spec.name)
    if not wanted:
        return ""
    found = _find_kinds(chain)
    if found and wanted not in found:
        return f"this looks like a {found[0]} chain: are the chains swapped?"
    if len(chain) < _SHORTEST_DOMAIN:
        return f"short for the variable domain of a {wanted} chain, which has about 105 to 130 residues"
    return ""


def _wanted_kind(name: str) -> str:
    """The kind of chain that a field of this name takes; empty where it takes any."""
    folded = name.lower()
    return next((kind for kind in ("heavy", "light") if folded.startswith(kind)), "")


def _find_kinds(chain: str) -> list[str]:
    """The kinds of variable domain in a chain: both in a single-chain Fv."""
    return [kind for kind, mark in (("heavy", _HEAVY), ("light", _LIGHT)) if mark.search(chain)]
