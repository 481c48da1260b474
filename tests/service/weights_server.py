"""A real HTTP server for weights: with or without ranges, cutting connections, redirecting, sending wrong headers."""

import re
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class QuietServer(ThreadingHTTPServer):
    """A server that logs nothing when a client disconnects."""

    daemon_threads = True

    def handle_error(self, *_):
        pass


class WeightsServer:
    """Serve ``files`` by path on this machine, and record the requests.

    Attributes:
        files: content by path, such as ``/model.pt``.
        has_ranges: whether range requests are supported.
        cut_after: bytes of the body after which the connection is cut; None for never.
        cuts: number of further responses to cut.
        status: status to send instead of the content; None for the content.
        headers: additional response headers; None as a value removes one.
        redirects: target by path.
        etag: ETag of all files; empty for none.
        pause_s: seconds of delay before the body.
        stall_s: seconds of delay before a connection is cut.
        requests: path and headers of each request.
    """

    def __init__(self):
        self.files = {}
        self.has_ranges = True
        self.cut_after = None
        self.cuts = 0
        self.status = None
        self.headers = {}
        self.redirects = {}
        self.etag = '"one"'
        self.pause_s = 0.0
        self.stall_s = 0.0
        self.requests = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self):
                outer.answer(self)

            def log_message(self, *_):
                pass

        self._server = QuietServer(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)
        self._thread.start()

    @property
    def address(self):
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    @property
    def ranges(self):
        """Return the Range header of each request; None if it has none."""
        return [headers.get("Range") for _, headers in self.requests]

    def close(self):
        self._server.shutdown()
        self._server.server_close()

    def answer(self, request):
        self.requests.append((request.path, dict(request.headers)))
        if request.path in self.redirects:
            return self._send(request, 302, b"", {"Location": self.redirects[request.path]})
        if self.status is not None:
            return self._send(request, self.status, b"no")
        content = self.files.get(request.path)
        if content is None:
            return self._send(request, 404, b"no such file")
        wanted = re.match(r"bytes=(\d+)-", request.headers.get("Range") or "")
        if wanted is None or not self.has_ranges or request.headers.get("If-Range") not in (None, self.etag):
            return self._send(request, 200, content)
        begin = int(wanted[1])
        if begin >= len(content):
            return self._send(request, 416, b"", {"Content-Range": f"bytes */{len(content)}"})
        told = {"Content-Range": f"bytes {begin}-{len(content) - 1}/{len(content)}"}
        return self._send(request, 206, content[begin:], told)

    def _send(self, request, status, body, more=None):
        request.send_response(status)
        headers = {"Content-Length": str(len(body)), "Content-Type": "application/octet-stream"}
        headers |= {"ETag": self.etag} if self.etag else {}
        for name, value in (headers | (more or {}) | self.headers).items():
            if value is not None:
                request.send_header(name, value)
        request.end_headers()
        time.sleep(self.pause_s)
        is_cut = self.cut_after is not None and self.cuts > 0 and status < 300
        request.wfile.write(body[: self.cut_after] if is_cut else body)
        request.wfile.flush()
        if is_cut:
            self.cuts -= 1
            time.sleep(self.stall_s)
            request.close_connection = True
        if self.headers.get("Content-Length", "") is None:
            request.close_connection = True
