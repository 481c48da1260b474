"""Sequences as letters: alphabets, chains in one text, and which letters do not belong, by position.

Forgiven are white space and case, which carry no meaning in a sequence. Everything else that people paste
(FASTA headers, gaps, stop codons, line numbers) is pointed at, never silently changed.
"""

from __future__ import annotations

import string
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

_AMINO_ACIDS = "ACDEFGHIKLMNPQRSTVWY"
_NUCLEOTIDE_LIKE: Final = 60
"""From this length on a text of only A, C, G, T (U, N) is taken for a nucleotide sequence."""


@dataclass(frozen=True, slots=True)
class Alphabet:
    """The letters that a sequence field takes."""

    name: str
    letters: frozenset[str]
    noun: str
    """What one letter stands for."""


ALPHABETS: Final = {
    row.name: row
    for row in (
        Alphabet("amino-acid", frozenset(_AMINO_ACIDS), "amino acid"),
        Alphabet("amino-acid-x", frozenset(_AMINO_ACIDS + "X"), "amino acid"),
        Alphabet("nucleotide", frozenset("ACGTUN"), "nucleotide"),
    )
}
"""Antibody tools take the twenty amino acids: their models and numbering know no other letter. Tools of the
AlphaFold kind have a token for an unknown residue and take X too (``amino-acid-x``)."""

_EXPLANATIONS: Final = {
    "*": "'*' is a stop codon; leave it out",
    "-": "'-' is a gap of an alignment; leave gaps out",
    ".": "'.' is a gap of an alignment; leave gaps out",
    "~": "'~' is a gap of an alignment; leave gaps out",
    "B": "'B' stands for aspartate or asparagine; write D or N",
    "Z": "'Z' stands for glutamate or glutamine; write E or Q",
    "J": "'J' stands for leucine or isoleucine; write L or I",
    "U": "'U' is selenocysteine; write C where cysteine will do",
    "O": "'O' is pyrrolysine; write K where lysine will do",
    "X": "'X' is an unknown residue, which this tool cannot use; write the amino acid",
    ":": "':' separates chains, and this setting takes one chain",
    "_": "'_' is no residue; masks have a setting of their own",
}


@dataclass(frozen=True, slots=True)
class Fault:
    """One letter (or header line) that does not belong."""

    position: int
    """1-based in its chain, white space not counted."""
    letter: str
    """As written; ``>`` for a FASTA header line."""
    chain: int
    """0-based chain in the text; always 0 where the field takes one chain."""
    message: str
    """What it is and what to write."""
    index: int
    """0-based in the raw text."""


def clean_sequence(text: str) -> str:
    """``text`` without white space, in capitals."""
    return "".join(text.split()).upper()


def split_chains(text: str, separator: str | None) -> tuple[str, ...]:
    """The chains of a sequence text, cleaned; one chain where there is no separator."""
    return tuple(clean_sequence(text).split(separator)) if separator else (clean_sequence(text),)


def find_sequence_faults(
    text: str, alphabet: str = "amino-acid", separator: str | None = None
) -> tuple[Fault, ...]:
    """Every letter of ``text`` that the alphabet lacks, in reading order.

    Args:
        text: the sequence as it was typed or pasted.
        alphabet: name of a row of `ALPHABETS`; an unknown name counts as ``amino-acid``.
        separator: what separates chains, or None where one chain is expected.
    """
    known = ALPHABETS.get(alphabet, ALPHABETS["amino-acid"])
    return tuple(_walk(text, known, separator))


def looks_like_nucleotides(chain: str) -> bool:
    """Whether a cleaned protein chain is rather DNA or RNA that was pasted by mistake."""
    letters = set(chain)
    return len(chain) >= _NUCLEOTIDE_LIKE and len(letters & set("ACGTU")) >= 4 and letters <= set("ACGTUN")


def _walk(text: str, alphabet: Alphabet, separator: str | None) -> Iterator[Fault]:
    position, chain, index = 0, 0, 0
    while index < len(text):
        letter = text[index]
        if letter == ">":
            end = _end_of_line(text, index)
            yield Fault(position + 1, letter, chain, _explain_header(text[index:end]), index)
            index = end
            continue
        if separator and letter == separator:
            position, chain = 0, chain + 1
        elif not letter.isspace():
            position += 1
            if letter.upper() not in alphabet.letters or not letter.isascii():
                yield Fault(position, letter, chain, _explain_letter(letter, alphabet), index)
        index += 1


def _end_of_line(text: str, start: int) -> int:
    ends = [found for found in (text.find(mark, start) for mark in "\r\n") if found >= 0]
    return min(ends, default=len(text))


def _explain_header(line: str) -> str:
    return f"{line[:30]!r} is a FASTA header line; paste only the letters of the sequence"


def _explain_letter(letter: str, alphabet: Alphabet) -> str:
    if letter.upper() in _EXPLANATIONS and (letter in string.punctuation or alphabet.noun == "amino acid"):
        return _EXPLANATIONS[letter.upper()]
    if letter.isdigit():
        return f"{letter!r} is a digit; leave line and position numbers out"
    return f"{letter!r} is no {alphabet.noun}; use the letters {''.join(sorted(alphabet.letters))}"
