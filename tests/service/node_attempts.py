"""A node as the service sees it: the requests of one attempt, sent as a test needs them."""

import hashlib
import io
import zipfile

import httpx
from node_service import NodeService


def start(service, identity, nonce=None) -> httpx.Response:
    body = {"jobId": identity.job_id, "number": identity.number, "nonce": nonce or identity.nonce}
    return service.client.post("/internal/attempts/start", json=body)


class RunningNode:
    """A node that has started its attempt."""

    def __init__(self, service: NodeService, identity, answer: httpx.Response | None = None) -> None:
        """Create the node; `answer` is the response that started the attempt, unless its nonce does."""
        self.service, self.identity = service, identity
        answer = answer or self.start()
        assert answer.status_code == 200, answer.text
        self.order = answer.json()["order"]
        self.headers = {"authorization": f"Bearer {answer.json()['token']}"}
        self.path = f"/internal/attempts/{identity.job_id}/{identity.number}"

    def start(self) -> httpx.Response:
        return start(self.service, self.identity)

    def send_heartbeat(self, **body) -> httpx.Response:
        return self.service.client.post(f"{self.path}/heartbeat", json=body, headers=self.headers)

    def upload(self, content: bytes, name="result.zip", sha256=None, **more) -> httpx.Response:
        digest = sha256 or hashlib.sha256(content).hexdigest()
        headers = {**self.headers, "x-content-sha256": digest}
        url = f"{self.service.url}{self.path}/outputs/{name}"
        return self.service.client.put(url, content=content, headers=headers, **more)

    def finish(self, content: bytes = b"", *, client: httpx.Client | None = None, **more) -> httpx.Response:
        body = {
            "state": "succeeded",
            "nonce": self.identity.nonce,
            "resultSizeBytes": len(content),
            "resultSha256": hashlib.sha256(content).hexdigest(),
            "started": "2026-11-24T00:00:00.000Z",
            "ended": "2026-11-24T00:00:01.000Z",
        }
        client = client or self.service.client
        return client.post(f"{self.path}/outcome", json=body | more, headers=self.headers)

    @property
    def place(self):
        return self.service.root / self.identity.place

    @property
    def is_alive(self) -> bool:
        return self.service.attempts.poll(self.identity, may_start=False).alive


def archive(name: str = "a.txt") -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as opened:
        opened.writestr(name, "content")
    return stream.getvalue()


def refused(answer: httpx.Response, status: int, code: str) -> bool:
    return (answer.status_code, answer.json()["code"]) == (status, code)
