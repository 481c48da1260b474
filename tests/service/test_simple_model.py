"""The service beside a model of a few dictionaries: after the same operations both give the same responses.

Everything goes through the interface, on a real database; events of engines are passed to the queue instead, so that
hypothesis chooses their order. `FOLDNOTE_TEST_EXAMPLES` is the number of runs (default: 10).
"""

import io
import itertools
import os
import uuid
import zipfile

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)
from probe_engine import write_probe_engine
from service_process import SETTINGS
from simple_model import COMPLETE, FINAL, QUEUED, RUNNING, STOPPED, Model, ModelJob
from starlette.testclient import TestClient

from foldnote.models.status import JobStatus
from foldnote.service.config import Limits, ServiceConfig
from foldnote.service.http.app import create_app
from foldnote.service.http.routes import cancellation
from foldnote.service.store.jobs.queue import JobEnd

EXAMPLES = int(os.environ.get("FOLDNOTE_TEST_EXAMPLES", "10"))
NAMES = st.sampled_from(["a", "b", "c", "a-1", "b-2"])
PEOPLE = st.sampled_from(["ada", "bob"])
_numbers = itertools.count()


@pytest.fixture(scope="module")
def client(tmp_path_factory):
    """Start a service whose queue only the tests serve; a stop waits for no runs, since there are none."""
    config = ServiceConfig(
        tmp_path_factory.mktemp("model"),
        rate_limit=False,
        has_dispatcher=False,
        engine_paths=(write_probe_engine(tmp_path_factory.mktemp("engines")),),
        limits=Limits(inline_wait_s=0),
    )
    with TestClient(create_app(config)) as client, pytest.MonkeyPatch.context() as patch:
        patch.setattr(cancellation, "WAIT_S", 0.0)
        yield client


def make_machine(client, make_model=Model):
    service = client.app.state.service

    class Machine(RuleBasedStateMachine):
        """Two accounts that use the same names and must not affect each other."""

        @initialize()
        def open_accounts(self):
            self.models = {"ada": make_model(), "bob": make_model()}
            emails = {who: f"{who}{next(_numbers)}@lab.example" for who in self.models}
            self.keys = {who: service.issue_key(email) for who, email in emails.items()}
            self.accounts = {service.store.accounts.ensure_account(emails[who]): who for who in self.models}
            self.claims = []

        def ask(self, who, method, path, **more):
            return client.request(method, path, headers={"x-api-key": self.keys[who]}, **more)

        # operations of clients

        @rule(who=PEOPLE, name=NAMES)
        def submit(self, who, name):
            body = {"jobName": name, "type": "anarci", "settings": SETTINGS}
            answer = self.ask(who, "POST", "/submit-job", json=body)
            self.agree(answer, self.models[who].submit(name), "job_name_taken")

        @rule(who=PEOPLE, name=NAMES, count=st.integers(1, 3), retries=st.integers(0, 1), stops=st.booleans())
        def submit_batch(self, who, name, count, retries, stops):
            body = {"batchName": name, "type": "anarci", "settings": [SETTINGS] * count}
            body["foldnote"] = {"retries": retries, "onFailure": "stop" if stops else "continue"}
            answer = self.ask(who, "POST", "/submit-batch", json=body)
            rows = [f"{name}-{number}" for number in range(1, count + 1)]
            self.agree(
                answer, self.models[who].submit_batch(name, rows, retries, stops=stops), "job_name_taken"
            )

        @rule(who=PEOPLE, data=st.data())
        def stop(self, who, data):
            name = self.draw_name(who, data)
            answer = self.ask(who, "POST", "/stop-job", json={"jobName": name})
            self.agree(answer, self.models[who].stop(name), "job_not_found")

        @rule(who=PEOPLE, data=st.data())
        def delete(self, who, data):
            name = self.draw_name(who, data)
            answer = self.ask(who, "DELETE", "/delete-job", json={"jobName": name})
            self.agree(answer, self.models[who].delete(name), "job_not_found")

        def draw_name(self, who, data):
            """Draw a name, mostly an existing one."""
            known = [job.name for job in self.models[who].listed(has_subjobs=True)]
            return data.draw(st.sampled_from([*known, "nothing"]))

        @staticmethod
        def agree(answer, is_done, code):
            expected = (200, None) if is_done else (400, code)
            assert (answer.status_code, answer.json().get("code")) == expected

        # operations of runners

        @rule()
        def claim(self):
            mine = [each for each in service.store.queue.waiting() if each.account_id in self.accounts]
            for waiting in mine[:1]:
                claim = service.store.queue.claim(waiting, uuid.uuid4().hex)
                model = self.models[self.accounts[claim.account_id]]
                job = next(each for each in model.jobs if each.name == claim.name and not each.is_deleted)
                assert job.status == QUEUED
                model.claim(job)
                self.claims.append((claim, model, job))

        @precondition(lambda self: self.claims)
        @rule(has_result=st.booleans(), is_good=st.booleans(), data=st.data())
        def finish(self, has_result, is_good, data):
            claim, model, job = self.claims.pop(data.draw(st.integers(0, len(self.claims) - 1)))
            content = uuid.uuid4().hex if has_result or is_good else None
            sha256 = None if content is None else service.objects.put_bytes(make_archive(content))
            state = JobStatus.COMPLETE if is_good else JobStatus.STOPPED
            end = JobEnd(
                state,
                error=None if is_good else "It failed.",
                result_sha256=sha256,
                result_size=1,
                is_tool_failure=not is_good,
            )
            assert service.store.queue.finish(claim, end)
            assert not service.store.queue.finish(claim, end)
            model.finish(job, COMPLETE if is_good else STOPPED, content)

        @precondition(lambda self: self.claims)
        @rule(data=st.data())
        def lose(self, data):
            claim, model, job = self.claims.pop(data.draw(st.integers(0, len(self.claims) - 1)))
            if job.is_cancelled:
                assert service.store.queue.finish(claim, JobEnd(JobStatus.STOPPED))
                model.finish(job, STOPPED, None)
            else:
                assert service.store.queue.requeue(claim, "Lost.", delay_s=0, is_counted=False)
                model.lose(job)

        @rule()
        def aggregate(self):
            service.aggregator.build_all()
            for model in self.models.values():
                model.aggregate()

        # what clients see

        @invariant()
        def listings_agree(self):
            for who, model in self.models.items():
                self.compare(who, {}, model.listed())
                self.compare(who, {"includeSubjobs": "true"}, model.listed(has_subjobs=True))
                self.compare(who, {"organization": "true"}, model.listed())

        @rule(who=PEOPLE, name=NAMES)
        def list_a_batch(self, who, name):
            found = self.models[who].find(name)
            is_batch = found is not None and found.rows is not None
            self.compare(who, {"batch": name}, self.models[who].listed(batch=name) if is_batch else [])

        @rule(who=PEOPLE, limit=st.integers(1, 4))
        def list_in_pages(self, who, limit):
            params, names = {"includeSubjobs": "true", "limit": limit}, []
            while True:
                page = self.ask(who, "GET", "/jobs", params=params).json()
                names += [job["jobName"] for job in page["jobs"]]
                if "startKey" not in page:
                    break
                params["startKey"] = page["startKey"]
            assert names == [job.name for job in self.models[who].listed(has_subjobs=True)]

        def compare(self, who, params, expected):
            page = self.ask(who, "GET", "/jobs", params=params).json()
            assert [told(job) for job in page["jobs"]] == [known(job) for job in expected]
            counts = dict.fromkeys((QUEUED, RUNNING, COMPLETE, STOPPED), 0)
            for job in expected:
                counts[job.status] += 1
            assert page["statuses"] == counts

        @rule(who=PEOPLE, data=st.data())
        def look_and_download(self, who, data):
            name = self.draw_name(who, data)
            job = self.models[who].find(name)
            record = self.ask(who, "GET", "/jobs", params={"jobName": name})
            answer = self.ask(who, "POST", "/result", json={"jobName": name})
            if job is None:
                assert (record.status_code, answer.status_code) == (404, 404)
                return
            assert told(record.json()) == known(job)
            self.compare_result(job, answer)

        def compare_result(self, job, answer):
            expected = result_of(job)
            if isinstance(expected, int):
                assert answer.status_code == expected, answer.text
                return
            assert answer.status_code == 200, answer.text
            with zipfile.ZipFile(io.BytesIO(client.get(answer.json()).content)) as archive:
                contents = {
                    name: archive.read(name).decode() for name in archive.namelist() if name.endswith("x.txt")
                }
            assert contents == expected

    return Machine


def make_archive(content):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr("x.txt", content)
    return stream.getvalue()


def told(record):
    rows = sum(record["statuses"].values()) if record["type"] == "batch" else None
    return record["jobName"], record["status"], record["batch"], record.get("batchStatus"), rows


def known(job):
    rows = None if job.rows is None else len(job.living_rows)
    return job.name, job.status, job.parent and job.parent.name, job.batch_status, rows


def result_of(job):
    """Return the content by member, or the status of the refusal."""
    if job.batch_status == "Aggregating":
        return 202
    if job.status not in FINAL:
        return 400
    if job.rows is None:
        return 404 if job.content is None else {"x.txt": job.content}
    if job.archive is None:
        if any(row.status not in FINAL for row in job.living_rows):
            return 202
        job.archive = Model.contents(job) or None
    if job.archive is None:
        return 404
    return {f"{name}/x.txt": content for name, content in job.archive.items()}


HEALTH = [HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large]


def test_the_service_and_the_model_never_differ(client):
    chosen = settings(
        max_examples=EXAMPLES, stateful_step_count=25, deadline=None, suppress_health_check=HEALTH
    )
    run_state_machine_as_test(make_machine(client), settings=chosen)
    assert client.get("/healthz").status_code == 200, "the service is healthy at the end"


class TakesNamesTwice(Model):
    def submit(self, name):
        self.jobs.append(ModelJob(name))
        return True


class StopsNoSubjobs(Model):
    def stop(self, name):
        job = self.find(name)
        if job is None or job.rows is None:
            return super().stop(name)
        if job.status not in FINAL:
            self._end(job)
        return True


class DeletesNothing(Model):
    def delete(self, name):
        return self.find(name) is not None


class LosesForGood(Model):
    def lose(self, job):
        job.status = STOPPED


class CallsFailuresComplete(Model):
    def finish(self, job, status, content):
        super().finish(job, COMPLETE, content)


class CompletesStoppedJobs(Model):
    def finish(self, job, status, content):
        job.is_cancelled = False
        super().finish(job, status, content)


class ForgetsResults(Model):
    def finish(self, job, status, content):
        super().finish(job, status, None)


class GoesOnAfterFailures(Model):
    def submit_batch(self, name, rows, retries, *, stops):
        return super().submit_batch(name, rows, retries, stops=False)


class RetriesNothing(Model):
    def submit_batch(self, name, rows, retries, *, stops):
        return super().submit_batch(name, rows, 0, stops=stops)


class LeavesBatchesRunning(Model):
    def aggregate(self):
        return None


FOUND_SOON = [TakesNamesTwice]
FOUND_LATE = [
    LosesForGood,
    StopsNoSubjobs,
    GoesOnAfterFailures,
    RetriesNothing,
    DeletesNothing,
    CompletesStoppedJobs,
    CallsFailuresComplete,
    ForgetsResults,
    LeavesBatchesRunning,
]


@pytest.mark.parametrize("wrong", FOUND_SOON + (FOUND_LATE if EXAMPLES > 20 else []))
def test_a_model_that_is_wrong_is_found_to_differ(client, wrong):
    """So the state machine reaches the states in which a fault of the service would show."""
    chosen = settings(
        max_examples=600,
        stateful_step_count=25,
        deadline=None,
        database=None,
        derandomize=True,
        phases=[Phase.generate],
        suppress_health_check=HEALTH,
    )
    with pytest.raises(AssertionError):
        run_state_machine_as_test(make_machine(client, wrong), settings=chosen)
