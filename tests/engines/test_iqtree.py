"""Ancestors through our engine are those of IQ-TREE, and of an independent calculation of the likelihood."""

import csv
import itertools
import json
import math
import random
import re

import pytest
from engine_contract import EngineContract
from real_engine import load_engines, run_directly, run_engine

from foldnote import catalog

PROTEINS = catalog.tool("ancestral-reconstruction").example_job["settings"]["alignmentFile"]
"""Ubiquitin of three species, human NEDD8 and variants of both."""
FAST = {"mode": "AA", "outgroup": "NEDD8_human", "model": "LG", "bootstrap": 100, "fast": True}

LIKELIHOOD_OF_2_0_7 = -467.0085
PROBABILITIES_OF_2_0_7 = {
    ("Node3", "16"): 0.71215,
    ("Node3", "32"): 0.65072,
    ("Node3", "64"): 0.56156,
    ("Node2", "45"): 0.66163,
    ("Node2", "53"): 0.83715,
}

pytestmark = [
    pytest.mark.engine,
    pytest.mark.skipif(
        not load_engines()["iqtree"].state().installed, reason="needs: foldnote engines install iqtree"
    ),
]


def evolve(letters, sites, seed=3):
    """Return five related sequences as FASTA."""
    rng = random.Random(seed)

    def change(sequence, times):
        changed = list(sequence)
        for place in rng.sample(range(sites), times):
            changed[place] = rng.choice(letters)
        return "".join(changed)

    first = "".join(rng.choice(letters) for _ in range(sites))
    left, right = change(first, sites // 8), change(first, sites // 8)
    rows = [change(each, sites // 10) for each in (left, left, right, right, first)]
    return "".join(f">s{place}\n{row}\n" for place, row in enumerate(rows))


NUCLEOTIDES = evolve("ACGT", 120)


def reconstruct(folder, text, seed=7, **settings):
    """Return the outputs of a successful run."""
    outcome, outputs = run_engine(
        "iqtree", folder, {"alignmentFile": "x.fasta", **settings}, seed=seed, texts={"alignmentFile": text}
    )
    assert outcome.state == "succeeded", outcome.error
    return outputs


def read_table(path):
    with path.open(newline="") as stream:
        return list(csv.DictReader(stream))


def read_fasta(path):
    records = path.read_text().split(">")[1:]
    return {record.split("\n")[0]: "".join(record.split("\n")[1:]) for record in records}


def read_score(outputs):
    return json.loads((outputs.parent / "score.json").read_text())


def read_notes(outputs):
    return json.loads((outputs.parent / "notes.json").read_text())


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return reconstruct(tmp_path_factory.mktemp("contract"), PROTEINS, **FAST)


class TestContract(EngineContract):
    engine = "iqtree"
    needs_seed = True
    unrepeatable = ("report.txt",)  # contains the date and the running time
    rare_odd_inputs = ("alignmentFile-unknown residues", "alignmentFile-5000 letters")

    @pytest.mark.exhaustive  # all runs of this file use the example's input or its options
    def test_the_example_runs(self, tmp_path):
        super().test_the_example_runs(tmp_path)


@pytest.fixture(scope="module")
def direct(tmp_path_factory):
    """Return the folder of IQ-TREE's own files for the same alignment, seed and options."""
    folder = tmp_path_factory.mktemp("direct")
    (folder / "x.fasta").write_text(PROTEINS)
    engine = load_engines()["iqtree"]
    program = str(engine.folder / "iqtree_program.py")
    options = "-s x.fasta -st AA -m LG -asr -seed 7 -T 1 -pre x -keep-ident -o NEDD8_human -fast -b 100"
    run_directly(engine, [str(engine.python), program, *options.split()], folder)
    return folder


def test_the_tree_and_its_support_are_those_of_the_program(run, direct):
    assert (run / "tree.nwk").read_text().strip() == (direct / "x.treefile").read_text().strip()


def test_every_probability_is_the_one_of_the_program(run, direct):
    rows = [line.split("\t") for line in (direct / "x.state").read_text().splitlines() if "#" not in line]
    theirs = [(row[0], row[1], *row[3:]) for row in rows[1:]]
    ours = [tuple(row.values()) for row in read_table(run / "all_probabilities.csv")]
    assert sorted(ours) == sorted(theirs)
    best = [(row["node"], row["site"], row["state"]) for row in read_table(run / "probabilities.csv")]
    assert sorted(best) == sorted(tuple(row[:3]) for row in rows[1:])


def test_the_figures_are_those_of_another_version_of_the_program(run):
    """Compared with Debian's IQ-TREE 2.0.7: -s … -st AA -m LG -asr -seed 7 -keep-ident -o NEDD8_human -fast."""
    score = read_score(run)
    assert score["treeLogLikelihood"] == pytest.approx(LIKELIHOOD_OF_2_0_7, abs=0.001)
    table = {(row["node"], row["site"]): row for row in read_table(run / "probabilities.csv")}
    assert {key: float(table[key]["probability"]) for key in PROBABILITIES_OF_2_0_7} == pytest.approx(
        PROBABILITIES_OF_2_0_7, abs=0.001
    )


def test_tables_and_sequences_say_the_same(run):
    sites = read_table(run / "probabilities.csv")
    ancestors = read_fasta(run / "ancestors.fasta")
    for node, sequence in ancestors.items():
        assert sequence == "".join(row["state"] for row in sites if row["node"] == node)
    nodes = {row["node"]: row for row in read_table(run / "nodes.csv") if row["kind"] == "ancestor"}
    assert set(nodes) == set(ancestors) == {f"Node{number}" for number in range(1, 7)}
    for name, row in nodes.items():
        best = [float(site["probability"]) for site in sites if site["node"] == name]
        assert float(row["mean_posterior_probability"]) == pytest.approx(sum(best) / len(best), abs=1e-5)
    assert read_fasta(run / "alignment.fasta") == dict(
        zip(re.findall(r">(\S+)", PROTEINS), re.findall(r"\n([A-Z]+)", PROTEINS), strict=True)
    )


def prune(nodes, rows, site):
    """Return the likelihood of a site by Felsenstein's pruning, and each ancestor's posterior, under Jukes and Cantor.

    It sums over every state of every ancestor, by the definition, and shares no code with the engine.
    """
    inner = [node for node in nodes if node["kind"] == "ancestor"]
    total, marginal = 0.0, {node["node"]: [0.0] * 4 for node in inner}
    for states in itertools.product(range(4), repeat=len(inner)):
        state_of = {node["node"]: state for node, state in zip(inner, states, strict=True)}
        state_of |= {name: "ACGT".index(row[site]) for name, row in rows.items()}
        share = 0.25
        for node in nodes:
            if node["parent"]:
                same = math.exp(-4 / 3 * float(node["branch_length"]))
                is_same = state_of[node["node"]] == state_of[node["parent"]]
                share *= 0.25 + 0.75 * same if is_same else 0.25 - 0.25 * same
        total += share
        for name in marginal:
            marginal[name][state_of[name]] += share
    return total, {name: [each / total for each in shares] for name, shares in marginal.items()}


def test_probabilities_are_those_of_an_independent_calculation(tmp_path):
    four = "".join(NUCLEOTIDES.split(">s4")[0])
    outputs = reconstruct(tmp_path, four, mode="DNA", model="JC")
    nodes, rows = read_table(outputs / "nodes.csv"), read_fasta(outputs / "alignment.fasta")
    table = {
        (row["node"], int(row["site"])): [float(row[base]) for base in "ACGT"]
        for row in read_table(outputs / "all_probabilities.csv")
    }
    log_likelihood = 0.0
    for site in range(120):
        likelihood, posterior = prune(nodes, rows, site)
        log_likelihood += math.log(likelihood)
        for node, expected in posterior.items():
            assert table[node, site + 1] == pytest.approx(expected, abs=1e-4)
    assert read_score(outputs)["treeLogLikelihood"] == pytest.approx(log_likelihood, abs=1e-3)


@pytest.mark.parametrize(
    ("mode", "model"),
    [
        *(("AA", model) for model in ("JTT", "WAG", "Dayhoff")),
        *(("DNA", model) for model in ("GTR", "HKY", "K2P")),
    ],
)
def test_every_model_runs_under_its_name(tmp_path, mode, model):
    text = NUCLEOTIDES if mode == "DNA" else evolve("ACDEFGHIKLMNPQRSTVWY", 40)
    used = read_score(reconstruct(tmp_path, text, mode=mode, model=model))["model"]
    assert used.split("+")[0] == model


def test_the_best_model_is_found_and_compared(tmp_path):
    outputs = reconstruct(tmp_path, NUCLEOTIDES, mode="DNA")
    models = read_table(outputs / "models.csv")
    assert len(models) > 50
    assert models[0]["model"] == read_score(outputs)["model"]
    assert float(models[0]["bic"]) == min(float(row["bic"]) for row in models)


@pytest.mark.parametrize(
    ("mode", "model", "sentence"),
    [
        ("DNA", "LG", "Use MFP, GTR, HKY, JC or K2P, or set mode to AA for amino acids."),
        ("AA", "JC", "Use MFP, JTT, WAG, LG or Dayhoff, or set mode to DNA for nucleotides."),
        ("CODON", "HKY", "The model HKY does not exist for codons (mode CODON). Use MFP, or"),
    ],
)
def test_a_model_of_another_kind_is_refused(tmp_path, mode, model, sentence):
    settings = {"alignmentFile": "x.fasta", "mode": mode, "model": model}
    outcome, _ = run_engine("iqtree", tmp_path, settings, texts={"alignmentFile": PROTEINS})
    assert outcome.state == "failed"
    assert sentence in outcome.error


def test_codons_are_reconstructed_whole(tmp_path):
    rows = ("ATGGCTAAAGGTTGGTAA", "ATGGCTAAAGGCTGG", "ATGGCAGCTAAAGGTTGG")
    text = "".join(f">s{place}\n{row}\n" for place, row in enumerate(rows))
    outputs = reconstruct(tmp_path, text, mode="CODON")
    assert read_fasta(outputs / "alignment.fasta")["s2"] == "ATGGCAGCTAAAGGTTGG"
    (ancestor,) = read_fasta(outputs / "ancestors_gapped.fasta").values()
    assert len(ancestor) == 18
    assert ancestor.replace("---", "") in ("ATGGCTAAAGGTTGG", "ATGGCTAAAGGCTGG")
    assert read_score(outputs)["sites"] == 6
    assert any("aligned by Kalign" in note and "(6 codons)" in note for note in read_notes(outputs))


def test_sequences_of_different_lengths_are_aligned_first(tmp_path):
    shorter = PROTEINS.replace("TGKTITLEVESSD", "TGKVESSD")  # in yeast and Arabidopsis
    outputs = reconstruct(tmp_path, shorter, model="LG")
    rows = read_fasta(outputs / "alignment.fasta")
    assert {len(row) for row in rows.values()} == {76}
    assert rows["ubiquitin_yeast"].replace("-", "") == "".join(shorter.split(">")[2].split("\n")[1:])
    assert any("aligned by Kalign" in note for note in read_notes(outputs))
    gapped, full = (read_fasta(outputs / f"{name}.fasta") for name in ("ancestors_gapped", "ancestors"))
    assert any("-" in row for row in gapped.values())
    assert not any("-" in row for row in full.values())


def test_the_kind_of_bootstrap_is_reported(run, tmp_path):
    assert read_score(run)["bootstrapKind"] == "standard"
    outputs = reconstruct(tmp_path, NUCLEOTIDES, mode="DNA", model="JC", bootstrap=1000)
    assert read_score(outputs)["bootstrapKind"] == "ultrafast"
    assert any("ultrafast bootstrap of 1000 replicates" in note for note in read_notes(outputs))


def test_strange_names_come_back_as_they_were(tmp_path):
    text = NUCLEOTIDES.replace(">s0", ">x(1):'y';[z],{w}").replace(">s1", ">Node2").replace(">s2", ">a/99")
    outputs = reconstruct(tmp_path, text, mode="DNA", model="JC", outgroup="x(1):'y';[z],{w}")
    names = {row["node"] for row in read_table(outputs / "nodes.csv") if row["kind"] == "tip"}
    assert names == {"x(1):'y';[z],{w}", "Node2", "a/99", "s3", "s4"}
    assert {"Ancestor_Node1", "Ancestor_Node2", "Ancestor_Node3"} == set(
        read_fasta(outputs / "ancestors.fasta")
    )
    assert "'x(1):''y'';[z],{w}':" in (outputs / "tree.nwk").read_text()


def test_three_sequences_have_one_ancestor_and_no_support(tmp_path):
    outputs = reconstruct(tmp_path, PROTEINS.split(">NEDD8")[0], model="LG")
    assert list(read_fasta(outputs / "ancestors.fasta")) == ["Node1"]
    assert "bootstrap" in json.loads((outputs.parent / "used.json").read_text())["ignored"]


def test_identical_sequences_are_refused(tmp_path):
    text = "".join(f">s{place}\nMKLVDEFGHI\n" for place in range(5))
    outcome, _ = run_engine("iqtree", tmp_path, {"alignmentFile": "x"}, texts={"alignmentFile": text})
    assert outcome.state == "failed"
    assert "All 5 sequences are identical" in outcome.error
