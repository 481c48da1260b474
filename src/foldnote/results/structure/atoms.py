"""Convert a structure to a table of atoms or a biotite object."""

from __future__ import annotations

import io
import warnings
from importlib import import_module
from typing import Any

import gemmi
import numpy as np
import pandas as pd

from foldnote.errors import UnreadableFileError
from foldnote.results.core.messages import explain
from foldnote.results.structure.residues import find_role
from foldnote.results.structure.walk import walk_residues

COLUMNS = (
    "model", "chain", "number", "residue", "atom", "element", "altloc", "x", "y", "z",
    "occupancy", "b_factor", "charge", "kind",
)  # fmt: skip
_KINDS = {
    gemmi.EntityType.Polymer: "polymer",
    gemmi.EntityType.NonPolymer: "ligand",
    gemmi.EntityType.Branched: "glycan",
    gemmi.EntityType.Water: "water",
}


def find_residue_kind(residue: gemmi.Residue) -> str:
    """Classify a residue as ``polymer``, ``water``, ``glycan`` (a sugar), ``lipid`` or ``ligand``."""
    kind = _KINDS.get(residue.entity_type, "ligand")
    role = find_role(residue) if kind == "ligand" else ""
    return role if role in ("glycan", "lipid") else kind


def make_atom_frame(structure: gemmi.Structure) -> pd.DataFrame:
    """Tabulate the atoms of all models; for the columns see :meth:`foldnote.results.Structure.to_frame`."""
    rows = []
    for number, model in enumerate(structure, 1):
        for owner, residue in walk_residues(model):
            kind = find_residue_kind(residue)
            for atom in residue:
                position = atom.pos
                rows.append(
                    (number, *owner, atom.name, atom.element.name, atom.altloc.strip("\0"),
                     position.x, position.y, position.z, atom.occ, atom.b_iso, atom.charge, kind)
                )  # fmt: skip
    frame = pd.DataFrame(rows, columns=list(COLUMNS))
    texts = ["chain", "number", "residue", "atom", "element", "altloc", "kind"]
    return frame.astype(dict.fromkeys(texts, "str")).astype({"model": np.int64, "charge": np.int64})


def make_biotite(structure: gemmi.Structure, name: str, model: int | None) -> Any:
    """Convert to a biotite ``AtomArray`` of one model or ``AtomArrayStack`` of all models.

    Args:
        structure: the parsed structure.
        name: the file's name, for messages.
        model: 1-based number of the model; None for all models.

    Raises:
        UnreadableFileError: biotite is not installed, or cannot represent the structure.
    """
    try:
        pdbx: Any = import_module("biotite.structure.io.pdbx")
        errors: Any = import_module("biotite.structure")
        files: Any = import_module("biotite")
    except ImportError as exc:
        raise UnreadableFileError(
            "Converting to a biotite structure requires biotite: pip install biotite."
        ) from exc
    text = structure.make_mmcif_document().as_string()
    file = pdbx.CIFFile.read(io.StringIO(text))
    fields = ["b_factor", "occupancy", "charge"]
    try:
        number = 1 if len(structure) == 1 and model is None else model
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # about duplicate columns
            return pdbx.get_structure(file, model=number, extra_fields=fields, use_author_fields=True)
    except (ValueError, IndexError, KeyError, errors.BadStructureError, files.InvalidFileError) as exc:
        hint = "; choose one model of it with model=1" if model is None else ""
        raise UnreadableFileError(f"{name} cannot be converted for biotite: {explain(exc)}{hint}.") from exc
