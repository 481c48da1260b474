"""A ligand in PDBQT has the formula and bonds of its SMILES, and only its own atoms."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rdkit import Chem
from rdkit.Chem import Descriptors, rdMolDescriptors

from foldnote.errors import UnreadableFileError
from foldnote.results.molecules.molecule import Molecule
from foldnote.results.molecules.pdbqt import read_pdbqt

DATA = Path(__file__).parent / "data"
POSES = (DATA / "vina_poses.pdbqt").read_text()
MACROLACTONE = (DATA / "macrolactone.pdbqt").read_text()
SIDE_CHAIN = """BEGIN_RES THR A 315
REMARK INDEX MAP 2 1
ROOT
ATOM      1  CA  THR A 315      15.500  53.100  17.300  1.00  0.00     0.180 C
ENDROOT
BRANCH   1   2
ATOM      2  CB  THR A 315      16.500  53.100  16.300  1.00  0.00     0.100 C
ENDBRANCH   1   2
END_RES THR A 315
"""


def read_first(text: str) -> Molecule:
    return read_pdbqt(text.encode(), "x.pdbqt").molecules[0]


def measure_bonds(molecule: Molecule) -> np.ndarray:
    ends = molecule.bonds[["first", "second"]].to_numpy()
    return np.linalg.norm(molecule.coordinates[ends[:, 0]] - molecule.coordinates[ends[:, 1]], axis=1)


def test_formula_mass_and_orders_are_those_of_the_smiles():
    smiles = POSES.split("REMARK SMILES ")[1].split()[0]
    expected = Chem.AddHs(Chem.MolFromSmiles(smiles))

    pose = read_first(POSES)

    assert f"{pose.formula}+" == rdMolDescriptors.CalcMolFormula(expected)
    assert pose.mass == pytest.approx(Descriptors.MolWt(expected), abs=0.02)
    assert pose.has_all_hydrogens
    heavy = pose.bonds[(pose.atoms["element"].to_numpy()[pose.bonds[["first", "second"]]] != "H").all(axis=1)]
    orders = [
        b.GetBondTypeAsDouble()
        for b in expected.GetBonds()
        if "H" not in (b.GetBeginAtom().GetSymbol(), b.GetEndAtom().GetSymbol())
    ]
    assert sorted(heavy["order"]) == sorted(orders)
    assert measure_bonds(pose).max() < 1.6
    assert len(pose.bonds) == len(orders) + (pose.atoms["element"] == "H").sum()


def test_a_macrocycle_has_no_atoms_for_the_ring_that_was_opened():
    ring = read_first(MACROLACTONE)

    assert (ring.formula, ring.heavy_atoms) == ("C15H28O2", 17)
    assert ring.mass == pytest.approx(240.387, abs=0.02)
    assert set(ring.atoms["element"]) == {"C", "O"}
    assert len(ring.bonds) == 17, "the ring is closed"
    assert measure_bonds(ring).max() < 1.6


def test_a_flexible_side_chain_is_named_and_not_counted():
    first, rest = POSES.split("TORSDOF", 1)

    pose = read_first(f"{first}TORSDOF 6\n{SIDE_CHAIN}ENDMDL\nMODEL 2\n{POSES.split('MODEL 2', 1)[1]}")

    assert rest
    assert pose.properties["flexible residues"] == "THR A 315"
    assert len(pose.atoms) == len(read_first(POSES).atoms)
    assert pose.formula == read_first(POSES).formula


def test_side_chains_alone_are_not_a_ligand():
    with pytest.raises(UnreadableFileError, match="flexible receptor residues but no ligand"):
        read_first(SIDE_CHAIN)


@pytest.mark.parametrize(
    "spoil",
    [
        lambda text: text.replace("REMARK SMILES ", "REMARK SMILES C"),
        lambda text: text.replace("REMARK SMILES IDX 6 1", "REMARK SMILES IDX 6 999"),
        lambda text: text.replace("IDX 6 1 7 2", "IDX 7 1 6 2"),
        lambda text: text.replace("REMARK SMILES IDX 6 1", "REMARK SMILES IDX 6"),
        lambda text: text.replace("REMARK SMILES ", "REMARK SMILES (("),
        lambda text: text.replace("SMILES", "SMELLS"),
    ],
)
def test_a_smiles_of_something_else_is_not_believed(spoil):
    pose = read_first(spoil(POSES))

    assert pose.bonds.empty
    assert (pose.has_all_hydrogens, pose.mass) == (False, None)


LINES = st.one_of(
    st.sampled_from(POSES.splitlines()[:60] + MACROLACTONE.splitlines()[:20] + SIDE_CHAIN.splitlines()),
    st.builds("REMARK SMILES IDX {}".format, st.text("0123456789 -", max_size=12)),
    st.builds("REMARK H PARENT {}".format, st.text("0123456789 ", max_size=12)),
    st.builds("REMARK SMILES {}".format, st.text("CcNnO()=#123[]+-", max_size=10)),
)


@settings(max_examples=200, deadline=None)
@given(st.lists(LINES, max_size=60))
def test_bonds_join_atoms_of_the_file_whatever_the_remarks(lines):
    try:
        molecules = read_pdbqt("\n".join(lines).encode(), "any.pdbqt").molecules
    except UnreadableFileError:
        return
    for molecule in molecules:
        assert "X" not in set(molecule.atoms["element"])
        assert molecule.bonds[["first", "second"]].max().fillna(0).max() < len(molecule.atoms)
        assert molecule.formula
