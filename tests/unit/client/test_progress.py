"""The progress bar: updated often, drawn rarely, in a terminal, a file or a cell."""

import io

import pytest

from foldnote.client.core.progress import (
    Bar,
    Cell,
    JobGroupProgress,
    Lines,
    Terminal,
    track_bytes,
    track_jobs,
)
from foldnote.models import read_job


class Clock:
    """A clock that the test advances."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


def record(name, status="Running", **more):
    return read_job({"jobName": name, "type": "anarci", "status": status} | more)


@pytest.fixture
def clock():
    return Clock()


def test_what_is_over_soon_shows_nothing(clock):
    said = io.StringIO()
    bar = Bar("a.zip", Terminal(said), clock)
    bar.update(0.5, "half")
    clock.now = 0.4
    bar.update(1.0, "all")
    bar.close()
    assert said.getvalue() == ""


def test_a_terminal_has_one_line_that_ends_with_the_last_state(clock):
    said = io.StringIO()
    bar = Bar("a.zip", Terminal(said), clock)
    for clock.now in (0.6, 0.61, 0.62, 61.0):
        bar.update(clock.now / 61, f"{clock.now:g} of 61")
    bar.close()
    pictures = said.getvalue().split("\r")[1:]
    assert len(pictures) == 3
    assert pictures[0].endswith("1%  a.zip · 0.6 of 61 · under 1 s")
    assert pictures[-1].endswith("100%  a.zip · 61 of 61 · 1 min 1 s\n")


def test_a_log_file_gets_a_line_now_and_then(clock):
    said = io.StringIO()
    bar = Bar("a", Lines(said), clock)
    for tenth in range(10, 400):
        clock.now = tenth / 10
        bar.update(None, "Running")
    bar.close()
    assert said.getvalue().splitlines() == [f"a · Running · {time} s" for time in (1, 16, 31, 39)]


def test_a_cell_is_renewed_in_place(clock, monkeypatch):
    shown = []

    class Output:
        def update(self, bundle, raw):
            shown.append(bundle)

    def display(bundle, raw, display_id):
        shown.append(bundle)
        return Output()

    monkeypatch.setattr("IPython.display.display", display)
    bar = Bar("<a>", Cell(), clock)
    for clock.now in (1.0, 2.0):
        bar.update(clock.now / 2, "on its way")
    assert 'value="0.5000"' in shown[0]["text/html"]
    assert "&lt;a&gt;" in shown[1]["text/html"]
    assert shown[1]["text/plain"] == "<a> · on its way · 2 s"
    bar.close()
    assert shown[-1] == {
        "text/plain": "<a> · on its way · 2 s",
        "text/html": "<div>&lt;a&gt; · on its way · 2 s</div>",
    }
    bar.update(0.45, "on its way")
    bar.close()
    assert shown[-1]["text/plain"] == "Left at 45%: <a> · on its way · 2 s"


def test_one_job_is_reported_in_its_own_words():
    group = JobGroupProgress(["a"])
    assert group.update(record("a", progress=0.25, message="Folding")) == (0.25, "Running: Folding")
    assert group.update(record("a", "Complete")) == (1.0, "Complete")


def test_many_jobs_are_counted():
    group = JobGroupProgress(["a", "b", "c", "d"])
    group.update(record("a", "Complete"))
    group.update(record("b", "Stopped", error="It broke."))
    assert group.update(record("c", progress=0.5)) == (0.625, "1 complete, 1 running, 1 failed")


def test_a_batch_is_described_by_its_own_state_and_its_jobs():
    parent = {"type": "batch", "batchStatus": "Aggregating", "batchSize": 4, "statuses": {"Complete": 4}}
    share, words = JobGroupProgress(["b"]).update(record("b", "Complete", **parent))
    assert (share, words) == (1.0, "Aggregating, 4 of 4 jobs done")


def test_who_waits_is_reported_beside_the_bar(capsys):
    told = []
    with track_jobs(True, ["a"], told.append) as note:
        note(record("a"))
    assert [job.job_name for job in told] == ["a"]
    assert capsys.readouterr().out == ""


def test_ones_own_meter_is_used_as_it_is():
    told = []
    with track_bytes(lambda done, total: told.append((done, total)), "a") as meter:
        meter(1, None)
    assert told == [(1, None)]
