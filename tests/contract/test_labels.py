"""Labels: free text shown in place of the name, stored here and by services that support it, and not part of the
identity.
"""

import warnings

import pytest
from job_settings import SETTINGS
from scripted_service import answers

import foldnote as fn
from foldnote import catalog
from foldnote.errors import JobNameTakenError, SettingsError
from foldnote.forms import Form
from foldnote.lab.local_notes import Notes
from foldnote.viewers import JobCard


@pytest.fixture
def here(client, monkeypatch):
    """Connect the notebook functions to the service of these tests."""
    monkeypatch.setattr("foldnote.notebook.connection.find_client", lambda profile: client)
    return client


def test_a_label_is_stored_by_the_service_and_shown_in_place_of_the_name(here, settings, name):
    job = fn.submit("anarci", **settings, job_name=name, label="  VH of\ntrastuzumab ")
    assert (job.label, here.jobs.get(name).record.label) == ("VH of trastuzumab", "VH of trastuzumab")
    assert repr(fn.jobs(limit=1)).splitlines()[1].split()[:2] == ["label", "job"]
    assert "VH of trastuzumab" in fn.jobs(limit=1)._repr_html_()


def test_another_label_finds_the_same_job_and_relabels_it_here(here, settings, name):
    first = here.jobs.submit("anarci", settings, label="first")
    second = fn.tools.anarci(**settings, label="second")
    third = here.jobs.submit("anarci", settings, extensions={"label": "third"})
    plain = here.jobs.submit("anarci", settings)
    assert {first.job_name} == {second.job_name, third.job_name, plain.job_name}
    assert (plain.label, plain.refresh().record.label) == ("third", "first")
    for identity in here.ledger.identities(first.job_name):
        here.ledger.forget(identity)
    assert here.jobs.submit("anarci", settings, label="fourth").job_name == first.job_name
    here.jobs.submit("anarci", settings, job_name=name, label="a")
    with pytest.raises(JobNameTakenError):
        here.jobs.submit("anarci", settings | {"scheme": "kabat"}, job_name=name, label="a")


def test_batches_and_pipelines_have_labels_that_stay_here(here, settings, name):
    rows = [settings, settings | {"scheme": "kabat"}]
    batch = fn.submit_batch("anarci", rows, batch_name=name, label=" Panel\nof two ")
    assert (batch.label, batch.record.label) == ("Panel of two", "")
    assert fn.submit_batch("anarci", rows, batch_name=name).label == "Panel of two"
    assert (
        fn.submit_batch("anarci", rows, batch_name=f"{name}-p", preview=True, label="late").submit().label
        == "late"
    )
    stages = [fn.stage("number", "anarci", **settings)]
    run = fn.pipeline(f"{name}-run", stages, label="Run of one")
    assert fn.pipeline(f"{name}-run", stages).label == run.label == "Run of one"
    run.relabel("")
    assert fn.jobs()[0].label == run.label == ""
    with pytest.raises(SettingsError, match="longest allowed is 200"):
        fn.submit_batch("anarci", rows, batch_name=f"{name}-q", label="x" * 201)
    batch.finish(60)
    batch.delete()
    assert batch.label == ""


def test_a_new_job_does_not_inherit_the_label_of_an_earlier_one_of_its_name(here, settings, name):
    here.ledger.remember_label(name, "of a deleted job")
    assert here.jobs.submit("anarci", settings, job_name=name).label == ""


def test_a_service_without_labels_is_sent_none(scripted, connect):
    scripted.on("GET", "/tools", answers([{"name": "anarci"}]))
    scripted.on("POST", "/submit-job", answers("x submitted to queue."))
    client = connect()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        job = client.jobs.submit("anarci", SETTINGS, job_name="theirs", label="mine")
    assert b"mine" not in b"".join(asked.body for asked in scripted.asked)
    assert (job.label, job.record.label) == ("mine", "")
    notes = Notes(client.service)
    notes.reload()
    assert notes.find("theirs").to_wire() == {"localLabel": "mine"}
    record = {"jobName": "theirs", "type": "anarci", "settings": {}, "status": "Complete"}
    scripted.on("GET", "/jobs", answers({"jobs": [record]}))
    assert [row.record.label for row in client.jobs.list()] == ["mine"]


def test_a_card_shows_label_and_name(here, settings, name):
    job = here.jobs.submit("anarci", settings, job_name=name)
    assert "a\\u202eb" in JobCard(job.record, label="a\u202eb").bundle()["text/html"]
    bundle = JobCard(job.record, label="<b>VH</b>").bundle()
    assert bundle["text/plain"].startswith(f"<b>VH</b> [{name}] (ANARCI): ")
    assert f'<span class="fnc-name" title="{name}">&lt;b&gt;VH&lt;/b&gt;</span>' in bundle["text/html"]
    assert f'<p class="fnc-advice fnc-job">{name}</p>' in bundle["text/html"]


def test_a_form_has_a_label_and_writes_it(here, settings):
    form = Form(catalog.tool("anarci"), here, values=settings, label="first")
    proposed = form.job_name
    form.frame.label.value = " VH of  trastuzumab "
    assert "    label='VH of trastuzumab'," in form.code()
    assert form.job_name == proposed
    assert fn.form("anarci", label="again", **settings).label == "again"


@pytest.mark.parametrize(
    ("label", "extensions", "fault"),
    [
        ("x" * 201, None, "longest allowed is 200"),
        (5, None, "Give text"),
        ("a", {"label": "b"}, "Two different"),
    ],
    ids=["too long", "number", "two labels"],
)
def test_a_label_that_cannot_be_kept_is_refused(here, label, extensions, fault):
    with pytest.raises(SettingsError, match=fault):
        here.jobs.submit("anarci", SETTINGS, label=label, extensions=extensions)


def test_a_setting_called_label_is_the_setting(here, settings):
    schema = {"type": "object", "properties": {"label": {"type": "string", "title": "Label of a fold"}}}
    tool = catalog.tool("anarci").model_copy(update={"settings_schema": schema})
    form = fn.form(tool, label="x")
    assert (form.value, form.label) == ({"label": "x"}, "")
