"""Clashes and chirality agree with independent programs: biotite's bonds and neighbours, RDKit's CIP labels.

The rules of alphacert 1.1.0 for bonds, with these radii, give the same pairs of residues in these structures.
MolProbity's Probe also counts hydrogens, which Structure.geometry leaves out, so its counts are higher.
"""

import io
from itertools import combinations
from pathlib import Path

import gemmi
import numpy as np
import pytest
from rdkit import Chem
from result_archives import DATA

from foldnote.results import Structure

ROOT = Path(__file__).parents[3]
CLASHES = {
    DATA / "geometry" / "1aki.pdb.gz": 1,
    DATA / "geometry" / "1gya.pdb.gz": 13,
    DATA / "geometry" / "5h73.pdb.gz": 1,
    DATA / "c143_h3.pdb": 0,
    ROOT / "tests" / "engines" / "data" / "t4-lysozyme-l99a.pdb": 0,
    DATA / "abl_pocket.pdb": 0,
    ROOT / "src" / "foldnote" / "catalog" / "examples" / "trp-cage.pdb": 0,
}
RADII = {"C": 1.70, "N": 1.55, "O": 1.40, "S": 1.80}
POLAR = {"N", "O", "S"}


@pytest.fixture(params=CLASHES, ids=lambda path: path.name)
def path(request):
    return request.param


def write_heavy_atoms(path):
    """Return the polymers of a file without hydrogens and alternative conformations, as PDB text."""
    parsed = Structure.open(path).to_gemmi()
    parsed.remove_alternative_conformations()
    parsed.remove_hydrogens()
    parsed.remove_ligands_and_waters()
    return parsed.make_pdb_string()


def overlap(first, second, distance):
    if {first, second} <= POLAR:
        return distance < 2.2 + 0.4 * ("S" in (first, second))
    return distance <= RADII[first] + RADII[second] - 0.4


def find_clashes(text):
    """Return atoms more than three bonds apart whose radii overlap, in residues that are not neighbours."""
    # it imports matplotlib, which no other test of this folder needs
    struc = pytest.importorskip("biotite.structure")
    pdb = pytest.importorskip("biotite.structure.io.pdb")

    atoms = pdb.PDBFile.read(io.StringIO(text)).get_structure(model=1)
    bonds = struc.connect_via_residue_names(atoms)
    sulfurs = np.flatnonzero(atoms.atom_name == "SG")
    for one, other in combinations(sulfurs, 2):
        if struc.distance(atoms[one], atoms[other]) < 2.3:
            bonds.add_bond(one, other)
    linked = bonds.adjacency_matrix().astype(np.float32) + np.eye(len(atoms), dtype=np.float32)
    within_three = linked @ linked @ linked > 0
    residues = struc.get_residue_positions(atoms, np.arange(len(atoms)))
    neighbours = struc.CellList(atoms, 4).get_atoms(atoms.coord, 3.4)
    for i, j in ((i, j) for i, row in enumerate(neighbours) for j in row if i < j):
        is_near = atoms.chain_id[i] == atoms.chain_id[j] and abs(residues[i] - residues[j]) < 2
        distance = float(np.linalg.norm(atoms.coord[i] - atoms.coord[j]))
        if not is_near and not within_three[i, j] and overlap(atoms.element[i], atoms.element[j], distance):
            yield atoms[i], atoms[j], distance


def name(atom):
    return (str(atom.chain_id), f"{atom.res_id}{atom.ins_code}".strip())


def test_clashes_are_those_of_biotites_bonds_and_neighbours(path):
    theirs = {
        frozenset((name(one), name(other)))
        for one, other, distance in find_clashes(write_heavy_atoms(path))
        # Structure.geometry allows 2.6 Å between C and the N of the residue after next.
        if not ({one.atom_name, other.atom_name} == {"C", "N"} and distance >= 2.6)
    }
    found = Structure.open(path).geometry.query("kind == 'clash'")
    ours = {
        frozenset(((row.chain, row.number), (row.other_chain, row.other_number)))
        for row in found.itertuples()
    }

    assert ours == theirs
    assert len(ours) == CLASHES[path]


def list_right_handed(text):
    """Return residues whose Cα has the opposite CIP label of an L amino acid, which is S, but R in cysteine."""
    molecule = Chem.MolFromPDBBlock(text)
    Chem.AssignStereochemistryFrom3D(molecule)
    found = set()
    for atom in molecule.GetAtoms():
        residue = atom.GetPDBResidueInfo()
        if residue.GetName().strip() == "CA" and atom.HasProp("_CIPCode"):
            expected = "R" if residue.GetResidueName() == "CYS" else "S"
            if atom.GetProp("_CIPCode") != expected:
                number = f"{residue.GetResidueNumber()}{residue.GetInsertionCode()}".strip()
                found.add((residue.GetChainId(), number))
    return found


@pytest.mark.parametrize("is_mirrored", [False, True])
def test_hands_are_those_of_rdkits_cip_labels(path, is_mirrored):
    parsed = gemmi.read_pdb_string(write_heavy_atoms(path))
    for atom in (atom for chain in parsed[0] for residue in chain for atom in residue if is_mirrored):
        atom.pos = gemmi.Position(-atom.pos.x, atom.pos.y, atom.pos.z)
    text = parsed.make_pdb_string()
    found = Structure("x.pdb", "pdb", text).geometry.query("kind == 'wrong chirality'")

    assert set(zip(found["chain"], found["number"], strict=True)) == list_right_handed(text)
    assert found.empty != is_mirrored
