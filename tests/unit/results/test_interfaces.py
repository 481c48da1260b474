"""Interfaces of chains: areas compared with biotite and FreeSASA, bonds and contacts with a simple calculation."""

from pathlib import Path

import gemmi
import numpy as np
import pandas as pd
import pytest

from foldnote.results import Structure
from foldnote.results.structure.interfaces.surface_area import AtomName, find_radii, measure_areas

COMPLEX = Path(__file__).parent / "data" / "complexes" / "5zng.pdb.gz"
CHARGED = {"ASP": ("OD1", "OD2"), "GLU": ("OE1", "OE2"), "LYS": ("NZ",), "ARG": ("NE", "NH1", "NH2")}


@pytest.fixture(scope="module")
def complex_():
    return Structure.open(COMPLEX)


@pytest.fixture(scope="module")
def distances(complex_):
    """Return the atoms of both chains, and all distances between them."""
    atoms = complex_.to_frame()
    first, second = (atoms[atoms["chain"] == name].reset_index(drop=True) for name in ("A", "C"))
    places = [part[["x", "y", "z"]].to_numpy() for part in (first, second)]
    return first, second, np.linalg.norm(places[0][:, None] - places[1][None], axis=2)


def measure_with_biotite(structure, *chains):
    """Return areas by Shrake and Rupley with 960 points per atom, by residue number."""
    biotite = pytest.importorskip("biotite.structure")
    atoms = structure.to_biotite()
    atoms = atoms[np.isin(atoms.chain_id, chains)]
    areas = biotite.sasa(atoms, point_number=960, vdw_radii="ProtOr")
    own = atoms.chain_id == chains[0]
    return {
        str(number): areas[own & (atoms.res_id == number)].sum() for number in np.unique(atoms.res_id[own])
    }


def test_the_buried_area_is_that_of_freesasa(complex_):
    (pair,) = complex_.interfaces.itertuples(index=False)

    # freesasa 2.2.1, Lee and Richards with 100 slices: 988.92 Å²; Shrake and Rupley with 960 points: 988.39 Å²
    assert pair.buried_area == pytest.approx(988.92, rel=2e-3)
    assert pair.buried_area == pytest.approx(pair.chain_buried_area + pair.other_buried_area)


def test_each_residue_loses_what_biotite_says(complex_):
    alone, beside = (measure_with_biotite(complex_, *chains) for chains in ("A", "AC"))
    rows = complex_.interface_residues.query("chain == 'A'")

    assert set(rows["number"]) >= {n for n in alone if alone[n] - beside[n] > 1.2}
    for row in rows.itertuples():
        assert row.area == pytest.approx(alone[row.number], abs=2.5)
        assert row.buried_area == pytest.approx(alone[row.number] - beside[row.number], abs=2.5)
        assert row.buried_fraction == pytest.approx(row.buried_area / row.area)


def test_residues_are_in_contact_up_to_five_angstrom(complex_, distances):
    first, second, apart = distances
    near = np.argwhere(apart <= 5.0)
    pairs = {(first["number"][i], second["number"][j]) for i, j in near}
    (pair,) = complex_.interfaces.itertuples(index=False)
    rows = complex_.interface_residues

    assert pair.contacts == len(pairs)
    assert (pair.residues, pair.other_residues) == tuple(len(set(side)) for side in zip(*pairs, strict=True))
    for row in rows[rows["chain"] == "A"].itertuples():
        assert row.contacts == sum(number == row.number for number, _ in pairs)
        closest = apart[first["number"] == row.number].min()
        assert row.distance == pytest.approx(closest, abs=1e-6) if row.contacts else np.isnan(row.distance)


def test_hydrogen_bonds_join_donors_and_acceptors_within_their_distance(complex_, distances):
    first, second, apart = distances
    bonds = complex_.interface_bonds.query("kind == 'hydrogen bond'")
    polar = [part["element"].isin(["N", "O"]).to_numpy() for part in (first, second)]
    possible = {
        (first["number"][i], first["atom"][i], second["number"][j], second["atom"][j])
        for i, j in np.argwhere((apart <= 3.5) & polar[0][:, None] & polar[1][None])
    }
    found = set(zip(bonds["number"], bonds["atom"], bonds["other_number"], bonds["other_atom"], strict=True))

    assert ("1028", "N", "39", "O") in found, "a bond between two strands"
    assert found <= possible
    assert all({atom, other} != {"O"} for _, atom, _, other in found), "two carbonyls share no hydrogen"
    ends = bonds[["x", "y", "z"]].to_numpy() - bonds[["other_x", "other_y", "other_z"]].to_numpy()
    assert np.linalg.norm(ends, axis=1) == pytest.approx(bonds["distance"].to_numpy(), abs=1e-6)
    assert complex_.interfaces["hydrogen_bonds"].tolist() == [len(bonds)]


def test_an_angle_below_120_degrees_at_the_hydrogen_is_not_a_hydrogen_bond(complex_):
    bond = complex_.interface_bonds.query("number == '1028' and atom == 'N'").iloc[0]
    donor = bond[["x", "y", "z"]].to_numpy(float)
    ray = (bond[["other_x", "other_y", "other_z"]].to_numpy(float) - donor) / bond["distance"]
    across = np.cross(ray, [0.0, 0.0, 1.0])
    for place, expected in ((ray, 180.0), (across / np.linalg.norm(across), None)):
        parsed = complex_.to_gemmi()
        hydrogen = gemmi.Atom()
        hydrogen.name, hydrogen.element = "H", gemmi.Element("H")
        hydrogen.pos = gemmi.Position(*(donor + place))
        parsed[0]["A"]["1028"][0].add_atom(hydrogen)
        changed = Structure("changed.pdb", "pdb", parsed.make_pdb_string())
        angles = changed.interface_bonds.query("number == '1028' and atom == 'N'")["angle"].tolist()
        assert angles == ([] if expected is None else pytest.approx([expected], abs=0.5))


def test_a_salt_bridge_joins_opposite_charges_within_four_angstrom(complex_):
    assert complex_.interfaces["salt_bridges"].tolist() == [0]
    parsed = complex_.to_gemmi()
    chains = parsed[0]
    lysine = next(residue for residue in chains["C"] if residue.name == "LYS")
    acid = next(residue for residue in chains["A"] if residue.name in ("ASP", "GLU"))
    oxygen = acid.find_atom(CHARGED[acid.name][0], "*")
    lysine.find_atom("NZ", "*").pos = oxygen.pos + gemmi.Position(3.9, 0, 0)
    moved = Structure("moved.pdb", "pdb", parsed.make_pdb_string())
    bridges = moved.interface_bonds.query("kind == 'salt bridge'")

    assert (str(acid.seqid), str(lysine.seqid)) in set(
        zip(bridges["number"], bridges["other_number"], strict=True)
    )
    assert bridges["distance"].max() <= 4.0
    assert moved.interfaces["salt_bridges"].tolist() == [
        len(bridges[["number", "other_number"]].drop_duplicates())
    ]


def test_a_single_chain_has_no_interface():
    alone = Structure.open(COMPLEX.parents[1] / "c143_h3.pdb")

    assert alone.interfaces.empty
    assert alone.interface_residues["buried_area"].dtype == "float64"
    assert alone.interface_bonds.empty


def test_atoms_far_away_cost_no_time_and_no_accuracy():
    """FreeSASA alone allocates memory for the bounding box of all atoms, here a cubic centimetre."""
    pair = np.array([[0.0, 0, 0], [1.5, 0, 0]])
    alone = measure_areas(pair, np.array([1.8, 1.9]))
    points = np.concatenate(
        [pair, [[3e7, -5e7, 9e7]], pair + np.array([1e8, 7, 0]), pair + np.array([0, 9, 0])]
    )
    areas = measure_areas(points, np.array([1.8, 1.9, 1.7, 1.8, 1.9, 1.8, 1.9]))
    assert areas == pytest.approx([*alone, 4 * np.pi * 3.1**2, *alone, *alone], rel=1e-6)


def test_residues_that_freesasa_does_not_know_leave_the_radii_of_the_others():
    """Such as UNK: FreeSASA returns no radius at all if one atom of a request is unknown to it."""
    known = [AtomName("VAL", "N", "N"), AtomName("MET", "SD", "S")]
    unknown = [AtomName("UNK", "N", "N"), AtomName("UNK", "C1", "C")]

    radii = find_radii([known[0], *unknown, known[1]])
    assert radii.tolist() == pytest.approx([1.64, 1.55, 1.7, 1.77])


def test_a_complex_with_an_unknown_residue_has_its_interface(complex_, tmp_path):
    written = gemmi.read_structure(str(COMPLEX))
    written[0]["A"][0].name = "UNK"
    path = tmp_path / "unknown.pdb"
    path.write_text(written.make_pdb_string())
    area = Structure.open(path).interfaces["buried_area"]
    assert area.tolist() == pytest.approx(complex_.interfaces["buried_area"].tolist(), rel=0.01)


def test_alternate_locations_one_after_the_other_count_once(complex_, tmp_path):
    written = gemmi.read_structure(str(COMPLEX))
    for each in written[0].all():
        each.atom.altloc = "A"
    for residue in (residue for chain in written[0] for residue in chain):
        for atom in list(residue):
            other = atom.clone()
            other.altloc, other.pos = "B", gemmi.Position(atom.pos.x + 0.4, atom.pos.y, atom.pos.z)
            residue.add_atom(other)
    path = tmp_path / "two.pdb"
    path.write_text(written.make_pdb_string())
    pd.testing.assert_frame_equal(Structure.open(path).interfaces, complex_.interfaces)


def test_atoms_at_one_place_have_the_area_of_the_largest():
    """As in a file that contains a chain twice; the areas used to be NaN."""
    alone = measure_areas(np.array([[0.0, 0, 0], [1.5, 0, 0]]), np.array([1.8, 1.9]))
    points = np.array([[0.0, 0, 0], [1.5, 0, 0], [0.0, 0, 0], [0.0, 0, 0]])
    areas = measure_areas(points, np.array([1.6, 1.9, 1.8, 1.8]))
    assert areas.tolist() == pytest.approx([0.0, alone[1], alone[0], 0.0])


def test_hydrogens_at_the_end_of_a_file_belong_to_their_residues(complex_, tmp_path):
    """Open Babel appends them; they used to be separate residues, which doubled the sequence."""
    lines = [line for line in complex_.text.splitlines() if line.startswith("ATOM")]
    donors = [line for line in lines if line[12:16] == " N  "]
    hydrogens = [
        f"ATOM   {9000 + row:4}  H   {line[17:30]}{float(line[30:38]) + 1.0:8.3f}{line[38:54]}".ljust(77)
        + "H"
        for row, line in enumerate(donors)
    ]
    path = tmp_path / "babel.pdb"
    path.write_text("\n".join([*lines, "TER", *hydrogens, "END", ""]))
    found = Structure.open(path)

    assert [chain.sequence for chain in found.chains] == [chain.sequence for chain in complex_.chains]
    assert found.secondary_letters == complex_.secondary_letters
    assert (found.to_frame()["element"] == "H").sum() == len(hydrogens) > 100
    bonds = found.interface_bonds.query("kind == 'hydrogen bond' and atom == 'N'")
    assert (bonds["angle"] >= 120).all(), "none is missing"
