"""Batches, with both APIs and the real service."""

import zipfile

import pandas as pd
import pytest

import foldnote as fn
from foldnote.client.inputs.batch_table import expand_rows
from foldnote.errors import (
    BatchSettingsError,
    JobFailedError,
    JobNameTakenError,
    NotFoundError,
    SettingsError,
)
from foldnote.models import BatchStatus


@pytest.fixture
def rows(settings) -> list[dict]:
    return [settings | {"scheme": scheme} for scheme in ("imgt", "kabat", "chothia")]


async def test_a_batch_goes_from_its_rows_to_one_archive(api, settle, rows, name):
    names = [f"{name}.a.output-1.score", f"{name}.b", f"{name}.c.fail"]
    batch = await settle(api.batches.submit("anarci", rows, name, names))
    record = await settle(batch.finish(60))
    assert (record.batch_status, record.batch_size) == (BatchStatus.COMPLETE, 3)
    assert record.result_url
    with zipfile.ZipFile(await settle(batch.download())) as archive:
        assert f"{names[0]}/file-0.txt" in archive.namelist()
    frame = await settle(batch.to_frame())
    assert list(frame.index) == names
    assert list(frame["settings.scheme"]) == ["imgt", "kabat", "chothia"]
    assert frame.loc[names[0], "score.probe"] == 0.5
    assert "asked to fail" in frame.loc[names[2], "error"]


async def test_the_same_rows_are_the_same_batch(api, settle, rows):
    first = await settle(api.batches.submit("anarci", rows))
    second = await settle(api.batches.submit("anarci", rows))
    assert first.job_name == second.job_name
    assert second.created is not None
    assert (await settle(api.batches.get(first.job_name))).record.batch_size == 3


async def test_without_the_ledger_the_name_finds_the_same_batch(api, settle, rows, home):
    first = await settle(api.batches.submit("anarci", rows))
    for file in (home / "data").glob("ledger.db*"):
        file.unlink()
    second = await settle(api.batches.submit("anarci", rows))
    assert (second.job_name, second.created is None) == (first.job_name, False)


async def test_a_taken_name_shows_the_difference(api, settle, rows, name):
    await settle(api.batches.submit("anarci", rows, name))
    with pytest.raises(JobNameTakenError, match="has 3 rows, this one 2"):
        await settle(api.batches.submit("anarci", rows[:2], name))
    with pytest.raises(JobNameTakenError, match="scheme is 'imgt' there and 'kabat' here"):
        await settle(api.batches.submit("anarci", [rows[1], *rows[1:]], name))


async def test_the_name_of_a_job_is_not_a_batchs(api, settle, rows, name):
    await settle(api.jobs.submit("anarci", rows[0], job_name=name))
    with pytest.raises(JobNameTakenError, match="single job"):
        await settle(api.batches.submit("anarci", rows, name))
    with pytest.raises(NotFoundError, match="not a batch"):
        await settle(api.batches.get(name))


async def test_wrong_rows_are_reported_row_by_row_and_nothing_is_sent(api, settle, rows, name):
    with pytest.raises(BatchSettingsError) as caught:
        await settle(api.batches.submit("anarci", [rows[0], rows[1] | {"scheme": "roman"}, {}], name))
    frame = caught.value.to_frame()
    assert list(frame["valid"]) == [True, False, False]
    assert list(frame["field"])[1:] == ["scheme", "sequence"]
    assert caught.value.problems[0].field == "settings[1].scheme"
    with pytest.raises(NotFoundError):
        await settle(api.batches.get(name))


async def test_what_only_the_service_knows_is_reported_before_anything_is_sent(api, settle, name):
    with pytest.raises(BatchSettingsError) as caught:
        await settle(api.batches.submit("align-pdbs", [{"pdbFiles": [f"{name}-no.pdb", "no.pdb"]}] * 2, name))
    assert list(caught.value.to_frame()["valid"]) == [False, False]
    assert "neither an upload" in caught.value.to_frame()["error"][0]


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"names": ["a"]}, "jobNames"),
        ({"names": ["a", "a", "b"]}, "name of row 2: "),
        ({"names": ["a", "b c", "d"]}, "name of row 2: "),
        ({"batch_name": "a/b"}, "batch_name: "),
        ({"rows": []}, "settings"),
    ],
)
async def test_wrong_names_are_not_sent(api, settle, rows, change, field):
    with pytest.raises(SettingsError, match=field):
        await settle(api.batches.submit("anarci", **({"rows": rows} | change)))


async def test_a_batch_without_any_result_failed(api, settle, rows, name):
    batch = await settle(api.batches.submit("anarci", rows[:1], name))
    await settle(batch.stop())
    assert (await settle(batch.refresh())).is_final
    other = await settle(api.batches.submit("anarci", rows[:1], f"{name}x", [f"{name}.fail"]))
    try:
        record = await settle(other.finish(60))
    except JobFailedError as exc:
        record = exc.job
    assert record.is_final


def test_a_table_and_a_sweep_become_a_batch(client, settings, name, monkeypatch):
    monkeypatch.setattr("foldnote.notebook.connection.find_client", lambda profile: client)
    table = pd.DataFrame({"id": [f"{name}-a", f"{name}-b"], "VH": [settings["sequence"]] * 2})
    batch = fn.submit_batch(
        "anarci", table, columns={"sequence": "VH"}, sweep={"scheme": ["imgt", "kabat"]}, names="id"
    )
    frame = batch.wait(60).to_frame()
    assert list(frame.index) == [f"{name}-a-1", f"{name}-a-2", f"{name}-b-1", f"{name}-b-2"]
    assert list(frame["settings.scheme"]) == ["imgt", "kabat"] * 2
    assert set(frame["status"]) == {"Complete"}


async def test_again_makes_another_batch_of_the_same_rows(api, settle, name, settings):
    rows = [settings, dict(settings, scheme="kabat")]
    first = await settle(api.batches.submit("anarci", rows, name))
    preview = await settle(api.batches.preview("anarci", rows, name, again=True))
    assert (preview.existing, preview.batch_name, preview.jobs_taken) == (None, f"{name}-run-2", 2)
    second = await settle(api.batches.send(preview))
    third = await settle(api.batches.submit("anarci", rows, name, again=True))
    assert [batch.job_name for batch in (first, second, third)] == [name, f"{name}-run-2", f"{name}-run-3"]
    assert [job.job_name for job in await settle(third.subjobs())] == [f"{name}-run-3-1", f"{name}-run-3-2"]


@pytest.fixture
def sheet(name, settings):
    """Return rows of a table whose column names the jobs."""
    table = pd.DataFrame(
        {"id": [f"{name}-a", f"{name}-b"], "VH": [settings["sequence"]] * 2, "Tm": [68, 70.5]}
    )
    return lambda scheme: expand_rows(table, {"sequence": "VH"}, shared={"scheme": scheme}, names="id")


async def test_one_table_feeds_several_batches(api, settle, sheet, name, home):
    names = [[job.job_name for job in await settle((await submit_sheet(api, settle, sheet, scheme)).subjobs())]
             for scheme in ("imgt", "kabat", "chothia")]  # fmt: skip
    ends = ("", "-anarci", "-anarci-2")
    assert names == [[f"{name}-{row}{end}" for row in "ab"] for end in ends]
    # The same cell again finds the same batches, with their rows and additional columns; also on another
    # computer.
    for is_remembered in (True, False):
        if not is_remembered:
            for file in (home / "data").glob("ledger.db*"):
                file.unlink()
        for scheme, end in zip(("imgt", "kabat", "chothia"), ends, strict=True):
            batch = await submit_sheet(api, settle, sheet, scheme)
            await settle(batch.finish(60))
            frame = await settle(batch.results())
            assert list(frame["job_name"]) == [f"{name}-a{end}", f"{name}-b{end}"]
            assert list(frame["Tm"]) == [68, 70.5]


async def submit_sheet(api, settle, sheet, scheme):
    return await settle(api.batches.submit("anarci", sheet(scheme)))


async def test_again_and_a_preview_also_rename_the_jobs_of_a_table(api, settle, sheet, name):
    await submit_sheet(api, settle, sheet, "imgt")
    second = await settle(api.batches.submit("anarci", sheet("imgt"), again=True))
    third = await settle(api.batches.send(await settle(api.batches.preview("anarci", sheet("kabat")))))
    assert [job.job_name for job in await settle(second.subjobs())] == [
        f"{name}-a-anarci",
        f"{name}-b-anarci",
    ]
    assert [row.name for row in await settle(third.list_rows())] == [
        f"{name}-a-anarci-2",
        f"{name}-b-anarci-2",
    ]


async def test_names_that_were_asked_for_are_not_changed(api, settle, sheet, name):
    await submit_sheet(api, settle, sheet, "imgt")
    with pytest.raises(JobNameTakenError, match=f"already have a job named '{name}-b'"):
        await settle(api.batches.submit("anarci", sheet("kabat"), names=[f"{name}-c", f"{name}-b"]))
