"""Long polling: GET /jobs that waits until something changes."""

import threading
import time

import pytest
from chosen_store import store_place
from service_process import SETTINGS
from starlette.testclient import TestClient

from foldnote.service.config import ServiceConfig
from foldnote.service.http.app import create_app
from foldnote.service.store.jobs.insertion import NewJob


@pytest.fixture(scope="module")
def service(tmp_path_factory):
    """Return a client of a service that runs nothing, with its key."""
    folder = tmp_path_factory.mktemp("changes")
    config = ServiceConfig(folder, rate_limit=False, has_dispatcher=False, store=store_place(folder))
    with TestClient(create_app(config)) as client:
        yield client


@pytest.fixture
def account(service):
    """Return headers and row of an account with one job."""
    email = f"user{time.monotonic_ns()}@lab.example"
    key = service.app.state.service.issue_key(email)
    row = service.app.state.service.store.accounts.ensure_account(email)
    service.app.state.service.store.jobs.add(row, NewJob("first", "anarci", SETTINGS, SETTINGS))
    return {"x-api-key": key}, row


def look(service, headers, **params):
    return service.get("/jobs", headers=headers, params={"since": ""} | params).json()


def test_a_page_without_waiting_has_the_mark_of_its_state(service, account):
    headers, _ = account
    assert look(service, headers)["mark"] == look(service, headers)["mark"]


def test_a_waiting_question_is_answered_by_a_change(service, account):
    headers, row = account
    mark = look(service, headers)["mark"]
    jobs = service.app.state.service.store.jobs
    timer = threading.Timer(0.4, lambda: jobs.add(row, NewJob("second", "anarci", SETTINGS, SETTINGS)))
    timer.start()
    page = look(service, headers, since=mark, waitSeconds=20)
    assert [job["jobName"] for job in page["jobs"]] == ["second", "first"]
    assert page["mark"] != mark


def test_a_question_about_an_old_state_does_not_wait(service, account):
    headers, row = account
    mark = look(service, headers)["mark"]
    service.app.state.service.store.jobs.stop(row, "first")
    assert look(service, headers, since=mark, waitSeconds=20)["jobs"][0]["status"] == "Stopped"


def test_changes_of_other_accounts_wake_no_request(service, account):
    headers, _ = account
    mark = look(service, headers)["mark"]
    other = service.app.state.service.store.accounts.ensure_account("other@lab.example")
    service.app.state.service.store.jobs.add(
        other, NewJob(f"x{time.monotonic_ns()}", "anarci", SETTINGS, SETTINGS)
    )
    assert look(service, headers, since=mark, waitSeconds=0.3)["mark"] == mark


def test_a_closing_service_answers_waiting_requests(service, account):
    headers, _ = account
    mark = look(service, headers)["mark"]
    timer = threading.Timer(0.3, lambda: setattr(service.app.state.service, "is_closing", True))
    timer.start()
    try:
        assert look(service, headers, since=mark, waitSeconds=25)["mark"] == mark
    finally:
        timer.join()
        service.app.state.service.is_closing = False
