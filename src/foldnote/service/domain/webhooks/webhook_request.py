"""One POST to the URL of a webhook: resolved once, checked, and sent to exactly that IP address.

No redirect is followed and no proxy is used, since either could lead to a host that the administrator does
not allow. Only the status of the response is read.
"""

from __future__ import annotations

import http.client
import socket
import ssl
import threading
from collections.abc import Mapping
from pathlib import Path

from foldnote.service.domain.webhooks.webhook_options import AllowedAddress, WebhookAddress


class WebhookRefusedError(Exception):
    """The service may not call this URL; a retry would be refused, too. The text is a clause."""


class WebhookFailedError(Exception):
    """The attempt failed; a retry may succeed. The text is a clause."""


class PinnedConnection(http.client.HTTPConnection):
    """A connection to an IP address that was resolved before, with TLS if a context is given."""

    def __init__(
        self, address: WebhookAddress, ip_address: str, timeout_s: float, context: ssl.SSLContext | None
    ) -> None:
        super().__init__(address.host, address.port, timeout=timeout_s)
        self.default_port = http.client.HTTPS_PORT if context is not None else http.client.HTTP_PORT
        self._ip_address = ip_address
        self._context = context
        self.is_late = False

    def connect(self) -> None:
        """Connect to the IP address; the certificate must be valid for the host's name."""
        self.sock = socket.create_connection((self._ip_address, self.port), self.timeout)
        if self._context is not None:
            self.sock = self._context.wrap_socket(self.sock, server_hostname=self.host)

    def give_up(self) -> None:
        """Abort the current wait, from another thread."""
        self.is_late = True
        if (open_socket := self.sock) is not None:
            try:
                open_socket.shutdown(socket.SHUT_RDWR)
            except OSError:  # it has just been closed
                return


def make_context(certificates: Path | None) -> ssl.SSLContext:
    """Return a context that verifies certificates against the system's and those of the given file."""
    context = ssl.create_default_context()
    if certificates is not None:
        context.load_verify_locations(certificates)
    return context


def find_ip_address(address: WebhookAddress, entry: AllowedAddress) -> str:
    """Resolve the host once; return the first IP address that the entry permits.

    Raises:
        WebhookFailedError: the host cannot be resolved now.
        WebhookRefusedError: it has only addresses that are not public and that the entry does not name.
    """
    try:
        addresses = socket.getaddrinfo(address.host, address.port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as exc:
        raise WebhookFailedError("its host is not known") from exc
    found = [str(each[4][0]) for each in addresses]
    permitted = next((ip_address for ip_address in found if entry.permits(ip_address)), None)
    if permitted is None:
        raise WebhookRefusedError(
            "its host is in a network that is not public, and that the administrator does not name for it"
        )
    return permitted


def post(
    address: WebhookAddress,
    ip_address: str,
    body: bytes,
    headers: Mapping[str, str],
    timeout_s: float,
    context: ssl.SSLContext,
) -> None:
    """Send the body to the IP address within the time limit.

    Raises:
        WebhookFailedError: the receiver did not confirm that it has accepted the request.
    """
    own = PinnedConnection(address, ip_address, timeout_s, context if address.scheme == "https" else None)
    watch = threading.Timer(timeout_s, own.give_up)  # a socket's own timeout restarts with each byte
    watch.daemon = True
    watch.start()
    try:
        own.request("POST", address.target, body, dict(headers))
        status = own.getresponse().status
    except ssl.SSLCertVerificationError as exc:
        raise WebhookFailedError(f"its certificate is not valid ({exc.verify_message})") from exc
    except (OSError, http.client.HTTPException) as exc:
        slow = own.is_late or isinstance(exc, TimeoutError)
        reason = f"it took longer than {timeout_s:g} s" if slow else _name(exc)
        raise WebhookFailedError(reason) from exc
    finally:
        watch.cancel()
        own.close()
    if 300 <= status < 400:
        raise WebhookFailedError(f"it answered {status}, and redirects are not followed")
    if not 200 <= status < 300:
        raise WebhookFailedError(f"it answered {status}")


def _name(exc: Exception) -> str:
    if isinstance(exc, ConnectionRefusedError):
        return "nothing listens there"
    if isinstance(exc, http.client.HTTPException):
        return "its answer is not HTTP"
    return (getattr(exc, "strerror", None) or "the connection failed").rstrip(".").lower()
