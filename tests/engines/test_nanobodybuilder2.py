"""NanoBodyBuilder2 through our engine gives the same results as the package, here with stand-in weights."""

import json

import pytest
from engine_contract import EngineContract, read_manifest
from immune_comparison import SEED, compare_atoms, compare_errors, predict_directly, read_rows
from odd_inputs import list_odd_inputs
from real_engine import run_engine
from stand_ins import install_stand_ins, skip_unless_installed
from test_anarci import LIGHT
from test_tcrbuilder2 import BETA

from foldnote import catalog

# Caplacizumab's variable domain.
NANOBODY = catalog.tool("nanobodybuilder").example_job["settings"]["heavy"]
TAG = "GGGGSHHHHHH"

pytestmark = [pytest.mark.engine, pytest.mark.extra_engine, skip_unless_installed("nanobodybuilder2")]


@pytest.fixture(scope="module", autouse=True)
def engine(tmp_path_factory):
    with install_stand_ins("nanobodybuilder2", tmp_path_factory.mktemp("nanobodybuilder2")) as engine:
        yield engine


@pytest.fixture(scope="module")
def run(engine, tmp_path_factory):
    """Return the outputs of one prediction with the network cut, of a domain with a tag."""
    folder = tmp_path_factory.mktemp("run")
    outcome, outputs = run_engine("nanobodybuilder2", folder, {"heavy": NANOBODY + TAG}, SEED)
    assert outcome.state == "succeeded", outcome.error
    return outputs


@pytest.fixture(scope="module")
def direct(engine, tmp_path_factory):
    folder = tmp_path_factory.mktemp("direct")
    predict_directly(engine, "NanoBodyBuilder2", {"H": NANOBODY + TAG}, folder)
    return folder


class TestContract(EngineContract):
    engine = "nanobodybuilder2"
    needs_seed = True
    rare_odd_inputs = tuple(
        odd.name for odd in list_odd_inputs("nanobodybuilder")
    )  # loading PyTorch takes seconds in each


def test_errors_are_those_of_the_package(run, direct):
    compare_errors(run, direct)


def test_atoms_are_where_the_package_puts_them(run, direct):
    best = compare_atoms(run, direct)
    assert f"The structure is that of model {best}." in " ".join(read_manifest(run)["notes"])


def test_cdrs_are_those_of_imgt(run):
    cdrs = {
        region: "".join(row["residue"] for row in read_rows(run) if row["region"] == region)
        for region in ("CDR1", "CDR2", "CDR3")
    }
    assert cdrs == {"CDR1": "GRTFSYNP", "CDR2": "ISRTGGST", "CDR3": "AAAGVRAEDGRVRTLPSEYTF"}


def test_there_is_one_chain_and_its_figures(run):
    assert {row["chain"] for row in read_rows(run)} == {"H"}
    figures = json.loads((run.parent / "score.json").read_text())
    third = [float(row["predicted_error"]) for row in read_rows(run) if row["region"] == "CDR3"]
    assert figures["cdrH3PredictedError"] == pytest.approx(sum(third) / len(third), abs=1e-3)
    assert (figures["heavyResidues"], figures["models"]) == (len(NANOBODY), 4)


def test_a_tag_is_left_out_and_reported(run):
    assert f"{len(TAG)} residues of the heavy sequence" in " ".join(read_manifest(run)["notes"])


@pytest.mark.parametrize(
    ("sequence", "sentence"),
    [
        (LIGHT, "it is that of an antibody's light chain"),
        (BETA, "it is that of a T-cell receptor's beta chain"),
        (NANOBODY[:100], "lacks residues at an end"),
    ],
    ids=["light", "receptor", "cut"],
)
def test_a_sequence_that_is_not_a_nanobody_is_reported_in_a_plain_sentence(tmp_path, sequence, sentence):
    outcome, _ = run_engine("nanobodybuilder2", tmp_path, {"heavy": sequence})
    assert outcome.state == "failed"
    assert sentence in outcome.error
