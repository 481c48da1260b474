"""What a file field takes, on both faces, against the real service."""

import pytest
from job_settings import PDB

from foldnote.client import inline, uploaded
from foldnote.errors import FoldnoteError, SettingsError
from foldnote.models import JobStatus


@pytest.fixture
def here(tmp_path, monkeypatch, name):
    """A file in the working folder, whose name is its path."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / f"{name}.pdb").write_text(PDB)
    return f"{name}.pdb"


async def test_an_upload_is_used_as_it_is(api, settle, here):
    stored = await settle(api.files.upload(here))
    job = await settle(api.jobs.submit("align-pdbs", {"pdbFiles": [stored, stored]}))
    assert job.settings == {"pdbFiles": [here, here]}
    assert (await settle(job.finish(60))).status is JobStatus.COMPLETE


async def test_a_text_that_is_a_file_here_is_asked_about(api, settle, here):
    await settle(api.files.upload(here))
    with pytest.raises(SettingsError) as caught:
        await settle(api.jobs.submit("align-pdbs", {"pdbFiles": [here, here]}))
    assert f"fn.upload('{here}')" in caught.value.message
    assert f"fn.uploaded('{here}')" in caught.value.message
    assert caught.value.problems[0].field == "pdbFiles"


async def test_an_upload_is_named_in_spite_of_a_file_here(api, settle, here):
    stored = await settle(api.files.upload(here))
    first = await settle(api.jobs.submit("align-pdbs", {"pdbFiles": [stored, stored]}))
    second = await settle(api.jobs.submit("align-pdbs", {"pdbFiles": [uploaded(here), uploaded(here)]}))
    assert first.job_name == second.job_name


async def test_contents_are_given_inline(api, settle):
    job = await settle(api.jobs.submit("align-pdbs", {"pdbFiles": [inline(PDB), inline(PDB + "END\n")]}))
    assert (await settle(job.finish(60))).status is JobStatus.COMPLETE


async def test_a_file_of_a_job_is_used(api, settle, name):
    job = await settle(
        api.jobs.submit("align-pdbs", {"pdbFiles": [inline(PDB), inline(PDB)]}, job_name=f"{name}.output-1")
    )
    await settle(job.finish(60))
    value = job.file("file-0.txt")
    assert value == f"{name}.output-1/file-0.txt"


@pytest.mark.parametrize("path", ["", "/etc/passwd", "../other/x.pdb", "a\nb"])
async def test_a_path_outside_a_result_is_refused(api, settle, settings, path):
    job = await settle(api.jobs.submit("anarci", settings))
    with pytest.raises(FoldnoteError, match="not a path inside"):
        job.file(path)


def test_what_each_kind_refuses():
    with pytest.raises(FoldnoteError, match="inline"):
        uploaded("ATOM\nATOM\n")
    with pytest.raises(FoldnoteError, match="empty"):
        inline("  \n")
    assert inline("MKV") == "MKV\n"


async def test_text_fields_are_no_files(api, settle, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    settings = {"sequence": "EVQLVESGGGLVQPGGSLRLSCAAS", "scheme": "imgt"}
    (tmp_path / settings["sequence"]).write_text("x")
    assert await settle(api.jobs.submit("anarci", settings))
