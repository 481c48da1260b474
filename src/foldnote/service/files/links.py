"""Signed links: the path names the content, and the signature covers the whole path.

HMAC-SHA-256 over method, path (which names the job or file), expiry, content and the account for which it was
issued. A modified or expired link is answered with 403, as is a link of an account without a valid key; the
answer is 404 if the job or file was deleted or is no longer accessible to the account. Links need no key, so
they expire after an hour.
"""

from __future__ import annotations

import hashlib
import hmac
import time
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import quote, urlencode

from foldnote.service.faults import RefusalError


@dataclass(frozen=True)
class Target:
    """The content that a link downloads.

    Attributes:
        holder: `job` or `file`, the kind of row that has the content.
        holder_id: row of the job, or identifier of the file.
        owner: row of the account for which the link was issued.
        sha256: hash of the content.
        name: file name of the download.
    """

    holder: str
    holder_id: str
    owner: int
    sha256: str
    name: str

    @property
    def path(self) -> str:
        """Path of the link."""
        return f"/download/{self.holder}/{self.holder_id}/{self.sha256}/{quote(self.name, safe='')}"


@dataclass(frozen=True)
class UploadTarget:
    """The file of an account that a presigned upload writes, below `/presigned`.

    Attributes:
        owner: row of the account.
        folder: folder of the file, empty for the top level.
        name: name of the file.
        sha256: empty, since the content is not known yet.
    """

    owner: int
    folder: str
    name: str
    sha256: str = ""

    @property
    def path(self) -> str:
        """Path of the link."""
        path = f"{self.folder}/{self.name}" if self.folder else self.name
        return f"/presigned/{quote(path)}"


def link_revoked() -> RefusalError:
    """Build the refusal (403) of a link whose account has no valid key."""
    return RefusalError(403, "link_revoked", "The account of this link no longer has a valid key.")


class LinkSigner:
    """Signs and checks links; old secrets remain valid until their links expire."""

    def __init__(self, secrets: Mapping[str, bytes], lifetime_s: int) -> None:
        self._secrets = dict(secrets)
        self._current = next(iter(secrets))
        self._lifetime_s = lifetime_s

    def sign(self, target: Target | UploadTarget, method: str = "GET") -> str:
        """Return path and query of a link for this method, which expires after the lifetime."""
        expires = int(time.time()) + self._lifetime_s
        query = {
            "owner": target.owner,
            "expires": expires,
            "keyId": self._current,
            "signature": self._signature(self._secrets[self._current], method, target, expires),
        }
        return f"{target.path}?{urlencode(query)}"

    def check(
        self,
        target: Target | UploadTarget,
        method: str = "GET",
        *,
        expires: int,
        key_id: str,
        signature: str,
    ) -> None:
        """Require a valid signature and an unexpired link.

        Raises:
            RefusalError: 403, the signature is invalid or the link expired.
        """
        secret = self._secrets.get(key_id)
        expected = self._signature(secret, method, target, expires) if secret else ""
        given = signature.encode("utf-8", "surrogatepass")
        if not secret or not hmac.compare_digest(expected.encode(), given):
            raise RefusalError(403, "invalid_signature", "The link was modified. Request a new one.")
        if expires < time.time():
            raise RefusalError(403, "link_expired", "The link has expired. Request a new one.")

    @staticmethod
    def _signature(secret: bytes, method: str, target: Target | UploadTarget, expires: int) -> str:
        parts = (method, target.path, str(expires), target.sha256, str(target.owner))
        return hmac.new(secret, "\n".join(parts).encode(), hashlib.sha256).hexdigest()
