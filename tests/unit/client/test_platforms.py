"""The client loads quickly where POSIX modules are missing, and without heavy libraries."""

import json
import subprocess
import sys
from importlib import metadata

import pytest

from foldnote.client import Client

POSIX_ONLY = ("fcntl", "grp", "posix_ipc", "pty", "pwd", "resource", "syslog", "termios", "tty")
HEAVY = ("pandas", "numpy", "ipywidgets", "IPython", "sqlalchemy", "fastapi", "gemmi", "sqlite3.dump")


def loaded_after(code):
    """Return the names of the modules that a fresh Python has loaded after running ``code``."""
    script = f"import json, sys\n{code}\nprint(json.dumps(sorted(sys.modules)))"
    answer = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60)
    assert answer.returncode == 0, answer.stderr
    return json.loads(answer.stdout.splitlines()[-1])


@pytest.mark.parametrize("module", ["foldnote.client", "foldnote.client.local.embedded", "foldnote.settings"])
def test_our_modules_import_where_those_of_posix_are_missing(module):
    """Windows' Python has none of them; code that depends on ``sys.platform`` takes the branch for Windows."""
    code = f"""
import {module}, types
for name in [name for name in sys.modules if name.partition(".")[0] == "foldnote"]:
    del sys.modules[name]  # what others need of the system is theirs
sys.modules |= dict.fromkeys({POSIX_ONLY!r}) | {{"msvcrt": types.ModuleType("msvcrt")}}
sys.platform = "win32"
import {module}
"""
    assert module in loaded_after(code)


EVERY_RESOURCE = """
import foldnote.client
client = foldnote.client.Client(base_url="http://127.0.0.1:9", api_key="k")
for name in ("jobs", "batches", "files", "tools", "account", "router", "pipelines", "screenings", "models"):
    getattr(client, name)
"""
CHECK = """
from foldnote import catalog
catalog.check(catalog.tools()["anarci"], {"sequence": "EVQLVESGG"})
"""
CLIENT_ALONE = {
    "annotated_types", "anyio", "certifi", "h11", "httpcore", "httpx", "idna", "jsonschema_rs", "platformdirs",
    "pydantic", "pydantic_core", "typing_extensions", "typing_inspection",
}  # fmt: skip


HTTPX_EXTRAS = ("brotli", "brotlicffi", "click", "h2", "pygments", "rich", "trio", "zstandard")


def test_the_client_loads_no_heavy_library():
    modules = loaded_after(EVERY_RESOURCE)
    assert [name for name in HEAVY if name in modules] == []


def test_the_client_alone_needs_what_the_docs_name():
    homes = metadata.packages_distributions()
    modules = loaded_after(
        f"import sys\nsys.modules |= dict.fromkeys({HTTPX_EXTRAS!r})" + EVERY_RESOURCE + CHECK
    )
    packages = {name.partition(".")[0] for name in modules} & homes.keys()
    packages = {name for name in packages if not name.startswith(("_", "distutils", "setuptools"))}
    assert packages - {"foldnote", *HTTPX_EXTRAS} <= CLIENT_ALONE


def test_importing_the_client_loads_no_resource_and_no_http():
    modules = loaded_after("import foldnote.client")
    assert [name for name in modules if name.startswith(("foldnote.client.", "httpx"))] == []


def test_a_resource_is_loaded_once_and_a_misspelt_one_is_an_attribute_error():
    with Client(base_url="http://127.0.0.1:9") as client:
        assert client.jobs is client.jobs
        assert {"jobs", "screenings", "ledger"} <= set(dir(client))
        with pytest.raises(AttributeError, match="'Client' object has no attribute 'jbos'"):
            client.jbos  # noqa: B018
