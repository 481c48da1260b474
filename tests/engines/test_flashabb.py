"""FlashABB through our engine gives the same results as FlashABB's own package, and reports no confidence."""

import csv
import json
import math
from pathlib import Path

import numpy as np
import pytest
from engine_contract import EngineContract, read_manifest
from real_engine import load_engines, run_directly, run_engine, run_tool
from test_anarci import HEAVY, LIGHT

import foldnote.catalog

ABODYBUILDER = Path(foldnote.catalog.__file__).parent / "examples" / "trastuzumab-fv.pdb"
DIRECT = f"""
import json
import torch
from flash_abb import pretrained, pretrained_tap
pair = {f"{HEAVY}|{LIGHT}"!r}
with torch.no_grad():
    pretrained(device="cpu")([pair]).to_pdbs(["direct"])
result = pretrained_tap(device="cpu")([pair])
json.dump([result.scores[0], result.flag_probs[0], float(result.any_flag_prob[0])], open("direct.json", "w"))
"""

pytestmark = [
    pytest.mark.engine,
    pytest.mark.extra_engine,
    pytest.mark.skipif(
        not load_engines()["flashabb"].state().installed, reason="needs: foldnote engines install flashabb"
    ),
]


def read(outputs, name):
    with (outputs / name).open(newline="") as stream:
        return list(csv.DictReader(stream))


def read_atoms(path, names=None):
    """Return positions in file order, of the atoms with these names if any are given."""
    return np.array(
        [
            [float(line[start : start + 8]) for start in (30, 38, 46)]
            for line in path.read_text().splitlines()
            if line.startswith("ATOM") and (names is None or line[12:16].strip() in names)
        ]
    )


def superpose(first, second):
    """Return the root mean square distance after superposition (Kabsch 1976)."""
    first, second = first - first.mean(0), second - second.mean(0)
    u, _, v = np.linalg.svd(first.T @ second)
    turn = u @ np.diag([1, 1, np.sign(np.linalg.det(u @ v))]) @ v
    return math.sqrt(((first @ turn - second) ** 2).sum(1).mean())


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    outcome, outputs = run_tool("flashabb", "flashabb", tmp_path_factory.mktemp("example"))
    assert outcome.state == "succeeded", outcome.error
    return outputs


@pytest.fixture(scope="module")
def direct(tmp_path_factory):
    folder = tmp_path_factory.mktemp("direct")
    engine = load_engines()["flashabb"]
    run_directly(engine, [str(engine.python), "-c", DIRECT], folder)
    return folder


class TestContract(EngineContract):
    engine = "flashabb"
    needs_seed = False


def test_every_atom_is_where_the_package_puts_it(run, direct):
    ours, theirs = (read_atoms(path) for path in (run / "prediction.pdb", direct / "direct.pdb"))
    assert ours.shape == theirs.shape
    assert np.abs(ours - theirs).max() <= 0.002


def test_the_scores_are_those_of_the_package(run, direct):
    scores, flags, anywhere = json.loads((direct / "direct.json").read_text())
    for row in read(run, "developability.csv"):
        assert float(row["value"]) == pytest.approx(scores[row["score"]], abs=2e-3)
        assert float(row["flag_probability"]) == pytest.approx(flags[row["score"]], abs=1e-3)
    figures = json.loads((run.parent / "score.json").read_text())
    assert figures["anyFlagProbability"] == pytest.approx(anywhere, abs=1e-3)


def test_the_fold_is_that_of_abodybuilder2(run):
    """Cα of trastuzumab's Fv, which both programs number in the same way."""
    ours, theirs = (read_atoms(path, {"CA"}) for path in (run / "prediction.pdb", ABODYBUILDER))
    assert len(ours) == len(theirs) == 227
    assert superpose(ours, theirs) < 1.5


def test_residues_have_imgt_numbers_and_no_confidence(run):
    lines = [line for line in (run / "prediction.pdb").read_text().splitlines() if line.startswith("ATOM")]
    assert {line[60:66].strip() for line in lines} == {"0.00"}
    numbered = [(row["chain"], row["position"]) for row in read(run, "numbering.csv")]
    assert list(dict.fromkeys((line[21], line[22:27].strip()) for line in lines)) == numbered
    assert ("H", "111") in numbered
    assert "no confidence" in " ".join(read_manifest(run)["notes"])


def test_constant_domains_are_left_out_and_reported(tmp_path):
    outcome, outputs = run_engine(
        "flashabb", tmp_path, {"heavy": f"ma{HEAVY}ASTKG", "light": LIGHT, "developability": False}
    )
    assert outcome.state == "succeeded", outcome.error
    assert outcome.score["heavyResidues"] == len(HEAVY)
    assert "PSH" not in outcome.score
    assert not (outputs / "developability.csv").exists()
    assert "7 residues of the heavy sequence" in " ".join(read_manifest(outputs)["notes"])


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"heavy": LIGHT, "light": HEAVY}, "heavy and light are not exchanged"),
        ({"heavy": HEAVY[:60]}, "Give the whole domain"),
        ({"heavy": HEAVY.replace("W", "X", 1)}, "the 20 standard amino acids only"),
    ],
    ids=["exchanged", "half", "unknown"],
)
def test_sequences_that_are_not_a_pair_of_variable_domains_are_refused(tmp_path, settings, sentence):
    outcome, _ = run_engine("flashabb", tmp_path, {"heavy": HEAVY, "light": LIGHT, **settings})
    assert outcome.state == "failed"
    assert sentence in outcome.error
