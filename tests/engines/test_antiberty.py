"""AntiBERTy through our engine gives the same results as AntiBERTy's own runner."""

import csv
import json

import numpy as np
import pytest
from engine_contract import EngineContract, read_manifest
from real_engine import load_engines, run_directly, run_engine
from test_anarci import HEAVY, LIGHT, SINGLE_DOMAIN

from foldnote.results import open_result

CDR3 = range(96, 109)
MASKED = "".join("_" if place in CDR3 else letter for place, letter in enumerate(HEAVY))
DIRECT = f"""
import json
import antiberty
import numpy
runner = antiberty.AntiBERTyRunner()
heavy, light, masked, nanobody = {HEAVY!r}, {LIGHT!r}, {MASKED!r}, {SINGLE_DOMAIN!r}
scores = [float(value) for value in runner.pseudo_log_likelihood([heavy[:40], light[:40]], batch_size=8)]
json.dump({{"scores": scores, "filled": runner.fill_masks([masked]), "classes": runner.classify([heavy, light])}}, open("direct.json", "w"))
embeddings, attentions = runner.embed([nanobody], return_attention=True)
numpy.savez("direct.npz", embedding=embeddings[0].numpy(), attention=attentions[0].numpy())
"""

pytestmark = [
    pytest.mark.engine,
    pytest.mark.extra_engine,
    pytest.mark.skipif(
        not load_engines()["antiberty"].state().installed, reason="needs: foldnote engines install antiberty"
    ),
]


def read(outputs, name):
    with (outputs / name).open(newline="") as stream:
        return list(csv.DictReader(stream))


def run_task(folder, task, **settings):
    outcome, outputs = run_engine("antiberty", folder, {"task": task, **settings})
    assert outcome.state == "succeeded", outcome.error
    return outcome, outputs


@pytest.fixture(scope="module")
def direct(tmp_path_factory):
    folder = tmp_path_factory.mktemp("direct")
    engine = load_engines()["antiberty"]
    run_directly(engine, [str(engine.python), "-c", DIRECT], folder)
    return json.loads((folder / "direct.json").read_text()), np.load(folder / "direct.npz")


@pytest.fixture(scope="module")
def filled(tmp_path_factory):
    settings = {
        "heavyChain": f"{HEAVY[:60].lower()} {HEAVY[60:]}",
        "heavyMask": "97-109",
        "lightChain": LIGHT,
    }
    return run_task(tmp_path_factory.mktemp("mask"), "antibody-mask", **settings)


@pytest.fixture(scope="module")
def run(filled):
    return filled[1]


class TestContract(EngineContract):
    engine = "antiberty"
    needs_seed = False

    def test_a_setting_that_the_engine_never_reads_is_reported_as_ignored(self, run):
        assert read_manifest(run)["settingsIgnored"] == {}


def test_masks_are_filled_as_by_the_runner(filled, direct):
    outcome, outputs = filled
    heavy, light = read(outputs, "summary.csv")
    assert [heavy["filled"]] == direct[0]["filled"]
    assert (heavy["given"], light["filled"]) == (MASKED, LIGHT)
    assert (outputs / "filled.fasta").read_text() == f">heavy\n{heavy['filled']}\n>light\n{LIGHT}\n"
    same = sum(heavy["filled"][place] == HEAVY[place] for place in CDR3)
    assert outcome.score == {"filledResidues": 13, "asGiven": same}


def test_each_masked_residue_has_its_probabilities(filled):
    rows = read(filled[1], "residues.csv")
    assert [int(row["index"]) - 1 for row in rows] == list(CDR3)
    heavy = read(filled[1], "summary.csv")[0]["filled"]
    for row in rows:
        values = {letter: float(row[letter]) for letter in "ACDEFGHIKLMNPQRSTVWY"}
        assert sum(values.values()) == pytest.approx(1, abs=2e-3)
        assert row["best"] == max(values, key=values.get) == heavy[int(row["index"]) - 1]
        assert np.exp(float(row["log_probability"])) == pytest.approx(values[row["residue"]], abs=1e-4)


def test_the_cell_shows_the_chains_and_the_probabilities_as_colours(filled):
    first, second, *_ = open_result(filled[1].parents[1] / "result.zip").bundles()
    assert "Chains 2 rows" in first["text/plain"]
    assert "Probability of each amino acid, heavy chain: 20 × 13 values" in second["text/plain"]


def test_species_and_chain_types_are_the_runners(filled, direct):
    rows = read(filled[1], "summary.csv")
    assert [[row[key] for row in rows] for key in ("species", "chain_type")] == direct[0]["classes"]


def test_pseudo_log_likelihoods_are_the_runners(tmp_path, direct):
    settings = {"heavyChain": HEAVY[:40], "lightChain": LIGHT[:40], "lightMask": "1-3"}
    outcome, outputs = run_task(tmp_path, "antibody-log-likelihood", **settings)
    ours = [outcome.score[f"{name}PseudoLogLikelihood"] for name in ("heavy", "light")]
    assert ours == pytest.approx(direct[0]["scores"], abs=1e-4)
    rows = [row for row in read(outputs, "residues.csv") if row["chain"] == "heavy"]
    assert np.mean([float(row["log_probability"]) for row in rows]) == pytest.approx(ours[0], abs=1e-4)
    assert "Only the mask tasks" in read_manifest(outputs)["settingsIgnored"]["lightMask"]


@pytest.mark.exhaustive  # one forward pass per residue: half a minute or more
def test_trastuzumab_has_its_known_pseudo_log_likelihoods(tmp_path):
    outcome, _ = run_task(tmp_path, "antibody-log-likelihood", heavyChain=HEAVY, lightChain=LIGHT)
    assert outcome.score == {"heavyPseudoLogLikelihood": -0.6447, "lightPseudoLogLikelihood": -0.5818}


def test_embeddings_and_attention_are_the_runners(tmp_path, direct):
    settings = {"heavyChain": SINGLE_DOMAIN, "lightChain": LIGHT, "attention": True}
    _, outputs = run_task(tmp_path, "nanobody-embeddings", **settings)
    embedding, attention = np.load(outputs / "heavy_embedding.npy"), np.load(outputs / "heavy_attention.npy")
    assert embedding.shape == (len(SINGLE_DOMAIN) + 2, 512)
    assert attention.shape == (8, 8, len(SINGLE_DOMAIN) + 2, len(SINGLE_DOMAIN) + 2)
    np.testing.assert_allclose(embedding, direct[1]["embedding"], atol=1e-4)
    np.testing.assert_allclose(attention, direct[1]["attention"], atol=1e-5)
    rows = read(outputs, "heavy_embedding.csv")
    assert "".join(row["residue"] for row in rows) == SINGLE_DOMAIN
    np.testing.assert_allclose([float(row["e512"]) for row in rows], embedding[1:-1, 511], rtol=1e-4)
    means = read(outputs, "attention.csv")
    assert len(means) == len(SINGLE_DOMAIN) ** 2
    assert float(means[1]["attention"]) == pytest.approx(attention[:, :, 1, 2].mean(), abs=1e-5)
    assert "single domain" in read_manifest(outputs)["settingsIgnored"]["lightChain"]
    assert not list(outputs.glob("light_*"))
    shown = open_result(outputs.parents[1] / "result.zip").bundles()[1]
    assert "Attention, heavy chain (mean of all layers and heads): 128 × 128 values" in shown["text/plain"]


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"heavyChain": HEAVY}, "Nothing is masked"),
        ({"heavyChain": HEAVY, "heavyMask": "1-120"}, "covers the whole chain"),
        ({"heavyChain": HEAVY, "heavyMask": "110-130"}, "the chain has residues 1 to 120"),
        ({"heavyChain": HEAVY, "heavyMask": "CDR3"}, "write it like 97-105"),
        (
            {"heavyChain": HEAVY, "heavyMask": "3-5", "lightMask": "3-5"},
            "lightMask is given without lightChain",
        ),
        ({"heavyChain": "EVQX_", "heavyMask": "1-2"}, "The heavy chain has X, _; AntiBERTy takes the 20"),
        ({"heavyChain": "A" * 511, "heavyMask": "1-2"}, "has 511 residues; AntiBERTy reads at most 510"),
        ({"heavyChain": " ", "heavyMask": "1-2"}, "The heavy chain is empty"),
    ],
    ids=["no mask", "all", "outside", "words", "no chain", "letters", "long", "empty"],
)
def test_what_cannot_be_read_is_a_plain_sentence(tmp_path, settings, sentence):
    outcome, _ = run_engine("antiberty", tmp_path, {"task": "antibody-mask", **settings})
    assert outcome.state == "failed"
    assert sentence in outcome.error


def test_exchanged_chains_are_doubted(tmp_path):
    settings = {"heavyChain": LIGHT, "lightChain": HEAVY, "heavyMask": "3-5"}
    _, outputs = run_task(tmp_path, "antibody-mask", **settings)
    notes = read_manifest(outputs)["notes"]
    assert "takes the heavy chain for a light chain" in notes[0]
    assert "takes the light chain for a heavy chain" in notes[1]
