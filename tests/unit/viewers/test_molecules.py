"""Small molecules alone and docked: contents of their scenes, and notes about what is missing."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

import foldnote as fn
from foldnote.errors import ArgumentError, UnreadableFileError
from foldnote.results import Structure, find_interactions, list_ligands, open_result
from foldnote.results.docking.poses import Pose
from foldnote.results.molecules.molecule_files import read_molecules
from foldnote.viewers import compose_molecules, compose_poses, write_page
from foldnote.viewers.render.still_image import draw_picture
from foldnote.viewers.scene import palette
from foldnote.viewers.scene.drawings.molecules import draw_molecules

DATA = Path(__file__).parents[1] / "results" / "data"
HOSTILE = "<script>alert(1)</script>"


def read(name):
    return read_molecules((DATA / name).read_bytes(), name).molecules


@pytest.mark.parametrize(
    ("name", "form", "count"),
    [("tyr.sdf", "sdf", 1), ("benzene.mol2", "mol2", 1), ("vina_poses.pdbqt", "pdbqt", 3)],
)
def test_a_file_of_molecules_is_seen_molecule_by_molecule(name, form, count):
    scene = fn.view(DATA / name)

    assert [model.format for model in scene.models] == [form] * count
    assert [step.models for step in scene.steps] == [(place,) for place in range(count)]
    assert scene.steps[0].facts[0][0] == "Formula"
    assert draw_picture(scene).startswith(b"\x89PNG")


def test_molecules_are_drawn():
    drawings = draw_molecules([*read("imatinib.sdf"), *read("benzene.mol2"), *read("vina_poses.pdbqt")])

    assert all(drawing.startswith("<svg") for drawing in drawings)
    assert drawings[2] == drawings[3] == drawings[4], "poses of one molecule have the same style"


def test_a_pdbqt_without_a_smiles_says_why_it_is_not_drawn():
    text = "\n".join(
        line for line in (DATA / "vina_poses.pdbqt").read_text().splitlines() if "SMILES" not in line
    )
    scene = compose_molecules(read_molecules(text.encode(), "x.pdbqt").molecules)

    assert "PDBQT files have no bonds" in scene.notes[0]


def test_all_atoms_of_a_pdbqt_are_given_to_the_page():
    scene = compose_molecules(read("vina_poses.pdbqt"))

    assert "ENDROOT" not in scene.models[0].text, "3Dmol.js would treat it as the end of the file"
    assert scene.models[0].text.count("ATOM") == len(read("vina_poses.pdbqt")[0].atoms)


def test_a_pose_shows_its_hydrogen_bonds_as_lines_and_text():
    (pose, *_) = open_poses()
    scene = compose_poses(Structure.open(DATA / "abl_pocket.pdb"), [pose])

    bonds = [line for line in scene.steps[0].lines if line.kind == "hydrogen bond"]
    assert len(bonds) == 5
    assert {line.label for line in bonds} == {"2.9 Å", "3.0 Å"}
    assert "MET A 318 N → N24, 3.0 Å, 152°" in dict(scene.steps[0].facts)["Hydrogen bonds (5)"]
    assert "MET A 318 N → N24" in dict(scene.facts)["Pose 1"]
    assert "Baker and Hubbard 1984" in dict(scene.facts)["Criterion"]
    assert json.loads(scene.to_json())["steps"][0]["lines"][0]["label"].endswith("Å")


def test_every_drawn_kind_of_interaction_is_a_line_of_its_colour_and_in_the_legend():
    structure = Structure.open(DATA / "abl_pocket.pdb")
    (pose, *_) = open_poses()
    scene = compose_poses(structure, [pose])
    table = find_interactions(structure, pose.molecule)
    counts = table.loc[table["kind"] != "hydrophobic", "kind"].value_counts().to_dict()
    lines = scene.steps[0].lines
    assert {kind: sum(line.kind == kind for line in lines) for kind in counts} == counts
    assert set(counts) == {"hydrogen bond", "pi stacking"}
    assert {line.kind: line.color for line in lines} == {kind: palette.INTERACTIONS[kind] for kind in counts}
    legend = scene.py3dmol()._repr_html_()
    for kind in counts:
        assert f"background-color:{palette.INTERACTIONS[kind]}" in legend


def test_hydrophobic_contacts_are_those_of_the_table_without_labels():
    structure, (pose, *_) = Structure.open(DATA / "abl_pocket.pdb"), open_poses()
    scene = compose_poses(structure, [pose])
    table = find_interactions(structure, pose.molecule).query("kind == 'hydrophobic'")
    places = table[["x", "y", "z", "ligand_x", "ligand_y", "ligand_z"]].to_numpy()
    assert [(*line.start, *line.end) for line in scene.steps[0].hydrophobic] == [
        pytest.approx(row, abs=0.001) for row in places
    ]
    assert {line.label for line in scene.steps[0].hydrophobic} == {""}
    assert "Hydrophobic, thin dashes" in scene.py3dmol()._repr_html_()


def test_many_hydrophobic_contacts_are_hidden_at_first_and_few_are_not(tmp_path):
    scene = compose_poses(Structure.open(DATA / "abl_pocket.pdb"), open_poses()[:1])
    (step,) = scene.steps
    few = scene.model_copy(update={"steps": (step.model_copy(update={"hydrophobic": step.hydrophobic[:6]}),)})
    assert (len(step.hydrophobic), scene.has_few_hydrophobic, few.has_few_hydrophobic) == (10, False, True)
    drawn = [one.save(tmp_path / "pose.pml").read_text().count("distance bond_") for one in (scene, few)]
    assert drawn[1] - drawn[0] == 6


def test_a_water_bridge_is_two_lines_that_meet_at_the_water():
    structure = Structure.open(DATA / "complexes" / "1hpx_pocket.pdb.gz")
    molecule = list_ligands(structure)[0]
    pose = Pose("1hpx.pdb", "KNI-272", 1, "file", molecule, {})
    step = compose_poses(structure, [pose]).steps[0]
    table = find_interactions(structure, molecule).query("water == 'HOH B 301'")
    water = tuple(table[["water_x", "water_y", "water_z"]].iloc[0])
    ends = [(line.start, line.end) for line in step.lines if line.kind == "water bridge"]
    assert sum(pytest.approx(water, abs=0.01) == place for pair in ends for place in pair) == 2 * len(table)
    told = next(text for term, text in step.facts if term.startswith("Water bridges"))
    assert "ILE B 50 N – HOH B 301 – O5, 2.9 and 2.9 Å, 120°" in told


def test_a_pose_that_is_a_residue_of_a_structure_is_drawn_with_bonds(tmp_path):
    structure = Structure.open(DATA / "complexes" / "1hpx_pocket.pdb.gz")
    molecule = list_ligands(structure)[0]
    scene = compose_poses(structure, [Pose("1hpx.pdb", "KNI-272", 1, "file", molecule, {})])
    drawn = read_molecules(scene.models[1].text.encode(), "ligand.sdf").molecules[0]
    rings = 4  # isoquinoline, phenyl, thiazolidine
    assert (drawn.elements, len(drawn.bonds)) == (molecule.elements, len(molecule.elements) - 1 + rings)
    assert write_page(tmp_path / "x.html", "KNI-272", [scene]).stat().st_size


def test_a_ligand_of_a_structure_says_why_it_has_no_drawing():
    structure = Structure.open(DATA / "complexes" / "1hpx_pocket.pdb.gz")
    assert "no bond orders" in " ".join(compose_molecules(list_ligands(structure)[:1]).notes)


def test_the_rmsd_from_a_reference_is_reported_beside_any_number_of_scores():
    (pose, *_) = open_poses()
    scores = {f"score_{number}": 1.0 for number in range(6)} | {"rmsd_to_reference": 1.27}
    docked = replace(pose, scores=scores, reference="STI A:201")
    facts = compose_poses(Structure.open(DATA / "abl_pocket.pdb"), [docked]).steps[0].facts
    assert "1.27 Å from STI A:201" in dict(facts).values()


def open_poses():
    return open_result(DATA / "vina_poses.pdbqt").poses


def test_a_result_of_molecules_alone_shows_them_and_one_table(tmp_path):
    for name in ("tyr.sdf", "benzene.mol2"):
        (tmp_path / name).write_bytes((DATA / name).read_bytes())
    shown = open_result(tmp_path).bundles()

    assert "benzene" in shown[0]["text/plain"]
    assert shown[1]["text/plain"].startswith("Molecules 2 rows")


def test_molecules_in_a_list_are_seen_in_turn_and_not_laid_over_structures():
    (tyrosine,) = read("tyr.sdf")

    assert len(fn.view([tyrosine, *read("benzene.mol2")]).steps) == 2
    assert len(fn.grid([tyrosine, *read("benzene.mol2")]).scenes) == 2
    with pytest.raises(ArgumentError, match="one kind"):
        fn.view([tyrosine, DATA / "abl_pocket.pdb"])
    with pytest.raises(UnreadableFileError, match="no molecule"):
        compose_molecules([])


def test_hostile_properties_are_only_words():
    text = (DATA / "tyr.sdf").read_text().replace("TYR", HOSTILE, 1)
    text = text.replace("$$$$", f"> <{HOSTILE[1:7]}>\n{HOSTILE}\n\n$$$$")
    html = compose_molecules(read_molecules(text.encode(), "x.sdf").molecules)._repr_mimebundle_()[
        "text/html"
    ]

    assert "<script>alert" not in html
    assert "&lt;script&gt;alert" in html


def test_fifty_molecules_are_shown_and_the_rest_counted():
    scene = compose_molecules(read("tyr.sdf") * 60)

    assert len(scene.models) == 50
    assert "first 50 of 60 molecules" in scene.notes[0]
