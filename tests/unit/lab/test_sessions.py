"""Actions of pages: uploads, downloads, connections, engines, several services."""

import asyncio
import io
import json
import sqlite3
import zipfile
from contextlib import closing, suppress

import httpx
import psutil
import pytest
from lab_fixtures import PACE, TOKEN, wait_for_state

from foldnote import catalog, settings
from foldnote.errors import FoldnoteError
from foldnote.lab.engines import EngineManager
from foldnote.lab.service_session import describe_tool
from foldnote.lab.session_registry import SessionRegistry
from foldnote.models.tool import Tool

LOGIN = {"Authorization": f"token {TOKEN}"}


async def test_a_result_is_downloaded_shown_and_reported(jupyter, service):
    async with service.client() as client:
        tool = await client.tools.get("anarci")
        handle = await client.jobs.submit(tool, tool.example_job["settings"], job_name="a.structure")
        await client.jobs.wait([handle.job_name], 60)
    archive = await jupyter.get("jobs/a.structure/result", headers=LOGIN)
    assert archive.headers["Content-Disposition"] == "attachment; filename*=UTF-8''a.structure.zip"
    assert any(name.endswith("model.pdb") for name in zipfile.ZipFile(io.BytesIO(archive.content)).namelist())
    shown = (await jupyter.get("jobs/a.structure/view", headers=LOGIN, timeout=60)).json()
    assert "fnv-stage" in shown["html"]
    assert {"model.pdb", "manifest.json"} <= {file["name"].rpartition("/")[2] for file in shown["files"]}
    assert json.loads(shown["manifest"])["job"]["jobName"] == "a.structure"
    told = (await jupyter.get("jobs/a.structure/settings", headers=LOGIN)).json()["settings"]
    assert json.loads(told) == tool.example_job["settings"]


async def test_a_page_waits_until_something_changes(jupyter, service):
    first = await jupyter.get("jobs", headers=LOGIN)
    await wait_for_state(jupyter, "ok")
    first = await jupyter.get("jobs", headers=LOGIN)
    tag = first.headers["ETag"].split('"')[1]
    waiting = asyncio.create_task(jupyter.get(f"jobs?since={tag}&wait_s=20", headers=LOGIN, timeout=120))
    async with service.client() as client:
        tool = await client.tools.get("anarci")
        await client.jobs.submit(tool, tool.example_job["settings"], job_name="new")
    body = (await waiting).json()
    assert not body["isWhole"]
    assert [job["jobName"] for job in body["jobs"]] == ["new"]


async def test_polling_stops_when_a_page_is_closed(jupyter, registry):
    await wait_for_state(jupyter, "ok")
    poller = registry.find(None).poller
    tag = (await jupyter.get("jobs", headers=LOGIN)).headers["ETag"].split('"')[1]
    with pytest.raises(httpx.ReadTimeout):
        await jupyter.get(f"jobs?since={tag}&wait_s=50", headers=LOGIN, timeout=0.3)
    async with asyncio.timeout(40):  # less than the duration of the long poll
        while poller.waiting_pages:
            await asyncio.sleep(0.02)


async def test_profiles_are_listed_without_keys(jupyter):
    settings.save_profile("lab", "https://lab.example.org/v1")
    profiles = (await jupyter.get("profiles", headers=LOGIN)).json()["profiles"]
    assert {"name": "lab", "url": "https://lab.example.org/v1", "isActive": False} in profiles
    assert profiles[0] == {"name": "embedded", "url": None, "isActive": True}


async def test_an_unknown_profile_is_refused_in_a_sentence(jupyter):
    answer = await jupyter.get("jobs?profile=nobody", headers=LOGIN)
    assert answer.status_code == 404
    assert "nobody" in answer.json()["error"]


async def test_a_connection_that_does_not_answer_is_not_kept(jupyter):
    given = {"name": "far", "url": "http://127.0.0.1:9", "key": "a-secret-key"}
    verdict = await jupyter.post("profiles", headers=LOGIN, json=given, timeout=60)
    assert not verdict.json()["isGood"]
    assert "a-secret-key" not in verdict.text
    assert "far" not in [profile.name for profile in settings.profiles()]


async def test_a_page_that_waits_for_a_deletion_is_answered_when_the_key_is_replaced(jupyter, registry):
    await wait_for_state(jupyter, "ok")
    body = {"names": ["a"], "delayS": 30}
    waiting = asyncio.create_task(jupyter.post("jobs/delete", headers=LOGIN, json=body, timeout=120))
    await asyncio.sleep(0.5)
    await registry.find(None).close()
    assert (await waiting).json() == {"gone": [], "faults": []}


async def test_notes_of_a_deleted_job_do_not_outlive_it_where_another_one_stays(jupyter, service, registry):
    async with service.client() as client:
        tool = await client.tools.get("anarci")
        handle = await client.jobs.submit(tool, tool.example_job["settings"], job_name="noted")
        await client.jobs.wait([handle.job_name], 60)
    session = registry.find(None)
    await session.tag(["noted"], ["lead"], [])
    assert len(await session.delete(["noted", "absent"])) == 1
    session.notes.reload()
    assert session.notes.find("noted").tags == ()


async def test_pages_are_answered_while_another_program_holds_the_file_of_tags(service, registry):
    async with service.client() as client:
        tool = await client.tools.get("anarci")
        handle = await client.jobs.submit(tool, tool.example_job["settings"], job_name="noted")
        await client.jobs.wait([handle.job_name], 60)
    session = registry.find(None)
    with closing(sqlite3.connect(settings.data_dir() / "tags.db", isolation_level=None)) as other:
        for begin in (lambda: session.tag(["noted"], ["lead"], []), lambda: session.delete(["noted"])):
            other.execute("BEGIN EXCLUSIVE")
            change = asyncio.create_task(begin())
            for _ in range(20):
                await asyncio.sleep(0.05)
            assert not change.done()
            other.rollback()
            assert await change in (None, [])
    assert session.notes.find("noted").tags == ()


def find_listing():
    """Return the process of `foldnote engines list` among those that the tests have started; None before it runs."""
    for child in psutil.Process().children():
        with suppress(psutil.Error):
            if {"foldnote", "engines", "list"} <= set(child.cmdline()):
                return child
    return None


def find_engine(answer, name="anarci"):
    return next(engine for engine in answer.engines if engine.name == name)


async def test_a_listing_of_engines_that_was_killed_is_reported_in_a_sentence():
    listing = asyncio.create_task(EngineManager().list_engines())
    async with asyncio.timeout(120):
        while not (child := find_listing()):
            await asyncio.sleep(0.01)
    child.kill()
    with pytest.raises(FoldnoteError, match="engines cannot be listed"):
        await listing


async def test_a_listing_of_engines_that_takes_too_long_is_reported_as_such():
    with pytest.raises(FoldnoteError, match=r"Listing the engines takes longer than 0.01 s"):
        await EngineManager(list_limit_s=0.01).list_engines()


async def test_each_profile_has_one_session(service):
    registry = SessionRegistry(service.connect, PACE)
    settings.save_profile("other", "https://other.example.org")
    assert registry.find("other") is registry.find("other")
    assert registry.find("other") is not registry.find(None)
    await registry.close()


async def test_engines_are_listed_with_their_licence():
    found = {engine.name: engine for engine in (await EngineManager().list_engines()).engines}
    assert found["anarci"].tools == ("anarci", "antibody-annotation")
    assert found["anarci"].licence


async def test_optional_weights_are_distinguished_and_asked_for(tmp_path, monkeypatch):
    monkeypatch.setenv("FOLDNOTE_ENGINES_DIR", str(tmp_path))
    session = EngineManager()
    found = {engine.name: engine for engine in (await session.list_engines()).engines}
    assert found["abodybuilder2"].optional_method == "ABodyBuilder2 (four models)"
    assert [(each.is_optional, each.is_installed) for each in found["abodybuilder2"].weights] == [
        (True, False)
    ] * 3
    assert not any(each.is_optional for each in found["ablang"].weights)
    await _fail_to_install(session)


async def _fail_to_install(session):
    session.begin("install", "anarci", with_optional=True)
    async with asyncio.timeout(120):
        while (anarci := find_engine(await session.list_engines())).is_busy:
            await asyncio.sleep(0.1)
    assert anarci.has_failed
    assert "The engine anarci has no optional weights" in anarci.message


async def test_a_cancelled_installation_says_what_is_kept_and_can_begin_again(tmp_path, monkeypatch):
    monkeypatch.setenv("FOLDNOTE_ENGINES_DIR", str(tmp_path))
    session = EngineManager()
    for _ in range(2):
        session.begin("install", "anarci")
        with pytest.raises(FoldnoteError, match="already being installed"):
            session.begin("remove", "anarci")
        await session.cancel("anarci")
        found = {engine.name: engine for engine in (await session.list_engines()).engines}["anarci"]
        assert found.message == "Cancelled. Downloaded files are kept for the next attempt."
        assert (found.is_busy, found.has_failed, found.is_installed) == (False, False, False)
    with pytest.raises(FoldnoteError, match="is not being installed"):
        await session.cancel("anarci")


async def test_a_command_that_warns_at_length_ends_and_its_last_line_is_reported(tmp_path, monkeypatch):
    warn = "import sys\nif 'engines' in sys.orig_argv: sys.stderr.write('a warning\\n' * 100_000)"
    (tmp_path / "sitecustomize.py").write_text(warn)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setenv("FOLDNOTE_ENGINES_DIR", str(tmp_path))
    await _fail_to_install(EngineManager())


async def test_a_long_line_of_the_command_does_not_end_the_installation_silently(tmp_path, monkeypatch):
    write = "import sys\nif 'install' in sys.orig_argv: print('x' * 200_000)"
    (tmp_path / "sitecustomize.py").write_text(write)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setenv("FOLDNOTE_ENGINES_DIR", str(tmp_path))
    await _fail_to_install(EngineManager())


async def test_a_cancelled_removal_says_what_to_do_now(tmp_path, monkeypatch):
    monkeypatch.setenv("FOLDNOTE_ENGINES_DIR", str(tmp_path))
    session = EngineManager()
    session.begin("remove", "anarci")
    await session.cancel("anarci")
    found = {engine.name: engine for engine in (await session.list_engines()).engines}["anarci"]
    assert (
        found.message
        == "Cancelled. Some files may already be deleted: remove the engine again, or reinstall it."
    )
    assert (found.is_busy, found.has_files) == (False, False)


def test_a_tool_is_described_in_words():
    schema = {
        "required": ["heavy"],
        "properties": {
            "n": {"type": "integer", "minimum": 1, "default": 3, "x-foldnote": {"unit": "Å"}},
            "heavy": {"title": "Heavy chain", "description": "A sequence"},
            "target": {"type": "string", "x-foldnote": {"role": "file", "extensions": ["pdb", "cif"]}},
        },
        "x-foldnote": {"citation": {"text": "Abanades et al. (2023)", "doi": "10.1/x"}},
    }
    told = describe_tool(Tool(type="a", settings_schema=schema))
    assert [(field.title, field.kind, field.default, field.is_required) for field in told.inputs] == [
        ("Heavy chain", "anything", "", True),
        ("n", "whole number, from 1 Å", "3", False),
        ("target", "file .pdb, .cif", "", False),
    ]
    assert told.citation.doi == "10.1/x"


def test_what_a_tool_gives_is_reported_with_unit_and_direction_and_strange_rows_are_passed_over():
    told = describe_tool(catalog.tool("aev-plig"))
    assert told.outputs[0].startswith("affinity: predicted pK")
    assert told.outputs[0].endswith("(pK (log10 units); higher is better)")
    foreign = {
        "type": "a",
        "outputs": ["x.pdb", {"name": 3}, {"name": "y", "better": ["lower"], "unit": None}],
    }
    assert describe_tool(Tool.model_validate(foreign)).outputs == ("y: ",)
    assert describe_tool(Tool.model_validate({"type": "a", "outputs": "x.pdb"})).outputs == ()
