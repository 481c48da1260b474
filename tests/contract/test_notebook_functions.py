"""The notebook functions that plan: each is one call of the client, whose result the cell shows."""

import contextlib
import pkgutil
import re

import pandas as pd
import pypdf
import pytest
from job_settings import SETTINGS
from scripted_service import answers

import foldnote as fn
from foldnote import notebook
from foldnote.errors import ArgumentError, ConfigurationError, JobFailedError, NotFoundError
from foldnote.notebook import NotebookBatch, NotebookRun


@pytest.fixture
def here(client, monkeypatch):
    """Connect the notebook functions to the service of these tests."""
    monkeypatch.setattr("foldnote.notebook.connection.find_client", lambda profile: client)
    return client


def test_a_pipeline_is_saved_run_and_found_again(here, name):
    stages = [fn.stage("number", "anarci", **SETTINGS)]
    run = fn.pipeline(name, stages)
    assert isinstance(run, NotebookRun)
    assert fn.pipeline(name, stages).job_name == run.job_name
    assert fn.stage("a", "anarci").file("*.pdb") == "a/*.pdb"


def test_the_account_and_a_recommendation_are_a_call_each(here):
    assert fn.account().has_key
    assert fn.recommend("Number an antibody heavy chain").tools


def test_tools_are_searched(here):
    assert [tool.type for tool in fn.tools("AutoDock Vina", runs_here=True)] == ["vina"]
    assert fn.tools(family="no-such-family") == ()


def test_a_screening_is_a_batch(scripted, connect, monkeypatch):
    client = connect()
    monkeypatch.setattr("foldnote.notebook.connection.find_client", lambda profile: client)
    scripted.on("GET", "/jobs", answers({"error": "none"}, 404))
    scripted.on("POST", "/virtual-screening", answers("ok"))
    batch = fn.screen(fn.uploaded("r.pdb"), [fn.uploaded("a.sdf")], tool="vina", exhaustiveness=4)
    assert isinstance(batch, NotebookBatch)
    assert batch.record.tool == "vina"


def test_jobs_are_compared_by_name_or_as_they_are(here, settings, name):
    first = here.jobs.submit("anarci", settings, job_name=f"{name}-1").wait(60)
    changed = {**settings, "scheme": "kabat"}
    here.jobs.submit("anarci", changed, job_name=f"{name}-2").wait(60)
    found = fn.compare(first, f"{name}-2")
    assert found.names == (f"{name}-1", f"{name}-2")
    assert found.settings.loc["scheme"].tolist() == ["imgt", "kabat"]
    assert found.notes[0].startswith("No structures are compared")
    assert fn.compare([first, f"{name}-2"]).settings.equals(found.settings)
    first.relabel("wild type")
    assert fn.compare(first, f"{name}-2").names == ("wild type", f"{name}-2")


def test_a_job_in_place_of_its_result_is_refused_with_what_to_give(here, settings, name):
    job = here.jobs.submit("anarci", settings, job_name=name)
    for show in (fn.view, fn.explore, lambda job: fn.view([job, job]), lambda job: fn.grid([job])):
        with pytest.raises(ArgumentError, match=rf"^{name} is a job; give its result, which job\.result\(\)"):
            show(job)


def test_what_cannot_be_compared_is_named(here, settings, name):
    with pytest.raises(ArgumentError, match="neither a file nor a job 'no-such-job'"):
        fn.compare("no-such-job", "other")
    batch = here.batches.submit("anarci", [settings, settings], batch_name=name)
    with pytest.raises(ArgumentError, match=r"is a batch.*subjobs\(\)\[:2\]"):
        fn.compare(name, batch)


def test_a_report_has_jobs_batches_and_archives_and_says_what_has_no_result(here, settings, name, tmp_path):
    done = here.jobs.submit("anarci", settings, job_name=f"{name}-1").wait(60)
    batch = here.batches.submit("anarci", [settings, settings], batch_name=f"{name}-b").wait(60)
    failed = here.jobs.submit("anarci", settings, job_name=f"{name}.fail")
    with pytest.raises(JobFailedError):
        failed.wait(60)
    sources = [f"{name}-1", batch, done.result(), done.download(), failed]
    page = fn.report(sources, tmp_path / "r.html", title="All", notes="Two words.").read_text()
    headings = re.findall(r"<h2>(.*?)</h2>", page)
    assert headings[:2] == [f"{name}-1", f"{name}-b"]
    assert headings[-2:] == ["Methods", "Runs"]
    assert "was used for 5 jobs (tool: anarci)" in page
    assert re.search(rf"<h2>{name}\.fail</h2><p>[^<]*failed", page)
    assert "<p>Two words.</p>" in page


def test_a_batch_and_a_pipeline_are_reported_as_pdf_with_all_rows(here, settings, name, tmp_path):
    table = pd.DataFrame(
        {"id": [f"{name}-a", f"{name}-b.fail"], "KD_nM": [1.5, 2.25], "sequence": settings["sequence"]}
    )
    batch = fn.submit_batch("anarci", table, columns={"sequence": "sequence"}, names="id", scheme="imgt")
    with contextlib.suppress(JobFailedError):
        batch.wait(60)
    run = fn.pipeline(f"{name}-p", [fn.stage("number", "anarci", **SETTINGS)]).wait(60)
    place = fn.report([batch, run], tmp_path / "r.pdf", title="All", author="Ada")
    reader = pypdf.PdfReader(place)
    text = " ".join(" ".join(page.extract_text() for page in reader.pages).split())
    parts = (*table["id"], "1.50", "2.25", f"{run.job_name}-number", "Failed")
    assert [part for part in parts if part not in text.replace("- ", "-")] == []
    assert reader.metadata.author == "Ada"
    with pytest.raises(ConfigurationError, match="ends in .html or .pdf"):
        fn.report("no-such-job", tmp_path / "r.doc")


def test_jobs_batches_and_pipelines_are_exported_and_opened_as_they_were(here, settings, name, tmp_path):
    table = pd.DataFrame({"id": [f"{name}-a", f"{name}-b.fail"], "KD_nM": [1.5, None]})
    rows = table.assign(sequence=[settings["sequence"], settings["sequence"] + "S"])
    batch = fn.submit_batch("anarci", rows, batch_name=name, scheme="imgt")
    batch.finish(60)
    batch.note("Second one fails.")
    opened = fn.open_export(fn.export(batch, tmp_path / "b.zip"))
    pd.testing.assert_frame_equal(opened.table, batch.results())
    assert list(opened.result.jobs) == list(batch.result().jobs) == list(table["id"])
    assert (opened.note, opened.tool) == ("Second one fails.", "anarci")
    assert "Second one fails." in fn.report(opened, tmp_path / "r.html").read_text()
    run = fn.pipeline(f"{name}-p", [fn.stage("number", "anarci", **settings)]).wait(60)
    stages = fn.open_export(fn.export(run, tmp_path / "p.zip"))
    pd.testing.assert_frame_equal(stages.table, run.to_frame())
    together = fn.export([f"{name}-a", batch, run], tmp_path / "all.zip")
    assert fn.open_export(together, job=f"{name}-a").result.scores == batch.result().jobs[f"{name}-a"].scores
    pd.testing.assert_frame_equal(fn.open_export(together, job=name).table, batch.results())
    pd.testing.assert_frame_equal(fn.open_export(together, job=run.job_name).table, run.to_frame())
    for source in (f"{name}-b.fail", [f"{name}-a", f"{name}-b.fail"]):
        with pytest.raises(JobFailedError):
            fn.export(source, tmp_path / "f.zip")
    assert not (tmp_path / "f.zip").exists()


def test_a_job_is_continued_with_a_tool_that_takes_its_input(here, settings, name, monkeypatch):
    job = fn.submit("anarci", **settings, job_name=name).wait(60)
    table = job.continue_with().set_index("tool")
    assert table.loc["alphafold", ["takes", "you add"]].tolist() == ["sequence", ""]
    assert table["runs here"].tolist() == sorted(table["runs here"], reverse=True)
    written = []
    shell = type("Shell", (), {"set_next_input": staticmethod(written.append)})
    monkeypatch.setattr("IPython.core.getipython.get_ipython", lambda: shell)
    code = job.continue_with("alphafold")
    assert written == [code]
    assert f"    sequence=fn.job('{name}', profile='given').settings['sequence'],\n" in code
    with pytest.raises(ArgumentError, match="'vina' takes no file or sequence of"):
        job.continue_with("vina")


def test_a_report_on_nothing_or_on_an_unknown_job_is_refused(here, tmp_path):
    with pytest.raises(ArgumentError, match="at least one job or result"):
        fn.report([], tmp_path / "r.html")
    with pytest.raises(NotFoundError):
        fn.report("no-such-job", tmp_path / "r.html")
    assert not (tmp_path / "r.html").exists()


def test_the_handle_of_a_cell_waits_for_its_result_and_names_arguments(here, settings, name):
    job = fn.submit("anarci", **settings, job_name=name)
    assert job.result(timeout_s=60).files
    with pytest.raises(ArgumentError, match=r"Did you mean timeout_s\?"):
        job.result(timeout=60)
    with pytest.raises(ArgumentError, match="timeout_s is '5'"):
        here.jobs.submit("anarci", settings, job_name=f"{name}.sleep-5").result(timeout_s="5")


def test_the_result_of_a_form_can_be_waited_for(here, settings, name):
    form = fn.form("anarci", job_name=name, **settings)
    with pytest.raises(ArgumentError, match="no job yet"):
        form.result(timeout_s=1)
    form.submit()
    assert form.result(["settings.json"], timeout_s=60).match() == ("settings.json",)


def test_the_result_of_a_forms_batch_is_a_table(here, settings, name):
    form = fn.form("anarci", job_name=name, **settings)
    form.batch = fn.submit_batch("anarci", [settings, {**settings, "scheme": "kabat"}], batch_name=name)
    with pytest.raises(ArgumentError, match=r"form\.batch\.results\(\)"):
        form.result()


def test_no_module_of_the_package_has_the_name_of_a_function():
    """An imported module would take the place of the function in ``foldnote.notebook``."""
    modules = {module.name for module in pkgutil.iter_modules(notebook.__path__)}
    assert "submission" in modules
    assert not modules & set(notebook.__all__)
