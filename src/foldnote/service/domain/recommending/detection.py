"""Detect molecules in a text: FASTA records, bare sequences, SMILES, Chemical Component Dictionary codes.

Each rule reads the text once and is independent of tools. A word in capitals may look like a sequence by
accident, so a bare one needs at least twelve residues; a shorter one counts only after a keyword such as
`sequence:`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

Kind = Literal["protein", "antibody", "nucleic-acid", "small-molecule"]

AMINO_ACIDS = frozenset("ACDEFGHIKLMNPQRSTVWYX")
NUCLEOTIDES = frozenset("ACGTUN")
COMPONENTS = frozenset(
    {"ADP", "AMP", "ANP", "ATP", "BTN", "CLR", "COA", "FAD", "FMN", "GDP", "GNP", "GTP", "HEM", "IMP", "NAD",
     "NAG", "NAP", "NDP", "PLP", "SAH", "SAM", "TPP", "UDP"}
)  # fmt: skip
"""Codes that are recognised alone; others only after a word such as `CCD` or `ligand`."""

_FASTA = re.compile(r"^>([^\n]*)\n((?:[A-Za-z*\-:.]+[ \t\r]*(?:\n|\Z))+)", re.MULTILINE)
_BARE = re.compile(r"(?<![A-Za-z0-9])[A-Z]{12,}(?::[A-Z]{5,})*(?![A-Za-z0-9])")
_ANNOUNCED = re.compile(
    r"(?i:peptide|sequence|chain|protein|heavy|light)[ \t]*[:=][ \t]*([A-Z]{5,})(?![A-Za-z0-9])"
)
_WORD = re.compile(r"\S+")
_SMILES_PART = re.compile(r"\[[^\[\]\s]{1,40}\]|Br|Cl|[BCNOPSFI]|[bcnops]|[()=#/\\.:~+\-]|%\d\d|\d")
_SMILES_WORD = re.compile(r"(?i)\bsmiles\b[^A-Za-z0-9\[(]{0,4}(\S+)")
_SMILES_LONGEST = 2000
_CODE = re.compile(
    r"\b(?i:ccd|ligand|cofactor|component)(?i:\s+code)?[ \t]*[:=]?[ \t]*([A-Z0-9]{1,3}|[A-Z0-9]{5})\b"
)
_KNOWN_CODE = re.compile(r"\b[A-Z]{3}\b")
_HEAVY = re.compile(r"W[VIFAYML][RK][QK].{60,110}WG.G")
_LIGHT = re.compile(r"W[YFL][QL][QH].{40,80}[FW]G.GT")


@dataclass(frozen=True)
class FoundMolecule:
    """One molecule, found in the prompt or given as an input.

    Attributes:
        kind: modality; `antibody` for an amino-acid sequence with motifs of a variable domain.
        form: `FASTA`, `sequence`, `SMILES` or `CCD code`.
        text: the molecule as written, without white space.
        chains: number of chains, which are separated by colons.
    """

    kind: Kind
    form: str
    text: str
    chains: int = 1

    @property
    def length(self) -> int:
        """Number of residues, nucleotides or characters."""
        return len(self.text.replace(":", ""))


def find_molecules(text: str) -> list[FoundMolecule]:
    """Find every molecule in a text, without duplicates."""
    by_text: dict[str, FoundMolecule] = {}
    for molecule in _find_all(text):
        by_text.setdefault(molecule.text, molecule)
    return list(by_text.values())


def _find_all(text: str) -> Iterator[FoundMolecule]:
    rest = text.replace("\r\n", "\n")
    for match in _FASTA.finditer(rest):
        yield from _read_chain("".join(match[2].split()).upper().strip("*"), "FASTA")
    rest = _FASTA.sub(" ", rest)
    for pattern in (_BARE, _ANNOUNCED):
        for match in pattern.finditer(rest):
            yield from _read_chain(match[match.lastindex or 0], "sequence")
    yield from _find_smiles(rest)
    yield from _find_codes(rest)


def read_sequence(text: str) -> FoundMolecule | None:
    """Read a sequence; None if its letters are neither residues nor nucleotides."""
    return next(_read_chain("".join(text.split()).upper(), "sequence"), None)


def _read_chain(text: str, form: str) -> Iterator[FoundMolecule]:
    chains = [chain.replace("-", "").replace(".", "") for chain in text.split(":") if chain]
    letters = set("".join(chains))
    if not letters:
        return
    sequence = ":".join(chains)
    if letters <= NUCLEOTIDES:
        yield FoundMolecule("nucleic-acid", form, sequence, len(chains))
    elif letters <= AMINO_ACIDS:
        kind: Kind = "antibody" if any(map(is_variable_domain, chains)) else "protein"
        yield FoundMolecule(kind, form, sequence, len(chains))


def is_variable_domain(sequence: str) -> bool:
    """Return whether a chain has the framework motifs of a heavy or light variable domain."""
    return bool(_HEAVY.search(sequence) or _LIGHT.search(sequence))


def is_heavy_domain(sequence: str) -> bool:
    """Return whether a chain has the framework motifs of a heavy variable domain."""
    return bool(_HEAVY.search(sequence))


def _find_smiles(text: str) -> Iterator[FoundMolecule]:
    announced = {match[1].strip(".,;'\"`") for match in _SMILES_WORD.finditer(text)}
    for match in _WORD.finditer(text):
        candidate = match[0].strip(",;'\"`").rstrip(".?!")
        if is_smiles(candidate, is_announced=candidate in announced):
            yield FoundMolecule("small-molecule", "SMILES", candidate)


def is_smiles(text: str, *, is_announced: bool = False) -> bool:
    """Return whether a word looks like SMILES: it starts with an atom, closes brackets and rings."""
    if len(text) > _SMILES_LONGEST or not text or text[0] in "()=#.:+-0123456789/\\":
        return False
    parts = _SMILES_PART.findall(text)
    if "".join(parts) != text or not _is_closed(parts):
        return False
    atoms = sum(1 for part in parts if part[0].isalpha() or part[0] == "[")
    if is_announced:
        return atoms >= 1
    has_structure = any(part in "=#" or part[0] in "([" or part.isdigit() for part in parts)
    return atoms >= 3 and has_structure and len(text) >= 5


def _is_closed(parts: list[str]) -> bool:
    depth = 0
    rings: set[str] = set()
    for part in parts:
        depth += (part == "(") - (part == ")")
        if depth < 0:
            return False
        if part.isdigit() or part[0] == "%":
            rings ^= {part}
    return depth == 0 and not rings


def _find_codes(text: str) -> Iterator[FoundMolecule]:
    codes = [match[1] for match in _CODE.finditer(text)]
    codes += [match[0] for match in _KNOWN_CODE.finditer(text) if match[0] in COMPONENTS]
    for code in codes:
        yield FoundMolecule("small-molecule", "CCD code", code)
