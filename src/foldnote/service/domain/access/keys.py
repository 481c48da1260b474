"""Keys: made here, handed out once, stored as SHA-256 only."""

from __future__ import annotations

import hashlib
import os
import secrets
from pathlib import Path

from foldnote.service.runner.attempt import sync_folder

KEY_PREFIX = "fn_"


def make_key() -> str:
    """A new key: 32 random bytes."""
    return KEY_PREFIX + secrets.token_urlsafe(32)


def hash_key(key: str) -> str:
    """What is stored of a key. One round is enough for 256 random bits."""
    return hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()


def read_or_make_key_file(path: Path) -> str:
    """The key in a private file, made once.

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
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w") as stream:
        stream.write(key + "\n")
        stream.flush()
        os.fsync(stream.fileno())
    draft.rename(path)
    sync_folder(path.parent)
    return key
