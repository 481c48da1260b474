"""A tiny HTTP server on a real socket with scripted responses, including wrong, late and incomplete ones."""

import asyncio
import json
import threading
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

Answer = Callable[[asyncio.StreamWriter, dict], Awaitable[None]]


@dataclass
class Asked:
    """A received request."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes


def answers(body: object = "", status: int = 200, **headers: str) -> Answer:
    """Return a response with a body: text and bytes unchanged, anything else as JSON."""
    content = body.encode() if isinstance(body, str) else body
    if not isinstance(content, bytes):
        content = json.dumps(content).encode()

    async def write(writer, request):
        writer.write(_head(status, {"content-length": str(len(content))} | headers) + content)

    return write


def breaks(after: bytes = b"", announced: int = 0, **headers: str) -> Answer:
    """Return a response that resets the connection, before sending anything or in the middle of a body."""

    async def write(writer, request):
        if after:
            writer.write(_head(200, {"content-length": str(announced)} | headers) + after)
            await writer.drain()
            await asyncio.sleep(0.05)  # the client reads what was written before the reset destroys it
        writer.transport.abort()

    return write


def is_silent(seconds: float) -> Answer:
    """Return a response that is sent only after this many seconds."""

    async def write(writer, request):
        await asyncio.sleep(seconds)
        writer.transport.abort()

    return write


def serves(content: bytes, **headers: str) -> Answer:
    """Return a file that may be requested by range."""

    async def write(writer, request):
        begin = int(request["headers"].get("range", "bytes=0-").removeprefix("bytes=").rstrip("-"))
        rest = content[begin:]
        about = {"content-length": str(len(rest))} | headers
        if begin:
            about["content-range"] = f"bytes {begin}-{len(content) - 1}/{len(content)}"
        writer.write(_head(206 if begin else 200, about) + rest)

    return write


def floods(chunk: bytes = b" " * 65_536, pause_s: float = 0.0, **headers: str) -> Answer:
    """Return a response whose body never ends while the client reads it."""

    async def write(writer, request):
        writer.write(_head(200, headers))
        while not writer.is_closing():
            writer.write(chunk)
            await writer.drain()
            await asyncio.sleep(pause_s)

    return write


def _head(status: int, headers: dict[str, str]) -> bytes:
    lines = [
        f"HTTP/1.1 {status} Said",
        *(f"{name.replace('_', '-')}: {text}" for name, text in headers.items()),
    ]
    return ("\r\n".join(lines) + "\r\n\r\n").encode()


class ScriptedService:
    """The server, in a thread; `on` sets the responses of a route, `asked` has the received requests."""

    def __init__(self) -> None:
        self.asked: list[Asked] = []
        self.connections = 0
        self.script: dict[tuple[str, str], list[Answer]] = {}
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self._server = self._do(asyncio.start_server(self._serve, "127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"

    def on(self, method: str, path: str, *said: Answer) -> None:
        """Set the responses of a route, in order; the last one is repeated."""
        self.script[method, path] = list(said)

    def count(self, method: str, path: str) -> int:
        return sum(asked.method == method and asked.path.split("?")[0] == path for asked in self.asked)

    def close(self) -> None:
        self._do(self._end())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)
        self._loop.close()

    async def _end(self):
        self._server.close()
        tasks = asyncio.all_tasks() - {asyncio.current_task()}
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await asyncio.sleep(0)  # closes their connections

    def _do(self, work):
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(10)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        try:
            while line := (await reader.readline()).decode():
                method, path, _ = line.split(" ")
                headers = {}
                while (row := (await reader.readline()).decode().strip()) != "":
                    label, _, text = row.partition(":")
                    headers[label.lower()] = text.strip()
                body = await reader.readexactly(int(headers.get("content-length", 0)))
                self.asked.append(Asked(method, path, headers, body))
                said = self.script.get(
                    (method, path.split("?")[0]), [answers({"error": "no such route"}, 404)]
                )
                await (said.pop(0) if len(said) > 1 else said[0])(writer, {"headers": headers, "body": body})
                await writer.drain()
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            return
        finally:
            writer.close()
