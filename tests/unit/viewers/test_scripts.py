"""Scripts for PyMOL and ChimeraX: their files, commands, colours and orientation."""

import ast
import re
from pathlib import Path

import numpy as np
import pytest

import foldnote as fn
from foldnote.errors import ArgumentError
from foldnote.results import Structure
from foldnote.viewers import compose_poses
from foldnote.viewers.render.caption import write_legends, write_swatch
from foldnote.viewers.render.still_image import draw_picture
from foldnote.viewers.render.styles import list_others
from foldnote.viewers.scene import palette
from foldnote.viewers.scene.compose import compose

DATA = Path(__file__).parents[1] / "results" / "data"
COMPLEX = DATA / "complexes" / "5zng.pdb.gz"
PYMOL = {
    "bg_color", "hide", "show", "set", "color", "util.cnc", "pseudoatom", "distance", "disable", "set_view",
    "zoom",
}  # fmt: skip
CHIMERAX = {
    "open", "set", "hide", "show", "style", "color", "cartoon", "surface", "transparency", "shape", "view",
    "turn",
}  # fmt: skip


@pytest.fixture(scope="module")
def scenes(poses):
    return {
        "chains": fn.view(COMPLEX),
        "rainbow": fn.view(COMPLEX, color="rainbow", style="surface"),
        "sticks": fn.view(COMPLEX, style="sticks"),
        "poses": poses,
        "molecule": fn.view(DATA / "imatinib.sdf"),
    }


@pytest.fixture(scope="module")
def poses(tmp_path_factory):
    from result_archives import write_zip

    members = {
        "receptor.pdb": (DATA / "abl_pocket.pdb").read_bytes(),
        "docked_ligands/imatinib_out.pdbqt": (DATA / "vina_poses.pdbqt").read_bytes(),
    }
    result = fn.open_result(write_zip(tmp_path_factory.mktemp("docking") / "docking.zip", members))
    return compose_poses(result.structure, result.poses)


def read_commands(path: Path) -> list[str]:
    """Return the commands of a script without comments and PyMOL's block of Python, which must be valid Python."""
    text = path.read_text()
    block = re.search(r"^python\n(.*?)^python end\n", text, re.S | re.M)
    if block:
        ast.parse(block[1])
        text = text.replace(block[0], "")
    return [line for line in text.splitlines() if line and not line.startswith("#")]


@pytest.mark.parametrize(("suffix", "known"), [("pml", PYMOL), ("cxc", CHIMERAX)], ids=["pymol", "chimerax"])
@pytest.mark.parametrize("name", ["chains", "rainbow", "sticks", "poses", "molecule"])
def test_a_script_has_commands_and_files_that_exist(scenes, tmp_path, name, suffix, known):
    scene = scenes[name]
    path = scene.save(tmp_path / f"my view.{suffix}")
    commands = read_commands(path)
    named = re.findall(r"['\"](my view-\d\.\w+)['\"]", path.read_text())

    assert {command.split(" ")[0] for command in commands} <= known
    assert len(named) == len(scene.models)
    assert [(tmp_path / file).read_text() for file in named] == [model.text for model in scene.models]
    assert all(
        command.count('"') % 2 == 0 and command.count("(") == command.count(")") for command in commands
    )
    structure = Structure.open(tmp_path / named[0])
    assert structure.to_frame().shape[0] > 20


def test_every_residue_has_the_colour_of_the_scene(scenes, tmp_path):
    scene = scenes["rainbow"]
    colored: dict[tuple[str, str], str] = {}
    for command in read_commands(scene.save(tmp_path / "view.pml")):
        found = re.fullmatch(r'color 0x(\w{6}), model_1 and chain "(\w)" and resi (\S+)', command)
        colored |= {(found[2], number): f"#{found[1]}" for number in found[3].split("+")} if found else {}
    coloring, (model,) = scene.coloring, scene.models
    assert colored == {
        (chain.name, number): coloring.palette[shade]
        for chain in model.chains
        for number, shade in zip(chain.numbers, coloring.shades[0][chain.name], strict=True)
        if shade >= 0
    }
    assert f"color #1/A:{model.chains[0].numbers[0]}" in scene.save(tmp_path / "view.cxc").read_text()


def test_the_camera_has_the_rotation_of_the_scene(scenes, tmp_path):
    scene = scenes["chains"]
    (command,) = (
        line for line in read_commands(scene.save(tmp_path / "v.pml")) if line.startswith("set_view")
    )
    columns = np.array([float(part) for part in command[len("set_view (") : -1].split(",")][:9]).reshape(3, 3)
    *axis, angle = scene.rotation

    matrix, across = columns.T, np.cross(axis, [1.0, 0.0, 0.0])
    sine, cosine = axis @ np.cross(across, matrix @ across), across @ matrix @ across
    assert (matrix @ matrix.T).tolist() == pytest.approx(np.eye(3), abs=1e-3)
    assert (matrix @ axis).tolist() == pytest.approx(axis, abs=1e-3)
    assert np.degrees(np.arctan2(sine, cosine)) % 360 == pytest.approx(angle % 360, abs=0.1)
    turn = next(line for line in read_commands(scene.save(tmp_path / "v.cxc")) if line.startswith("turn"))
    assert [float(part) for part in re.split("[ ,]", turn)[1:]] == pytest.approx([*axis, angle], rel=1e-4)


def test_a_pose_is_shown_with_its_hydrogen_bonds_and_the_others_are_hidden(poses, tmp_path):
    pymol = read_commands(poses.save(tmp_path / "v.pml"))
    chimerax = read_commands(poses.save(tmp_path / "v.cxc"))
    bonds = len(poses.steps[0].lines)

    assert bonds
    assert sum(line.startswith("distance") for line in pymol) == bonds
    assert sum(line.startswith("shape cylinder") for line in chimerax) == bonds
    assert [line for line in pymol if line.startswith("disable")] == ["disable model_3", "disable model_4"]
    assert [line for line in chimerax if line.endswith("models")] == ["hide #3 models", "hide #4 models"]


def test_names_of_a_file_neither_end_nor_begin_a_command(tmp_path):
    structure = Structure.open(COMPLEX).to_gemmi().clone()
    structure[0][0].name = 'A"\nquit\n'
    scene = compose(Structure("odd.cif", "mmcif", structure.make_mmcif_document().as_string()))
    assert any("\nquit" in chain.name for chain in scene.models[0].chains)
    for suffix, known in (("pml", PYMOL), ("cxc", CHIMERAX)):
        commands = read_commands(scene.save(tmp_path / f"view.{suffix}"))
        assert {command.split(" ")[0] for command in commands} <= known
        assert all(command.count('"') % 2 == 0 for command in commands)


def test_another_suffix_is_refused_with_those_there_are(scenes, tmp_path):
    with pytest.raises(ArgumentError, match=r"view\.pse has no suffix of a script. Use \.pml for PyMOL"):
        scenes["chains"].save(tmp_path / "view.pse")
    assert not list(tmp_path.iterdir())


def test_a_guest_stands_out_from_its_host(tmp_path):
    """Both are molecules of the file; the smaller one has green carbons in the picture, its legend and scripts."""
    row = "HETATM{0:5}  C{0:<2} {1} {2}   1    {3:8.3f}{4:8.3f}   0.000  1.00  0.00           C\n"
    host = "".join(row.format(n, "HST", "A", 6 * np.cos(n), 6 * np.sin(n)) for n in range(1, 7))
    guest = "".join(row.format(n, "LIG", "B", n - 8, 0) for n in (7, 8))
    scene = compose(Structure("complex.pdb", "pdb", host + guest))
    assert scene.models[0].guests == ("LIG",)
    assert f"carbon of LIG {write_swatch(palette.MOLECULE)}" in write_legends(scene)["chain"]
    (_, plain), (selection, own) = list_others(scene)
    assert selection == {"model": 0, "resn": ["LIG"]}
    assert own["stick"]["colorscheme"]["map"]["C"] == palette.MOLECULE
    assert "colorscheme" not in plain["stick"]
    alike = compose(Structure("alike.pdb", "pdb", host + guest.replace("LIG", "HST")))
    assert draw_picture(scene) != draw_picture(alike)
    scene.save(tmp_path / "a.pml")
    assert "color 0x2e8b57, model_1 and resn LIG and elem C" in read_commands(tmp_path / "a.pml")
