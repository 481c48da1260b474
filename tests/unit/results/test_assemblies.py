"""Biological assemblies, beside the matrices of the file applied by numpy."""

import gzip

import numpy as np
import pytest
from result_archives import DATA

import foldnote as fn
from foldnote.errors import ArgumentError
from foldnote.results import Structure

SHIFTS = ((60.0, 0.0, 0.0), (0.0, 25.0, 30.0))
TURN = np.array([[-1.0, 0, 0], [0, -1.0, 0], [0, 0, 1.0]])


def write_operators(chains: str) -> str:
    """REMARK 350 with an identity, a two-fold axis and a translation, for these chains."""
    matrices = [(np.eye(3), (0.0, 0.0, 0.0)), (TURN, SHIFTS[0]), (np.eye(3), SHIFTS[1])]
    rows = [
        f"REMARK 350   BIOMT{row + 1} {number:3d} {x:9.6f} {y:9.6f} {z:9.6f} {shift[row]:14.5f}"
        for number, (matrix, shift) in enumerate(matrices, 1)
        for row, (x, y, z) in enumerate(matrix)
    ]
    head = [
        "REMARK 350 BIOMOLECULE: 1",
        "REMARK 350 AUTHOR DETERMINED BIOLOGICAL UNIT: TRIMERIC",
        f"REMARK 350 APPLY THE FOLLOWING TO CHAINS: {chains}",
    ]
    return "\n".join([*head, *rows, ""])


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    path = tmp_path_factory.mktemp("assembly") / "trimer.pdb"
    text = gzip.decompress((DATA / "complexes" / "5zng.pdb.gz").read_bytes()).decode()
    path.write_text(write_operators("A") + text)
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
