"""The report on jobs: results, methods, references and runs on one page."""

import json
import os
import re
import zipfile
from pathlib import Path

import pytest

from foldnote.results import open_result, write_methods
from foldnote.viewers import ReportPart, write_report

CITATION = "Dunbar J., Deane C. M. (2016) ANARCI: numbering. Bioinformatics 32, 298-300. doi:10.1093/x"
SEQUENCE = "EVQLVESGGGLVQPGGSLRLSCAASGFNIKDTYIHWVRQAPGKGLEWVAR"


@pytest.fixture
def open_run(tmp_path):
    def write_and_open(name, **changes):
        engine = {"method": "ANARCI", "version": "1.3", "kind": "genuine", "citation": CITATION}
        manifest = {
            "job": {"jobName": name, "type": "anarci", "seed": 7},
            "settings": {"scheme": "imgt", "sequence": SEQUENCE},
            "inputs": [{"name": "target.pdb", "sha256": "ab12"}],
            "engine": engine | {"packages": {"pyhmmer": "0.12.0"}} | changes.pop("engine", {}),
            "started": "2026-11-23T23:00:00Z",
            "ended": "2026-11-23T23:00:42Z",
        } | changes
        place = tmp_path / f"{name}.zip"
        with zipfile.ZipFile(place, "w") as archive:
            archive.writestr("manifest.json", json.dumps(manifest))
            archive.writestr("summary.csv", "chain,score\nH,1.5\n")
        return open_result(place)

    return write_and_open


def test_one_job_has_its_method_settings_seed_and_inputs_in_a_paragraph(open_run):
    (paragraph,) = write_methods([open_run("fv")])
    assert paragraph == (
        "ANARCI 1.3 (Dunbar & Deane 2016) was used for the job fv (tool: anarci). Settings: scheme = imgt."
        " Longer settings (sequence) are in the record of the job. Random seed: 7."
        " Input file: target.pdb (SHA-256 ab12)."
    )


def test_jobs_of_one_method_share_a_paragraph_with_what_they_have_in_common(open_run):
    settings = {"scheme": "kabat", "sequence": SEQUENCE}
    runs = [open_run("a"), open_run("b", settings=settings, job={"type": "anarci", "seed": 8})]
    (paragraph,) = write_methods(runs)
    assert "was used for 2 jobs (tool: anarci)" in paragraph
    assert "scheme differed between jobs." in paragraph
    assert "Random seeds: 7, 8." in paragraph


def test_the_table_of_runs_calls_tools_by_their_names(open_run, tmp_path):
    runs = [open_run("fv"), open_run("own", job={"jobName": "own", "type": "a-tool-of-the-lab"})]
    place = write_report(tmp_path / "r.html", "Runs", [ReportPart(each.name, each) for each in runs])
    table = place.read_text().partition("<h2>Runs</h2>")[2]
    cells = re.findall(r"<td[^>]*>(.*?)</td>", table)
    assert [cells[row * 6 + 1] for row in range(2)] == ["ANARCI", "a-tool-of-the-lab"]


def test_a_substitute_a_stand_in_and_an_add_on_are_named(open_run):
    add_ons = [{"name": "gnina", "method": "GNINA", "version": "1.0", "used": True, "citation": CITATION}]
    engine = {"kind": "substitute", "weights": [{"state": "stand-in"}], "addOns": add_ons}
    (paragraph,) = write_methods([open_run("fv", engine=engine)])
    assert "a substitute for the one that the tool is named after" in paragraph
    assert "random stand-in weights: its figures mean nothing" in paragraph
    assert "GNINA 1.0 (Dunbar & Deane 2016) was used" in paragraph


def test_an_adapter_runs_the_named_program_and_is_not_a_substitute(open_run):
    assert not open_run("fv", engine={"kind": "adapter"}).manifest.is_substitute


def test_a_service_that_records_no_method_is_reported(open_run):
    runs = [open_run("a"), open_run("b", engine={"method": ""})]
    assert write_methods(runs)[1:] == ("The service does not record which program ran the other 1 job.",)


def test_the_page_has_every_part_in_order_and_loads_nothing(open_run, tmp_path):
    parts = [ReportPart("fv", open_run("fv")), ReportPart("lost <b>", reason="It failed: no domain.")]
    place = write_report(tmp_path / "new" / "r.html", "Title & more", parts, notes="One.\n\nTwo.")
    page = place.read_text()
    assert re.findall(r"<h[12]>(.*?)</h[12]>", page) == [
        *("Title &amp; more", "fv", "lost &lt;b&gt;"),
        *("Methods", "References", "Runs"),
    ]
    assert "<p>One.</p><p>Two.</p>" in page
    assert "It failed: no domain." in page
    assert "@article{dunbar2016anarci" in page
    assert "<summary>RIS</summary>" in page
    assert "TY  - JOUR" in page
    assert "pyhmmer 0.12.0" in page
    assert "default-src 'none'" in page


def test_a_report_names_its_author(open_run, tmp_path):
    page = write_report(tmp_path / "r.html", "T", [ReportPart("fv", open_run("fv"))], author="Ada <b> Lee")
    assert "<p>Ada &lt;b&gt; Lee · Written with foldnote" in page.read_text()


def test_a_report_without_results_has_no_methods(tmp_path):
    page = write_report(tmp_path / "r.html", "T", [ReportPart("x", reason="Stopped.")]).read_text()
    assert "Methods" not in re.findall(r"<h2>(.*?)</h2>", page)


def test_a_notebook_shows_the_path_of_a_report_as_a_link(open_run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    page = write_report("on <two> antibodies.html", "R", [ReportPart("fv", open_run("fv"))])
    assert page.read_text() == Path(os.fspath(page)).read_text()
    html = page._repr_html_()
    assert 'href="on%20%3Ctwo%3E%20antibodies.html"' in html
    assert ">on &lt;two&gt; antibodies.html</a>" in html


def test_a_report_outside_of_the_notebooks_folder_is_named_without_a_link(open_run, tmp_path, monkeypatch):
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    page = write_report(tmp_path / "r.html", "R", [ReportPart("fv", open_run("fv"))])
    assert "<a " not in page._repr_html_()
    assert str(page) in page._repr_html_()
    page.unlink()
    assert page._repr_html_() is None


def test_code_in_notes_and_reasons_is_shown_as_code(open_run, tmp_path):
    noted = open_run("fv", notes=["Run `foldnote doctor` <b>."])
    part = ReportPart("fv", noted)
    page = write_report(
        tmp_path / "r.html", "x", [part, ReportPart("y", reason="Use `fn.job()`.")]
    ).read_text()
    assert "Run <code>foldnote doctor</code> &lt;b&gt;." in page
    assert "Use <code>fn.job()</code>." in page
