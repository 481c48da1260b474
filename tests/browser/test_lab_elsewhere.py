"""JupyterLab as a hub serves it: below a URL prefix and behind a proxy, with restarts in the middle of a job."""

import asyncio
import gzip
import json
import os
import shutil
import signal
import threading
import time
import zipfile
from contextlib import closing, suppress

import pytest
from lab_server import ROOT, LabServer, service_of
from patience import PATIENCE_S
from playwright.sync_api import expect
from probe_engine import release

from foldnote.results import JobParts, open_result, save_export

DRAWN = ("trp_cage_two_models.bcif", "tyr.sdf", "benzene.mol2")
FOLDER = ROOT / "tests" / "unit" / "results" / "data"


class Proxy:
    """A TCP proxy on its own port, as a hub has in front of every user's server."""

    def __init__(self, target: int) -> None:
        self._target = target
        self._loop = asyncio.new_event_loop()
        self._ready = threading.Event()
        self._over = asyncio.Event()
        self.port = 0
        self._thread = threading.Thread(target=self._loop.run_until_complete, args=(self._run(),))
        self._thread.start()
        assert self._ready.wait(60)

    async def _run(self) -> None:
        server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.port = server.sockets[0].getsockname()[1]
        self._ready.set()
        await self._over.wait()
        server.close()
        open_ones = asyncio.all_tasks() - {asyncio.current_task()}
        for task in open_ones:
            task.cancel()
        await asyncio.gather(*open_ones, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with (
            suppress(OSError, asyncio.CancelledError),
            closing(writer),
        ):  # a cancelled task is logged as an error
            to_reader, to_writer = await asyncio.open_connection("127.0.0.1", self._target)
            with closing(to_writer):
                await asyncio.gather(_copy(reader, to_writer), _copy(to_reader, writer))

    def stop(self) -> None:
        self._loop.call_soon_threadsafe(self._over.set)
        self._thread.join(60)
        self._loop.close()


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(OSError):
        while data := await reader.read(1 << 16):
            writer.write(data)
            await writer.drain()
    writer.close()


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """Start a server below a prefix, as JupyterHub does."""
    server = LabServer(tmp_path_factory.mktemp("hub"), "/user/ann@lab/", ROOT / "tests" / "engines")
    for name in ("trastuzumab_fv_ca.pdb", *DRAWN):
        shutil.copy(FOLDER / name, server.notebooks / name)
    (server.notebooks / "tyr.sdf.gz").write_bytes(gzip.compress((FOLDER / "tyr.sdf").read_bytes()))
    errors = [[float(abs(row - column)) for column in range(40)] for row in range(40)]
    content = [{"predicted_aligned_error": errors}]
    (server.notebooks / "AF-X-F1-predicted_aligned_error_v4.json").write_text(json.dumps(content))
    (server.notebooks / "pae-of-nothing.json").write_text('{"a": 1}')
    (server.notebooks / "query.a3m").write_text(">query\nMKTAYIAK\n>hit\nMKTA-IAK\n")
    server.write_notebook("work.ipynb", "")
    server.start()
    yield server
    server.stop()


@pytest.fixture(scope="module")
def lab(shared_lab, server):
    """Open a page that reaches the server through the proxy."""
    proxy = Proxy(server.port)
    server.url = f"http://127.0.0.1:{proxy.port}{server.base_url}"
    shared_lab.open("work.ipynb")
    page = shared_lab.page
    lost = page.get_by_role("dialog").filter(
        has_text="Server Connection Error"
    )  # JupyterLab's own dialog, which appears after a while
    page.add_locator_handler(lost, lambda _: page.keyboard.press("Escape"))
    yield shared_lab
    proxy.stop()


def test_jobs_are_followed_below_the_prefix(lab):
    lab.run_code(
        'import foldnote as fn\n\nfn.submit("abodybuilder", heavy="EVQLVESGG", light="DIQMTQSPS", job_name="long.hold")'
    )
    row = lab.show_sidebar("jobs", 300).locator("[data-job='long.hold']")
    expect(row).to_contain_text("Running")


def test_a_killed_service_is_restarted_and_its_job_continues(lab, server):
    before = service_of(server)["pid"]
    os.kill(before, signal.SIGKILL)
    sidebar = lab.show_sidebar("jobs", 300)
    row = sidebar.locator("[data-job='long.hold']")
    expect(row).to_be_visible()
    end = time.monotonic() + PATIENCE_S
    while service_of(server)["pid"] in (None, before) and time.monotonic() < end:
        lab.page.wait_for_timeout(200)
    assert service_of(server)["pid"] != before
    expect(sidebar.locator(".fn-ServiceBar-word")).to_have_text("Connected")
    expect(row).to_contain_text("Running")


def test_a_restarted_kernel_leaves_the_job_alone(lab):
    lab.page.evaluate("window.jupyterapp.shell.currentWidget.sessionContext.session.kernel.restart()")
    row = lab.show_sidebar("jobs", 300).locator("[data-job='long.hold']")
    expect(row).to_contain_text("Running")


def test_a_restarted_jupyter_server_is_found_again(lab, server):
    sidebar = lab.show_sidebar("jobs", 300)
    server.kill()
    expect(sidebar.get_by_text("No connection to the Jupyter server")).to_be_visible()
    server.start()
    expect(sidebar.get_by_text("No connection to the Jupyter server")).to_have_count(0)
    release("long.hold")
    expect(sidebar.locator("[data-job='long.hold']")).to_contain_text("Complete")


@pytest.mark.parametrize(
    "name",
    [
        "trastuzumab_fv_ca.pdb",
        *(pytest.param(name, marks=pytest.mark.exhaustive) for name in DRAWN[1:]),
        DRAWN[0],
        "tyr.sdf.gz",
    ],
)
def test_a_structure_of_the_file_browser_opens_in_3d(lab, name):
    lab.execute("docmanager:open", path=name)
    panel = lab.page.locator(".fn-ResultPanel:visible")
    assert lab.wait_until_drawn(panel.locator(".fnv-stage canvas").first)["drawn"] > 300
    lab.picture(f"opened-{name}")


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("AF-X-F1-predicted_aligned_error_v4.json", "40 × 40 tokens"),
        ("query.a3m", "2 sequences over 8 columns"),
    ],
)
def test_aligned_errors_and_alignments_of_the_file_browser_open_drawn(lab, name, words):
    lab.execute("docmanager:open", path=name)
    panel = lab.page.locator(".fn-ResultPanel:visible")
    expect(panel).to_contain_text(words)
    lab.picture(f"opened-{name}")
    assert lab.accessibility_faults(".fn-ResultPanel") == []


def test_an_exported_job_of_the_file_browser_opens_as_the_original(lab, server):
    with zipfile.ZipFile(server.notebooks / "result.zip", "w") as archive:
        archive.write(server.notebooks / "trastuzumab_fv_ca.pdb", "fv.pdb")
    job = JobParts([open_result(server.notebooks / "result.zip")], {"jobName": "fv-1"}, note="Ask Ada.")
    save_export(server.notebooks / "fv.foldnote.zip", job)
    lab.execute("docmanager:open", path="fv.foldnote.zip")
    panel = lab.page.locator(".fn-ResultPanel:visible")
    expect(panel).to_contain_text("Ask Ada.")
    assert lab.wait_until_drawn(panel.locator(".fnv-stage canvas").first)["drawn"] > 300
    lab.picture("opened-fv.foldnote.zip")


def test_a_damaged_archive_says_so_without_offering_the_editor(lab, server):
    (server.notebooks / "damaged.zip").write_bytes(b"PK\x03\x04")
    lab.execute("docmanager:open", path="damaged.zip")
    panel = lab.page.locator(".fn-ResultPanel:visible")
    expect(panel.get_by_role("alert")).to_contain_text("damaged.zip")
    expect(panel.get_by_role("button")).to_have_count(0)


def test_a_json_file_without_aligned_errors_says_so_and_opens_in_the_editor(lab):
    lab.execute("docmanager:open", path="pae-of-nothing.json")
    panel = lab.page.locator(".fn-ResultPanel:visible")
    expect(panel.get_by_role("alert")).to_contain_text("contains no predicted aligned error")
    lab.picture("opened-pae-of-nothing.json")
    panel.get_by_role("button", name="Open in the editor").click()
    expect(lab.page.locator(".jp-FileEditor:visible")).to_contain_text('"a"')


def test_other_json_files_open_as_before_with_ours_as_a_choice(lab):
    names = lab.page.evaluate(
        "window.jupyterapp.docRegistry.preferredWidgetFactories('plain.json').map(factory => factory.name)"
    )
    assert names[0] != "foldnote structure"
    assert "foldnote structure" in names


def test_a_file_of_the_file_browser_is_uploaded_by_dragging(lab):
    sidebar = lab.show_sidebar("files", 300)
    expect(sidebar.get_by_text("No files yet")).to_be_visible()
    lab.page.evaluate(
        """path => {
             const node = document.querySelector('#foldnote-sidebar');
             for (const type of ['lm-dragenter', 'lm-dragover', 'lm-drop']) {
               const event = new Event(type, { bubbles: true, cancelable: true });
               event.mimeData = { hasData: () => true, getData: () => [path] };
               node.dispatchEvent(event);
             }
           }""",
        "trastuzumab_fv_ca.pdb",
    )
    expect(sidebar.get_by_role("listitem").filter(has_text="trastuzumab_fv_ca.pdb")).to_contain_text(
        "18.4 kB"
    )


def test_no_request_leaves_this_computer(server):
    assert server.refused == []
