"""Exceptions that a public function or method raises itself are listed under ``Raises:`` in its docstring.

pydoclint and ruff's DOC501 are not used: the first forbids naming errors that a callee raises, and both report an
exception that the same function catches again.
"""

import ast
import builtins
import re
from pathlib import Path

from foldnote import errors

ROOT = Path(__file__).parent.parent / "src/foldnote"
NESTED = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda


def list_public_functions(body, prefix=""):
    for node in body:
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
            yield from list_public_functions(node.body, f"{prefix}{node.name}.")
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and (
            not node.name.startswith("_") or node.name == "__init__"
        ):
            yield f"{prefix}{node.name}", node


def name_of(expression):
    """Return the class name in ``errors.ArgumentError`` or ``ArgumentError(...)``; None for a variable."""
    if isinstance(expression, ast.Call):
        expression = expression.func
    name = expression.attr if isinstance(expression, ast.Attribute) else getattr(expression, "id", "")
    return name if name.lstrip("_")[:1].isupper() else None


def is_caught(name, handler, groups):
    if handler.type is None:
        return True
    caught = groups.get(getattr(handler.type, "id", None), handler.type)
    kinds = caught.elts if isinstance(caught, ast.Tuple) else [caught]
    return any(kind == name or is_subclass(name, kind) for kind in map(name_of, kinds))


def is_subclass(name, kind):
    one, other = (getattr(errors, each or "", getattr(builtins, each or "", None)) for each in (name, kind))
    return isinstance(one, type) and isinstance(other, type) and issubclass(one, other)


def find_groups(body):
    """Find tuples of exceptions that a module assigns to a name, for ``except _BROKEN``."""
    named = [node for node in body if isinstance(node, ast.Assign) and isinstance(node.value, ast.Tuple)]
    return {
        target.id: node.value for node in named for target in node.targets if isinstance(target, ast.Name)
    }


def list_raised(nodes, groups):
    """Return the names of the exceptions that these statements raise and do not catch."""
    for node in nodes:
        if isinstance(node, NESTED):
            continue
        if isinstance(node, ast.Raise) and node.exc is not None and (name := name_of(node.exc)):
            yield name
        if isinstance(node, ast.Try):
            for name in list_raised(node.body, groups):
                if not any(is_caught(name, each, groups) for each in node.handlers):
                    yield name
            yield from list_raised([*node.handlers, *node.orelse, *node.finalbody], groups)
        else:
            yield from list_raised(ast.iter_child_nodes(node), groups)


def list_documented(docstring):
    section = re.search(r"^Raises:\n((?: +.*\n?|\n)+)", docstring, re.MULTILINE)
    heads = re.findall(r"^ +([\w, ]+):", section[1], re.MULTILINE) if section else []
    return {name for head in heads for name in re.findall(r"\w+", head)}


def find_undocumented(tree):
    body = tree.body
    groups = find_groups(body)
    for name, function in list_public_functions(body):
        documented = list_documented(ast.get_docstring(function) or "") | {"NotImplementedError"}
        missing = sorted(set(list_raised(function.body, groups)) - documented)
        if missing:
            yield f"{name}: {', '.join(missing)}"


def test_what_a_public_function_raises_is_documented(syntax_trees):
    assert [
        (str(path.relative_to(ROOT)), found)
        for path, tree in syntax_trees.items()
        for found in find_undocumented(tree)
    ] == []


def test_a_raise_that_leaves_the_function_is_found():
    tree = ast.parse(
        "def read(x):\n    '''Read.\n\n    Raises:\n        KeyError: no such key.\n    '''\n"
        "    if x:\n        raise KeyError\n    try:\n        raise errors.ArgumentError('x')\n"
        "    except FoldnoteError:\n        raise ResultError from None\n"
    )
    assert list(find_undocumented(tree)) == ["read: ResultError"]
