"""Diagrams of interactions: labels do not overlap, every residue is shown, themes and files work."""

import re
from itertools import combinations
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from matplotlib.image import imread

from foldnote.errors import ArgumentError
from foldnote.results import Structure, find_interactions, open_result
from foldnote.results.docking.interactions import KINDS, Interaction
from foldnote.results.molecules.molecule import Molecule
from foldnote.results.molecules.molecule_files import read_molecules
from foldnote.viewers import compose_poses, draw_interactions
from foldnote.viewers.scene.drawings.interaction_layout import LABEL_HEIGHT_PX
from foldnote.viewers.scene.drawings.interactions import sketch

DATA = Path(__file__).parents[1] / "results" / "data"
SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def imatinib():
    return read_molecules((DATA / "imatinib.sdf").read_bytes(), "imatinib.sdf").molecules[0]


@pytest.fixture(scope="module")
def diagram(imatinib):
    return draw_interactions(Structure.open(DATA / "abl_pocket.pdb"), imatinib)


def make_interactions(molecule, number):
    """Return one interaction for each of ``number`` residues, cycling through atoms and kinds."""
    heavy = [row for row, element in enumerate(molecule.elements) if element != "H"]
    place = np.zeros(3)
    return [
        Interaction(
            KINDS[i % len(KINDS)], ("A", str(100 + i), "TRP"), "CA", "C", (heavy[5 * i % len(heavy)],),
            3.0, float("nan"), "receptor", place, place,
        )
        for i in range(number)
    ]  # fmt: skip


def list_boxes(layout):
    """Return centre and half size of every label, and of every distance."""
    for label in layout.labels:
        yield label.center, np.array([label.width, LABEL_HEIGHT_PX]) / 2
        yield from ((bar.spot, np.array([13.0, 6.5])) for bar in label.bars if bar.spot is not None)


@pytest.mark.parametrize("number", [15, 28])
def test_labels_and_distances_do_not_overlap(imatinib, number):
    layout = sketch(imatinib, make_interactions(imatinib, number)).layout
    assert len(layout.labels) == number
    for (center, half), (other, size) in combinations(list_boxes(layout), 2):
        assert (np.abs(center - other) >= half + size).any()


def test_labels_do_not_cover_the_molecule(imatinib):
    made = sketch(imatinib, make_interactions(imatinib, 15))
    spots = made.skeleton.draw(made.scale)[1]
    for label in made.layout.labels:
        half = np.array([label.width, LABEL_HEIGHT_PX]) / 2
        assert (np.abs(spots - label.center) > half).any(axis=1).all()


def test_residues_without_space_in_the_diagram_are_reported(imatinib):
    made = sketch(imatinib, make_interactions(imatinib, 40))
    assert made.layout.omitted == 40 - len(made.layout.labels) >= 10


def test_a_diagram_names_each_residue_of_the_interactions_and_each_kind_once(diagram):
    root = ElementTree.fromstring(diagram.svg)
    texts = [each.text for each in root.iter(f"{SVG}text")]
    named = {f"{row.residue} {row.chain} {row.number}" for row in diagram.data.itertuples()}
    assert sorted(text for text in texts if " A " in text) == sorted(named)
    assert texts[-3:] == ["Hydrogen bond", "π stacking", "Hydrophobic"]


def test_the_alternative_of_a_diagram_lists_the_interactions(diagram):
    assert "Hydrogen bond: ILE A 360 2.7 Å" in diagram.words
    assert "π stacking: TYR A 253 5.0 Å" in diagram.words
    assert "alt=" in diagram.to_html()


def test_a_diagram_on_a_page_follows_the_theme_and_a_saved_one_is_on_white(diagram):
    assert "prefers-color-scheme" not in diagram.svg
    poses = open_result(DATA / "vina_poses.pdbqt").poses[:1]
    (step,) = compose_poses(Structure.open(DATA / "abl_pocket.pdb"), poses).steps
    assert "prefers-color-scheme:dark" in step.drawing
    ElementTree.fromstring(step.drawing)


def test_each_pose_has_its_own_diagram():
    poses = open_result(DATA / "vina_poses.pdbqt").poses
    steps = compose_poses(Structure.open(DATA / "abl_pocket.pdb"), poses).steps
    assert len({step.drawing for step in steps}) == len(poses) == 3
    assert all(step.drawing_words.startswith("Interaction diagram.") for step in steps)


@pytest.mark.parametrize(("suffix", "start"), [(".svg", b"<svg"), (".png", b"\x89PNG"), (".pdf", b"%PDF")])
def test_a_diagram_is_saved_by_its_suffix(diagram, tmp_path, suffix, start):
    assert diagram.save(tmp_path / f"x{suffix}").read_bytes().startswith(start)


def test_a_diagram_is_saved_at_a_width_in_print(diagram, tmp_path):
    wide = diagram.save(tmp_path / "x.svg", width_mm=85).read_text()
    assert wide.startswith("<svg xmlns='http://www.w3.org/2000/svg' width='85mm'")
    box = re.search(
        rb"/MediaBox \[ ?0 0 ([\d.]+)", diagram.save(tmp_path / "x.pdf", width_mm=85).read_bytes()
    )
    assert float(box[1]) == pytest.approx(85 / 25.4 * 72, abs=0.5)
    picture = imread(diagram.save(tmp_path / "x.png", width_mm=85, dpi=100))
    assert picture.shape[1] == pytest.approx(85 / 25.4 * 100, abs=1)
    larger = imread(diagram.save(tmp_path / "x.png", width_mm=170, dpi=50))
    assert np.abs(picture[..., :3] - larger[: len(picture), : picture.shape[1], :3]).mean() < 0.02


@pytest.mark.parametrize("width_mm", [39, 401])
def test_a_width_that_no_page_has_is_refused(diagram, tmp_path, width_mm):
    with pytest.raises(ArgumentError, match="40 to 400"):
        diagram.save(tmp_path / "x.svg", width_mm=width_mm)


def test_another_suffix_is_refused(diagram, tmp_path):
    with pytest.raises(ArgumentError, match=r"not as \.gif"):
        diagram.save(tmp_path / "x.gif")


def test_a_ligand_without_bonds_in_its_file_is_drawn_with_single_bonds(imatinib):
    rows = [
        (name, element, *place, float("nan"))
        for name, element, place in zip(
            imatinib.names, imatinib.elements, imatinib.coordinates.tolist(), strict=True
        )
        if element != "H"
    ]
    bare = Molecule("STI", "x.pdb", 0, "pdb", {}, "", rows, ())
    structure = Structure.open(DATA / "abl_pocket.pdb")
    found = find_interactions(structure, bare)
    made = draw_interactions(structure, bare)
    assert not made.sketch.skeleton.has_orders
    assert made.data.equals(found)
