"""A structural alignment finds what lies on what, by coordinates alone."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from result_archives import open_fold

from foldnote.results import superpose
from foldnote.results.structural_alignment import align_traces, pair_in_order
from foldnote.results.traces import read_traces

LYSOZYME = read_traces(open_fold("1akiA"))[0].points
QUARTER_TURN = np.array([[0.0, -1, 0], [1, 0, 0], [0, 0, 1]])


def find_best_sum(scores, gap_penalty):
    """The same by plain recursion over the last pair."""
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
