"""An engine of this computer is installed from the sidebar with the real installer and pip, and cancelled.

It is tiny: its package lies on a server of this module, which holds it back.
"""

import io
import re
import threading
import zipfile
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from lab_server import LabServer
from playwright.sync_api import expect

WHEEL = "tiny-1.0-py3-none-any.whl"
MANIFEST = """
name = "{name}"
method = "{name} of the tests"
kind = "substitute"
version = "1"
tools = ["{tool}"]
outputs = ["none"]
note = "It computes nothing."
licence = "MIT"
licence_note = "Accept that it is {name}."
[environment]
kind = "venv"
steps = [["--no-index", "--no-deps", "{address}"]]
probe = "import tiny"
disk_mb = {disk_mb}
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


@pytest.fixture(scope="module")
def gate():
    """Opened when the module ends: until then nothing is downloaded."""
    return threading.Event()


@pytest.fixture(scope="module")
def registry(gate):
    """The address of the package."""
    wheel = make_wheel()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            gate.wait(300)
            self.send_response(200)
            self.send_header("Content-Length", str(len(wheel)))
            self.end_headers()
            self.wfile.write(wheel)

        def log_message(self, *_: object) -> None:
            """Nothing is written."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    gate.set()
    server.shutdown()
    thread.join(60)
    server.server_close()


class LabWithEngines(LabServer):
    """A server whose engines' environments are its own, and whose pip gives up at once."""

    def environment(self):
        own = {"FOLDNOTE_ENGINES_DIR": str(self.folder / "engines"), "PIP_RETRIES": "0"}
        return super().environment() | own


@pytest.fixture(scope="module")
def server(tmp_path_factory, registry):
    folder = tmp_path_factory.mktemp("jupyterlab")
    rows = (("quick", "anarci", f"{registry}/{WHEEL}", 1),)
    for name, tool, address, disk_mb in rows:
        engine = folder / "recipes" / name
        engine.mkdir(parents=True)
        text = MANIFEST.format(name=name, tool=tool, address=address, disk_mb=disk_mb)
        (engine / "engine.toml").write_text(text)
        (engine / "run.py").write_text("")
    server = LabWithEngines(folder / "server", engine_path=folder / "recipes")
    server.start()
    yield server
    server.stop()


@pytest.fixture(scope="module")
def opened(shared_lab):
    shared_lab.open()
    shared_lab.show_sidebar("tools", 320)
    shared_lab.execute("foldnote:show-engines")
    return shared_lab


def engine_of(lab, name):
    row = lab.page.locator(".fn-Engine").filter(has_text=f"{name} of the tests")
    row.wait_for(timeout=60_000)
    return row


def begin(lab, name):
    """Press Install and accept."""
    row = engine_of(lab, name)
    row.get_by_role("button", name=f"Install {name}").click()
    lab.page.get_by_role("dialog").get_by_role("button", name="Accept and Install").click()
    return row


def test_the_licence_and_the_space_are_shown_before_anything_is_installed(opened, server):
    row = engine_of(opened, "quick")
    expect(row).to_contain_text("Licence: MIT")
    row.get_by_role("button", name="Install quick").click()
    dialog = opened.page.get_by_role("dialog")
    expect(dialog).to_contain_text("Licence: MIT")
    expect(dialog).to_contain_text("Accept that it is quick.")
    expect(dialog).to_contain_text("at least 1 MB")
    opened.picture("engine-licence")
    dialog.get_by_role("button", name="Cancel").click()
    expect(row.get_by_role("button", name="Install quick")).to_be_visible()
    assert not (server.folder / "engines" / "quick").exists()


def test_an_installation_is_cancelled_and_says_what_is_kept(opened):
    row = begin(opened, "quick")
    expect(row).to_contain_text(re.compile("step 1 of 1|Collecting"), timeout=120_000)
    opened.picture("engine-installing", row)
    row.get_by_role("button", name="Cancel the change of quick").click()
    expect(row).to_contain_text("Cancelled. What was downloaded is kept for the next try.")
    expect(row.get_by_role("button", name="Install quick")).to_be_visible()
