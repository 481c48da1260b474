"""A fit is a rotation and a shift; RMSD and TM-score are what their definitions say."""

import gemmi
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from result_archives import DATA, FV

from foldnote.errors import UnreadableFileError
from foldnote.results import Structure, superpose
from foldnote.results.fitting import find_scale, find_tm_score, fit, measure_rmsd

RNG = np.random.default_rng(3)
POINTS = RNG.normal(0, 10, (60, 3))


def turn(points, seed):
    rotation, _ = np.linalg.qr(np.random.default_rng(seed).normal(size=(3, 3)))
    rotation[:, 0] *= np.sign(np.linalg.det(rotation))
    return points @ rotation.T + [5.0, -3.0, 100.0]


def structure(text, name="x.pdb"):
    return Structure(name, "pdb", text)


def rewritten(change):
    parsed = gemmi.read_pdb_string(FV)
    change(parsed)
    return structure(parsed.make_pdb_string())


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10_000))
def test_a_turned_copy_is_brought_back(seed):
    rotation, shift = fit(turn(POINTS, seed), POINTS)

    assert np.allclose(turn(POINTS, seed) @ rotation.T + shift, POINTS, atol=1e-8)
    assert np.linalg.det(rotation) == pytest.approx(1)


def test_a_mirror_image_is_not_fitted_by_a_reflection():
    assert measure_rmsd(POINTS * [-1, 1, 1], POINTS) > 5


def test_the_rmsd_is_gemmis():
    noisy = turn(POINTS + RNG.normal(0, 1, POINTS.shape), 1)
    theirs = gemmi.superpose_positions(
        [gemmi.Position(*p) for p in POINTS], [gemmi.Position(*p) for p in noisy]
    )

    assert measure_rmsd(noisy, POINTS) == pytest.approx(theirs.rmsd, rel=1e-6)


def test_the_tm_score_follows_its_definition_where_the_fit_is_known():
    assert find_scale(100) == pytest.approx(1.24 * 85 ** (1 / 3) - 1.8)
    assert find_tm_score(turn(POINTS, 2), POINTS, 60) == pytest.approx(1)
    assert find_tm_score(turn(POINTS, 2)[:30], POINTS[:30], 60) == pytest.approx(0.5)


def test_a_moved_domain_leaves_the_score_of_the_other():
    moved = POINTS.copy()
    moved[40:] += [400, 0, 0]

    assert find_tm_score(moved, POINTS, 60) == pytest.approx(40 / 60, abs=0.01)


def test_a_structure_lies_on_itself():
    found = superpose(structure(FV), structure(FV))

    assert (found.aligned, found.identity) == (227, 1)
    assert found.rmsd == pytest.approx(0, abs=1e-6)
    assert found.tm_score == pytest.approx(1)
    assert np.allclose(found.matrix, np.eye(4), atol=1e-6)


def test_missing_residues_are_left_out_and_lower_the_score():
    def cut(parsed):
        for _ in range(20):
            del parsed[0]["H"][0]

    found = superpose(structure(FV), rewritten(cut))

    assert found.aligned == 207
    assert found.tm_score == pytest.approx(207 / 227, abs=1e-3)


def test_renamed_chains_are_found_by_sequence():
    def rename(parsed):
        parsed[0]["H"].name = "X"
        parsed[0]["L"].name = "H"

    pairs = superpose(structure(FV), rewritten(rename)).pairs

    assert set(zip(pairs["chain"], pairs["mobile_chain"], strict=True)) == {("H", "X"), ("L", "H")}


def test_equal_chains_are_paired_in_the_way_that_fits_best():
    def double(parsed, *, is_swapped):
        parsed[0].remove_chain("L")
        copy = parsed[0]["H"].clone()
        copy.name = "B"
        for residue in copy:
            for atom in residue:
                atom.pos += gemmi.Position(50, 0, 0)
        parsed[0].add_chain(copy)
        if is_swapped:
            parsed[0]["H"].name, parsed[0]["B"].name = "Q", "H"

    fixed = rewritten(lambda parsed: double(parsed, is_swapped=False))
    mobile = rewritten(lambda parsed: double(parsed, is_swapped=True))

    assert superpose(fixed, mobile).rmsd == pytest.approx(0, abs=1e-3)


def test_a_whole_structure_is_moved():
    two = Structure.open(DATA / "trp_cage_two_models.bcif")
    found = superpose(two, two)

    assert len(found.move_structure(two)) == 2


def test_nucleic_acids_are_fitted_and_have_no_tm_score():
    dna = Structure.open(DATA / "dna_waters.pdb")

    assert superpose(dna, dna).tm_score is None
    assert superpose(dna, dna).aligned == 6


def test_what_cannot_be_paired_is_told():
    with pytest.raises(UnreadableFileError, match="cannot be laid over"):
        superpose(structure(FV), Structure.open(DATA / "dna_waters.pdb"))


def test_atoms_without_a_place_are_left_out():
    document = gemmi.read_pdb_string(FV).make_mmcif_document()
    column = document[0].find_loop("_atom_site.Cartn_x")
    column[0], column[1] = "?", "1e300"

    assert superpose(structure(FV), Structure("x.cif", "mmcif", document.as_string())).aligned == 225
