"""PDB files as programs of molecular dynamics write them.

Two habits of theirs are made plain before gemmi reads the file. Residue names of four letters (``TIP3``,
``NALA``) reach into the column before the chain's name, where gemmi reads part of a chain's name. And chains
without names whose residue numbers begin anew: gemmi takes residues of one chain with the same number and
name for one residue, so that the second copy of a protein would vanish in the first, and 10,000 waters in
those before them. The stretches between two beginnings are read as chains of their own and joined afterwards.
"""

from __future__ import annotations

import re
from string import ascii_letters, digits

import gemmi

from foldnote.results.structure.residues import is_force_field_name

_UNNAMED = re.compile(r"^(?:ATOM  |HETATM).{15} ", re.M)
_LONG_NAMES = re.compile(r"^(?:ATOM  |HETATM).{11}(\S{4})", re.M)
_MARKS = ascii_letters + digits
_RECORDS = ("ATOM", "HETATM", "ANISOU")
_NONE_YET = -(10**6)


def read_pdb(text: str) -> gemmi.Structure:
    """The structure in a PDB file, with one chain a name and nothing lost where numbers repeat.

    Raises:
        ValueError, RuntimeError: gemmi cannot read it.
    """
    names = _code_names(text)
    coded = _replace_names(text, names) if names else text
    marked = _mark_stretches(coded) if _UNNAMED.search(coded) else None
    parsed = gemmi.read_pdb_string(coded if marked is None else marked)
    originals = {code: name for name, code in names.items()}
    for model in parsed:
        for chain in model:
            chain.name = "" if marked is not None else chain.name
            for residue in chain if originals else ():
                residue.name = originals.get(residue.name, residue.name)
    parsed.merge_chain_parts()
    return parsed


def _code_names(text: str) -> dict[str, str]:
    """A code of three letters for each name of four that a force field has.

    ``HISB`` may also be a histidine of chain ``BA``: it is one where other names reach into that column, too.
    """
    found = set(_LONG_NAMES.findall(text))
    known = {name for name in found if is_force_field_name(name)}
    if known != found:
        known = {name for name in known if not gemmi.find_tabulated_residue(name[:3]).is_standard()}
    return {name: f"~{mark}~" for name, mark in zip(sorted(known), _MARKS, strict=False)}


def _replace_names(text: str, codes: dict[str, str]) -> str:
    pattern = "|".join(map(re.escape, codes))
    return re.sub(
        rf"^((?:ATOM  |HETATM|ANISOU|TER   ).{{11}})({pattern})",
        lambda found: f"{found[1]}{codes[found[2]]} ",
        text,
        flags=re.M,
    )


def _mark_stretches(text: str) -> str | None:
    """The text with a letter for each stretch of rising numbers; None for one, or with named chains."""
    lines = text.splitlines()
    place, last = 0, _NONE_YET
    for row, line in enumerate(lines):
        if line.startswith("MODEL"):
            place, last = 0, _NONE_YET
        elif line.startswith(_RECORDS):
            if line[20:22].strip():
                return None
            number = _read_number(line)
            place += number < last and place + 1 < len(_MARKS)
            last = number
            lines[row] = f"{line[:21]}{_MARKS[place]}{line[22:]}"
        elif line.startswith("TER"):
            lines[row] = f"{line[:21]:21}{_MARKS[place]}{line[22:]}"
    return "\n".join([*lines, ""]) if place else None


def _read_number(line: str) -> int:
    try:
        return int(line[22:26])
    except ValueError:
        return 10**6  # hybrid-36 goes on after 9999
