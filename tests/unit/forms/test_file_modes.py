"""A form submits the file that it shows, for every kind of file and every way into a form, with a real service.

The working folder has files with the names of uploads and other contents.
"""

import asyncio
import json

import pytest
from engine_folder import write_probe_engine
from form_builders import label_of
from page import Page, send
from starlette.testclient import TestClient

import foldnote as fn
from foldnote import catalog
from foldnote.client import Client, inline, uploaded
from foldnote.client.inputs.file_values import LocalFile, job_file
from foldnote.errors import SettingsError
from foldnote.forms import Form, take_kept, variable
from foldnote.forms.submission.uploading import upload_files
from foldnote.service.config import ServiceConfig
from foldnote.service.http.app import create_app

URL = "http://service.test"
PDB = "ATOM      1  CA  GLU A   1      11.104  13.207  10.567  1.00 20.00           C\nEND\n"
OTHER = PDB.replace("GLU", "ALA")
MODES = {
    "upload": (uploaded("x.pdb"), "x.pdb", "upload x.pdb"),
    "folder": (uploaded("made/x.pdb"), "made/x.pdb", "x.pdb of the job or folder made"),
    "job": (job_file("made", "x.pdb"), "made/x.pdb", "x.pdb of the job made"),
    "contents": (inline(OTHER), OTHER, "pasted text"),
    "local": (LocalFile("x.pdb"), "foldnote-", "file on this computer"),
}


@pytest.fixture(scope="module")
def service(tmp_path_factory):
    folder = tmp_path_factory.mktemp("modes")
    engines = write_probe_engine(folder / "engines", ("af2bind", "align-pdbs"))
    config = ServiceConfig(
        folder / "data", rate_limit=False, engine_paths=(engines,), has_dispatcher=False, public_url=URL
    )
    app = create_app(config)
    with TestClient(app, base_url=URL) as http:
        http.headers["x-api-key"] = app.state.service.local_key
        yield http


@pytest.fixture
def client(service, tmp_path, monkeypatch):
    """Return a client in a folder whose files have the names of uploads; its list of uploads is not loaded."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "made").mkdir()
    with Client(base_url=URL, api_key=service.headers["x-api-key"], http_client=service) as made:
        monkeypatch.setattr("foldnote.notebook.connection.find_client", lambda profile: made)
        for name, folder in (("x.pdb", None), ("x.pdb", "made")):
            made.files.upload(OTHER.encode(), name, folder)
            (tmp_path / (folder or "") / name).write_text(PDB)
        yield made


def make_form(client, **values):
    return Form(catalog.tool("af2bind"), client, values={"chain": "A", **values})


def prefilled(client, value):
    return make_form(client, pdbFile=value)


def set_later(client, value):
    form = make_form(client)
    form.set(pdbFile=value)
    return form


def returned(client, value):
    return set_later(client, make_form(client, pdbFile=value).value["pdbFile"])


def told_late(client, value):
    """Load the account's uploads only after the form was filled in."""
    form = make_form(client, pdbFile=value)
    form.offer_uploads(("x.pdb", "made/x.pdb"))
    form.offer_uploads(())
    return form


WAYS = [prefilled, set_later, returned, told_late]


@pytest.mark.parametrize(
    ("mode", "way"),
    [*((mode, prefilled) for mode in MODES), *(("upload", way) for way in WAYS[1:]), ("local", returned)],
)
def test_a_form_says_and_sends_the_file_that_it_was_given(client, mode, way):
    value, wire, words = MODES[mode]
    form = way(client, value)
    assert words in label_of(form, "pdbFile")
    assert form.submit().settings["pdbFile"].startswith(wire)


WRITTEN = {
    "upload": "fn.uploaded('x.pdb')",
    "folder": "fn.uploaded('made/x.pdb')",
    "job": "fn.job('made').file('x.pdb')",
    "contents": "fn.inline(",
    "local": "fn.upload('x.pdb')",
}


@pytest.mark.parametrize("mode", MODES)
def test_the_code_of_a_form_says_the_kind_of_file(client, mode):
    assert f"pdbFile={WRITTEN[mode]}" in make_form(client, pdbFile=MODES[mode][0]).code()


@pytest.mark.parametrize("mode", ["folder", "contents"])
def test_the_code_of_a_form_is_its_job(client, mode):
    form, scope = make_form(client, pdbFile=MODES[mode][0]), {}
    exec(form.code().replace("fn.submit(", "job = fn.submit("), scope)
    assert scope["job"].job_name == form.submit().job_name


@pytest.mark.parametrize("mode", ["upload", "job"])
def test_the_form_of_a_job_has_the_files_that_were_sent(client, mode):
    job = make_form(client, pdbFile=MODES[mode][0]).submit()
    again = fn.form(fn.job(job.job_name))
    assert again.value == dict(job.settings) | again.value
    assert again.submit().settings["pdbFile"] == job.settings["pdbFile"]


@pytest.mark.parametrize("mode", ["upload", "local"])
def test_a_row_of_a_batch_has_the_file_of_the_form(client, mode):
    form = make_form(client, pdbFile=MODES[mode][0])
    form.batch_table.add_current()
    row = asyncio.run(upload_files(form, form.batch_table.settings()[0]))
    assert row["pdbFile"].startswith(MODES[mode][1])


@pytest.mark.parametrize(
    ("message", "mode"),
    [
        ({"kind": "upload", "name": "x.pdb"}, "upload"),
        ({"kind": "jobFile", "job": "made", "path": "x.pdb"}, "job"),
        ({"kind": "path", "path": "x.pdb"}, "local"),
    ],
)
def test_what_is_dropped_stays_what_it_was(client, message, mode):
    form = make_form(client)
    form.offer_uploads(("x.pdb", "made/x.pdb"))
    send(form, message | {"field": form.fields["pdbFile"].mark})
    form.offer_uploads(())
    assert MODES[mode][2] in label_of(form, "pdbFile")
    assert form.submit().settings["pdbFile"].startswith(MODES[mode][1])


def test_a_local_file_that_is_gone_is_not_taken_for_an_upload(client, tmp_path):
    form = make_form(client, pdbFile=LocalFile("x.pdb"))
    (tmp_path / "x.pdb").unlink()
    assert form.submit() is None
    assert "x.pdb does not exist on this computer." in label_of(form, "pdbFile")


def test_an_upload_and_a_local_file_with_the_same_name_are_both_offered(client):
    form = Form(catalog.tool("align-pdbs"), client)
    form.set(pdbFiles=[uploaded("x.pdb"), LocalFile("x.pdb"), inline(PDB)])
    form.fields["pdbFiles"].control.value += "\nmade/x.pdb"
    files = form.submit().settings["pdbFiles"]
    assert files[0] == "x.pdb"
    assert files[1].startswith("foldnote-")
    assert files[1].endswith("/x.pdb")
    assert (files[2], files[3]) == (PDB, files[1])


def test_a_variable_that_becomes_an_upload_makes_the_field_one(client, monkeypatch):
    from types import SimpleNamespace

    shell = SimpleNamespace(user_ns={"mine": "x.pdb"}, events=None)
    monkeypatch.setattr("IPython.core.getipython.get_ipython", lambda: shell)
    form = make_form(client, pdbFile=variable("mine"))
    assert "file on this computer" in label_of(form, "pdbFile")
    shell.user_ns["mine"] = uploaded("x.pdb")
    form.bindings.follow()
    assert form.submit().settings["pdbFile"] == "x.pdb"


def test_a_notebook_keeps_which_file_was_meant(client):
    assert "upload x.pdb" in make_form(client, pdbFile=uploaded("x.pdb"))._repr_mimebundle_()["text/plain"]
    local = make_form(client, pdbFile="x.pdb")._repr_mimebundle_()["text/plain"]
    assert "x.pdb (on this computer)" in local


def test_the_client_asks_about_a_local_file_that_a_form_gave(client):
    value = make_form(client, pdbFile="x.pdb").value
    with pytest.raises(SettingsError, match="fn.upload"):
        client.jobs.submit(catalog.tool("af2bind"), value)


def test_files_of_several_kinds_are_counted_as_what_they_are(client):
    form = Form(catalog.tool("align-pdbs"), client)
    form.set(pdbFiles=[uploaded("x.pdb"), uploaded("made/x.pdb"), job_file("made", "x.pdb"), "x.pdb"])
    assert "4 files: 1 on this computer, 2 at the service, 1 from jobs" in label_of(form, "pdbFiles")
    form.set(pdbFiles=[uploaded("x.pdb"), LocalFile("gone.pdb")])
    assert "Line 2: gone.pdb does not exist on this computer." in label_of(form, "pdbFiles")


def test_the_json_of_a_form_names_a_local_file_as_it_is_uploaded(client):
    form = make_form(client, pdbFile=LocalFile("x.pdb"))
    written = json.loads(form.json())["settings"]["pdbFile"]
    assert written == form.submit().settings["pdbFile"]


@pytest.mark.parametrize("mode", MODES)
def test_a_cell_that_runs_again_finds_its_job_and_keeps_the_kind_of_file(client, in_cell, mode):
    value = MODES[mode][0]
    in_cell("f0a1b2c3", f"{mode}-1")
    code = make_form(client, pdbFile=value).code()
    job = make_form(client, pdbFile=value).submit()
    in_cell("f0a1b2c3", f"{mode}-2")
    make_form(client)
    again = make_form(client, pdbFile=value)
    assert again.submission.job.job_name == job.job_name
    assert again.code().split("pdbFile=")[1] == code.split("pdbFile=")[1]


def test_a_jobs_file_in_a_record_is_a_jobs_file_again(client):
    form = make_form(client, pdbFile=uploaded("run-1/out.pdb"))
    client.ledger.remember("identity", "run-1", "anarci")
    take_kept(form)
    assert "out.pdb of the job run-1" in label_of(form, "pdbFile")
    assert "fn.job('run-1').file('out.pdb')" in form.code()


def test_a_cell_whose_local_file_changed_has_no_job_yet(client, in_cell, tmp_path):
    in_cell("f0a1b2c4", "1")
    make_form(client, pdbFile="x.pdb").submit()
    (tmp_path / "x.pdb").write_text(OTHER)
    in_cell("f0a1b2c4", "2")
    assert make_form(client, pdbFile="x.pdb").submission.job is None
    (tmp_path / "x.pdb").unlink()
    in_cell("f0a1b2c4", "3")
    assert make_form(client, pdbFile=LocalFile("x.pdb")).submission.job is None


def test_a_file_that_comes_under_the_name_of_an_upload_is_shown_before_it_is_sent(client, tmp_path):
    form = make_form(client, pdbFile="late.pdb")
    assert "taken as an upload" in label_of(form, "pdbFile")
    (tmp_path / "late.pdb").write_text(PDB)
    for press in (form.submission.press, form.checking.press):
        form.section.fields[0].write("late2.pdb")
        form.refresh()
        form.section.fields[0].write("late.pdb")
        press()
        assert form.submission.job is None
        assert "so nothing was sent" in form.frame.message.value
        assert "file on this computer" in label_of(form, "pdbFile")
    form.submission.press()
    assert form.submission.job.settings["pdbFile"].startswith("foldnote-")


def test_a_verdict_goes_when_only_the_file_changes(client, tmp_path):
    form = make_form(client, pdbFile="x.pdb")
    form.checking.validate()
    assert "service accepts these settings" in form.frame.message.value
    form.bindings.follow()
    assert "service accepts these settings" in form.frame.message.value
    (tmp_path / "x.pdb").write_text(OTHER + "REMARK\n")
    form.bindings.follow()
    assert "service accepts these settings" not in form.frame.message.value


def test_a_batch_is_validated_again_when_one_of_its_files_changes(client, tmp_path):
    form = make_form(client, pdbFile="x.pdb")
    form.batch_table.add_text("pdbFile\nlate.pdb\n")
    form.batch_table.add_current()
    (tmp_path / "late.pdb").write_text(PDB)
    form.batch_table.press()
    assert "has the name of an upload" in Page(form.widget).text
    form.batch_table.press()
    assert "Submit 2 jobs" in Page(form.widget).text
    (tmp_path / "x.pdb").write_text(OTHER + "REMARK\n")
    form.batch_table.press()
    assert form.batch is None
    form.batch_table.press()
    assert form.batch.record.batch_size == 2
