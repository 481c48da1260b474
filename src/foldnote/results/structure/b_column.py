"""What the B-factor column of a structure file holds.

Programs write many things there: B-factors, a pLDDT, an error in Å, a pathogenicity, zeros. It is a B-factor
in Å² only where the file names an experiment, and an error in Å where it names a program that writes one.
Otherwise its meaning is not known, and no unit is claimed. Whether it is a pLDDT is found in
:mod:`foldnote.results.structure.confidence`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Literal, get_args

import gemmi
import pandas as pd

from foldnote.errors import ArgumentError
from foldnote.results.naming.families import strip_packing
from foldnote.results.structure.confidence import read_stated_confidence
from foldnote.results.structure.walk import walk_residues

Meaning = Literal["plddt", "b-factor", "error", "unknown"]
StatedMeaning = Literal["plddt", "error"]
"""What a user may say that the column holds."""

_IMMUNE_BUILDER = re.compile(
    r"^REMARK\b.*\b(?:ANTIBODY|NANOBODY|TCR) STRUCTURE MODELLED USING "
    r"(ABodyBuilder2|NanoBodyBuilder2|TCRBuilder2\+?)",
    re.MULTILINE | re.IGNORECASE,
)
_NAMES = {"abodybuilder2": "ABodyBuilder2", "nanobodybuilder2": "NanoBodyBuilder2"}
_ROSETTAFOLD = re.compile(r"\.crderr\.pdb$")
_EXPERIMENT = re.compile(r"DIFFRACTION|ELECTRON (MICROSCOPY|CRYSTALLOGRAPHY)", re.IGNORECASE)
_REFINEMENT = re.compile(r"REFMAC|SERVALCAT|PHENIX|BUSTER|SHELX", re.IGNORECASE)

_SMALLEST_SPREAD = 1e-6


@dataclass(frozen=True)
class BColumn:
    """The meaning of a file's B-factor column.

    Attributes:
        meaning: ``plddt`` (0 to 100 or 0 to 1), ``b-factor`` (Å²), ``error`` (predicted error of the
            residue's place in Å, lower is better) or ``unknown``.
        source: what says so, as a sentence without a full stop.
    """

    meaning: Meaning
    source: str


def find_b_column(structure: gemmi.Structure, text: str, form: str, name: str, stated: str = "") -> BColumn:
    """What the B-factor column holds, as far as the file says.

    Args:
        structure: the parsed file.
        text: the file's content.
        form: ``pdb`` or ``mmcif``.
        name: the file's name.
        stated: what the user says that it holds: see :data:`StatedMeaning`; "" for nothing.
    """
    if stated == "error":
        return BColumn("error", "B-factor column, taken as an error in Å because the user said so")
    header = text[: max(text.find("\nATOM"), 0)] if form == "pdb" else ""
    found = _IMMUNE_BUILDER.search(header)
    if found:
        program = _NAMES.get(found[1].lower(), f"TCRBuilder2{'+' * found[1].endswith('+')}")
        return BColumn("error", f"B-factor column of {program}: spread of its models' Cα atoms")
    if _ROSETTAFOLD.search(PurePosixPath(strip_packing(name)).name):
        return BColumn("error", "B-factor column of a file with RoseTTAFold's ending: error of the Cα atom")
    if is_experimental(structure):
        return BColumn("b-factor", "the file, which names an experiment")
    return BColumn("unknown", "the file, which does not say what it is")


def check_stated(structure: gemmi.Structure, name: str, meaning: str, found: BColumn) -> None:
    """Refuse what a user says of the column where it cannot be.

    Args:
        structure: the parsed file.
        name: the file's name.
        meaning: what the user says.
        found: what the file says.

    Raises:
        ArgumentError: there is no such meaning, the file says another one, or the values cannot have it.
    """
    if meaning not in get_args(StatedMeaning):
        raise ArgumentError(f"B-factors can be said to be 'plddt' or 'error', not {meaning!r}.")
    if meaning == "plddt" and found.meaning == "error":
        raise ArgumentError(f"The B-factors of {name} are no pLDDT: they are errors in Å ({found.source}).")
    if meaning == "plddt":
        read_stated_confidence(structure, name)
    elif read_errors(structure) is None:
        raise ArgumentError(f"The B-factors of {name} cannot be errors: they are negative or all equal.")


def has_spread(structure: gemmi.Structure) -> bool:
    """Whether the atoms of the first model differ in their B-factors."""
    values = [atom.b_iso for _, residue in walk_residues(structure[0]) for atom in residue]
    return bool(values) and max(values) - min(values) > _SMALLEST_SPREAD


def read_errors(structure: gemmi.Structure) -> pd.DataFrame | None:
    """The mean of the B-factor column over each residue of the first model's chains, as errors in Å.

    Returns:
        One row a residue: ``chain``, ``number``, ``residue`` str, ``error`` float64. None where values are
        negative or all equal, which errors are not.
    """
    rows = [
        (*where, sum(atom.b_iso for atom in residue) / len(residue))
        for where, residue in walk_residues(structure[0])
        if residue.entity_type == gemmi.EntityType.Polymer and len(residue)
    ]
    frame = pd.DataFrame(rows, columns=["chain", "number", "residue", "error"]).astype({"error": "float64"})
    errors = frame["error"]
    return (
        None if frame.empty or errors.min() < 0 or errors.max() - errors.min() < _SMALLEST_SPREAD else frame
    )


def is_experimental(structure: gemmi.Structure) -> bool:
    """Whether the file's header names an experiment or a program that refines against one."""
    methods = dict(structure.info).get("_exptl.method", "")
    programs = " ".join(program.name for program in structure.meta.software)
    return bool(_EXPERIMENT.search(methods) or _REFINEMENT.search(programs))
