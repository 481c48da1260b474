"""Read the protein chains of PDB and mmCIF files, and write whole structures in another frame."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import gemmi
import numpy as np
import residue_names
from alternate_locations import list_most_occupied
from coordinates import check_coordinates
from engine_protocol import fail
from tm_search import FEWEST, Motion, Points

BACKBONE = ("N", "CA", "C", "CB")
"""Atoms from which biotite's structural alphabets are computed."""


@dataclass(frozen=True)
class TracedResidue:
    """One residue with a Cα atom."""

    chain: str
    number: str
    letter: str
    atoms: dict[str, tuple[float, float, float]]


@dataclass
class InputStructure:
    """One file: its content, its protein chains, and what was left out."""

    name: str
    content: Any
    is_pdb: bool
    chains: list[list[TracedResidue]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @property
    def residues(self) -> list[TracedResidue]:
        """All residues, chain by chain."""
        return [residue for chain in self.chains for residue in chain]


def read_structures(paths: Sequence[Path], chain: str) -> list[InputStructure]:
    """Return the structures of the files; ``chain`` is the chain to align, empty for all."""
    names: list[str] = []
    for path in paths:
        stem = "_".join(path.name.rsplit(".", 1)[0].split()) or "structure"
        numbered = (f"{stem}_{number}" for number in range(2, len(paths) + 2))
        names.append(next(name for name in (stem, *numbered) if name not in names))
    return [read_structure(path, name, chain) for path, name in zip(paths, names, strict=True)]


def read_structure(path: Path, name: str, chain: str) -> InputStructure:
    """Return one structure with at least three residues to align; fail otherwise."""
    text = path.read_bytes().decode("utf-8", "replace").replace("\r\n", "\n").replace("\r", "\n")
    is_pdb = "_atom_site." not in text
    try:
        content = gemmi.read_pdb_string(text) if is_pdb else read_cif(text)
    except (RuntimeError, ValueError, IndexError) as exc:
        fail(f"{name} cannot be read as PDB or mmCIF: {' '.join(str(exc).split())[:200]}")
    check_coordinates(content, text, name, is_pdb=is_pdb)
    if not len(content) or not content[0].count_atom_sites():
        fail(f"{name} holds no atoms. Give structures as PDB or mmCIF.")
    found = InputStructure(name, content, is_pdb)
    if len(content) > 1:
        found.notes.append(f"{name}: the first of {len(content)} models was aligned and written.")
        while len(content) > 1:
            del content[1]
    read_chains(found, chain)
    return found


def read_cif(text: str) -> Any:
    """Return the first block of mmCIF with atoms."""
    document = gemmi.cif.read_string(text)
    block = next((each for each in document if each.find_values("_atom_site.Cartn_x")), document[0])
    return gemmi.make_structure_from_block(block)


def read_chains(found: InputStructure, wanted: str) -> None:
    """Find the residues with a Cα atom in the wanted chain, or in all chains."""
    left_out = alternate = repeated = 0
    sizes = {}
    for chain in found.content[0]:
        residues = []
        seen = set()
        for residue in chain:
            if (is_amino := is_amino_acid(residue)) and str(residue.seqid) not in seen:
                seen.add(str(residue.seqid))
                alternate += any(atom.has_altloc() for atom in residue)
                residues.append(read_residue(chain.name, residue))
            elif is_amino and wanted in ("", chain.name):
                repeated += 1
            elif not residue.is_water() and wanted in ("", chain.name):
                left_out += 1
        sizes[chain.name] = sizes.get(chain.name, 0) + len(residues)
        if wanted in ("", chain.name) and len(residues) >= FEWEST:
            found.chains.append(residues)
    if not found.chains:
        fail(explain_missing(found.name, sizes, wanted))
    if left_out:
        found.notes.append(
            f"{found.name}: residues without a protein's Cα atom, such as ligands and nucleotides, took no"
            f" part in the alignment and were moved along ({left_out})."
        )
    if repeated:
        found.notes.append(
            f"{found.name}: of residues with the same number in a chain the first was aligned; the others"
            f" were moved along ({repeated})."
        )
    if alternate:
        found.notes.append(
            f"{found.name}: of residues with alternate locations the most occupied one was aligned"
            f" ({alternate})."
        )


def explain_missing(name: str, sizes: dict[str, int], wanted: str) -> str:
    """Explain why nothing can be aligned."""
    chains = [chain for chain, size in sizes.items() if size >= FEWEST]
    if wanted and wanted not in sizes:
        named = ", ".join(chain.strip() or "one without a name" for chain in chains)
        listed = f"Its protein chains are {named}." if chains else "It has no protein chain."
        return f"{name} has no chain {wanted}. {listed}"
    where = f"Chain {wanted} of {name}" if wanted else name
    return f"{where} has fewer than {FEWEST} protein residues with a Cα atom, so it cannot be aligned."


def is_amino_acid(residue: Any) -> bool:
    """Return whether a residue is an amino acid, by its name or by its backbone."""
    if not residue.find_atom("CA", "*", gemmi.Element("C")):
        return False
    if residue_names.is_amino_acid(residue.name):
        return True
    known = gemmi.find_tabulated_residue(residue.name)
    return not known.is_nucleic_acid() and bool(residue.find_atom("N", "*") and residue.find_atom("C", "*"))


def read_residue(chain: str, residue: Any) -> TracedResidue:
    """Return the backbone of a residue; for alternate locations, the most occupied."""
    atoms: dict[str, tuple[float, float, float]] = {}
    for atom in list_most_occupied(residue):
        if atom.name in BACKBONE:
            atoms.setdefault(atom.name, tuple(atom.pos))
    return TracedResidue(chain, str(residue.seqid), residue_names.find_letter(residue.name), atoms)


def find_points(residues: Sequence[TracedResidue]) -> Points:
    """Return Cα coordinates, shape (n, 3), Å."""
    return np.array([residue.atoms["CA"] for residue in residues], dtype=np.float64)


def make_array(chains: Sequence[Sequence[TracedResidue]]) -> Any:
    """Return the backbones as an array of biotite atoms, each chain with a unique name."""
    from biotite.structure import AtomArray

    rows = [
        (index, number, name, place)
        for index, chain in enumerate(chains)
        for number, residue in enumerate(chain, start=1)
        for name, place in residue.atoms.items()
    ]
    array = AtomArray(len(rows))
    array.chain_id = np.array([f"{row[0]}" for row in rows], dtype="U4")
    array.res_id = np.array([row[1] for row in rows])
    array.atom_name = np.array([row[2] for row in rows])
    array.res_name = np.full(len(rows), "ALA")
    array.element = np.array([row[2][0] for row in rows])
    array.coord = np.array([row[3] for row in rows], dtype=np.float32)
    return array


def move_structure(structure: InputStructure, motion: Motion) -> None:
    """Move all atoms of the file, and drop data that is only valid in its original frame."""
    change = gemmi.Transform()
    change.mat.fromlist(motion.rotation.tolist())
    change.vec.fromlist(motion.shift.tolist())
    content = structure.content
    content[0].transform_pos_and_adp(change)
    content.cell = gemmi.UnitCell()
    content.spacegroup_hm = ""
    content.ncs.clear()
    content.assemblies.clear()


def write_structure(structure: InputStructure, stem: str) -> str:
    """Write a structure as PDB, or as mmCIF if that was its format or is needed; return the file's name."""
    is_pdb = structure.is_pdb and fits_pdb(structure.content[0])
    path = Path(f"{stem}.pdb" if is_pdb else f"{stem}.cif")
    path.write_text(make_text(structure.content, is_pdb=is_pdb), "utf-8")
    return path.name


def write_all(structures: Sequence[InputStructure]) -> None:
    """Write all structures as models of one file, the first structure first."""
    together = gemmi.Structure()
    for number, structure in enumerate(structures, start=1):
        model = structure.content[0].clone()
        model.num = number
        together.add_model(model)
    together.setup_entities()
    is_pdb = all(fits_pdb(model) for model in together)
    Path(f"outputs/superposed.{'pdb' if is_pdb else 'cif'}").write_text(
        make_text(together, is_pdb=is_pdb), "utf-8"
    )


def fits_pdb(model: Any) -> bool:
    """Return whether a model's names and numbers fit the PDB format."""
    return (
        all(len(chain.name) <= 1 for chain in model)
        and model.count_atom_sites() < 99_999
        and all(residue.seqid.num < 10_000 and len(residue.name) < 4 for chain in model for residue in chain)
    )


def make_text(content: Any, *, is_pdb: bool) -> str:
    """Return the content of a file."""
    if is_pdb:
        text: str = content.make_pdb_string()
        return text
    content.setup_entities()
    document: str = content.make_mmcif_document().as_string()
    return document
