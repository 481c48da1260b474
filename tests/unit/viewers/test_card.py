"""A card follows its job, survives an unreachable service, and ends with the job."""

import asyncio
import gc
import re
import weakref
from datetime import UTC, datetime, timedelta

import ipywidgets as widgets
import pytest

from foldnote.errors import ArchiveError, ServiceUnreachableError
from foldnote.models import BatchStatus, Job, JobStatus
from foldnote.models.job import StatusCounts
from foldnote.viewers import JobCard
from foldnote.viewers.card import watch
from foldnote.viewers.card.card_html import write_card, write_log
from foldnote.viewers.card.output import ProgressOutput
from foldnote.viewers.card.watch import find_watcher

NOW = datetime.now(UTC)


def make_job(name="fv", status=JobStatus.RUNNING, **parts):
    return Job(job_name=name, type="abodybuilder", status=status, created=NOW - timedelta(seconds=9), **parts)


class ScriptedJobs:
    """A scripted source: each response is a record or an error, and the last one is repeated."""

    def __init__(self, *answers, log="line\n"):
        self.answers, self.asked, self.stopped, self.written = list(answers), [], [], log

    async def poll(self, names, *, afresh=()):
        self.asked.append(set(names))
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, Exception):
            raise answer
        return {name: answer and answer.model_copy(update={"job_name": name}) for name in names}

    async def stop(self, name):
        self.stopped.append(name)

    async def logs(self, name):
        return self.written


@pytest.fixture(autouse=True)
def _quick(monkeypatch):
    monkeypatch.setattr(watch, "FASTEST_S", 0.01)
    monkeypatch.setattr(watch, "OUTAGE_S", 0.01)


class Seen:
    """What a user sees of a card, and the buttons that can be clicked."""

    def __init__(self, card):
        self.face, self.buttons, self.log, self.result, self.spoken, *self.below = card.children

    @property
    def text(self):
        return self.face.value

    def button(self, icon):
        return next(button for button in self.buttons.children if button.icon == icon)

    def has(self, icon):
        return self.button(icon).layout.display != "none"


async def until(condition):
    async with asyncio.timeout(120):
        while not condition():
            await asyncio.sleep(0.01)


async def test_a_card_goes_from_queue_to_complete_and_calls_back_once():
    source = ScriptedJobs(make_job(progress=0.4, message="Refining"), make_job(status=JobStatus.COMPLETE))
    ended = []
    card = JobCard(make_job(status=JobStatus.IN_QUEUE), source, on_final=ended.append)
    assert "In Queue" in Seen(card).text
    assert Seen(card).spoken.get_state()["_ended"] == ""

    await until(lambda: ended)
    assert Seen(card).spoken.get_state()["_ended"] == ended[0].job_name
    asked = len(source.asked)
    await asyncio.sleep(0.05)

    assert [job.status for job in ended] == [JobStatus.COMPLETE]
    assert len(source.asked) == asked
    assert "Complete" in Seen(card).text
    assert not Seen(card).has("stop")


async def test_one_task_asks_for_all_cards_of_a_source():
    source = ScriptedJobs(make_job())
    cards = [JobCard(make_job(name), source) for name in ("a", "b", "c")]

    await until(lambda: source.asked == [{"a", "b", "c"}])
    tasks = [task for task in asyncio.all_tasks() if task.get_name() == "foldnote job cards"]

    assert len(tasks) == 1
    for card in cards:
        card.close()
    find_watcher(source).wake(cards[0].watched)
    await until(lambda: tasks[0].done())


async def test_neither_the_service_nor_the_loop_of_a_closed_card_is_kept():
    kept = []

    async def show():
        source = ScriptedJobs(make_job(), make_job(status=JobStatus.COMPLETE))
        kept.extend(map(weakref.ref, (source, asyncio.get_running_loop())))
        card = JobCard(make_job(), source)
        await until(lambda: card.job.is_final)
        card.close()

    await asyncio.to_thread(asyncio.run, show())
    gc.collect()
    assert [each() for each in kept] == [None, None]


async def test_a_click_handled_in_another_thread_lets_the_card_ask_at_once(monkeypatch):
    monkeypatch.setattr(watch, "FASTEST_S", 60)
    monkeypatch.setattr(watch, "SLOWEST_S", 60)
    source = ScriptedJobs(make_job(), make_job(status=JobStatus.STOPPED))
    card = JobCard(make_job(), source)
    await until(lambda: source.asked)

    async def click_twice():
        for _ in range(2):
            Seen(card).button("stop").click()
        await until(lambda: source.stopped)
        await asyncio.sleep(0.05)

    await asyncio.to_thread(asyncio.run, click_twice())
    await until(lambda: card.job.is_final)
    assert len(source.asked) == 2


async def test_an_outage_is_reported_with_the_last_answer_and_survived():
    away = ServiceUnreachableError("The service does not answer.")
    source = ScriptedJobs(make_job(progress=0.1), away, away, make_job(status=JobStatus.COMPLETE))
    seen = []
    card = JobCard(make_job(), source)
    Seen(card).face.observe(lambda change: seen.append(change["new"]), names="value")

    await until(lambda: card.job.is_final)

    told = [html for html in seen if "No update" in html]
    assert told
    assert "last answered at" in told[0]
    assert "No update" not in Seen(card).text


async def test_a_deleted_job_is_not_asked_for_again():
    source = ScriptedJobs(None)
    card = JobCard(make_job(), source)

    await until(lambda: "was deleted" in Seen(card).text)
    asked = len(source.asked)
    await asyncio.sleep(0.05)
    assert len(source.asked) == asked


async def test_stopping_takes_two_clicks():
    source = ScriptedJobs(make_job())
    card = JobCard(make_job(), source)

    Seen(card).button("stop").click()
    await asyncio.sleep(0.02)
    assert source.stopped == []
    assert Seen(card).button("stop").description == "Stop it now?"
    Seen(card).button("stop").click()
    await until(lambda: source.stopped == ["fv"])
    card.close()


async def test_the_log_is_escaped_and_folds_away():
    card = JobCard(make_job(), ScriptedJobs(make_job(), log="<b>bold</b>\n"))

    Seen(card).button("list").value = True
    await until(lambda: "&lt;b&gt;" in Seen(card).log.value)
    Seen(card).button("list").value = False
    assert Seen(card).log.value == ""
    card.close()


async def test_a_callback_that_fails_does_not_end_the_others():
    source = ScriptedJobs(make_job(status=JobStatus.COMPLETE))
    ended = []
    card = JobCard(make_job(), source, on_final=lambda job: 1 / 0)
    card.on_final(ended.append)

    await until(lambda: ended)
    assert [job.status for job in ended] == [JobStatus.COMPLETE]


def test_without_a_loop_the_card_shows_what_it_was_given():
    card = JobCard(make_job(progress=0.5, message="Predicting"), ScriptedJobs(make_job()))

    assert "50 %" in Seen(card).text
    assert "Predicting" in Seen(card).text
    assert card.bundle()["text/plain"] == "fv (AbodyBuilder): Running: Predicting"


def test_a_job_that_is_over_calls_back_at_once():
    ended = []
    JobCard(make_job(status=JobStatus.STOPPED, error="No domain found."), on_final=ended.append)

    assert len(ended) == 1


def test_a_complete_card_shows_its_result_when_asked():
    done = make_job(status=JobStatus.COMPLETE)
    card = JobCard(done, ScriptedJobs(done), find_result=lambda: {"text/plain": "the result"})
    assert Seen(card).has("eye")

    Seen(card).button("eye").click()

    assert Seen(card).result.outputs[0]["data"] == {"text/plain": "the result"}
    assert not Seen(card).has("eye")


def test_only_a_complete_card_offers_a_result():
    for job in (make_job(), make_job(status=JobStatus.STOPPED), make_job(status=JobStatus.COMPLETE)):
        assert not Seen(JobCard(job, ScriptedJobs(job))).has("eye")


def test_a_result_that_cannot_be_shown_is_reported_on_the_card():
    def fail(*_):
        raise ArchiveError("The archive is damaged.")

    done = make_job(status=JobStatus.COMPLETE)
    card = JobCard(done, ScriptedJobs(done), on_final=fail, find_result=fail)
    assert "The result cannot be shown: The archive is damaged." in Seen(card).text
    Seen(card).button("eye").click()
    assert Seen(card).result.outputs == ()


def test_commands_in_messages_are_code():
    assert "<code>foldnote doctor</code>" in write_card(make_job(), outage="Run `foldnote doctor`.")


def test_a_failure_says_why_and_what_next():
    html = write_card(make_job(status=JobStatus.STOPPED, error="No <antibody> domain."))

    assert "Failed" in html
    assert "No &lt;antibody&gt; domain." in html
    assert "submit again" in html


def test_a_batch_that_was_stopped_says_that_it_has_no_result_only_if_no_job_has_one():
    for complete, is_said in ((13, False), (0, True)):
        counts = StatusCounts(complete=complete, stopped=20 - complete)
        batch = Job(job_name="b", type="batch", tool="anarci", status=JobStatus.STOPPED,
                    batch_status=BatchStatus.STOPPED, batch_size=20, statuses=counts, failed=0)  # fmt: skip
        assert ("It has no result." in write_card(batch)) is is_said


def test_a_stopped_job_is_run_again_once_and_its_settings_are_edited_below():
    saved, form = [], widgets.HTML("form")
    new = JobCard(make_job("fv-2", status=JobStatus.COMPLETE))
    card = JobCard(make_job(status=JobStatus.STOPPED), run_again=lambda: new, edit=lambda: form)
    card.on_save = lambda: saved.append(card.bundle()["text/plain"])
    assert Seen(card).has("repeat")

    Seen(card).button("repeat").click()
    Seen(card).button("pencil").click()

    assert Seen(card).below == [new, form]
    assert not Seen(card).has("repeat")
    assert saved[0].splitlines()[-1] == "fv-2 (AbodyBuilder): Complete"


def test_a_batch_that_was_run_again_names_the_next_one_in_place_of_the_line_of_code():
    batch = Job(job_name="b", type="batch", tool="anarci", status=JobStatus.COMPLETE, failed=2, batch_size=9)
    card = JobCard(batch, run_again=lambda: JobCard(make_job("b-2")))
    assert "retry()" in Seen(card).text
    Seen(card).button("repeat").click()
    assert "retry()" not in Seen(card).text
    assert "Run again as b-2, shown below." in Seen(card).text
    assert "Run again as b-2, shown below." in card.bundle()["text/plain"].splitlines()


@pytest.mark.parametrize("status", [JobStatus.RUNNING, JobStatus.COMPLETE], ids=["running", "complete"])
def test_a_job_with_a_result_to_come_is_not_offered_again(status):
    card = JobCard(make_job(status=status), run_again=lambda: None, edit=lambda: None)

    assert not Seen(card).has("repeat")
    assert not Seen(card).has("pencil")


def test_a_refused_second_run_says_why_and_may_be_tried_again():
    def refuse():
        raise ServiceUnreachableError("The service does not answer.")

    card = JobCard(make_job(status=JobStatus.STOPPED), run_again=refuse)
    Seen(card).button("repeat").click()

    assert "could not be submitted again: The service does not answer." in Seen(card).text
    assert not Seen(card).button("repeat").disabled


def test_a_card_without_its_styles_keeps_its_words_apart():
    html = write_card(make_job(status=JobStatus.COMPLETE)).partition("</style>")[2]

    assert re.sub("<[^>]*>", "", html).split()[:3] == ["Complete", "fv", "AbodyBuilder"]


def test_a_stopped_job_says_how_it_is_run_again():
    stopped = make_job(status=JobStatus.STOPPED)
    line = "fn.submit(&#x27;abodybuilder&#x27;, **fn.job(&#x27;fv&#x27;).settings, again=True)"
    assert f"<code>{line}</code>" in write_card(stopped)
    assert "again=True" in JobCard(stopped).bundle()["text/plain"]
    assert "form" not in write_card(stopped).partition("</style>")[2]
    assert "again=True" not in write_card(stopped, again="Submit the form again to start over.")
    assert "again" not in write_card(make_job(status=JobStatus.COMPLETE)).partition("</style>")[2]


def test_the_kept_picture_says_when_it_was_taken():
    assert "nothing is submitted twice" in JobCard(make_job()).bundle()["text/html"]
    assert (
        "nothing is submitted twice" not in JobCard(make_job(status=JobStatus.COMPLETE)).bundle()["text/html"]
    )


def test_a_live_bundle_carries_the_kept_picture():
    data = JobCard(make_job())._repr_mimebundle_()

    assert {"text/html", "text/plain", "application/vnd.foldnote.widget+json"} <= set(data)
    assert "application/vnd.jupyter.widget-view+json" in data


def test_a_long_log_shows_its_end():
    html = write_log("\n".join(f"line {i}" for i in range(1000)))

    assert "line 999" in html
    assert "800 earlier lines" in html
    assert "line 799<" not in html


def test_the_card_of_a_batch_counts_its_jobs():
    counts = StatusCounts(in_queue=3, running=2, complete=12, stopped=3)
    batch = Job(job_name="b", type="batch", tool="anarci", status=JobStatus.RUNNING,
                batch_status=BatchStatus.RUNNING, batch_size=20, statuses=counts, failed=1)  # fmt: skip
    html = write_card(batch)

    assert "12 of 20 jobs complete, 2 running, 3 queued, 1 failed, 2 stopped." in html
    assert 'aria-valuenow="75"' in html


@pytest.mark.parametrize(
    ("failed", "words"), [(1, "Complete, 1 failed"), (None, "Complete, 1 without a result"), (0, "Complete")]
)
def test_the_card_of_a_complete_batch_says_in_its_head_what_has_failed(failed, words):
    counts = StatusCounts(complete=19, stopped=1)
    batch = Job(job_name="b", type="batch", tool="anarci", status=JobStatus.COMPLETE,
                batch_status=BatchStatus.COMPLETE, batch_size=20, statuses=counts, failed=failed)  # fmt: skip
    html = write_card(batch).partition("</style>")[2]

    assert f" {words}</span>" in html
    assert ("fnc-mixed" in html) is (words != "Complete")


def test_the_card_of_a_batch_that_stopped_at_a_failure_says_at_which():
    batch = Job(job_name="b", type="batch", tool="anarci", status=JobStatus.COMPLETE, batch_size=4,
                message="The job b-2 failed, so 2 waiting jobs of the batch did not run.")  # fmt: skip
    assert "The job b-2 failed, so 2 waiting jobs of the batch did not run." in write_card(batch)


def test_a_job_that_was_run_again_says_which_run_it_is_at():
    again = make_job(retries=2)
    assert "Run 3: the tool failed 2 times before." in write_card(again)


def test_jobs_that_did_not_run_are_not_failures_in_the_bar():
    counts = StatusCounts(in_queue=0, running=1, complete=0, stopped=3)
    batch = Job(
        job_name="b", type="batch", tool="anarci", status=JobStatus.RUNNING, statuses=counts, failed=1
    )
    html = write_card(batch)
    assert 'fnc-share-failed" style="width:25.00%' in html
    assert 'fnc-share-stopped" style="width:50.00%' in html


def test_the_progress_in_a_script_says_failed_of_a_job_that_failed(capsys):
    progress = ProgressOutput(make_job())
    for error in ("No domain found.", None):
        progress.show(make_job(status=JobStatus.STOPPED, error=error))
    assert capsys.readouterr().err.splitlines() == ["fv: Failed", "fv: Stopped"]
