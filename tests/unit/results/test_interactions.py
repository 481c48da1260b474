"""Typed interactions: imatinib in the kinase Abl (PDB 1IEP), and each kind at and beyond its limits."""

import gemmi
import numpy as np
import pytest
from result_archives import DATA

from foldnote.results import Structure, find_interactions
from foldnote.results.docking.bonding import find_roles
from foldnote.results.docking.contacts import read_pocket
from foldnote.results.docking.ligands import list_ligands, list_residue_molecules
from foldnote.results.molecules.molecule import Molecule
from foldnote.results.molecules.molecule_files import read_molecules

RING = [(np.cos(angle), np.sin(angle), 0.0) for angle in np.radians(np.arange(0, 360, 60))]
SIX = ("CG", "CD1", "CE1", "CZ", "CE2", "CD2")


def place_ring(height=0.0, shift=0.0, is_upright=False):
    """Return a benzene ring of carbons, its centre ``height`` above the origin and ``shift`` aside."""
    points = np.array(RING) * 1.39
    points = points[:, [0, 2, 1]] if is_upright else points
    return points + np.array([shift, 0.0, height])


def make_residue(name, atoms, number=1):
    residue = gemmi.Residue()
    residue.name, residue.seqid = name, gemmi.SeqId(str(number))
    for label, place in atoms:
        atom = gemmi.Atom()
        atom.name, atom.element = label, gemmi.Element(label if label == name else label[0])
        atom.pos = gemmi.Position(*map(float, place))
        residue.add_atom(atom)
    return residue


def make_complex(receptor, ligand, elements=None):
    """Return kinds and figures of interactions between a residue and a molecule, each given as (name, position) pairs."""
    structure, model, chain, other = gemmi.Structure(), gemmi.Model(1), gemmi.Chain("A"), gemmi.Chain("L")
    name, atoms = receptor
    chain.add_residue(make_residue(name, atoms))
    residue = make_residue("LIG", ligand)
    for atom, element in zip(residue, elements or [], strict=False):
        atom.element = gemmi.Element(element)
    other.add_residue(residue)
    model.add_chain(chain)
    model.add_chain(other)
    structure.add_model(model)
    for each in structure[0]["A"]:
        is_ion = len(each) == 1
        each.entity_type = gemmi.EntityType.NonPolymer if is_ion else gemmi.EntityType.Polymer
        each.het_flag = "H" if is_ion else "A"
    for each in structure[0]["L"]:
        each.het_flag = "H"
    found = Structure("complex.pdb", "pdb", structure.make_pdb_string())
    return find_interactions(found, list_residue_molecules(found, "L:1")[0])


def list_kinds(receptor, ligand, elements=None):
    return set(make_complex(receptor, ligand, elements)["kind"])


def name_ring(points, names=SIX):
    return list(zip(names, points, strict=True))


LIGAND_RING = name_ring(place_ring(), ("C1", "C2", "C3", "C4", "C5", "C6"))


def test_the_known_interactions_of_imatinib_are_found():
    molecule = read_molecules((DATA / "imatinib.sdf").read_bytes(), "imatinib.sdf").molecules[0]
    table = find_interactions(Structure.open(DATA / "abl_pocket.pdb"), molecule)
    by_kind = {kind: set(rows["number"]) for kind, rows in table.groupby("kind")}
    assert by_kind["hydrogen bond"] == {"286", "315", "318", "360", "381"}
    assert by_kind["pi stacking"] == {"253"}
    assert {"248", "313", "382"} <= by_kind["hydrophobic"]


@pytest.mark.parametrize(
    ("height", "shift", "is_upright", "is_stacked"),
    [
        (3.6, 0.0, False, True),
        (3.6, 1.9, False, True),
        (3.6, 2.3, False, False),
        (5.0, 0.0, True, True),
        (5.7, 0.0, True, False),
    ],
)
def test_rings_stack_within_the_limits_of_distance_and_offset(height, shift, is_upright, is_stacked):
    ring = name_ring(place_ring(height, shift, is_upright))
    assert ("pi stacking" in list_kinds(("PHE", ring), LIGAND_RING)) == is_stacked


@pytest.mark.parametrize(("height", "is_found"), [(4.5, True), (6.3, False)])
def test_a_charge_above_a_ring_is_a_cation_pi_interaction(height, is_found):
    lysine = ("LYS", [("CE", (0, 0, height + 1.5)), ("NZ", (0, 0, height))])
    table = make_complex(lysine, LIGAND_RING)
    assert ("cation-pi" in set(table["kind"])) == is_found
    assert set(table.loc[table["kind"] == "cation-pi", "donor"]) <= {"receptor"}


@pytest.mark.parametrize(("distance", "is_found"), [(3.9, True), (4.1, False)])
def test_a_carboxylate_and_an_amidinium_are_ionic(distance, is_found):
    aspartate = (
        "ASP",
        [("CG", (0, 0, -1.25)), ("OD1", (0, 0, 0)), ("OD2", (1.1, 0, -1.9)), ("CB", (-1.3, 0, -2))],
    )
    amidine = [("N1", (0, 0, distance)), ("C1", (0, 0.7, distance + 1.1)), ("N2", (0, 2.0, distance + 1.1)),
               ("C2", (0, 0, distance + 2.4))]  # fmt: skip
    assert ("ionic" in list_kinds(aspartate, amidine)) == is_found


@pytest.mark.parametrize(("angle", "is_found"), [(175, True), (110, False)])
def test_a_halogen_bond_needs_a_straight_line(angle, is_found):
    carbonyl = ("ALA", [("O", (0, 0, 0)), ("C", (1.05, 0.6, 0))])
    bend = np.radians(180 - angle)
    halogen = np.array([0.0, -3.2, 0.0])
    carbon = halogen + 1.74 * np.array([np.sin(bend), -np.cos(bend), 0])
    kinds = list_kinds(carbonyl, [("BR1", halogen), ("C1", carbon)], ["Br", "C"])
    assert ("halogen bond" in kinds) == is_found


@pytest.mark.parametrize(("atom", "is_found"), [("O", True), ("N", False)])
def test_the_nitrogen_of_an_amide_accepts_no_halogen_bond(atom, is_found):
    amide = ("ALA", [(atom, (0, 0, 0)), ("C", (1.05, 0.6, 0))])
    halogen = [("CL1", (0, -3.2, 0)), ("C1", (0, -4.94, 0))]
    assert ("halogen bond" in list_kinds(amide, halogen, ["Cl", "C"])) == is_found


@pytest.mark.parametrize(("distance", "is_found"), [(2.1, True), (3.2, False)])
def test_an_ion_binds_to_an_oxygen_of_the_molecule(distance, is_found):
    ligand = [("O1", (0, 0, distance)), ("C1", (0, 0, distance + 1.3))]
    assert ("metal" in list_kinds(("ZN", [("ZN", (0, 0, 0))]), ligand)) == is_found


def test_carbons_beside_an_oxygen_are_not_hydrophobic():
    valine = ("VAL", [("CG1", (0, 0, 3.7)), ("CB", (0, 0, 5.2))])
    assert list_kinds(valine, [("C1", (0, 0, 0)), ("C2", (0, 0, -1.5))]) == {"hydrophobic"}
    assert list_kinds(valine, [("C1", (0, 0, 0)), ("O2", (0, 0, -1.4))]) == set()


def test_a_residue_that_is_bonded_to_the_molecule_has_its_bond_and_hydrogen_bonds_only():
    """Its amide binds the oxygen at the bonded carbon, as in the oxyanion hole of a cysteine protease."""
    cysteine = ("CYS", [("SG", (0, 0, 0)), ("CB", (0, 1.8, 0)), ("N", (3.4, -0.5, 0)), ("O", (2.0, 2.0, 0))])
    table = make_complex(cysteine, [("C1", (0, -1.81, 0)), ("O2", (1.2, -2.4, 0)), ("C3", (-1.2, -2.6, 0))])
    assert table["kind"].tolist() == ["covalent", "hydrogen bond"]
    assert table["atom"].tolist() == ["SG", "N"]
    assert table["distance"].tolist() == pytest.approx([1.81, 2.907], abs=0.001)


@pytest.mark.parametrize(("hydrogens", "is_charged"), [(("HD1", "HE2"), True), (("HE2",), False)])
def test_histidine_is_charged_if_the_file_has_hydrogens_at_both_nitrogens(hydrogens, is_charged):
    places = {"ND1": (0, 1.1, 0), "NE2": (2.1, 1.1, 0), "HD1": (-0.5, 2.0, 0), "HE2": (2.6, 2.0, 0)}
    atoms = [(name, place) for name, place in places.items() if name[0] == "N" or name in hydrogens]
    carboxylate = [("C1", (0, 4.5, 1)), ("O1", (0, 3.8, 0)), ("O2", (0, 5.7, 1)), ("C2", (1.3, 4.0, 2))]
    assert ("ionic" in list_kinds(("HIS", atoms), carboxylate)) == is_charged


IMIDAZOLE = [("CG", (0, -2, -1)), ("ND1", (1.1, 0, -2)), ("CD2", (-1.1, -1, -0.7)), ("CE1", (0.7, 0, -1)),
             ("NE2", (0, 0, 0))]  # fmt: skip
ETHER = [("O1", (0, 0, 3.0)), ("C1", (1.2, 0, 3.7)), ("C2", (-1.2, 0, 3.7))]
AMIDE = [
    ("N1", (0, 0, 3.0)),
    ("H1", (0, 0, 2.0)),
    ("H2", (0.9, 0, 3.4)),
    ("C1", (-1.2, 0, 3.6)),
    ("O1", (-1.3, 0, 4.8)),
]


@pytest.mark.parametrize(
    ("hydrogens", "ligand", "donors"),
    [
        ([], ETHER, ["receptor"]),
        ([("HE2", (0, 0, 1.0))], ETHER, ["receptor"]),
        ([("HD1", (1.9, 0.3, -2.4))], ETHER, []),
        ([("HE2", (0, 0.9, -0.4))], AMIDE, []),
        ([("HD1", (1.9, 0.3, -2.4))], AMIDE, ["ligand"]),
    ],
    ids=["open", "epsilon gives", "delta does not", "epsilon does not take", "delta takes"],
)
def test_the_hydrogens_of_a_histidine_tell_which_nitrogen_gives_and_which_takes(hydrogens, ligand, donors):
    """ProLIF 2.2.3 finds the same in the complexes of PLIP's tests, with the hydrogens of PDBFixer."""
    table = make_complex(("HIS", [*IMIDAZOLE, *hydrogens]), ligand)
    bonds = table[(table["kind"] == "hydrogen bond") & (table["atom"] == "NE2")]
    assert bonds["donor"].tolist() == donors


@pytest.mark.parametrize(("hydrogens", "donors"), [([], []), ([("HD2", (0, 0, 1.0))], ["receptor"])])
def test_a_protonated_aspartate_gives_its_hydrogen(hydrogens, donors):
    acid = [("CG", (0, 0, -1.3)), ("OD1", (1.1, 0, -1.9)), ("OD2", (0, 0, 0)), ("CB", (-1.3, 0, -2))]
    table = make_complex(("ASP", [*acid, *hydrogens]), ETHER)
    assert table.loc[table["kind"] == "hydrogen bond", "donor"].tolist() == donors


@pytest.mark.parametrize(
    ("element", "length", "roles"),
    [
        ("O", 1.23, (False, True)),
        ("O", 1.43, (True, True)),
        ("N", 1.15, (False, True)),
        ("N", 1.28, (True, True)),
        ("N", 1.33, (True, False)),
        ("N", 1.47, (True, True)),
    ],
)
def test_without_hydrogens_and_bonds_the_length_of_a_bond_tells_donors_and_acceptors(element, length, roles):
    rows = [("C1", "C", 0.0, 0.0, 0.0, 0.0), ("X1", element, length, 0.0, 0.0, 0.0)]
    found = find_roles(Molecule("x", "x.pdb", 0, "pdb", {}, "", rows, ()))
    assert tuple(found.roles[1].tolist()) == roles


@pytest.mark.parametrize(
    ("third", "roles"), [("C", (True, True)), ("S", (False, True)), ("N", (False, True))]
)
def test_of_nitrogens_with_three_neighbours_amines_alone_have_a_hydrogen(third, roles):
    """The nitrogen of a tertiary sulfonamide, such as 5FO of PDB 3SHY, used to be a donor."""
    places = [
        ("N", (0, 0, 0)),
        ("C", (1.38, 0, -0.5)),
        ("C", (-0.69, 1.2, -0.5)),
        (third, (-0.69, -1.2, -0.5)),
    ]
    rows = [(f"X{row}", element, *map(float, place), 0.0) for row, (element, place) in enumerate(places)]
    found = find_roles(Molecule("x", "x.pdb", 0, "pdb", {}, "", rows, ()))
    assert tuple(found.roles[0].tolist()) == roles


def test_of_alternate_locations_one_after_the_other_the_first_is_read():
    residue = make_residue("LIG", [(f"C{n}", (1.4 * n, 0, 0)) for n in range(8)] * 2)
    for place, atom in enumerate(residue):
        atom.altloc = "A" if place < 8 else "B"
    chain, model, structure = gemmi.Chain("L"), gemmi.Model(1), gemmi.Structure()
    chain.add_residue(residue)
    model.add_chain(chain)
    structure.add_model(model)
    found = Structure("two.pdb", "pdb", structure.make_pdb_string())
    assert [molecule.heavy_atoms for molecule in list_ligands(found)] == [8]


@pytest.mark.parametrize(("name", "element"), [("FE2", "Fe"), ("CU1", "Cu"), ("3CO", "Co"), ("3NI", "Ni")])
def test_an_ion_with_its_charge_in_its_name_also_binds(name, element):
    ion = f"HETATM    1 {element.upper()}   {name} A   1       0.000   0.000   0.000  1.00 10.00          {element.upper()}\n"
    rows = [("N1", "N", 2.1, 0.0, 0.0, 0.0), ("C2", "C", 3.5, 0.0, 0.0, 0.0), ("C3", "C", 3.5, 1.5, 0.0, 0.0)]
    molecule = Molecule("x", "x.pdb", 0, "pdb", {}, "", rows, ())
    found = find_interactions(Structure("ion.pdb", "pdb", ion), molecule)
    assert list(zip(found["kind"], found["residue"], found["atom"], strict=True)) == [
        ("metal", name, element.upper())
    ]


def test_an_ion_in_two_alternate_locations_is_an_ion():
    line = "HETATM    {}  ZN {}ZN  A   1       {:.3f}   0.000   0.000  0.50 10.00          ZN\n"
    found = Structure("ion.pdb", "pdb", line.format(1, "A", 0.0) + line.format(2, "B", 0.4))
    rows = [("O1", "O", 0.0, 2.1, 0.0, 0.0), ("C2", "C", 0.0, 3.5, 0.0, 0.0)]
    table = find_interactions(found, Molecule("x", "x.pdb", 0, "pdb", {}, "", rows, ()))
    assert [(one.name, one.atoms, one.kind) for one in found.ligands] == [("ZN", 1, "ion")]
    assert table["kind"].tolist() == ["metal"]
    assert table["distance"].tolist() == pytest.approx([2.1])


def test_deuterium_makes_a_donor_like_hydrogen():
    """As in structures from neutron diffraction."""
    places = [("C1", "C", 0.0, 0.0), ("O1", "O", 1.43, 0.0), ("DO1", "D", 1.75, 0.9)]
    rows = [(name, element, x, y, 0.0, 0.0) for name, element, x, y in places]
    found = find_roles(Molecule("x", "x.pdb", 0, "pdb", {}, "", rows, ()))
    assert tuple(found.roles[1].tolist()) == (True, True)
    assert found.hydrogens[1].tolist() == [[1.75, 0.9, 0.0]]


def test_waters_of_simulations_are_not_ligands_and_form_bridges():
    """Their names differ from those of the PDB."""
    atoms = [("OH2", 0.0), ("H1", 0.6), ("H2", -0.6)]
    lines = [
        f"ATOM      {place}  {name:<4}TIP3W   1      {x:6.3f}   {abs(x):.3f}   0.000  1.00  0.00           {name[0]}\n"
        for place, (name, x) in enumerate(atoms, 1)
    ]
    found = Structure("md.pdb", "pdb", "".join(lines))
    assert found.waters == 1
    assert list_residue_molecules(found) == []
    assert read_pocket(found).water_owners == [("W", "1", "TIP3")]
