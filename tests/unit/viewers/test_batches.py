"""A batch shows its jobs first, then tables in which every row has the name of its job."""

import json
import re
import zipfile
from pathlib import Path

import pytest

from foldnote.results import open_result
from foldnote.viewers import compose_result, default_view, result_bundles

DATA = Path(__file__).parents[1] / "results" / "data"
JOBS = [f"fv-{number}" for number in range(1, 12)]


@pytest.fixture
def batch(tmp_path):
    path = tmp_path / "panel.zip"
    rows = "".join(f"{job},Complete,,0.{place}\n" for place, job in enumerate(JOBS))
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("results.csv", f"jobName,status,error,score.iptm\n{rows}")
        for place, job in enumerate(JOBS):
            engine = {"method": "ANARCI", "version": "2024.05.21", "kind": "genuine"}
            about = {"jobName": job, "type": "anarci", "seed": place}
            archive.writestr(f"{job}/manifest.json", json.dumps({"job": about, "engine": engine}))
            archive.writestr(f"{job}/score.json", json.dumps({"ptm": 0.125}))
            archive.write(DATA / "numbering.csv", f"{job}/numbering.csv")
            archive.write(DATA / "trastuzumab_fv_ca.pdb", f"{job}/antibody.pdb")
    return open_result(path, "panel")


def test_the_jobs_stand_first_then_one_table_for_each_kind_of_file(batch):
    plain = [part["text/plain"].splitlines()[0] for part in default_view(batch)]

    assert plain[0].startswith("11 jobs (results.csv)")
    assert [line for line in plain if line.startswith("Regions")] == [
        "Regions 154 rows × 9 columns; the first 10 are shown"
    ]
    assert [line for line in plain if line.startswith("numbering.csv of 11 jobs")]
    assert not [line for line in plain if "fv-1/" in line and "numbering" in line]


def test_rows_of_every_table_begin_with_their_job(batch):
    tables = [part["text/plain"] for part in default_view(batch) if " rows × " in part["text/plain"]]

    assert len(tables) >= 3
    assert all(re.match(r"\s*(job|jobName)\b", table.splitlines()[1]) for table in tables)


def test_a_column_in_which_nothing_stands_is_left_out(batch):
    jobs = default_view(batch)[0]["text/plain"].splitlines()

    assert jobs[1].split() == ["jobName", "status", "score.iptm"]


def test_the_foot_tells_what_all_jobs_have_in_common(batch):
    foot = result_bundles(batch)[-1]["text/plain"]

    assert foot == "Jobs: 11\nMethod: ANARCI 2024.05.21"


def test_the_picture_says_whose_it_is(batch):
    scene = compose_result(batch)

    assert scene.title == "fv-1 · antibody.pdb"
    assert len(scene.models[0].highlights) == 6
