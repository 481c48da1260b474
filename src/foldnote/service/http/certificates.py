"""TLS in the service itself: check the certificate before using it, and load renewed ones while running.

OpenSSL's context accepts a certificate even if its key does not match, and then refuses every connection.
Therefore a renewed pair is tried in a separate context before it is loaded into the one in use.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import ssl
from dataclasses import dataclass
from pathlib import Path

from foldnote.errors import ConfigurationError

log = logging.getLogger(__name__)
CHECK_INTERVAL_S = 10.0

Version = tuple[tuple[int, int, int], ...]
"""Per file: the time of its last change in nanoseconds, its inode, and its size."""


@dataclass(frozen=True)
class Certificate:
    """Files with the certificate chain and its key, in PEM.

    Attributes:
        chain: the service's certificate, then those of its issuers.
        key: the private key; None if the first file contains it.
    """

    chain: Path
    key: Path | None = None

    def require_usable(self) -> None:
        """Check that the files can be read and match.

        Raises:
            ConfigurationError: the message names the files and what is wrong.
        """
        try:
            self.make_context()
        except (OSError, ValueError) as exc:  # ssl.SSLError is an OSError
            files = " and ".join(str(path) for path in (self.chain, self.key) if path is not None)
            reason = getattr(exc, "reason", None) or getattr(exc, "strerror", None) or str(exc)
            raise ConfigurationError(
                f"{files} cannot be used for TLS: {str(reason).replace('_', ' ').lower()}. --tls-cert needs a"
                " certificate chain in PEM, and --tls-key its private key without a passphrase."
            ) from exc

    def make_context(self) -> ssl.SSLContext:
        """Return a server context with Python's defaults for versions and ciphers, for TLS 1.2 and later.

        Raises:
            OSError: the files cannot be read or do not match.
        """
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        self.load(context)
        return context

    def load(self, context: ssl.SSLContext) -> None:
        """Load it into a context, for new connections.

        Raises:
            OSError: the files cannot be read or do not match.
        """
        context.load_cert_chain(self.chain, self.key, password="")

    def version(self) -> Version:
        """Return the version of the files, which changes when one is replaced or rewritten.

        Raises:
            OSError: a file is missing.
        """
        states = [path.stat() for path in (self.chain, self.key) if path is not None]
        return tuple((state.st_mtime_ns, state.st_ino, state.st_size) for state in states)


def find_certificate(chain: Path | None, key: Path | None) -> Certificate | None:
    """Return the certificate of these options; None if there are none.

    Raises:
        ConfigurationError: there is only a key.
    """
    if chain is not None:
        return Certificate(chain, key)
    if key is not None:
        raise ConfigurationError("--tls-key needs --tls-cert, the certificate that the key belongs to.")
    return None


async def follow_renewals(
    certificate: Certificate, context: ssl.SSLContext, used: Version, reload_requested: asyncio.Event
) -> None:
    """Use a renewed certificate for new connections, within seconds or on request, until cancelled.

    Args:
        certificate: the files.
        context: the context in use.
        used: the files' version before the context was created, so that a later renewal is noticed.
        reload_requested: set to load the files at once, even if their version is unchanged.
    """
    while True:
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(reload_requested.wait(), CHECK_INTERVAL_S)
        must_load = reload_requested.is_set()
        reload_requested.clear()
        try:
            version = certificate.version()
            if version == used and not must_load:
                continue
            used = version  # a bad pair is reported once, not every few seconds
            certificate.require_usable()
            certificate.load(context)
        except (OSError, ConfigurationError) as exc:
            log.error("The renewed certificate is not used: %s The earlier one stays in use.", exc)
        else:
            log.warning("a renewed certificate is used for new connections")
