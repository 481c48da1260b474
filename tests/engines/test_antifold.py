"""AntiFold through our engine gives the same results as AntiFold's own functions, here with stand-in weights."""

import csv
import json

import numpy as np
import pytest
from engine_contract import EngineContract, read_manifest
from real_engine import make_settings, run_directly, run_tool
from stand_ins import install_stand_ins, skip_unless_installed

from foldnote.results import open_result

ANTIBODY = make_settings("antifold")[1]["pdbFile"]
AMINO_ACIDS = "ACDEFGHIKLMNPQRSTVWY"
DIRECT = """
import json, os, sys
import pandas
from antifold import antiscripts
antiscripts.os.path.exists = lambda path, real=os.path.exists: True if str(path).endswith("models/model.pt") else real(path)
load = antiscripts.load_IF1_checkpoint
antiscripts.load_IF1_checkpoint = lambda model, path: load(model, os.environ["FOLDNOTE_WEIGHTS"] + "/model.pt")
model = antiscripts.load_model()
row = {"pdb": "given", "Hchain": "H", "Lchain": "L"}
(plain,) = antiscripts.get_pdbs_logits(model, pandas.DataFrame([row]), ".")
(single,) = antiscripts.get_pdbs_logits(model, pandas.DataFrame([{"pdb": "given", "Hchain": "H"}]), ".", custom_chain_mode=True)
(whole,) = antiscripts.get_pdbs_logits(model, pandas.DataFrame([row | {"Agchain": "A"}]), ".", custom_chain_mode=True)
antiscripts.seed_everything(7)
sampled = antiscripts.sample_from_df_logits(plain, sample_n=3, sampling_temp=0.5, regions_to_mutate=["CDRH3"])
tables = {"plain": plain, "single": single, "whole": whole}
logs = {name: antiscripts.df_logits_to_logprobs(table) for name, table in tables.items()}
letters = list("ACDEFGHIKLMNPQRSTVWY")
json.dump({
    "logs": {name: table[letters].values.tolist() for name, table in logs.items()},
    "perplexity": plain["perplexity"].tolist(),
    "sampled": [[str(each.seq), each.description] for each in sampled.values()],
}, open("direct.json", "w"))
"""

pytestmark = [pytest.mark.engine, pytest.mark.extra_engine, skip_unless_installed("antifold")]


@pytest.fixture(scope="module", autouse=True)
def engine(tmp_path_factory):
    with install_stand_ins("antifold", tmp_path_factory.mktemp("antifold")) as engine:
        yield engine


def add_antigen(text):
    """Add a small antigen to the structure: ten residues of the heavy chain, moved, as chain A."""
    atoms = [line for line in text.splitlines() if line.startswith("ATOM")]
    copied = [line for line in atoms if line[21] == "H" and 1 <= int(line[22:26]) <= 9]
    moved = [f"{line[:21]}A{line[22:30]}{float(line[30:38]) + 12:8.3f}{line[38:]}" for line in copied]
    return "\n".join([*atoms, *moved, "END", ""])


COMPLEX = add_antigen(ANTIBODY)


@pytest.fixture(scope="module")
def direct(engine, tmp_path_factory):
    folder = tmp_path_factory.mktemp("direct")
    (folder / "given.pdb").write_text(COMPLEX)
    run_directly(engine, [str(engine.python), "-c", DIRECT], folder)
    return json.loads((folder / "direct.json").read_text())


def read(outputs, name):
    with (outputs / name).open(newline="") as stream:
        return list(csv.DictReader(stream))


def read_logs(outputs):
    return np.array([[float(row[each]) for each in AMINO_ACIDS] for row in read(outputs, "residues.csv")])


def run_job(folder, **changed):
    outcome, outputs = run_tool("antifold", "antifold", folder, **changed)
    assert outcome.state == "succeeded", outcome.error
    return outputs


@pytest.fixture(scope="module")
def run(engine, tmp_path_factory):
    more = {"numSequences": 3, "temperature": 0.5, "regions": ["CDRH3"]}
    return run_job(tmp_path_factory.mktemp("run"), **more)


class TestContract(EngineContract):
    engine = "antifold"
    needs_seed = True

    def test_a_setting_that_the_engine_never_reads_is_reported_as_ignored(self, run):
        assert read_manifest(run)["settingsIgnored"] == {}


def test_log_probabilities_and_perplexities_are_the_programs(run, direct):
    np.testing.assert_allclose(read_logs(run), direct["logs"]["plain"], atol=1e-3)
    ours = [float(row["perplexity"]) for row in read(run, "residues.csv")]
    np.testing.assert_allclose(ours, direct["perplexity"], atol=1e-3)


def test_sampled_sequences_and_their_scores_are_the_programs(run, direct):
    rows = read(run, "sequences.csv")
    assert [f"{row['heavy']}/{row['light']}" for row in rows] == [each for each, _ in direct["sampled"]]
    for row, (_, description) in list(zip(rows, direct["sampled"], strict=True))[1:]:
        said = dict(part.split("=") for part in description.strip(", ").split(", "))
        for name in ("score", "global_score", "seq_recovery", "mutations"):
            column = "antifold_score" if name == "score" else name
            assert float(row[column]) == pytest.approx(float(said[name]), abs=2e-4)
    fasta = (run / "sequences.fasta").read_text().splitlines()
    assert fasta[1] == direct["sampled"][0][0]


def test_only_the_wanted_region_is_changed(run):
    residues = [row for row in read(run, "residues.csv") if row["chain"] == "H"]
    given, *sampled = read(run, "sequences.csv")
    assert len(sampled) == 3
    for row in sampled:
        assert row["light"] == given["light"]
        changed = [
            residues[i]["number"]
            for i, (a, b) in enumerate(zip(given["heavy"], row["heavy"], strict=True))
            if a != b
        ]
        assert all(105 <= int(number.rstrip("ABCDEFGH")) <= 117 for number in changed)


def test_the_antigen_counts_if_included(run, direct, tmp_path):
    outputs = run_job(tmp_path, pdbFile=COMPLEX, includeAntigen=True, numSequences=0)
    np.testing.assert_allclose(read_logs(outputs), direct["logs"]["whole"], atol=1e-3)
    assert {row["chain"] for row in read(outputs, "residues.csv")} == {"H", "L", "A"}
    assert not (outputs / "sequences.csv").exists()


def test_a_nanobody_gets_scores(direct, tmp_path):
    outputs = run_job(tmp_path, task="nanobody", numSequences=5)
    np.testing.assert_allclose(read_logs(outputs), direct["logs"]["single"], atol=1e-3)
    ignored = read_manifest(outputs)["settingsIgnored"]
    assert ignored["numSequences"] == "AntiFold samples paired antibodies only."
    assert "lightChain" in ignored


def test_other_numbers_than_those_of_imgt_are_doubted(tmp_path):
    atoms = [line for line in ANTIBODY.splitlines() if line.startswith("ATOM")]
    numbers = {}
    for line in atoms:
        numbers.setdefault(line[21:27], len([each for each in numbers if each[0] == line[21]]) + 1)
    text = "\r\n".join(f"{line[:22]}{numbers[line[21:27]]:4} {line[27:]}" for line in atoms)
    outputs = run_job(tmp_path, pdbFile=text, numSequences=1)
    assert any("which IMGT leaves out" in note for note in read_manifest(outputs)["notes"])


def test_the_cell_shows_probabilities_and_sequences(run):
    texts = [each["text/plain"] for each in open_result(run.parents[1] / "result.zip").bundles()]
    assert texts[0].startswith("This ran with stand-in weights")
    assert texts[1].startswith("Sequences")
    assert any("Log-probability of each amino acid, chain H" in text for text in texts)


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({"lightChain": ""}, "lightChain is empty"),
        ({"lightChain": "H"}, "A chain is named twice: H, H"),
        ({"heavyChain": "X"}, "The structure has no chain X; it has H, L"),
        ({"includeAntigen": True, "antigenChain": "Z"}, "The structure has no chain Z"),
        ({"numSequences": -1}, "numSequences is -1; give a whole number"),
        ({"temperature": 0}, "temperature is 0; give a number above 0"),
        ({"regions": "CDR9"}, "regions has CDR9; AntiFold knows all"),
        ({"pdbFile": " "}, "The file is empty"),
    ],
    ids=["no light", "twice", "heavy", "antigen", "number", "temperature", "region", "empty"],
)
def test_what_cannot_be_used_is_a_plain_sentence(tmp_path, changed, sentence):
    outcome, _ = run_tool("antifold", "antifold", tmp_path, **changed)
    assert outcome.state == "failed"
    assert sentence in outcome.error
