"""Read structure files of all supported formats into gemmi structures.

The format is recognised by the file name or else by the content. BinaryCIF is converted to mmCIF text first,
so that all other code deals with text formats only.
"""

from __future__ import annotations

import hashlib
import re

import gemmi
import numpy as np

from foldnote.errors import UnreadableFileError
from foldnote.results.core.messages import explain
from foldnote.results.molecules.mol2 import read_mol2
from foldnote.results.molecules.molfile import read_sdf
from foldnote.results.molecules.pdbqt import convert_to_pdb, is_ligand, read_pdbqt
from foldnote.results.molecules.smiles import SMILES_SUFFIXES, read_smiles
from foldnote.results.naming.families import strip_packing
from foldnote.results.structure.binarycif import convert_to_mmcif
from foldnote.results.structure.entities import gather_conformers, gather_hydrogens, set_up_entities
from foldnote.results.structure.pdb_text import cut_line_numbers, end_models, read_pdb

_SUFFIXES = {
    ".cif": "mmcif", ".mmcif": "mmcif", ".pdbx": "mmcif", ".bcif": "mmcif",
    ".pdb": "pdb", ".ent": "pdb", ".pdb1": "pdb",
    ".sdf": "sdf", ".sd": "sdf", ".mol": "sdf", ".mol2": "mol2", ".pdbqt": "pdbqt",
    **dict.fromkeys(SMILES_SUFFIXES, "smiles"),
}  # fmt: skip
_CIF_START = re.compile(rb"(?:\s|#[^\n]*\n)*data_")
"""A CIF file begins with its first block; comments may precede it."""
_PDB_START = re.compile(rb"(?:HEADER|TITLE |REMARK|CRYST1|MODEL |ATOM  |HETATM)[ 0-9]")
MOLECULE_FORMATS = {"sdf": read_sdf, "mol2": read_mol2, "pdbqt": read_pdbqt, "smiles": read_smiles}
"""Formats of small molecules, with their readers."""


def find_format(name: str, head: bytes = b"") -> str:
    """Recognise the format of a file by its name or else by its first bytes.

    The first bytes distinguish PDB and mmCIF whatever the name, since their suffixes are often interchanged.

    Returns:
        ``pdb``, ``mmcif``, ``sdf``, ``mol2``, ``pdbqt`` or ``smiles``; ``pdb`` if nothing is recognised.
    """
    plain = strip_packing(name)
    if head and is_receptor(head, name):
        return "pdb"
    form_by_name = next((form for suffix, form in _SUFFIXES.items() if plain.endswith(suffix)), "")
    if form_by_name == "pdb" and _CIF_START.match(head):
        return "mmcif"
    if form_by_name == "mmcif" and _PDB_START.match(head):
        return "pdb"
    if form_by_name:
        return form_by_name
    if _CIF_START.match(head) or b"BinaryCIF" in head[:200] or b"dataBlocks" in head[:200]:
        return "mmcif"
    if b"@<TRIPOS>" in head:
        return "mol2"
    return "sdf" if b"V2000" in head or b"V3000" in head else "pdb"


def read_structure_text(data: bytes, name: str) -> str:
    """Decode a structure file; BinaryCIF is converted to mmCIF, a receptor's PDBQT to PDB.

    Raises:
        UnreadableFileError: a BinaryCIF file is damaged.
    """
    is_binary = b"dataBlocks" in data[:400] and not data.startswith(b"data_")
    if is_binary or strip_packing(name).endswith(".bcif"):
        return convert_to_mmcif(data, name)
    text = data.decode("utf-8", "replace")
    if is_receptor(data, name):
        return convert_to_pdb(text)
    return end_models(cut_line_numbers(text)) if find_format(name, data[:2000]) == "pdb" else text


def is_receptor(data: bytes, name: str) -> bool:
    """Return whether a file is the PDBQT of a rigid receptor, judged by its first bytes."""
    return strip_packing(name).endswith(".pdbqt") and not is_ligand(data)


def parse_structure(text: str, form: str, name: str) -> gemmi.Structure:
    """Parse a structure and assign its entities.

    Args:
        text: the file's content.
        form: the format, as returned by :func:`find_format`.
        name: the file's name, for messages.

    Raises:
        UnreadableFileError: it cannot be read in this format, or holds no atoms.
    """
    try:
        parsed = _parse(text, form, name)
    except UnreadableFileError:
        raise
    except (ValueError, RuntimeError, IndexError, OverflowError, MemoryError) as exc:
        raise UnreadableFileError(f"{name} cannot be read as {form}: {explain(exc)}.") from exc
    if len(parsed) == 0 or parsed[0].count_atom_sites() == 0:
        raise UnreadableFileError(f"{name} holds no atoms{_explain_missing(text, form)}.")
    return parsed


def _explain_missing(text: str, form: str) -> str:
    """Describe what a CIF file without macromolecular atoms contains instead; "" if unknown."""
    if form != "mmcif":
        return ""
    if "_atom_site_fract_x" in text:
        return (
            " of a macromolecule: it is the crystal structure of a small molecule, which foldnote does not"
            " read. Save the molecule as SDF or MOL2, for example with Mercury or Open Babel"
        )
    if re.search(r"^_(?:refln|diffrn_refln)[._]", text, re.MULTILINE):
        return ": it holds reflections (structure factors). Open the file of the entry's coordinates instead"
    return ""


def digest_atoms(text: str, form: str) -> bytes:
    """Return the SHA-256 of coordinates (to 0.001 Å) and B-factors (to 0.01) of a PDB or mmCIF file.

    Equal for copies of a model regardless of headers and names; empty if there are no atoms or the text is
    damaged.
    """
    try:
        atoms = np.array(_list_pdb_figures(text) if form == "pdb" else _list_cif_figures(text), np.float64)
        whole = np.rint(atoms.reshape(-1, 4) * (1000.0, 1000.0, 1000.0, 100.0)).astype(np.int64)
    except (ValueError, RuntimeError, IndexError, OverflowError):
        return b""
    return hashlib.sha256(whole.tobytes()).digest() if len(whole) else b""


def _list_pdb_figures(text: str) -> list[tuple[str, str, str, str]]:
    atoms = (line for line in text.splitlines() if line.startswith(("ATOM  ", "HETATM")))
    return [(line[30:38], line[38:46], line[46:54], line[60:66]) for line in atoms]


def _list_cif_figures(text: str) -> list[list[str]]:
    names = ["Cartn_x", "Cartn_y", "Cartn_z", "B_iso_or_equiv"]
    tables = (block.find("_atom_site.", names) for block in gemmi.cif.read_string(text))
    return next(([list(row) for row in table] for table in tables if len(table)), [])


def _parse(text: str, form: str, name: str) -> gemmi.Structure:
    if form in MOLECULE_FORMATS:
        return MOLECULE_FORMATS[form](text.encode(), name).molecules[0].to_gemmi()
    if form == "pdb":
        parsed = read_pdb(text)
    else:
        document = gemmi.cif.read_string(text)
        block = next((block for block in document if block.find_loop("_atom_site.id")), None)
        if block is None:
            return _parse_component(document)
        parsed = gemmi.make_structure_from_block(block)
        parsed.merge_chain_parts()
    gather_hydrogens(parsed)
    gather_conformers(parsed)
    set_up_entities(parsed)
    return parsed


def _parse_component(document: gemmi.cif.Document) -> gemmi.Structure:
    """Read the description of a chemical component, whose atoms are in another category."""
    block = next((block for block in document if block.find_loop("_chem_comp_atom.atom_id")), None)
    if block is None:
        return gemmi.Structure()
    component = gemmi.make_structure_from_chemcomp_block(block)
    for each in (residue for model in component for chain in model for residue in chain):
        each.entity_type = gemmi.EntityType.NonPolymer
    return component
