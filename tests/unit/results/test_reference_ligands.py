"""RMSD of poses from a reference ligand, against spyrmsd and against a search of all permutations."""

from itertools import permutations

import numpy as np
import pytest
from rdkit import Chem
from rdkit.Chem import AllChem
from result_archives import DATA, write_zip

from foldnote.errors import ArgumentError, UnreadableFileError
from foldnote.results import Structure, open_result
from foldnote.results.docking.atom_pairing import MAX_PAIRINGS

BENZAMIDINE = "NC(=[NH2+])c1ccccc1"
SHUFFLED = [4, 0, 8, 2, 6, 1, 7, 3, 5]
SPYRMSD = [0.379, 1.429, 12.286]
"""``spyrmsd.rmsd.symmrmsd`` of spyrmsd 0.9.0 for the same poses and reference."""


def embed(smiles, count):
    molecule = Chem.AddHs(Chem.MolFromSmiles(smiles))
    AllChem.EmbedMultipleConfs(molecule, count, randomSeed=7)
    return molecule


def write_poses(folder, molecule, count):
    place = folder / "poses.sdf"
    with Chem.SDWriter(str(place)) as writer:
        for conformer in range(count):
            molecule.SetProp("affinity", str(conformer - 5))
            writer.write(molecule, confId=conformer)
    return place


@pytest.fixture
def docked(tmp_path):
    """Return two poses of benzamidine, and a third conformer with its atoms in another order, without hydrogens."""
    molecule = embed(BENZAMIDINE, 3)
    crystal = Chem.RenumberAtoms(Chem.RemoveHs(molecule), SHUFFLED)
    return open_result(write_poses(tmp_path, molecule, 2)), crystal


def read_poses():
    return open_result(DATA / "vina_poses.pdbqt")


def search(molecule, crystal):
    """Return the lowest RMSD over the pairings of atoms that keep elements and bonds."""
    places, symbols = crystal.GetConformer(2).GetPositions(), [a.GetSymbol() for a in crystal.GetAtoms()]
    bonded = Chem.GetAdjacencyMatrix(crystal)
    heavy = [row for row, element in enumerate(molecule.elements) if element != "H"]
    own, where = molecule.coordinates[heavy], {row: place for place, row in enumerate(heavy)}
    bonds = [(where[a], where[b]) for a, b, _ in molecule.bond_rows if a in where and b in where]
    elements = [molecule.elements[row] for row in heavy]
    found = [
        float(np.sqrt(((own - places[list(order)]) ** 2).sum(axis=1).mean()))
        for order in permutations(range(len(heavy)))
        if all(bonded[order[a], order[b]] for a, b in bonds)
        and [symbols[place] for place in order] == elements
    ]
    assert len(found) == 4, "the ring is rotated and the nitrogens are exchanged"
    return min(found)


def test_a_redocked_ligand_has_the_rmsd_of_an_independent_program():
    table = read_poses().rmsd_to(DATA / "imatinib.sdf")

    assert table["rmsd_to_reference"].tolist() == pytest.approx(SPYRMSD, abs=0.001)
    assert set(table["reference"]) == {"STI"}


@pytest.mark.parametrize("form", ["sdf", "pdb"])
def test_a_symmetric_ligand_is_compared_in_its_best_pairing(docked, tmp_path, form):
    """The PDB file has neither bond orders nor atom names."""
    result, crystal = docked
    place = tmp_path / f"crystal.{form}"
    writer = {"sdf": Chem.MolToMolFile, "pdb": Chem.MolToPDBFile}[form]
    writer(crystal, str(place), confId=2)
    expected = [search(pose.molecule, crystal) for pose in result.poses]

    assert result.rmsd_to(place)["rmsd_to_reference"].tolist() == pytest.approx(expected, abs=0.002)


def test_a_symmetric_permutation_has_zero_rmsd_without_superposition(docked, tmp_path):
    result, _ = docked
    molecule = Chem.MolFromMolBlock(result.poses[0].molecule.text)
    turned = list(next(m for m in molecule.GetSubstructMatches(molecule, uniquify=False) if m[4] != 4))
    Chem.MolToMolFile(Chem.RenumberAtoms(molecule, turned), str(tmp_path / "turned.sdf"))
    plain = molecule.GetConformer().GetPositions() - molecule.GetConformer().GetPositions()[turned]

    assert np.sqrt((plain**2).sum(axis=1).mean()) > 1.0, "without the correction it is far off"
    assert result.rmsd_to(tmp_path / "turned.sdf")["rmsd_to_reference"][0] == 0.0
    conformer = molecule.GetConformer()
    moved = conformer.GetPositions() + np.array([3.0, 0.0, 4.0])
    for row, position in enumerate(moved):
        conformer.SetAtomPosition(row, position)
    Chem.MolToMolFile(molecule, str(tmp_path / "moved.sdf"))
    assert result.rmsd_to(tmp_path / "moved.sdf")["rmsd_to_reference"][0] == pytest.approx(5.0, abs=0.3)


def test_a_ketone_is_not_paired_with_the_alcohol_of_its_skeleton(tmp_path):
    """Elements and connections of 4-hydroxypentan-2-one are symmetric; its bond orders are not."""
    crystal = Chem.RemoveHs(embed("CC(=O)CC(C)O", 1))
    Chem.MolToPDBFile(crystal, str(tmp_path / "crystal.pdb"))
    places, exchanged = crystal.GetConformer().GetPositions(), [5, 4, 6, 3, 1, 0, 2]
    docked = Chem.Mol(crystal)
    for row, other in enumerate(exchanged):
        docked.GetConformer().SetAtomPosition(row, places[other])
    expected = np.sqrt(((places - places[exchanged]) ** 2).sum(axis=1).mean())

    rmsd = [
        open_result(write_poses(tmp_path, molecule, 1)).rmsd_to(tmp_path / "crystal.pdb")[
            "rmsd_to_reference"
        ][0]
        for molecule in (crystal, docked)
    ]
    assert rmsd == pytest.approx([0.0, expected], abs=0.005)
    assert expected > 1.0, "a pairing by elements and connections alone would give 0"


def test_a_result_with_a_reference_ligand_has_its_rmsd_beside_the_scores(tmp_path):
    poses, reference = (DATA / "vina_poses.pdbqt").read_bytes(), (DATA / "imatinib.sdf").read_bytes()
    result = open_result(write_zip(tmp_path / "r.zip", {"poses.pdbqt": poses, "reference.sdf": reference}))

    assert len(result.poses) == 3
    assert result.pose_table["rmsd_to_reference"].tolist() == pytest.approx(SPYRMSD, abs=0.001)
    other = {"poses.pdbqt": poses, "reference.sdf": (DATA / "tyr.sdf").read_bytes()}
    assert "rmsd_to_reference" not in open_result(write_zip(tmp_path / "o.zip", other)).pose_table


@pytest.mark.parametrize(
    ("reference", "residue", "message"),
    [
        (DATA / "tyr.sdf", "", r"\(13 heavy atoms\) is another molecule than the docked molecule \(37"),
        (DATA / "abl_pocket.pdb", "", "abl_pocket.pdb does not contain the docked molecule"),
        (DATA / "abl_pocket.pdb", "A:318", "MET A:318 .* is another molecule"),
        (DATA / "abl_pocket.pdb", "B:9", "has no residue 'B:9'; write chain and number"),
        (DATA / "imatinib.sdf", "A:1", "is for a reference that is a structure"),
    ],
    ids=["molecule", "structure", "residue", "no-residue", "residue-of-molecule"],
)
def test_what_cannot_be_a_reference_is_a_plain_sentence(reference, residue, message):
    with pytest.raises(ArgumentError, match=message):
        read_poses().rmsd_to(reference, residue)


def test_a_missing_file_and_a_result_without_poses_are_plain_sentences(tmp_path):
    with pytest.raises(UnreadableFileError, match=r"nowhere.sdf cannot be read"):
        read_poses().rmsd_to(tmp_path / "nowhere.sdf")
    result = open_result(write_zip(tmp_path / "r.zip", {"a.csv": b"x\n1\n"}))
    with pytest.raises(ArgumentError, match="no docked poses"):
        result.rmsd_to(DATA / "imatinib.sdf")


def test_poses_and_structures_can_also_be_references():
    result = read_poses()

    assert result.rmsd_to(result.poses[1])["rmsd_to_reference"][1] == 0.0
    with pytest.raises(ArgumentError, match="does not contain"):
        result.rmsd_to(Structure.open(DATA / "abl_pocket.pdb"))


def list_exchanges(molecule):
    """Return the pairings of a molecule's atoms with themselves that keep elements and connections."""
    plain = Chem.RWMol(molecule)
    for atom in plain.GetAtoms():
        atom.SetFormalCharge(0)
        atom.SetIsAromatic(False)
        atom.SetNoImplicit(True)
    for bond in plain.GetBonds():
        bond.SetIsAromatic(False)
        bond.SetBondType(Chem.BondType.SINGLE)
    return [list(rows) for rows in plain.GetSubstructMatches(plain, uniquify=False)]


def compare_exchanged(molecule, rows, folder):
    """Return the RMSD of a molecule from itself with its atoms exchanged."""
    docked, places = Chem.Mol(molecule), molecule.GetConformer().GetPositions()
    for row, other in enumerate(rows):
        docked.GetConformer().SetAtomPosition(row, places[other])
    Chem.MolToPDBFile(molecule, str(folder / "crystal.pdb"))
    result = open_result(write_poses(folder, docked, 1))
    return result.rmsd_to(folder / "crystal.pdb")["rmsd_to_reference"][0]


@pytest.mark.parametrize(
    "smiles",
    [
        "c1ccc(cc1)-c1nn[n-]n1",
        "Clc1cccc(Cl)c1NC1=[NH+]CCN1",
        "c1ccccc1-c1[nH]cc[nH+]1",
        "CC(O)=CC(C)=O",
        "CN=C(N)NC",
        "CN(C)C(=S)[S-]",
        "OP(O)(=S)Oc1ccccc1",
        "[O-][N+](=O)c1ccc(Cl)cc1",
        "OC1=C(O)C(=O)C1=O",
    ],
)
def test_resonance_forms_and_tautomers_do_not_lessen_the_symmetry(tmp_path, smiles):
    """The charge of a tetrazolate is drawn at one of four nitrogens, the double bond of clonidinium at one of two."""
    molecule = Chem.RemoveHs(embed(smiles, 1))
    exchanges = list_exchanges(molecule)

    assert len(exchanges) > 1
    for rows in exchanges:
        assert compare_exchanged(molecule, rows, tmp_path) < 0.002


@pytest.mark.parametrize("smiles", ["CC=CCC", "CC1=CCCCC1", "CC1=CCC=C1", "CC=C(CC)CC=C", "CC#CCC"])
def test_double_bonds_at_one_place_do_lessen_it(tmp_path, smiles):
    molecule = Chem.RemoveHs(embed(smiles, 1))
    rmsds = [compare_exchanged(molecule, rows, tmp_path) for rows in list_exchanges(molecule)]

    assert min(rmsds) < 0.002
    assert len(rmsds) == 1 or max(rmsds) > 0.1


def test_the_oxygens_of_six_phosphates_are_exchanged_at_once(tmp_path):
    """Inositol hexakisphosphate, with 559,872 pairings; spyrmsd 0.9.0 takes a minute."""
    phosphates = embed("C1(OP(=O)(O)O)" + "C(OP(=O)(O)O)" * 4 + "C1OP(=O)(O)O", 2)
    crystal = Chem.RemoveHs(phosphates)
    Chem.MolToMolFile(crystal, str(tmp_path / "crystal.sdf"), confId=1)
    result = open_result(write_poses(tmp_path, phosphates, 1))
    places = [crystal.GetConformer(one).GetPositions() for one in range(2)]
    groups = [[n.GetIdx() for n in a.GetNeighbors() if n.GetDegree() == 1] for a in crystal.GetAtoms()]
    oxygens = [tuple(group) for group in groups if len(group) == 3]
    others = [row for row in range(36) if not any(row in group for group in oxygens)]
    skeleton = Chem.RWMol(crystal)
    for row in sorted((row for group in oxygens for row in group), reverse=True):
        skeleton.RemoveAtom(row)
    least = np.inf
    for match in list_exchanges(skeleton):
        target = dict(zip(others, [others[row] for row in match], strict=True))
        total = sum(((places[0][a] - places[1][b]) ** 2).sum() for a, b in target.items())
        for group in oxygens:
            centre = next(n.GetIdx() for n in crystal.GetAtomWithIdx(group[0]).GetNeighbors())
            image = next(each for each in oxygens if crystal.GetBondBetweenAtoms(each[0], target[centre]))
            total += min(
                ((places[0][list(group)] - places[1][list(p)]) ** 2).sum() for p in permutations(image)
            )
        least = min(least, total)

    assert result.rmsd_to(tmp_path / "crystal.sdf")["rmsd_to_reference"][0] == pytest.approx(
        np.sqrt(least / 36), abs=0.001
    )


def test_a_molecule_with_too_many_pairings_is_refused(tmp_path):
    """Eight groups of three ethyls: more than 6⁸ pairings."""
    ethyls = "[Si](CC)(CC)CC"
    molecule = embed("CC[Si](CC)(CC)" + f"C({ethyls})" * 6 + ethyls, 1)
    result = open_result(write_poses(tmp_path, molecule, 1))

    with pytest.raises(ArgumentError, match=f"more than {MAX_PAIRINGS:,} symmetric ways"):
        result.rmsd_to(result.poses[0])
