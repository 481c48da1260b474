"""TCRBuilder2 through our engine gives the same results as the package, here with stand-in weights."""

import json
import shutil

import pytest
from engine_contract import EngineContract, read_manifest
from immune_comparison import SEED, compare_atoms, compare_errors, predict_directly, read_rows
from odd_inputs import list_odd_inputs
from real_engine import run_engine
from stand_ins import install_stand_ins, skip_unless_installed
from test_anarci import HEAVY

from foldnote import catalog
from foldnote.results import open_result
from foldnote.viewers.scene.compose import compose

# The receptor A6 of PDB entry 1AO7.
ALPHA, BETA = (catalog.tool("tcrbuilder").example_job["settings"][field] for field in ("alpha", "beta"))
CONSTANT = "DIQNPDPAVYQLRD"

pytestmark = [pytest.mark.engine, pytest.mark.extra_engine, skip_unless_installed("tcrbuilder2")]


@pytest.fixture(scope="module", autouse=True)
def engine(tmp_path_factory):
    with install_stand_ins("tcrbuilder2", tmp_path_factory.mktemp("tcrbuilder2")) as engine:
        yield engine


@pytest.fixture(scope="module")
def prediction(engine, tmp_path_factory):
    """Run one prediction with the network cut; the alpha chain has some residues of the constant domain."""
    settings = {"alpha": f"{ALPHA.lower()} {CONSTANT}", "beta": BETA}
    outcome, outputs = run_engine("tcrbuilder2", tmp_path_factory.mktemp("run"), settings, SEED)
    assert outcome.state == "succeeded", outcome.error
    return outcome, outputs


@pytest.fixture(scope="module")
def run(prediction):
    return prediction[1]


@pytest.fixture(scope="module")
def direct(engine, tmp_path_factory):
    folder = tmp_path_factory.mktemp("direct")
    predict_directly(engine, "TCRBuilder2", {"B": BETA, "A": ALPHA + CONSTANT}, folder)
    return folder


class TestContract(EngineContract):
    engine = "tcrbuilder2"
    needs_seed = True
    rare_odd_inputs = tuple(
        odd.name for odd in list_odd_inputs("tcrbuilder")
    )  # loading PyTorch takes seconds in each


def test_errors_are_those_of_the_package(run, direct):
    compare_errors(run, direct)


def test_atoms_are_where_the_package_puts_them(run, direct):
    best = compare_atoms(run, direct)
    assert f"The structure is that of model {best}." in " ".join(read_manifest(run)["notes"])


def test_third_cdrs_are_those_of_imgt(run):
    """CAVTTDSWGKLQF and CASRPGLAGGRPEQYF without the cysteine and the phenylalanine (Garboczi et al. 1996)."""
    third = {
        chain: "".join(
            row["residue"] for row in read_rows(run) if (row["chain"], row["region"]) == (chain, "CDR3")
        )
        for chain in "AB"
    }
    assert third == {"A": "AVTTDSWGKLQ", "B": "ASRPGLAGGRPEQY"}


def test_figures_are_means_of_errors(run):
    figures = json.loads((run.parent / "score.json").read_text())
    errors = [float(row["predicted_error"]) for row in read_rows(run)]
    assert figures["meanPredictedError"] == pytest.approx(sum(errors) / len(errors), abs=1e-3)
    assert (figures["alphaResidues"], figures["betaResidues"], figures["models"]) == (
        len(ALPHA),
        len(BETA),
        4,
    )
    assert {"cdrA3PredictedError", "cdrB3PredictedError"} <= figures.keys()


def test_what_is_outside_of_the_domain_is_reported(run):
    assert f"{len(CONSTANT)} residues of the alpha sequence" in " ".join(read_manifest(run)["notes"])


def test_stand_ins_show_no_scores(prediction):
    outcome, outputs = prediction
    assert outcome.score is None
    assert "stand-in weights" in read_manifest(outputs)["notes"][0]


def test_its_b_factors_are_coloured_as_errors(run, tmp_path):
    """Without the manifest, which marks stand-ins, they are treated as published weights."""
    shutil.copy(run / "prediction.pdb", tmp_path / "prediction.pdb")
    structure = open_result(tmp_path).structures[0]
    assert structure.b_column.source.startswith("B-factor column of TCRBuilder2")
    assert "Predicted error (Å, lower is better)" in {each.name for each in compose(structure).colorings}


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"alpha": BETA, "beta": ALPHA}, "Check that alpha and beta are not exchanged"),
        ({"alpha": HEAVY}, "it is that of an antibody's heavy chain"),
        ({"beta": BETA[:60]}, "has 60 residues"),
        ({"beta": BETA[:-14]}, "lacks residues at an end"),
        ({"alpha": ALPHA.replace("W", "X")}, "alpha sequence has X; TCRBuilder2 takes the 20 standard"),
    ],
    ids=["exchanged", "antibody", "short", "cut", "letters"],
)
def test_chains_that_cannot_be_modelled_are_a_plain_sentence(tmp_path, settings, sentence):
    outcome, _ = run_engine("tcrbuilder2", tmp_path, {"alpha": ALPHA, "beta": BETA, **settings})
    assert outcome.state == "failed"
    assert sentence in outcome.error
