"""Macrel through our engine gives the same results as the macrel program."""

import csv
import gzip

import pytest
from engine_contract import EngineContract, read_manifest
from real_engine import load_engines, run_directly, run_engine

# Magainin 2, melittin (haemolytic), human beta-defensin 2 (six cysteines), and residues 1-28 of bovine serum albumin.
PEPTIDES = {
    "magainin": "GIGKFLHSAKKFGKAFVGEIMNS",
    "melittin": "GIGAVLKVLTTGLPALISWIKRKRQQ",
    "defensin": "GIGDPVTCLKSGAICHPVFCPRRYKQIGTCGLPGTKCCKKP",
    "albumin": "DTHKSEIAHRFKDLGEEHFKGLVLIAFS",
}

pytestmark = [
    pytest.mark.engine,
    pytest.mark.extra_engine,
    pytest.mark.skipif(
        not load_engines()["macrel"].state().installed, reason="needs: foldnote engines install macrel"
    ),
]


def predict(folder, sequence):
    outcome, outputs = run_engine("macrel", folder, {"sequence": sequence})
    assert outcome.state == "succeeded", outcome.error
    with (outputs / "prediction.csv").open(newline="") as stream:
        (row,) = csv.DictReader(stream)
    return outcome, outputs, row


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    sequence = f"{PEPTIDES['magainin'][:9].lower()} {PEPTIDES['magainin'][9:]}\n"
    return predict(tmp_path_factory.mktemp("macrel"), sequence)[1]


class TestContract(EngineContract):
    engine = "macrel"
    needs_seed = False


@pytest.fixture(scope="module")
def direct(tmp_path_factory):
    """Return the program's own table of all peptides in one run."""
    folder, engine = tmp_path_factory.mktemp("direct"), load_engines()["macrel"]
    (folder / "all.fasta").write_text("".join(f">{name}\n{text}\n" for name, text in PEPTIDES.items()))
    program = [str(engine.python), str(engine.python.parent / "macrel"), "peptides", "--fasta", "all.fasta"]
    run_directly(engine, [*program, "--output", "out", "--keep-negatives"], folder)
    with gzip.open(folder / "out/macrel.out.prediction.gz", "rt") as stream:
        rows = csv.DictReader((line for line in stream if not line.startswith("#")), delimiter="\t")
        return {row["Access"]: row for row in rows}


@pytest.mark.parametrize("name", PEPTIDES)
def test_each_figure_is_the_programs(tmp_path, direct, name):
    outcome, _, row = predict(tmp_path, PEPTIDES[name])
    theirs = direct[name]
    assert row["family"] == theirs["AMP_family"]
    assert row["is_antimicrobial"] == theirs["is_AMP"]
    assert (row["is_haemolytic"] == "True") == (theirs["Hemolytic"] == "Hemo")
    assert float(row["antimicrobial_probability"]) == float(theirs["AMP_probability"])
    assert outcome.score == {
        "antimicrobial_probability": float(theirs["AMP_probability"]),
        "haemolytic_probability": float(theirs["Hemolytic_probability"]),
    }


def test_known_peptides_are_judged_as_they_are(direct):
    assert {name: row["is_AMP"] for name, row in direct.items()} == {
        "magainin": "True",
        "melittin": "True",
        "defensin": "True",
        "albumin": "False",
    }
    assert direct["melittin"]["Hemolytic"] == "Hemo"
    assert direct["defensin"]["AMP_family"] == "CDP"


def test_a_first_methionine_and_an_unusual_length_are_reported(tmp_path):
    _, outputs, row = predict(tmp_path / "short", "MGIG")
    first, second = read_manifest(outputs)["notes"]
    assert "without it" in first
    assert "has 4 residues; Macrel was made for 10 to 100" in second
    assert row["sequence"] == "MGIG"
    _, outputs, _ = predict(tmp_path / "long", PEPTIDES["magainin"] * 250)
    assert "has 5750 residues" in read_manifest(outputs)["notes"][0]


@pytest.mark.parametrize(
    ("sequence", "sentence"),
    [
        (" ", "no residue beside a first methionine"),
        ("M", "no residue beside a first methionine"),
        ("GIGKFLHXAKKB", "The sequence has B, X; Macrel takes the 20 standard amino acids only"),
        ("A" * 10_001, "has 10001 residues"),
    ],
    ids=["empty", "methionine", "letters", "long"],
)
def test_an_invalid_peptide_is_reported_in_a_sentence(tmp_path, sequence, sentence):
    outcome, _ = run_engine("macrel", tmp_path, {"sequence": sequence})
    assert outcome.state == "failed"
    assert sentence in outcome.error
