"""Simple checks of file contents without a library: atoms in a PDB file, columns in a table.

The checks run at each keystroke, so they are fast and only detect wrong files. Files are parsed
scientifically elsewhere, and the service checks whether an upload exists.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from itertools import islice
from typing import Final

SMILES: Final = "smi"
"""File extension of SMILES files; a setting that takes such files also takes a SMILES itself."""
_ATOM_RECORDS = ("ATOM", "HETATM")
_MAX_HEADER_LENGTH = 100_000
"""Maximum length in characters of a table's first row; a longer one is not a table."""
_CHUNK = 1 << 16
_MAX_KEPT = 1 << 20
"""Maximum length in characters of a text whose chains are cached between keystrokes."""
_MAX_NAMES = 100_000
"""Maximum number of different names in a Clustal alignment."""


def is_inline(value: str) -> bool:
    """Return whether a file value is contents rather than a name: contents have a line break."""
    return "\n" in value


def read_extension(name: str) -> str:
    """Return the extension of a file name in lower case, without the dot; empty without one."""
    stem, dot, extension = name.rsplit("/", 1)[-1].rpartition(".")
    return extension.lower() if dot and stem else ""


def read_lines(text: str) -> Iterator[str]:
    """Yield the lines that ``text.splitlines()`` returns, without holding all of them in memory."""
    start = 0
    while start < len(text):
        end = text.find("\n", start + _CHUNK) + 1 or len(text)
        yield from text[start:end].splitlines()
        start = end


def list_pdb_chains(text: str, *, with_ligands: bool = True) -> tuple[str, ...]:
    """Return the chain ids of a PDB's atoms (column 22) in order of appearance, first model only.

    Args:
        text: contents of the PDB.
        with_ligands: whether HETATM records count; a template's chains are those of its polymers.
    """
    read = _read_chains if len(text) > _MAX_KEPT else _remember_chains
    return read(text, with_ligands)


def _read_chains(text: str, with_ligands: bool) -> tuple[str, ...]:
    records = _ATOM_RECORDS if with_ligands else _ATOM_RECORDS[:1]
    chains: dict[str, None] = {}
    for line in read_lines(text):
        if line.startswith("ENDMDL"):
            break
        if line.startswith(records) and len(line) > 21:
            chains.setdefault(line[21].strip())
    return tuple(chain for chain in chains if chain)


_remember_chains = lru_cache(maxsize=8)(_read_chains)


def list_pdb_residues(text: str) -> Mapping[tuple[str, str], str]:
    """Return the names of a PDB's residues by chain id and number with insertion code, first model only."""
    read = _read_residues if len(text) > _MAX_KEPT else _remember_residues
    return read(text)


def _read_residues(text: str) -> Mapping[tuple[str, str], str]:
    found: dict[tuple[str, str], str] = {}
    for line in read_lines(text):
        if line.startswith("ENDMDL"):
            break
        if line.startswith(_ATOM_RECORDS) and len(line) > 27:
            found.setdefault((line[21].strip(), line[22:27].strip()), line[17:20].strip())
    return found


_remember_residues = lru_cache(maxsize=8)(_read_residues)


def read_columns(text: str, delimiter: str) -> tuple[str, ...]:
    """Return the column names in the first row that is not blank; empty for a text without one."""
    filled = (line for line in read_lines(text) if line.strip())
    header = next(filled, "").lstrip("\ufeff")[:_MAX_HEADER_LENGTH]
    rows = csv.reader(io.StringIO(header), delimiter=delimiter, skipinitialspace=True)
    return tuple(name.strip() for name in next(rows, []))


def list_sequence_names(text: str) -> Iterator[str]:
    """Yield the names of the sequences in a FASTA, Clustal or PHYLIP text; none for any other text."""
    lines = (line for line in read_lines(text) if line.strip())
    first = next(lines, "")
    if first.startswith(">"):
        yield _first_word(first[1:])
        yield from (_first_word(line[1:]) for line in lines if line.startswith(">"))
    elif _is_phylip(first):
        yield from (_first_word(line) for line in islice(lines, int(_first_word(first))))
    elif first[:20].upper().startswith(("CLUSTAL", "MUSCLE")):
        seen: set[str] = set()
        for name in (_first_word(line) for line in lines if not line[0].isspace()):
            if name not in seen and len(seen) < _MAX_NAMES:
                seen.add(name)
                yield name


def _first_word(line: str) -> str:
    return (line.split(None, 1) or [""])[0]


def find_content_fault(text: str, extension: str) -> str | None:
    """Describe a fault in the contents of this kind of file, as a sentence; None if there is none."""
    rule = _RULES.get(extension)
    return rule(text) if rule else None


def has_atoms(text: str) -> bool:
    """Return whether a line of the text is an atom record (PDB, and the atom table of most mmCIF files)."""
    return any(text.startswith(record) or f"\n{record}" in text for record in _ATOM_RECORDS)


def is_mmcif(text: str) -> bool:
    """Return whether a text is mmCIF with atoms, also after comments such as those that PyMOL writes."""
    return "_atom_site." in text


def _is_phylip(line: str) -> bool:
    words = line.split(None, 2)
    return len(words) >= 2 and all(_is_count(word) for word in words[:2])


def _is_count(word: str) -> bool:
    return word.isascii() and word.isdigit() and len(word) < 10


def _check_pdb(text: str) -> str | None:
    if has_atoms(text) and not (text.lstrip().startswith("data_") or is_mmcif(text)):
        return None
    return "These contents are not a PDB structure: they have no ATOM records. Paste a complete PDB file."


def _check_cif(text: str) -> str | None:
    if "data_" in text and is_mmcif(text):
        return None
    return (
        "These contents are not an mmCIF structure: they lack an atom_site table."
        " Paste a complete mmCIF file."
    )


def _check_sdf(text: str) -> str | None:
    if any(mark in text for mark in ("V2000", "V3000")):
        return None
    return (
        "These contents are not an SDF file: they have no V2000 or V3000 atom block."
        " Paste a complete SDF file."
    )


def _check_a3m(text: str) -> str | None:
    lines = (line for line in read_lines(text) if line.strip() and not line.startswith("#"))
    if next(lines, "").startswith(">") and not all(line.startswith(">") for line in lines):
        return None
    return (
        "These contents are not an A3M alignment: each sequence needs a line that starts with '>' before it."
    )


def _check_table(text: str) -> str | None:
    if len(list(islice((line for line in read_lines(text) if line.strip()), 2))) == 2:
        return None
    return "This table is empty: it needs a row of column names and at least one row of data."


def _check_sequences(text: str) -> str | None:
    if next(list_sequence_names(text), None) is not None:
        return None
    return "No sequences were found in these contents. Paste FASTA, Clustal or PHYLIP."


_RULES: Final[Mapping[str, Callable[[str], str | None]]] = {
    "pdb": _check_pdb,
    "cif": _check_cif,
    "sdf": _check_sdf,
    "a3m": _check_a3m,
    "csv": _check_table,
    "tsv": _check_table,
    **dict.fromkeys(("fasta", "fa", "aln", "phy", "phylip"), _check_sequences),
}


def read_residue_number(residue: str) -> int:
    """Return the number in ``52A``, without the insertion code."""
    return int(residue.rstrip("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"))
