"""The renderer of the Jupyter server: one process for several results, replaced after any fault."""

import asyncio
import io
import json
import os
import re
import shutil
import zipfile
from pathlib import Path

import psutil
import pytest

from foldnote.errors import ResultError
from foldnote.lab import renderer, rendering
from foldnote.lab.rendering import lay_out
from foldnote.results import JobParts, open_result, save_export, save_exports

FV = Path(__file__).parents[1] / "results" / "data" / "trastuzumab_fv_ca.pdb"


def list_renderers():
    """Return this process's renderers."""
    found = []
    for child in psutil.Process().children():
        try:
            if "foldnote.lab.renderer" in child.cmdline():
                found.append(child.pid)
        except psutil.NoSuchProcess:
            continue
    return set(found)


@pytest.fixture(autouse=True)
def others(monkeypatch):
    """Return renderers of other tests."""
    monkeypatch.setattr(rendering, "IDLE_LIMIT_S", 20.0)
    return list_renderers()


async def draw(path=FV, **options):
    return json.loads(await lay_out("file", path, path.name, **options))


def read_legend(answer):
    """Return the legend heading of a view's initial colours."""
    return re.search(r'<p class="fnv-sub">(.*?)</p>', answer["html"])[1]


async def wait_until(is_so):
    async with asyncio.timeout(60):
        while not is_so():
            await asyncio.sleep(0.02)


async def test_results_are_rendered_one_after_another_by_one_process(tmp_path, others):
    assert (await draw())["title"] == FV.name
    (one,) = list_renderers() - others
    copy = shutil.copy(FV, tmp_path / "copy.pdb")
    assert (await draw(copy))["title"] == "copy.pdb"
    assert one in list_renderers()
    assert len(list_renderers() - others) == 1


async def test_the_memory_of_what_starts_a_process_is_not_its_own(others):
    """The system reports a process's peak memory starting from that of its parent."""
    ballast = b"x" * (renderer.MAX_KEPT_BYTES + 1)
    await draw()
    assert len(list_renderers() - others) == 1
    assert len(ballast) > renderer.MAX_KEPT_BYTES


async def test_a_process_that_waits_is_ended_after_a_while(others, monkeypatch):
    monkeypatch.setattr(rendering, "IDLE_LIMIT_S", 0.1)
    await draw()
    await wait_until(lambda: list_renderers() <= others)


async def test_a_process_of_another_environment_is_not_used(others):
    assert read_legend(await draw()) == "Coloured by chain"
    (one,) = list_renderers() - others
    assert read_legend(await draw(colors="hydrophobicity")).startswith("Hydrophobicity")
    assert len(list_renderers() - others - {one}) == 1
    assert read_legend(await draw()) == "Coloured by chain"
    assert len(list_renderers() - others) == 2


async def test_at_most_two_processes_wait(others):
    for colors in ("", "hydrophobicity", "rainbow"):
        await draw(colors=colors)
    await wait_until(lambda: len(list_renderers()) <= 2)
    assert len(list_renderers() - others) == 2


async def test_after_a_file_that_cannot_be_read_there_is_a_new_process(tmp_path, others):
    (tmp_path / "empty.cif").write_text("data_empty\n")
    with pytest.raises(ResultError, match=r"empty\.cif"):
        await draw(tmp_path / "empty.cif")
    assert list_renderers() <= others
    assert (await draw())["title"] == FV.name


async def test_a_process_that_was_killed_while_it_waited_is_replaced(others):
    await draw()
    (one,) = list_renderers() - others
    os.kill(one, 9)
    assert (await draw())["title"] == FV.name


async def test_a_process_that_dies_at_a_file_takes_nothing_with_it(tmp_path, others):
    os.mkfifo(tmp_path / "never.pdb")  # reading it blocks until somebody writes
    reading = asyncio.create_task(draw(tmp_path / "never.pdb"))
    await wait_until(lambda: list_renderers() - others)
    for pid in list_renderers() - others:
        os.kill(pid, 9)
    with pytest.raises(ResultError, match=r"never\.pdb cannot be read"):
        await reading
    assert (await draw())["title"] == FV.name


async def test_a_file_that_takes_too_long_is_given_up_with_its_process(tmp_path, others, monkeypatch):
    os.mkfifo(tmp_path / "never.pdb")
    monkeypatch.setattr(rendering, "LIMIT_S", 0.5)
    with pytest.raises(ResultError, match=r"Reading never\.pdb takes longer than"):
        await draw(tmp_path / "never.pdb")
    assert list_renderers() <= others


async def test_a_request_that_is_cancelled_ends_its_process(tmp_path, others):
    os.mkfifo(tmp_path / "never.pdb")
    reading = asyncio.create_task(draw(tmp_path / "never.pdb"))
    await wait_until(lambda: list_renderers() - others)
    reading.cancel()
    with pytest.raises(asyncio.CancelledError):
        await reading
    assert list_renderers() <= others


@pytest.mark.parametrize(
    "spent", [("MAX_RENDERED", 1), ("MAX_KEPT_BYTES", 1), ("MAX_KEPT_S", 0.0)], ids=lambda spent: spent[0]
)
def test_a_process_that_has_done_or_used_much_answers_and_ends(monkeypatch, spent):
    monkeypatch.setattr(renderer, *spent)
    answers = io.BytesIO()
    renderer.serve(io.BytesIO(2 * (json.dumps(["file", str(FV), FV.name]).encode() + b"\n")), answers)
    head, _, content = answers.getvalue().partition(b"\n")
    assert head == b"0 0 %d" % len(content)
    assert json.loads(content)["title"] == FV.name


@pytest.fixture
def parts(tmp_path):
    """Return a job to export."""
    with zipfile.ZipFile(tmp_path / "result.zip", "w") as archive:
        archive.write(FV, "fv.pdb")
    result = open_result(tmp_path / "result.zip")
    return lambda name: JobParts(
        [result], {"jobName": name, "type": "abodybuilder", "status": "Complete"}, note="Ask."
    )


def draw_archive(path):
    status, said = renderer.render(["file", str(path), path.name])
    return said if status else json.loads(said)["html"]


def test_an_exported_job_is_drawn_with_its_note(parts, tmp_path):
    html = draw_archive(save_export(tmp_path / "fv.foldnote.zip", parts("fv-1")))
    assert "Coloured by chain" in html
    assert '<dd style="white-space: pre-line">Ask.</dd>' in html


def test_several_exported_jobs_are_drawn_up_to_ten(parts, tmp_path):
    html = draw_archive(save_exports(tmp_path / "all.foldnote.zip", [parts(f"fv-{n}") for n in range(11)]))
    assert html.count(">Ask.</dd>") == 10
    assert "1 more job in this file. In a cell: fn.open_export(&#x27;all.foldnote.zip&#x27;" in html


def test_the_archive_of_a_result_is_drawn_and_a_damaged_one_is_explained(parts, tmp_path):
    parts("fv")
    assert "Coloured by chain" in draw_archive(tmp_path / "result.zip")
    (tmp_path / "half.zip").write_bytes((tmp_path / "result.zip").read_bytes()[:900])
    assert draw_archive(tmp_path / "half.zip").startswith("half.zip ")
