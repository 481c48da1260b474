"""Faults while a batch is submitted: every row is validated, none is lost or submitted twice."""

import json

import pytest
from job_settings import SETTINGS
from scripted_service import answers, breaks

from foldnote.errors import BatchSettingsError, ProtocolError, TooLargeError

NOT_FOUND = answers({"error": "no such job"}, 404)
ROWS = [SETTINGS | {"scheme": scheme} for scheme in ("imgt", "kabat", "chothia", "martin", "aho")]


def judges(max_bytes: int = 10**9, wrong: str = ""):
    """Validate the rows that arrive; a body that is too large is refused without a message."""

    async def write(writer, request):
        if len(request["body"]) > max_bytes:
            return await answers("", 413)(writer, request)
        rows = json.loads(request["body"])["settings"]
        results = [{"index": i, "valid": row["scheme"] != wrong, "error": "no"} for i, row in enumerate(rows)]
        return await answers({"valid": not wrong, "results": results})(writer, request)

    return write


@pytest.fixture
def client(scripted, connect):
    scripted.on("GET", "/tools", answers([{"name": "anarci"}]))
    scripted.on("GET", "/jobs", NOT_FOUND)
    scripted.on("POST", "/validate-job", judges())
    scripted.on("POST", "/submit-batch", answers({"message": "ok"}))
    return connect()


def judged(scripted) -> list[int]:
    bodies = [json.loads(a.body) for a in scripted.asked if a.path == "/validate-job"]
    return [len(body["settings"]) for body in bodies]


def test_rows_are_judged_in_chunks_and_submitted_together(scripted, client):
    client.batches.submit("anarci", ROWS * 420, "b")
    assert judged(scripted) == [1000, 1000, 100]
    sent = json.loads(scripted.asked[-1].body)
    assert (scripted.count("POST", "/submit-batch"), len(sent["settings"]), len(sent["jobNames"])) == (
        1,
        2100,
        2100,
    )


def test_a_chunk_that_is_too_large_is_halved_until_it_fits(scripted, client):
    scripted.on("POST", "/validate-job", judges(max_bytes=700))
    client.batches.submit("anarci", ROWS, "b")
    assert judged(scripted)[0] == 5
    assert sum(size for size in judged(scripted) if size <= 3) >= 5
    assert scripted.count("POST", "/submit-batch") == 1


def test_verdicts_of_halves_keep_their_rows(scripted, client):
    scripted.on("POST", "/validate-job", judges(max_bytes=700, wrong="martin"))
    with pytest.raises(BatchSettingsError) as caught:
        client.batches.submit("anarci", ROWS, "b")
    assert [verdict.index for verdict in caught.value.verdicts if not verdict.valid] == [3]
    assert scripted.count("POST", "/submit-batch") == 0


def test_a_single_row_that_is_too_large_is_reported(scripted, client):
    scripted.on("POST", "/validate-job", judges(max_bytes=10))
    with pytest.raises(TooLargeError):
        client.batches.submit("anarci", ROWS, "b")


def test_a_row_without_a_verdict_stops_everything(scripted, client):
    scripted.on("POST", "/validate-job", answers({"valid": True, "results": [{"index": 0, "valid": True}]}))
    with pytest.raises(ProtocolError, match="validated 1 of 5 rows"):
        client.batches.submit("anarci", ROWS, "b")
    assert scripted.count("POST", "/submit-batch") == 0


def parent(size: int) -> dict:
    return {"jobName": "b", "type": "batch", "tool": "anarci", "status": "In Queue", "batchStatus": "In Queue",
            "batchSize": size}  # fmt: skip


def subjobs(rows: list[dict]) -> dict:
    jobs = [
        {"jobName": f"b-{number}", "type": "anarci", "status": "In Queue", "settings": row, "batch": "b"}
        for number, row in enumerate(rows, 1)
    ]
    return {"jobs": jobs[::-1]}


def test_a_batch_whose_answer_was_lost_is_looked_up_and_not_repeated(scripted, client):
    scripted.on("POST", "/submit-batch", breaks())
    scripted.on("GET", "/jobs", NOT_FOUND, answers(parent(5)), answers(subjobs(ROWS)))
    assert client.batches.submit("anarci", ROWS, "b").record.batch_size == 5
    assert scripted.count("POST", "/submit-batch") == 1


def test_a_batch_that_did_not_arrive_is_repeated(scripted, client):
    scripted.on("POST", "/submit-batch", breaks(), answers("oops", 502), answers({"message": "ok"}))
    client.batches.submit("anarci", ROWS, "b")
    assert scripted.count("POST", "/submit-batch") == 3
    assert scripted.count("POST", "/validate-job") == 1


def test_a_batch_that_was_submitted_before_is_met_and_not_judged_again(scripted, client):
    client.batches.submit("anarci", ROWS, "b")
    scripted.on("GET", "/jobs", answers(parent(5)))
    assert client.batches.submit("anarci", ROWS, "b").job_name == "b"
    assert (scripted.count("POST", "/submit-batch"), scripted.count("POST", "/validate-job")) == (1, 1)
