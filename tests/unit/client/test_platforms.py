"""The client loads where POSIX's own modules are missing, soon, and without the heavy libraries."""

import json
import subprocess
import sys

import pytest

POSIX_ONLY = ("fcntl", "grp", "posix_ipc", "pty", "pwd", "resource", "syslog", "termios", "tty")
HEAVY = ("pandas", "numpy", "ipywidgets", "IPython", "sqlalchemy", "fastapi", "gemmi", "sqlite3.dump")


def loaded_after(code):
    """Names of the modules that a fresh Python has after running ``code``."""
    script = f"import json, sys\n{code}\nprint(json.dumps(sorted(sys.modules)))"
    answer = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60)
    assert answer.returncode == 0, answer.stderr
    return json.loads(answer.stdout.splitlines()[-1])


@pytest.mark.parametrize("module", ["foldnote.client", "foldnote.client.embedded", "foldnote.settings"])
def test_our_modules_import_where_those_of_posix_are_missing(module):
    """Windows' Python has none of them; what stands behind ``sys.platform`` is read as Windows reads it."""
    code = f"""
import {module}, types
for name in [name for name in sys.modules if name.partition(".")[0] == "foldnote"]:
    del sys.modules[name]  # what others need of the system is theirs
sys.modules |= dict.fromkeys({POSIX_ONLY!r}) | {{"msvcrt": types.ModuleType("msvcrt")}}
sys.platform = "win32"
import {module}
"""
    assert module in loaded_after(code)


def test_the_client_loads_no_heavy_library():
    modules = loaded_after("import foldnote.client")
    assert [name for name in HEAVY if name in modules] == []
