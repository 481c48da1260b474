"""Batches from tables: preview, results and retries, with both APIs."""

import math

import pandas as pd
import pytest
from scripted_service import answers

import foldnote as fn
from foldnote.client.inputs.batch_table import expand_rows
from foldnote.client.tables.batch_results import Sheet
from foldnote.errors import FoldnoteError, NotFoundError, ServiceError


@pytest.fixture
def table(settings, name) -> pd.DataFrame:
    """Return three antibodies with a custom index; the last one's job fails."""
    ids = [f"{name}-a.score", f"{name}-b.score", f"{name}-c.fail"]
    return pd.DataFrame({"id": ids, "VH": settings["sequence"], "note": ["x", "y", "z"]}, index=[10, 20, 30])


@pytest.fixture
def rows(table):
    return expand_rows(table, {"sequence": "VH"}, shared={"scheme": "imgt"}, names="id")


async def test_a_preview_counts_judges_and_submits_nothing(api, settle, rows, name):
    preview = await settle(api.batches.preview("anarci", rows, name))
    assert (preview.count, preview.is_valid, preview.jobs_taken, preview.existing) == (3, True, 3, None)
    frame = preview.to_frame()
    assert list(frame.index) == rows.names
    assert list(frame["settings.scheme"]) == ["imgt"] * 3
    with pytest.raises(NotFoundError):
        await settle(api.batches.get(name))
    batch = await settle(api.batches.send(preview))
    again = await settle(api.batches.preview("anarci", rows, name))
    assert (batch.job_name, again.jobs_taken, again.existing.job_name) == (name, 0, name)


async def test_a_preview_has_the_verdict_on_each_wrong_row(api, settle, rows, name):
    rows.settings[1]["scheme"] = "roman"
    preview = await settle(api.batches.preview("anarci", rows, name))
    assert list(preview.to_frame()["valid"]) == [True, False, True]
    assert "1 row of 3 is not valid" in repr(preview)
    assert "row 2, scheme" in str(preview)
    with pytest.raises(FoldnoteError, match="scheme"):
        await settle(api.batches.send(preview))


async def test_a_preview_knows_what_earlier_jobs_took(api, settle, rows, name, settings):
    job = await settle(api.jobs.submit("anarci", settings, job_name=f"{name}-earlier"))
    await settle(job.finish(60))
    preview = await settle(api.batches.preview("anarci", rows, name))
    assert preview.experience.count >= 1
    assert preview.duration_s == pytest.approx(3 * preview.experience.duration_s)
    assert "of computing (median of" in str(preview)


async def test_results_are_listed_beside_their_input_rows(api, settle, rows, table, name):
    batch = await settle(api.batches.submit("anarci", rows, name))
    await settle(batch.finish(60))
    frame = await settle(batch.results())
    assert list(frame.index) == [10, 20, 30]
    assert list(frame["note"]) == ["x", "y", "z"]
    assert list(frame["status"]) == ["Complete", "Complete", "Failed"]
    assert list(frame["score.probe"])[:2] == [0.5, 0.5]
    assert math.isnan(frame.loc[30, "score.probe"])
    assert frame["duration_s"].dtype == "float64"
    rows = await settle(batch.list_rows())
    assert [row.job.word for row in rows] == ["Complete", "Complete", "Failed"]
    assert [row.inputs for row in rows] == [{"note": note} for note in "xyz"], (
        "columns other than settings and names"
    )
    found = await settle(api.batches.get(name))
    assert list((await settle(found.results(table)))["note"]) == ["x", "y", "z"]
    assert list((await settle(found.results()))["note"]) == ["x", "y", "z"]
    with pytest.raises(FoldnoteError, match="2 rows, but the batch has 3"):
        await settle(found.results(table.head(2)))


async def test_the_figures_of_the_table_in_the_cell_come_along_if_asked_for(api, settle, table, name):
    table = table.assign(
        id=[f"{name}-a.numbering-IGHV1", f"{name}-b.numbering-IGHV3", f"{name}-c.fail"], J=["mine"] * 3
    ).rename(columns={"J": "chain type"})
    rows = expand_rows(table, {"sequence": "VH"}, shared={"scheme": "imgt"}, names="id")
    batch = await settle(api.batches.submit("anarci", rows, name))
    await settle(batch.finish(60))
    assert not {"V gene", "CDR-H3"} & {*(await settle(batch.results()))}
    frame = await settle(batch.results(figures=True))
    assert list(frame["V gene"].dropna()) == ["IGHV1", "IGHV3"]
    assert list(frame["CDR-H3"].fillna("")) == ["SRWG", "SRWG", ""]
    assert list(frame["chain type"].fillna("")) == ["H", "H", ""]
    assert list(frame["input.chain type"]) == ["mine"] * 3
    again = await settle(batch.retry())
    # the error of the first attempt, while this one runs
    assert "V gene" in (await settle(again.results(figures=True)))
    await settle(again.finish(60))
    assert list((await settle(again.results(figures=True)))["V gene"].dropna()) == ["IGHV1", "IGHV3"]


async def test_a_table_s_columns_and_index_come_back_as_they_were(api, settle, rows, table, name):
    index = pd.MultiIndex.from_tuples([("a", 1), ("a", 1), ("b", 2)], names=["set", "plate"])
    table = table.assign(
        kind=pd.Categorical(["x", None, "y"], categories=["y", "x", "unused"], ordered=True),
        count=pd.array([1, None, 3], dtype="Int64"),
        good=pd.array([True, None, False], dtype="boolean"),
        share=pd.Series([0.5, math.nan, 1.0], dtype="float32", index=table.index),
        taken=pd.to_datetime(["2026-01-01", None, "2026-01-03"]).tz_localize("Europe/Berlin"),
        status=["mine", "mine", "mine"],
    ).set_index(index)
    rows = expand_rows(table, {"sequence": "VH"}, shared={"scheme": "imgt"}, names="id")
    batch = await settle(api.batches.submit("anarci", rows, name))
    await settle(batch.finish(60))
    found = await settle(api.batches.get(name))
    for frame in (await settle(batch.results()), await settle(found.results(table))):
        given = table.drop(columns="status")
        pd.testing.assert_frame_equal(frame[list(given.columns)], given)
        assert list(frame["input.status"]) == ["mine"] * 3
        assert list(frame["status"]) == ["Complete", "Complete", "Failed"]


async def test_long_names_of_another_try_stay_apart(api, settle, settings, name):
    long = f"{name}-".ljust(93, "x")
    batch = await settle(
        api.batches.submit("anarci", [settings] * 2, long, [f"{long}-a.fail", f"{long}-b.fail"])
    )
    await settle(api.jobs.wait([long], 60))
    again = await settle(batch.retry())
    await settle(api.jobs.wait([again.job_name], 60))
    names = list((await settle(again.results()))["job_name"])
    assert len(set(names)) == 2
    assert all(each.endswith("-retry1") and len(each) <= 100 for each in names)


async def test_only_failed_rows_are_tried_again_and_once(api, settle, rows, name):
    batch = await settle(api.batches.submit("anarci", rows, name))
    await settle(batch.finish(60))
    again = await settle(batch.retry())
    assert (again.job_name, again.record.batch_size) == (f"{name}-retry1", 1)
    assert (await settle(batch.retry())).job_name == again.job_name
    await settle(again.finish(60))
    frame = await settle(again.results())
    assert list(frame["job_name"]) == [*rows.names[:2], f"{rows.names[2]}-retry1"]
    assert list(frame["note"]) == ["x", "y", "z"]
    third = await settle(again.retry())
    assert third.job_name == f"{name}-retry2"


async def test_a_batch_without_failures_has_nothing_to_try_again(api, settle, settings, name):
    batch = await settle(api.batches.submit("anarci", [settings], name))
    await settle(batch.finish(60))
    with pytest.raises(FoldnoteError, match="there is nothing to retry"):
        await settle(batch.retry())


async def test_a_batch_on_its_way_is_not_tried_again(api, settle, settings, name):
    batch = await settle(api.batches.submit("anarci", [settings], name, [f"{name}.sleep-60"]))
    with pytest.raises(FoldnoteError, match="Wait for the batch"):
        await settle(batch.retry())
    await settle(batch.stop())


async def test_a_job_that_is_gone_is_reported_and_tried_again(api, settle, rows, name):
    batch = await settle(api.batches.submit("anarci", rows, name))
    await settle(batch.finish(60))
    await settle(api.jobs.delete(rows.names[0]))
    assert next(iter((await settle(batch.results()))["status"])) == "Deleted"


async def test_batches_are_listed_newest_first(api, settle, settings, name):
    for number in (1, 2):
        await settle(api.batches.submit("anarci", [settings], f"{name}-{number}"))
    await settle(api.jobs.submit("anarci", settings, job_name=f"{name}-single"))
    listed = [batch.job_name for batch in await settle(api.batches.list(limit=2))]
    assert listed == [f"{name}-2", f"{name}-1"]
    frame = await settle(api.batches.to_frame(2))
    assert list(frame["jobs"]) == [1, 1]


async def test_limits_reach_the_service(api, settle, settings, name):
    slow = [f"{name}.sleep-30"]
    batch = await settle(api.batches.submit("anarci", [settings], name, slow, max_runtime_s=1))
    try:
        await settle(batch.finish(30))
    except FoldnoteError:
        await settle(batch.refresh())
    (job,) = await settle(batch.subjobs())
    assert job.is_failed
    with pytest.raises(ServiceError, match="weightedHoursBudget|weighted"):
        await settle(api.batches.submit("anarci", [settings], f"{name}x", weighted_hours_budget=-1))


def test_more_rows_than_one_validation_takes_are_one_batch(client, settings, name):
    rows = [settings | {"sequence": settings["sequence"] + "S" * number} for number in range(60)]
    many = [
        row | {"scheme": scheme} for row in rows for scheme in ("imgt", "kabat", "chothia", "martin", "aho")
    ] * 4
    batch = client.batches.submit(
        "anarci", many, name, [f"{name}.{number}.sleep-9" for number in range(len(many))]
    )
    assert len(many) > 1000
    assert batch.refresh().record.batch_size == len(many)
    batch.stop()
    frame = batch.results()
    assert (len(frame), list(frame["scheme"][:2])) == (len(many), ["imgt", "kabat"])


@pytest.fixture
def here(client, monkeypatch):
    monkeypatch.setattr("foldnote.notebook.connection.find_client", lambda profile: client)


def test_a_notebook_looks_before_it_submits(here, table, name):
    given = {"columns": {"sequence": "VH"}, "names": "id", "batch_name": name, "scheme": "imgt"}
    preview = fn.submit_batch("anarci", table, preview=True, **given)
    html = preview._repr_html_()
    assert f"<b>{name}: 3 jobs of ANARCI</b>" in html
    assert "It counts as 3 jobs." in html
    batch = preview.submit().wait(60)
    assert list(batch.results().index) == [10, 20, 30]
    assert fn.batch(name).job_name == name
    assert name in fn.batches().to_frame().index


def test_a_notebook_names_the_sheet_of_a_workbook(here, table, tmp_path):
    with pd.ExcelWriter(tmp_path / "plates.xlsx") as book:
        table.head(1).to_excel(book, sheet_name="Plate 1")
        table.tail(2).to_excel(book, sheet_name="Plate 2")
    given = {"columns": {"sequence": "VH"}, "names": "id", "scheme": "imgt", "preview": True}
    assert fn.submit_batch("anarci", tmp_path / "plates.xlsx", sheet="Plate 2", **given).count == 2
    with pytest.raises(FoldnoteError, match="Its sheets are: 'Plate 1', 'Plate 2'"):
        fn.submit_batch("anarci", tmp_path / "plates.xlsx", sheet="Plate 3", **given)
    with pytest.raises(FoldnoteError, match="Give the path of the workbook"):
        fn.submit_batch("anarci", table, sheet="Plate 2", **given)


@pytest.mark.parametrize(("answer", "is_sent"), [("y", True), ("", False)])
def test_a_large_batch_asks_first(here, settings, name, monkeypatch, answer, is_sent):
    monkeypatch.setenv("FOLDNOTE_ASK_FROM_JOBS", "2")
    asked = []
    monkeypatch.setattr("builtins.input", lambda question: asked.append(question) or answer)
    table = [settings, settings | {"scheme": "kabat"}]
    if is_sent:
        assert fn.submit_batch("anarci", table, batch_name=name).job_name == name
        fn.submit_batch("anarci", table, batch_name=name)
    else:
        with pytest.raises(FoldnoteError, match="Nothing was submitted"):
            fn.submit_batch("anarci", table, batch_name=name)
    assert len(asked) == 1
    assert "Submit 2 jobs? [y/N]" in asked[0]


def test_without_a_prompt_a_large_batch_needs_a_confirming_argument(here, settings, name, monkeypatch):
    monkeypatch.setenv("FOLDNOTE_ASK_FROM_JOBS", "1")
    with pytest.raises(FoldnoteError, match="ask=False"):
        fn.submit_batch("anarci", [settings], batch_name=name)
    assert fn.submit_batch("anarci", [settings], batch_name=name, ask=False).job_name == name


async def test_a_batch_that_is_loaded_again_has_the_columns_of_its_table(api, settle, rows, name):
    batch = await settle(api.batches.submit("anarci", rows, name))
    await settle(batch.finish(60))
    loaded = await settle(api.batches.get(name))
    pd.testing.assert_frame_equal(await settle(loaded.results()), await settle(batch.results()))


async def test_a_retry_that_is_loaded_again_covers_all_rows(api, settle, rows, name):
    batch = await settle(api.batches.submit("anarci", rows, name))
    await settle(batch.finish(60))
    again = await settle(batch.retry())
    await settle(again.finish(60))
    loaded = await settle(api.batches.get(again.job_name))
    pd.testing.assert_frame_equal(await settle(loaded.results()), await settle(again.results()))
    assert [each.job_name for each in await settle(loaded.list_earlier())] == [name]
    assert (await settle(batch.list_earlier()), batch.job_name) == ([], name)


async def test_another_batch_of_the_same_name_has_not_the_old_table(api, settle, rows, settings, name):
    batch = await settle(api.batches.submit("anarci", rows, name))
    await settle(batch.finish(60))
    other = Sheet((name,), ("x", "y"), ({}, {}), ({"id": 1}, {"id": 2}))
    api.ledger.remember_sheet(name, other.write())
    frame = await settle((await settle(api.batches.get(name))).results())
    assert list(frame["job_name"]) == rows.names
    assert list(frame["scheme"]) == ["imgt"] * 3  # settings are known without the table
    assert "id" not in frame


def test_rows_listed_in_any_order_are_sorted_by_their_numbers(scripted, connect):
    names = [f"b-{number}" for number in (10, 2, 11, 1, 3)]
    records = [{"jobName": each, "type": "anarci", "status": "Complete", "batch": "b"} for each in names]
    parent = {"jobName": "b", "type": "batch", "tool": "anarci", "status": "Complete"}
    scripted.on("GET", "/jobs", answers(parent), answers({"jobs": records}))
    batch = connect().batches.get("b")
    assert list(batch.results()["job_name"]) == [f"b-{number}" for number in (1, 2, 3, 10, 11)]
