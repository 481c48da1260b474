"""The cost of the server extension for the start of Jupyter."""

import subprocess
import sys

import pytest

_SHOW_HEAVY = """
import sys
import foldnote.lab
{then}
print(*sorted({{name.partition(".")[0] for name in sys.modules}} & {{"httpx", "pydantic", "sqlalchemy", "pandas"}}))
"""


@pytest.mark.parametrize(
    "then", ["", "foldnote.lab._jupyter_server_extension_points()"], ids=["import", "extension points"]
)
def test_neither_client_nor_models_are_imported_at_start(then):
    command = [sys.executable, "-c", _SHOW_HEAVY.format(then=then)]
    shown = subprocess.run(command, capture_output=True, text=True, check=True)
    assert shown.stdout.split() == []
