"""How a structure is turned and zoomed first."""

import numpy as np
import pytest

from foldnote.viewers.scene.orientation import find_axis_angle, find_fill

ROD = np.array([[0.0, 0.0, float(z)] for z in range(-40, 41)])


def test_what_is_broader_than_high_is_zoomed_beyond_its_bounding_sphere():
    assert find_fill(ROD, find_axis_angle(np.array([0.0, 0, 1]), np.array([0.0, 1, 0]))) == 1.25


@pytest.mark.parametrize("across", [[1.0, 0, 0], [0.0, 1, 0]])
def test_what_stands_upright_keeps_its_ends(across):
    assert find_fill(ROD, find_axis_angle(np.array(across), np.array([0.0, 0, 1]))) == 1.0


def test_what_is_not_turned_has_its_own_height():
    assert find_fill(ROD[:, [0, 2, 1]], None) == 1.0
    assert find_fill(ROD, None) == 1.25
