"""Checks of sequences: letters, number of chains, masks, amino-acid lists."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from foldnote.catalog.checks.row import CheckContext, CheckRow, Finding, shorten
from foldnote.catalog.sequences import (
    ALPHABETS,
    Fault,
    clean_sequence,
    count_sequence_faults,
    find_sequence_faults,
    list_records,
    looks_like_nucleotides,
    split_chains,
)
from foldnote.text import count

_RANGE = re.compile(r"\s*(\d{1,6})\s*-\s*(\d{1,6})\s*", re.ASCII)
_SHOWN_FAULTS = 3


def _separator(context: CheckContext) -> str | None:
    chains = context.notes.get("chains")
    return str(chains.get("separator") or ":") if isinstance(chains, dict) else None


def check_letters(value: str, context: CheckContext) -> Iterator[Finding]:
    """Check that every letter belongs to the field's alphabet."""
    if not value.strip():
        if context.required:
            yield context.find("This is empty. Give the letters of the sequence.", "empty")
        return
    alphabet, separator = str(context.notes.get("alphabet")), _separator(context)
    records = list_records(value)
    if len(records) > 1:
        yield context.find(_describe_records(records, separator), "several_records")
        return
    faults = find_sequence_faults(value, alphabet, separator)
    if faults:
        more = count_sequence_faults(value, alphabet, separator) - min(len(faults), _SHOWN_FAULTS)
        yield context.find(
            _describe_faults(faults[:_SHOWN_FAULTS], more, separator is not None), "wrong_letter"
        )
    elif any(looks_like_nucleotides(chain) for chain in split_chains(value, _separator(context))):
        message = "This looks like a nucleotide sequence. Translate it and give the amino acids."
        yield context.find(message, "nucleotides")


def check_chain_count(value: str, context: CheckContext) -> Iterator[Finding]:
    """Check that no chain is empty and that the number of chains is within the tool's limits."""
    if not value.strip():
        return
    chains = split_chains(value, _separator(context))
    empty = [number for number, chain in enumerate(chains, 1) if not chain]
    if empty:
        message = f"Chain {empty[0]} is empty. Put ':' only between two chains."
        yield context.find(message, "empty_chain")
        return
    bounds = context.notes.get("chains") or {}
    least, most = int(bounds.get("min", 1)), bounds.get("max")
    if len(chains) < least:
        message = (
            f"There is {count(len(chains), 'chain')}; at least {least} are needed. Separate chains by ':'."
        )
        yield context.find(message, "too_few_chains")
    elif most is not None and len(chains) > most:
        yield context.find(
            f"There are {count(len(chains), 'chain')}; at most {most} can be used.", "too_many_chains"
        )


def check_residue_range(value: str, context: CheckContext) -> Iterator[Finding]:
    """Check that a mask has the form start-end, lies inside its sequence and does not cover all of it."""
    if not value.strip():
        return
    found = _RANGE.fullmatch(value)
    if not found:
        message = f"{shorten(value)} is not a residue range. Write start-end, for example 97-105."
        yield context.find(message, "bad_range")
        return
    start, end = int(found[1]), int(found[2])
    if start < 1 or end < start:
        message = f"{start}-{end} is not a range. Residues are counted from 1, and the start comes first."
        yield context.find(message, "bad_range")
    elif not isinstance(context.other, str) or not context.other.strip():
        message = f"There is no sequence to mask. Give {context.other_name}, or leave the mask out."
        yield context.find(message, "nothing_to_mask")
    else:
        yield from _check_extent(start, end, len(clean_sequence(context.other)), context)


def _check_extent(start: int, end: int, length: int, context: CheckContext) -> Iterator[Finding]:
    if end > length:
        message = f"{start}-{end} reaches beyond {context.other_name}, which has {length} residues."
        yield context.find(message, "range_outside")
    elif end - start + 1 == length:
        message = "Masking a whole sequence is not allowed. Leave at least one residue unmasked."
        yield context.find(message, "whole_sequence_masked")


def check_amino_acid_letters(value: str, context: CheckContext) -> Iterator[Finding]:
    """Check that the value consists of one-letter codes of amino acids without separators."""
    known = ALPHABETS["amino-acid-x"].letters
    wrong = sorted({letter for letter in value if letter not in known})
    if wrong:
        message = f"{shorten(''.join(wrong))} is not allowed. Write one-letter codes together, e.g. CM."
        yield context.find(message, "wrong_letter")


def _describe_records(names: list[str], separator: str | None) -> str:
    shown = ", ".join(shorten(name) for name in names[:_SHOWN_FAULTS])
    more = f" and {len(names) - _SHOWN_FAULTS} more" if len(names) > _SHOWN_FAULTS else ""
    advice = (
        "Give one record." if separator is None else f"Join the letters of the chains with {separator!r}."
    )
    return f"This is a FASTA text of {len(names)} records: {shown}{more}. {advice}"


def _describe_faults(faults: tuple[Fault, ...], more: int, many_chains: bool) -> str:
    if faults[0].is_whole_text:
        return f"{faults[0].message[0].upper()}{faults[0].message[1:]}."
    sentences = [
        f"Position {fault.position}{f' of chain {fault.chain + 1}' if many_chains else ''}: {fault.message}."
        for fault in faults
    ]
    return " ".join([*sentences, f"And {more} more."] if more else sentences)


ROWS: Final = (
    CheckRow("sequence-letters", check_letters, "letters of the field's alphabet"),
    CheckRow("chain-count", check_chain_count, "a number of chains within the limits, none empty"),
    CheckRow("residue-range", check_residue_range, "start-end inside the sequence, and not all of it"),
    CheckRow("amino-acid-letters", check_amino_acid_letters, "one-letter codes without separators"),
)
