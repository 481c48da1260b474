"""Every call of the client with responses that no service should give: it returns a value or raises one of our
exceptions.
"""

import json

import pytest
from job_settings import SETTINGS
from scripted_service import ScriptedService, answers, breaks

from foldnote.client import Client, Stage
from foldnote.errors import FoldnoteError

RECORD = {
    "jobName": "a",
    "type": "anarci",
    "status": "Complete",
    "settings": {},
    "created": "2026-01-01T00:00:00.000Z",
    "completed": "2026-01-01T00:01:00.000Z",
}
KEY = "fn-SENTINEL-4711"
SHAPES = {
    "null": answers("null"),
    "a number": answers("7"),
    "a list of null": answers([None]),
    "a record of nulls": answers(dict.fromkeys(RECORD)),
    "a record of numbers": answers(dict.fromkeys(RECORD, 7)),
    "a record of lists": answers({"jobs": [{key: [] for key in RECORD}]}),
    "years off": answers(RECORD | {"created": "9999-12-31T23:59:59.999Z", "started": -99999999999999}),
    "half a letter": answers(json.dumps(RECORD | {"error": "\ud800", "message": "\x00"})),
    "a web page": answers("<html><body>Sign in</body></html>"),
    "another encoding": answers(json.dumps(RECORD).encode("utf-16")),
    "rows of another kind": answers({"results": [None, 3], "files": ["a", None], "models": 5, "tools": [[]]}),
    "a broken compression": answers(b"\x1f\x8bnope", **{"content-encoding": "gzip"}),
    "half an answer": breaks(b'{"jobs": [', announced=900),
    "a pause without end": answers({"retryAfterSeconds": 1e308}, 429),
}
CALLS = {
    "jobs.get": lambda ask: ask.jobs.get("a"),
    "jobs.list": lambda ask: ask.jobs.list(),
    "jobs.to_frame": lambda ask: ask.jobs.to_frame(3000),
    "jobs.wait": lambda ask: ask.jobs.wait(["a", "b", "c"], 0.2),
    "jobs.submit": lambda ask: ask.jobs.submit("anarci", SETTINGS),
    "jobs.validate": lambda ask: ask.jobs.validate("anarci", [SETTINGS]),
    "jobs.stop": lambda ask: ask.jobs.stop("a"),
    "jobs.delete": lambda ask: ask.jobs.delete("a"),
    "jobs.logs": lambda ask: ask.jobs.logs("a"),
    "jobs.download": lambda ask: ask.jobs.download("a"),
    "batches.preview": lambda ask: ask.batches.preview("anarci", [SETTINGS]),
    "batches.submit": lambda ask: ask.batches.submit("anarci", [SETTINGS]),
    "batches.to_frame": lambda ask: ask.batches.to_frame(),
    "files.upload": lambda ask: ask.files.upload(b"ATOM", "a.pdb"),
    "files.to_frame": lambda ask: ask.files.to_frame(),
    "account.get": lambda ask: ask.account.get(),
    "router.ask": lambda ask: ask.router.ask("Number a chain"),
    "pipelines.submit": lambda ask: ask.pipelines.submit("p", [Stage("a", "anarci", SETTINGS)]),
    "pipelines.run": lambda ask: ask.pipelines.run("p"),
    "screenings.submit": lambda ask: ask.screenings.submit("r.pdb", ["l.sdf"]),
    "models.list": lambda ask: ask.models.list(),
    "models.registered": lambda ask: ask.models.registered(),
    "tools.list": lambda ask: ask.tools.list(),
}


class Everything(dict):
    """A script in which every route gives the same response."""

    def __init__(self, said):
        self.said = said
        self.catalog = [answers([{"type": "anarci", "schema": {"type": "object"}}])]

    def get(self, route, _=None):
        return self.catalog if route[1] == "/tools" else [self.said]


@pytest.fixture
def hasty(monkeypatch):
    """Shorten pauses and limit retries."""
    monkeypatch.setenv("FOLDNOTE_REQUESTS_PER_SECOND", "5000")
    monkeypatch.setattr("foldnote.client.core.transport.time.sleep", lambda _: None)
    for module in ("core.connection", "submission.idempotency"):
        monkeypatch.setattr(f"foldnote.client.{module}.retry_delays", lambda *_: iter((0.0,)))


@pytest.mark.parametrize("shape", SHAPES)
def test_any_answer_to_any_call_is_a_value_or_an_exception_of_the_tree(
    scripted: ScriptedService, hasty, shape
):
    scripted.script = Everything(SHAPES[shape])
    with Client(base_url=scripted.url, api_key=KEY) as client:
        for name, call in CALLS.items():
            scripted.asked.clear()
            if name == "tools.list":
                scripted.script.catalog = [SHAPES[shape]]
            try:
                told = repr(call(client))
            except FoldnoteError as exc:
                told = str(exc)
                assert told.strip(), name
            assert KEY not in told, name
            sent = [asked.path for asked in scripted.asked if asked.path.startswith("/submit-")]
            assert len(sent) <= 3, f"{name} submitted {len(sent)} times"
