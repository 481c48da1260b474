"""Names under ``Args:`` and ``Attributes:`` in a docstring are parameters and attributes of the code beside it.

ruff's rule D417 finds parameters that a docstring leaves out, but not names that the code no longer has.
"""

import ast
import re
from pathlib import Path

ROOT = Path(__file__).parent.parent / "src/foldnote"


def list_described(docstring, head):
    """List the names that a section of a docstring describes."""
    section = re.search(rf"^{head}:\n((?: +.*\n?)+)", docstring or "", re.MULTILINE)
    lines = re.findall(r"^ {4}\*{0,2}(\w[\w, *]*):", section[1], re.MULTILINE) if section else []
    return [name.strip(" *") for line in lines for name in line.split(",")]


def list_parameters(function):
    given = function.args
    several = [each for each in (given.vararg, given.kwarg) if each is not None]
    return {each.arg for each in (*given.posonlyargs, *given.args, *given.kwonlyargs, *several)}


def list_attributes(node):
    """List the names that a class body defines, and the attributes that its methods set."""
    for each in ast.walk(node):
        if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef):
            yield each.name
        elif isinstance(each, ast.Name | ast.Attribute) and isinstance(each.ctx, ast.Store):
            yield each.id if isinstance(each, ast.Name) else each.attr


def find_unknown(tree):
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            described, known = list_described(ast.get_docstring(node), "Args"), list_parameters(node)
        elif isinstance(node, ast.ClassDef):
            described, known = (
                list_described(ast.get_docstring(node), "Attributes"),
                set(list_attributes(node)),
            )
        else:
            continue
        yield from (f"{node.name}: {name}" for name in described if name not in known)


def test_docstrings_describe_only_names_that_exist():
    found = [
        f"{path.relative_to(ROOT)}, {unknown}"
        for path in sorted(ROOT.rglob("*.py"))
        for unknown in find_unknown(ast.parse(path.read_text("utf-8")))
    ]
    assert found == []


def test_a_name_that_the_code_no_longer_has_is_found():
    tree = ast.parse(
        "def read(path, *more):\n    '''Read.\n\n    Args:\n        path: a file.\n        *more: others.\n"
        "        place: gone.\n    '''\n"
        "class Row:\n    '''A row.\n\n    Attributes:\n        name, size: given.\n        gone: not there.\n    '''\n"
        "    name: str\n    size: int\n"
    )
    assert list(find_unknown(tree)) == ["read: place", "Row: gone"]
