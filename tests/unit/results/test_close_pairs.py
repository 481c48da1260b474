"""Close pairs of points are those found by comparing all pairs, at any position."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from foldnote.results.core.numeric import find_close_pairs

ODD = st.sampled_from([float("nan"), float("inf"), -1e300, 1e300, 1e12, 5.0, -5.0, 10.0])
PLACES = arrays(
    np.float64, st.tuples(st.integers(0, 40), st.just(3)), elements=st.floats(-30, 30, width=16) | ODD
)


@settings(max_examples=300, deadline=None)
@given(points=PLACES, others=PLACES, cutoff=st.sampled_from([0.25, 1.0, 5.0, 6.6, 60.0]))
def test_the_pairs_are_those_of_a_full_comparison(points, others, cutoff):
    with np.errstate(all="ignore"):
        rows, columns, distances = find_close_pairs(points, others, cutoff)
        every = np.linalg.norm(others[:, None, :] - points[None, :, :], axis=2)
    expected = np.argwhere(every <= cutoff)
    np.testing.assert_array_equal(np.column_stack([columns, rows]), expected.reshape(-1, 2))
    np.testing.assert_array_equal(distances, every[columns, rows])


def test_thousands_of_points_at_one_place_are_all_close():
    points = np.ones((1500, 3))
    rows, columns, distances = find_close_pairs(points, points, 1.0)
    assert (len(rows), distances.max()) == (1500 * 1500, 0.0)
    assert (columns == np.repeat(np.arange(1500), 1500)).all()
