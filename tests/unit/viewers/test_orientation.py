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


def test_bases_that_project_from_the_backbone_are_seen_whole(tmp_path):
    """An elliptic ring of RNA in the xy plane; the bases of the upper and lower half project by 9 Å along y."""
    angles = np.arange(36) * np.pi / 18
    backbone = np.stack([20 * np.cos(angles), 16 * np.sin(angles), 0 * angles], axis=1)
    tips = backbone + np.sign(backbone) * [0, 9, 0]
    atoms = [(n, name, place) for n, pair in enumerate(zip(backbone, tips, strict=True), 1)
             for name, place in zip(("C4'", "N9"), pair, strict=True)]  # fmt: skip
    lines = (
        f"ATOM  {2 * n:5} {name:^4}   A A{n:4}    {x:8.3f}{y:8.3f}{z:8.3f}  1.00  0.00           {name[0]}"
        for n, name, (x, y, z) in atoms
    )
    (tmp_path / "ring.pdb").write_text("\n".join([*lines, "END"]))
    scene = compose(Structure.open(tmp_path / "ring.pdb"))
    assert np.linalg.norm(tips, axis=1).max() / scene.fill >= np.abs(tips[:, 1]).max()


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
