"""A batch shows one table of its jobs, whose rows open their results, then the joined tables."""

import base64
import json
import struct
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest
from table_data import unpack

from foldnote.models import Job, JobStatus
from foldnote.results import open_result
from foldnote.viewers import compose_result, default_view, result_bundles
from foldnote.viewers.display import bundles
from foldnote.viewers.display.batch_rows import BatchRow, count_states, make_row, tabulate_rows
from foldnote.viewers.display.batches import list_tables
from foldnote.viewers.display.bundles import rows_bundle
from foldnote.viewers.render.paper import on_paper

DATA = Path(__file__).parents[1] / "results" / "data"
JOBS = [f"fv-{number}" for number in range(1, 12)]


@pytest.fixture
def batch(tmp_path):
    path = tmp_path / "panel.zip"
    rows = "".join(f"{job},Complete,,0.{place},EV{place + 1},imgt\n" for place, job in enumerate(JOBS))
    heads = "jobName,status,error,score.iptm,settings.sequence,settings.scheme"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("results.csv", f"{heads}\n{rows}fv-12,Stopped,No domain.,,EV12,imgt\n")
        for place, job in enumerate(JOBS):
            engine = {"method": "ANARCI", "version": "2024.05.21", "kind": "genuine"}
            about = {"jobName": job, "type": "anarci", "seed": place}
            archive.writestr(f"{job}/manifest.json", json.dumps({"job": about, "engine": engine}))
            archive.writestr(f"{job}/score.json", json.dumps({"ptm": 0.125}))
            archive.write(DATA / "numbering.csv", f"{job}/numbering.csv")
            archive.write(DATA / "trastuzumab_fv_ca.pdb", f"{job}/antibody.pdb")
    return open_result(path, "panel")


def test_the_table_of_jobs_comes_first_and_the_joined_tables_are_collapsed(batch):
    parts = default_view(batch)
    plain = [part["text/plain"].splitlines()[0] for part in parts]

    assert plain[0].startswith("12 jobs: 11 complete, 1 failed 12 rows")
    assert len(parts) == 2
    assert parts[1]["text/html"].startswith('<details class="fnt-all"><summary>3 tables of all jobs, joined')
    assert "numbering.csv of 11 jobs" in parts[1]["text/plain"]


def test_rows_have_state_reason_figures_and_scores_in_the_order_of_the_batch(batch):
    data = unpack(default_view(batch)[0]["text/html"])
    values = {column["name"]: found for column, found in zip(data["columns"], data["values"], strict=True)}

    assert values["name"] == [*JOBS, "fv-12"]
    assert values["state"] == ["Complete"] * 11 + ["Failed"]
    assert values["reason"] == [None] * 11 + ["No domain."]
    assert values["CDR-H3"] == ["SRWGGDGFYAMDY"] * 11 + [None]
    assert values["settings.sequence"][:2] == ["EV1", "EV2"]
    same = {column["name"]: column["same"] for column in data["columns"] if column["same"]}
    assert same == {f"CDR-{name}": "known" for name in ("H1", "H2", "H3", "L1", "L2", "L3")} | {
        "settings.scheme": "all"
    }


def test_a_row_shows_a_picture_of_its_own_structure(batch, monkeypatch):
    data = unpack(default_view(batch)[0]["text/html"])
    values = {column["name"]: found for column, found in zip(data["columns"], data["values"], strict=True)}
    pictures = data["pictures"]

    assert [column["name"] for column in data["columns"]][:4] == ["name", "state", "reason", "structure"]
    assert values["structure"] == [*(f"{job}/antibody.pdb" for job in JOBS), None]
    assert (pictures["column"], set(pictures["drawn"])) == ("structure", set(values["structure"][:-1]))
    png = base64.b64decode(pictures["drawn"]["fv-1/antibody.pdb"])
    assert (png[:8], struct.unpack(">II", png[16:24])) == (
        b"\x89PNG\r\n\x1a\n",
        (pictures["width"], pictures["height"]),
    )

    monkeypatch.setattr(bundles, "MAX_PICTURED_JOBS", 2)
    few = unpack(default_view(batch)[0]["text/html"])
    assert [*few["pictures"]["drawn"]] == ["fv-1/antibody.pdb", "fv-2/antibody.pdb"]
    with on_paper():
        assert "fv-1/antibody.pdb" not in default_view(batch)[0]["text/html"]


def test_scores_have_label_unit_and_direction(batch):
    columns = {each["name"]: each for each in unpack(default_view(batch)[0]["text/html"])["columns"]}

    assert [columns["score.iptm"][part] for part in ("label", "unit", "better")] == [
        "ipTM",
        "0 to 1, ↑",
        "higher",
    ]


def test_rows_open_their_own_results_saved_up_to_a_limit(batch, monkeypatch):
    saved = unpack(default_view(batch)[0]["text/html"])["opens"]["saved"]
    one = len(next(iter(saved.values())))
    monkeypatch.setattr(bundles, "MAX_SAVED_CHARACTERS", int(2.5 * one))
    few = unpack(default_view(batch)[0]["text/html"])["opens"]["saved"]

    assert list(few) == JOBS[:2]
    assert "fv-2" in few["fv-2"]
    assert "fv-1 " not in few["fv-2"]


def test_rows_of_joined_tables_begin_with_their_job(batch):
    tables = [text for _, text in list_tables(batch)]

    assert len(tables) == 3
    assert all(table.columns[0] == "job" for table in tables)


def test_the_foot_tells_what_all_jobs_have_in_common(batch):
    foot = result_bundles(batch)[-1]["text/plain"]

    assert foot == "Jobs with a result: 11 of 12\nMethod: ANARCI 2024.05.21"


def test_a_failed_job_whose_log_is_in_the_archive_counts_as_one_without_a_result(tmp_path):
    path = tmp_path / "panel.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("results.csv", "jobName,status,error\na,Complete,\nb,Stopped,No domain.\n")
        archive.writestr("a/score.json", "{}")
        archive.writestr("b/job.log", "No domain.")
    assert result_bundles(open_result(path, "panel"))[-1]["text/plain"] == "Jobs with a result: 1 of 2"


def test_a_batch_without_failures_counts_its_jobs(tmp_path):
    path = tmp_path / "panel.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("results.csv", "jobName,status,error\na,Complete,\nb,Complete,\n")
        for job in "ab":
            archive.writestr(f"{job}/score.json", "{}")
    assert result_bundles(open_result(path, "panel"))[-1]["text/plain"] == "Jobs with a result: 2"


def test_the_picture_says_whose_it_is(batch):
    scene = compose_result(batch)

    assert scene.title == "fv-1 · antibody.pdb"
    assert len(scene.models[0].highlights) == 6


def test_a_reused_stage_names_in_the_table_whose_result_it_has():
    job = Job(job_name="b-fold", type="anarci", status=JobStatus.COMPLETE, reused_from="a-fold")
    frame = tabulate_rows([make_row("b-fold", job, {"stage": "fold"})])
    assert list(frame["reused from"]) == ["a-fold"]


def test_a_stage_behind_a_failed_one_is_reported_as_not_run_as_its_card_does():
    failed = {"type": "anarci", "status": JobStatus.STOPPED, "error": "The stage fold failed: no chain."}
    jobs = [
        Job(job_name="b-fold", started="2026-11-27T12:00:00Z", **failed),
        Job(job_name="b-scan", **failed),
    ]
    rows = [make_row(job.job_name, job, {}) for job in jobs]
    assert [row.state for row in rows] == ["Failed", "Not run"]
    assert count_states([row.state for row in rows]) == "2 jobs: 1 failed, 1 not run"
    unstarted = jobs[1].model_copy(update={"error": "The run could not be started: no space."})
    assert make_row("b-scan", unstarted, {}).state == "Failed", "a job of a batch that could not be started"


def make_docking(ligand, number, **scores):
    settings = {
        "ligandFile": ligand,
        "receptorFile": "target.pdb",
        "site": "ATOM\nATOM",
        "boxSize": [16, 16, 16],
    }
    job = Job(job_name=f"d{number}", type="vina", status=JobStatus.COMPLETE, settings=settings, score=scores)
    return make_row(f"d{number}", job, {})


def test_molecules_come_first_and_shared_values_are_above_the_table():
    rows = [make_docking("C" * n, n, affinity=-n / 2, centerX=4.25, heavyAtoms=n) for n in range(1, 5)]
    frame = tabulate_rows(rows)
    assert list(frame)[:3] == ["name", "state", "settings.ligandFile"]
    assert "settings.site" not in frame, "contents of a file"
    bundle = rows_bundle(rows, "b")
    same = [column["name"] for column in unpack(bundle["text/html"])["columns"] if column["same"] == "all"]
    assert same == ["score.centerX", "settings.receptorFile"]
    told = "Same in all rows: center X 4.25; receptor file target.pdb."
    assert told in bundle["text/plain"]
    assert f"<p>{told}</p>" in bundle["text/html"].partition("<script>")[0]
    assert "centerX" not in bundle["text/html"].partition("<script>")[0]


def make_numbering(name):
    settings = {"sequence": "EVQLVESGGG" * 11, "scheme": "imgt"}
    figures = {"CDR-H3": "SRWGGDGFYAMDY"}
    return BatchRow(
        name, "Complete", scores={"scheme": "imgt", "chains": 2}, figures=figures, settings=settings
    )


def test_values_shared_by_all_rows_are_shown_once_and_sequences_last():
    bundle = rows_bundle([make_numbering("a"), make_numbering("b")], "b")
    told = f"Same in all rows: CDR-H3 SRWGGDGFYAMDY; scheme imgt; chains 2; sequence {'EVQLVESGGG' * 11}."
    assert told in bundle["text/plain"]
    assert f"<p>{told}</p>" in bundle["text/html"].partition("<script>")[0]
    columns = {each["name"]: each["same"] for each in unpack(bundle["text/html"])["columns"]}
    assert columns["settings.scheme"] == "said"
    assert columns["score.scheme"] == "all"


def test_a_value_that_differs_from_the_setting_of_its_name_is_also_reported():
    rows = [replace(make_numbering(name), settings={"scheme": "kabat"}) for name in "ab"]
    told = "scheme (result) imgt; chains 2; scheme (setting) kabat."
    assert told in rows_bundle(rows, "b")["text/plain"]


def label_columns(schemes, found):
    rows = [
        replace(make_numbering(str(n)), settings={"scheme": scheme}, scores={"scheme": result})
        for n, (scheme, result) in enumerate(zip(schemes, found, strict=True))
    ]
    return [
        each["label"] for each in unpack(rows_bundle(rows, "b")["text/html"])["columns"] if not each["same"]
    ]


def test_no_column_of_the_user_takes_the_place_of_a_name_a_state_or_a_figure():
    own = {"name": "adalimumab", "state": "monomer", "reason": "asked", "retries": "0", "species": "mouse"}
    rows = [
        BatchRow(name, state, "No domain.", 1, own, {"species": "human"})
        for name, state in (("adalimumab", "Complete"), ("adalimumab-2", "Failed"))
    ]
    frame = tabulate_rows(rows)
    assert frame["name"].tolist() == ["adalimumab", "adalimumab-2"]
    assert frame["state"].tolist() == ["Complete", "Failed"]
    assert frame.loc[0, ["reason", "retries", "species"]].tolist() == ["No domain.", 1, "human"]
    assert {name: frame.loc[1, f"input.{name}"] for name in own} == own
    data = unpack(rows_bundle(rows, "b")["text/html"])
    heads = [column["label"] for column in data["columns"]]
    assert {"name (input)", "state (input)", "species (input)"} <= {*heads}
    assert data["values"][0] == ["adalimumab", "adalimumab-2"]


def test_a_setting_and_a_score_of_one_name_have_different_headings():
    labels = label_columns(["imgt", "kabat", "auto"], ["imgt", "kabat", "kabat"])
    assert labels == ["name", "state", "scheme (result)", "scheme (setting)"]


@pytest.mark.parametrize("found", [["imgt", "kabat", "imgt"], ["imgt", None, None]])
def test_a_score_that_repeats_its_setting_has_no_separate_column(found):
    assert label_columns(["imgt", "kabat", "imgt"], found) == ["name", "state", "scheme"]


def test_a_value_that_only_two_of_many_jobs_have_so_far_stays_a_column():
    rows = [make_docking("C" * n, n, **({"poses": 9} if n < 3 else {})) for n in range(1, 6)]
    columns = {each["name"]: each["same"] for each in unpack(rows_bundle(rows, "b")["text/html"])["columns"]}
    assert columns["score.poses"] == ""
    rows[2] = make_docking("CCC", 3, poses=9)
    columns = {each["name"]: each["same"] for each in unpack(rows_bundle(rows, "b")["text/html"])["columns"]}
    assert columns["score.poses"] == "known"


def test_name_and_state_are_columns_even_if_all_jobs_are_complete():
    columns = unpack(rows_bundle([make_docking("C", n) for n in (1, 2)], "b")["text/html"])["columns"]
    assert [each["name"] for each in columns if not each["same"]] == ["name", "state"]
