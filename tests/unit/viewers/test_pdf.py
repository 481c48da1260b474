"""Reports as PDF, checked with pypdf and poppler: nothing is cut, folded or lost, and nothing is downloaded."""

import json
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pypdf
import pytest
from PIL import Image

from foldnote.errors import ConfigurationError, UnreadableFileError
from foldnote.results import Structure, open_result, to_bibtex
from foldnote.viewers import ReportPart, write_page, write_report
from foldnote.viewers.display.batch_rows import BatchRow
from foldnote.viewers.display.page import make_pdf_page
from foldnote.viewers.plots.prediction_plots import plot_scatter
from foldnote.viewers.render.paper import is_paper

DATA = Path(__file__).parents[1] / "results" / "data"
CITATION = "Dunbar J., Deane C. M. (2016) ANARCI: numbering. Bioinformatics 32, 298-300. doi:10.1093/x"
WORD = re.compile(r'<word xMin="([\d.]+)" yMin="([\d.]+)" xMax="([\d.]+)" yMax="([\d.]+)">([^<]*)</word>')
MARGIN_PT, FOOT_PT = 18 * 72 / 25.4, 20 * 72 / 25.4


def write_job(archive, folder, name):
    engine = {"method": "ANARCI", "version": "1.3", "kind": "genuine", "citation": CITATION}
    manifest = {
        "job": {"jobName": name, "type": "anarci", "seed": 7},
        "settings": {"scheme": "imgt"},
        "engine": engine | {"packages": {"pyhmmer": "0.12.0"}},
        "started": "2026-11-23T23:00:00Z",
    }
    archive.writestr(f"{folder}manifest.json", json.dumps(manifest))
    archive.write(DATA / "numbering.csv", f"{folder}numbering.csv")
    archive.write(DATA / "trastuzumab_fv_ca.pdb", f"{folder}antibody.pdb")


@pytest.fixture(scope="module")
def job(tmp_path_factory):
    path = tmp_path_factory.mktemp("job") / "fv.zip"
    with zipfile.ZipFile(path, "w") as archive:
        write_job(archive, "", "fv")
    return open_result(path)


@pytest.fixture(scope="module")
def panel(tmp_path_factory):
    """Return the report of thirty jobs with twelve scores each, two of which have a result."""
    folder = tmp_path_factory.mktemp("panel")
    scores = [f"score.quantity_number_{number}" for number in range(12)]
    rows = [",".join(["jobName", "status", *scores, "settings.ligand", "settings.scheme"])]
    for row in range(30):
        figures = ",".join(str(1000 + 12 * row + number) for number in range(12))
        rows.append(f"design-{row:02d},Complete,{figures},{'C' * (row + 1)},imgt")
    with zipfile.ZipFile(folder / "panel.zip", "w") as archive:
        archive.writestr("results.csv", "\n".join(rows) + "\n")
        for name in ("design-00", "design-01"):
            write_job(archive, f"{name}/", name)
    batch = open_result(folder / "panel.zip", "panel")
    return write_report(folder / "panel.pdf", "Panel", [ReportPart("Panel", batch, note="Seen.")])


def read_words(path):
    """Return (page, width and height of the page, box, text) of each word, as found by pdftotext."""
    told = subprocess.run(
        ["pdftotext", "-bbox", path, "-"], capture_output=True, text=True, check=True
    ).stdout
    found = []
    for page, text in enumerate(told.split("<page ")[1:]):
        width, height = (
            float(each) for each in re.match(r'width="([\d.]+)" height="([\d.]+)"', text).groups()
        )
        found += [
            (page, width, height, tuple(float(each) for each in word[:4]), word[4])
            for word in WORD.findall(text)
        ]
    return found


def read_text(path):
    return " ".join(" ".join(page.extract_text() for page in pypdf.PdfReader(path).pages).split())


@pytest.fixture(scope="module")
def report(job, tmp_path_factory):
    folder = tmp_path_factory.mktemp("report")
    return write_report(
        folder / "new" / "fv.pdf", "Trastuzumab & more", [ReportPart("fv", job)], notes="One.", author="Ada B."
    )  # fmt: skip


def test_a_report_has_its_parts_and_says_who_wrote_it(report):
    reader = pypdf.PdfReader(report)
    text = read_text(report)
    for part in (
        "Ada B. · Written with foldnote",
        "CDR-H3",
        "ANARCI 1.3 (Dunbar & Deane 2016)",
        "Random seed: 7",
    ):
        assert part in text
    for part in (
        "pyhmmer 0.12.0",
        "@article{dunbar2016anarci",
        "TY - JOUR",
        "2026-11-23 23:00 UTC",
        "antibody.pdb",
    ):
        assert part in text
    assert (reader.metadata.title, reader.metadata.author) == ("Trastuzumab & more", "Ada B.")
    assert reader.metadata.creator.startswith("foldnote ")
    names = [each.title for each in reader.outline[1]]
    assert names == ["fv", "Methods", "Runs", "References"]


def test_pages_are_numbered_below_a_running_title(report):
    pages = [page.extract_text() for page in pypdf.PdfReader(report).pages]
    assert len(pages) > 1
    assert all(f"{number} of {len(pages)}" in page for number, page in enumerate(pages, start=1))
    assert all("Trastuzumab & more" in page for page in pages)


def test_links_are_alive_fonts_embedded_and_nothing_runs(report):
    reader = pypdf.PdfReader(report)
    actions = [
        note.get_object()["/A"] for page in reader.pages for note in page.get("/Annots", ()) if "/A" in note.get_object()
    ]  # fmt: skip
    assert [action["/URI"] for action in actions] == ["https://doi.org/10.1093/x"]
    fonts = [font.get_object() for page in reader.pages for font in page["/Resources"]["/Font"].values()]
    described = [font["/DescendantFonts"][0].get_object()["/FontDescriptor"] for font in fonts]
    assert described
    assert all(any(key.startswith("/FontFile") for key in one) for one in described)
    assert not {"/OpenAction", "/AA"} & set(reader.trailer["/Root"])
    assert "/JavaScript" not in reader.trailer["/Root"].get("/Names", {})
    assert reader.trailer["/Root"]["/MarkInfo"]["/Marked"]
    assert reader.trailer["/Root"]["/Lang"] == "en"


def test_the_references_are_attached_as_bibtex_and_ris(report, job):
    attached = pypdf.PdfReader(report).attachments
    assert attached["references.bib"][0].decode() == to_bibtex(job.references())
    assert b"DO  - 10.1093/x" in attached["references.ris"][0]


def test_a_structure_is_printed_sharply_and_in_colour(report, tmp_path):
    (picture,) = {
        image.name: image for page in pypdf.PdfReader(report).pages for image in page.images
    }.values()
    assert picture.image.size == (1344, 896)
    subprocess.run(["pdftoppm", "-r", "50", "-l", "1", "-png", report, tmp_path / "page"], check=True)
    (rendered,) = tmp_path.glob("page-*.png")
    pixels = Image.open(rendered).convert("HSV").crop((0, 100, 260, 320))
    saturation = np.asarray(pixels)[..., 1]
    assert (saturation > 120).sum() > 40, "the CDRs are drawn in their colours"


def test_all_rows_and_columns_of_a_batch_are_printed_inside_of_the_margins(panel):
    words = read_words(panel)
    said = {text for *_, text in words}
    wanted = {str(figure) for figure in range(1000, 1360)}
    assert wanted <= said
    assert {f"design-{row:02d}" for row in range(30)} <= said
    outside = [
        (text, box) for _, width, height, box, text in words
        if box[0] < MARGIN_PT - 1 or box[2] > width - MARGIN_PT + 1 or box[3] > height
    ]  # fmt: skip
    assert outside == []


def test_the_headings_of_a_wide_table_are_on_its_page(tmp_path):
    rows = [
        BatchRow(f"d{n}", "Complete", scores={f"figure{k:02d}": n / 7 + k for k in range(30)})
        for n in range(14)
    ]
    note = "First look at the panel."
    place = write_report(
        tmp_path / "w.pdf", "Leads", [ReportPart("Panel", rows=tuple(rows), note="Seen.")], notes=note
    )
    pages = {text: page for page, *_, text in reversed(read_words(place))}
    assert {pages[text] for text in ("Leads", "look", "Panel", "Seen.", "d0", "figure00")} == {pages["Leads"]}


def test_a_table_over_several_pages_repeats_its_heading_and_tears_no_row(tmp_path):
    frame = pd.DataFrame({"name": [f"r{row}" for row in range(60)], "sequence": ["EVQLVESGGG" * 12] * 60})
    place = write_page(tmp_path / "t.pdf", "T", [frame])
    words = read_words(place)
    pages = {page for page, *_ in words}
    assert len(pages) > 2
    assert [page for page, *_, text in words if text == "sequence"] == sorted(pages)
    by_page = {page: [text for at, *_, text in words if at == page] for page in pages}
    for texts in by_page.values():
        rows = sum(text.startswith("r") and text[1:].isdigit() for text in texts)
        letters = sum(len(text) for text in texts if set(text) <= set("EVQLSG") and len(text) > 3)
        assert letters == rows * 120


def test_values_shared_by_all_jobs_are_shown_once_above_the_table(panel):
    assert read_text(panel).count("Same in all rows: scheme imgt.") == 1


def test_molecules_are_drawn_in_the_table_of_a_batch(panel):
    assert "CCCC" not in read_text(panel), "the molecule is drawn instead of its SMILES"


def test_few_jobs_of_a_batch_are_printed_in_full_and_their_notes_are_not_lost(panel):
    text = read_text(panel)
    assert [f"design-0{number} · antibody.pdb" in text for number in range(3)] == [True, True, False]
    assert "Seen." in text


def test_a_list_of_long_file_names_is_not_torn(tmp_path):
    """The end of its last names went to the next page, with the heading of the next result."""
    for part in ("a", "b"):
        folder = tmp_path / part
        folder.mkdir()
        for number in range(9):
            folder.joinpath(f"my job_summary_confidence_of_the_sample_{number}.json").write_text("{}")
    shutil.copy(DATA / "trastuzumab_fv_ca.pdb", tmp_path / "b")
    parts = [ReportPart(each, open_result(tmp_path / each[0])) for each in ("a", "b", "b again")]
    words = read_words(write_report(tmp_path / "r.pdf", "Two", parts))
    starts = [place for place, (*_, text) in enumerate(words) if text == "files"]
    for start, end in zip(starts, (*starts[1:], None), strict=True):
        assert {page for page, *_, text in words[start:end] if text.endswith(".json")} == {words[start][0]}


def test_a_long_table_beside_the_subject_says_how_many_rows_are_left_out(tmp_path):
    place = write_page(tmp_path / "t.pdf", "T", [pd.DataFrame({"x": range(1000, 1100)})])
    text = read_text(place)
    assert "the first 15 of 100 rows" in text
    assert "1014" in text
    assert "1015" not in text


def test_a_plot_is_drawn_with_lines_and_letters(tmp_path):
    frame = pd.DataFrame({"ddG": [1.0, 2.5, 3.5], "KD": [4.0, 2.0, 1.0]})
    place = write_page(tmp_path / "plot.pdf", "P", [plot_scatter(frame, "ddG", "KD")])
    (page,) = pypdf.PdfReader(place).pages
    assert list(page.images) == []
    assert page.extract_text().count("stability change (kcal/mol)") == 3, "in heading, words and drawing"


def test_a_page_reads_no_file_and_no_address(tmp_path):
    (tmp_path / "secret.svg").write_text(
        "<svg xmlns='http://www.w3.org/2000/svg'><text y='9'>SECRET</text></svg>"
    )
    html = f'<p>Shown</p><img alt="" src="{(tmp_path / "secret.svg").as_uri()}"><script>document.write(1)</script>'
    style = f'<link rel="stylesheet" href="{(tmp_path / "x.css").as_uri()}"><link rel="attachment" href="{(tmp_path / "secret.svg").as_uri()}">'
    place = write_page(tmp_path / "p.pdf", "P", [{"text/html": html + style, "text/plain": ""}])
    text = read_text(place)
    assert "Shown" in text
    assert "SECRET" not in text
    assert "document.write" not in text
    assert not pypdf.PdfReader(place).attachments


@pytest.mark.parametrize(("name", "message"), [("r.docx", r"ends in .html or .pdf, such as r.pdf"),
                                               ("report", "ends in .html or .pdf"), ("", "ends in .html or .pdf")])  # fmt: skip
def test_another_suffix_is_refused_before_anything_is_written(job, tmp_path, name, message):
    with pytest.raises(ConfigurationError, match=message):
        write_report(tmp_path / "new" / name if name else "", "T", [ReportPart("fv", job)])
    assert not (tmp_path / "new").exists()


def test_a_folder_is_not_a_file(job, tmp_path):
    (tmp_path / "old.pdf").mkdir()
    with pytest.raises(ConfigurationError, match="is a folder: name a file in"):
        write_report(tmp_path / "old.pdf", "T", [ReportPart("fv", job)])


_ASK = "import sys; sys.path.insert(0, sys.argv[1]); from foldnote.viewers import write_page; write_page(sys.argv[2], 'T', ['x'])"


@pytest.mark.parametrize(
    ("code", "advice"),
    [
        ("raise ImportError('no weasyprint')", "pip install 'foldnote[pdf]'"),
        ("print('long advice'); raise OSError('cannot load library libpango-1.0-0')", "brew install pango"),
    ],
)
def test_without_weasyprint_or_pango_one_sentence_says_what_to_install(tmp_path, code, advice):
    (tmp_path / "weasyprint.py").write_text(code)
    asked = [sys.executable, "-c", _ASK, tmp_path, tmp_path / "r.pdf"]
    ended = subprocess.run(asked, capture_output=True, text=True, check=False)
    last = ended.stderr.strip().splitlines()[-1]
    assert "ConfigurationError" in last
    assert advice in last
    assert "print it from a browser" in last
    assert ended.stdout == ""
    assert not (tmp_path / "r.pdf").exists()


def test_what_fails_on_paper_leaves_later_outputs_for_the_screen():
    with pytest.raises(UnreadableFileError):
        make_pdf_page("T", [Structure("x.pdb", "pdb", "no atoms")])
    assert not is_paper()
