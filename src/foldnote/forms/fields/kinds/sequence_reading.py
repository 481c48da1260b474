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
    expected_kind,
    find_doubts,
    find_liabilities,
    find_partner,
)
from foldnote.forms.biology.sequence_text import SequenceText
from foldnote.forms.fields.field import Reading
from foldnote.forms.schema.spec import FieldSpec
from foldnote.forms.ui.label import Caution, Excerpt
from foldnote.text import count

_AROUND = 14
_MAX_CHECKED_CHAINS = 4
"""Number of chains whose sequences are judged."""
_MAX_CAUTIONS = 6
SHARE = "share"
"""Action of the button next to two FASTA records."""


def read_chains(spec: FieldSpec, text: SequenceText, separator: str | None, scheme: str) -> Reading:
    """Return the reading of a text: value, readout, cautions, and an error for an invalid letter.

    CDRs are those by the definition of the numbering ``scheme``.

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
        if first.is_whole_text:
            return Reading(value, (_describe_fault(first, text, 0),))
        positions = [fault.position for fault in faults[1:] if fault.chain == first.chain]
        excerpt = _cut_excerpt(text.chains[first.chain], first.position, positions)
        further = count_sequence_faults(value, alphabet, separator) - 1
        return Reading(
            value,
            (_describe_fault(first, text, further),),
            excerpt,
            readout,
            cautions=_find_cautions(spec, text, scheme, is_valid=False),
        )
    if is_nucleotide_alphabet(alphabet):
        return Reading(value, readout=readout)
    domains = describe_domains(text, _name_chains(text), scheme, is_expected=bool(expected_kind(spec.name)))
    return Reading(
        value,
        readout="; ".join([readout, *domains]),
        cautions=_find_cautions(spec, text, scheme),
        strips=shade_cdrs(text, _name_chains(text), scheme),
    )


def _find_cautions(
    spec: FieldSpec, text: SequenceText, scheme: str, *, is_valid: bool = True
) -> tuple[Caution, ...]:
    """Return the cautions on the first chains, with their names if there are several.

    For an invalid text, only cautions with a button.
    """
    cautions = [
        (name, caution)
        for name, chain in zip(
            _name_chains(text)[:_MAX_CHECKED_CHAINS], text.chains[:_MAX_CHECKED_CHAINS], strict=True
        )
        for caution in (*find_doubts(chain, spec), *(find_liabilities(chain, scheme) if is_valid else ()))
        if is_valid or caution.act
    ]
    if len(text.chains) > 1:
        cautions = [(name, caution._replace(text=f"{name}: {caution.text}")) for name, caution in cautions]
    return tuple(caution for _, caution in cautions[:_MAX_CAUTIONS])


def _offer_both(spec: FieldSpec, text: SequenceText) -> tuple[Caution, ...]:
    """Return the offer to distribute two records to the fields of both chains of an antibody."""
    order = order_chains(text) if find_partner(spec) else None
    if order is None:
        return ()
    names = text.names if len(text.names) == len(text.chains) else _name_chains(text)
    heavy, light = (f"“{names[index][:24] or ascii_uppercase[index]}”" for index in order)
    sentence = f"{heavy} can be the heavy chain and {light} the light chain"
    return (Caution(sentence, SHARE, "Fill in both fields"),)


def _noun(spec: FieldSpec) -> str:
    return "base" if is_nucleotide_alphabet(spec.notes.get("alphabet")) else "residue"


def without_swap(reading: Reading) -> Reading:
    """Return the reading with the cautions for the case that swapping both chains does not help."""
    plain = tuple(Caution(caution.text) if caution.act == SWAP else caution for caution in reading.cautions)
    return reading._replace(cautions=plain)


def are_unlike(first: object, second: object) -> bool:
    """Return whether the texts have different kinds of variable domains."""
    kinds = [find_kinds(clean_sequence(value)) if isinstance(value, str) else [] for value in (first, second)]
    return kinds[0] != kinds[1]


def name_domains(text: SequenceText, germline_of: Callable[[str], str]) -> list[str]:
    """Return the species and germlines of the first chains with a variable domain, if known."""
    germlines = [
        (name, germline_of(chain))
        for name, chain in zip(
            _name_chains(text)[:_MAX_CHECKED_CHAINS], text.chains[:_MAX_CHECKED_CHAINS], strict=True
        )
        if find_domains(chain)
    ]
    return [
        germline if len(text.chains) == 1 else f"{name}: {germline}"
        for name, germline in germlines
        if germline
    ]


def _describe_fault(fault: Fault, text: SequenceText, further: int) -> str:
    """Return the first fault with its position, and the number of further ones."""
    chain = f"Chain {_name_chains(text)[fault.chain]}, position" if len(text.chains) > 1 else "Position"
    ending = f" {count(further, 'more letter')} to correct." if further else ""
    return f"{chain} {fault.position}: {fault.message.rstrip('.')}.{ending}"


def _describe_chains(text: SequenceText, noun: str) -> str:
    """Return the chains with their lengths: ``2 chains, 227 residues: A 120, B 107``."""
    total = count(sum(map(len, text.chains)), noun)
    if len(text.chains) == 1:
        return total
    parts = [f"{name} {len(chain)}" for name, chain in zip(_name_chains(text), text.chains, strict=True)]
    listed = ", ".join(parts[:8]) + (" …" if len(parts) > 8 else "")
    return f"{len(parts)} chains, {total}: {listed}"


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


def _cut_excerpt(chain: str, position: int, positions: Iterable[int] = ()) -> Excerpt:
    """Return the letters around the 1-based ``position``; those at ``positions`` are marked, too."""
    index = min(max(position - 1, 0), max(len(chain) - 1, 0))
    start, end = max(0, index - _AROUND), index + 1 + _AROUND
    before = ("…" if start else "") + chain[start:index]
    after = chain[index + 1 : end] + ("…" if end < len(chain) else "")
    further = tuple(
        further_position - position - 1
        for further_position in positions
        if index < further_position - 1 < end
    )
    return Excerpt(before, chain[index : index + 1] or " ", after, further)
