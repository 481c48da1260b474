"""AbNatiV through our engine gives the same results as AbNatiV's own commands, here with stand-in weights."""

import csv
import math
import zipfile

import pytest
from engine_contract import EngineContract, read_manifest
from real_engine import load_engines, make_settings, run_directly, run_engine
from stand_ins import install_stand_ins, skip_unless_installed
from test_anarci import HEAVY, LIGHT, LYSOZYME, SINGLE_CHAIN

from foldnote.results import open_result

NANOBODY = make_settings("abnativ")[0]["sequence"]
DIRECT = f"""
from argparse import Namespace
from abnativ import paired_scoring, scoring

shared = dict(
    output_directory=".", mean_score_only=False, do_align=True, is_plotting_profiles=False, ncpu=1, col_id="ID"
)
for model, sequence in (("VHH2", {NANOBODY!r}), ("VH2", {HEAVY!r}), ("VL2", {SINGLE_CHAIN!r})):
    scoring.run(
        Namespace(
            nativeness_type=model, input_filepath_or_seq=sequence, is_VHH=model == "VHH2", output_id=model, **shared
        )
    )
paired_scoring.run(Namespace(vh={HEAVY!r}, vl={LIGHT!r}, output_id="pair", **shared))
"""
AMINO_ACIDS = "ACDEFGHIKLMNPQRSTVWY"
REGIONS = {"cdr1": "CDR1", "cdr2": "CDR2", "cdr3": "CDR3", "framework": "FR"}

pytestmark = [pytest.mark.engine, pytest.mark.extra_engine, skip_unless_installed("abnativ")]


@pytest.fixture(scope="module", autouse=True)
def engine(tmp_path_factory):
    with install_stand_ins("abnativ", tmp_path_factory.mktemp("abnativ")) as engine:
        yield engine


def read(path):
    with path.open(newline="") as stream:
        return list(csv.DictReader(stream))


def run_task(folder, task, **settings):
    outcome, outputs = run_engine("abnativ", folder, {"task": task, **settings})
    assert outcome.state == "succeeded", outcome.error
    return outcome, outputs


@pytest.fixture(scope="module")
def direct(engine, tmp_path_factory):
    folder = tmp_path_factory.mktemp("direct")
    run_directly(engine, [str(engine.python), "-c", DIRECT], folder)
    # The program scores both domains of the single-chain Fv; the last one is that of the light chain.
    return {
        name: (
            read(folder / f"{name}_abnativ_seq_scores.csv")[-1],
            read(folder / f"{name}_abnativ_res_scores.csv")[-298 if name == "pair" else -149 :],
        )
        for name in ("VHH2", "VH2", "VL2", "pair")
    }


@pytest.fixture(scope="module")
def nanobody(engine, tmp_path_factory):
    text = f"{NANOBODY[:60].lower()}\r\n{NANOBODY[60:]}"
    return run_task(tmp_path_factory.mktemp("score"), "score", sequence=text, nat="VHH2")


@pytest.fixture(scope="module")
def run(nanobody):
    return nanobody[1]


@pytest.fixture(scope="module")
def pair(engine, tmp_path_factory):
    settings = {"vhSequence": HEAVY, "vlSequence": LIGHT, "nat": "VHH2"}
    return run_task(tmp_path_factory.mktemp("pair"), "paired_score", **settings)


class TestContract(EngineContract):
    engine = "abnativ"
    needs_seed = False


def assert_same(ours, theirs):
    """Assert that a cell of our table has the program's number; an empty cell means no number."""
    if theirs in ("", "nan"):
        assert ours == ""
    else:
        assert float(ours) == pytest.approx(float(theirs), abs=2e-6)


def assert_regions(row, values, name):
    for column, region in REGIONS.items():
        assert_same(row[f"{column}_score"], values[f"AbNatiV {region}-{name} Score"])
        assert_same(row[f"{column}_percentile"], values[f"AbNatiV {region}-{name} Percentile"])


def assert_profile(rows, profile, column):
    profile = [each for each in profile if each["aa"] != "-"]
    assert "".join(row["residue"] for row in rows) == "".join(each["aa"] for each in profile)
    for row, each in zip(rows, profile, strict=True):
        assert row["number"] == each["AHo position"].rpartition("-")[2]
        assert_same(row["nativeness"], each[column])
        for letter in AMINO_ACIDS:
            assert_same(row[letter], each[letter])
        assert_same(row["gap"], each["-"])


def test_a_run_with_stand_ins_says_so_and_has_no_figures(nanobody):
    outcome, outputs = nanobody
    assert outcome.note == "Ran with stand-in weights: figures mean nothing."
    assert outcome.score is None
    manifest = read_manifest(outputs)
    assert manifest["engine"]["method"] == "AbNatiV2"
    with zipfile.ZipFile(outputs.parents[1] / "result.zip") as archive:
        assert "residues.csv" in str(archive.namelist())


@pytest.fixture(scope="module")
def tagged(engine, tmp_path_factory):
    sequence = f"MKK{HEAVY}ASTKGPSVFPLAP"
    return run_task(tmp_path_factory.mktemp("tagged"), "score", sequence=sequence, nat="VH2")


@pytest.fixture(scope="module")
def single_chain(engine, tmp_path_factory):
    return run_task(tmp_path_factory.mktemp("single"), "score", sequence=SINGLE_CHAIN, nat="VL2")


@pytest.mark.parametrize(
    ("model", "made"), [("VHH2", "nanobody"), ("VH2", "tagged"), ("VL2", "single_chain")]
)
def test_a_chain_has_the_programs_scores_and_profile(request, direct, model, made):
    _, outputs = request.getfixturevalue(made)
    values, profile = direct[model]
    (row,) = read(outputs / "scores.csv")
    assert_same(row["abnativ_score"], values[f"AbNatiV {model} Score"])
    assert_same(row["abnativ_percentile"], values[f"AbNatiV {model} Percentile"])
    assert_regions(row, values, model)
    assert_profile(read(outputs / "residues.csv"), profile, f"AbNatiV {model} Residue Score")


def test_a_pair_has_the_programs_scores_profile_and_pairing(pair, direct):
    values, profile = direct["pair"]
    whole, heavy, light = read(pair[1] / "scores.csv")
    assert_same(whole["abnativ_score"], values["AbNatiV Heavy-Light Score"])
    assert_same(whole["abnativ_percentile"], values["AbNatiV Heavy-Light Percentile"])
    assert_same(whole["pairing_likelihood"], values["AbNatiV Pairing Score (%)"])
    assert 0 <= float(whole["pairing_likelihood"]) <= 1
    for row, name in ((heavy, "Heavy"), (light, "Light")):
        assert_same(row["abnativ_score"], values[f"AbNatiV {name} Score"])
        assert_regions(row, values, name)
    residues = read(pair[1] / "residues.csv")
    assert_profile(residues, profile, "AbNatiV VPaired2 Residue Score")
    ignored = read_manifest(pair[1])["settingsIgnored"]
    assert ignored == {"nat": "A pair is scored with the model for pairs."}


def test_the_score_follows_from_the_profile(run, direct):
    """The published score: errors of all AHo positions divided by the number of residues, with the threshold shifted
    to 0.8.
    """
    (row,), profile = read(run / "scores.csv"), direct["VHH2"][1]
    errors = [-math.log(float(each["AbNatiV VHH2 Residue Score"])) for each in profile]
    mean = math.exp(-sum(errors) / int(row["residues"]))
    threshold = 0.992695  # the value of VHH2 in AbNatiV
    assert float(row["abnativ_score"]) == pytest.approx(1 - (1 - mean) * 0.2 / (1 - threshold), abs=1e-3)


def test_the_result_shows_profile_and_probabilities(nanobody, pair):
    for (_, outputs), chains in ((nanobody, 1), (pair, 2)):
        bundles = open_result(outputs.parents[1] / "result.zip").bundles()
        shown = [each["text/plain"] for each in bundles]
        assert any("Nativeness along the chain" in text for text in shown)
        assert sum("Probability of each amino acid" in text for text in shown) == chains


def test_residues_beyond_the_domain_are_counted(tagged):
    notes = str(read_manifest(tagged[1]))
    assert "residues of the heavy chain outside of the variable domain were not scored" in notes
    residues = read(tagged[1] / "residues.csv")
    assert [int(residues[0]["index"]), residues[0]["number"], residues[0]["residue"]] == [4, "1", "E"]


def test_of_a_single_chain_fv_the_domain_of_the_model_is_scored(single_chain):
    residues = read(single_chain[1] / "residues.csv")
    assert "".join(each["residue"] for each in residues).startswith("DIQMTQSP")
    assert "only one, of a light chain, was scored" in str(read_manifest(single_chain[1]))


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"task": "score", "nat": "VHH2"}, "sequence is empty"),
        ({"task": "score", "nat": "VH1", "sequence": HEAVY}, "AbNatiV2 has the models VH2, VL2, VHH2"),
        ({"task": "score", "nat": "VH2", "sequence": "EVQX-"}, "sequence has -, X"),
        ({"task": "score", "nat": "VH2", "sequence": LIGHT}, "is one of a light chain"),
        ({"task": "score", "nat": "VH2", "sequence": LYSOZYME}, "found no variable domain"),
        ({"task": "paired_score", "vhSequence": HEAVY}, "vlSequence is empty"),
        ({"task": "paired_score", "vhSequence": LIGHT, "vlSequence": HEAVY}, "exchange the sequences"),
        ({"task": "hum_vhh", "sequence": NANOBODY, "nat": "VHH2"}, "does not humanise"),
    ],
    ids=[
        "nothing",
        "model",
        "letters",
        "light for heavy",
        "no antibody",
        "half a pair",
        "exchanged",
        "humanise",
    ],
)
def test_what_cannot_be_scored_is_a_plain_sentence(tmp_path, settings, sentence):
    outcome, _ = run_engine("abnativ", tmp_path, settings)
    assert outcome.state == "failed"
    assert sentence in outcome.error


@pytest.mark.parametrize("task", ["hum_vhh", "hum_vh_vl", "hum_vh_vl_paired"])
def test_humanisation_is_refused_before_a_job_is_queued(task):
    refusals = load_engines()["abnativ"].refusals
    (refusal,) = [each for each in refusals if each.applies({"task": task}, ())]
    assert refusal.field == "task"
    assert "humanise with the authors' own program" in refusal.sentence
