"""Regions and germline genes of antibodies, compared with immunum, the ANARCI program and published CDRs."""

import csv
import json

import immunum
import pytest
from engine_contract import EngineContract, read_manifest
from odd_inputs import list_odd_inputs
from real_engine import load_engines, run_engine
from test_anarci import (
    HEAVY,
    LAMBDA,
    LIGHT,
    LONG_CDR3,
    LYSOZYME,
    SINGLE_CHAIN,
    SINGLE_DOMAIN,
    number_directly,
)

from foldnote.results import open_result

TOOL = "antibody-annotation"
pytestmark = [
    pytest.mark.engine,
    pytest.mark.skipif(
        not load_engines()["anarci"].state().installed, reason="needs: foldnote engines install anarci"
    ),
]


def annotate(folder, task="antibody", heavy=HEAVY, light=None):
    settings = {"task": task, "heavySequence": heavy} | ({"lightSequence": light} if light else {})
    return run_engine("anarci", folder, settings, tool=TOOL)


def read(outputs, name):
    with (outputs / name).open(newline="") as stream:
        return list(csv.DictReader(stream))


def sequences(outputs, chain, definition):
    return {
        row["region"].lower(): row["sequence"]
        for row in read(outputs, "regions.csv")
        if (row["chain"], row["cdr_definition"]) == (chain, definition)
    }


@pytest.fixture(scope="module")
def outcome_and_outputs(tmp_path_factory):
    return annotate(tmp_path_factory.mktemp("annotation"), light=f"{LIGHT[:50].lower()}\n {LIGHT[50:]}")


class TestContract(EngineContract):
    engine = "anarci"
    needs_seed = False
    tool = "antibody-annotation"
    long_setting = "heavySequence"
    rare_odd_inputs = tuple(
        odd.name for odd in list_odd_inputs(tool)
    )  # ANARCI reads them in the tests of the other tool

    @pytest.fixture
    def run(self, outcome_and_outputs):
        return outcome_and_outputs[1]


@pytest.mark.parametrize("scheme", ["imgt", "kabat"])
@pytest.mark.parametrize(
    ("sequence", "kinds"),
    [(HEAVY, "H"), (LONG_CDR3, "H"), (SINGLE_DOMAIN, "H"), (LIGHT, "K"), (LAMBDA, "L")],
    ids=["heavy", "long CDR3", "nanobody", "kappa", "lambda"],
)
def test_regions_are_those_of_immunum(tmp_path, sequence, kinds, scheme):
    """An independent program with the same definitions for these two schemes."""
    given = {"heavy": sequence} if kinds == "H" else {"light": sequence}
    _, outputs = annotate(tmp_path, **given)
    found = immunum.Annotator(chains=[kinds], scheme=scheme).segment(sequence).as_dict()
    theirs = {name: found[name] for name in ("fr1", "cdr1", "fr2", "cdr2", "fr3", "cdr3", "fr4")}
    assert sequences(outputs, "H" if kinds == "H" else "L", scheme) == theirs


def test_the_cdrs_of_trastuzumab_by_four_definitions(outcome_and_outputs):
    """As in the tests of the tool anarci; North's as clustered by PyIgClassify: H1-13, H2-10, H3-13."""
    _, outputs = outcome_and_outputs
    found = {
        definition: [sequences(outputs, "H", definition)[f"cdr{place}"] for place in (1, 2, 3)]
        for definition in ("imgt", "kabat", "chothia", "north")
    }
    assert found == {
        "imgt": ["GFNIKDTY", "IYPTNGYT", "SRWGGDGFYAMDY"],
        "kabat": ["DTYIH", "RIYPTNGYTRYADSVKG", "WGGDGFYAMDY"],
        "chothia": ["GFNIKDT", "YPTNGY", "WGGDGFYAMDY"],
        "north": ["AASGFNIKDTYIH", "RIYPTNGYTR", "SRWGGDGFYAMDY"],
    }


def test_germlines_are_those_of_the_program(outcome_and_outputs, tmp_path):
    outcome, outputs = outcome_and_outputs
    for row, sequence in zip(read(outputs, "germlines.csv"), (HEAVY, LIGHT), strict=True):
        genes = [row["germline_species"], row["v_gene"], f"{float(row['v_identity']):.2f}", row["j_gene"]]
        assert "|".join(genes) in number_directly(tmp_path, sequence, "imgt")
    assert outcome.score["heavy_V_gene"] == "IGHV3-66*01"
    assert outcome.score["light_V_gene"] == "IGKV1-39*01"
    assert outcome.score["heavy_CDR3_length"] == 13


def test_each_position_maps_back_to_the_given_sequence(outcome_and_outputs):
    _, outputs = outcome_and_outputs
    given = {"H": HEAVY, "L": LIGHT}
    for row in read(outputs, "regions.csv"):
        assert given[row["chain"]][int(row["start"]) - 1 : int(row["end"])] == row["sequence"]
        assert len(row["sequence"]) == int(row["length"])


def test_the_result_knows_the_regions_of_both_chains(outcome_and_outputs):
    result = open_result(outcome_and_outputs[1].parents[1] / "result.zip")
    assert {(region.chain, region.label) for region in result.regions if region.is_cdr} == {
        (chain, f"CDR-{chain}{place}") for chain in "HL" for place in (1, 2, 3)
    }
    assert set(result.tables) == {"regions.csv", "germlines.csv", "numbering.csv"}


def test_a_nanobody_is_compared_with_the_alpaca_and_needs_no_light_chain(tmp_path):
    outcome, outputs = annotate(tmp_path, "nanobody", SINGLE_DOMAIN, LIGHT)
    assert outcome.state == "succeeded"
    (row,) = read(outputs, "germlines.csv")
    assert row["germline_species"] == "alpaca"
    assert "single domain" in read_manifest(outputs)["settingsIgnored"]["lightSequence"]


def test_of_a_single_chain_fv_each_field_takes_its_own_domain(tmp_path):
    _, outputs = annotate(tmp_path, heavy=SINGLE_CHAIN, light=SINGLE_CHAIN)
    assert sequences(outputs, "H", "imgt")["cdr3"] == "SRWGGDGFYAMDY"
    assert sequences(outputs, "L", "imgt")["cdr3"] == "QQHYTTPPT"
    notes = read_manifest(outputs)["notes"]
    assert "The heavy sequence has 2 variable domains" in notes[0]
    assert "residues 136 to 242" in notes[1]


@pytest.mark.parametrize(
    ("heavy", "light", "sentence"),
    [
        (LIGHT, None, "Check that heavy and light are not exchanged"),
        (HEAVY, HEAVY, "No variable domain of light chains was found"),
        (LYSOZYME, None, "No variable domain of heavy chains was found in the heavy sequence."),
        ("EVQLVX1", None, "The heavy sequence has 1, X; ANARCI takes the 20 standard"),
        ("  ", None, "The heavy sequence is empty"),
    ],
    ids=["exchanged", "two heavy", "lysozyme", "letters", "empty"],
)
def test_what_cannot_be_annotated_is_a_plain_sentence(tmp_path, heavy, light, sentence):
    outcome, _ = annotate(tmp_path, heavy=heavy, light=light)
    assert outcome.state == "failed"
    assert sentence in outcome.error


def test_the_cell_shows_germlines_and_cdrs_first(outcome_and_outputs):
    bundles = open_result(outcome_and_outputs[1].parents[1] / "result.zip").bundles()
    tool = json.loads((outcome_and_outputs[1].parent / "job.json").read_text())["type"]
    assert tool == TOOL
    texts = [bundle["text/plain"] for bundle in bundles]
    germlines = next(place for place, text in enumerate(texts) if "IGHV3-66*01" in text)
    cdrs = next(place for place, text in enumerate(texts) if "AASGFNIKDTYIH" in text)
    assert germlines < cdrs
    assert all(name in texts[cdrs] for name in ("imgt", "kabat", "chothia", "north"))
