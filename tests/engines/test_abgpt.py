"""AbGPT through our engine generates the same as the authors' package at the same seed, here with stand-in weights."""

import csv
import json
import zipfile

import pytest
from engine_contract import EngineContract, read_manifest
from real_engine import run_directly, run_engine
from stand_ins import install_stand_ins, skip_unless_installed

START, NUMBER, SEED = "EVQLVESGG", 12, 7
DIRECT = f"""
import json, os, sys
from abgpt import generate
from transformers import GPT2LMHeadModel, GPT2TokenizerFast, set_seed
folder = os.environ["FOLDNOTE_WEIGHTS"]
generate.MODEL_REPO = folder
set_seed({SEED})
sys.argv = "abgpt_generate --chain_type heavy --starting_residue {START} --num_seqs {NUMBER}".split()
generate.main()
set_seed({SEED})
light = generate.generate_bcr_sequences({NUMBER}, "light", "{START}")
model, tokenizer = GPT2LMHeadModel.from_pretrained(folder).eval(), GPT2TokenizerFast.from_pretrained(folder)
heavy = ["".join(block.split()) for block in open("bcr_design/heavy_{START}.txt").read().split("\\n\\n") if block.strip()]
texts = [generate.preprocess_sequence(each) for each in heavy]
perplexities = [generate.calculate_perplexity(text, model, tokenizer, "cpu") for text in texts]
json.dump(
    {{"heavy": heavy, "light": ["".join(each.split()) for each in light], "perplexities": perplexities}},
    open("direct.json", "w"),
)
"""

pytestmark = [pytest.mark.engine, pytest.mark.extra_engine, skip_unless_installed("abgpt")]


@pytest.fixture(scope="module", autouse=True)
def engine(tmp_path_factory):
    with install_stand_ins("abgpt", tmp_path_factory.mktemp("abgpt")) as engine:
        yield engine


def read(outputs):
    with (outputs / "sequences.csv").open(newline="") as stream:
        return list(csv.DictReader(stream))


def generate(folder, seed=SEED, **settings):
    given = {"startingResidues": START, "chainType": "heavy", "numSequences": NUMBER} | settings
    outcome, outputs = run_engine("abgpt", folder, given, seed)
    assert outcome.state == "succeeded", outcome.error
    return outcome, outputs


@pytest.fixture(scope="module")
def direct(engine, tmp_path_factory):
    folder = tmp_path_factory.mktemp("direct")
    run_directly(engine, [str(engine.python), "-c", DIRECT], folder)
    return json.loads((folder / "direct.json").read_text())


@pytest.fixture(scope="module")
def made(engine, tmp_path_factory):
    return generate(tmp_path_factory.mktemp("heavy"), startingResidues="evqlv esgg")


@pytest.fixture(scope="module")
def run(made):
    return made[1]


class TestContract(EngineContract):
    engine = "abgpt"
    needs_seed = True


def test_a_run_with_stand_ins_says_so_and_has_no_figures(made):
    outcome, outputs = made
    assert outcome.note == "Ran with stand-in weights: figures mean nothing."
    assert outcome.score is None
    manifest = read_manifest(outputs)
    assert {row["state"] for row in manifest["engine"]["weights"]} == {"stand-in"}
    with zipfile.ZipFile(outputs.parents[1] / "result.zip") as archive:
        assert "score.json" not in archive.namelist()


def test_sequences_and_perplexities_are_those_of_the_package(run, direct):
    rows = read(run)
    pairs = sorted(zip(direct["perplexities"], direct["heavy"], strict=True))
    assert [row["sequence"] for row in rows] == [sequence for _, sequence in pairs]
    assert [float(row["perplexity"]) for row in rows] == pytest.approx(
        [value for value, _ in pairs], rel=1e-4
    )
    assert all(row["sequence"].startswith(START) for row in rows)
    assert [int(row["residues"]) for row in rows] == [len(row["sequence"]) for row in rows]
    figures = json.loads((run.parent / "score.json").read_text())
    assert figures["lowestPerplexity"] == pytest.approx(pairs[0][0], rel=1e-4)


def test_light_chains_are_those_of_the_package(tmp_path, direct):
    rows = read(generate(tmp_path, chainType="light")[1])
    assert sorted(row["sequence"] for row in rows) == sorted(direct["light"])
    assert sorted(direct["light"]) != sorted(direct["heavy"])


def test_the_table_says_which_chains_were_cut_off(run):
    rows = read(run)
    cut = [row for row in rows if row["ended"] == "no"]
    assert 0 < len(cut) < len(rows)
    assert f"{len(cut)} of {NUMBER} sequences were cut off" in " ".join(read_manifest(run)["notes"])


def test_the_fasta_file_has_each_sequence_of_amino_acids_once(run):
    records = (run / "sequences.fasta").read_text().split(">")[1:]
    named = {row["name"]: row for row in read(run) if not row["other_letters"]}
    found = [(head.split()[0], sequence) for head, sequence in (each.strip().split("\n") for each in records)]
    assert [sequence for _, sequence in found] == list(
        dict.fromkeys(row["sequence"] for row in named.values())
    )
    assert all(named[name]["sequence"] == sequence for name, sequence in found)


def test_another_seed_gives_other_sequences(tmp_path, run):
    other = read(generate(tmp_path, seed=8, numSequences=2)[1])
    assert not {row["sequence"] for row in other} & {row["sequence"] for row in read(run)}


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"startingResidues": " "}, "startingResidues is empty"),
        ({"startingResidues": "EVQX"}, "startingResidues has X; AbGPT takes the 20 standard"),
        ({"startingResidues": "EVQL" * 60}, "a chain of AbGPT has at most 49. Give fewer residues"),
        ({"numSequences": 2.5}, "numSequences is 2.5; give a whole number from 1 to 10000"),
        ({"numSequences": 0}, "numSequences is 0; give a whole number from 1 to 10000"),
    ],
    ids=["empty", "letters", "long", "no whole number", "none"],
)
def test_what_cannot_be_continued_is_a_plain_sentence(tmp_path, settings, sentence):
    given = {"startingResidues": START, "chainType": "heavy", "numSequences": 1} | settings
    outcome, _ = run_engine("abgpt", tmp_path, given)
    assert outcome.state == "failed"
    assert sentence in outcome.error
