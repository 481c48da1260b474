"""A part of a result displays itself in a cell, with text for screen readers."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from foldnote.results import Alignment, Pae, Structure, open_result, superpose

_DATA = Path(__file__).parents[1] / "results" / "data"
_PROGRAM = """
import sys
from foldnote.results import Structure
structure = Structure.open(sys.argv[1])
assert "foldnote.viewers" not in sys.modules
assert "fnv-view" in structure._repr_mimebundle_()["text/html"]
"""
FV = _DATA / "trastuzumab_fv_ca.pdb"
POSES = _DATA / "vina_poses.pdbqt"


def aligned(*sequences):
    names = tuple(f"s{n}" for n in range(len(sequences)))
    return Alignment("x.a3m", names, ("",) * len(names), sequences)


def parts():
    structure = Structure.open(FV)
    (model,) = open_result(FV).models
    pose = open_result(POSES).poses[0]
    pae = Pae(np.ones((5, 5), dtype=np.float32), None, "pae.json")
    return [
        (structure, "Chain H"),
        (model, "Chain H"),
        (pae, "pae.json"),
        (aligned("ACD", "A-D"), "2 sequences"),
        (aligned("ACDEF", "AC"), "x.a3m"),
        (pose, "rank 1"),
        (pose.molecule, "vina_poses.pdbqt"),
        (superpose(structure, structure), "RMSD 0.00"),
    ]


@pytest.mark.parametrize(("part", "words"), parts(), ids=lambda value: type(value).__name__)
def test_a_part_shows_itself_and_says_what_it_is(part, words):
    bundle = part._repr_mimebundle_()

    assert set(bundle) == {"text/html", "text/plain"}
    assert words in bundle["text/plain"]
    assert "<" in bundle["text/html"]


def test_a_part_that_cannot_be_read_says_why():
    bundle = Structure("broken.pdb", "pdb", "nothing")._repr_mimebundle_()

    assert bundle["text/plain"] == "broken.pdb holds no atoms."
    assert "holds no atoms" in bundle["text/html"]


def test_hostile_names_stay_text():
    bundle = Pae(np.ones((2, 2), dtype=np.float32), None, "<script>x</script>")._repr_mimebundle_()

    assert "<script>x" not in bundle["text/html"]


def test_a_part_loads_what_draws_when_it_is_shown_and_not_before():
    done = subprocess.run([sys.executable, "-c", _PROGRAM, FV], capture_output=True, text=True)

    assert done.returncode == 0, done.stderr
