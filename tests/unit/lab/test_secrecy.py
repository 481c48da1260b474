"""No response to a page contains a key or a signed link, whatever the service sends, and every response needs a login.

The routes come from the server's own table: a route or method without a request here fails.
"""

import base64
import html
import json
import logging
import time
import timeit
from urllib.parse import quote, unquote_to_bytes

import httpx
import pytest
from jupyter_server.base.handlers import APIHandler
from lab_fixtures import TOKEN, wait_for_state
from tornado.httpserver import HTTPServer
from tornado.netutil import bind_sockets
from tornado.web import Application, RequestHandler
from tornado.websocket import WebSocketHandler

from foldnote.lab.handlers.jobs import RefreshHandler
from foldnote.lab.redaction import redact_links

LOGIN = {"Authorization": f"token {TOKEN}"}
GIVEN_KEY = "a-key-that-a-person-typed-in-once"
JOB = "secret.structure.log"
SIGNATURE = "5161f0c7b9d24e0aa3c6"
SIGNED = (
    f"https://bucket.test/{JOB}.zip?X-Amz-Credential=AKIA%2Feu&X-Amz-Expires=900&X-Amz-Signature={SIGNATURE}"
)
TEXTS = {
    "error",
    "message",
    "log",
    "reason",
    "summary",
    "description",
    "projectTag",
    "unknown",
    "url",
    "hint",
}
BASE = "/hub/user/foldnote/api/"

ASKED = {
    "jobs": [("GET", "jobs", None)],
    "jobs/older": [("GET", "jobs/older?key=none", None)],
    "jobs/members": [("GET", "jobs/members", None)],
    "jobs/NAME/subjobs": [("GET", f"jobs/{JOB}/subjobs", None)],
    "jobs/NAME/record": [
        ("GET", f"jobs/{JOB}/record", None),
        ("GET", "jobs/none/record?member=a@b.org", None),
    ],
    "jobs/NAME/log": [("GET", f"jobs/{JOB}/log", None), ("GET", "jobs/none/log", None)],
    "jobs/NAME/settings": [("GET", f"jobs/{JOB}/settings", None)],
    "jobs/NAME/result": [
        ("GET", f"jobs/{JOB}/result", None),
        ("POST", f"jobs/{JOB}/result", None),
        ("GET", f"jobs/{JOB}/result?file=manifest.json", None),
        ("GET", "jobs/none/result", None),
    ],
    "jobs/NAME/view": [("GET", f"jobs/{JOB}/view", None), ("GET", "jobs/none/view", None)],
    "jobs/NAME/shares": [("GET", f"jobs/{JOB}/shares", None), ("POST", f"jobs/{JOB}/shares", {"days": 7})],
    "shares/NAME": [("DELETE", "shares/none", None)],
    "shared": [
        ("POST", "shared", {"url": "http://service.test/shared#none"}),
        ("POST", "shared", {"url": "http://service.test/shared#none", "row": "any"}),
        ("POST", "shared", {"mark": "none"}),
    ],
    "shared/result": [("POST", "shared/result", {"url": "http://service.test/shared#none"})],
    "refresh": [("POST", "refresh", {})],
    "tools": [("GET", "tools", None)],
    "tools/NAME": [("GET", "tools/anarci", None), ("GET", "tools/none", None)],
    "advice": [("POST", "advice", {"prompt": "number an antibody"})],
    "cells/forms": [("POST", "cells/forms", {"code": 'fn.submit("anarci")'}), ("POST", "cells/forms", {})],
    "files": [
        ("GET", "files", None),
        ("DELETE", "files?path=local.pdb", None),
        ("GET", "files?offset=x", None),
    ],
    "files/uploads": [("POST", "files/uploads", {"name": "a.txt", "sizeBytes": 3, "mark": "1"})],
    "files/uploads/NAME": [
        ("GET", "files/uploads/UPLOAD", None),
        ("PUT", "files/uploads/UPLOAD?offset=0", b"abc"),
        ("DELETE", "files/uploads/none", None),
    ],
    "files/uploads/NAME/finish": [("POST", "files/uploads/UPLOAD/finish", {})],
    "files/contents": [("POST", "files/contents", {"path": "local.pdb"})],
    "view": [("GET", "view?path=local.pdb", None), ("GET", "view?path=none.pdb", None)],
    "profiles": [
        ("GET", "profiles", None),
        ("POST", "profiles", {"name": "lab", "url": "http://127.0.0.1:9/", "key": GIVEN_KEY}),
    ],
    "account": [("GET", "account?profile=hosted&fresh=1", None), ("GET", "account", None)],
    "account/claim": [("GET", "account/claim?profile=hosted", None), ("GET", "account/claim", None)],
    "engines": [("GET", "engines", None)],
    "engines/NAME": [("POST", "engines/none", {"action": "install"})],
    "static/(3Dmol-min\\.js|view-script\\.js)": [
        (method, f"static/{name}", None)
        for name in ("3Dmol-min.js", "view-script.js")
        for method in ("GET", "HEAD")
    ],
    "jobs/keep": [("POST", "jobs/keep", {"names": [JOB]})],
    "jobs/tag": [("POST", "jobs/tag", {"names": [JOB], "added": ["a"], "removed": []})],
    "jobs/stop": [("POST", "jobs/stop", {"names": [JOB, "none"]})],
    "jobs/delete": [("POST", "jobs/delete", {"names": [JOB, "none"]})],
}
"""The request to each route, in this order: method, path, body. Deletions are last."""

WITHOUT_SERVICE = {
    "cells/forms",
    "view",
    "profiles",
    "engines",
    "engines/NAME",
    "static/(3Dmol-min\\.js|view-script\\.js)",
}
"""Routes whose response does not depend on the service."""


def served_routes(router):
    """Return our routes of the server: each path without its prefix, and its handler."""
    for rule in router.rules:
        pattern = getattr(getattr(rule.matcher, "regex", None), "pattern", "")
        if hasattr(rule.target, "rules"):
            yield from served_routes(rule.target)
        elif "/foldnote/" in pattern or getattr(rule.target, "__module__", "").startswith("foldnote"):
            path = pattern.removesuffix("$").removeprefix("/hub/user").removeprefix("/foldnote/api/")
            yield path.replace("([^/]+)", "NAME"), rule.target


def own_methods(handler):
    """Return the methods that a handler defines beyond those of every handler."""
    for name in RequestHandler.SUPPORTED_METHODS:
        strange = {getattr(RequestHandler, name.lower()), getattr(APIHandler, name.lower())}
        if getattr(handler, name.lower()) not in strange:
            yield name


async def test_every_route_and_method_of_the_server_is_asked_here(server_app):
    served = dict(served_routes(server_app.web_app.default_router))
    assert set(served) == set(ASKED)
    for path, handler in served.items():
        assert set(own_methods(handler)) == {method for method, *_ in ASKED[path]}, path
        assert not issubclass(handler, WebSocketHandler), f"{path}: streams are not scanned here"


async def test_every_route_but_the_drawing_program_wants_a_login(jupyter):
    for path, rows in ASKED.items():
        for method, address, _ in rows:
            answer = await jupyter.request(method, address)
            assert answer.status_code == (200 if path.startswith("static/") else 403), address
            assert path.startswith("static/") or "error" in answer.json()


async def test_every_route_that_changes_something_wants_more_than_a_cookie(jupyter):
    await jupyter.get("jobs", headers=LOGIN)
    for rows in ASKED.values():
        for method, address, _ in rows:
            answer = await jupyter.request(method, address) if method not in ("GET", "HEAD") else None
            assert answer is None or answer.status_code == 403, address


def forms_of(secret):
    """Return the encodings in which a secret may appear."""
    in_base64 = base64.b64encode(secret.encode()).decode().rstrip("=")
    return {secret, quote(secret, safe=""), html.escape(secret), json.dumps(secret)[1:-1], in_base64}


def find_secrets(asked, answer, secrets):
    """Describe the secrets in ``answer``."""
    parts = {"its headers": repr(answer.headers.multi_items()), "its body": answer.content.decode("latin-1")}
    for where, text in parts.items():
        plain = text.replace("\\u0026", "&") + unquote_to_bytes(text).decode("latin-1")
        for secret in secrets:
            if any(form in plain for form in forms_of(secret)):
                yield f"{asked}: a key in {where}"
        if any(mark in plain.lower() for mark in (SIGNATURE, "signature=", "x-amz-signature", "x-api-key")):
            yield f"{asked}: a signed link in {where}"


async def ask_every_route(jupyter, mark, paths=ASKED):
    """Yield each request and its response."""
    upload = ""
    for path in paths:
        for method, address, body in ASKED[path]:
            given = body | {"mark": mark} if path == "files/uploads" else body
            content = given if isinstance(given, bytes) or given is None else json.dumps(given)
            to = address.replace("UPLOAD", upload)
            answer = await jupyter.request(method, to, headers=LOGIN, content=content)
            assert answer.status_code != 500, (mark, method, to, answer.text)
            if path.startswith("files/") and answer.is_success and "id" in answer.json():
                upload = answer.json()["id"]
            yield f"{mark}: {method} {to}", answer
        if path in ("files/uploads/NAME/finish", "files/contents"):
            await jupyter.delete(f"files/uploads/{upload}", headers=LOGIN)


def gossip(answer):
    """A service that repeats the key and a signed link wherever possible in valid responses."""
    words = f"seen {answer.request.headers.get('x-api-key', '')} {SIGNED}"

    def add(value):
        if isinstance(value, list):
            return [add(each) for each in value]
        if not isinstance(value, dict):
            return value
        told = {name: add(each) for name, each in value.items()}
        return told | {name: words for name in TEXTS if isinstance(told.get(name, ""), str | None)}

    is_file = answer.request.url.path.startswith(
        "/download/"
    )  # the user's own bytes, requested without a key
    if is_file or "json" not in answer.headers.get("content-type", ""):
        return answer
    body = add(json.loads(answer.content))
    headers = {"x-echo": words, "set-cookie": f"key={words}", "content-type": "application/json"}
    return httpx.Response(answer.status_code, json=body, headers=headers, request=answer.request)


def refuses(status, body="json"):
    """A service that refuses everything and puts the key and a signed link into the body and the headers."""

    def turn(answer):
        key = answer.request.headers.get("x-api-key", "")
        words = f"no {key} at {SIGNED}"
        headers = {"x-echo": words, "www-authenticate": f"key {key}", "location": f"{SIGNED}&key={key}"}
        content = {"json": {"error": words, "message": words, "unknown": words}, "text": words}[body]
        text = json.dumps(content) if body == "json" else f"<html><h1>{content}</h1></html>"
        return httpx.Response(status, text=text, headers=headers, request=answer.request)

    return turn


MOODS = {
    "400": refuses(400),
    "401": refuses(401),
    "403": refuses(403),
    "404": refuses(404),
    "429": refuses(429),
    "500": refuses(500),
    "502 of a proxy": refuses(502, "text"),
    "a redirect": refuses(302),
    "another page": refuses(200, "text"),
}


@pytest.fixture
def is_hasty(monkeypatch):
    """Disable retries and the rate limit."""
    monkeypatch.setattr("foldnote.client.core.connection.retry_delays", lambda *_: iter(()))
    monkeypatch.setenv("FOLDNOTE_REQUESTS_PER_SECOND", "1000")


@pytest.fixture
def secrets(service, trial):
    """Return every key that the server knows, including the token of the claim."""
    return {service.key, service.hosted_key, GIVEN_KEY, trial.claim_url.rpartition("=")[2]}


async def submit(service):
    async with service.client() as client:
        tool = await client.tools.get("anarci")
        await client.jobs.submit(tool, tool.example_job["settings"], job_name=JOB)
        await client.jobs.wait([JOB], 60)


async def test_a_service_that_refuses_and_repeats_the_key_tells_no_page(
    jupyter, service, secrets, is_hasty, caplog, tmp_path
):
    caplog.set_level(logging.DEBUG)
    (tmp_path / "local.pdb").write_text("ATOM")
    asks_service = [path for path in ASKED if path not in WITHOUT_SERVICE]
    await wait_for_state(jupyter, "ok")
    for name, mood in MOODS.items():
        service.mood = mood
        await jupyter.post("refresh", headers=LOGIN)
        state = "unauthorized" if name == "401" else "unreachable"
        told = await wait_for_state(jupyter, state)
        assert told["service"]["error"], name
        async for asked, answer in ask_every_route(jupyter, name, asks_service):
            assert list(find_secrets(asked, answer, secrets)) == []
            assert "Location" not in answer.headers, asked
    assert not [secret for secret in secrets if secret in caplog.text]


async def test_a_service_that_repeats_the_key_in_good_answers_tells_no_page(
    jupyter, service, trial, secrets, is_hasty, tmp_path
):
    (tmp_path / "local.pdb").write_text("ATOM")
    await submit(service)
    service.mood = gossip
    await wait_for_state(jupyter, "ok", lambda body: bool(body["jobs"]))
    heard = {asked: answer async for asked, answer in ask_every_route(jupyter, "gossip")}
    claim = heard.pop("gossip: GET account/claim?profile=hosted")
    assert claim.headers.pop("Location") == trial.claim_url  # the only link to which a person is redirected
    assert list(find_secrets("the claim", claim, secrets)) == []
    for asked, answer in heard.items():
        assert list(find_secrets(asked, answer, secrets)) == []
    job = heard["gossip: GET jobs"].json()["jobs"][0]
    assert "bucket.test" in job["error"], "the changed response did not reach the page"
    assert "manifest" in heard[f"gossip: GET jobs/{JOB}/view"].text
    assert heard[f"gossip: GET jobs/{JOB}/result"].content.startswith(b"PK")
    assert heard["gossip: POST files/uploads/" + heard_id(heard) + "/finish"].json()["path"] == "a.txt"


def heard_id(heard):
    return heard["gossip: POST files/uploads"].json()["id"]


@pytest.fixture
async def echo():
    """Start a service that repeats the key that it received, with the status in its path; return its address."""

    class Echo(RequestHandler):
        def get(self, status):
            key = self.request.headers.get("x-api-key", "none")
            self.set_header("X-Echo", key)
            self.set_header("Location", f"{SIGNED}&key={key}")
            self.set_status(int(status))
            self.finish({"error": f"The key {key} is none: {SIGNED}", "message": key})

    front = HTTPServer(Application([(r"/(\d+)/.*", Echo)]))
    sockets = bind_sockets(0, "127.0.0.1")
    front.add_sockets(sockets)
    yield f"http://127.0.0.1:{sockets[0].getsockname()[1]}"
    front.stop()
    await front.close_all_connections()


async def test_a_key_that_is_tried_is_in_no_answer(jupyter, echo, is_hasty):
    for status in (200, 302, 400, 401, 403, 404, 500):
        given = {"name": f"lab{status}", "url": f"{echo}/{status}", "key": GIVEN_KEY}
        answer = await jupyter.post("profiles", headers=LOGIN, json=given)
        assert list(find_secrets(f"POST profiles of {status}", answer, {GIVEN_KEY})) == []


@pytest.mark.parametrize(
    "leak",
    [
        {"json": {"error": f"{GIVEN_KEY} is wrong"}},
        {"content": base64.b64encode(GIVEN_KEY.encode())},
        {"headers": {"Set-Cookie": f"key={GIVEN_KEY}"}},
        {"headers": {"Location": SIGNED}},
        {"content": json.dumps({"url": SIGNED}).replace("&", "\\u0026").encode()},
        {"content": quote(SIGNED, safe="").encode()},
        {"content": b"/download?expires=1&signature=abc"},
    ],
)
def test_the_scan_finds(leak):
    assert list(find_secrets("a leak", httpx.Response(200, **leak), {GIVEN_KEY}))


def test_a_signed_link_is_covered_to_its_end_and_not_beyond():
    told = {
        "log": f"from {SIGNED}\nnext line",
        "url": "https://h/d?sv=1&sig=a%2F",
        "plain": "http://h/d?page=2",
    }
    covered = json.loads(redact_links(json.dumps(told).replace("&X-Amz-E", "\\u0026X-Amz-E").encode()))
    assert covered["log"] == f"from https://bucket.test/{JOB}.zip?[signature]\nnext line"
    assert (covered["url"], covered["plain"]) == ("https://h/d?[signature]", "http://h/d?page=2")


@pytest.mark.parametrize(
    "link", ["https://h/d?sig=a", "https://h/d?v=1\\u0026sig=a", "https://h/d?X-AMZ-SIGNATURE=a"]
)
def test_a_signed_link_is_covered_however_its_query_is_written(link):
    assert redact_links(f'"{link}"'.encode()) == b'"https://h/d?[signature]"'


def cover_seconds(body):
    """Return the minimum processor time of redaction in seven runs."""
    return min(timeit.repeat(lambda: redact_links(body), timer=time.process_time, number=3, repeat=7))


@pytest.mark.parametrize("piece", [b"http://a?", b"http://a?sig", b"http://", b"?", b"http://a?\\u0026"])
def test_a_hostile_log_takes_time_by_its_length(piece):
    """The server's event loop waits for it: twice the log takes twice as long, or too little time to measure."""
    mark, count = b" https://h/d?signature=a", 30_000 // len(piece)
    once, twice = cover_seconds(piece * count + mark), cover_seconds(piece * 2 * count + mark)
    ordinary = cover_seconds(b"12:00:00 step 1 of 3, see http://a " * 900 + mark)
    assert twice < 3 * max(once, ordinary) + 0.005
    assert once < 100 * ordinary


async def test_the_scan_finds_a_handler_that_leaks(jupyter, secrets, service, monkeypatch):
    async def leaky(handler):
        handler.finish({"message": "asked", "key": service.key})

    monkeypatch.setattr(RefreshHandler, "post", leaky)
    found = [
        fault
        async for asked, answer in ask_every_route(jupyter, "leak", ["refresh"])
        for fault in find_secrets(asked, answer, secrets)
    ]
    assert found == ["leak: POST refresh: a key in its body"]
