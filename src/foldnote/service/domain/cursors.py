"""Continuation keys: opaque, signed positions of the next page, each valid for one account."""

from __future__ import annotations

import base64
import hashlib
import hmac
import re
import struct

from foldnote.service.faults import bad_request

_TAG_BYTES = 14
_POSITION = struct.Struct(">qq")
_FORM = re.compile(r"[A-Za-z0-9_\-]{40}")


class PageKeys:
    """Writes and reads continuation keys.

    Args:
        secret: signing key; a continuation key from another service or account is refused.
    """

    def __init__(self, secret: bytes) -> None:
        self._secret = hashlib.sha256(b"page keys" + secret).digest()

    def write(self, account_id: int, before: int) -> str:
        """Make the key of the page of rows older than `before`."""
        content = _POSITION.pack(account_id, before)
        return base64.urlsafe_b64encode(content + self._tag(content)).decode()

    def read(self, account_id: int, key: str) -> int:
        """Read the row before which the page begins.

        Raises:
            RefusalError: 400 if the key was not issued here for this account.
        """
        content, tag = self._split(key)
        if not hmac.compare_digest(tag, self._tag(content)):
            raise _refusal()
        owner, before = _POSITION.unpack(content)
        if owner != account_id:
            raise _refusal()
        return int(before)

    def _tag(self, content: bytes) -> bytes:
        return hmac.new(self._secret, content, hashlib.sha256).digest()[:_TAG_BYTES]

    @staticmethod
    def _split(key: str) -> tuple[bytes, bytes]:
        if not _FORM.fullmatch(key):
            raise _refusal()
        raw = base64.urlsafe_b64decode(key)
        return raw[:-_TAG_BYTES], raw[-_TAG_BYTES:]


def _refusal() -> Exception:
    sentence = (
        "startKey was not issued by this service for your account. Omit it to begin with the newest job."
    )
    return bad_request(sentence, code="invalid_start_key", field="startKey")
