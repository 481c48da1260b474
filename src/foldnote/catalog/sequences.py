"""Sequences as text: alphabets, several chains in one text, and the positions of invalid letters.

White space and case are ignored, since they carry no meaning in a sequence. Everything else that people paste
(FASTA headers, gaps, stop codons, line numbers) is reported, never silently changed. Callers that accept a
FASTA record take its letters with `take_letters` first.
"""

from __future__ import annotations

import re
import string
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Final, NamedTuple

_AMINO_ACIDS = "ACDEFGHIKLMNPQRSTVWY"
MAX_FAULTS: Final = 20
"""Maximum number of faults of one text that are described; the others are only counted."""
_CHUNK = 1 << 16
_LINE_END = re.compile(r"[\r\n]")
BEFORE_HEADER: Final = "\ufeff \t\r\n"
"""Characters that are ignored before the first header of a FASTA text."""
_SUFFIXES = "fasta|fa|fas|faa|fna|a3m|seq|txt|csv|tsv|xlsx|json|pdb|cif|gb"
_PATH = re.compile(
    rf"(~|\.\.?)[/\\][^\s>]+|/[^\s>/]+/[^\s>]+|[a-z]:\\[^\s>]+|[^\s>.]+\.(fasta|faa|a3m|txt|csv|tsv|xlsx|json|pdb|cif)"
    rf"|[^\s>]*[/\\][^\s>/\\]+\.({_SUFFIXES})",
    re.IGNORECASE,
)
_LONGEST_PATH = 1000
_THREE_LETTER_CODES: Final = {
    "ALA": "A", "ARG": "R", "ASN": "N", "ASP": "D", "CYS": "C", "GLN": "Q", "GLU": "E", "GLY": "G",
    "HIS": "H", "ILE": "I", "LEU": "L", "LYS": "K", "MET": "M", "PHE": "F", "PRO": "P", "SER": "S",
    "THR": "T", "TRP": "W", "TYR": "Y", "VAL": "V",
}  # fmt: skip
_THREE_LETTER = re.compile(rf"\s*(?:(?:{'|'.join(_THREE_LETTER_CODES)})[\s-]*){{4,}}", re.IGNORECASE)
"""At least four codes: by chance, 4 in 10¹¹ sequences of twelve letters consist of codes only."""
_SHOWN_CODES = 30
_NUCLEOTIDE_LIKE: Final = 60
"""Minimum length at which a text of only A, C, G, T (U, N) is taken for a nucleotide sequence."""


class Alphabet(NamedTuple):
    """The letters that a sequence field accepts."""

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
        Alphabet("dna", frozenset("ACGTN"), "nucleotide"),
        Alphabet("rna", frozenset("ACGUN"), "nucleotide"),
    )
}
"""Antibody tools accept the twenty amino acids: their models and numbering have no other letter.
AlphaFold-like tools have a token for an unknown residue and also accept X (``amino-acid-x``)."""

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
    "_": "'_' is not a residue; give masks in their own setting",
}


@dataclass(frozen=True, slots=True)
class Fault:
    """One invalid letter or FASTA header line, or a text that is no sequence at all."""

    position: int
    """1-based position in its chain, not counting white space."""
    letter: str
    """The letter as written; ``>`` for a FASTA header line."""
    chain: int
    """0-based index of the chain in the text; always 0 if the field takes one chain."""
    message: str
    """What is wrong, and what to write instead."""
    index: int
    """0-based index in the raw text."""
    is_whole_text: bool = False
    """Whether the text is something else than a sequence, so that it has no residues to count."""


def is_nucleotide_alphabet(alphabet: str | None) -> bool:
    """Return whether an alphabet is that of DNA or RNA; an alphabet without a name is that of proteins."""
    return alphabet in ALPHABETS and ALPHABETS[alphabet].noun == "nucleotide"


def clean_sequence(text: str) -> str:
    """Remove white space from ``text`` and convert it to upper case."""
    chunks = (text[start : start + _CHUNK] for start in range(0, len(text), _CHUNK))
    return "".join("".join(chunk.split()) for chunk in chunks).upper()


def split_chains(text: str, separator: str | None) -> tuple[str, ...]:
    """Split a sequence text into cleaned chains; one chain without a separator."""
    return tuple(clean_sequence(text).split(separator)) if separator else (clean_sequence(text),)


def find_sequence_faults(
    text: str, alphabet: str = "amino-acid", separator: str | None = None
) -> tuple[Fault, ...]:
    """Return the first `MAX_FAULTS` letters of ``text`` that are not in the alphabet, in reading order.

    Args:
        text: the sequence as it was typed or pasted.
        alphabet: name of a row of `ALPHABETS`; an unknown name counts as ``amino-acid``.
        separator: separator of chains, or None if one chain is expected.
    """
    known = ALPHABETS.get(alphabet, ALPHABETS["amino-acid"])
    first = islice(_walk(text, known, separator), MAX_FAULTS)
    return tuple(_describe(text, known, *found) for found in first)


def count_sequence_faults(text: str, alphabet: str = "amino-acid", separator: str | None = None) -> int:
    """Return the number of all faults, of which `find_sequence_faults` returns the first."""
    known = ALPHABETS.get(alphabet, ALPHABETS["amino-acid"])
    return sum(1 for _ in _walk(text, known, separator))


def take_letters(text: str) -> str:
    """Return the letters of a text that is exactly one FASTA record; any other text unchanged."""
    names = list_records(text)
    letters = text.lstrip(BEFORE_HEADER)[1:].replace("\r", "\n").partition("\n")[2]
    return letters if len(names) == 1 and letters.strip() else text


def is_fasta(text: str) -> bool:
    """Return whether a text is FASTA: its first non-empty line is a header."""
    return text.lstrip(BEFORE_HEADER).startswith(">")


def list_records(text: str) -> list[str]:
    """Return the names of the FASTA records in ``text``; empty if it does not begin with a header line."""
    if not is_fasta(text):
        return []
    lines = _LINE_END.split(text.lstrip(BEFORE_HEADER))
    heads = [line[1:].split(maxsplit=1) for line in lines if line.startswith(">")]
    return [head[0] if head else f"record {number}" for number, head in enumerate(heads, 1)]


def looks_like_nucleotides(chain: str) -> bool:
    """Return whether a cleaned protein chain is more likely DNA or RNA."""
    letters = set(chain)
    return len(chain) >= _NUCLEOTIDE_LIKE and len(letters & set("ACGTU")) >= 4 and letters <= set("ACGTUN")


def _walk(text: str, alphabet: Alphabet, separator: str | None) -> Iterator[tuple[int, int, int]]:
    """Yield the position, chain and index of every fault."""
    wrong = {letter for letter in set(text) if not _is_known(letter, alphabet, separator)}
    if _has_three_letter_codes(text, alphabet) or (wrong and _is_path(text)):
        yield 1, 0, len(text) - len(text.lstrip())
        return
    if not wrong:
        return
    position, chain, index = 0, 0, 0
    while index < len(text):
        letter = text[index]
        if letter == ">":
            yield position + 1, chain, index
            index = _end_of_line(text, index)
            continue
        if letter == separator:
            position, chain = 0, chain + 1
        elif not letter.isspace():
            position += 1
            if letter in wrong:
                yield position, chain, index
        index += 1


def _is_known(letter: str, alphabet: Alphabet, separator: str | None) -> bool:
    is_of_alphabet = letter.isascii() and letter.upper() in alphabet.letters
    return letter != ">" and (is_of_alphabet or letter == separator or letter.isspace())


def _is_path(text: str) -> bool:
    """Return whether a text that is not a sequence is the path or name of a file."""
    return len(text) <= _LONGEST_PATH and _PATH.fullmatch(text.strip()) is not None


def _has_three_letter_codes(text: str, alphabet: Alphabet) -> bool:
    """Return whether a text consists of three-letter codes of amino acids, such as ``MetLysThrAla``.

    Most of their letters are one-letter codes, too, so that nothing else tells that the sequence is another.
    """
    return alphabet.noun == "amino acid" and _THREE_LETTER.fullmatch(text) is not None


def _translate_codes(text: str) -> str:
    """Return three-letter codes as one-letter codes, the first `_SHOWN_CODES` of them."""
    letters = clean_sequence(text.replace("-", ""))
    codes = [letters[start : start + 3] for start in range(0, min(len(letters), 3 * _SHOWN_CODES), 3)]
    rest = "…" if len(letters) > 3 * _SHOWN_CODES else ""
    return "".join(_THREE_LETTER_CODES[code] for code in codes) + rest


def _describe(text: str, alphabet: Alphabet, position: int, chain: int, index: int) -> Fault:
    letter = text[index]
    if _has_three_letter_codes(text, alphabet):
        message = f"these are three-letter codes; write one-letter codes: {_translate_codes(text)}"
        return Fault(position, letter, chain, message, index, is_whole_text=True)
    if _is_path(text):
        message = "this is the path of a file; give the letters of the sequence in it"
        return Fault(position, letter, chain, message, index, is_whole_text=True)
    if letter == ">":
        line = text[index : min(_end_of_line(text, index), index + 40)]
        return Fault(position, letter, chain, _explain_header(line), index)
    return Fault(position, letter, chain, _explain_letter(letter, alphabet), index)


def _end_of_line(text: str, start: int) -> int:
    found = _LINE_END.search(text, start)
    return found.start() if found else len(text)


def _explain_header(line: str) -> str:
    return f"{line[:30]!r} is a FASTA header line; paste only the letters of the sequence"


def _explain_letter(letter: str, alphabet: Alphabet) -> str:
    if letter.upper() in _EXPLANATIONS and (letter in string.punctuation or alphabet.noun == "amino acid"):
        return _EXPLANATIONS[letter.upper()]
    if letter.isdigit():
        return f"{letter!r} is a digit; leave line and position numbers out"
    if not letter.isprintable():
        name = unicodedata.name(letter, "control character").lower()
        return f"here is an invisible character (U+{ord(letter):04X}, {name}); delete it"
    return f"{letter!r} is not a valid {alphabet.noun}; use the letters {''.join(sorted(alphabet.letters))}"
