"""Client, forms, viewers, results, panel and command line work without POSIX, as on Windows laptops.

The job service of these tests runs on this system, like a hosted one. Windows and macOS themselves are not tested.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parent / "without_posix.py"
ROOT = Path(__file__).parent.parent.parent
COMMAND = "import sys; from foldnote.cli import main; sys.exit(main())"
SEQUENCE = "EVQLVESGGGLVQPGGSLRLSCAASGFNIKDTYIHWVRQAPGKGLEWVARIYPTNGYTRYADSVKGRFTISADTSKNTAYLQMNSLRAEDTAVYYCSRWGGDGFYAMDYWGQGTLVTVSS"


@pytest.fixture
def run(tmp_path):
    """Run code as on Windows; return the ended process."""

    def run(code, *arguments, **environment):
        told = {name: value for name, value in os.environ.items() if not name.startswith("FOLDNOTE_")}
        jupyter = {f"JUPYTER_{kind}_DIR": str(tmp_path / kind) for kind in ("CONFIG", "DATA", "RUNTIME")}
        return subprocess.run(
            [sys.executable, str(SCRIPT), code, *arguments],
            capture_output=True,
            text=True,
            timeout=120,
            cwd=tmp_path,
            env=told | {"FOLDNOTE_HOME": str(tmp_path / "home")} | jupyter | environment,
        )

    return run


@pytest.fixture
def hosted(served):
    return {"FOLDNOTE_BASE_URL": served.url, "FOLDNOTE_API_KEY": served.key}


def test_every_module_but_those_of_the_service_is_imported(run):
    code = """
import importlib, pkgutil, foldnote
names = [each.name for each in pkgutil.walk_packages(
    foldnote.__path__, "foldnote.", onerror=lambda name: print(name))
    if not each.name.startswith(("foldnote.service.", "foldnote.labextension", "foldnote.__main__"))]
failed = {}
for name in names:
    try:
        importlib.import_module(name)
    except Exception as exc:
        failed[name] = repr(exc)
assert len(names) > 200, len(names)
assert not failed, failed
"""
    done = run(code)
    assert done.returncode == 0, done.stderr


def test_what_the_tests_hide_is_hidden(run):
    code = """
import foldnote, os
scope = {"__name__": "foldnote.probe"}
exec("import os, sys", scope)
assert scope["sys"].platform == "win32" and not hasattr(scope["os"], "geteuid") and hasattr(os, "geteuid")
exec("mode = os.stat('/').st_mode & 0o777", scope)
assert scope["mode"] == 0o777
for line in ("import fcntl", "from os import fork", "from signal import SIGKILL", "open('/proc/self/status')"):
    try:
        exec(line, scope)
    except (ImportError, FileNotFoundError):
        continue
    raise AssertionError(line)
"""
    done = run(code)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ["--help"],
        ["--version"],
        ["lab", "--version"],
        ["profile", "list"],
        ["tools", "--help"],
        ["submit", "--help"],
    ],
    ids=" ".join,
)
def test_commands_that_ask_no_service_work(run, arguments):
    done = run(COMMAND, *arguments)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout


@pytest.mark.parametrize(
    "arguments",
    [["serve"], ["serve", "--port", "0"], ["admin", "list"], ["engines", "list"], ["tools"], ["jobs"]],
    ids=" ".join,
)
def test_what_needs_the_service_here_is_one_sentence(run, arguments):
    done = run(COMMAND, *arguments)
    assert done.returncode == 5
    assert done.stderr == (
        "foldnote: The job service and its engines need Linux or macOS; on Windows, use WSL or a hosted service.\n"
    )


def test_the_doctor_finds_nothing_wrong_that_matters_beside_a_hosted_service(run, hosted):
    done = run(COMMAND, "doctor", "--json", **hosted)
    findings = {row["what"]: row for row in json.loads(done.stdout)}
    assert findings["service"]["is_good"]
    assert not [what for what in findings if what.startswith("engine")]


def test_a_job_of_a_hosted_service_is_submitted_waited_for_and_fetched(run, hosted, tmp_path):
    def foldnote(*arguments):
        done = run(COMMAND, *arguments, **hosted)
        assert done.returncode == 0, done.stderr
        return done.stdout

    assert "anarci" in foldnote("tools")
    sequence = f"sequence={SEQUENCE}"
    name = "windows-job"
    foldnote("submit", "anarci", "--set", sequence, "--set", "scheme=imgt", "--name", name, "--wait")
    (path,) = foldnote("results", name, "--to", str(tmp_path)).split()
    assert Path(path).stat().st_size > 0
    (tmp_path / "note.txt").write_text("a")
    foldnote("files", "upload", str(tmp_path / "note.txt"))
    assert "note.txt" in foldnote("files", "list")


def test_notebook_functions_make_forms_views_and_results(run, hosted):
    structure = ROOT / "tests/engines/data/t4-lysozyme-l99a.pdb"
    code = f"""
import foldnote as fn
form = fn.form("anarci", sequence={SEQUENCE!r})
assert form.value["sequence"] == {SEQUENCE!r}
job = fn.submit("anarci", sequence={SEQUENCE!r}, scheme="imgt")
assert job.wait().is_final
assert job.result().files
assert "3Dmol" in fn.view({str(structure)!r})._repr_mimebundle_()["text/html"]
"""
    done = run(code, **hosted)
    assert done.returncode == 0, done.stderr


def test_the_panel_s_server_lists_jobs_of_a_hosted_service(run, hosted, served):
    served.submit("panel-job")
    code = """
import asyncio, httpx
from jupyter_server.serverapp import ServerApp
from tornado.httpserver import HTTPServer
from tornado.netutil import bind_sockets
from traitlets.config import Config

async def ask():
    options = {"ServerApp": {"jpserver_extensions": {"foldnote": True}}, "IdentityProvider": {"token": "t"}}
    server = ServerApp(config=Config(options))
    server.initialize(argv=[], new_httpserver=False, find_extensions=False)
    sockets = bind_sockets(0, "127.0.0.1")
    HTTPServer(server.web_app).add_sockets(sockets)
    address = f"http://127.0.0.1:{sockets[0].getsockname()[1]}/foldnote/api"
    async with httpx.AsyncClient(headers={"Authorization": "token t"}, timeout=120) as client:
        while "panel-job" not in (await client.get(f"{address}/jobs")).text:
            await asyncio.sleep(0.2)
        tools = await client.get(f"{address}/tools")
        assert "anarci" in tools.text, tools.text

asyncio.run(ask())
"""
    done = run(code, **hosted)
    assert done.returncode == 0, done.stderr
