"""Hydrogen bonds bridged by a water: the flap water of HIV-1 protease, and each limit."""

import numpy as np
import pytest
from result_archives import DATA

from foldnote.results import Structure, find_interactions, list_ligands
from foldnote.results.docking.water_bridges import Partners, find_water_bridges

DONOR, ACCEPTOR, EITHER = (True, False), (False, True), (True, True)


def at(*points, role=EITHER, hydrogens=None):
    """Return atoms of one side, all with one role."""
    rows = {0: np.array(hydrogens, float)} if hydrogens else {}
    return Partners(np.array(points, float), np.array([role] * len(points)), rows)


def turn(degrees, distance=2.9):
    """Return a point at this angle from the x axis, around a water at the origin."""
    angle = np.radians(degrees)
    return (distance * np.cos(angle), distance * np.sin(angle), 0.0)


WATER = np.zeros((1, 3))


@pytest.fixture(scope="module")
def table():
    structure = Structure.open(DATA / "complexes" / "1hpx_pocket.pdb.gz")
    found = find_interactions(structure, list_ligands(structure)[0])
    return found[found["kind"] == "water bridge"]


def test_the_flap_water_of_hiv_protease_bridges_both_isoleucines_50(table):
    flap = table[table["water"] == "HOH B 301"]
    assert set(zip(flap["chain"], flap["residue"], flap["number"], flap["atom"], strict=True)) == {
        ("A", "ILE", "50", "N"),
        ("B", "ILE", "50", "N"),
    }
    assert set(flap["donor"]) == {"receptor"}
    assert flap["distance"].between(2.8, 3.1).all()
    assert flap["ligand_distance"].tolist() == pytest.approx([2.94, 2.94], abs=0.01)


def test_the_bridges_that_plip_finds_are_among_them(table):
    """PLIP 3.0.1, with its limits of distance and angle set to those of direct hydrogen bonds here."""
    found = set(zip(table["water"], table["chain"], table["number"], strict=True))
    assert found >= {("HOH B 301", "A", "50"), ("HOH B 608", "A", "27")}


def test_other_kinds_have_no_water():
    structure = Structure.open(DATA / "complexes" / "1hpx_pocket.pdb.gz")
    found = find_interactions(structure, list_ligands(structure)[0])
    others = found[found["kind"] != "water bridge"]
    assert others[["water", "ligand_distance", "water_x"]].isna().all(axis=None)
    assert (found["kind"] == "hydrogen bond").any()


@pytest.mark.parametrize(
    ("degrees", "distance", "is_found"),
    [
        *[(110, 2.9, True), (72, 2.9, True), (70, 2.9, False), (139, 2.9, True), (141, 2.9, False)],
        *[(110, 3.49, True), (110, 3.51, False), (110, 2.51, True), (110, 2.49, False)],
    ],
)
def test_angle_and_distances_have_limits(degrees, distance, is_found):
    found = find_water_bridges(WATER, at(turn(0)), at(turn(degrees, distance)))
    assert bool(found) == is_found


@pytest.mark.parametrize(
    ("receptor", "ligand", "donor"),
    [
        (DONOR, ACCEPTOR, "receptor"),
        (ACCEPTOR, DONOR, "ligand"),
        (ACCEPTOR, ACCEPTOR, "water"),
        (DONOR, DONOR, "both"),
        (EITHER, EITHER, "either"),
    ],
)
def test_the_donor_is_reported(receptor, ligand, donor):
    (bridge,) = find_water_bridges(WATER, at(turn(0), role=receptor), at(turn(110), role=ligand))
    assert bridge.donor == donor


def test_an_atom_without_a_role_is_not_a_partner():
    assert not find_water_bridges(WATER, at(turn(0), role=(False, False)), at(turn(110)))


@pytest.mark.parametrize(("hydrogen", "is_found"), [((1.9, 0, 0), True), ((3.9, 0, 0), False)])
def test_a_hydrogen_of_the_donor_points_to_the_water(hydrogen, is_found):
    donor = at(turn(0), role=DONOR, hydrogens=[hydrogen])
    assert bool(find_water_bridges(WATER, donor, at(turn(110), role=ACCEPTOR))) == is_found


def test_nothing_is_found_without_waters():
    assert find_water_bridges(np.zeros((0, 3)), at(turn(0)), at(turn(110))) == []
