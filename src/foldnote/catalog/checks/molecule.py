"""Checks of SMILES and of model names, by syntax only.

They detect typing and pasting errors such as names instead of SMILES, missing brackets and open rings; a tool
may still reject a SMILES that passes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from foldnote.catalog.checks.row import CheckContext, CheckRow, Finding, shorten
from foldnote.catalog.contents import is_inline, read_lines
from foldnote.catalog.json_values import MAX_TEXT_LENGTH

_TOKEN = re.compile(r"\[[^\[\]]+\]|Br|Cl|[BCNOPSFIHbcnops]|%\d\d|%\(\d+\)|\d|[-=#$:/\\.~*()]", re.ASCII)
_ELEMENTS = frozenset({
    "H", "He", "Li", "Be", "B", "C", "N", "O", "F", "Ne", "Na", "Mg", "Al", "Si", "P", "S", "Cl", "Ar", "K",
    "Ca", "Sc", "Ti", "V", "Cr", "Mn", "Fe", "Co", "Ni", "Cu", "Zn", "Ga", "Ge", "As", "Se", "Br", "Kr",
    "Rb", "Sr", "Y", "Zr", "Nb", "Mo", "Tc", "Ru", "Rh", "Pd", "Ag", "Cd", "In", "Sn", "Sb", "Te", "I",
    "Xe", "Cs", "Ba", "La", "Ce", "Pr", "Nd", "Pm", "Sm", "Eu", "Gd", "Tb", "Dy", "Ho", "Er", "Tm", "Yb",
    "Lu", "Hf", "Ta", "W", "Re", "Os", "Ir", "Pt", "Au", "Hg", "Tl", "Pb", "Bi", "Po", "At", "Rn", "Fr",
    "Ra", "Ac", "Th", "Pa", "U", "Np", "Pu", "Am", "Cm", "Bk", "Cf", "Es", "Fm", "Md", "No", "Lr", "Rf",
    "Db", "Sg", "Bh", "Hs", "Mt", "Ds", "Rg", "Cn", "Nh", "Fl", "Mc", "Lv", "Ts", "Og", "D", "T", "se",
    "as", "si", "te", "b", "c", "n", "o", "p", "s",
})  # fmt: skip
"""Element symbols; symbols of aromatic atoms are in lower case."""
_BRACKET_ATOM = (
    r"\[\d{0,3}([A-Z][a-z]?|[a-z]{1,2})(?:@@?|@(?:TH|AL|SP|TB|OH)\d{1,2})?(?:H\d?)?"
    r"(?:\++\d{0,2}|-+\d{0,2})?(?::\d+)?\]"
)
"""An atom in brackets: isotope, element, chirality, hydrogens, charge and atom-map number."""
_DUMMY = re.compile(r"\[\d{0,3}(?:\*|R\d*)(?:H\d?)?(?:[+-]\d*)*(?::\d+)?\]|\*", re.ASCII)
"""A dummy atom: an attachment point, or any atom."""
_QUERY = re.compile(r"[,;&!#$*]")
"""A character that occurs in brackets only in SMARTS."""
_INCHI = re.compile(r"InChI=1|[A-Z]{14}-[A-Z]{10}-[A-Z]\Z", re.ASCII)
_LEAST_NAMED = 4
"""Minimum length of a SMILES that may be followed by a name; shorter words may begin sentences or names."""
_MODEL_NAME = re.compile(r"[A-Za-z0-9_.\-]+", re.ASCII)


def check_smiles(value: Sequence[str], context: CheckContext) -> Iterator[Finding]:
    """Check that each item is the SMILES of one molecule."""
    for number, text in enumerate(value):
        fault = find_smiles_fault(text)
        if fault:
            yield context.find(fault, "bad_smiles", number)


class SmilesFault(NamedTuple):
    """A fault in a SMILES and its position."""

    sentence: str
    position: int | None = None
    """0-based position of the first wrong character; None if no single place is at fault."""


def find_smiles_fault(text: str) -> str | None:
    """Describe a syntax error in a SMILES, as a sentence; None if there is none."""
    fault = locate_smiles_fault(text)
    return fault.sentence if fault is not None else None


def locate_smiles_fault(text: str) -> SmilesFault | None:
    """Find the first syntax error or part of a query in a SMILES; None if there is none."""
    return _locate_syntax_fault(text) or _find_query(text.strip())


def _locate_syntax_fault(text: str) -> SmilesFault | None:
    if not text.strip():
        return SmilesFault("This is empty. Give the SMILES of a molecule.")
    if len(text.split(None, 1)) > 1:
        return SmilesFault(
            f"{shorten(text)} contains white space. Give one molecule per item, without its name."
        )
    if len(text) > MAX_TEXT_LENGTH:
        return SmilesFault(f"This has {len(text):,} characters; a SMILES has at most {MAX_TEXT_LENGTH:,}.")
    smiles = text.strip()
    if is_inchi(smiles):
        return SmilesFault(
            f"{shorten(text)} is an InChI or its key, not SMILES. Give the SMILES; RDKit writes that of an"
            " InChI: Chem.MolToSmiles(Chem.MolFromInchi('InChI=…'))."
        )
    tokens, end = _tokenize(smiles)
    if end < len(smiles):
        return SmilesFault(
            f"Position {end + 1} of {shorten(text)}: {shorten(smiles[end])} is not SMILES.", end
        )
    return _find_open_pair(tokens, smiles)


def is_inchi(text: str) -> bool:
    """Return whether a text is an InChI or an InChIKey."""
    return _INCHI.match(text) is not None


def is_file_smiles(text: str, extensions: Sequence[str]) -> bool:
    """Return whether the text of a file setting is a SMILES, with or without a name, and not a file name.

    Args:
        extensions: file extensions of the setting; a text that ends with one of them is a file name.
    """
    smiles, *name = text.split(None, 1) or [""]
    file_name = text.rpartition("/")[2].lower().removesuffix(".gz")
    if "\n" in text or any(file_name.endswith(f".{extension}") for extension in extensions):
        return False
    if name and len(smiles) < _LEAST_NAMED:
        return False
    return _locate_syntax_fault(smiles) is None


def list_atom_positions(smiles: str) -> tuple[int, ...]:
    """Return the 0-based position at which each atom of a valid SMILES begins, in order."""
    tokens, _ = _tokenize(smiles)
    return tuple(start for token, start in tokens if token[0] in "[*" or token[0].isalpha())


def check_model_names(value: str, context: CheckContext) -> Iterator[Finding]:
    """Check model names separated by commas, each at most once; empty is valid."""
    if not value.strip():
        return
    names = [name.strip() for name in value.split(",")]
    wrong = [name for name in names if not _MODEL_NAME.fullmatch(name)]
    if wrong:
        message = f"{shorten(wrong[0])} is not a model name. Separate names by commas; empty runs all 5."
        yield context.find(message, "bad_word")
    elif len(set(names)) < len(names):
        yield context.find("A model is named twice. Name each model once.", "repeated")


def check_smiles_lines(value: str, context: CheckContext) -> Iterator[Finding]:
    """Check that each line is the SMILES of one molecule, without a salt, optionally followed by a name."""
    if not is_inline(value) or "V2000" in value or "V3000" in value:
        return
    for line in filter(str.strip, read_lines(value)):
        smiles = line.split()[0]
        fault = find_smiles_fault(smiles)
        if fault is None and (parts := count_parts(smiles)) > 1:
            fault = f"{shorten(smiles)} has {parts} parts that are not bonded. Give one, without its salt."
        if fault is not None:
            yield context.find(fault, "bad_smiles")
            return


def count_parts(smiles: str) -> int:
    """Count the molecules of a SMILES without syntax errors; ``C1.C1`` is one, joined by its ring bond."""
    part, joined, branches = 0, [0], list[int]()  # joined: for each part itself, or one that it is bonded to
    rings: dict[str, int] = {}

    def find_root(number: int) -> int:
        while joined[number] != number:
            number = joined[number]
        return number

    for sign, _ in _tokenize(smiles)[0]:
        if sign == "(":
            branches.append(part)
        elif sign == ")":
            part = branches.pop()
        elif sign == ".":
            part = len(joined)
            joined.append(part)
        elif sign[0] == "%" or sign.isdigit():
            label = sign.lstrip("%0") or "0"
            if label in rings:
                joined[find_root(part)] = find_root(rings.pop(label))
            else:
                rings[label] = part
    return len({find_root(number) for number in range(len(joined))})


def check_one_molecule(value: str, context: CheckContext) -> Iterator[Finding]:
    """Check that a molecule file contains exactly one molecule."""
    if is_inline(value) and (fault := explain_several(count_molecules(value))):
        yield context.find(fault, "several_molecules")


def count_molecules(text: str) -> int:
    """Return the number of molecules in an SDF or MOL text, else of lines of SMILES."""
    if "V2000" in text or "V3000" in text:
        return sum(line.startswith("M  END") for line in read_lines(text))
    return sum(bool(line.strip()) for line in read_lines(text))


def explain_several(number: int) -> str:
    """Explain why ``number`` molecules are too many for one, as a sentence; empty for one or none."""
    if number < 2:
        return ""
    return f"These are {number:,} molecules, and a job takes one. Give one; a batch has a row for each."


def _tokenize(text: str) -> tuple[list[tuple[str, int]], int]:
    """Split a SMILES into tokens with their positions; also return where the tokenized text ends."""
    tokens: list[tuple[str, int]] = []
    end = 0
    while found := _TOKEN.match(text, end):
        tokens.append((found[0], end))
        end = found.end()
    return tokens, end


def _find_query(text: str) -> SmilesFault | None:
    """Find a part of a valid SMILES that only a query may have, since it matches several atoms or bonds."""
    for sign, start in _tokenize(text)[0]:
        where = f"Position {start + 1} of {shorten(text)}"
        if _DUMMY.fullmatch(sign):
            sentence = f"{where}: {shorten(sign)} is an atom of no element. Give a whole molecule."
        elif sign == "~" or (sign[0] == "[" and _QUERY.search(sign)):
            sentence = f"{where}: {shorten(sign)} is a query of SMARTS, not a part of a molecule."
        elif sign[0] == "[" and not _is_atom(sign):
            sentence = f"{where}: {shorten(sign)} is not an atom."
        else:
            continue
        return SmilesFault(sentence, start)
    return None


def _is_atom(bracket: str) -> bool:
    found = re.fullmatch(_BRACKET_ATOM, bracket, re.ASCII)  # compiled on first use
    return found is not None and found[1] in _ELEMENTS


def _find_open_pair(tokens: Sequence[tuple[str, int]], text: str) -> SmilesFault | None:
    branches: list[int] = []
    rings: dict[str, int] = {}
    for sign, start in tokens:
        if sign == "(":
            branches.append(start)
        elif sign == ")" and not branches:
            return _name_parenthesis(text, start)
        elif sign == ")":
            branches.pop()
        elif (sign[0] == "%" or sign.isdigit()) and rings.pop(sign, None) is None:
            rings[sign] = start
    if branches:
        return _name_parenthesis(text, branches[0])
    if not rings:
        return None
    ring, start = min(rings.items(), key=lambda item: item[1])
    sentence = f"{shorten(text)} opens ring {ring} at position {start + 1} without closing it."
    return SmilesFault(sentence, start)


def _name_parenthesis(text: str, start: int) -> SmilesFault:
    return SmilesFault(f"{shorten(text)} has an unmatched parenthesis at position {start + 1}.", start)


ROWS: Final = (
    CheckRow("smiles", check_smiles, "SMILES, one molecule per item", "texts"),
    CheckRow("smiles-lines", check_smiles_lines, "SMILES, one molecule per line, without its salt"),
    CheckRow("one-molecule", check_one_molecule, "one molecule"),
    CheckRow("model-names", check_model_names, "model names separated by commas"),
)
