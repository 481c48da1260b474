"""The meaning of a structure file's B-factor column.

Programs write various values there: B-factors, a pLDDT, an error in Å, a pathogenicity, zeros. They are
B-factors in Å² only if the file names an experiment, and errors in Å if it names a program that writes them.
Otherwise the meaning is unknown, and so is the unit. For the pLDDT see
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
"""Meanings that a user can state."""

_IMMUNE_BUILDER = re.compile(
    r"^REMARK\b.*\b(?:ANTIBODY|NANOBODY|TCR) STRUCTURE MODELLED USING "
    r"(ABodyBuilder2|NanoBodyBuilder2|TCRBuilder2\+?)",
    re.MULTILINE | re.IGNORECASE,
)
_IGFOLD = re.compile(r"^REMARK\b.*\bSTRUCTURE MODELLED USING IGFOLD\b", re.MULTILINE | re.IGNORECASE)
_NAMES = {"abodybuilder2": "ABodyBuilder2", "nanobodybuilder2": "NanoBodyBuilder2"}
_ROSETTAFOLD = re.compile(r"\.crderr\.pdb$")
_EXPERIMENT = re.compile(r"DIFFRACTION|ELECTRON (MICROSCOPY|CRYSTALLOGRAPHY)", re.IGNORECASE)
_REFINEMENT = re.compile(r"REFMAC|SERVALCAT|PHENIX|BUSTER|SHELX", re.IGNORECASE)

_MIN_SPREAD = 1e-6


@dataclass(frozen=True)
class BColumn:
    """The meaning of a file's B-factor column.

    Attributes:
        meaning: ``plddt`` (0 to 100 or 0 to 1), ``b-factor`` (Å²), ``error`` (predicted error of the
            residue's position in Å, lower is better) or ``unknown``.
        source: evidence for the meaning, as text without a full stop.
    """

    meaning: Meaning
    source: str


def find_b_column(structure: gemmi.Structure, text: str, form: str, name: str, stated: str = "") -> BColumn:
    """Return the meaning of the B-factor column, as stated by the file or the user.

    Args:
        structure: the parsed file.
        text: contents of the file.
        form: ``pdb`` or ``mmcif``.
        name: name of the file.
        stated: meaning stated by the user (:data:`StatedMeaning`), or "".
    """
    if stated == "error":
        return BColumn("error", "B-factor column, taken as an error in Å because the user said so")
    header = text[: max(text.find("\nATOM"), 0)] if form == "pdb" else ""
    match = _IMMUNE_BUILDER.search(header)
    if match:
        program = _NAMES.get(match[1].lower(), f"TCRBuilder2{'+' * match[1].endswith('+')}")
        return BColumn("error", f"B-factor column of {program}: spread of its models' Cα atoms")
    if _IGFOLD.search(header):
        return BColumn("error", "B-factor column of IgFold: its estimate of the error of the backbone")
    if _ROSETTAFOLD.search(PurePosixPath(strip_packing(name)).name):
        return BColumn("error", "B-factor column of a file with RoseTTAFold's ending: error of the Cα atom")
    if is_experimental(structure):
        return BColumn("b-factor", "the file, which names an experiment")
    return BColumn("unknown", "the file, which does not say what it is")


def check_stated(structure: gemmi.Structure, name: str, meaning: str, recorded: BColumn) -> None:
    """Check the meaning that a user states.

    Args:
        structure: the parsed file.
        name: name of the file.
        meaning: the stated meaning.
        recorded: the meaning according to the file.

    Raises:
        ArgumentError: there is no such meaning, the file contradicts it, or the values cannot have it.
    """
    if meaning not in get_args(StatedMeaning):
        raise ArgumentError(f"The meaning of B-factors can be 'plddt' or 'error', not {meaning!r}.")
    if meaning == "plddt" and recorded.meaning == "error":
        raise ArgumentError(
            f"The B-factors of {name} are not a pLDDT: they are errors in Å ({recorded.source})."
        )
    if meaning == "plddt":
        read_stated_confidence(structure, name)
    elif read_errors(structure) is None:
        raise ArgumentError(f"The B-factors of {name} cannot be errors: they are negative or all equal.")


def has_spread(structure: gemmi.Structure) -> bool:
    """Return whether the atoms of the first model differ in their B-factors."""
    values = [atom.b_iso for _, residue in walk_residues(structure[0]) for atom in residue]
    return bool(values) and max(values) - min(values) > _MIN_SPREAD


def read_errors(structure: gemmi.Structure) -> pd.DataFrame | None:
    """Return the mean of the B-factor column of each polymer residue of the first model, as errors in Å.

    Returns:
        One row per residue: ``chain``, ``number``, ``residue`` str, ``error`` float64 (Å). None if values are
        negative or all equal, and so cannot be errors.
    """
    rows = [
        (*owner, sum(atom.b_iso for atom in residue) / len(residue))
        for owner, residue in walk_residues(structure[0])
        if residue.entity_type == gemmi.EntityType.Polymer and len(residue)
    ]
    frame = pd.DataFrame(rows, columns=["chain", "number", "residue", "error"]).astype({"error": "float64"})
    errors = frame["error"]
    return None if frame.empty or errors.min() < 0 or errors.max() - errors.min() < _MIN_SPREAD else frame


def is_experimental(structure: gemmi.Structure) -> bool:
    """Return whether the header names an experimental method or a refinement program."""
    methods = dict(structure.info).get("_exptl.method", "")
    programs = " ".join(program.name for program in structure.meta.software)
    return bool(_EXPERIMENT.search(methods) or _REFINEMENT.search(programs))
