"""The key goes only to its service: not into a message, repr, traceback, log or to another host."""

import logging
import traceback

import pytest
from job_settings import SETTINGS
from scripted_service import ScriptedService, answers, breaks, is_silent, serves

from foldnote.client import AsyncClient, Client
from foldnote.errors import FoldnoteError

KEY = "fn-SENTINEL-4711"
FINAL = {"jobName": "a", "type": "anarci", "status": "Complete", "settings": SETTINGS}


def seen_of(exc: BaseException) -> str:
    """Return everything that a traceback, a crash reporter or a pickler could get hold of."""
    parts = ["".join(traceback.TracebackException.from_exception(exc, capture_locals=True).format())]
    chain: BaseException | None = exc
    while chain is not None:
        parts += [repr(chain), str(chain), repr(vars(chain)), repr(chain.args)]
        request = getattr(chain, "_request", None)
        parts.append(repr(dict(request.headers)) if request is not None else "")
        chain = chain.__cause__ or chain.__context__
    return "\n".join(parts)


FAULTS = {
    "reset": breaks(),
    "silent": is_silent(3),
    "401": answers({"error": "no"}, 401),
    "403": answers({"message": "Forbidden"}, 403),
    "404": answers("nothing", 404),
    "429": answers({"retryAfterSeconds": 1000}, 429),
    "500": answers("<html>oops</html>", 500),
    "redirect": answers("", 302, location="http://elsewhere.invalid/jobs"),
    "garbage": answers("\x00\xff{"),
    "list": answers([1, 2]),
    "told in a refusal": answers(
        {"error": f"{KEY} is no key", "message": KEY, "seen": [KEY]}, 401, x_echo=KEY
    ),
    "told on a page": answers(f"<html>{KEY} is no key</html>", 502),
    "told in a redirect": answers("", 302, location=f"http://elsewhere.invalid/jobs/{KEY}?key={KEY}"),
}


@pytest.mark.parametrize("fault", FAULTS)
async def test_no_error_shows_the_key(scripted, caplog, monkeypatch, fault):
    caplog.set_level(logging.DEBUG)
    if fault.startswith("told"):  # httpcore's own log of what arrived; no code of ours is involved
        caplog.set_level(logging.INFO, logger="httpcore")
    monkeypatch.setenv("FOLDNOTE_REQUEST_TIMEOUT_S", "0.2")
    monkeypatch.setattr("foldnote.client.core.connection.retry_delays", lambda *_: iter(()))
    scripted.on("GET", "/jobs", FAULTS[fault])
    client, awaited = (
        Client(base_url=scripted.url, api_key=KEY),
        AsyncClient(base_url=scripted.url, api_key=KEY),
    )
    with pytest.raises(FoldnoteError) as caught:
        client.jobs.get("a")
    with pytest.raises(FoldnoteError) as caught_awaited:
        await awaited.jobs.get("a")
    assert KEY not in seen_of(caught.value) + seen_of(caught_awaited.value) + caplog.text
    assert scripted.asked[-1].headers["x-api-key"] == KEY
    client.close()
    await awaited.close()


@pytest.mark.parametrize("damage", ["\n", "…", " two", "\x00", "\r\nx-other: 1"])
def test_a_key_that_no_header_can_hold_is_not_shown(scripted, damage):
    with pytest.raises(FoldnoteError, match="The key contains invalid characters") as caught:
        Client(base_url=scripted.url, api_key=KEY + damage).jobs.list()
    assert KEY not in str(caught.value) + repr(caught.value)
    assert scripted.asked == []


def list_parts(thing):
    """Yield one of our objects and all that it contains."""
    found, left = {}, [thing]
    while left:
        part = left.pop()
        if id(part) not in found and type(part).__module__.startswith("foldnote"):
            found[id(part)] = part
            left += getattr(part, "__dict__", {}).values()
    return list(found.values())


def test_what_a_person_can_print_shows_no_key(scripted):
    scripted.on("GET", "/jobs", answers(FINAL))
    with Client(base_url=scripted.url, api_key=KEY) as client:
        job = client.jobs.get("a")
        things = [
            *list_parts(client),
            *list_parts(job),
            vars(job),
        ]
        assert len(things) > 10
        assert KEY not in "".join(f"{thing!r}{thing}" for thing in things) + job._repr_html_()


def test_a_key_that_a_good_answer_repeats_is_covered(scripted):
    scripted.on("GET", "/jobs", answers(FINAL | {"error": f"asked with {KEY}", "seen": {KEY: KEY}}))
    with Client(base_url=scripted.url, api_key=KEY) as client:
        record = client.jobs.record("a")
    assert record.error == "asked with [key]"
    assert KEY not in repr(record.to_wire())


def test_a_redirect_is_reported_without_its_query(scripted):
    scripted.on(
        "GET", "/jobs", answers("", 302, location="http://elsewhere.invalid/jobs?X-Amz-Signature=5161f0")
    )
    with Client(base_url=scripted.url, api_key=KEY) as client, pytest.raises(FoldnoteError) as caught:
        client.jobs.list()
    assert "redirects to http://elsewhere.invalid/jobs." in str(caught.value)
    assert "5161f0" not in str(caught.value) + repr(caught.value)


def test_the_key_does_not_go_with_a_signed_link_or_its_redirect(scripted):
    other = ScriptedService()
    scripted.on("GET", "/jobs", answers(FINAL))
    scripted.on("POST", "/result", answers(f'"{scripted.url}/moved"'))
    scripted.on("GET", "/moved", answers("", 302, location=f"{other.url}/m.pdb"))
    other.on("GET", "/m.pdb", serves(b"ATOM"))
    with Client(base_url=scripted.url, api_key=KEY) as client:
        assert client.jobs.download("a", "m.pdb").read_bytes() == b"ATOM"
    other.close()
    assert KEY not in repr(other.asked)
    assert [asked.headers.get("x-api-key") for asked in scripted.asked] == [KEY, KEY, None]
