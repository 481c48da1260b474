"""Cautions on valid but unlikely sequences, shown while they are typed.

Each states what was found and where. Positions count the residues of the chain as given, from 1.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from foldnote.catalog.sequences import is_nucleotide_alphabet
from foldnote.forms.biology.domains import (
    LONGEST_SEARCHED,
    Domain,
    find_domains,
    find_kinds,
    has_numbering,
)
from foldnote.forms.biology.motifs import (
    find_glycosylation_sites,
    find_his_tag,
    find_odd_cysteines,
    find_signal_peptide,
    translate,
)
from foldnote.forms.schema.spec import FieldSpec
from foldnote.forms.ui.label import Caution
from foldnote.text import count, join_words

SWAP: Final = "swap"
TRANSLATE: Final = "translate"
"""Actions of the buttons next to cautions."""
_SHORTEST_DOMAIN: Final = 90
"""Minimum length of a variable domain in residues; those of antibodies have about 105 to 130."""
_SHORTEST_DNA: Final = 12
"""Minimum length for a chain of only A, C, G, T, U and N to be more likely DNA or RNA than protein."""
_SHOWN_SITES: Final = 6
_PAIRS: Final = (("heavy", "light"), ("vh", "vl"))


def find_doubts(chain: str, spec: FieldSpec) -> list[Caution]:
    """Explain why a cleaned chain is unlikely to be what an amino-acid field asks for."""
    if is_nucleotide_alphabet(spec.notes.get("alphabet")) or not chain:
        return []
    if is_nucleotide(chain):
        protein = translate(chain)
        if not protein:
            return [Caution("only the letters of DNA or RNA: is this a protein?")]
        button = f"Translate to {count(len(protein), 'residue')}"
        message = "only the letters of DNA or RNA, in one reading frame: is this a protein?"
        return [Caution(message, TRANSLATE, button)]
    expected = expected_kind(spec.name)
    if not expected:
        return []
    kinds = find_kinds(chain)
    if kinds and expected not in kinds:
        message = f"this looks like a {kinds[0]} chain: are the chains swapped?"
        return [Caution(message, SWAP, "Swap heavy and light")]
    domains = find_domains(chain)
    if len(chain) < _SHORTEST_DOMAIN:
        return [
            Caution(
                f"short for the variable domain of a {expected} chain, which has about 105 to 130 residues"
            )
        ]
    if not kinds and domains:
        return [Caution(f"this looks like a {domains[0]}, not like the {expected} chain of an antibody")]
    if not kinds and has_numbering() and len(chain) <= LONGEST_SEARCHED:
        message = f"no variable domain of an antibody was recognised: is this a {expected} chain?"
        return [Caution(message)]
    if domains and not any(domain.is_whole for domain in domains):
        return [Caution(f"the variable domain ends at residue {domains[-1].end}, before its J region")]
    return []


def find_liabilities(chain: str, scheme: str) -> Iterator[Caution]:
    """Yield the tags, signal peptides, unpaired cysteines and glycosylation sites of a protein chain.

    Sites in CDRs are named so, by the definition of the numbering ``scheme``.

    Cysteines, glycosylation sites and signal peptides are reported only for chains with an antibody variable
    domain: in other proteins they are mostly intended.
    """
    domains = [domain for domain in find_domains(chain) if domain.chain]
    tag = find_his_tag(chain)
    if tag is not None:
        yield Caution(f"His tag at residues {tag[0] + 1} to {tag[1]}: remove it unless it is intended")
    signal = find_signal_peptide(chain, domains[0]) if domains else 0
    if signal:
        yield Caution(
            f"residues 1 to {signal} look like a signal peptide, which is cleaved from the mature chain"
        )
    for domain in domains:
        odd = find_odd_cysteines(domain)
        if odd:
            yield Caution(f"unpaired cysteine: {_describe_odd(odd, domain, scheme)}")
    sites = find_glycosylation_sites(chain) if domains else []
    if sites:
        labels = [
            f"{chain[site]}{site + 1}{_name_cdr(site, domains, scheme)}" for site in sites[:_SHOWN_SITES]
        ]
        ending = f" and {len(sites) - _SHOWN_SITES} more" if len(sites) > _SHOWN_SITES else ""
        noun = "N-glycosylation site" if len(sites) == 1 else "N-glycosylation sites"
        yield Caution(
            f"{noun} (N-X-S/T): {join_words(labels, 'and') if not ending else ', '.join(labels)}{ending}"
        )


def _describe_odd(odd: list[int], domain: Domain, scheme: str) -> str:
    bonded = domain.list_bonded_cysteines()
    free = [index for index in odd if index not in bonded] or odd
    names = [f"C{index + 1}" + _name_cdr(index, [domain], scheme) for index in free]
    if len(bonded) < 2:
        return f"{join_words(names, 'and')} without the usual partner in a variable domain"
    verb = "has" if len(names) == 1 else "have"
    bond = f"the bond of C{bonded[0] + 1} and C{bonded[1] + 1}"
    return f"{join_words(names, 'and')} {verb} no partner apart from {bond}"


def _name_cdr(index: int, domains: list[Domain], scheme: str) -> str:
    name = next(filter(None, (domain.find_cdrs(scheme).name_at(index) for domain in domains)), "")
    return f" in {name}" if name else ""


def is_nucleotide(chain: str) -> bool:
    """Return whether a cleaned chain has only letters of DNA or RNA, and enough of them."""
    letters = set(chain)
    return len(chain) >= _SHORTEST_DNA and letters <= set("ACGTUN") and len(letters & set("ACGTU")) >= 3


def expected_kind(name: str) -> str:
    """Return ``heavy`` or ``light`` for a field with such a name; else empty."""
    folded = name.lower()
    for heavy, light in _PAIRS:
        if folded.startswith((heavy, light)):
            return "heavy" if folded.startswith(heavy) else "light"
    return ""


def find_partner(spec: FieldSpec) -> str:
    """Return the name of the adjacent field for the other chain, light for heavy; empty if there is none."""
    siblings = spec.root.get("properties") if len(spec.path) == 1 else None
    if not isinstance(siblings, dict) or not expected_kind(spec.name):
        return ""
    for pair in _PAIRS:
        for own_prefix, other_prefix in (pair, pair[::-1]):
            partner = other_prefix + spec.name[len(own_prefix) :]
            if spec.name.lower().startswith(own_prefix) and partner in siblings:
                return partner
    return ""
