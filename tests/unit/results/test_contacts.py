"""Contacts of poses, compared with the known hydrogen bonds of imatinib in the kinase Abl (PDB 1IEP)."""

import gemmi
import pytest
from result_archives import DATA, RECEPTOR, write_zip

from foldnote.results import Structure, find_contacts, list_ligands, open_result
from foldnote.results.docking.bonding import find_roles
from foldnote.results.docking.contacts import CONTACT_A
from foldnote.results.molecules.molecule_files import read_molecules
from foldnote.results.structure.interfaces.hydrogen_bonds import HYDROGEN_BOND_A

IMATINIB = "imatinib.sdf"
KNOWN = {("286", "OE2"), ("315", "OG1"), ("318", "N"), ("381", "N"), ("360", "O")}
"""As in Nagar et al., Cancer Res. 62, 4236 (2002): Glu 286, Thr 315, Met 318, Asp 381, and Ile 360."""


def read(name):
    return read_molecules((DATA / name).read_bytes(), name).molecules


@pytest.fixture(scope="module")
def abl():
    return Structure.open(DATA / "abl_pocket.pdb")


def without_hydrogens(structure):
    parsed = structure.to_gemmi()
    parsed.remove_hydrogens()
    return Structure("bare.pdb", "pdb", parsed.make_pdb_string())


@pytest.mark.parametrize("name", [IMATINIB, "vina_poses.pdbqt"])
def test_the_known_hydrogen_bonds_are_found(abl, name):
    contacts = find_contacts(abl, read(name)[0])
    bonds = contacts[contacts["kind"] == "hydrogen bond"]

    assert set(zip(bonds["number"], bonds["atom"], strict=True)) == KNOWN
    assert bonds["distance"].max() <= HYDROGEN_BOND_A
    assert bonds["angle"].min() >= 120
    donors = dict(zip(bonds["number"], bonds["donor"], strict=True))
    assert (donors["318"], donors["286"]) == ("receptor", "ligand")


def test_without_hydrogens_the_angle_is_missing_and_the_distance_decides(abl):
    contacts = find_contacts(without_hydrogens(abl), read(IMATINIB)[0])
    bonds = contacts[contacts["kind"] == "hydrogen bond"]
    given_by_protein = bonds[bonds["donor"] == "receptor"]

    assert set(zip(bonds["number"], bonds["atom"], strict=True)) >= KNOWN
    assert given_by_protein["angle"].isna().all()


def test_a_residue_is_listed_once_with_its_nearest_atoms(abl):
    contacts = find_contacts(abl, read(IMATINIB)[0])
    near = contacts[contacts["kind"] == "contact"]

    assert not near["number"].duplicated().any()
    assert near["distance"].is_monotonic_increasing
    assert near["distance"].max() <= CONTACT_A
    places = near[["x", "y", "z"]].to_numpy() - near[["ligand_x", "ligand_y", "ligand_z"]].to_numpy()
    assert (places**2).sum(axis=1) ** 0.5 == pytest.approx(near["distance"].to_numpy(), abs=1e-6)


def test_a_molecule_elsewhere_touches_nothing(abl):
    contacts = find_contacts(abl, read("tyr.sdf")[0])

    assert contacts.empty
    assert contacts["distance"].dtype == "float64"


def test_amides_give_and_amines_and_aromatic_nitrogens_take():
    (imatinib,) = read(IMATINIB)
    roles = find_roles(imatinib).roles
    names = imatinib.atoms["name"]

    def who(column):
        return {name for name, can in zip(names, roles[:, column], strict=True) if can}

    assert who(0) == {"N13", "N20", "N32"}, "two N-H and the protonated amine"
    assert {"N5", "N10", "N12", "O36"} <= who(1)
    assert not {"N13", "N20", "N32"} & who(1)


def test_atoms_near_a_covalent_bond_form_no_hydrogen_bond():
    """The oxygens at the carbon that is bonded to Ser 94 are 2.2 and 2.4 Å from its oxygen."""
    structure = Structure.open(DATA / "acylated_serine.pdb")
    contacts = find_contacts(structure, list_ligands(structure)[0])
    bonds = contacts[contacts["kind"] == "hydrogen bond"]
    near = contacts[contacts["kind"] == "contact"]

    assert list(zip(bonds["number"], bonds["atom"], bonds["ligand_atom"], strict=True)) == [
        ("95", "N", "OAD"),
        ("25", "N", "OAD"),
    ]
    assert near["distance"].iloc[0] == pytest.approx(1.436, abs=0.001)


def test_ions_are_touched_and_waters_are_not(abl):
    parsed = abl.to_gemmi()
    (imatinib,) = read(IMATINIB)
    for name, number in (("ZN", "900"), ("HOH", "901")):
        residue = gemmi.Residue()
        residue.name, residue.seqid = name, gemmi.SeqId(number)
        atom = gemmi.Atom()
        atom.name, atom.element = ("ZN", gemmi.Element("Zn")) if name == "ZN" else ("O", gemmi.Element("O"))
        atom.pos = gemmi.Position(*(imatinib.coordinates[35] + [0, 0, 2.1]))
        residue.add_atom(atom)
        parsed[0]["A"].add_residue(residue)
    parsed.setup_entities()
    text = parsed.make_mmcif_document().as_string()

    touched = set(find_contacts(Structure("x.cif", "mmcif", text), imatinib)["residue"])

    assert "ZN" in touched
    assert "HOH" not in touched


def test_a_result_lists_the_contacts_of_every_pose(tmp_path):
    members = {name: (DATA / name).read_bytes() for name in ("abl_pocket.pdb", "vina_poses.pdbqt")}
    table = open_result(write_zip(tmp_path / "r.zip", members)).contact_table

    assert table["rank"].unique().tolist() == [1, 2, 3]
    assert len(table[(table["rank"] == 1) & (table["kind"] == "hydrogen bond")]) == 5


def test_a_result_without_poses_has_no_contacts(tmp_path):
    result = open_result(write_zip(tmp_path / "r.zip", {"a.pdb": (DATA / "abl_pocket.pdb").read_bytes()}))

    assert list(result.contact_table.columns)[:3] == ["ligand", "rank", "kind"]
    assert result.contact_table.empty
    assert list(result.interaction_table.columns)[:3] == ["ligand", "rank", "kind"]
    assert result.interaction_table.empty


def test_a_rigid_receptor_in_pdbqt_is_a_structure(tmp_path):
    members = {"receptor.pdbqt": RECEPTOR, "out.pdbqt": (DATA / "vina_poses.pdbqt").read_bytes()}
    result = open_result(write_zip(tmp_path / "r.zip", members))

    assert [one.name for one in result.structures] == ["receptor.pdbqt"]
    assert result.structure.to_frame()["element"].tolist() == ["N", "H", "C", "S"]
    assert list(result.molecules) == ["out.pdbqt"]
    assert len(result.poses) == 3


def test_a_receptor_in_two_formats_is_one_structure(tmp_path):
    members = {"receptor.pdbqt": RECEPTOR, "receptor.pdb": (DATA / "abl_pocket.pdb").read_bytes()}
    result = open_result(write_zip(tmp_path / "r.zip", members))

    assert [one.name for one in result.structures] == ["receptor.pdb"]
