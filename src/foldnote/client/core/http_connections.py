"""Configure httpx (certificates and proxies), and explain connection failures.

If the environment names an unusable proxy, this is reported only when a request needs the proxy; requests to
this machine do not. This module sends nothing itself.
"""

from __future__ import annotations

import ssl
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any, TypeVar

import httpx

from foldnote.client.core.operations import Call, Download
from foldnote.errors import (
    ConfigurationError,
    FoldnoteError,
    RequestTimeoutError,
    ResultError,
    ServiceUnreachableError,
)

C = TypeVar("C", httpx.Client, httpx.AsyncClient)
_NOTHING_SENT = (
    httpx.ConnectError,
    httpx.ConnectTimeout,
    httpx.PoolTimeout,
    httpx.UnsupportedProtocol,
    httpx.InvalidURL,
    UnicodeError,
)
_OWN = ("all://127.0.0.1", "all://localhost", "all://[::1]")
_LIBRARIES = ("httpx", "httpcore")


def connect(kind: type[C], transport: Callable[..., object]) -> C:
    """Create an httpx client.

    Loopback addresses bypass the proxy, which cannot reach them.

    Raises:
        ConfigurationError: SSL_CERT_FILE or SSL_CERT_DIR cannot be read.
    """
    certificates = _read_certificates()  # slow to read, so shared by all clients
    mounts: dict[str, Any] = {host: transport(verify=certificates) for host in _OWN}
    try:
        return kind(verify=certificates, mounts=mounts)
    except (ImportError, ValueError, httpx.InvalidURL) as exc:  # an invalid proxy in the environment
        return kind(verify=certificates, mounts=mounts | {"all://": _NoProxy(str(exc))}, trust_env=False)


def _read_certificates() -> ssl.SSLContext:
    try:
        return httpx.create_ssl_context()
    except OSError as exc:
        reason = exc.strerror or exc
        raise ConfigurationError(
            f"The certificates that SSL_CERT_FILE or SSL_CERT_DIR names cannot be read: {reason}."
            " Correct the variable, or unset it."
        ) from exc


class _NoProxy(httpx.BaseTransport, httpx.AsyncBaseTransport):
    """Transport that stands in for an unusable proxy: connecting directly would bypass the user's setting."""

    def __init__(self, reason: str) -> None:
        self._reason = reason

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        names = "ALL_PROXY, HTTPS_PROXY, HTTP_PROXY or NO_PROXY"
        message = f"the proxy that {names} names cannot be used ({self._reason.rstrip('.')})"
        raise httpx.UnsupportedProtocol(message, request=request)

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        return self.handle_request(request)


def explain(exc: BaseException, effect: Call | Download) -> BaseException:
    """Convert an exception of httpx or the operating system to ours; return any other unchanged.

    Frames of httpx are dropped from the traceback, since their variables hold the key.
    """
    address = effect.url.partition("?")[0]  # without a link's signature
    was_sent = not isinstance(exc, _NOTHING_SENT)
    if isinstance(exc, httpx.TimeoutException):
        text = f"{address} did not answer within {effect.timeout_s:g} s. Try again, or check the service."
        return RequestTimeoutError(text, was_sent=was_sent)
    if isinstance(exc, UnicodeEncodeError) and exc.encoding != "idna":  # the host, from Python 3.13
        return FoldnoteError(
            f"{exc.object!r} contains a character that is not valid in a URL. Type it again."
        )
    if isinstance(exc, httpx.RequestError | httpx.InvalidURL | UnicodeError):
        return ServiceUnreachableError(
            _describe_failure(address, str(exc) or type(exc).__name__), was_sent=was_sent
        )
    if isinstance(exc, OSError):
        return _explain_file(exc, effect)
    if isinstance(exc, FoldnoteError):
        return exc
    exc.__cause__ = exc.__context__ = None
    return exc.with_traceback(_find_inner_frames(exc.__traceback__))


def _describe_failure(address: str, reason: str) -> str:
    reason = reason.rstrip(".")
    if "CERTIFICATE_VERIFY_FAILED" in reason:
        return (
            f"{address} has a certificate that this computer does not trust: {reason}. If it is the right"
            " service, set SSL_CERT_FILE to the file of its certificate authority."
        )
    return f"{address} cannot be reached: {reason}. Check the address, and that the service is running."


def _explain_file(exc: OSError, effect: Call | Download) -> FoldnoteError:
    """Explain an error of the local file that is sent or written."""
    reason = exc.strerror or exc
    if isinstance(effect, Download):
        return ResultError(
            f"The download cannot be written to {effect.part.parent}: {reason}. Free space there, or set"
            " FOLDNOTE_HOME to another place."
        )
    place = effect.content if isinstance(effect.content, Path) else "The request"
    return FoldnoteError(f"{place} cannot be sent: {reason}.")


def _find_inner_frames(trace: TracebackType | None) -> TracebackType | None:
    """Return the part of a traceback below httpx, such as a progress callback; all of it without httpx."""
    is_inside, found, whole = False, None, trace
    while trace is not None:
        library = str(trace.tb_frame.f_globals.get("__name__")).partition(".")[0]
        if library in _LIBRARIES:
            is_inside, found = True, None
        elif is_inside and found is None and library == "foldnote":
            found = trace
        trace = trace.tb_next
    return found if is_inside else whole
