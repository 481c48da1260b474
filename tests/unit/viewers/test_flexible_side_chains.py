"""Side chains moved by a docking: Thr 315 of Abl, whose hydroxyl binds imatinib's amine."""

from pathlib import Path

import gemmi
import pytest

from foldnote.results import open_result
from foldnote.results.molecules.pdbqt import list_side_chains, read_pdbqt
from foldnote.viewers import bundle, compose_poses
from foldnote.viewers.scene import palette

DATA = Path(__file__).parents[1] / "results" / "data"
KINDS = {"C": "C", "O": "OA", "H": "HD"}


def write_side_chain(shift):
    """Write Thr 315 as a flexible residue of a PDBQT file, moved by ``shift`` Å beyond Cβ."""
    chain = gemmi.read_structure(str(DATA / "abl_pocket.pdb"))[0]["A"]
    threonine = next(residue for residue in chain if residue.seqid.num == 315)
    lines = [
        f"ATOM  {number:5d}  {atom.name:<3s} THR A 315    {atom.pos.x:8.3f}{atom.pos.y:8.3f}"
        f"{atom.pos.z + (0 if atom.name in ('CA', 'CB') else shift):8.3f}  1.00  0.00     0.000 {KINDS[atom.element.name]}"
        for number, atom in enumerate(threonine, 1)
        if atom.name not in ("N", "C", "O", "H")
    ]
    return "\n".join(["BEGIN_RES THR A 315", "ROOT", *lines, "ENDROOT", "END_RES THR A 315", "ENDMDL"])


@pytest.fixture
def dock(tmp_path):
    """Write a result whose poses have the side chain moved by this many Å."""

    def make(shift):
        poses = (DATA / "vina_poses.pdbqt").read_text().replace("ENDMDL", write_side_chain(shift))
        (tmp_path / "imatinib_out.pdbqt").write_text(poses)
        (tmp_path / "receptor.pdb").write_bytes((DATA / "abl_pocket.pdb").read_bytes())
        return open_result(tmp_path)

    return make


def test_an_insertion_code_is_that_of_the_first_line_as_meeko_writes_it(tmp_path):
    side_chain = write_side_chain(0.0).replace("RES THR A 315", "RES THR A 315B")
    text = (DATA / "vina_poses.pdbqt").read_text().replace("ENDMDL", side_chain)
    (one,) = list_side_chains(read_pdbqt(text.encode(), "poses.pdbqt").molecules[0])
    assert one.owner == ("A", "315B", "THR")


def list_bonded(table):
    return set(table.query("rank == 1 and kind == 'hydrogen bond'")["number"])


def test_side_chains_are_taken_from_the_pose_and_not_from_the_receptor(dock):
    assert "315" in list_bonded(dock(0.0).interaction_table)
    away = dock(-4.0)
    assert "315" not in list_bonded(away.interaction_table)
    assert "315" not in list_bonded(away.contact_table)


def test_unmoved_side_chains_change_nothing(dock):
    result = dock(0.0)
    plain = open_result(DATA / "vina_poses.pdbqt").poses
    rigid = compose_poses(result.structure, plain).steps[0].facts
    facts = compose_poses(result.structure, result.poses).steps[0].facts
    assert dict(facts)["Hydrogen bonds (5)"] == dict(rigid)["Hydrogen bonds (5)"]


def test_the_table_names_flexible_side_chains(dock):
    assert dock(0.0).pose_table["flexible residues"].tolist() == ["THR A 315"] * 3
    assert "flexible residues" not in open_result(DATA / "vina_poses.pdbqt").pose_table


def test_the_view_shows_each_pose_with_its_side_chains_in_a_colour_of_their_own(dock):
    result = dock(0.0)
    scene = compose_poses(result.structure, result.poses)
    assert [step.models for step in scene.steps] == [(1, 4), (2, 5), (3, 6)]
    assert {scene.models[index].color for index in (4, 5, 6)} == {palette.FLEXIBLE}
    assert "315" not in dict(scene.steps[0].contacts)["A"], "the receptor's own side chain is not drawn"
    assert dict(scene.steps[0].facts)["Flexible side chains"] == "THR A 315"
    assert "Flexible side chains" in bundle(scene)["text/html"]
