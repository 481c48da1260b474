"""What a process has imported when its first forms are shown."""

import json
import os
import subprocess
import sys

import pytest

from foldnote import catalog
from foldnote.catalog.bundle import describe, list_types

SLOW = [
    "anywidget",
    "httpx",
    "pandas",
    "pydantic",
    "foldnote.client.core",
    "foldnote.results",
    "foldnote.viewers",
]
SHOW = f"""
import json, sys
import foldnote as fn
shown = {{}}
for tool in {list_types()!r}:
    form = fn.form(tool)
    shown[tool] = [sorted(form.fields), [name for name in {SLOW!r} if name in sys.modules]]
print(json.dumps(shown))
"""


def run(code: str, home) -> str:
    environment = {**os.environ, "FOLDNOTE_HOME": str(home)}
    return subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    ).stdout


def test_the_forms_of_all_tools_are_shown_without_the_libraries_that_are_slow_to_import(tmp_path):
    shown = json.loads(run(SHOW, tmp_path))
    assert {tool: slow for tool, (_, slow) in shown.items() if slow} == {}
    for tool, (fields, _) in shown.items():
        assert set(fields) == set(catalog.tool(tool).settings_schema["properties"]), tool
    assert not list(tmp_path.rglob("service*")), "a service was started"


@pytest.mark.parametrize("tool", list_types())
def test_a_form_that_trusts_the_defaults_of_a_tool_finds_what_a_check_of_everything_finds(tool):
    described = describe(tool)
    defaults = catalog.default_settings(described)
    assert catalog.check(described, defaults, trusts_defaults=True) == catalog.check(described, defaults)
