"""The architecture: imports between packages, names, sizes and docstrings of modules."""

import ast
import re
import tomllib
from collections import Counter
from importlib import import_module
from pathlib import Path

import foldnote
import foldnote.notebook
from foldnote import errors

ROOT = Path(__file__).parent.parent
SOURCES = sorted((ROOT / "src/foldnote").rglob("*.py"))
SCRIPTS = sorted(
    path for path in (ROOT / "labextension/src").rglob("*.ts*") if path.name != "wire.ts"
)  # wire.ts is generated
DRAWERS = {"utils", "util", "helpers", "helper", "common", "misc", "base"}


def list_public_definitions(tree):
    for node in ast.walk(tree):
        if isinstance(
            node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
        ) and not node.name.startswith("_"):
            yield node


def name_all(paths):
    return [str(path.relative_to(ROOT)) for path in paths]


def test_a_module_is_about_one_subject():
    long = [path for path in (*SOURCES, *SCRIPTS) if len(path.read_text().splitlines()) > 600]
    assert name_all(long) == []


def test_no_drawer_is_named_after_nothing():
    assert name_all(path for path in (*SOURCES, *SCRIPTS) if path.stem.lower() in DRAWERS) == []


def test_a_folder_is_seen_at_a_glance():
    modules = Counter(path.parent for path in (*SOURCES, *SCRIPTS) if path.name != "__init__.py")
    assert name_all(folder for folder, number in modules.items() if number > 18) == []


def test_every_module_says_why_it_exists(syntax_trees):
    assert name_all(path for path, tree in syntax_trees.items() if not ast.get_docstring(tree)) == []


def test_nine_of_ten_public_definitions_have_a_docstring(syntax_trees):
    nodes = [node for tree in syntax_trees.values() for node in list_public_definitions(tree)]
    documented = [node for node in nodes if ast.get_docstring(node)]
    assert len(documented) >= 0.9 * len(nodes)


def test_only_settings_reads_the_environment():
    engines = ROOT / "src/foldnote/service/engines"  # their programs run in environments of their own
    readers = {
        str(path.relative_to(ROOT / "src/foldnote"))
        for path in SOURCES
        if re.search(r"os\.(environ|getenv)", path.read_text()) and path.parent.parent != engines
    }
    assert readers <= {"settings.py"}


def test_the_tree_in_the_docstring_is_the_tree():
    drawn = re.findall(r"── (\w+)", errors.__doc__)
    real = [
        name
        for name, value in vars(errors).items()
        if isinstance(value, type) and issubclass(value, errors.FoldnoteError) and name != "FoldnoteError"
    ]
    assert sorted(drawn) == sorted(real)


def test_every_name_that_a_module_exports_exists():
    exporting = [path for path in SOURCES if "__all__" in path.read_text()]
    names = [".".join(path.relative_to(ROOT / "src").with_suffix("").parts) for path in exporting]
    modules = [import_module(name.removesuffix(".__init__")) for name in names]
    assert [(m.__name__, name) for m in modules for name in m.__all__ if not hasattr(m, name)] == []


def test_public_names_are_sorted_and_resolve():
    assert foldnote.__all__ == sorted(foldnote.__all__)
    for name in foldnote.__all__:
        assert getattr(foldnote, name) is not None


def test_every_verb_of_the_notebook_is_a_public_name():
    assert set(foldnote.notebook.__all__) == set(foldnote.__all__) - {"AsyncClient", "Client", "__version__"}


def test_one_version():
    import json

    package = json.loads((ROOT / "package.json").read_text())
    assert foldnote.__version__ == package["version"]


PRIVATE_NAMES = {"_dom_classes": "ipywidgets", "_unset_keepalive_if_required": "uvicorn"}
"""Private names of other packages that we use; each of these packages needs an upper bound."""
PRIVATE_MODULES = {"uvicorn.protocols.http.httptools_impl": "uvicorn"}
"""Undocumented modules of other packages."""
DOCUMENTED = {"_replace", "_asdict", "_make", "_exit"}
"""Names of the standard library that are public despite their underscore."""


def test_private_names_of_other_packages_are_few_and_their_packages_bounded(syntax_trees):
    nodes = [node for tree in syntax_trees.values() for node in ast.walk(tree)]
    own = {
        each.name for each in nodes if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
    }
    own |= {each.id for each in nodes if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)}
    own |= {
        each.attr for each in nodes if isinstance(each, ast.Attribute) and isinstance(each.ctx, ast.Store)
    }
    read = {each.attr for each in nodes if isinstance(each, ast.Attribute)}
    given = {each.arg for each in nodes if isinstance(each, ast.keyword) and each.arg} - {"_esm", "_css"}
    private = {name for name in read | given if name.startswith("_") and not name.startswith("__")}
    arguments = {each.arg for each in nodes if isinstance(each, ast.arg)}
    assert private - own - arguments - DOCUMENTED == set(PRIVATE_NAMES)

    imported = {each.module or "" for each in nodes if isinstance(each, ast.ImportFrom)}
    imported |= {alias.name for each in nodes if isinstance(each, ast.Import) for alias in each.names}
    assert not {name for name in imported if re.search(r"(^|\.)_(?!_)", name)}
    assert set(PRIVATE_MODULES) <= imported

    requirements = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"]
    for package in {*PRIVATE_NAMES.values(), *PRIVATE_MODULES.values()}:
        (requirement,) = [each for each in requirements if re.match(rf"{package}\b", each)]
        assert "<" in requirement


PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
CONTRACTS = PROJECT["tool"]["importlinter"]["contracts"]
ROOMS = {"models", "catalog", "client", "results", "forms", "viewers", "service", "lab"}


def read_rows(page, width):
    """Return the rows of a page's tables with `width` columns, as lists of cells."""
    lines = (ROOT / page).read_text().splitlines()
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("| `")]
    return [row for row in rows if len(row) == width]


def test_contributing_draws_the_arrows_that_import_linter_checks():
    drawn = {
        row[0].strip("`/"): set(re.findall(r"`(\w+)`", row[3])) for row in read_rows("CONTRIBUTING.md", 4)
    }
    forbidden = {
        each["source_modules"][0].rpartition(".")[2]: {
            name.rpartition(".")[2] for name in each["forbidden_modules"]
        }
        for each in CONTRACTS
        if each["type"] == "forbidden" and len(each["source_modules"]) == 1
    }
    assert {room: drawn[room] for room in ROOMS} == {room: ROOMS - forbidden[room] - {room} for room in ROOMS}


def test_the_page_of_the_architecture_lists_the_layers_that_import_linter_checks():
    drawn = {
        row[0].strip("`/"): re.findall(r"`(\w+)`", row[1])
        for row in read_rows("docs/architecture.md", 2)
        if row[0].endswith("/`")
    }
    layers = {
        each["containers"][0].rpartition(".")[2]: each["layers"]
        for each in CONTRACTS
        if each["type"] == "layers"
    }
    assert drawn == layers


def test_modules_beside_the_rooms_import_none_of_them():
    basis = CONTRACTS[0]
    modules = {path.stem for path in (ROOT / "src/foldnote").glob("[a-z]*.py")}
    assert {name.rpartition(".")[2] for name in basis["source_modules"]} == modules
    listed = [row[0] for row in read_rows("docs/architecture.md", 2)]
    assert {name for cell in listed for name in re.findall(r"`(\w+)\.py`", cell)} == modules
    assert {name.rpartition(".")[2] for name in basis["forbidden_modules"]} >= ROOMS


def test_no_room_imports_the_package_itself(syntax_trees):
    """Calls from a lower room to a higher one go through ``foldnote.late``."""
    tops = ("__init__.py", "__main__.py", "cli", "notebook")
    importers = [
        path
        for path, tree in syntax_trees.items()
        if path.relative_to(ROOT / "src/foldnote").parts[0] not in tops
        and any(
            isinstance(node, ast.Import) and any(each.name == "foldnote" for each in node.names)
            for node in ast.walk(tree)
        )
    ]
    assert name_all(importers) == []


ANSWER_READERS = {
    "client/core/error_mapping.py",
    "client/core/job_pages.py",
    "client/submission/idempotency.py",
    "client/resources/account.py",
    "client/resources/batches.py",
    "client/watching/cancellation.py",
    "client/watching/waiting.py",
    "viewers/card/watch.py",
}
"""Modules that read a service's response."""


def test_only_modules_that_read_responses_raise_service_errors(syntax_trees):
    refusals = {
        name
        for name, kind in vars(errors).items()
        if isinstance(kind, type) and issubclass(kind, errors.ServiceError)
    }
    made = {
        str(path.relative_to(ROOT / "src/foldnote"))
        for path, tree in syntax_trees.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and getattr(node.func, "id", getattr(node.func, "attr", "")) in refusals
    }
    assert made | {"client/core/error_mapping.py"} == ANSWER_READERS  # makes them from a table
