"""API keys: generated here, shown once, stored as SHA-256 only."""

from __future__ import annotations

import secrets
from pathlib import Path

from foldnote.io import hash_bytes, write_atomically

KEY_PREFIX = "fn_"


def make_key() -> str:
    """Generate a key of 32 random bytes."""
    return KEY_PREFIX + secrets.token_urlsafe(32)


def hash_key(key: str) -> str:
    """Return the SHA-256 (hex) of a key, as stored; one round suffices for 256 random bits."""
    return hash_bytes(key.encode("utf-8", "surrogatepass"))


def read_or_make_key_file(path: Path) -> str:
    """Read the key from a private file; create the file if missing.

    Raises:
        OSError: the file can be neither read nor written.
    """
    try:
        if path.stat().st_mode & 0o077:
            path.chmod(0o600)
        key = path.read_text("ascii").strip()
        if key:
            return key
    except FileNotFoundError:
        pass
    key = make_key()
    write_atomically(path, key + "\n", is_private=True, is_durable=True)
    return key
