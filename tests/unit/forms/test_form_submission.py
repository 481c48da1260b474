"""Submit from a form to the real service, and find the job again when the cell runs again."""

import asyncio
import logging
import threading
from html import unescape

import httpx
import ipywidgets as widgets
import pytest
from engine_folder import write_probe_engine
from form_builders import label_of, make_tool
from page import Page, classes_of
from starlette.testclient import TestClient

from foldnote import catalog
from foldnote.client import AsyncClient, Client
from foldnote.forms import Form, cell_key
from foldnote.forms.submission.uploading import upload_files
from foldnote.service.config import ServiceConfig
from foldnote.service.http.app import create_app

URL = "http://service.test"
ABB = {"heavy": "EVQLVESGGGLVQPGG", "light": "DIQMTQSPSSLSASVG"}
PDB = "ATOM      1  CA  GLU A   1      11.104  13.207  10.567  1.00 20.00           C\nEND\n"


@pytest.fixture
def app(tmp_path):
    """Start a service whose jobs stay in its queue."""
    engines = write_probe_engine(tmp_path / "engines", ("abodybuilder", "af2bind"))
    config = ServiceConfig(
        tmp_path / "data", rate_limit=False, engine_paths=(engines,), has_dispatcher=False, public_url=URL
    )
    application = create_app(config)
    with TestClient(application, base_url=URL):
        yield application


@pytest.fixture
def client(app):
    http_client = TestClient(app, base_url=URL)
    with Client(base_url=URL, api_key=app.state.service.local_key, http_client=http_client) as made:
        yield made


def make_form(client, tool="abodybuilder", **more):
    return Form(catalog.tool(tool), client, **more)


def names_of(client):
    return [job.job_name for job in client.jobs.list()]


def test_submit_sends_the_job_once_and_notifies_listeners(client):
    told = []
    form = make_form(client, values=ABB, on_submit=told.append)
    job = form.submit()
    assert told == [job]
    assert names_of(client) == [job.job_name] == [form.job_name]
    assert f"Submitted as {job.job_name}." in form.frame.message.value
    assert "foldnote-busy" not in classes_of(form.frame.submit)


def test_a_second_click_with_the_same_settings_makes_no_second_job(client):
    form = make_form(client, values=ABB)
    form.frame.submit.click()
    form.frame.submit.click()
    assert len(names_of(client)) == 1
    assert "Nothing was sent again" in form.frame.message.value


def test_a_form_with_problems_sends_nothing(client):
    form = make_form(client, values={"heavy": "EVQ1"})
    assert form.submit() is None
    assert names_of(client) == []
    assert form.frame.attention.description == "2 fields need attention"


def test_a_taken_name_is_reported_at_the_name_and_can_be_changed(client):
    make_form(client, values=ABB, job_name="fv").submit()
    form = make_form(client, values=ABB | {"light": "DIQ"}, job_name="fv")
    assert form.submit() is None
    assert "belongs to another job" in form.frame.job_name.description
    form.frame.job_name.value = "fv-2"
    assert "fn-error" not in form.frame.job_name.description
    assert form.submit().job_name == "fv-2"


def test_the_verdict_of_the_service_is_shown_at_its_field_until_it_is_changed(client):
    form = make_form(client, "af2bind", values={"pdbFile": "none.pdb", "chain": "A"})
    assert form.submit() is None
    assert "neither an upload" in label_of(form, "pdbFile")
    assert "Choose the file, paste its contents" in label_of(form, "pdbFile")
    assert "see the marked field" in form.frame.message.value
    form.fields["pdbFile"].control.value = "other.pdb"
    assert "fn-error" not in label_of(form, "pdbFile")


def test_a_file_of_this_computer_is_uploaded_under_a_name_of_its_contents(client, tmp_path):
    path = tmp_path / "target.pdb"
    path.write_text(PDB)
    form = make_form(client, "af2bind", values={"pdbFile": str(path), "chain": "A"})
    first = form.submit()
    assert first.settings["pdbFile"].startswith("foldnote-")
    assert first.settings["pdbFile"].endswith("/target.pdb")
    assert form.submit().job_name == first.job_name
    path.write_text(PDB.replace("GLU", "ALA"))
    assert form.submit().settings["pdbFile"] != first.settings["pdbFile"]


def test_an_unreachable_service_is_reported_and_the_form_stays_usable(monkeypatch):
    monkeypatch.setattr("foldnote.client.core.transport.time.sleep", lambda _seconds: None)

    def refuse(request):
        raise httpx.ConnectError("refused", request=request)

    http_client = httpx.Client(transport=httpx.MockTransport(refuse))
    with Client(base_url=URL, api_key="k", http_client=http_client) as client:
        form = make_form(client, values=ABB)
        assert form.submit() is None
    assert 'role="alert"' in form.frame.message.value
    assert "Submit again when the service answers" in form.frame.message.value
    assert "foldnote-busy" not in classes_of(form.frame.submit)


def test_a_fault_of_ours_in_a_click_is_shown_and_logged(client, caplog):
    def fail(_job):
        raise RuntimeError("the hook broke")

    form = make_form(client, values=ABB, on_submit=fail)
    with caplog.at_level(logging.ERROR, "foldnote.forms"):
        form.frame.submit.click()
    assert "the hook broke" in form.frame.message.value
    assert "the hook broke" in caplog.text


def test_without_a_client_submit_says_so():
    form = Form(catalog.tool("abodybuilder"), values=ABB)
    form.frame.submit.click()
    assert "not connected to a service" in form.frame.message.value


async def test_in_a_running_loop_the_button_is_off_while_sending_and_a_double_click_sends_once(app):
    transport = httpx.ASGITransport(app)
    key = app.state.service.local_key
    async with httpx.AsyncClient(transport=transport, base_url=URL) as http_client:
        client = AsyncClient(base_url=URL, api_key=key, http_client=http_client)
        told = []
        form = make_form(client, values=ABB, on_submit=told.append)
        task = form.submit()
        assert "foldnote-busy" in classes_of(form.frame.submit)
        assert form.frame.submit.description == "Sending…"
        assert form.submit() is None
        job = await asyncio.wait_for(task, 20)
        assert told == [job]
        assert len(await client.jobs.list()) == 1
        assert form.frame.submit.description == "Submit"


async def test_a_click_that_overtakes_the_last_letters_waits_for_them(app):
    transport = httpx.ASGITransport(app)
    async with httpx.AsyncClient(transport=transport, base_url=URL) as http_client:
        client = AsyncClient(base_url=URL, api_key=app.state.service.local_key, http_client=http_client)
        told = []
        form = make_form(client, values=ABB, on_submit=told.append)
        form.frame.job_name.value = "hal"
        form.frame.submit.click()
        form.frame.submit.click()
        form.frame.job_name.value = "half-typed"
        async with asyncio.timeout(120):
            while not told:
                await asyncio.sleep(0.02)
        assert [job.job_name for job in (await client.jobs.list())] == ["half-typed"]


def test_a_stopped_job_is_run_again_when_it_is_submitted_again(client):
    form = make_form(client, values=ABB, job_name="fv")
    form.submit().stop()
    assert form.submit().job_name == "fv-2"
    assert sorted(names_of(client)) == ["fv", "fv-2"]


async def test_in_a_notebook_a_file_field_offers_the_uploads_of_the_account(app):
    transport = httpx.ASGITransport(app)
    async with httpx.AsyncClient(transport=transport, base_url=URL) as http_client:
        client = AsyncClient(base_url=URL, api_key=app.state.service.local_key, http_client=http_client)
        await client.files.upload(PDB.encode(), "kept.pdb")
        form = make_form(client, "af2bind")
        for _ in range(200):
            if form.known_uploads():
                break
            await asyncio.sleep(0.02)
        assert "kept.pdb" in form.fields["pdbFile"].control.options
        form.fields["pdbFile"].control.value = "kept.pdb"
        assert "upload kept.pdb" in label_of(form, "pdbFile")


async def test_with_a_blocking_client_the_job_is_there_when_the_cell_is_done(client, in_cell):
    in_cell("cell-a", 1)
    await make_form(client, values=ABB, job_name="mine").submit()
    in_cell("cell-a", 2)
    told = []
    form = make_form(client, on_attach=told.append)
    assert [job.job_name for job in told] == ["mine"]
    assert form.value == ABB
    assert "Submitted as mine." in form._repr_mimebundle_()["text/html"]


def test_running_the_cell_again_shows_its_job_and_sends_nothing(client, in_cell):
    in_cell("cell-a", 1)
    job = make_form(client, values=ABB, job_name="mine").submit()
    in_cell("cell-a", 2)
    told = []
    form = make_form(client, on_attach=told.append)
    assert [found.job_name for found in told] == [job.job_name]
    assert form.value == ABB
    assert "Nothing was sent" in form.frame.message.value
    assert names_of(client) == ["mine"]


def test_a_cell_with_other_values_than_its_job_starts_without_the_job(client, in_cell):
    in_cell("cell-a", 1)
    make_form(client, values=ABB).submit()
    in_cell("cell-a", 2)
    told = []
    form = make_form(client, values={"heavy": "EVQ"}, on_attach=told.append)
    assert told == []
    assert form.value == {"heavy": "EVQ"}


def test_another_cell_or_a_deleted_job_starts_without_the_job(client, in_cell):
    in_cell("cell-a", 1)
    job = make_form(client, values=ABB).submit()
    in_cell("cell-b", 2)
    assert make_form(client).value == {}
    client.jobs.stop(job.job_name)
    client.jobs.delete(job.job_name)
    in_cell("cell-a", 3)
    assert make_form(client).value == {}


def test_the_key_names_notebook_cell_and_tool_and_tells_two_forms_of_one_run_apart(in_cell):
    in_cell("cell-a", 1)
    first, second = cell_key("anarci"), cell_key("anarci")
    assert first.exact == "study/fv.ipynb#cell-a/anarci"
    assert second.exact == f"{first.exact}#2"
    in_cell("cell-a", 2)
    assert cell_key("anarci") == first


def test_a_renamed_notebook_finds_the_job_of_its_cell(client, in_cell, monkeypatch):
    in_cell("3f2b8c1e-6d0a-4c57-9a51-0d7c3c0f6b11", 1)
    make_form(client, values=ABB, job_name="mine").submit()
    monkeypatch.setattr("foldnote.forms.submission.cell._notebook_path", lambda: "study/renamed.ipynb")
    in_cell("3f2b8c1e-6d0a-4c57-9a51-0d7c3c0f6b11", 2)
    assert make_form(client).value == ABB


def test_an_id_set_by_the_user_applies_to_a_cell_of_this_notebook_only(in_cell):
    in_cell("intro", 1)
    assert cell_key("anarci").moved is None


def test_there_is_no_key_outside_a_cell():
    assert cell_key("anarci") is None


def test_validate_shows_the_services_verdict_at_the_field_that_it_names_and_submits_nothing(client):
    form = make_form(client, "af2bind", values={"pdbFile": "none.pdb", "chain": "A"})
    form.frame.validate.click()
    assert "neither an upload" in label_of(form, "pdbFile")
    form = make_form(client, values=ABB)
    form.frame.validate.click()
    assert "service accepts these settings" in form.frame.message.value
    assert names_of(client) == []


def test_a_batch_is_priced_first_and_submitted_by_a_second_press(client):
    form = make_form(client, values=ABB)
    form.batch_table.add_text("heavy\nEVQLVESGGGLVQP\nEVQLVESGGGLVQPGGSL\n")
    form.frame.add_row.click()
    form.batch_table.press()
    assert names_of(client) == []
    assert "It counts as 3 jobs" in Page(form.widget).text
    assert Page(form.widget).find(widgets.Button, "Submit 3 jobs")
    form.batch_table.press()
    assert names_of(client) == [form.batch.job_name]
    assert len(client.batches.get(form.batch.job_name).subjobs()) == 3


def test_a_batch_that_changed_after_its_price_is_priced_again(client):
    form = make_form(client, values=ABB)
    form.batch_table.add_text("heavy\nEVQLVESGGGLVQP\n")
    form.frame.add_row.click()
    form.batch_table.press()
    form.set(light="DIQMTQ")
    assert Page(form.widget).find(widgets.Button, "Validate and estimate 2 jobs")


async def test_a_taken_name_is_reported_once_typing_has_ended(app, client):
    await asyncio.to_thread(client.jobs.submit, "abodybuilder", ABB, job_name="fv")
    form = make_form(client, values=ABB | {"light": "DIQ"})
    form.frame.job_name.value = "fv"
    async with asyncio.timeout(120):
        while not form.name_error:
            await asyncio.sleep(0.05)
    assert "There is already a job fv" in form.frame.job_name.description
    form.frame.job_name.value = "fv-2"
    assert "already" not in form.frame.job_name.description


async def test_the_cost_of_a_job_is_shown_before_submission(client):
    form = make_form(client, values=ABB)
    assert "uses 1 job of your allowance" in form.frame.message.value
    async with asyncio.timeout(120):
        while "not known yet" not in form.frame.message.value:
            await asyncio.sleep(0.05)


def test_files_inside_objects_and_rows_are_also_uploaded(client, tmp_path):
    path = tmp_path / "target.pdb"
    path.write_text(PDB)
    file = {"type": "string", "format": "binary"}
    rows = {
        "type": "array",
        "items": {"type": "object", "properties": {"pdb": file, "n": {"type": "integer"}}},
    }
    tool = make_tool({"rows": rows, "one": {"type": "object", "properties": {"pdb": file}}})
    value = {"rows": [{"pdb": str(path), "n": 1}], "one": {"pdb": str(path)}}
    form = Form(tool, client, values=value)
    sent = asyncio.run(upload_files(form, form.value))
    assert sent["rows"][0] == {"pdb": sent["one"]["pdb"], "n": 1}
    assert sent["one"]["pdb"].endswith("target.pdb")
    assert not sent["one"]["pdb"].startswith("/")


GOOD_VERDICT = "service accepts these settings"


@pytest.mark.parametrize("edit", ["type", "set", "reset", "rename"])
def test_a_verdict_goes_when_the_values_change(client, edit):
    form = make_form(client, values=ABB)
    form.frame.validate.click()
    assert GOOD_VERDICT in form.frame.message.value
    {
        "type": lambda: setattr(form.fields["heavy"].widget, "value", "EVQ1"),
        "set": lambda: form.set(heavy="EVQLVESGG"),
        "reset": form.reset,
        "rename": lambda: setattr(form.frame.job_name, "value", "other"),
    }[edit]()
    assert GOOD_VERDICT not in form.frame.message.value


async def test_a_verdict_that_comes_after_an_edit_is_dropped(client):
    form = make_form(client, values=ABB)
    verdict = form.checking.validate()
    await asyncio.sleep(0)  # the settings are being sent
    form.set(heavy="EVQLVESGG")
    await verdict
    assert GOOD_VERDICT not in form.frame.message.value
    assert "settings changed during validation" in form.frame.message.value


async def test_a_refusal_that_comes_after_an_edit_marks_no_field(client):
    form = make_form(client, "af2bind", values={"pdbFile": "none.pdb", "chain": "A"})
    sending = form.submit()
    await asyncio.sleep(0)  # the settings are being sent
    form.fields["pdbFile"].control.value = "other.pdb"
    await sending
    assert "fn-error" not in label_of(form, "pdbFile")
    assert "none.pdb" in form.frame.message.value


def test_a_verdict_on_the_rows_goes_when_the_form_changes(client):
    form = make_form(client, values=ABB)
    form.batch_table.add_text("heavy\nEVQLVESGGGLVQP\n")
    form.frame.add_row.click()
    form.batch_table.press()
    assert "It counts as 2 jobs" in Page(form.widget).text
    form.set(light="DIQMTQ")
    assert "It counts as 2 jobs" not in Page(form.widget).text
    assert Page(form.widget).find(widgets.Button, "Validate and estimate 2 jobs")


def test_a_csv_of_id_and_vh_is_a_batch_whose_jobs_have_these_names(client):
    form = Form(catalog.tool("abodybuilder"), client, values=ABB)
    form.frame.add_row.click()
    Page(form.widget).press("Remove row")
    assert form.batch_table.add_text(
        "id,VH,VL\nmAb 1,EVQLVESGGGLVQP,DIQMTQ\nmAb2,EVQLVESGGGLVQPGGSL,DIQMTQ\n"
    )
    assert " mAb-1 " in Page(form.widget).text
    form.batch_table.press()
    form.batch_table.press()
    assert {job.job_name for job in form.batch.subjobs()} == {"mAb-1", "mAb2"}


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("heavy,VH\nEVQ,EVQ\n", "'heavy' is used for Heavy chain; 'VH' could be meant as well and is kept."),
        ("heavyy,VL\nEVQ,DIQ\n", "'heavyy' is kept. Did you mean heavy?"),
        ("VH,VH\nEVQ,DIQ\n", "Several columns are named 'VH'; column 2 is called 'VH (2)' here."),
    ],
    ids=["two columns for one setting", "a misspelt setting", "one name twice"],
)
def test_the_choice_between_columns_is_reported(client, text, sentence):
    form = make_form(client, values=ABB)
    assert form.batch_table.add_text(text)
    assert sentence in unescape(Page(form.widget).text)


async def test_what_a_table_says_beyond_settings_comes_back_beside_the_results(client):
    form = make_form(client, values=ABB)
    form.batch_table.add_text("id,Seq1,KD_nM\nmAb 1,EVQLVESGGGLVQP,0.5\nmAb 2,EVQLVESGGGLVQPGG,12\n")
    form.batch_table.batch.remap("Seq1", "heavy")
    form.batch_table.forget_preview()
    await form.batch_table.press()
    await form.batch_table.press()
    again = await asyncio.to_thread(client.batches.get, form.batch.job_name)
    for batch in (form.batch, again):
        results = await asyncio.to_thread(batch.results)
        assert list(results["id"]) == ["mAb 1", "mAb 2"]
        assert list(results["KD_nM"]) == [0.5, 12]
        frame = await asyncio.to_thread(batch.to_frame)
        assert list(frame["input.KD_nM"]) == [0.5, 12]
        assert "input.Seq1" not in frame
    assert "KD_nM" not in str([job.record for job in form.batch.subjobs()])


@pytest.mark.parametrize("has_file", [False, True])
def test_the_proposed_name_is_the_submitted_one(client, tmp_path, has_file):
    path = tmp_path / "target.pdb"
    path.write_text(PDB)
    given = ("af2bind", {"pdbFile": str(path), "chain": "A"}) if has_file else ("abodybuilder", ABB)
    form = make_form(client, given[0], values=given[1])
    proposed = form.frame.job_name.placeholder
    assert form.submit().job_name == proposed == form.job_name


def test_an_incomplete_form_proposes_no_name_yet(client):
    form = make_form(client)
    assert form.frame.job_name.placeholder == "derived from the settings"
    form.set(ABB)
    assert form.frame.job_name.placeholder == form.job_name


def test_a_name_with_spaces_is_reported_with_the_name_to_write(client):
    form = make_form(client, values=ABB, job_name="anti HER2 (v2)")
    assert "Write &#x27;anti-HER2-v2&#x27;." in form.frame.job_name.description


async def test_the_name_of_the_job_that_is_being_submitted_is_not_taken(client, monkeypatch):
    """The name is checked half a second after typing, possibly after the job was submitted."""
    looked_up = threading.Event()
    submit, get = client.jobs.submit, client.jobs.get

    def submit_slowly(*args, **more):
        job = submit(*args, **more)
        assert looked_up.wait(120)
        return job

    def look_up(name):
        try:
            return get(name)
        finally:
            looked_up.set()

    monkeypatch.setattr(client.jobs, "submit", submit_slowly)
    monkeypatch.setattr(client.jobs, "get", look_up)
    form = make_form(client, values=ABB)
    form.frame.job_name.value = "fv"
    assert (await form.submit()).job_name == "fv"
    assert form.name_error is None
