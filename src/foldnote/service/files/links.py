"""Signed links: the path names the content, and the signature covers the whole path.

HMAC-SHA-256 over method, path, expiry, object, the account that it was given to and the holder that must
still exist. A changed or late link is 403, and so is one of an account whose keys are all dead; one whose
job or file was deleted, or is not for that account any more, is 404. They need no key, so they live an hour.
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
    """What a link fetches.

    Attributes:
        holder: `job` or `file`: whose content it is.
        holder_id: row of the job, identifier of the file.
        owner: row of the account that the link was given to.
        sha256: the content.
        name: what the download is called.
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
    """What a presigned upload writes: a file of an account, below `/presigned`.

    Attributes:
        owner: row of the account.
        folder: folder of the file, empty at the top.
        name: name of the file.
    """

    owner: int
    folder: str
    name: str
    sha256: str = ""

    @property
    def path(self) -> str:
        """Path of the link."""
        place = f"{self.folder}/{self.name}" if self.folder else self.name
        return f"/presigned/{quote(place)}"


def link_revoked() -> RefusalError:
    """403 for a link of an account without a valid key."""
    return RefusalError(403, "link_revoked", "The key that this link was made for is not valid any more.")


class LinkSigner:
    """Signs and checks links; old secrets stay valid until their links expire."""

    def __init__(self, secrets: Mapping[str, bytes], lifetime_s: int) -> None:
        self._secrets = dict(secrets)
        self._current = next(iter(secrets))
        self._lifetime_s = lifetime_s

    def sign(self, target: Target | UploadTarget, method: str = "GET") -> str:
        """Path and query of a link that works from now for the lifetime, with this method only."""
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
            RefusalError: 403.
        """
        secret = self._secrets.get(key_id)
        expected = self._signature(secret, method, target, expires) if secret else ""
        given = signature.encode("utf-8", "surrogatepass")
        if not secret or not hmac.compare_digest(expected.encode(), given):
            raise RefusalError(403, "invalid_signature", "The link was changed. Ask for a new one.")
        if expires < time.time():
            raise RefusalError(403, "link_expired", "The link is too old. Ask for a new one.")

    @staticmethod
    def _signature(secret: bytes, method: str, target: Target | UploadTarget, expires: int) -> str:
        parts = (method, target.path, str(expires), target.sha256, str(target.owner))
        return hmac.new(secret, "\n".join(parts).encode(), hashlib.sha256).hexdigest()
