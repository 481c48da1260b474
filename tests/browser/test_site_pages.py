"""Pages of the documentation site and of results fit a phone, are legible, and are accessible to screen readers."""

import shutil
import subprocess
import sys
from pathlib import Path

import foreign_archives
import nbformat
import pandas as pd
import pypdf
import pytest
from lab_server import ROOT
from nbconvert import HTMLExporter
from page_audit import find_page_faults
from patience import PATIENCE_MS
from playwright.sync_api import expect

from foldnote.results import Result, open_result
from foldnote.viewers import bundle, explore, plot_pae, write_page
from foldnote.viewers.render.library import library_bundle

DOCS = ROOT / "docs"
EXAMPLES = ROOT / "src" / "foldnote" / "catalog" / "examples"
WRITTEN = "index start tools reference/tools/vina tutorials/results"
ARCHIVES = "alphafold2 gnina"
MORE_ARCHIVES = "alphafold3_local boltz chai rosettafold_all_atom rfdiffusion bindcraft proteinmpnn diffdock"


def build_site(folder: Path, *options: str) -> Path:
    """Build a copy of the docs with Sphinx and these options; its tutorials are those in ``folder/docs/tutorials``."""
    pytest.importorskip("furo", reason="Sphinx and the theme are not installed: make docs installs them")
    ignored = shutil.ignore_patterns("tutorials", "reference", "__pycache__")
    shutil.copytree(DOCS, folder / "docs", ignore=ignored, dirs_exist_ok=True)
    for name in ("src", "CHANGELOG.md", "CONTRIBUTING.md"):
        (folder / name).symlink_to(ROOT / name)
    build = (sys.executable, "-m", "sphinx", "-q", "-b", "html", *options)
    done = subprocess.run([*build, folder / "docs", folder / "site"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return folder / "site"


def write_notebook(path: Path, items) -> None:
    """Write an executed notebook whose cells show the items."""
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_markdown_cell("# Results")])
    notebook.metadata["language_info"] = {"name": "python"}
    notebook.metadata["widgets"] = {"application/vnd.jupyter.widget-state+json": {"state": {"form": {}}}}
    for item in items:
        output = nbformat.v4.new_output("execute_result", data={"text/html": bundle(item)["text/html"]})
        notebook.cells.append(nbformat.v4.new_code_cell("result", outputs=[output]))
    path.parent.mkdir(parents=True)
    nbformat.write(notebook, path)


def open_archives(folder: Path, names: str) -> dict[str, Result]:
    """Open small results of several programs with their own file names."""
    results = {}
    for name in names.split():
        for path, content in getattr(foreign_archives, name)().items():
            place = folder / name / path
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(content if isinstance(content, bytes) else content.encode())
        results[name] = open_result(folder / name)
    return results


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    examples = {name: open_result(EXAMPLES / name) for name in ("trastuzumab-fv.pdb", "benzene.sdf")}
    return examples | open_archives(tmp_path_factory.mktemp("results"), ARCHIVES)


def test_pages_of_the_site_can_be_read_on_a_phone_and_in_the_dark(chromium, tmp_path, results):
    write_notebook(tmp_path / "docs/tutorials/results.ipynb", [*results.values()][:4])
    left_out = [page.name for page in DOCS.glob("*.md") if page.stem not in WRITTEN.split()]
    excluded = ["_reference", *left_out, "reference/tools/[!v]*", "reference/[!t]*"]
    site = build_site(tmp_path, "-D", f"exclude_patterns={','.join(excluded)}")
    assert find_page_faults(chromium, [site / f"{name}.html" for name in WRITTEN.split()]) == []


@pytest.mark.exhaustive
@pytest.mark.timeout(1800)
def test_every_page_of_the_site_can_be_read_on_a_phone_and_in_the_dark(chromium, tmp_path):
    """Notebooks have the outputs of the last `make docs`, if it has run."""
    executed = ROOT / "build" / "notebooks"
    (tmp_path / "docs/tutorials").mkdir(parents=True)
    for notebook in (ROOT / "notebooks").glob("*.ipynb"):
        kept = executed / notebook.name
        shutil.copy(kept if kept.is_file() else notebook, tmp_path / "docs/tutorials")
    site = build_site(tmp_path, "-W", "-n")
    pages = [page for page in sorted(site.rglob("*.html")) if "_static" not in page.parts]
    assert find_page_faults(chromium, pages) == []


def save_pages(folder: Path, results: dict[str, Result]) -> list[Path]:
    return [write_page(folder / f"{name}.html", name, [result]) for name, result in results.items()]


def test_saved_pages_of_results_can_be_read_on_a_phone_and_in_the_dark(chromium, tmp_path, results):
    pages = save_pages(tmp_path, results)
    plot = plot_pae(results["alphafold2"].models[0].pae).save(tmp_path / "plot.html")
    hash_text = "SHA-256 " + 64 * "a"
    assert (
        find_page_faults(chromium, [*pages, plot, write_page(tmp_path / "hash.html", "A hash", [hash_text])])
        == []
    )


@pytest.mark.exhaustive
@pytest.mark.timeout(1800)
def test_saved_pages_of_other_programs_results_can_be_read_as_well(chromium, tmp_path):
    more = open_archives(tmp_path / "archives", MORE_ARCHIVES)
    assert find_page_faults(chromium, save_pages(tmp_path, more)) == []


def test_a_long_table_is_printed_on_a4_with_its_head_on_every_page(chromium, tmp_path):
    rows = pd.DataFrame({"job": [f"variant-{n}" for n in range(1, 181)], "melting point": range(180)})
    place = write_page(tmp_path / "long.html", "A long table", [rows])
    page = chromium.new_page()
    page.set_default_timeout(PATIENCE_MS)
    page.goto(place.as_uri())
    page.locator(".fnt-box td").first.wait_for()
    page.pdf(path=tmp_path / "long.pdf", format="A4", print_background=True)
    page.close()
    printed = [each.extract_text() for each in pypdf.PdfReader(tmp_path / "long.pdf").pages]
    assert len(printed) > 2
    assert all("melting point" in " ".join(text.split()) for text in printed)
    assert all(f"variant-{n}" in " ".join(printed).split() for n in range(1, 181))


def test_a_notebook_that_nbconvert_wrote_is_printed_with_all_rows_and_columns_and_no_controls(
    chromium, tmp_path, results
):
    rows = pd.DataFrame({f"score {n}": [f"{n}:{row}" for row in range(60)] for n in range(16)})
    write_notebook(tmp_path / "made" / "work.ipynb", [rows, results["trastuzumab-fv.pdb"]])
    place = tmp_path / "work.html"
    place.write_text(HTMLExporter().from_filename(str(tmp_path / "made" / "work.ipynb"))[0], "utf-8")
    page = chromium.new_page()
    page.set_default_timeout(PATIENCE_MS)
    page.goto(place.as_uri(), wait_until="domcontentloaded")
    page.locator(".fnt-box td").first.wait_for()
    page.pdf(path=tmp_path / "work.pdf", format="A4", print_background=True)
    page.close()
    printed = " ".join(each.extract_text() for each in pypdf.PdfReader(tmp_path / "work.pdf").pages)
    words = printed.split()
    assert [cell for cell in rows.to_numpy().ravel() if cell not in words] == []
    assert [
        text for text in ("Save CSV", "Filter rows", "No 3D view", "Trust Notebook") if text in printed
    ] == []


def test_a_page_of_nbconvert_says_once_why_its_structures_are_not_in_3d(chromium, tmp_path, results):
    path = tmp_path / "made" / "work.ipynb"
    write_notebook(path, [results["trastuzumab-fv.pdb"]] * 3)
    place = tmp_path / "work.html"
    place.write_text(HTMLExporter().from_filename(str(path))[0], "utf-8")
    page = chromium.new_page()
    page.set_default_timeout(PATIENCE_MS)
    page.goto(place.as_uri(), wait_until="domcontentloaded")
    notes = page.locator(".fnv-note")
    for view in page.locator(".fnv-view:has(> .fnv-stage)").all():
        view.locator(".fnv-stage").scroll_into_view_if_needed()
        expect(view).to_have_attribute("data-fn-state", "failed")
    expect(notes.filter(has_text="3Dmol.js, which draws it, is not on this page")).to_have_count(1)
    expect(notes.filter(has_text="Another view says why.")).to_have_count(2)
    page.close()


def test_a_notebook_that_loads_the_script_has_its_structures_in_3d_on_the_page_of_nbconvert(
    chromium, tmp_path, results
):
    path = tmp_path / "made" / "work.ipynb"
    write_notebook(path, [results["trastuzumab-fv.pdb"]])
    notebook = nbformat.read(path, 4)
    loaded = nbformat.v4.new_output("display_data", data=library_bundle())
    notebook.cells.insert(1, nbformat.v4.new_code_cell("load_script()", outputs=[loaded]))
    place = tmp_path / "work.html"
    place.write_text(HTMLExporter().from_notebook_node(notebook)[0], "utf-8")
    page = chromium.new_page()
    page.set_default_timeout(PATIENCE_MS)
    page.goto(place.as_uri(), wait_until="domcontentloaded")
    page.locator(".fnv-stage").first.scroll_into_view_if_needed()
    expect(page.locator(".fnv-view").first).to_have_attribute("data-fn-state", "drawn")
    page.close()


def test_the_views_of_a_saved_explorer_are_linked_without_a_kernel(chromium, tmp_path, results):
    explorer = explore(results["alphafold2"].models[0])
    explorer.select("H", ["1", "2"])
    saved = explorer.save(tmp_path / "explorer.html")
    assert find_page_faults(chromium, [saved]) == []
    page = chromium.new_page()
    page.set_default_timeout(PATIENCE_MS)
    page.goto(saved.as_uri())
    page.locator(".fnv-view[data-fn-state=drawn]").wait_for()
    expect(page.locator(".fne-bar")).to_contain_text("2 residues selected")
    page.locator(".fne-cell").nth(4).click()
    expect(page.locator(".fne-bar")).to_contain_text("1 residue selected")
    expect(page.locator(".fne-table tbody")).to_contain_text("5")
    # the residue and its Cα
    page.wait_for_function("document.querySelector('.fnv-view').fnSelection.length === 2")
    page.close()
