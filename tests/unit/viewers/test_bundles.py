"""Outputs stored in a notebook have no external address, no duplicates, and no name that becomes markup."""

import base64
import gzip
import html.parser
import json
import os
import re
import runpy
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pandas as pd
import pytest

from foldnote.results import Structure, open_result
from foldnote.viewers import bundle, compose, result_bundles, write_page
from foldnote.viewers.render.html import read_asset, write_json
from foldnote.viewers.render.library import library_bundle, read_licences

DATA = Path(__file__).parents[1] / "results" / "data"
FV = (DATA / "trastuzumab_fv_ca.pdb").read_text()
HOSTILE = "<script>alert(1)</script><img src=x onerror=alert(1)>\"'&</style>"
ROOT = Path(__file__).parents[3]
PACKAGE = ROOT / "src" / "foldnote"
LIBRARY = PACKAGE / "static" / "3Dmol-min.js"

needs_library = pytest.mark.skipif(
    not LIBRARY.exists(), reason="3Dmol-min.js is not there; run 'npm run build:static'"
)


class Page(html.parser.HTMLParser):
    """Collects elements and attributes of a page."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.attributes, self.sources, self.scripts, self._in_script = [], [], [], [], False
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += [name for name, _ in attrs]
        self.sources += [value for name, value in attrs if name == "src"]
        self._in_script = tag == "script"

    def handle_endtag(self, tag):
        self._in_script = False

    def handle_data(self, data):
        if self._in_script:
            self.scripts.append(data)


@pytest.fixture
def result(tmp_path):
    with zipfile.ZipFile(tmp_path / "fv.zip", "w") as archive:
        archive.writestr("antibody.pdb", FV)
        archive.write(DATA / "numbering.csv", "numbering.csv")
        archive.writestr("manifest.json", '{"engine": {"method": "ABodyBuilder2", "kind": "substitute"}}')
    return open_result(tmp_path / "fv.zip")


def test_a_result_lays_itself_out_structure_first(result):
    parts = result_bundles(result)

    assert [set(part) for part in parts] == [{"text/html", "text/plain"}] * 3
    assert "CDR-H3: SRWGGDGFYAMDY" in parts[0]["text/plain"]
    assert "numbering.csv 227 rows × 7 columns; the first 10 are shown" in parts[1]["text/plain"]
    assert "in place of the method" in parts[2]["text/plain"]


def test_showing_a_result_publishes_its_bundles(result):
    assert result.bundles() == result_bundles(result) or len(result.bundles()) == 3


def test_no_address_of_another_machine_is_stored(result):
    text = bundle(result)["text/html"]

    assert not re.search(r"(https?:)?//[a-z0-9.-]+\.[a-z]{2,}", text.replace("http://www.w3.org", ""))


def test_the_structure_is_stored_once_and_packed(result):
    text = bundle(result.structure)["text/html"]

    assert text.count('"packed":"') == 1
    assert "ATOM   " not in text


@needs_library
def test_a_view_of_300_residues_takes_less_than_one_and_a_half_of_its_gzip():
    text = runpy.run_path(str(ROOT / "benchmarks" / "_view_pages.py"))["write_structure"](300)
    scene = compose(Structure("p.pdb", "pdb", text))
    stored = sum(len(part.encode()) for part in bundle(scene).values())

    assert sum(len(chain.numbers) for chain in scene.models[0].chains) == 300
    assert stored < 1.5 * len(gzip.compress(text.encode(), 9)), (
        "run 'npm run build:static' if a script changed"
    )


def test_an_output_has_the_styles_of_what_it_shows_and_no_others(result):
    scenes = {
        "interfaces": compose(Structure.open(DATA / "complexes" / "5zng.pdb.gz")),
        "none": result.structure,
    }
    styles = {
        name: re.search("(?s)<style>(.*?)</style>", bundle(scene)["text/html"])[1]
        for name, scene in scenes.items()
    }

    assert ".fnv-interfaces th" in styles["interfaces"]
    assert ".fnv-interfaces" not in styles["none"]
    assert all(style.count("{") == style.count("}") for style in styles.values())
    assert all(".fnv-stage{" in style and ".fnv-plane" not in style for style in styles.values())


@pytest.mark.parametrize(
    "path", sorted((PACKAGE / "viewers" / "assets").glob("*.css")), ids=lambda path: path.name
)
def test_style_sheets_are_shorter_and_their_texts_stay(path):
    texts = re.compile(r"""\"[^\"]*\"|'[^']*'""")
    short = read_asset(path.name)
    assert texts.findall(short) == texts.findall(path.read_text())
    assert len(short) < path.stat().st_size


@needs_library
def test_scripts_are_as_the_build_shortened_them_unless_they_changed_since(tmp_path):
    package = tmp_path / "foldnote"
    shutil.copytree(PACKAGE, package, ignore=shutil.ignore_patterns("labextension", "__pycache__", "3Dmol*"))
    built = json.loads((package / "static" / "viewer-scripts.json").read_text())
    edited = package / "viewers" / "assets" / "table_start.js"
    edited.write_text(f"// a comment\n{edited.read_text()}")
    code = (
        "import foldnote, json; from foldnote.viewers.render.html import read_asset;"
        f"print(json.dumps([foldnote.__file__, *map(read_asset, {['start.js', 'table_start.js']})]))"
    )

    def read_scripts():
        call = [sys.executable, "-c", code]
        environment = os.environ | {"PYTHONPATH": str(tmp_path)}
        return json.loads(subprocess.run(call, env=environment, check=True, capture_output=True).stdout)

    place, start, changed = read_scripts()
    assert place == str(package / "__init__.py")
    assert start == built["start.js"]["code"]
    assert len(start) < 0.85 * len(read_lines(PACKAGE / "viewers" / "assets" / "start.js"))
    assert changed == read_lines(edited)
    (package / "static" / "viewer-scripts.json").unlink()
    assert read_scripts()[1] == read_lines(PACKAGE / "viewers" / "assets" / "start.js")


def read_lines(path):
    """Return a script without comments and indentation."""
    lines = [line.strip() for line in path.read_text().splitlines()]
    return "\n".join(line for line in lines if line and not line.startswith("//"))


def test_a_still_picture_is_shown_where_scripts_do_not_run(result):
    text = bundle(result)["text/html"].split("<script>")[0]
    png = base64.b64decode(re.search(r'src="data:image/png;base64,([^"]+)"', text)[1])

    assert png.startswith(b"\x89PNG\r\n\x1a\n")
    assert len(png) < 16_000


def test_an_output_whose_script_did_not_run_says_so_and_describes(result):
    text = bundle(result)["text/html"].split("<script>")[0]

    assert "No 3D view yet" in text
    assert '<details class="fnv-words" open>' in text
    assert "Heavy chain H" in text


def test_hostile_names_never_become_markup(tmp_path):
    lines = [line for line in FV.splitlines() if line.startswith("ATOM")]
    table = pd.DataFrame({HOSTILE: [HOSTILE]})
    scene = compose(Structure(HOSTILE, "pdb", "\n".join(lines)), title=HOSTILE)
    scene = scene.model_copy(update={"notes": (HOSTILE,), "facts": ((HOSTILE, HOSTILE),), "marking": HOSTILE})
    pages = [Page(bundle(scene)["text/html"]), Page(bundle(table, title=HOSTILE)["text/html"])]

    assert [page.tags.count("script") for page in pages] == [1, 1]
    assert [page.tags.count("img") for page in pages] == [1, 0], "the still picture, without the names"
    assert not any("onerror" in page.attributes for page in pages)


def test_a_label_cannot_end_the_script():
    view = compose(Structure("fv.pdb", "pdb", FV)).py3dmol()
    view.addLabel("</script><script>alert(1)</script><!--", {})
    page = Page(view._repr_html_())

    assert page.tags.count("script") == 1
    assert "</" not in write_json({"a": "</script>"})


def test_the_script_is_one_balanced_piece(result):
    script = Page(bundle(result.structure)["text/html"]).scripts[0]

    assert script.count("{") == script.count("}")
    assert script.startswith("(function")


@needs_library
def test_a_page_contains_everything_and_loads_nothing(result, tmp_path):
    text = write_page(tmp_path / "out" / "page.html", HOSTILE, ["a < b", result]).read_text()
    page = Page(text)

    assert "a &lt; b" in text
    assert page.tags.count("script") == 4
    assert all(source.startswith("data:image/png;base64,") for source in page.sources)
    assert "href" not in page.attributes
    assert "default-src 'none'" in text
    assert read_licences() in text


@needs_library
def test_the_library_can_be_put_on_a_page_once():
    assert Page(library_bundle()["text/html"]).tags.count("script") == 1


def test_a_damaged_structure_is_reported_and_the_rest_is_shown(tmp_path):
    with zipfile.ZipFile(tmp_path / "r.zip", "w") as archive:
        archive.writestr("bad.pdb", "nothing")
        archive.writestr("t.csv", "a,b\n1,2\n")
    parts = result_bundles(open_result(tmp_path / "r.zip"))

    assert "t.csv 1 row × 2 columns" in parts[0]["text/plain"]
    assert "bad.pdb holds no atoms" in parts[-1]["text/plain"]
