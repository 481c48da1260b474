"""Webhook secrets and signatures according to Standard Webhooks.

Receivers can verify a request with any library for https://www.standardwebhooks.com: HMAC-SHA256 over the
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
    """Generate a new secret."""
    return secrets.token_bytes(_BYTES)


def write_secret(secret: bytes) -> str:
    """Encode the secret for receivers."""
    return _PREFIX + base64.b64encode(secret).decode()


def sign(secret: bytes, delivery_id: str, moment_s: int, body: bytes) -> dict[str, str]:
    """Return the headers that identify a delivery and authenticate it.

    Args:
        secret: the account's secret.
        delivery_id: identical for all attempts of one webhook.
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
