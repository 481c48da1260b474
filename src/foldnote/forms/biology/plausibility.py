"""Warnings about valid but unlikely sequences, shown while they are typed.

Heavy and light chains are distinguished by the J region of the variable domain, W-G-X-G or F-G-X-G after the
second cysteine (Lefranc et al. 2003, Dev. Comp. Immunol. 27:55-77).
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
"""Residues from which on a chain of only A, C, G, T, U and N is more likely DNA or RNA than protein."""


def find_caution(chain: str, spec: FieldSpec) -> str:
    """A warning about a cleaned chain in an amino-acid field; empty without one."""
    if str(spec.notes.get("alphabet") or "amino-acid") == "nucleotide" or not chain:
        return ""
    letters = set(chain)
    if len(chain) >= _SHORTEST_DNA and letters <= set("ACGTUN") and len(letters & set("ACGTU")) >= 3:
        return "only the letters of DNA or RNA: is this a protein?"
    wanted = _wanted_kind(spec.name)
    if not wanted:
        return ""
    found = find_kinds(chain)
    if found and wanted not in found:
        return f"this looks like a {found[0]} chain: are the chains swapped?"
    if len(chain) < _SHORTEST_DOMAIN:
        return f"short for the variable domain of a {wanted} chain, which has about 105 to 130 residues"
    return ""


def _wanted_kind(name: str) -> str:
    """``heavy`` or ``light`` for a field named after one; else empty."""
    folded = name.lower()
    return next((kind for kind in ("heavy", "light") if folded.startswith(kind)), "")


def find_kinds(chain: str) -> list[str]:
    """``heavy`` and ``light`` for the variable domains in a chain; both in a single-chain Fv."""
    return [kind for kind, mark in (("heavy", _HEAVY), ("light", _LIGHT)) if mark.search(chain)]
