"""Several structures in one scene: superposed by residue numbers; poses one at a time with their contacts."""

import json
from pathlib import Path

import pandas as pd
import pytest
from result_archives import write_zip

from foldnote.errors import ArgumentError
from foldnote.results import Pose, Structure, open_result
from foldnote.results.molecules.molecule_files import read_molecules
from foldnote.viewers import compose, compose_poses, make_grid, overlay
from foldnote.viewers.render.still_image import draw_picture
from foldnote.viewers.render.styles import list_hidden

DATA = Path(__file__).parents[1] / "results" / "data"
FOLDS = DATA / "folds"
FV = (DATA / "trastuzumab_fv_ca.pdb").read_text()


def shift(text, by):
    """Return the same file, moved along x by ``by`` Å."""
    lines = [line for line in text.splitlines() if line.startswith("ATOM")]
    return "\n".join(f"{line[:30]}{float(line[30:38]) + by:8.3f}{line[38:]}" for line in lines)


def make_sdf(x, y, z):
    """Return a methanol at a position."""
    return (
        "methanol\n  test\n\n  2  1  0  0  0  0            999 V2000\n"
        f"{x:10.4f}{y:10.4f}{z:10.4f} C   0  0\n{x + 1.4:10.4f}{y:10.4f}{z:10.4f} O   0  0\n"
        "  1  2  1  0\nM  END\n> <minimizedAffinity>\n-3.5\n\n$$$$\n"
    )


def make_pose(rank, *place):
    (molecule,) = read_molecules(make_sdf(*place).encode(), "poses.sdf").molecules
    return Pose("poses.sdf", "methanol", rank, "order in the file", molecule, {"minimizedAffinity": -3.5})


@pytest.fixture
def fv():
    return Structure("fv.pdb", "pdb", FV)


def test_a_moved_copy_is_superposed_exactly(fv):
    scene = overlay([fv, Structure("moved.pdb", "pdb", shift(FV, 12.5))])
    said = "RMSD 0.00 Å over 227 pairs by residue numbers (100% of fv.pdb), TM-score 1.000, 100% identical"
    assert said in scene.models[1].chains[0].label
    assert {chain.color for chain in scene.models[0].chains} != {
        chain.color for chain in scene.models[1].chains
    }
    first, second = (compose(Structure(m.name, m.format, m.text)) for m in scene.models)
    assert draw_picture(first) == draw_picture(second.model_copy(update={"rotation": first.rotation}))


def test_one_structure_cannot_be_superposed(fv):
    with pytest.raises(ArgumentError, match="at least two"):
        overlay([fv])


def test_results_of_two_jobs_go_by_the_jobs_names(tmp_path):
    members = [{"prediction.pdb": FV}, {"prediction.pdb": shift(FV, 1.0)}]
    for place, files in enumerate(members):
        files["manifest.json"] = json.dumps({"job": {"jobName": f"job-{place}", "type": "abodybuilder"}})
    archives = [write_zip(tmp_path / f"{place}.zip", files) for place, files in enumerate(members)]
    scene = overlay([open_result(archive) for archive in archives])
    assert [model.label for model in scene.models] == ["job-0", "job-1"]
    assert list(dict(scene.facts)) == ["job-0", "job-1"]
    assert scene.title == "2 structures superposed on job-0"


def test_files_of_one_name_go_by_their_folders_and_equal_structures_are_numbered(fv, tmp_path):
    for run in ("run-1", "run-2"):
        (tmp_path / run).mkdir()
        (tmp_path / run / "prediction.pdb").write_text(FV)
    scene = overlay([*sorted(tmp_path.glob("*/*.pdb")), fv, fv])
    assert list(dict(scene.facts)) == [
        "run-1/prediction.pdb", "run-2/prediction.pdb", "fv.pdb (1)", "fv.pdb (2)",
    ]  # fmt: skip


def test_a_structural_alignment_is_named_in_the_view():
    lysozymes = [FOLDS / "1hmlA.pdb.gz", FOLDS / "2nwdX.pdb.gz"]
    assert overlay(lysozymes).notes == ()
    scene = overlay(lysozymes, pairing="structure")
    assert "by structure (100% of 1hmlA.pdb.gz), TM-score 0.913" in scene.facts[1][1]
    assert "structural alignment" in scene.notes[0]
    assert scene.notes[0] in scene._repr_mimebundle_()["text/plain"]


def test_an_invalid_structure_is_named(fv):
    with pytest.raises(ArgumentError, match="of the type DataFrame is not a structure"):
        overlay([fv, pd.DataFrame()])


def test_poses_are_seen_one_at_a_time_with_what_they_touch(fv):
    atom = next(line for line in FV.splitlines() if line.startswith("ATOM"))
    place = [float(atom[a : a + 8]) for a in (30, 38, 46)]
    scene = compose_poses(fv, [make_pose(1, *place), make_pose(2, 500, 500, 500)])
    assert list_hidden(scene) == [2]
    assert atom[22:26].strip() in dict(scene.steps[0].contacts)[atom[21]]
    assert scene.steps[1].contacts == ()
    assert scene.steps[0].label.startswith("methanol · ")
    assert "within 4 Å of no residue" in dict(scene.facts)["Pose 2"]
    assert 'setStyle({"model": 2}' in scene.py3dmol()._repr_html_().replace('{"model":2}', '{"model": 2}')


def test_a_grid_holds_every_scene(fv):
    shown = make_grid([compose(fv), compose(fv)], columns=2)._repr_mimebundle_()
    assert shown["text/html"].count('class="fnv-stage"') == 2
    assert shown["text/plain"].count("fv.pdb") >= 2


@pytest.mark.parametrize(("scenes", "columns"), [([], 2), (["any"], 0), (["any"], 7)])
def test_a_grid_that_cannot_be_is_refused(scenes, columns):
    with pytest.raises(ArgumentError):
        make_grid(scenes, columns)


@pytest.mark.parametrize("record", ["ATOM  ", "HETATM"])
def test_atoms_at_one_place_are_drawn(record):
    atoms = [
        f"{record}{n:5d}  CA  ALA A{n:4d}      10.000   5.000   3.000  1.00  0.00           C"
        for n in range(1, 6)
    ]
    scene = compose(Structure("x.pdb", "pdb", "\n".join(atoms)))
    assert draw_picture(scene).startswith(b"\x89PNG")
