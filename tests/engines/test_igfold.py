"""IgFold through our engine gives the same results as IgFold's own package, with its predicted errors in Å."""

import csv
import json
from pathlib import Path

import numpy as np
import pytest
from engine_contract import EngineContract, read_manifest
from real_engine import load_engines, run_directly, run_engine, run_tool
from test_anarci import HEAVY, LIGHT
from test_flashabb import ABODYBUILDER, read_atoms, superpose

from foldnote import catalog
from foldnote.results import open_result
from foldnote.viewers.scene.compose import compose

NANOBODY = catalog.tool("igfold").example_job["settings"]["heavy"]
DIRECT = """
import functools, json, random, sys
import antiberty, igfold.runner, numpy, torch
from igfold.utils.folding import process_prediction
from pdbfixer import PDBFixer
igfold.runner.AntiBERTyRunner = lambda device: antiberty.AntiBERTyRunner()
sequences, seed = {"H": sys.argv[1]}, int(sys.argv[2])
out = igfold.runner.IgFoldRunner(verbose=False).fold("none.pdb", sequences=sequences, skip_pdb=True)
json.dump(out.prmsd.square().mean(-1).sqrt()[0].tolist(), open("errors.json", "w"))
random.seed(seed); numpy.random.seed(seed); torch.manual_seed(seed)
PDBFixer.addMissingAtoms = functools.partialmethod(PDBFixer.addMissingAtoms, seed=seed)
process_prediction(out, "direct.pdb", sequences, do_refine=True, use_openmm=True)
"""

pytestmark = [
    pytest.mark.engine,
    pytest.mark.extra_engine,
    pytest.mark.skipif(
        not load_engines()["igfold"].state().installed, reason="needs: foldnote engines install igfold"
    ),
]


def read_errors(outputs):
    with (outputs / "numbering.csv").open(newline="") as stream:
        return [float(row["predicted_error"]) for row in csv.DictReader(stream)]


def read_lines(outputs):
    lines = (outputs / "prediction.pdb").read_text().splitlines()
    return [line for line in lines if line.startswith("ATOM")]


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    outcome, outputs = run_tool("igfold", "igfold", tmp_path_factory.mktemp("example"))
    assert outcome.state == "succeeded", outcome.error
    return outputs


@pytest.fixture(scope="module")
def direct(run, tmp_path_factory):
    """Run the package itself at the seed of the structure that was kept."""
    folder = tmp_path_factory.mktemp("direct")
    engine = load_engines()["igfold"]
    seed = read_manifest(run)["job"]["seed"]
    run_directly(engine, [str(engine.python), "-c", DIRECT, NANOBODY, str(seed)], folder)
    return folder


@pytest.fixture(scope="module")
def pair(tmp_path_factory):
    """Return trastuzumab by one model, not refined, with residues beyond the heavy chain's domain."""
    settings = {"heavy": f"ma{HEAVY}ASTKG", "light": LIGHT, "models": 1, "refinement": "none"}
    outcome, outputs = run_engine("igfold", tmp_path_factory.mktemp("pair"), settings)
    assert outcome.state == "succeeded", outcome.error
    return outcome, outputs


class TestContract(EngineContract):
    engine = "igfold"
    needs_seed = True


def test_every_atom_is_where_the_package_puts_it_at_the_same_seed(run, direct):
    ours, theirs = (read_atoms(path) for path in (run / "prediction.pdb", direct / "direct.pdb"))
    assert ours.shape == theirs.shape
    assert len(ours) > 1500
    assert np.abs(ours - theirs).max() <= 0.002


def test_no_residue_is_a_d_amino_acid(run):
    """A refinement that inverts a Cα is repeated with the next seed."""
    structure = open_result(run.parents[1] / "result.zip").structures[0]
    assert "wrong chirality" not in set(structure.geometry["kind"])
    assert "D-amino acids" not in " ".join(read_manifest(run)["notes"])


def test_the_errors_are_those_of_the_package(run, direct):
    expected = json.loads((direct / "errors.json").read_text())
    np.testing.assert_allclose(read_errors(run), expected, atol=6e-4)
    figures = json.loads((run.parent / "score.json").read_text())
    assert figures["meanPredictedError"] == pytest.approx(np.mean(expected), abs=1e-3)
    assert figures["heavyResidues"] == len(NANOBODY)
    assert "lightResidues" not in figures


def test_residues_have_imgt_numbers_and_their_errors_as_b_factors(run):
    by_residue = {}
    for line in read_lines(run):
        by_residue.setdefault((line[21], line[22:27].strip()), set()).add(float(line[60:66]))
    with (run / "numbering.csv").open(newline="") as stream:
        assert list(by_residue) == [(row["chain"], row["position"]) for row in csv.DictReader(stream)]
    assert {len(values) for values in by_residue.values()} == {1}
    np.testing.assert_allclose([values.pop() for values in by_residue.values()], read_errors(run), atol=6e-3)


def test_the_structure_is_coloured_by_its_error(run):
    structure = open_result(run.parents[1] / "result.zip").structures[0]
    assert structure.confidence is None
    assert structure.b_column.source.startswith("B-factor column of IgFold")
    np.testing.assert_allclose(structure.predicted_error["error"], read_errors(run), atol=6e-3)
    assert "Predicted error (Å, lower is better)" in {each.name for each in compose(structure).colorings}


def test_a_pair_has_the_fold_of_abodybuilder2(pair):
    """Cα of trastuzumab's Fv, which both programs number in the same way."""
    ours, theirs = (read_atoms(path, {"CA"}) for path in (pair[1] / "prediction.pdb", ABODYBUILDER))
    assert len(ours) == len(theirs) == 227
    assert superpose(ours, theirs) < 1.5


def test_without_refinement_there_are_backbone_and_cb_and_no_seed(pair):
    outcome, outputs = pair
    assert {line[12:16].strip() for line in read_lines(outputs)} == {"N", "CA", "C", "O", "CB"}
    assert (outcome.score["refined"], outcome.score["models"], outcome.score["modelTaken"]) == ("no", 1, 1)
    assert read_manifest(outputs)["job"]["seed"] is None
    notes = " ".join(read_manifest(outputs)["notes"])
    assert "The structure is not refined" in notes
    assert "7 residues of the heavy sequence are outside the variable domain" in notes


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"heavy": LIGHT}, "heavy and light are not exchanged"),
        ({"heavy": NANOBODY[:60]}, "Give the whole domain"),
        ({"light": LIGHT.replace("W", "X", 1)}, "The light sequence has X; IgFold takes the 20 standard"),
    ],
    ids=["exchanged", "half", "unknown"],
)
def test_a_sequence_without_a_variable_domain_is_refused(tmp_path, settings, sentence):
    outcome, _ = run_engine("igfold", tmp_path, {"heavy": NANOBODY, **settings})
    assert outcome.state == "failed"
    assert sentence in outcome.error


def test_the_licence_must_be_accepted():
    (terms,) = load_engines()["igfold"].terms
    assert "non-commercial" in terms.licence
    assert Path(terms.url).name == "LICENSE.md"
