"""Geometry outliers agree with dihedral angles and distances, and good structures have none."""

from pathlib import Path

import gemmi
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import foldnote as fn
from foldnote.results import Structure, make_geometry_table, open_result
from foldnote.results.structure.geometry import find_outliers
from foldnote.viewers import compose_result

DATA = Path(__file__).parent / "data"
LYSOZYME = (Path(__file__).parents[2] / "engines" / "data" / "t4-lysozyme-l99a.pdb").read_text()
BACKBONE = ("N", "CA", "C", "O")


def read() -> gemmi.Structure:
    return Structure("model.pdb", "pdb", LYSOZYME).to_gemmi()


def twist(structure: gemmi.Structure, number: int, omega: float) -> None:
    """Rotate everything after the peptide bond before a residue until its ω is ``omega`` degrees."""
    chain = structure[0][0]
    residues = list(chain)
    place = next(i for i, residue in enumerate(residues) if residue.seqid.num == number)
    before, after = residues[place - 1], residues[place]
    ends = [before["CA"][0].pos, before["C"][0].pos, after["N"][0].pos, after["CA"][0].pos]
    turn = np.radians(omega) - gemmi.calculate_dihedral(*ends)
    origin, axis = np.array(ends[2].tolist()), np.array((ends[2] - ends[1]).tolist())
    axis /= np.linalg.norm(axis)
    for residue in residues[place:]:
        for atom in residue:
            if residue is not after or atom.name not in ("N", "H"):
                arm = np.array(atom.pos.tolist()) - origin
                turned = (
                    arm * np.cos(turn)
                    + np.cross(axis, arm) * np.sin(turn)
                    + axis * (axis @ arm) * (1 - np.cos(turn))
                )
                atom.pos = gemmi.Position(*(turned + origin).tolist())


def list_kinds(structure: gemmi.Structure) -> dict[str, int]:
    return dict(find_outliers(structure)["kind"].value_counts())


def test_a_good_crystal_structure_has_no_outliers():
    structure = Structure("lysozyme.pdb", "pdb", LYSOZYME)

    assert len(structure.chains[0]) == 162
    assert structure.geometry.empty


def test_a_strained_peptide_bond_is_named_with_its_angle():
    structure = read()
    twist(structure, 60, 101.5)

    found = find_outliers(structure).query("kind == 'twisted peptide'")

    assert found[["chain", "number", "other_number"]].to_numpy().tolist() == [["A", "60", "59"]]
    assert found["value"].item() == pytest.approx(101.5, abs=0.1)
    assert found["unit"].item() == "°"


@pytest.mark.parametrize(
    ("number", "omega", "kind"),
    [
        (60, 0.0, "cis peptide"), (60, -29.0, "cis peptide"), (60, 31.0, "twisted peptide"), (60, -151.0, None),
        (60, -149.0, "twisted peptide"), (86, 5.0, None), (86, 45.0, "twisted peptide"),
    ],
)  # fmt: skip
def test_the_limits_of_omega_and_that_proline_may_be_cis(number, omega, kind):
    structure = read()
    assert structure[0][0][85].name == "PRO"
    twist(structure, number, omega)

    peptides = [each for each in list_kinds(structure) if each.endswith("peptide")]

    assert peptides == ([kind] if kind else [])


def test_mirrored_residues_are_reported_except_for_d_amino_acids():
    structure = read()
    for residue in structure[0][0]:
        for atom in residue:
            atom.pos = gemmi.Position(-atom.pos.x, atom.pos.y, atom.pos.z)
    chiral = sum(residue.find_atom("CB", "*") is not None for residue in structure[0][0].get_polymer())
    assert list_kinds(structure) == {"wrong chirality": chiral}

    for residue in structure[0][0].get_polymer():
        residue.name = "DAL"

    assert list_kinds(structure) == {}


def test_the_chirality_of_residues_with_unknown_names_is_not_judged():
    """Such as 28J, D-alloisoleucine, and ZAE, N-methyl-D-phenylalanine, of teixobactin."""
    structure = read()
    for residue in structure[0][0].get_polymer():
        residue.name = "28J"
        for atom in residue:
            atom.pos = gemmi.Position(-atom.pos.x, atom.pos.y, atom.pos.z)

    assert list_kinds(structure) == {}


def test_a_side_chain_pushed_into_another_clashes():
    structure = read()
    chain = structure[0][0]
    target = chain[9]["CB"][0].pos
    chain[99]["CA"][0].pos = gemmi.Position(target.x + 1.4, target.y, target.z)

    clashes = find_outliers(structure).query("kind == 'clash'")

    ends = {str(chain[9].seqid), str(chain[99].seqid)}
    (own,) = [row for row in clashes.itertuples() if {row.number, row.other_number} == ends]
    assert own.value <= 1.4
    assert (clashes["unit"] == "Å").all()


@pytest.mark.parametrize("missing", [{"C"}, {"N"}, {"C", "O"}, {"N", "C", "O"}])
def test_neighbours_without_the_atoms_of_their_peptide_bond_are_not_clashes(missing):
    structure = read()
    for residue in structure[0][0]:
        for name in missing:
            if residue.seqid.num == 50:
                residue.remove_atom(name, "\0")
    assert list_kinds(structure) == list_kinds(read())


def test_cis_bonds_in_a_file_of_calpha_atoms_are_not_clashes():
    """The Cα atoms of a cis peptide bond are 2.8 to 3.0 Å apart, closer than the radii of unbonded carbon atoms."""
    structure = gemmi.Structure()
    structure.add_model(gemmi.Model(1))
    structure[0].add_chain(gemmi.Chain("A"))
    for number, x in enumerate([0.0, 3.8, 6.6, 10.4], 1):
        residue, atom = gemmi.Residue(), gemmi.Atom()
        residue.name, residue.seqid = "PRO" if number == 3 else "ALA", gemmi.SeqId(str(number))
        atom.name, atom.element, atom.pos = "CA", gemmi.Element("C"), gemmi.Position(x, 0, 0)
        residue.add_atom(atom)
        structure[0][0].add_residue(residue)
    structure.setup_entities()
    assert find_outliers(structure).empty


def test_disulfides_and_hydrogen_bonds_are_not_clashes():
    lines = ["ATOM      1  {:<3} {} A{:4d}    {:8.3f}{:8.3f}{:8.3f}  1.00  0.00           {}"]
    atoms = [
        ("CB", "CYS", 1, 0.0, 0.0, 0.0, "C"), ("SG", "CYS", 1, 1.8, 0.0, 0.0, "S"),
        ("SG", "CYS", 9, 2.2, 2.0, 0.0, "S"), ("CB", "CYS", 9, 4.0, 2.0, 0.0, "C"),
        ("O", "GLY", 20, 20.0, 0.0, 0.0, "O"), ("N", "GLY", 30, 22.6, 0.0, 0.0, "N"),
        ("CA", "GLY", 40, 40.0, 0.0, 0.0, "C"), ("CA", "GLY", 50, 42.9, 0.0, 0.0, "C"),
    ]  # fmt: skip
    text = "\n".join(lines[0].format(*atom) for atom in atoms) + "\n"

    found = Structure("x.pdb", "pdb", text).geometry

    assert found[["number", "other_number", "value"]].to_numpy().tolist() == [["40", "50", 2.9]]


def test_a_real_model_with_twisted_bonds_is_reported_once_with_residues_and_limits():
    result = open_result(DATA / "c143_h3.pdb")

    told = compose_result(result).notes

    assert [note for note in told if "110 (ω -143.7°)" in note and "PRO 111D (ω 63.3°)" in note] == [told[0]]
    assert told[0].startswith("Check the geometry of c143_h3.pdb: 4 twisted peptide bonds: H GLU 110")
    assert "ω 30° from planar" in told[1]
    page = "".join(bundle["text/html"] for bundle in result.bundles())
    assert page.count("4 twisted peptide bonds") == 1
    assert set(make_geometry_table(result.models)["model"]) == {"c143_h3.pdb"}


def test_experiments_and_good_models_are_not_reported():
    strained = "EXPDTA    X-RAY DIFFRACTION\n" + (DATA / "c143_h3.pdb").read_text()

    assert Structure("x.pdb", "pdb", strained).is_experimental
    assert not Structure("x.pdb", "pdb", strained).geometry.empty
    assert not [
        note for note in compose_result(open_result(DATA / "trastuzumab_fv_ca.pdb")).notes if "ω" in note
    ]


def test_an_experiment_in_a_result_gets_no_note(tmp_path):
    place = tmp_path / "x.pdb"
    place.write_text("EXPDTA    X-RAY DIFFRACTION\n" + (DATA / "c143_h3.pdb").read_text())

    assert not [note for note in compose_result(fn.open_result(place)).notes if "geometry" in note]


@pytest.mark.parametrize("place", ["9999.999", "     nan", "     inf"])
def test_atoms_that_are_implausibly_far_apart_take_no_memory(place):
    line = "ATOM      1  {}   ALA A{:4d}    {}{}{}"
    text = "\n".join([line.format("CA", 1, *["   0.000"] * 3), line.format("CA", 9, *[place] * 3)])
    structure = Structure("x.pdb", "pdb", text + "\n")

    assert structure.geometry.empty


@pytest.mark.filterwarnings("error")
def test_atoms_at_infinity_are_left_out_without_a_warning():
    line = "ATOM      1  CA  ALA A{:4d}         inf   0.000   0.000"
    structure = Structure("x.pdb", "pdb", f"{line.format(1)}\n{line.format(9)}\n")

    assert structure.geometry.empty


PLACES = st.one_of(st.floats(-20, 20), st.sampled_from([float("nan"), float("inf"), 9999.999, 0.0]))
ATOMS = st.tuples(
    st.sampled_from([*BACKBONE, "CB", "SG"]), st.sampled_from(["ALA", "GLY", "CYS", "PRO", "DAL", "A", "HOH", "LIG"]),
    st.integers(1, 8), PLACES, PLACES, PLACES,
)  # fmt: skip


@settings(max_examples=150, deadline=None)
@given(st.lists(ATOMS, min_size=1, max_size=40))
def test_any_atoms_are_judged_and_no_clash_is_further_than_radii_reach(atoms):
    lines = [
        f"ATOM      1  {name:<3} {residue:>3} A{number:4d}    {x:8.3f}{y:8.3f}{z:8.3f}"[:54]
        for name, residue, number, x, y, z in atoms
    ]

    found = Structure("any.pdb", "pdb", "\n".join(lines) + "\n").geometry

    assert np.isfinite(found["value"]).all()
    assert (found.query("kind == 'clash'")["value"] <= 3.2).all()
    assert (found.query("kind == 'cis peptide'")["value"].abs() <= 30).all()
