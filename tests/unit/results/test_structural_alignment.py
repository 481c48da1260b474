"""A structural alignment pairs residues by coordinates alone."""

import tracemalloc

import gemmi
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from result_archives import open_fold

from foldnote.results import Structure, superpose
from foldnote.results.comparison.structural_alignment import align_traces, pair_in_order, pair_superposed
from foldnote.results.comparison.traces import read_traces

LYSOZYME = read_traces(open_fold("1akiA"))[0].points
QUARTER_TURN = np.array([[0.0, -1, 0], [1, 0, 0], [0, 0, 1]])


def find_best_sum(scores, gap_penalty):
    """Compute the same by plain recursion over the last pair."""
    n, m = scores.shape
    best = np.zeros((n, m))
    for i in range(n):
        for j in range(m):
            before = [
                best[k, p] - gap_penalty * ((k < i - 1) + (p < j - 1)) for k in range(i) for p in range(j)
            ]
            best[i, j] = scores[i, j] + max([0.0, *before])
    return best.max()


def sum_pairs(scores, rows, columns, gap_penalty):
    gaps = np.sum(np.diff(rows) > 1) + np.sum(np.diff(columns) > 1)
    return scores[rows, columns].sum() - gap_penalty * gaps


@settings(max_examples=60, deadline=None)
@given(
    arrays(float, st.tuples(st.integers(1, 6), st.integers(1, 6)), elements=st.floats(0, 1, width=16)),
    st.sampled_from([0.0, 0.5, 1.0]),
)
def test_pairs_in_order_have_the_greatest_sum(scores, gap_penalty):
    rows, columns = pair_in_order(scores, gap_penalty)

    assert (np.diff(rows) > 0).all()
    assert (np.diff(columns) > 0).all()
    assert sum_pairs(scores, rows, columns, gap_penalty) == pytest.approx(find_best_sum(scores, gap_penalty))


def test_a_turned_chain_with_missing_residues_is_recognised():
    kept = np.r_[0:40, 55:129]
    found = align_traces(LYSOZYME, LYSOZYME[kept] @ QUARTER_TURN.T + [100, -50, 7])

    assert found.rows.tolist() == kept.tolist()
    assert found.fit.score == pytest.approx(1, abs=1e-6)
    assert np.allclose(found.fit.rotation, QUARTER_TURN.T, atol=1e-6)


def test_the_mirror_image_is_another_fold():
    assert align_traces(LYSOZYME, LYSOZYME * [-1, 1, 1]).fit.score < 0.5


@pytest.mark.parametrize("size", [3, 4, 7, 12])
def test_peptides_are_aligned_as_well(size):
    found = align_traces(LYSOZYME[:size], LYSOZYME[:size] @ QUARTER_TURN.T)

    assert found.rows.tolist() == found.mobile_rows.tolist() == list(range(size))


def test_chains_of_a_complex_are_found_whatever_their_names():
    found = superpose(open_fold("6y1l_imgt"), open_fold("8ee8_imgt"), pairing="structure")

    assert set(zip(found.pairs["chain"], found.pairs["mobile_chain"], strict=True)) == {
        ("H", "D"),
        ("L", "C"),
    }
    assert (found.tm_score, found.mobile_tm_score) == pytest.approx((0.911, 0.878), abs=0.01)


def walk(count, seed):
    """Return positions of residues 3.8 Å apart on a path without a fold."""
    rng = np.random.default_rng(seed)
    steps = np.cumsum(rng.normal(0, 0.6, (count, 3)), axis=0)
    return np.cumsum(3.8 * steps / np.linalg.norm(steps, axis=1)[:, None], axis=0)


def make_structure(chains):
    """Return chains of Cα atoms with one sequence, by name."""
    model = gemmi.Model(1)
    for name, points in chains.items():
        chain = gemmi.Chain(name)
        for number, point in enumerate(points, 1):
            residue, atom = gemmi.Residue(), gemmi.Atom()
            residue.name, residue.seqid = ("ALA", "GLY", "SER", "LYS")[number % 4], gemmi.SeqId(number, " ")
            atom.name, atom.element, atom.pos = "CA", gemmi.Element("C"), gemmi.Position(*point)
            residue.add_atom(atom)
            chain.add_residue(residue)
        model.add_chain(chain)
    structure = gemmi.Structure()
    structure.add_model(model)
    structure.setup_entities()
    return Structure("made.cif", "mmcif", structure.make_mmcif_document().as_string())


@pytest.mark.parametrize("order", ["CADB", "DCBA", "CA"])
def test_equal_chains_without_symmetry_are_matched_by_their_places(order):
    rng = np.random.default_rng(4)
    turns = [np.linalg.qr(rng.normal(size=(3, 3)))[0] for _ in range(4)]
    places = {
        name: walk(60, 1) @ (turn * np.linalg.det(turn)) + 40 * rng.normal(size=3)
        for name, turn in zip("ABCD", turns, strict=True)
    }
    moved = {name: places[own] @ QUARTER_TURN.T + 30 for name, own in zip("ABCD", order, strict=False)}
    found = superpose(make_structure(places), make_structure(moved), pairing="structure")

    assert set(zip(found.pairs["chain"], found.pairs["mobile_chain"], strict=True)) == {
        (own, name) for name, own in zip("ABCD", order, strict=False)
    }
    assert found.tm_score == pytest.approx(len(order) / 4, abs=1e-6)


def test_long_chains_are_searched_with_some_residues_and_paired_with_all():
    points = walk(1560, 2)
    found = align_traces(points, points[41:] @ QUARTER_TURN.T)

    assert found.rows.tolist() == list(range(41, 1560))
    assert found.fit.score == pytest.approx(1, abs=1e-6)


def test_pairing_long_chains_takes_about_a_byte_a_pair():
    """The pairwise scores of 6,000 residues alone would take 288 MB."""
    points = walk(6000, 2)
    tracemalloc.start()
    try:
        rows, others, total = pair_superposed(points, points, len(points))
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()

    assert rows.tolist() == others.tolist() == list(range(6000))
    assert total == pytest.approx(6000)
    assert most < 150e6
