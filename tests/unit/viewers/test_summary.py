"""A result's figures are described in words, with units, and the method's version once."""

import json
import zipfile
from pathlib import Path

import pytest

from foldnote.results import open_result
from foldnote.results.sequences.alignment import read_alignment
from foldnote.viewers import plot_coverage, result_bundles
from foldnote.viewers.display.summary import write_summary

DATA = Path(__file__).parents[1] / "results" / "data"


@pytest.fixture
def opened(tmp_path):
    def make(members):
        with zipfile.ZipFile(tmp_path / "r.zip", "w") as archive:
            for name, content in members.items():
                archive.writestr(name, content)
        return open_result(tmp_path / "r.zip")

    return make


@pytest.mark.parametrize(
    ("name", "value", "line"),
    [
        ("heavyResidues", 120, ("Heavy residues", "120")),
        ("box_volume", 27000.0, ("Box volume", "27000")),
        ("pKa", 4.5, ("pKa", "4.5")),
        ("affinity", -9.1234, ("Affinity", "-9.123 kcal/mol")),
        ("iptm", 0.75, ("ipTM", "0.75 (0 to 1)")),
        ("mean_plddt", 0.75, ("Mean pLDDT", "0.75 (0 to 1)")),
        ("mean_plddt", 88.0, ("Mean pLDDT", "88 (0 to 100)")),
    ],
)
def test_a_figure_is_shown_by_a_name_for_people_and_its_unit(opened, name, value, line):
    assert list(write_summary(opened({"score.json": json.dumps({name: value})})).items()) == [line]


def test_scores_of_one_metric_are_all_told(opened):
    """Boltz writes the mean of two networks, and what each of them predicts; of these only the last one was left."""
    figures = {"affinity_pred_value": -1.25, "affinity_pred_value1": -1.5, "affinity_pred_value2": -1.0}

    assert write_summary(opened({"affinity_fv.json": json.dumps(figures)})) == {
        "Predicted log IC50 (affinity pred value)": "-1.25 log10 of µmol/L",
        "Predicted log IC50 (affinity pred value1)": "-1.5 log10 of µmol/L",
        "Predicted log IC50 (affinity pred value2)": "-1 log10 of µmol/L",
    }


@pytest.mark.parametrize(
    ("method", "version"), [("AutoDock Vina 1.2.7", "1.2.7"), ("AutoDock Vina", "1.2.7")]
)
def test_method_and_version_are_reported_once(opened, method, version):
    manifest = {"job": {"type": "vina"}, "engine": {"method": method, "version": version, "kind": "genuine"}}

    assert write_summary(opened({"manifest.json": json.dumps(manifest)}))["Method"] == "AutoDock Vina 1.2.7"


def test_add_ons_that_were_used_are_named_with_their_version(opened):
    add_ons = [
        {
            "name": "gnina",
            "method": "GNINA's CNN scoring",
            "version": "0.0.2",
            "used": True,
            "citation": "McNutt",
        },
        {"name": "other", "method": "Other", "version": "1", "used": False, "reason": "It failed."},
    ]
    manifest = {"engine": {"method": "AutoDock Vina", "kind": "genuine", "addOns": add_ons}}
    result = opened({"manifest.json": json.dumps(manifest)})

    assert write_summary(result)["Add-on"] == "GNINA's CNN scoring 0.0.2"
    assert [each["name"] for each in result.provenance()["addOns"]] == ["gnina"]
    assert result.provenance()["citations"] == ["McNutt"]


def test_the_programs_table_of_the_poses_is_shown_once(opened):
    scores = ((-13.234, 0.0, 0.0), (-11.293, 1.2, 1.9), (-11.281, 2.0, 3.1))
    columns = ("affinity", "rmsd_lower", "rmsd_upper")
    record = (DATA / "imatinib.sdf").read_text().split("$$$$")[0].rstrip()
    poses = "".join(
        record + "".join(f"\n\n> <{c}>\n{v}" for c, v in zip(columns, row, strict=True)) + "\n\n$$$$\n"
        for row in scores
    )
    table = "pose,affinity,rmsd_lower,rmsd_upper\n" + "".join(
        ",".join(map(str, (place, *row))) + "\n" for place, row in enumerate(scores, 1)
    )
    members = {
        "manifest.json": json.dumps({"job": {"type": "vina"}, "engine": {"method": "x"}}),
        "poses.sdf": poses,
        "receptor.pdb": (DATA / "abl_pocket.pdb").read_text(),
    }

    def list_titles(table):
        parts = result_bundles(opened(members | {"docking.csv": table}))
        return [part["text/plain"].split(" 3 rows")[0] for part in parts if " 3 rows" in part["text/plain"]]

    assert list_titles(table) == ["Poses"]
    assert list_titles(table.replace("-11.293", "-11.3")) == ["Poses", "docking.csv"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (">a\nACDE\n>b\nACDF\n", "2 of them cover each column."),
        (">a\nACDE\n>b\n--DF\n", "1 to 2 of them cover a column (median 2)."),
    ],
)
def test_coverage_is_reported_in_one_number_where_it_is_one(text, words):
    assert words in plot_coverage(read_alignment(text.encode(), "x.a3m")).words
