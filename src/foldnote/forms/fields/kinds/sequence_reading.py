"""The reading of a sequence field's text: chains, invalid letters, domains, and possible mistakes.

This module is imported with the first text; an empty field does not need it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import count as counting
from string import ascii_uppercase

from foldnote.catalog.sequences import (
    Fault,
    clean_sequence,
    count_sequence_faults,
    find_sequence_faults,
    is_nucleotide_alphabet,
)
from foldnote.forms.biology.domains import find_domains, find_kinds
from foldnote.forms.biology.paired_chains import describe_domains, order_chains, shade_cdrs
from foldnote.forms.biology.plausibility import (
    SWAP,
    find_doubts,
    find_liabilities,
    find_partner,
    wanted_kind,
)
from foldnote.forms.biology.sequence_text import SequenceText
from foldnote.forms.fields.field import Reading
from foldnote.forms.schema.spec import FieldSpec
from foldnote.forms.ui.label import Caution, Excerpt
from foldnote.text import count

_AROUND = 14
_JUDGED = 4
"""Number of chains whose sequences are judged."""
_MAX_CAUTIONS = 6
SHARE = "share"
"""Action of the button next to two FASTA records."""


def judge(spec: FieldSpec, text: SequenceText, separator: str | None) -> Reading:
    """Return the reading of a text: value, readout, cautions, and an error for an invalid letter.

    With an error, only cautions that offer to correct the text are kept.
    """
    if separator is None and len(text.chains) > 1:
        return Reading(
            errors=(
                f"These are {len(text.chains)} FASTA records; this field takes one chain. Keep only one.",
            ),
            readout=_describe_chains(text, _noun(spec)),
            cautions=_offer_both(spec, text),
        )
    value = (separator or "").join(text.chains)
    alphabet = str(spec.notes.get("alphabet") or "amino-acid")
    faults = find_sequence_faults(value, alphabet, separator)
    readout = "; ".join([_describe_chains(text, _noun(spec)), *text.notes])
    if faults:
        first = faults[0]
        others = [fault.position for fault in faults[1:] if fault.chain == first.chain]
        excerpt = _cut_excerpt(text.chains[first.chain], first.position, others)
        more = count_sequence_faults(value, alphabet, separator) - 1
        return Reading(
            value,
            (_describe_fault(first, text, more),),
            excerpt,
            readout,
            cautions=_find_cautions(spec, text, is_valid=False),
        )
    if is_nucleotide_alphabet(alphabet):
        return Reading(value, readout=readout)
    domains = describe_domains(text, _name_chains(text), is_expected=bool(wanted_kind(spec.name)))
    return Reading(
        value,
        readout="; ".join([readout, *domains]),
        cautions=_find_cautions(spec, text),
        strips=shade_cdrs(text, _name_chains(text)),
    )


def _find_cautions(spec: FieldSpec, text: SequenceText, *, is_valid: bool = True) -> tuple[Caution, ...]:
    """Return the cautions on the first chains, with their names if there are several.

    For an invalid text, only cautions with a button.
    """
    found = [
        (name, caution)
        for name, chain in zip(_name_chains(text)[:_JUDGED], text.chains[:_JUDGED], strict=True)
        for caution in (*find_doubts(chain, spec), *(find_liabilities(chain) if is_valid else ()))
        if is_valid or caution.act
    ]
    if len(text.chains) > 1:
        found = [(name, caution._replace(text=f"{name}: {caution.text}")) for name, caution in found]
    return tuple(caution for _, caution in found[:_MAX_CAUTIONS])


def _offer_both(spec: FieldSpec, text: SequenceText) -> tuple[Caution, ...]:
    """Return the offer to distribute two records to the fields of both chains of an antibody."""
    order = order_chains(text) if find_partner(spec) else None
    if order is None:
        return ()
    names = text.names if len(text.names) == len(text.chains) else _name_chains(text)
    heavy, light = (f"“{names[place][:24] or ascii_uppercase[place]}”" for place in order)
    said = f"{heavy} can be the heavy chain and {light} the light chain"
    return (Caution(said, SHARE, "Fill in both fields"),)


def _noun(spec: FieldSpec) -> str:
    return "base" if is_nucleotide_alphabet(spec.notes.get("alphabet")) else "residue"


def without_swap(read: Reading) -> Reading:
    """Return the reading with the cautions for the case that swapping both chains does not help."""
    plain = tuple(Caution(each.text) if each.act == SWAP else each for each in read.cautions)
    return read._replace(cautions=plain)


def are_unlike(one: object, other: object) -> bool:
    """Return whether the texts have different kinds of variable domains."""
    kinds = [find_kinds(clean_sequence(value)) if isinstance(value, str) else [] for value in (one, other)]
    return kinds[0] != kinds[1]


def name_domains(text: SequenceText, germline_of: Callable[[str], str]) -> list[str]:
    """Return the species and germlines of the first chains with a variable domain, if known."""
    found = [
        (name, germline_of(chain))
        for name, chain in zip(_name_chains(text)[:_JUDGED], text.chains[:_JUDGED], strict=True)
        if find_domains(chain)
    ]
    return [words if len(text.chains) == 1 else f"{name}: {words}" for name, words in found if words]


def _describe_fault(fault: Fault, text: SequenceText, more: int) -> str:
    """Return the first fault with its position, and the number of further ones."""
    chain = f"Chain {_name_chains(text)[fault.chain]}, position" if len(text.chains) > 1 else "Position"
    rest = f" {count(more, 'more letter')} to correct." if more else ""
    return f"{chain} {fault.position}: {fault.message.rstrip('.')}.{rest}"


def _describe_chains(text: SequenceText, noun: str) -> str:
    """Return the chains with their lengths: ``2 chains, 227 residues: A 120, B 107``."""
    total = count(sum(map(len, text.chains)), noun)
    if len(text.chains) == 1:
        return total
    parts = [f"{name} {len(chain)}" for name, chain in zip(_name_chains(text), text.chains, strict=True)]
    shown = ", ".join(parts[:8]) + (" …" if len(parts) > 8 else "")
    return f"{len(parts)} chains, {total}: {shown}"


def _name_chains(text: SequenceText) -> tuple[str, ...]:
    """Return the first words of the FASTA headers if they are distinct, else A to Z, AA, AB and so on."""
    firsts = tuple(name.split()[0][:16] if name else "" for name in text.names)
    if firsts and all(firsts) and len(set(firsts)) == len(firsts):
        return firsts
    letters = (
        (ascii_uppercase[index // 26 - 1] if index >= 26 else "") + ascii_uppercase[index % 26]
        for index in counting()
    )
    return tuple(name for name, _ in zip(letters, text.chains, strict=False))


def _cut_excerpt(chain: str, position: int, others: Iterable[int] = ()) -> Excerpt:
    """Return the letters around the 1-based ``position``; those at ``others`` are marked, too."""
    index = min(max(position - 1, 0), max(len(chain) - 1, 0))
    start, end = max(0, index - _AROUND), index + 1 + _AROUND
    before = ("…" if start else "") + chain[start:index]
    after = chain[index + 1 : end] + ("…" if end < len(chain) else "")
    more = tuple(other - position - 1 for other in others if index < other - 1 < end)
    return Excerpt(before, chain[index : index + 1] or " ", after, more)
