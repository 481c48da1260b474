"""Files of a single job are never presented as the batch's, and tables name the job of every row."""

import json

import foreign_archives as foreign
import pytest
from result_archives import DATA, FV, NUMBERING, write_zip

from foldnote.results import find_metric, merge_results, open_result, rank_table

JOBS = [f"fv-{number}" for number in range(1, 12)]


def make_manifest(job, seed):
    engine = {"name": "anarci", "method": "ANARCI", "version": "2024.05.21", "kind": "genuine"}
    return json.dumps(
        {"job": {"jobName": job, "type": "anarci", "seed": seed}, "engine": engine, "started": job}
    )


def make_batch(jobs=JOBS, table="results.csv"):
    """Write a batch in the service's layout: the table, then a folder for each job."""
    rows = "".join(f"{job},Complete,,{place / 10}\n" for place, job in enumerate(jobs))
    members = {table: "jobName,status,error,score.iptm\n" + rows} if table else {}
    for place, job in enumerate(jobs):
        members |= {
            f"{job}/manifest.json": make_manifest(job, place),
            f"{job}/score.json": json.dumps({"ptm": place / 100}),
            f"{job}/numbering.csv": NUMBERING,
            f"{job}/antibody.pdb": FV,
            f"{job}/liabilities.csv": f"motif,place\nNG,{place}\n",
        }
    return members


@pytest.fixture
def opened(tmp_path):
    return lambda members: open_result(write_zip(tmp_path / "batch.zip", members))


@pytest.fixture
def batch(opened):
    return opened(make_batch())


@pytest.mark.parametrize("table", ["results.csv", "batch-results.csv", ""])
def test_jobs_are_results_of_their_own_in_the_order_of_the_rows(opened, table):
    batch = opened(make_batch(table=table))

    assert list(batch.jobs) == JOBS
    assert [job.scores["ptm"] for job in batch.jobs.values()] == [place / 100 for place in range(11)]
    assert batch.jobs["fv-10"].manifest.seed == 9
    assert len(batch.jobs["fv-3"].regions) == 14
    assert [file.name for file in batch.jobs["fv-3"].files] == [
        "antibody.pdb", "liabilities.csv", "manifest.json", "numbering.csv", "score.json",
    ]  # fmt: skip


@pytest.mark.parametrize(
    "jobs", [["002", "001"], ["NA", "nan", "null"], ["1e5", "10", "1.0"], ["True", "False"]]
)
def test_a_job_may_have_the_name_of_a_number_or_of_a_missing_value(opened, jobs):
    batch = opened(make_batch(jobs))

    assert list(batch.jobs) == jobs
    assert list(batch.tables["results.csv"]["jobName"]) == jobs
    assert list(batch.numbering["job"].unique()) == jobs


def test_nothing_of_the_first_job_is_the_batchs(batch):
    assert (dict(batch.scores), batch.regions) == ({}, ())
    assert (batch.manifest.job_name, batch.manifest.seed, batch.manifest.started) == ("", None, "")
    assert (batch.manifest.tool, batch.manifest.method_title) == ("anarci", "ANARCI 2024.05.21")


def test_every_table_names_the_job_of_its_rows(batch):
    one = batch.jobs["fv-1"].numbering

    assert batch.numbering.columns[0] == batch.model_table.columns[0] == "job"
    assert batch.numbering["job"].drop_duplicates().tolist() == JOBS
    assert len(batch.numbering) == 11 * len(one)
    assert batch.model_table[["job", "rank"]].values.tolist() == [[job, 1] for job in JOBS]


def test_models_of_jobs_are_ranked_apart_whatever_their_files_are_called(opened):
    members = make_batch(JOBS[:2])
    members |= {"fv-1/x_model_0.cif": foreign.cif(), "fv-2/x_model_1.cif": foreign.cif(-5)}
    table = opened(members).model_table

    assert table.groupby("job")["rank"].apply(list).to_dict() == {"fv-1": [1, 1], "fv-2": [1, 1]}


def test_a_batch_of_docking_names_the_job_of_each_pose_and_contact(opened):
    pose = (DATA / "imatinib.sdf").read_bytes() + b"\n> <minimizedAffinity>\n-7.5\n\n$$$$\n"
    members = {"results.csv": "jobName,status\ndock-1,Complete\ndock-2,Complete\n"}
    for job in ("dock-1", "dock-2"):
        members |= {f"{job}/poses.sdf": pose, f"{job}/receptor.pdb": (DATA / "abl_pocket.pdb").read_bytes()}
    batch = opened(members)
    single = batch.jobs["dock-2"].contact_table

    assert batch.pose_table["job"].drop_duplicates().tolist() == ["dock-1", "dock-2"]
    assert len(single) > 5
    assert batch.contact_table.groupby("job").size().to_dict() == {
        "dock-1": len(single),
        "dock-2": len(single),
    }
    assert batch.interaction_table["job"].drop_duplicates().tolist() == ["dock-1", "dock-2"]


def test_jobs_without_a_folder_are_left_out(opened):
    members = make_batch(JOBS[:3])
    kept = {name: content for name, content in members.items() if not name.startswith("fv-2/")}

    assert list(opened(kept).jobs) == ["fv-1", "fv-3"]


@pytest.mark.parametrize(
    "members", [{"a.pdb": FV}, {"manifest.json": "{}", "x/manifest.json": "{}", "y/manifest.json": "{}"}]
)
def test_the_result_of_one_job_has_no_jobs(opened, members):
    assert dict(opened(members).jobs) == {}


def test_a_table_of_a_batch_is_ranked_by_the_names_of_its_figures(batch):
    table = batch.tables["results.csv"]

    assert find_metric("score.iptm") is find_metric("iptm")
    assert rank_table(table, "score.iptm")["jobName"].tolist() == JOBS[::-1]


def test_jobs_of_a_batch_are_merged_with_their_settings(batch):
    merged = merge_results(batch.jobs, {"fv-11": {"scheme": "kabat"}})

    assert merged["job"].tolist() == JOBS
    assert merged["scheme"].tolist()[-1] == "kabat"


def test_a_batch_whose_table_is_damaged_is_described_by_its_manifests(opened):
    members = make_batch(JOBS[:2]) | {"results.csv": b"\xff\xfe\x00"}

    assert list(opened(members).jobs) == ["fv-1", "fv-2"]


def test_a_folder_with_a_path_outside_is_not_a_job(opened):
    members = make_batch(JOBS[:1]) | {"results.csv": "jobName,status\n../x,Complete\nfv-1,Complete\n"}

    assert list(opened(members).jobs) == ["fv-1"]
