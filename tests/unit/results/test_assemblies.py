"""Biological assemblies, compared with the file's matrices applied by numpy."""

import gemmi
import numpy as np
import pytest
from assembly_files import SHIFTS, TURN, write_trimer
from result_archives import DATA

import foldnote as fn
from foldnote.errors import ArgumentError
from foldnote.results import Structure, superpose_models


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    path = tmp_path_factory.mktemp("assembly") / "trimer.pdb"
    path.write_text(write_trimer("A"))
    return path


def test_each_chain_is_copied_by_the_operations_of_the_file(file):
    structure = Structure.open(file)
    (described,) = structure.assemblies
    made = structure.make_assembly("1")
    atoms, copies = structure.to_frame().query("chain == 'A'"), made.to_frame()
    places = atoms[["x", "y", "z"]].to_numpy()
    expected = {"A": places, "A-2": places @ TURN.T + SHIFTS[0], "A-3": places + SHIFTS[1]}

    assert (described.name, described.description, described.copies) == ("1", "trimeric", 3)
    assert described.source == "author"
    assert [chain.name for chain in made.chains] == list(expected), "chain C is not in the assembly"
    assert {chain.sequence for chain in made.chains} == {structure.chains[0].sequence}
    for name, wanted in expected.items():
        own = copies[copies["chain"] == name]
        assert own[["x", "y", "z"]].to_numpy() == pytest.approx(wanted, abs=1e-3)
        assert own["number"].tolist() == atoms["number"].tolist()


def test_a_view_shows_an_assembly_and_says_which_there_are(file):
    scene = fn.view(file, assembly="1")

    assert scene.title == "trimer.pdb, assembly 1"
    assert [chain.name for chain in scene.models[0].chains] == ["A", "A-2", "A-3"]
    assert "fn.view(…, assembly='1')" in dict(fn.view(file).facts)["Biological assemblies"]


def test_an_unknown_assembly_is_refused_with_those_there_are(file):
    with pytest.raises(ArgumentError, match=r"trimer\.pdb has no assembly '2'\. It has 1 \(trimeric\)\."):
        fn.view(file, assembly="2")
    with pytest.raises(ArgumentError, match="describes no biological assembly"):
        fn.view(DATA / "c143_h3.pdb", assembly="1")
    with pytest.raises(ArgumentError, match="about one structure"):
        fn.view([file, file], assembly="1")


def test_copies_in_models_are_an_assembly_and_no_ensemble(file, tmp_path):
    """As in the PDB's files such as 1abc.pdb1."""
    copies = Structure.open(file).to_gemmi()
    for number, shift in enumerate(SHIFTS, 2):
        copy = copies[0].clone()
        copy.num = number
        turn = gemmi.Mat33(TURN.tolist()) if number == 2 else gemmi.Mat33()
        copy.transform_pos_and_adp(gemmi.Transform(turn, gemmi.Vec3(*shift)))
        copies.add_model(copy)
    path = tmp_path / "trimer.pdb1"
    path.write_text(copies.make_pdb_string())
    structure = Structure.open(path)
    scene = fn.view(path)

    assert superpose_models(structure).are_copies
    joined = structure.join_models()
    assert [chain.name for chain in joined.chains] == ["A", "C", "A-2", "C-2", "A-3", "C-3"]
    first, second = (structure.to_frame().query("model == @number") for number in (1, 2))
    expected = np.concatenate([first[["x", "y", "z"]], second[["x", "y", "z"]]])
    assert joined.to_frame()[["x", "y", "z"]].to_numpy()[: len(expected)] == pytest.approx(expected, abs=1e-3)
    assert "RMSF" not in dict(scene.facts)
    assert "copies" in scene.notes[-1]


def test_equal_or_different_models_are_an_ensemble(file):
    frames = Structure.open(file).to_gemmi()
    frames.add_model(frames[0].clone())
    frames[1].num = 2
    for shift in (0.0, 0.5):
        for each in frames[1].all():
            x, y, z = each.atom.pos.tolist()
            each.atom.pos = gemmi.Position(x + shift * np.sin(each.atom.serial), y, z)
        assert not superpose_models(Structure("md.pdb", "pdb", frames.make_pdb_string())).are_copies
