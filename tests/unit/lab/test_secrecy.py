"""No answer to a page holds the key or a signed link: every route is asked, and one that is not listed here fails."""

import asyncio
import base64
import json
from urllib.parse import quote

from lab_fixtures import TOKEN
from tornado.web import RequestHandler

from foldnote.lab.routes import ROUTES

LOGIN = {"Authorization": f"token {TOKEN}"}
GIVEN_KEY = "a-key-that-a-person-typed-in-once"
JOB = "secret.structure.log"

ASKED = {
    "jobs": [("GET", "jobs", None)],
    "jobs/older": [("GET", "jobs/older?key=none", None)],
    "jobs/members": [("GET", "jobs/members", None)],
    "jobs/NAME/subjobs": [("GET", f"jobs/{JOB}/subjobs", None)],
    "jobs/NAME/log": [("GET", f"jobs/{JOB}/log", None), ("GET", "jobs/none/log", None)],
    "jobs/NAME/settings": [("GET", f"jobs/{JOB}/settings", None)],
    "jobs/NAME/result": [
        ("GET", f"jobs/{JOB}/result", None),
        ("POST", f"jobs/{JOB}/result", None),
        ("GET", f"jobs/{JOB}/result?file=manifest.json", None),
        ("GET", "jobs/none/result", None),
    ],
    "jobs/NAME/view": [("GET", f"jobs/{JOB}/view", None), ("GET", "jobs/none/view", None)],
    "refresh": [("POST", "refresh", {})],
    "tools": [("GET", "tools", None)],
    "tools/NAME": [("GET", "tools/anarci", None), ("GET", "tools/none", None)],
    "advice": [("POST", "advice", {"prompt": "number an antibody"})],
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
    "account": [("GET", "account", None), ("GET", "account?fresh=1", None)],
    "account/claim": [("GET", "account/claim", None)],
    "engines": [("GET", "engines", None)],
    "engines/NAME": [("POST", "engines/none", {"action": "install"})],
    "static/(3Dmol-min\\.js)": [("GET", "static/3Dmol-min.js", None)],
    "jobs/keep": [("POST", "jobs/keep", {"names": [JOB]})],
    "jobs/tag": [("POST", "jobs/tag", {"names": [JOB], "added": ["a"], "removed": []})],
    "jobs/stop": [("POST", "jobs/stop", {"names": [JOB, "none"]})],
    "jobs/delete": [("POST", "jobs/delete", {"names": [JOB, "none"]})],
}
"""What is asked of each route, in this order: method, path, body. What deletes stands last."""


def listed_routes():
    """Each route without its beginning, and the methods that it has."""
    for pattern, handler, *_ in ROUTES:
        path = pattern.removeprefix("/foldnote/api/").replace("([^/]+)", "NAME")
        names = ("GET", "POST", "PUT", "DELETE", "PATCH")
        own = {
            name
            for name in names
            if getattr(handler, name.lower()) is not getattr(RequestHandler, name.lower())
        }
        yield path, own


def test_every_route_and_method_is_asked_here():
    routes = dict(listed_routes())
    assert set(routes) == set(ASKED)
    for path, methods in routes.items():
        assert methods == {method for method, *_ in ASKED[path]}, path


async def ask_every_route(jupyter):
    """Every answer: what was asked, its headers and its body as text."""
    upload = ""
    for rows in ASKED.values():
        for method, path, body in rows:
            content = body if isinstance(body, bytes) or body is None else json.dumps(body)
            address = path.replace("UPLOAD", upload)
            answer = await jupyter.request(method, address, headers=LOGIN, content=content)
            if path == "files/uploads":
                upload = answer.json()["id"]
            assert answer.status_code != 500, (method, path, answer.text)
            body_text = answer.content.decode("latin-1")
            yield f"{method} {path}", f"{answer.headers} {body_text}"


async def test_no_answer_holds_a_key_or_a_signed_link(jupyter, service, tmp_path):
    (tmp_path / "local.pdb").write_text("ATOM")
    async with service.client() as client:
        tool = await client.tools.get("anarci")
        await client.jobs.submit(tool, tool.example_job["settings"], job_name=JOB)
        await client.jobs.wait([JOB], 60)
    async with asyncio.timeout(60):  # the first look is answered before the service was asked
        while (await jupyter.get("jobs", headers=LOGIN)).json()["service"]["state"] != "ok":
            await asyncio.sleep(0.05)
    secrets = [service.key, GIVEN_KEY]
    forms = {
        form
        for key in secrets
        for form in (key, quote(key, safe=""), base64.b64encode(key.encode()).decode())
    }
    heard = [row async for row in ask_every_route(jupyter)]
    for asked, text in heard:
        for form in forms:
            assert form not in text, asked
        for mark in ("signature=", "x-amz-", "x-api-key", "expires="):
            assert mark not in text.lower().replace(f"set-cookie: {mark}", ""), (asked, mark)
    texts = dict(heard)
    assert JOB in texts["GET jobs"]
    assert "anarci" in texts["GET tools"]
    assert "manifest" in texts[f"GET jobs/{JOB}/view"]
