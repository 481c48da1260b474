"""The four models of ABodyBuilder2 give the same errors as in the package, here with stand-in weights of three."""

import json
import shutil
from contextlib import contextmanager

import numpy as np
import pytest
from engine_contract import read_manifest
from immune_comparison import SEED, compare_atoms, compare_errors, predict_directly, read_rows
from real_engine import load_engines, run_engine
from stand_ins import install_stand_ins, skip_unless_installed
from test_abodybuilder2 import CONSTANT, HEAVY, LIGHT
from test_warm_runs import compare

from foldnote.results import open_result
from foldnote.service.engines.weights.state import FOLDER
from foldnote.viewers.scene.compose import compose

MEANINGLESS = "stand-in weights"

pytestmark = [pytest.mark.engine, pytest.mark.extra_engine, skip_unless_installed("abodybuilder2")]


@pytest.fixture(scope="module", autouse=True)
def engine(tmp_path_factory):
    with install_stand_ins("abodybuilder2", tmp_path_factory.mktemp("abodybuilder2")) as engine:
        yield engine


@pytest.fixture(scope="module")
def run(engine, tmp_path_factory):
    folder = tmp_path_factory.mktemp("run")
    outcome, outputs = run_engine("abodybuilder2", folder, {"heavy": HEAVY, "light": LIGHT + CONSTANT}, SEED)
    assert outcome.state == "succeeded", outcome.error
    return outcome, outputs


@pytest.fixture(scope="module")
def direct(engine, tmp_path_factory):
    folder = tmp_path_factory.mktemp("direct")
    predict_directly(engine, "ABodyBuilder2", {"H": HEAVY, "L": LIGHT}, folder)
    return folder


def test_errors_are_those_of_the_package(run, direct):
    compare_errors(run[1], direct)


def test_atoms_are_where_the_package_puts_them(run, direct):
    best = compare_atoms(run[1], direct)
    assert best > 1
    assert f"The structure is that of model {best}." in read_manifest(run[1])["notes"][1]


def test_figures_of_the_whole_are_means(run):
    rows = read_rows(run[1])
    figures = json.loads((run[1].parent / "score.json").read_text())
    assert figures["models"] == 4
    means = {
        "meanPredictedError": rows,
        "cdrH3PredictedError": [row for row in rows if (row["chain"], row["region"]) == ("H", "CDR3")],
    }
    for name, chosen in means.items():
        expected = np.mean([float(row["predicted_error"]) for row in chosen])
        assert figures[name] == pytest.approx(expected, abs=1e-3)


def test_a_run_with_stand_ins_shows_no_scores(run):
    outcome, outputs = run
    assert outcome.score is None
    manifest = read_manifest(outputs)
    assert MEANINGLESS in manifest["notes"][0]
    assert {each["state"] for each in manifest["engine"]["weights"]} == {"stand-in"}
    assert manifest["engine"]["method"] == "ABodyBuilder2 (four models)"
    result = open_result(outputs.parents[1] / "result.zip")
    structure = result.structures[0]
    assert structure.confidence is None
    assert structure.predicted_error is None
    assert "STAND-INS" in (outputs / "prediction.pdb").read_text()[:600]


def test_its_b_factors_are_coloured_as_errors(run, tmp_path):
    """Without the manifest, which marks stand-ins, they are treated as published weights."""
    shutil.copy(run[1] / "prediction.pdb", tmp_path / "prediction.pdb")
    structure = open_result(tmp_path).structures[0]
    assert structure.confidence is None
    assert structure.b_column.meaning == "error"
    scene = compose(structure)
    assert "Predicted error (Å, lower is better)" in {each.name for each in scene.colorings}
    assert not {"confidence", "b-factor"} & {each.key for each in scene.colorings}


def test_one_of_the_weights_alone_changes_nothing(engine, tmp_path):
    """The error estimate of three models was never published, so only one model runs."""
    kept = engine.home / FOLDER / "antibody_model_3"
    with moved_away(kept):
        described = load_engines()["abodybuilder2"]
        assert described.state().installed
        outcome, outputs = run_engine("abodybuilder2", tmp_path, {"heavy": HEAVY, "light": LIGHT}, SEED)
    assert outcome.score["models"] == 1
    assert read_manifest(outputs)["engine"]["method"] == "ABodyBuilder2 (model 1 of 4)"
    assert "predicted_error" not in (outputs / "numbering.csv").read_text()


@pytest.mark.parametrize("keeps", ["its beginning", "nothing"])
def test_damaged_weights_of_the_same_size_are_a_plain_sentence(engine, tmp_path, keeps):
    link = engine.home / FOLDER / "antibody_model_2"
    content = link.read_bytes()
    begin = content[:4] if keeps == "its beginning" else b"<html>"
    with moved_away(link):
        link.write_bytes(begin.ljust(len(content), b"\0"))
        outcome, _ = run_engine("abodybuilder2", tmp_path, {"heavy": HEAVY, "light": LIGHT}, SEED)
    assert outcome.state == "failed"
    assert outcome.error.startswith("The weights of ABodyBuilder2 are damaged")
    assert "foldnote engines remove abodybuilder2" in outcome.error


def test_optional_weights_of_another_size_are_not_used(engine, tmp_path):
    """They changed after the installation; one model runs, and the result says so."""
    link = engine.home / FOLDER / "antibody_model_2"
    content = link.read_bytes()
    with moved_away(link):
        link.write_bytes(content[: len(content) // 2])
        outcome, outputs = run_engine("abodybuilder2", tmp_path, {"heavy": HEAVY, "light": LIGHT}, SEED)
    assert outcome.score["models"] == 1
    assert read_manifest(outputs)["engine"]["method"] == "ABodyBuilder2 (model 1 of 4)"


@pytest.mark.exhaustive
def test_a_worker_gives_what_the_program_gives(tmp_path):
    compare("abodybuilder2", tmp_path)


@contextmanager
def moved_away(path):
    """Move a file of weights away for the block."""
    elsewhere = path.with_name("elsewhere")
    path.rename(elsewhere)
    try:
        yield
    finally:
        elsewhere.replace(path)
