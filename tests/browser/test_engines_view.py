"""Install and remove an engine of this computer from the sidebar, with the real installer and pip.

The engine is tiny: its package is on a server of this module, which is unreachable at first and then delays the
download.
"""

import getpass
import io
import re
import threading
import zipfile
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from fault_layer import FaultLayer
from lab_server import LabServer
from playwright.sync_api import expect

WHEEL = "tiny-1.0-py3-none-any.whl"
MANIFEST = """
name = "quick"
method = "quick of the tests"
kind = "substitute"
version = "1"
tools = ["anarci"]
outputs = ["none"]
note = "It computes nothing."
licence = "MIT"
licence_note = "Accept that it is quick."
[environment]
kind = "venv"
steps = [["--no-index", "--no-deps", "{address}"]]
probe = "import tiny"
disk_mb = 1
[[weights]]
name = "Quick's model"
file = "model.bin"
url = "{address}"
licence = "CC BY-NC 4.0"
source = "the group of the tests"
must_accept = true
[[terms]]
name = "Quick"
licence = "Quick Academic Licence (not for commercial use)"
source = "University of the Tests"
url = "https://example.org/quick-licence"
[resources]
cores = 1
memory_mb = 16
"""


def make_wheel() -> bytes:
    info = "tiny-1.0.dist-info"
    files = {
        "tiny.py": "",
        f"{info}/METADATA": "Metadata-Version: 2.1\nName: tiny\nVersion: 1.0\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    files[f"{info}/RECORD"] = "".join(f"{name},,\n" for name in (*files, f"{info}/RECORD"))
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return stream.getvalue()


class Registry:
    """A package index with one package.

    Attributes:
        url: the package's address; connections are refused until ``connect``.
        gate: opened when the package may be downloaded.
    """

    def __init__(self) -> None:
        self.gate = gate = threading.Event()
        wheel = make_wheel()

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                gate.wait(300)
                with suppress(OSError):  # pip was cancelled and closed the connection
                    self.send_response(200)
                    self.send_header("Content-Length", str(len(wheel)))
                    self.end_headers()
                    self.wfile.write(wheel)

            def log_message(self, *_: object) -> None:
                """Log nothing."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler, bind_and_activate=False)
        self._server.daemon_threads = True
        self._server.server_bind()
        self._thread = threading.Thread(target=self._server.serve_forever)
        self.url = f"http://127.0.0.1:{self._server.server_port}/{WHEEL}"

    def connect(self) -> None:
        if not self._thread.is_alive():
            self._server.server_activate()
            self._thread.start()

    def close(self) -> None:
        self.gate.set()
        if self._thread.is_alive():
            self._server.shutdown()
            self._thread.join(60)
        self._server.server_close()


@pytest.fixture(scope="module")
def registry():
    registry = Registry()
    yield registry
    registry.close()


class LabWithEngines(LabServer):
    """A server with its own folder of engine environments, and a pip that does not retry."""

    def __init__(self, folder, engine_path):
        super().__init__(folder, engine_path=engine_path)
        self.engines = folder / "engines"
        self.faults = FaultLayer(folder, self.engines)

    def environment(self):
        own = {"FOLDNOTE_ENGINES_DIR": str(self.engines), "PIP_RETRIES": "0"}
        return super().environment() | own | self.faults.environment


@pytest.fixture(scope="module")
def server(tmp_path_factory, registry):
    folder = tmp_path_factory.mktemp("jupyterlab")
    engine = folder / "recipes" / "quick"
    engine.mkdir(parents=True)
    (engine / "engine.toml").write_text(MANIFEST.format(address=registry.url))
    (engine / "run.py").write_text("")
    server = LabWithEngines(folder / "server", engine_path=folder / "recipes")
    server.start()
    yield server
    server.stop()


@pytest.fixture(scope="module")
def opened(shared_lab):
    """Open a page with the list of engines."""
    return show_engines(shared_lab)


def show_engines(lab):
    lab.open()
    lab.show_sidebar("tools", 300)
    lab.execute("foldnote:show-engines")
    return lab


@pytest.fixture
def row(opened):
    """Return the engine's row in the list."""
    row = opened.page.locator(".fn-Engine").filter(has_text="quick of the tests")
    row.wait_for()
    return row


def begin(row):
    """Press Install, and accept the licences that it needs."""
    row.get_by_role("button", name="Install quick").click()
    row.page.get_by_role("dialog").get_by_role("button", name=re.compile("^(Accept and )?Install$")).click()


def cancel_while_downloading(row):
    news = row.locator(".fn-JobRow-message")
    expect(news).to_contain_text(re.compile("step 1 of 1|Collecting"))
    row.get_by_role("button", name="Cancel installing or removing quick").click()


def test_the_licence_and_the_space_are_shown_before_anything_is_installed(opened, row, server):
    expect(row).to_contain_text("Licence: MIT")
    expect(row.get_by_role("button", name="Remove quick")).to_have_count(0)
    row.get_by_role("button", name="Install quick").click()
    dialog = opened.page.get_by_role("dialog")
    expect(dialog).to_contain_text("Licence: MIT")
    expect(dialog).to_contain_text("Accept that it is quick.")
    expect(dialog).to_contain_text("at least 1 MB")
    expect(dialog).to_contain_text(
        "Weights: Quick's model, of unknown size, from 127.0.0.1 (the group of the tests). Licence: CC BY-NC 4.0."
    )
    for name, licence, source in (
        ("Quick", "Quick Academic Licence (not for commercial use)", "University of the Tests"),
        ("Quick's model", "CC BY-NC 4.0", "the group of the tests"),
    ):
        expect(dialog).to_contain_text(f"You must accept the licence of {name}: {licence} ({source}).")
    expect(dialog.get_by_role("link", name="Read the licence")).to_have_attribute(
        "href", "https://example.org/quick-licence"
    )
    expect(dialog).to_contain_text("Your acceptance is recorded on this computer")
    expect(dialog.get_by_role("button", name="Accept and Install")).to_be_visible()
    opened.picture("engine-licence")
    dialog.get_by_role("button", name="Cancel").click()
    expect(row.get_by_role("button", name="Install quick")).to_be_visible()
    assert not (server.engines / "quick").exists()


def test_where_no_terms_must_be_accepted_the_button_says_install(opened):
    row = opened.page.locator(".fn-Engine").filter(has_text="PROPKA")
    row.get_by_role("button", name="Install PROPKA").click()
    dialog = opened.page.get_by_role("dialog")
    expect(dialog).to_contain_text("Licence: ")
    expect(dialog.get_by_role("button", name="Install", exact=True)).to_be_visible()
    dialog.get_by_role("button", name="Cancel").click()


def test_without_network_an_installation_says_so_and_that_it_can_be_gone_on_with(opened, row):
    begin(row)
    failure = row.get_by_role("status")
    expect(failure).to_contain_text("cannot be reached: check the network and try again.")
    expect(failure).to_contain_text("Install it again to continue from here.")
    expect(row.get_by_role("button", name="Install quick")).to_be_visible()
    opened.picture("engine-without-network", opened.page.locator("#foldnote-sidebar"))


def test_an_installation_is_cancelled_and_says_what_is_kept(opened, row, registry):
    registry.connect()
    begin(row)
    cancel_while_downloading(row)
    expect(row).to_contain_text("Cancelled. Downloaded files are kept for the next attempt.")
    expect(row.get_by_role("button", name="Install quick")).to_be_visible()


def test_a_page_that_is_loaded_again_finds_the_installation_and_can_cancel_it(opened, row):
    begin(row)
    expect(row.get_by_role("progressbar")).to_be_visible()
    show_engines(opened)
    expect(row.get_by_role("progressbar")).to_be_visible()
    opened.picture("engine-installing", opened.page.locator("#foldnote-sidebar"))
    assert opened.accessibility_faults(".fn-Engines") == []
    cancel_while_downloading(row)
    expect(row).to_contain_text("Cancelled. Downloaded files are kept for the next attempt.")
    expect(row.get_by_role("button", name="Install quick")).to_be_visible()


def test_a_full_disk_is_reported_and_nothing_is_left_half_installed(opened, row, registry, server):
    registry.gate.set()
    with server.faults.active("ENOSPC", "w", 1, "--progress-bar"):  # what pip writes into the environment
        begin(row)
        failure = row.get_by_role("status").filter(
            has_text="The disk has too little space: the engine quick is not installed"
        )
        expect(failure).to_contain_text(f"Free space in {server.engines}")
    expect(row.get_by_role("button", name="Install quick")).to_be_visible()
    expect(row.get_by_role("button", name="Remove quick")).to_have_count(0)
    assert not (server.engines / "quick" / "env").exists()
    opened.picture("engine-full-disk", opened.page.locator("#foldnote-sidebar"))
    assert opened.accessibility_faults(".fn-Engines") == []


def test_what_was_installed_makes_its_tool_run(opened, row):
    begin(row)
    expect(row.get_by_role("button", name="Remove quick")).to_be_visible()
    expect(row.get_by_role("button", name="Install quick")).to_have_count(0)
    expect(row.get_by_role("progressbar")).to_have_count(0)
    expect(opened.page.get_by_role("heading", name="Installed · ")).to_be_visible()  # with its size
    row.get_by_text("Licence and notes").click()
    for name in ("Quick", "Quick's model"):
        expect(row).to_contain_text(f"Licence of {name} accepted by {getpass.getuser()} on ")
    opened.picture("engine-licence-accepted", opened.page.locator("#foldnote-sidebar"))
    opened.execute("foldnote:show-tools")
    tool = opened.page.locator(".fn-Tool").filter(has_text="ANARCI").first
    expect(tool).to_contain_text("quick of the tests")
    opened.execute("foldnote:show-engines")


def test_an_installed_engine_is_removed_after_confirmation(opened, row, server):
    row.get_by_role("button", name="Remove quick").click()
    dialog = opened.page.get_by_role("dialog")
    expect(dialog).to_contain_text("Jobs and results are kept.")
    opened.picture("engine-removal")
    dialog.get_by_role("button", name="Cancel").click()
    expect(row.get_by_role("button", name="Remove quick")).to_be_visible()
    assert (server.engines / "quick" / "env").exists()
    row.get_by_role("button", name="Remove quick").click()
    dialog.get_by_role("button", name="Remove").click()
    expect(row.get_by_role("button", name="Install quick")).to_be_visible()
    expect(row.get_by_role("button", name="Remove quick")).to_have_count(0)
    assert not (server.engines / "quick").exists()
