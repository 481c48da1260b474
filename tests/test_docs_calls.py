"""Examples in the README and the docs use only functions, arguments and settings that exist."""

import ast
import inspect
import re
from pathlib import Path

import pytest

import foldnote
from foldnote.catalog.bundle import read_tool
from foldnote.catalog.functions import read_arguments

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
TOOL_PLACE = {"submit": 0, "form": 0, "validate": 0, "quote": 0, "submit_batch": 0, "stage": 1}
"""Functions that take a tool's settings, with the position of the tool among their arguments."""
SCREENED = {"screen": "vina"}


def read_blocks(page):
    """Return the Python examples of a page."""
    return re.findall(r"```python\n(.*?)```", page.read_text("utf-8"), re.S)


def parse(block):
    return compile(block, "example", "exec", ast.PyCF_ONLY_AST | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)


def find_calls(block):
    """Yield each call of a name below `fn`, such as `submit` or `tools.vina`: the name and the call."""
    for node in ast.walk(parse(block)):
        if isinstance(node, ast.Call):
            name = ast.unparse(node.func)
            if re.fullmatch(r"fn(\.\w+)+", name):
                yield name.removeprefix("fn."), node


def find_registered(block):
    """Return the tools that a block registers itself; such blocks are executed."""
    return set(re.findall(r'\.deploy\(\s*"([\w-]+)"', block))


def list_settings(tool):
    names = read_arguments(read_tool(tool)["schema"])
    return {each.setting for each in names} | {each.name for each in names}


def list_arguments(name, call):
    """Return the keywords that this call may have."""
    if name.startswith("tools."):
        function, tool = foldnote.submit, name.removeprefix("tools.").replace("_", "-")
    else:
        function, tool = getattr(foldnote, name), SCREENED.get(name)
        place = TOOL_PLACE.get(name)
        if (
            place is not None
            and isinstance(given := call.args[place], ast.Constant)
            and "." not in given.value
        ):
            tool = given.value
    return set(inspect.signature(function).parameters) | (list_settings(tool) if tool else set())


@pytest.mark.parametrize("page", [page for page in PAGES if read_blocks(page)], ids=lambda page: page.stem)
def test_the_examples_of_a_page_name_functions_arguments_and_settings_that_exist(page):
    wrong = []
    for block in read_blocks(page):
        for name, call in find_calls(block):
            if call.args and getattr(call.args[0], "value", None) in find_registered(block):
                continue
            if name != "form" or isinstance(
                call.args[0], ast.Constant
            ):  # a form made from a schema takes values of that schema
                wanted = {keyword.arg for keyword in call.keywords if keyword.arg}
                wrong += [f"{name}({each}=…)" for each in wanted - list_arguments(name, call)]
    assert wrong == []


def test_the_first_page_shows_the_code_of_the_readme():
    def read_lines(page):
        lines = "\n".join(read_blocks(page)).splitlines()
        return [code for line in lines if (code := line.split("  #")[0].strip())]

    assert [
        line
        for line in read_lines(ROOT / "docs/start.md")
        if line not in [*read_lines(PAGES[0]), 'fn.form("abodybuilder")']
    ] == []
