"""Tables are ranked by the known direction of a metric, merged with their settings, and turned into plot data."""

import json
import re

import foreign_archives as foreign
import numpy as np
import pandas as pd
import pytest
from result_archives import FV, write_zip

from foldnote.errors import FoldnoteError
from foldnote.results import (
    METRICS,
    find_metric,
    list_chain_starts,
    list_plddt,
    make_coverage,
    make_distribution,
    merge_results,
    open_result,
    rank_table,
)
from foldnote.results.metrics.registry import RANKING_NAMES
from foldnote.results.sequences.alignment import read_alignment

FRAME = pd.DataFrame(
    {"name": list("abcd"), "iptm": [0.2, 0.9, None, 0.9], "affinity": [-5, -9, -7, -8], "x": [1, 2, 3, 4]}
)


def test_a_higher_iptm_is_better_and_equal_values_share_the_rank():
    ranked = rank_table(FRAME, "iptm")

    assert ranked["name"].tolist() == ["b", "d", "a", "c"]
    assert ranked["rank"].tolist()[:3] == [1, 1, 3]
    assert ranked["rank"].isna().tolist() == [False, False, False, True]


def test_a_lower_affinity_is_better():
    assert rank_table(FRAME, "affinity")["name"].tolist() == ["b", "d", "c", "a"]


def test_rows_are_ranked_within_groups():
    ranked = rank_table(FRAME.assign(job=["p", "p", "q", "q"]), "affinity", within="job")

    assert ranked[["job", "rank", "name"]].values.tolist() == [
        ["p", 1, "b"],
        ["p", 2, "a"],
        ["q", 1, "d"],
        ["q", 2, "c"],
    ]


def test_ranking_leaves_the_table_as_it_was():
    before = FRAME.copy()
    rank_table(FRAME.assign(rank=1), "iptm")

    pd.testing.assert_frame_equal(FRAME, before)


@pytest.mark.parametrize(
    ("by", "words"), [("x", "pass higher_is_better"), ("name", "no numbers"), ("y", "no column")]
)
def test_what_cannot_be_ranked_says_why(by, words):
    with pytest.raises(FoldnoteError, match=words):
        rank_table(FRAME, by)


@pytest.mark.parametrize(
    ("name", "label"),
    [
        ("ipTM", "ipTM"),
        ("Affinity (kcal/mol)", "affinity"),
        ("minimized_affinity", "affinity"),
        ("TM-score", "TM-score"),
        ("ca rmsd", "RMSD"),
        ("CYP3A4_Veith", "inhibiting a cytochrome P450"),
        ("affinity_pred_value2", "predicted log IC50"),
    ],
)
def test_a_metric_is_known_however_programs_spell_it(name, label):
    assert find_metric(name).label == label


@pytest.mark.parametrize(
    ("name", "label", "is_higher", "words", "source"),
    [
        (
            "ilrmsd",
            "interface-ligand RMSD",
            False,
            "after superposing the larger partner's interface",
            "HADDOCK3",
        ),
        ("irmsd", "interface RMSD", False, "superposed on that of a reference", "Méndez"),
        ("pdockq", "pDockQ", True, "pLDDT and contacts", "10.1038/s41467-022-28865-w"),
        ("pDockQ2", "pDockQ2", True, "aligned errors", "10.1093/bioinformatics/btad424"),
        ("actifptm", "actifpTM", True, "take part in the interaction", "10.1093/bioinformatics/btaf107"),
        ("iLIS", "iLIS, cLIS", True, "geometric mean", "AFM-LIS"),
        ("rmsd_lower_bound", "RMSD to the best pose", None, "without superposition", "10.1002/jcc.21334"),
        ("rmsd_upper", "RMSD to the best pose", None, "without superposition", "10.1002/jcc.21334"),
        ("minimizedRMSD", "RMSD to the input", None, "without superposition", ""),
        ("max_predicted_aligned_error", "upper limit of the PAE", None, "a constant", "Jumper"),
        ("max_pae", "largest PAE", False, "of any pair", "Jumper"),
        ("binding_affinity", "binding affinity", None, "depending on the program", ""),
        ("ligand_efficiency", "ligand efficiency", None, "the sign depends", "Hopkins"),
        ("aggregate_score", "aggregate score", True, "0.8 ipTM + 0.2 pTM", "Boitreaud"),
        ("exact_mw", "monoisotopic mass", None, "isotopes", ""),
        ("alogp", "logP", None, "depends on the method", ""),
        ("r_i_docking_score", "GlideScore", False, "Empirical", "Friesner"),
    ],
)
def test_a_metric_is_what_its_source_defines(name, label, is_higher, words, source):
    metric = find_metric(name)

    assert (metric.label, metric.higher_is_better) == (label, is_higher)
    assert words in metric.definition
    assert source in metric.source


def test_every_source_can_be_found():
    """Journals and preprints by DOI or arXiv number, programs by their repository."""
    found = [metric.source for metric in METRICS if metric.source]

    assert all(re.search(r"doi:10\.\d{4,5}/\S+|arXiv:\d{4}\.\d{5}|github\.com/\S+", one) for one in found)


@pytest.mark.parametrize("name", ["seed", "score", "", "id", "rank", "iptm_of_something_else"])
def test_nothing_is_stated_about_an_unknown_name(name):
    assert find_metric(name) is None


def test_every_metric_has_a_group_and_a_range_that_can_be():
    groups = {"confidence", "docking", "geometry", "sequence", "molecule", "admet"}

    assert {metric.group for metric in METRICS} == groups
    assert all(
        low is None or high is None or low < high for low, high in (metric.range for metric in METRICS)
    )
    assert all(find_metric(name).higher_is_better for name in RANKING_NAMES)


@pytest.fixture
def results(tmp_path):
    boltz = open_result(write_zip(tmp_path / "b.zip", foreign.boltz()))
    docked = open_result(write_zip(tmp_path / "d.zip", foreign.gnina()))
    plain = open_result(write_zip(tmp_path / "p.zip", {"score.json": json.dumps({"qed": 0.5})}))
    return {"fold": boltz, "dock": docked, "score": plain}


def test_a_batch_becomes_one_table_with_its_settings(results):
    settings = {"fold": {"seed": 1, "rank": "by hand"}, "dock": {"seed": 2}}
    table = merge_results(results, settings)

    assert table["job"].tolist() == ["fold", "fold", "dock", "dock", "score"]
    assert table["seed"].tolist()[:4] == [1, 1, 2, 2]
    assert table["setting_rank"].tolist()[:2] == ["by hand", "by hand"]
    assert table["rank"].tolist()[:4] == [1, 2, 1, 2]
    assert table["qed"].tolist()[-1] == 0.5


def test_settings_may_be_a_table(results):
    settings = pd.DataFrame({"seed": [7]}, index=["score"])

    assert merge_results({"score": results["score"]}, settings)["seed"].tolist() == [7]


def test_no_results_are_an_empty_table():
    assert merge_results({}).empty


def test_plddt_is_listed_for_every_rank_and_chain(results):
    frame = list_plddt(results["fold"].models)
    first = frame[frame["rank"] == 1]

    assert len(frame) == 2 * 227
    assert first["plddt"].tolist() == pytest.approx(foreign.PLDDT)
    assert list_chain_starts(first).values.tolist() == [["H", 1], ["L", 121]]


def test_models_without_confidence_are_left_out(tmp_path):
    models = open_result(write_zip(tmp_path / "r.zip", {"x.pdb": FV, "y.cif": "data_y"})).models

    assert list_plddt(models).empty


def test_coverage_shows_gaps_as_missing_and_the_most_similar_first():
    alignment = read_alignment(b"#3,2\t2,1\n>q\nACDEFGHI\n>far\n--WWWW--\n>near\nACDEFGH-\n", "x.a3m")
    coverage = make_coverage(alignment)

    assert coverage.columns["sequences"].tolist() == [2, 2, 3, 3, 3, 3, 2, 1]
    assert coverage.columns["chain"].tolist() == [0, 0, 0, 1, 1, 1, 2, 2]
    assert np.nan_to_num(coverage.rows, nan=-1)[:, [0, 2]].tolist() == [[1, 1], [1, 1], [-1, 0]]


def test_deep_alignments_are_thinned_for_the_picture_only():
    text = ">q\nACDE\n" + "".join(f">{i}\nA--E\n" for i in range(5000))
    coverage = make_coverage(read_alignment(text.encode(), "x.a3m"))

    assert (coverage.depth, coverage.rows.shape) == (5001, (2000, 4))
    assert coverage.columns["sequences"].tolist() == [5001, 1, 1, 5001]


def test_a_distribution_counts_every_row_once():
    found = make_distribution(FRAME, "iptm")

    assert (found.counts.sum(), found.missing, len(found.edges)) == (3, 1, len(found.counts) + 1)
    assert (found.label, found.higher_is_better) == ("ipTM (0 to 1)", True)


@pytest.mark.parametrize("values", [[1.0], [1, 1, 1], [1e-300, 1e300], list(range(10_000))])
def test_any_numbers_have_a_distribution(values):
    found = make_distribution(pd.DataFrame({"v": values}), "v")

    assert found.counts.sum() == len(values)


def test_a_distribution_of_no_numbers_says_so():
    with pytest.raises(FoldnoteError, match="no finite numbers"):
        make_distribution(FRAME, "name")


def test_ranking_a_ranked_table_keeps_all_earlier_ranks_under_distinct_names():
    frame = pd.DataFrame({"ptm": [0.5, 0.9], "plddt": [80.0, 70.0], "iptm": [0.1, 0.2]})
    ranked = rank_table(rank_table(rank_table(frame, "ptm"), "plddt"), "iptm")
    assert list(ranked.columns[:4]) == ["rank", "rank_before_2", "rank_before", "ptm"]
    assert rank_table(ranked, "ptm", within="rank")["rank"].tolist() == [1, 1]
