"""Layouts of tools: anyone can register one, a failing one does no harm, and ours show the summary first."""

import base64
import gzip
import json
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pandas as pd
import pytest

from foldnote.results import open_result
from foldnote.viewers import (
    bundle,
    compose_result,
    default_view,
    plot_scatter,
    register_view,
    result_bundles,
    table_bundle,
    unregister_view,
)
from foldnote.viewers.render.html import name_content
from foldnote.viewers.render.library import read_library

DATA = Path(__file__).parents[1] / "results" / "data"
POCKET = (DATA / "abl_pocket.pdb").read_text()
POSES = (DATA / "vina_poses.pdbqt").read_text()


def make_result(folder, tool, **files):
    manifest = {"job": {"type": tool}, "engine": {"method": "Some method", "kind": "genuine"}}
    with zipfile.ZipFile(folder / "r.zip", "w") as archive:
        for name, content in {"manifest.json": json.dumps(manifest), **files}.items():
            archive.writestr(name, content)
    return open_result(folder / "r.zip")


def words(result):
    return [part["text/plain"] for part in result_bundles(result)]


@pytest.fixture
def registered():
    yield register_view
    unregister_view("their-tool")


@pytest.fixture
def package(tmp_path, monkeypatch):
    """Write another package, which declares a layout as an entry point."""
    (tmp_path / "their_views.py").write_text(
        "from foldnote.viewers import table_bundle\nimport pandas as pd\n"
        "def lay_out(result):\n    return [table_bundle(pd.DataFrame({'a': [1]}), 'From a package')]\n"
    )
    info = tmp_path / "their_views-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: their-views\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(
        "[foldnote.views]\ntheir-tool = their_views:lay_out\nbroken-tool = their_views:missing\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    yield info
    sys.modules.pop("their_views", None)


def test_a_registered_function_lays_out_the_results_of_its_tool_only(tmp_path, registered):
    registered("their-tool", lambda result: [table_bundle(result.tables["t.csv"], "Mine")])

    assert words(make_result(tmp_path, "their-tool", **{"t.csv": "a\n1\n"}))[0].startswith("Mine 1 row")
    assert words(make_result(tmp_path, "another", **{"t.csv": "a\n1\n"}))[0].startswith("t.csv 1 row")


def test_a_layout_may_hold_everything_that_shows_itself(tmp_path, registered):
    frame = pd.DataFrame({"a": [1, 2, 3], "b": [2, 4, 6]})
    registered(
        "their-tool",
        lambda result: [frame, plot_scatter(frame, "a", "b"), compose_result(result), *default_view(result)],
    )
    fv = (DATA / "trastuzumab_fv_ca.pdb").read_text()
    shown = words(make_result(tmp_path, "their-tool", **{"fv.pdb": fv}))

    assert len(shown) == 5
    assert "Spearman" in shown[1]
    assert shown[2] == shown[3]


def test_the_summary_of_the_run_is_below_every_layout(tmp_path, registered):
    registered("their-tool", lambda result: [])

    assert "Some method" in words(make_result(tmp_path, "their-tool"))[-1]


@pytest.mark.parametrize(
    "view", [lambda result: 1 / 0, lambda result: [object()], lambda result: [{"text/plain": "no HTML"}]]
)
def test_a_layout_that_fails_is_reported_and_the_usual_one_is_shown(tmp_path, registered, view):
    registered("their-tool", view)
    shown = words(make_result(tmp_path, "their-tool", **{"t.csv": "a\n1\n"}))

    assert shown[0].startswith("The view for their-tool failed")
    assert shown[1].startswith("t.csv 1 row")


def test_a_package_brings_a_layout_as_an_entry_point(tmp_path, package):
    assert words(make_result(tmp_path, "their-tool"))[0].startswith("From a package")


def test_a_package_whose_layout_is_missing_is_named(tmp_path, package):
    note = words(make_result(tmp_path, "broken-tool"))[0]

    assert "their_views:missing" in note
    assert "default one" in note


def test_the_tool_is_known_from_the_job_where_a_result_has_no_manifest(tmp_path, registered):
    registered("their-tool", lambda result: [pd.DataFrame({"mine": [1]})])
    with zipfile.ZipFile(tmp_path / "r.zip", "w") as archive:
        archive.writestr("t.csv", "a\n1\n")
    result = open_result(tmp_path / "r.zip", origin={"job": {"Type": "their-tool"}})

    assert "mine" in words(result)[0]


def test_a_numbering_shows_its_regions_before_its_residues(tmp_path):
    result = make_result(tmp_path, "anarci", **{"numbering.csv": (DATA / "numbering.csv").read_text()})
    shown = words(result)

    assert shown[0].startswith("Regions 14 rows")
    assert "CDR-H3" in shown[0]
    assert "SRWGGDGFYAMDY" in shown[0]
    assert shown[1].startswith("numbering.csv 227 rows")


def test_docking_shows_all_poses_in_one_table_from_the_best(tmp_path):
    files = {"weak_out.pdbqt": POSES.replace("-13.234", "-3.234"), "strong_out.pdbqt": POSES}
    shown = words(make_result(tmp_path, "vina", **files))
    table = next(text for text in shown if text.startswith("Poses"))

    assert "strong_out.pdbqt" in table.splitlines()[2]
    assert not any(text.startswith(("weak_out", "strong_out")) for text in shown)


def test_docking_first_reports_what_was_left_out_and_its_table_opens_the_poses(tmp_path):
    notes = ["The box is too large for a sure search.", "Left out of the receptor: TMP A:163."]
    engine = {"method": "x", "kind": "genuine", "note": "The receptor is rigid in every run."}
    manifest = {"job": {"type": "vina"}, "engine": engine, "notes": notes}
    poses = {"a_out.pdbqt": POSES.replace("-13.234", "-3.234"), "receptor.pdb": POCKET}
    result = make_result(tmp_path, "vina", **poses, **{"manifest.json": json.dumps(manifest)})
    shown = result_bundles(result)
    table = next(part for part in shown if part["text/plain"].startswith("Poses"))
    scene = compose_result(result)

    assert shown[0]["text/plain"].split("\n\n") == notes
    assert scene is not None
    packed = re.search(r"H4sI[\w+/=]+", table["text/html"])[0]
    steps = json.loads(gzip.decompress(base64.b64decode(packed)))["steps"]
    assert steps == {"key": name_content(scene), "rows": [1, 2, 0]}


def test_front_ends_without_ipython_get_a_page_with_every_view_and_its_scripts(tmp_path):
    result = make_result(tmp_path, "vina", **{"a_out.pdbqt": POSES, "receptor.pdb": POCKET})
    page = result._repr_html_()
    assert page.startswith("<!doctype html>")
    assert read_library() in page
    assert "Poses" in page


def test_ancestors_are_shown_in_their_tree(tmp_path):
    nodes = (
        "node,kind,parent,branch_length,branch_support\nNode1,ancestor,,,\n"
        "a,tip,Node1,0.1,\nb,tip,Node1,0.2,\nc,tip,Node1,0.3,\n"
    )
    tables = {"nodes.csv": nodes, "all_probabilities.csv": "node,site,A\nNode1,1,1.0\n"}
    shown = words(make_result(tmp_path, "ancestral-reconstruction", **tables))

    assert shown[0].startswith("Tree with ancestors: 3 sequences and 1 ancestor;")
    assert shown[1].startswith("Ancestors 1 row")
    assert not any(text.startswith("all_probabilities.csv") for text in shown)


def test_an_object_that_shows_itself_can_stand_alone():
    plot = plot_scatter(pd.DataFrame({"a": [1, 2, 3], "b": [2, 4, 6]}), "a", "b")

    assert "<img" in bundle(plot)["text/html"]


def test_a_result_that_is_opened_first_of_all_shows_itself_in_full(tmp_path):
    make_result(tmp_path, "another", **{"t.csv": "a\n1\n"})
    code = "import foldnote, sys; print(foldnote.open_result(sys.argv[1]).bundles()[0])"
    done = subprocess.run(
        [sys.executable, "-c", code, tmp_path / "r.zip"], capture_output=True, text=True, check=True
    )

    assert "text/html" in done.stdout


def test_the_layouts_that_the_docs_list_are_there_as_soon_as_viewers_are_imported():
    root = Path(__file__).parents[3]
    rows = (root / "docs/views.md").read_text().split("Built-in views:")[1].split("\n\n")[1].splitlines()[2:]
    tools = [tool for row in rows for tool in re.findall(r"`([^`]+)`", row.split("|")[1])]
    modules = [path.stem for path in (root / "src/foldnote/viewers/display").glob("*_views.py")]
    assert min(len(tools), len(modules)) > 3
    code = (
        "import sys, foldnote.viewers; from foldnote.viewers.registry import find_view;"
        f"print([tool for tool in {tools} if find_view(tool) is None],"
        f"[each for each in {modules} if 'foldnote.viewers.display.' + each not in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[] []\n"
