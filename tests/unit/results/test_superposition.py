"""A fit is a rotation and a translation; RMSD and TM-score follow their definitions."""

from itertools import combinations

import gemmi
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from result_archives import DATA, FV, open_fold

from foldnote.errors import ArgumentError, UnreadableFileError
from foldnote.results import Structure, superpose
from foldnote.results.comparison.fitting import find_scale, find_tm_score, fit, measure_rmsd

TM_ALIGN_SAME_PAIRS = [
    ("1hmlA", "2nwdX", "sequence", 122, 0.8886),
    ("3kcsA", "6oa8A", "sequence", 209, 0.8050),
    ("1p4kA", "4osxA", "sequence", 275, 0.8019),
    ("4akeA", "1akeA", "residue numbers", 214, 0.6841),
    ("6y1l_imgt", "8ee8_imgt", "residue numbers", 224, 0.9016),
    ("6y1l_imgt", "c143_imgt", "residue numbers", 224, 0.9373),
    ("1ncb_kabat", "1igy_kabat", "residue numbers", 220, 0.9121),
]
"""TM-align 20190822 with option -I; several chains as one. benchmarks/superposition.py compares more pairs."""
TM_ALIGN = [
    ("1hmlA", "2nwdX", (0.913, 0.868)),
    ("1akiA", "3lzmA", (0.442, 0.370)),
    ("3kcsA", "6oa8A", (0.929, 0.861)),
    ("3kcsA", "1gl4A", (0.829, 0.665)),
    ("3lsjA", "3rd3A", (0.691, 0.746)),
    ("1gl4B", "1ncbL", (0.814, 0.369)),
    ("1ncb_kabat", "1igy_kabat", (0.918, 0.945)),
]
"""TM-align 20190822, normalized by the first and by the second structure."""
TM_ALIGN_PEPTIDES = [
    ("1gl4B", 56, "1ncbL", 92, 3, 0.5827),
    ("3lzmA", 55, "1ncbL", 13, 4, 0.5012),
    ("1akiA", 58, "1gl4B", 41, 5, 0.3583),
    ("4akeA", 192, "1gl4B", 37, 6, 0.4995),
    ("1ncbL", 27, "1akiA", 91, 7, 0.4774),
    ("3lzmA", 118, "1akeA", 56, 8, 0.3649),
    ("1gl4B", 41, "1akeA", 35, 9, 0.3111),
    ("3lzmA", 66, "1ncbL", 111, 10, 0.2951),
    ("1ncbL", 157, "4akeA", 114, 12, 0.2408),
    ("4akeA", 97, "1akeA", 64, 15, 0.1892),
    ("3lzmA", 1, "4akeA", 102, 20, 0.1514),
    ("1ncbL", 20, "4akeA", 154, 30, 0.1375),
]
"""Peptides of folds: the index of the first residue in each, the number of residues, and the TM-score of tmtools
0.3.0 (TM-align) for their pairs in order. The worst of 6,000 for a search from long fragments alone."""

RNG = np.random.default_rng(3)
POINTS = RNG.normal(0, 10, (60, 3))


def turn(points, seed):
    rotation, _ = np.linalg.qr(np.random.default_rng(seed).normal(size=(3, 3)))
    rotation[:, 0] *= np.sign(np.linalg.det(rotation))
    return points @ rotation.T + [5.0, -3.0, 100.0]


def structure(text, name="x.pdb"):
    return Structure(name, "pdb", text)


def read_peptide(name, first, length):
    residues = [residue for chain in open_fold(name).to_gemmi()[0] for residue in chain]
    atoms = [residue.sole_atom("CA") for residue in residues if residue.find_atom("CA", "*")]
    return np.array([atom.pos.tolist() for atom in atoms[first : first + length]])


def score_subsets(points, targets, length):
    """Return the highest TM-score of the least-squares fits of three pairs or more, computed by gemmi."""
    size, best = len(points), 0.0
    here, there = [[gemmi.Position(*each) for each in side] for side in (points, targets)]
    for chosen in (each for many in range(3, size + 1) for each in combinations(range(size), many)):
        found = gemmi.superpose_positions([there[i] for i in chosen], [here[i] for i in chosen])
        moved = [gemmi.Position(*found.transform.apply(each).tolist()) for each in here]
        apart = [one.dist(other) / find_scale(length) for one, other in zip(moved, there, strict=True)]
        best = max(best, sum(1 / (1 + each**2) for each in apart) / length)
    return best


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


def test_points_on_a_line_are_superposed():
    line = POINTS * [1, 0, 0]

    assert measure_rmsd(turn(line, 3), line) == pytest.approx(0, abs=1e-9)


def test_the_tm_score_follows_its_definition_where_the_fit_is_known():
    assert find_scale(100) == pytest.approx(1.24 * 85 ** (1 / 3) - 1.8)
    assert find_tm_score(turn(POINTS, 2), POINTS, 60) == pytest.approx(1)
    assert find_tm_score(turn(POINTS, 2)[:30], POINTS[:30], 60) == pytest.approx(0.5)


def test_a_moved_domain_leaves_the_score_of_the_other():
    moved = POINTS.copy()
    moved[40:] += [400, 0, 0]

    assert find_tm_score(moved, POINTS, 60) == pytest.approx(40 / 60, abs=0.01)


@pytest.mark.parametrize(("fixed", "first", "mobile", "second", "length", "score"), TM_ALIGN_PEPTIDES)
def test_the_tm_score_of_a_peptide_is_not_below_that_of_tm_align(fixed, first, mobile, second, length, score):
    points, targets = read_peptide(mobile, second, length), read_peptide(fixed, first, length)

    assert find_tm_score(points, targets, length) >= score - 0.002


@settings(max_examples=20, deadline=None)
@given(st.integers(3, 7), st.integers(0, 150), st.integers(0, 150), st.integers(0, 4))
def test_no_fit_of_some_pairs_scores_higher(length, first, second, missing):
    points, targets = read_peptide("3lzmA", first, length), read_peptide("1akeA", second, length)
    found = find_tm_score(points, targets, length + missing)

    assert score_subsets(points, targets, length + missing) - 0.002 <= found <= length / (length + missing)


def test_a_structure_superposes_exactly_on_itself():
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


def test_unknown_residues_are_paired_and_identical_with_none():
    def forget(parsed):
        for residue in list(parsed[0]["H"])[:10]:
            residue.name = "UNK"

    found = superpose(rewritten(forget), rewritten(forget))

    assert (found.aligned, found.is_identical.sum()) == (227, 217)
    assert found.identity == pytest.approx(217 / 227)


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


def test_protein_and_dna_cannot_be_superposed():
    with pytest.raises(UnreadableFileError, match=r"dna_waters\.pdb cannot be superposed on .* same kind"):
        superpose(structure(FV), Structure.open(DATA / "dna_waters.pdb"))


def test_unrelated_chains_are_refused_and_the_way_on_is_named():
    with pytest.raises(UnreadableFileError, match=r"not similar enough.*pairing='structure'"):
        superpose(open_fold("1akiA"), open_fold("3lzmA"))


def test_an_unknown_pairing_is_refused_with_the_known_ones():
    with pytest.raises(ArgumentError, match="'auto', 'numbers', 'sequence', 'structure'"):
        superpose(structure(FV), structure(FV), pairing="shape")


@pytest.mark.parametrize(("fixed", "mobile", "pairing", "pairs", "score"), TM_ALIGN_SAME_PAIRS)
def test_the_tm_score_is_that_of_tm_align_for_the_same_pairs(fixed, mobile, pairing, pairs, score):
    found = superpose(open_fold(fixed), open_fold(mobile))

    assert (found.pairing, found.aligned) == (pairing, pairs)
    assert found.tm_score == pytest.approx(score, abs=0.002)


@pytest.mark.parametrize(("fixed", "mobile", "scores"), TM_ALIGN)
def test_a_structural_alignment_scores_as_tm_align_does(fixed, mobile, scores):
    found = superpose(open_fold(fixed), open_fold(mobile), pairing="structure")

    assert found.pairing == "structure"
    assert (found.tm_score, found.mobile_tm_score) == pytest.approx(scores, abs=0.01)


def test_the_coverage_is_the_share_of_each_structure():
    found = superpose(open_fold("1hmlA"), open_fold("2nwdX"))

    assert (found.coverage, found.mobile_coverage) == pytest.approx((122 / 123, 122 / 130))
    assert "122 pairs by sequence" in repr(found)


def test_unrelated_chains_of_a_complex_are_left_alone():
    def add_lysozyme(parsed):
        parsed[0].add_chain(open_fold("3lzmA").to_gemmi()[0]["A"])

    found = superpose(rewritten(add_lysozyme), structure(FV))

    assert set(found.pairs["chain"]) == {"H", "L"}
    assert found.coverage == pytest.approx(227 / (227 + 164))


def test_atoms_without_coordinates_are_left_out():
    document = gemmi.read_pdb_string(FV).make_mmcif_document()
    column = document[0].find_loop("_atom_site.Cartn_x")
    column[0], column[1] = "?", "1e300"

    assert superpose(structure(FV), Structure("x.cif", "mmcif", document.as_string())).aligned == 225


@pytest.mark.parametrize("names", ["ABC", "CAB"])
def test_copies_that_lack_different_residues_are_all_paired(names):
    """Each lacks 20 of about 120 residues: the sequences alone would not show that all three are one molecule."""
    heavy = gemmi.read_pdb_string(FV)[0]["H"]
    whole, parts = gemmi.Structure(), gemmi.Structure()
    for structure, lacking in ((whole, [(), (), ()]), (parts, [range(20), range(50, 70), range(-20, 0)])):
        structure.add_model(gemmi.Model(1))
        for place, left_out in enumerate(lacking):
            chain = heavy.clone()
            chain.name = names[place] if structure is parts else "ABC"[place]
            shift = gemmi.Position(60 * np.cos(2 * place), 60 * np.sin(2 * place), 7 * place)
            for residue in chain:
                for atom in residue:
                    atom.pos += shift
            for index in sorted((index % len(chain) for index in left_out), reverse=True):
                del chain[index]
            structure[0].add_chain(chain)

    first, second = (
        Structure(name, "pdb", made.make_pdb_string()) for name, made in (("a", whole), ("b", parts))
    )
    found = superpose(first, second)

    assert found.aligned == 3 * (len(heavy) - 20)
    assert found.rmsd < 0.01
    pairs = found.pairs.groupby(["chain", "mobile_chain"]).size()
    assert list(pairs.index) == sorted(zip("ABC", names, strict=True))
    assert superpose(second, first).aligned == found.aligned
