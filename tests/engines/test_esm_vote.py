"""The vote of six language models, compared with the published procedure on fair-esm itself; with stand-in weights."""

import csv
import json

import numpy as np
import pytest
from engine_contract import EngineContract, read_manifest
from real_engine import run_directly, run_engine, run_tool
from stand_ins import install_stand_ins, skip_unless_installed
from test_anarci import HEAVY, LIGHT

from foldnote.results import open_result

# Independent of run.py: fair-esm's own loader, embeddings and head separately, and argmax over the whole
# alphabet, as in the repository of Hie et al.
DIRECT = f"""
import argparse, json, os, esm, numpy, torch
load = torch.load
torch.load = lambda *a, **k: load(*a, **k | {{"weights_only": False}})
esm.pretrained._has_regression_weights = lambda name: False
sequence, votes, logs = {HEAVY!r}, {{}}, []
for name in ["esm1b_t33_650M_UR50S"] + [f"esm1v_t33_650M_UR90S_{{n}}" for n in range(1, 6)]:
    path = os.environ["FOLDNOTE_WEIGHTS"] + f"/{{name}}.pt"
    model, alphabet = esm.pretrained.load_model_and_alphabet(path)
    model.eval()
    _, _, tokens = alphabet.get_batch_converter()([("seq0", sequence)])
    with torch.no_grad():
        states = model(tokens, repr_layers=[model.num_layers])["representations"][model.num_layers][0, 1:-1]
        logits = model.lm_head(states).numpy()
    logs.append(logits - numpy.log(numpy.exp(logits).sum(axis=1, keepdims=True)))
    for place, best in enumerate(logits.argmax(axis=1)):
        token = alphabet.all_toks[best]
        if "<" not in token and token not in "BJOUXZ-." and token != sequence[place]:
            votes[f"{{sequence[place]}}{{place + 1}}{{token}}"] = votes.get(f"{{sequence[place]}}{{place + 1}}{{token}}", 0) + 1
mean = numpy.mean(logs, axis=0)
own = [float(mean[place, alphabet.get_idx(letter)]) for place, letter in enumerate(sequence)]
json.dump({{"votes": votes, "own": own}}, open("direct.json", "w"))
"""

pytestmark = [pytest.mark.engine, pytest.mark.extra_engine, skip_unless_installed("esm_vote")]


@pytest.fixture(scope="module", autouse=True)
def engine(tmp_path_factory):
    with install_stand_ins("esm_vote", tmp_path_factory.mktemp("esm_vote")) as engine:
        yield engine


def read(outputs, name):
    with (outputs / name).open(newline="") as stream:
        return list(csv.DictReader(stream))


@pytest.fixture(scope="module")
def direct(engine, tmp_path_factory):
    folder = tmp_path_factory.mktemp("direct")
    run_directly(engine, [str(engine.python), "-c", DIRECT], folder)
    return json.loads((folder / "direct.json").read_text())


@pytest.fixture(scope="module")
def run(engine, tmp_path_factory):
    outcome, outputs = run_tool(
        "esm_vote", "antibody-evolution", tmp_path_factory.mktemp("run"), sequence=HEAVY
    )
    assert outcome.state == "succeeded", outcome.error
    return outputs


class TestContract(EngineContract):
    engine = "esm_vote"
    needs_seed = False


def test_substitutions_and_votes_are_those_of_the_published_procedure(run, direct):
    rows = read(run, "substitutions.csv")
    assert {row["substitution"]: int(row["votes"]) for row in rows} == direct["votes"]
    assert [int(row["votes"]) for row in rows] == sorted(map(int, direct["votes"].values()), reverse=True)
    for row in rows:
        assert len(row["models"].split(", ")) == int(row["votes"])
        assert row["substitution"] == f"{row['wild_type']}{row['index']}{row['mutant']}"


def test_positions_have_the_mean_log_probability(run, direct):
    rows = read(run, "positions.csv")
    assert "".join(row["residue"] for row in rows) == HEAVY
    ours = [float(row["mean_log_probability"]) for row in rows]
    np.testing.assert_allclose(ours, direct["own"], atol=1e-3)


def test_figures_count_the_substitutions(run, direct):
    score = json.loads((run.parent / "score.json").read_text())
    votes = direct["votes"].values()
    assert score == {"substitutions": len(votes), "substitutionsOfTwoModels": sum(each > 1 for each in votes)}


def test_each_weights_origin_is_in_the_manifest(run):
    weights = read_manifest(run)["engine"]["weights"]
    assert len(weights) == 6
    assert {each["state"] for each in weights} == {"stand-in"}
    assert read_manifest(run)["notes"][0].startswith("Ran with stand-in weights")


def test_the_cell_shows_the_votes_along_the_chain(run):
    texts = [each["text/plain"] for each in open_result(run.parents[1] / "result.zip").bundles()]
    assert texts[0].startswith("This ran with stand-in weights")
    assert texts[1].startswith("Recommended substitutions")
    assert any("Votes" in text for text in texts[2:])


@pytest.mark.parametrize(
    ("sequence", "sentence"),
    [
        (" \r\n", "The sequence is empty"),
        (f"{HEAVY}X-", "The sequence has -, X; the method takes the 20 standard amino acids only."),
        ("A" * 1023, "has 1023 residues; the models read at most 1022"),
    ],
    ids=["empty", "letters", "long"],
)
def test_what_cannot_be_read_is_a_plain_sentence(tmp_path, sequence, sentence):
    outcome, _ = run_engine("esm_vote", tmp_path, {"sequence": sequence})
    assert outcome.state == "failed"
    assert sentence in outcome.error


def test_lower_case_and_line_ends_are_cleaned(tmp_path):
    _, outputs = run_engine("esm_vote", tmp_path, {"sequence": f"{LIGHT[:50].lower()}\r\n{LIGHT[50:]}\n"})
    assert "".join(row["residue"] for row in read(outputs, "positions.csv")) == LIGHT


def test_the_longest_sequence_that_is_allowed_runs(tmp_path):
    outcome, _ = run_engine("esm_vote", tmp_path, {"sequence": (HEAVY * 9)[:1022]})
    assert outcome.state == "succeeded", outcome.error
