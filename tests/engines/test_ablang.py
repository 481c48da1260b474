"""AbLang through our engine gives the same results as AbLang's own class, here with stand-in weights."""

import csv
import json
import zipfile

import numpy as np
import pytest
from engine_contract import EngineContract, read_manifest
from real_engine import run_directly, run_engine
from stand_ins import install_stand_ins, skip_unless_installed
from test_anarci import HEAVY, LIGHT

from foldnote.results import open_result

AMINO_ACIDS = "ACDEFGHIKLMNPQRSTVWY"
CDR3 = range(96, 109)
MASKED = "".join("*" if place in CDR3 else letter for place, letter in enumerate(HEAVY))
DIRECT = f"""
import json, os
import ablang, numpy
folder = os.environ["FOLDNOTE_WEIGHTS"]
heavy = ablang.pretrained("heavy", model_folder=folder + "/heavy")
light = ablang.pretrained("light", model_folder=folder + "/light")
for model in (heavy, light):
    model.freeze()
order = "MRHKDESTNQCGPAVIFYWL"
columns = [order.index(letter) for letter in "{AMINO_ACIDS}"]
numpy.savez(
    "direct.npz",
    scan=heavy([{HEAVY!r}], mode="likelihood")[0][1:-1][:, columns],
    residues=light([{LIGHT!r}], mode="rescoding")[0],
    mean=light([{LIGHT!r}], mode="seqcoding")[0],
)
json.dump(str(heavy([{MASKED!r}], mode="restore")[0]), open("direct.json", "w"))
"""

pytestmark = [pytest.mark.engine, pytest.mark.extra_engine, skip_unless_installed("ablang")]


@pytest.fixture(scope="module", autouse=True)
def engine(tmp_path_factory):
    with install_stand_ins("ablang", tmp_path_factory.mktemp("ablang")) as engine:
        yield engine


def read(outputs, name):
    with (outputs / name).open(newline="") as stream:
        return list(csv.DictReader(stream))


def run_task(folder, task, **settings):
    outcome, outputs = run_engine("ablang", folder, {"task": task, **settings})
    assert outcome.state == "succeeded", outcome.error
    return outcome, outputs


@pytest.fixture(scope="module")
def direct(engine, tmp_path_factory):
    folder = tmp_path_factory.mktemp("direct")
    run_directly(engine, [str(engine.python), "-c", DIRECT], folder)
    return np.load(folder / "direct.npz"), json.loads((folder / "direct.json").read_text())


@pytest.fixture(scope="module")
def filled(engine, tmp_path_factory):
    settings = {"heavySequence": f"{HEAVY[:60].lower()} {HEAVY[60:]}", "heavyMask": "97-109"}
    return run_task(tmp_path_factory.mktemp("mask"), "mask", lightSequence=LIGHT, **settings)


@pytest.fixture(scope="module")
def run(filled):
    return filled[1]


class TestContract(EngineContract):
    engine = "ablang"
    needs_seed = False

    def test_a_setting_that_the_engine_never_reads_is_reported_as_ignored(self, run):
        assert read_manifest(run)["settingsIgnored"] == {}


def test_a_run_with_stand_ins_says_so_and_has_no_figures(filled):
    outcome, outputs = filled
    assert outcome.note == "Ran with stand-in weights: figures mean nothing."
    assert outcome.score is None
    manifest = read_manifest(outputs)
    assert manifest["notes"][0] == outcome.note
    assert {row["state"] for row in manifest["engine"]["weights"]} == {"stand-in"}
    with zipfile.ZipFile(outputs.parents[1] / "result.zip") as archive:
        assert "score.json" not in archive.namelist()


def test_masks_are_filled_as_by_the_program(filled, direct):
    heavy, light = read(filled[1], "summary.csv")
    assert heavy["filled"] == direct[1]
    assert (heavy["given"], light["filled"]) == (MASKED, LIGHT)
    assert (filled[1] / "filled.fasta").read_text() == f">heavy\n{heavy['filled']}\n>light\n{LIGHT}\n"


def test_each_masked_residue_has_its_probabilities(filled):
    rows = read(filled[1], "residues.csv")
    assert [int(row["index"]) - 1 for row in rows] == list(CDR3)
    heavy = read(filled[1], "summary.csv")[0]["filled"]
    for row in rows:
        values = {letter: float(row[letter]) for letter in AMINO_ACIDS}
        assert sum(values.values()) == pytest.approx(1, abs=2e-3)
        assert row["best"] == heavy[int(row["index"]) - 1]
        assert np.exp(float(row["log_probability"])) == pytest.approx(values[row["residue"]], abs=1e-4)


def test_the_scan_has_the_programs_logits(tmp_path, direct):
    _, outputs = run_task(tmp_path, "scan", heavySequence=HEAVY, lightSequence=LIGHT, lightMask="1-3")
    rows = read(outputs, "scan.csv")
    assert "".join(row["residue"] for row in rows) == HEAVY + LIGHT
    ours = np.array([[float(row[letter]) for letter in AMINO_ACIDS] for row in rows[: len(HEAVY)]])
    np.testing.assert_allclose(ours, direct[0]["scan"], atol=1e-4)
    for row, values in zip(rows, ours, strict=False):
        above = values.max() - values[AMINO_ACIDS.index(row["residue"])]
        assert float(row["best_above_given"]) == pytest.approx(above, abs=2e-4)
    assert "Only the mask tasks" in read_manifest(outputs)["settingsIgnored"]["lightMask"]
    shown = open_result(outputs.parents[1] / "result.zip").bundles()
    texts = [each["text/plain"] for each in shown]
    assert any("Logit of each amino acid, heavy chain: 20 × 120 values" in text for text in texts)


def test_embeddings_are_the_programs(tmp_path, direct):
    _, outputs = run_task(tmp_path, "embeddings", lightSequence=LIGHT)
    rows = read(outputs, "light_embedding.csv")
    assert "".join(row["residue"] for row in rows) == LIGHT
    ours = np.array([[float(row[f"e{number}"]) for number in range(1, 769)] for row in rows])
    np.testing.assert_allclose(ours, direct[0]["residues"], rtol=1e-4, atol=1e-5)
    (mean,) = read(outputs, "sequence_embeddings.csv")
    ours = [float(mean[f"e{number}"]) for number in range(1, 769)]
    np.testing.assert_allclose(ours, direct[0]["mean"], rtol=1e-4, atol=1e-5)
    assert not (outputs / "heavy_embedding.csv").exists()


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({}, "There is no sequence"),
        ({"heavySequence": HEAVY}, "Nothing is masked"),
        ({"heavySequence": HEAVY, "heavyMask": "1-120"}, "covers the whole chain"),
        ({"heavySequence": HEAVY, "heavyMask": "110-130"}, "the chain has residues 1 to 120"),
        ({"heavySequence": HEAVY, "heavyMask": "CDR3"}, "write it like 97-105"),
        (
            {"heavySequence": HEAVY, "heavyMask": "3-5", "lightMask": "3-5"},
            "lightMask is given without lightSequence",
        ),
        ({"heavySequence": "EVQX*", "heavyMask": "1-2"}, "The heavy chain has *, X; AbLang takes the 20"),
        ({"heavySequence": "A" * 158, "heavyMask": "1-2"}, "has 158 residues; AbLang reads at most 157"),
    ],
    ids=["nothing", "no mask", "all", "outside", "words", "no chain", "letters", "long"],
)
def test_what_cannot_be_read_is_a_plain_sentence(tmp_path, settings, sentence):
    outcome, _ = run_engine("ablang", tmp_path, {"task": "mask", **settings})
    assert outcome.state == "failed"
    assert sentence in outcome.error


def test_the_longest_chain_that_is_allowed_runs(tmp_path):
    _, outputs = run_task(tmp_path, "scan", heavySequence="A" * 157)
    assert len(read(outputs, "scan.csv")) == 157
