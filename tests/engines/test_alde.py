"""Our engine's proposals compared with scikit-learn's own predictions, and with chance on a known landscape."""

import csv
import itertools
import json
from pathlib import Path

import numpy as np
import pytest
from engine_contract import EngineContract
from real_engine import load_engines, run_directly, run_engine

from foldnote import catalog
from foldnote.results import open_result
from foldnote.viewers import result_bundles

EXAMPLE = (Path(catalog.__file__).parent / "examples" / "variant-fitness.csv").read_text()
LETTERS = "ACDEFGHIKLMNPQRSTVWY"
SITES = 3
DIRECT = """
import csv, json, sys
import numpy as np
from sklearn.gaussian_process import GaussianProcessRegressor
sys.path[:0] = sys.argv[2:]
from models import GaussianProcess, encode
from pathlib import Path
from variants import read_library
library = read_library(Path(sys.argv[1]))
process = GaussianProcess(library.codes, library.values, 7)
others = library.codes[:, ::-1].copy()
means, deviations = process.predict(others)
model = GaussianProcessRegressor(process.kernel, optimizer=None, normalize_y=True)
model.fit(encode(library.codes), library.values)
theirs, spread = model.predict(encode(others), return_std=True)
drawn = process.draw(others, 4000, np.random.default_rng(0))
print(json.dumps([
    np.abs(means - theirs).max(),
    np.abs(np.sqrt(deviations**2 + process.noise**2) - spread).max(),
    np.abs(drawn.mean(axis=0) - means).max() / deviations.max(),
    np.abs(drawn.std(axis=0) - deviations).max() / deviations.max(),
]))
"""

pytestmark = [
    pytest.mark.engine,
    pytest.mark.extra_engine,
    pytest.mark.skipif(
        not load_engines()["alde"].state().installed, reason="needs: foldnote engines install alde"
    ),
]


def make_landscape(seed):
    """Return the fitness of all variants of three sites: a term per letter, and a smaller one per pair of letters."""
    random = np.random.default_rng(seed)
    single = random.normal(0, 1, (SITES, 20))
    pairs = {pair: random.normal(0, 0.5, (20, 20)) for pair in itertools.combinations(range(SITES), 2)}
    variants = list(itertools.product(range(20), repeat=SITES))
    values = [
        sum(single[site, letter] for site, letter in enumerate(variant))
        + sum(own[variant[a], variant[b]] for (a, b), own in pairs.items())
        for variant in variants
    ]
    return {
        "".join(LETTERS[letter] for letter in v): value for v, value in zip(variants, values, strict=True)
    }


def measure(landscape, count, seed, noise=0.3):
    """Return a table of randomly chosen variants, measured with noise."""
    random = np.random.default_rng(seed)
    chosen = random.choice(sorted(landscape), size=count, replace=False)
    rows = [f"{variant},{landscape[variant] + random.normal(0, noise):.4f}" for variant in chosen]
    return "sequence,fitness\n" + "\n".join(rows) + "\n"


def propose(folder, text, seed=7):
    outcome, outputs = run_engine("alde", folder, {}, seed, {"csvFile": text})
    assert outcome.state == "succeeded", outcome.error
    return outputs


def read_table(outputs, name="candidates.csv"):
    with (outputs / name).open(newline="") as stream:
        return list(csv.DictReader(stream))


def read_score(outputs):
    return json.loads((outputs.parent / "score.json").read_text())


def read_notes(outputs):
    return " ".join(json.loads((outputs.parent / "notes.json").read_text()))


@pytest.fixture(scope="module")
def example(tmp_path_factory):
    return propose(tmp_path_factory.mktemp("example"), EXAMPLE)


@pytest.fixture(scope="module")
def round_of_96(tmp_path_factory):
    """Return a landscape, and the proposals after 96 of its 8,000 variants were measured."""
    landscape = make_landscape(1)
    return landscape, propose(tmp_path_factory.mktemp("round"), measure(landscape, 96, 1))


class TestContract(EngineContract):
    engine = "alde"
    needs_seed = True

    @pytest.fixture
    def run(self, example):
        return example


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_proposals_are_better_than_chance(tmp_path, seed):
    """After 96 random variants of 8,000, the next 96 proposed are compared with 96 more at random."""
    landscape = make_landscape(seed)
    rows = read_table(propose(tmp_path, measure(landscape, 96, seed)))
    proposed = [landscape[row["variant"]] for row in rows[:96]]
    drawn = [landscape[row["variant"]] for row in rows if row["thompson_order"]]
    random = np.random.default_rng(seed).choice(sorted(landscape.values()), size=96, replace=False)
    spread = np.std(list(landscape.values()))
    for chosen in (proposed, drawn):
        assert np.mean(chosen) > np.mean(random) + spread
        assert max(chosen) > max(random)


def test_intervals_cover_what_they_say(tmp_path):
    """For 300 variants in cross-validation, and for all others with measurement noise."""
    landscape = make_landscape(4)
    outputs = propose(tmp_path, measure(landscape, 300, 4))
    score = read_score(outputs)
    assert 0.6 <= score["cvCoverage68"] <= 0.78
    assert 0.91 <= score["cvCoverage95"] <= 0.99
    assert score["cvSpearman"] > 0.6
    rows = read_table(outputs)
    errors = np.array([landscape[row["variant"]] - float(row["mean"]) for row in rows])
    deviations = np.array([float(row["standard_deviation"]) for row in rows])
    assert 0.88 <= np.mean(np.abs(errors) <= 1.96 * deviations) <= 1.0


def test_predictions_of_the_gaussian_process_are_scikit_learns(tmp_path):
    (tmp_path / "table.csv").write_text(measure(make_landscape(5), 120, 5))
    engine = load_engines()["alde"]
    modules = [str(engine.folder), str(engine.folder.parent / "protocol")]
    command = [str(engine.python), "-c", DIRECT, "table.csv", *modules]
    mean, deviation, drawn, spread = json.loads(run_directly(engine, command, tmp_path))
    assert (mean, deviation) == pytest.approx((0, 0), abs=1e-4)
    assert max(drawn, spread) < 0.1


def test_candidates_are_ranked_by_mean_and_two_deviations(round_of_96):
    _, outputs = round_of_96
    rows = read_table(outputs)
    assert len(rows) == 20**SITES - 96 == read_score(outputs)["candidates"]
    acquisitions = [float(row["acquisition"]) for row in rows]
    assert acquisitions == sorted(acquisitions, reverse=True)
    for row in rows[::500]:
        mean, deviation = float(row["mean"]), float(row["standard_deviation"])
        assert float(row["acquisition"]) == pytest.approx(mean + 2 * deviation, abs=1e-4)
    order = [int(row["thompson_order"]) for row in rows if row["thompson_order"]]
    assert sorted(order) == list(range(1, 97))
    assert all(float(row["expected_improvement"]) >= 0 for row in rows)


def test_no_measured_variant_is_proposed(round_of_96):
    _, outputs = round_of_96
    measured = {row["variant"]: float(row["measured"]) for row in read_table(outputs, "measured.csv")}
    rows = read_table(outputs)
    assert not measured.keys() & {row["variant"] for row in rows}
    best = max(measured, key=measured.get)
    first = rows[0]
    changes = [f"{a}{i}{b}" for i, (a, b) in enumerate(zip(best, first["variant"], strict=True), 1) if a != b]
    assert first["changes_from_best"] == " ".join(changes)
    nearest = min(sum(a != b for a, b in zip(first["variant"], each, strict=True)) for each in measured)
    assert int(first["distance_to_measured"]) == nearest


def test_figures_are_those_of_the_cross_validation(round_of_96):
    _, outputs = round_of_96
    rows = read_table(outputs, "measured.csv")
    errors = np.array([float(row["measured"]) - float(row["cv_mean"]) for row in rows])
    score = read_score(outputs)
    assert score["cvRmse"] == pytest.approx(np.sqrt(np.mean(errors**2)), rel=1e-3)
    assert score["cvCoverage95"] == pytest.approx(
        np.mean([row["in_95_percent"] == "true" for row in rows]), abs=1e-4
    )
    assert score["bestMeasured"] == max(float(row["measured"]) for row in rows)


def test_mutations_are_read_and_written_as_mutations(tmp_path):
    text = (
        "mutations;activity;plate\nWT;1,0;a\nA12V;1,4;a\nG45S;0,8;b\nA12V:G45S;1,3;b\nA12T;0,2;b\nG45D;;b\n"
    )
    outputs = propose(tmp_path, text)
    rows = read_table(outputs)
    assert len(rows) == 20**2 - 5
    assert {"A12T:G45S", "G45D", "A12L"} <= {row["variant"] for row in rows}
    assert read_score(outputs)["bestMeasured"] == 1.4
    assert "Rows without a finite value count as variants that were not measured: 1." in read_notes(outputs)


def test_whole_sequences_vary_at_the_sites_that_vary(tmp_path):
    base = "MKTAYIAKQRQISFVKSHFSRQ"
    rows = [
        base,
        "L".join([base[:3], base[4:]]),
        "W".join([base[:8], base[9:]]),
        "E".join([base[:8], base[9:]]),
    ]
    rows.append(rows[1][:8] + "W" + rows[1][9:])
    text = "name,sequence,fitness\n" + "".join(f"v{i},{row},{i}.5\n" for i, row in enumerate(rows))
    outputs = propose(tmp_path, text)
    proposed = read_table(outputs)
    assert len(proposed) == 20**2 - 5
    assert all(row["variant"][:3] == "MKT" and len(row["variant"]) == len(base) for row in proposed)
    assert read_score(outputs)["sites"] == 2


def test_replicates_are_averaged_and_their_spread_is_reported(tmp_path):
    outputs = propose(tmp_path, EXAMPLE + "VDGV,2.0\nADGV,0.72\nADGV,inf\nVD*V,1\nvdga,0.91\n")
    rows = {row["variant"]: row for row in read_table(outputs, "measured.csv")}
    assert (rows["VDGV"]["measured"], rows["VDGV"]["replicates"]) == ("1.5", "2")
    assert (rows["ADGV"]["measured"], rows["VDGA"]["measured"]) == ("0.67", "0.86")
    notes = read_notes(outputs)
    assert "measured more than once, with their values averaged: 3." in notes
    assert "standard deviation of 0.412" in notes
    assert "Rows whose variant has stops or unknown letters, or is none, were left out: 1." in notes
    assert "variants that were not measured: 1." in notes


def test_the_result_is_shown_with_its_candidates_and_cross_validation(round_of_96):
    _, outputs = round_of_96
    candidates, plot, measured, _ = result_bundles(open_result(outputs.parents[1] / "result.zip"))
    assert "Variants to measure next" in candidates["text/html"]
    assert "rank correlation" in plot["text/plain"]
    assert "cross-validated" in measured["text/html"]


def write_rows(*rows):
    return "sequence,fitness\n" + "".join(f"{row}\n" for row in rows)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "The table is empty"),
        ("sequence\nACDE\nACDF\n", "The table has one column, 'sequence', and needs two"),
        (write_rows("AC,1", "AD,2", "AE,nan", "AF,", "AG,3"), "Different variants with a measured value: 3."),
        (
            write_rows("AC,1", "AD,2", "AEE,3", "AF,4", "AG,3"),
            "differ in length: AC has 2 letters and AEE has 3",
        ),
        (write_rows("AC,1", "AD,1", "AE,1", "AF,1", "AG,1"), "the same measured value"),
        (write_rows("AC,1", "AC,2", "AC,3", "AC,4", "AC,5"), "Different variants with a measured value: 1."),
        ("sequence,note\nAC,good\nAD,bad\n", "No single column of numbers was found"),
        ("id,fitness\n1,2\n2,3\n", "No single column of variants was found"),
        ("sequence,a,b\nAC,1,2\nAD,2,3\n", "No single column of numbers was found"),
        ("mutations,fitness\nA1C,1\nG1D,2\nA1E,3\n", "says that residue 1 is G, and another row says A"),
    ],
    ids=["empty", "column", "few", "lengths", "flat", "same", "words", "numbers", "two", "wild-type"],
)
def test_what_cannot_be_learned_from_is_a_plain_sentence(tmp_path, text, sentence):
    outcome, _ = run_engine("alde", tmp_path, {}, texts={"csvFile": text})
    assert outcome.state == "failed"
    assert sentence in outcome.error
