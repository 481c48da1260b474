"""The initial orientation and zoom of a structure."""

import numpy as np
import pytest

from foldnote.results import Structure
from foldnote.viewers.scene.compose import compose
from foldnote.viewers.scene.orientation import find_axis_angle, find_fill

ROD = np.array([[0.0, 0.0, float(z)] for z in range(-40, 41)])


def test_what_is_broader_than_high_is_zoomed_beyond_its_bounding_sphere():
    assert find_fill(ROD, find_axis_angle(np.array([0.0, 0, 1]), np.array([0.0, 1, 0]))) == 1.25


@pytest.mark.parametrize("across", [[1.0, 0, 0], [0.0, 1, 0]])
def test_an_upright_molecule_keeps_its_ends(across):
    assert find_fill(ROD, find_axis_angle(np.array(across), np.array([0.0, 0, 1]))) == 1.0


def test_what_is_not_turned_has_its_own_height():
    assert find_fill(ROD[:, [0, 2, 1]], None) == 1.0
    assert find_fill(ROD, None) == 1.25


def test_a_ring_without_a_polymer_is_seen_whole_from_its_open_side():
    """A macrocycle of 12 atoms in the xz plane, such as a host molecule."""
    text = "".join(
        f"HETATM{n:5}  C{n:<2} HST A   1    {6 * np.cos(n * np.pi / 6):8.3f}{0:8.3f}{6 * np.sin(n * np.pi / 6):8.3f}"
        "  1.00  0.00           C\n"
        for n in range(1, 13)
    )
    scene = compose(Structure("host.pdb", "pdb", text))
    assert scene.rotation is not None
    assert scene.fill == 1.0


@pytest.mark.parametrize(
    ("across", "up"),
    [([1.0, 0, 0], [0.0, -1, 0]), ([0.0, 0, 1], [0.0, -1, 0]), ([-1.0, 0, 0], [0.0, 1, 0])],
)
def test_half_a_turn_is_a_turn(across, up):
    """For example an assembly whose longest axis is z: unrotated, it would be seen from its end."""
    x, y, z, degrees = find_axis_angle(np.array(across), np.array(up))

    axis, both = np.array([x, y, z]), np.array([across, up])
    turned = 2 * np.outer(both @ axis, axis) - both
    assert degrees == pytest.approx(180)
    assert np.allclose(turned, [[1, 0, 0], [0, 1, 0]], atol=1e-3)


def test_no_turn_is_none():
    assert find_axis_angle(np.array([1.0, 0, 0]), np.array([0.0, 1, 0])) is None
