"""A receiver of webhooks: a real HTTP server that stores requests and responds as the test says."""

import json
import ssl
import threading
import time
from collections.abc import Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path


class Receiver:
    """A server on this machine; with a certificate and key it uses TLS."""

    def __init__(self, certificate: Path | None = None, key: Path | None = None, port: int = 0) -> None:
        self.requests: list[tuple[str, dict[str, str], bytes]] = []
        self.answers: list[int] = []
        """Statuses of the next answers; 200 when there are no more."""
        self.location = ""
        self.held = threading.Event()
        self.held.set()
        owner = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"]))
                owner.requests.append((self.path, dict(self.headers), body))
                status = owner.answers.pop(0) if owner.answers else 200
                owner.held.wait(60)
                self.send_response(status)
                if owner.location:
                    self.send_header("location", owner.location)
                self.end_headers()

            def do_GET(self) -> None:
                owner.requests.append((self.path, dict(self.headers), b""))  # a followed redirect
                self.send_error(405)

            def log_message(self, *_: object) -> None:
                """Log nothing."""

        self._server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
        self._server.daemon_threads = True
        self.port = self._server.server_address[1]
        scheme = "http"
        if certificate is not None:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(certificate, key)
            self._server.socket = context.wrap_socket(self._server.socket, server_side=True)
            scheme = "https"
        self.url = f"{scheme}://localhost:{self.port}"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)
        self._thread.start()

    def paths(self) -> Sequence[str]:
        return [path for path, _, _ in self.requests]

    def of(self, path: str) -> list[tuple[dict[str, str], bytes]]:
        return [(headers, body) for asked, headers, body in self.requests if asked == path]

    def names(self) -> list[str]:
        return [json.loads(body)["data"]["jobName"] for _, _, body in self.requests]

    def wait_for(self, path: str, number: int = 1, patience_s: float = 60) -> list[tuple[dict, bytes]]:
        until = time.monotonic() + patience_s
        while len(found := self.of(path)) < number:
            assert time.monotonic() < until, self.paths()
            time.sleep(0.02)
        return found

    def close(self) -> None:
        self.held.set()
        self._server.shutdown()
        self._server.server_close()
