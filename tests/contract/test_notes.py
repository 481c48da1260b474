"""Notes and tags on jobs, stored here and shown by card, panel and report; and the purge of old jobs."""

from datetime import timedelta

import pytest

import foldnote as fn
from foldnote.cell_outputs import ResultSlot
from foldnote.errors import ArgumentError, ConfigurationError
from foldnote.lab.local_notes import EMPTY_NOTE, Notes
from foldnote.notebook.live_outputs import make_card
from foldnote.viewers.card.card_html import CardNote


@pytest.fixture
def here(client, monkeypatch):
    """Connect the notebook functions to the service of these tests."""
    monkeypatch.setattr("foldnote.notebook.connection.find_client", lambda profile: client)
    return client


def read_notes(client):
    notes = Notes(client.service)
    notes.reload()
    return notes


def test_a_note_and_tags_are_found_again_and_shown_by_the_panel(here, settings, name):
    job = here.jobs.submit("anarci", settings, job_name=name)
    job.note(" Repeat with AHo.  \nAsk Ada. ")
    job.tag("lead  series", "b")
    job.untag("b", "never given")
    again = here.jobs.get(name)
    assert (again.notes, again.tags) == ("Repeat with AHo.\nAsk Ada.", ("lead series",))
    wire = {"tags": ["lead series"], "note": "Repeat with AHo.\nAsk Ada."}
    assert read_notes(here).find(name).to_wire() == wire
    job.note("")
    assert here.jobs.get(name).notes == ""
    with pytest.raises(ConfigurationError, match="at most 5,000 characters; this one has 5,001"):
        job.note("x" * 5001)


def test_notes_and_tags_that_are_not_text_are_refused_with_a_message(here, settings, name):
    job = fn.submit("anarci", **settings, job_name=name)
    with pytest.raises(ConfigurationError, match="A note is text, not int"):
        job.note(5)
    with pytest.raises(
        ConfigurationError, match=r"A tag is text, not list; several are given as tag\('a', 'b'\)"
    ):
        job.tag(["a", "b"])


def test_a_card_shows_them_as_they_change(here, settings, name):
    job = fn.submit("anarci", **settings, job_name=name)
    job.tag("<lead>")
    card = make_card(job, ResultSlot())
    card.annotate(CardNote("first line\nsecond <line>", job.tags))
    bundle = card.bundle()
    assert "Tags: <lead>\nfirst line\nsecond <line>" in bundle["text/plain"]
    assert '<span class="fnc-tag">&lt;lead&gt;</span>' in bundle["text/html"]
    assert '<p class="fnc-note">first line\nsecond &lt;line&gt;</p>' in bundle["text/html"]


def test_a_report_has_label_note_and_tags(here, settings, name, tmp_path):
    job = here.jobs.submit("anarci", settings, job_name=name, label="VH of trastuzumab").wait(60)
    job.note("For the meeting.")
    job.tag("lead")
    page = fn.report(job, tmp_path / "r.html").read_text()
    assert "<h2>VH of trastuzumab</h2>" in page
    assert "Tags: lead" in page
    assert "For the meeting." in page


def test_a_name_that_is_free_again_has_neither(here, settings, name):
    job = here.jobs.submit("anarci", settings, job_name=name).wait(60)
    job.note("old")
    job.tag("old")
    job.delete()
    assert read_notes(here).find(name) == EMPTY_NOTE


def test_a_new_job_has_not_the_note_on_one_that_was_deleted_elsewhere(here, http, key, settings, name):
    batch = here.batches.submit("anarci", [settings], name, [f"{name}-1"])
    for job in (here.jobs.submit("anarci", settings, job_name=f"{name}-2"), batch.wait(60).subjobs()[0]):
        job.note("old")
        job.tag("old")
        assert here.jobs.get(job.job_name).notes == "old"
    for old in (f"{name}-2", name):
        here.jobs.get(old).wait(60)
        http.request("DELETE", "/delete-job", json={"jobName": old}, headers={"x-api-key": key})
    here.batches.submit("anarci", [settings | {"scheme": "kabat"}], f"{name}-b", [f"{name}-1"])
    here.jobs.submit("anarci", settings | {"scheme": "kabat"}, job_name=f"{name}-2")
    notes = read_notes(here)
    assert [notes.find(f"{name}-{number}") for number in (1, 2)] == [EMPTY_NOTE, EMPTY_NOTE]
    here.jobs.get(f"{name}-2").note("new")
    assert here.jobs.submit("anarci", settings | {"scheme": "kabat"}, job_name=f"{name}-2").notes == "new"


def test_a_purge_shows_asks_and_leaves_what_runs(here, settings, name, monkeypatch):
    ended = here.jobs.submit("anarci", settings, job_name=name).wait(60)
    running = here.jobs.submit("anarci", settings, job_name=f"{name}.sleep-60")
    assert list(here.jobs.list_older("1h")) == []
    assert fn.purge("1h") == []
    with pytest.raises(ArgumentError, match="has not ended"):
        here.jobs.purge([running, ended])
    monkeypatch.setattr(
        "foldnote.notebook.connection.find_client", lambda profile: type("Old", (), {"jobs": Jobs(here.jobs)})
    )
    asked = []
    monkeypatch.setattr("builtins.input", lambda question: asked.append(question) or "n")
    with pytest.raises(ArgumentError, match=r"^Nothing was deleted\.$"):
        fn.purge("30d")
    assert name in asked[0]
    assert running.job_name not in asked[0]
    monkeypatch.setattr("builtins.input", lambda question: "y")
    assert name in fn.purge("30d")
    assert name not in [job.job_name for job in here.jobs.list()]
    running.stop()


class Jobs:
    """The jobs of a service a month later."""

    def __init__(self, jobs):
        self._jobs, self.purge = jobs, jobs.purge

    def list_older(self, age):
        assert age == "30d"
        return self._jobs.list_older(timedelta(0))


@pytest.mark.parametrize("age", ["30", "d", "-1d", "1e9d", "", None], ids=str)
def test_what_is_not_an_age_is_refused(here, age):
    with pytest.raises(ArgumentError):
        fn.purge(age)
