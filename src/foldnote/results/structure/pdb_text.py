"""Read PDB files, including those written by molecular-dynamics programs.

Four deviations are corrected before gemmi reads the file. Some programs write ENDMDL only after the last
model. Until 1996, PDB entries had their code and the line number in columns 73 to 80, where the element and
charge are now. Residue names of four letters (``TIP3``, ``NALA``) extend into the column before the chain
name, which gemmi reads as part of the chain name. In chains without names, residue numbers may restart; gemmi
merges residues of one chain with the same number and name, so that the second copy of a protein, or waters
after number 9999, would be lost. The segments between two restarts are read as separate chains and joined
afterwards.
"""

from __future__ import annotations

import re
from itertools import pairwise
from string import ascii_letters, digits

import gemmi

from foldnote.results.structure.residues import is_force_field_name

_UNNAMED = re.compile(r"^(?:ATOM  |HETATM).{15} ", re.M)
_LONG_NAMES = re.compile(r"^(?:ATOM  |HETATM).{11}(\S{4})", re.M)
_NUMBERED = re.compile(r"^(?:ATOM  |HETATM).{66}([0-9][A-Z0-9]{3}) *\d+$")
_NUMBERED_COLUMN = 72
_MODEL_LINES = re.compile(r"^(?:MODEL\b|ENDMDL)", re.M)
_OVERFLOWED = re.compile(r"^(?:ATOM  |HETATM).{24}[^\n]{0,23}\*", re.M)
_MARKS = ascii_letters + digits
_RECORDS = ("ATOM", "HETATM", "ANISOU")
_NO_NUMBER = -(10**6)


def read_pdb(text: str) -> gemmi.Structure:
    """Read a PDB file; chains with the same name are merged, and residues with repeated numbers are kept.

    Raises:
        ValueError, RuntimeError: gemmi cannot read it, or a coordinate was too wide for its columns
            (``********``), which gemmi reads as 0.
    """
    if "*" in text and (overflowed := _OVERFLOWED.search(text)):
        number = text.count("\n", 0, overflowed.start()) + 1
        raise ValueError(f"line {number} has a coordinate that is not a number")
    text = end_models(cut_line_numbers(text))
    names = _code_names(text)
    coded = _replace_names(text, names) if names else text
    marked = _mark_segments(coded) if _UNNAMED.search(coded) else None
    parsed = gemmi.read_pdb_string(coded if marked is None else marked)
    originals = {code: name for name, code in names.items()}
    for model in parsed:
        for chain in model:
            chain.name = "" if marked is not None else chain.name
            for residue in chain if originals else ():
                residue.name = originals.get(residue.name, residue.name)
    parsed.merge_chain_parts()
    return parsed


def cut_line_numbers(text: str) -> str:
    """Remove entry codes and line numbers (``1GDR 110``) from columns 73 to 80, if every atom has them.

    Other text is unchanged.
    """
    start = re.search(r"^(?:ATOM  |HETATM)", text, re.M)
    if start is None or not _NUMBERED.match(text[start.start() :].partition("\n")[0].rstrip()):
        return text
    lines = text.splitlines()
    matches = [_NUMBERED.match(line.rstrip()) for line in lines if line.startswith(("ATOM  ", "HETATM"))]
    if len({match[1] if match else "" for match in matches}) > 1:
        return text
    return "\n".join([*(line[:_NUMBERED_COLUMN] for line in lines), ""])


def end_models(text: str) -> str:
    """Insert ``ENDMDL`` where a model begins before the last one ended; other text is unchanged."""
    markers = [(line[0], line.start()) for line in _MODEL_LINES.finditer(text)]
    begun = [line_start for (last, _), (this, line_start) in pairwise(markers) if last == this == "MODEL"]
    ends = [0, *begun, len(text)]
    return "ENDMDL\n".join(text[start:end] for start, end in pairwise(ends))


def _code_names(text: str) -> dict[str, str]:
    """Map each four-letter residue name of a force field to a three-character code.

    ``HISB`` may also be a histidine in chain ``BA``; it is taken for one if unknown names occupy that column
    too.
    """
    names = set(_LONG_NAMES.findall(text))
    force_field = {name for name in names if is_force_field_name(name)}
    if force_field != names:
        force_field = {
            name for name in force_field if not gemmi.find_tabulated_residue(name[:3]).is_standard()
        }
    return {name: f"~{mark}~" for name, mark in zip(sorted(force_field), _MARKS, strict=False)}


def _replace_names(text: str, codes: dict[str, str]) -> str:
    pattern = "|".join(map(re.escape, codes))
    return re.sub(
        rf"^((?:ATOM  |HETATM|ANISOU|TER   ).{{11}})({pattern})",
        lambda match: f"{match[1]}{codes[match[2]]} ",
        text,
        flags=re.M,
    )


def _mark_segments(text: str) -> str | None:
    """Name each segment of ascending residue numbers; None for a single segment or named chains."""
    lines = text.splitlines()
    index, last = 0, _NO_NUMBER
    for row, line in enumerate(lines):
        if line.startswith("MODEL"):
            index, last = 0, _NO_NUMBER
        elif line.startswith(_RECORDS):
            if line[20:22].strip():
                return None
            number = _read_number(line)
            index += number < last and index + 1 < len(_MARKS)
            last = number
            lines[row] = f"{line[:21]}{_MARKS[index]}{line[22:]}"
        elif line.startswith("TER"):
            lines[row] = f"{line[:21]:21}{_MARKS[index]}{line[22:]}"
    return "\n".join([*lines, ""]) if index else None


def _read_number(line: str) -> int:
    try:
        return int(line[22:26])
    except ValueError:
        return 10**6  # hybrid-36, which continues after 9999
