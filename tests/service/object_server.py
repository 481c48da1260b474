"""An object store for the tests: moto's S3 server in its own process, behind a gate that can fail."""

import atexit
import contextlib
import secrets
import socket
import subprocess
import sys
import threading
from functools import cache

import httpx

SOURCE = """
import sys
from moto.moto_server.threaded_moto_server import ThreadedMotoServer
server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
server.start()
print(server.get_host_and_port()[1], flush=True)
sys.stdin.read()
"""
CREDENTIALS = {
    "AWS_ACCESS_KEY_ID": "testing-name",
    "AWS_SECRET_ACCESS_KEY": "testing-secret",
    "AWS_REGION": "us-east-1",
    "AWS_EC2_METADATA_DISABLED": "true",
}
AWAY = b""


def refusal(status: str, code: str) -> bytes:
    """Return an S3 server's error response to any request."""
    body = f"<Error><Code>{code}</Code><Message>No.</Message></Error>"
    return f"HTTP/1.1 {status}\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n{body}".encode()


class Gate:
    """Forward connections to the server, or respond in its place.

    Attributes:
        answer: response to every request; `AWAY` closes connections, None forwards them.
        bytes_left: number of bytes to the server after which connections are cut; None for no limit.
    """

    def __init__(self, port: int) -> None:
        self._behind = port
        self.answer: bytes | None = None
        self.bytes_left: int | None = None
        self.requests: list[str] = []
        """The first line of each connection's first request."""
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while True:
            with contextlib.suppress(OSError):
                client, _ = self._listener.accept()
                threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        with client, contextlib.suppress(OSError):
            head = b""
            while self.answer != AWAY and (piece := client.recv(1 << 16)):
                head += piece
                self.requests.append(head.partition(b"\r\n")[0].decode("latin-1"))
                if self.answer is not None:
                    client.sendall(self.answer)
                    return
                with socket.create_connection(("127.0.0.1", self._behind)) as server:
                    back = threading.Thread(target=self._pass_on, args=(server, client), daemon=True)
                    back.start()
                    self._send(server, head)
                    while self.answer is None and (piece := client.recv(1 << 16)):
                        self._send(server, piece)
                    server.shutdown(socket.SHUT_RDWR)
                return

    def _send(self, server: socket.socket, piece: bytes) -> None:
        if self.bytes_left is not None:
            self.bytes_left -= len(piece)
            if self.bytes_left < 0:
                raise ConnectionResetError
        server.sendall(piece)

    @staticmethod
    def _pass_on(server: socket.socket, client: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while piece := server.recv(1 << 16):
                client.sendall(piece)
            client.shutdown(socket.SHUT_RDWR)


class ObjectServer:
    """moto's server, which keeps its contents in memory."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-c", SOURCE],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        self.port = int(self._process.stdout.readline())
        self.url = f"http://127.0.0.1:{self.port}"

    def make_bucket(self) -> str:
        """Create an empty bucket and return its name."""
        name = f"lab-{secrets.token_hex(6)}"
        assert httpx.put(f"{self.url}/{name}").status_code == 200
        return name

    def make_gate(self) -> Gate:
        return Gate(self.port)

    def close(self) -> None:
        self._process.kill()
        self._process.wait()


@cache
def object_server() -> ObjectServer:
    """Start this test process's server when it is first needed."""
    made = ObjectServer()
    atexit.register(made.close)
    return made
