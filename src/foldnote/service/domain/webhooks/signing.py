"""Secrets of webhooks and signatures made with them, as Standard Webhooks defines both.

Receivers verify a request with any library for https://www.standardwebhooks.com: HMAC-SHA256 over the
delivery's identity, its time and its body.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import secrets

_PREFIX = "whsec_"
_BYTES = 32


def make_secret() -> bytes:
    """A new secret."""
    return secrets.token_bytes(_BYTES)


def write_secret(secret: bytes) -> str:
    """The secret as receivers are given it."""
    return _PREFIX + base64.b64encode(secret).decode()


def sign(secret: bytes, delivery_id: str, moment_s: int, body: bytes) -> dict[str, str]:
    """The headers that identify a delivery and prove where it comes from.

    Args:
        secret: of the account.
        delivery_id: the same for all attempts of one webhook.
        moment_s: Unix time (s) of this attempt, which receivers compare with their clock.
        body: the whole body.
    """
    content = f"{delivery_id}.{moment_s}.".encode() + body
    mark = base64.b64encode(hmac.digest(secret, content, hashlib.sha256)).decode()
    return {
        "webhook-id": delivery_id,
        "webhook-timestamp": str(moment_s),
        "webhook-signature": f"v1,{mark}",
    }
