"""Requests to an object store, with obstore, which is imported when the first bucket is opened.

A failed request is retried a few times within seconds; then an OSError says what happened. The messages of
the library are not passed on, since they may contain credentials.
"""

from __future__ import annotations

import errno
import hashlib
import os
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal

from foldnote.errors import ConfigurationError
from foldnote.service.files.bucket_address import BucketAddress

_RETRIES = 3
_RETRY_S, _CONNECT_S, _READ_S, _WHOLE_S = 20.0, 3.0, 30.0, 900.0
_PART_BYTES = 8 << 20
_PARTS_AT_ONCE = 4
_CODE = re.compile(r"<Code>([A-Za-z]{1,60})</Code>")
_STATUS = re.compile(r"status code: ([0-9]{3})")
_FULL_CODES = frozenset({"XMinioStorageFull", "QuotaExceeded", "InsufficientStorage", "507"})
_ATTRIBUTES = {"Content-Type": "application/octet-stream", "Content-Disposition": "attachment"}
"""Headers of every object, so that no browser displays a content that came from a user."""
_PROBE = b"foldnote"
Method = Literal["GET", "HEAD", "PUT"]


class BucketError(OSError):
    """The object store refused a request or cannot be reached; a retry may succeed."""


@dataclass(frozen=True)
class FoundObject:
    """An object of the bucket; `modified` is in UTC."""

    key: str
    size_bytes: int
    modified: datetime


class BucketClient:
    """A bucket, or a folder in one.

    Raises:
        ConfigurationError: obstore is not installed, or does not accept the options.
    """

    def __init__(self, address: BucketAddress) -> None:
        self.address = address
        self._store = _open_store(address)
        from obstore import exceptions

        self._errors: type[Exception] = exceptions.BaseError

    def put(self, key: str, content: bytes | Path) -> None:
        """Write an object; it appears when it is complete.

        Raises:
            BucketError: the object store is full, refuses it or cannot be reached.
            OSError: the file cannot be read.
        """
        import obstore

        with self._translated(f"write {key}"):
            obstore.put(
                self._store,
                key,
                content,
                attributes=_ATTRIBUTES,
                chunk_size=_PART_BYTES,
                max_concurrency=_PARTS_AT_ONCE,
            )

    def find(self, key: str) -> FoundObject | None:
        """Return size and time of an object; None if there is none.

        Raises:
            BucketError: the object store refuses the request or cannot be reached.
        """
        import obstore

        try:
            with self._translated(f"find {key}"):
                found = obstore.head(self._store, key)
        except FileNotFoundError:
            return None
        return FoundObject(key, found["size"], found["last_modified"])

    def read(self, key: str, part: tuple[int, int] | None = None) -> Iterator[bytes]:
        """Read an object in pieces of about 1 MB.

        Args:
            key: key of the object.
            part: start and end of the bytes to read, which may not be empty; None for the whole object.

        Raises:
            FileNotFoundError: there is none.
            BucketError: the object store refuses the request or cannot be reached.
        """
        import obstore

        options: Any = None if part is None else {"range": part}
        with self._translated(f"read {key}"):
            for piece in obstore.get(self._store, key, options=options).stream(1 << 20):
                yield bytes(piece)

    def fetch(self, key: str, target: Path) -> str:
        """Write an object to a new file, synced, and return its SHA-256 (hex).

        Raises:
            FileNotFoundError: there is none.
            BucketError: the object store refuses the request or cannot be reached.
            OSError: the file cannot be written.
        """
        digest = hashlib.sha256()
        with target.open("xb") as stream:
            for piece in self.read(key):
                digest.update(piece)
                stream.write(piece)
            stream.flush()
            os.fsync(stream.fileno())
        return digest.hexdigest()

    def hash(self, key: str) -> str:
        """Return the SHA-256 (hex) of an object.

        Raises:
            FileNotFoundError: there is none.
            BucketError: the object store refuses the request or cannot be reached.
        """
        digest = hashlib.sha256()
        for piece in self.read(key):
            digest.update(piece)
        return digest.hexdigest()

    def copy(self, source: str, target: str) -> None:
        """Copy an object within the bucket.

        Raises:
            FileNotFoundError: there is none.
            BucketError: the object store refuses the request or cannot be reached.
        """
        import obstore

        with self._translated(f"copy {source}"):
            obstore.copy(self._store, source, target)

    def delete(self, key: str) -> None:
        """Delete an object, if there is one.

        Raises:
            BucketError: the object store refuses the request or cannot be reached.
        """
        import obstore

        try:
            with self._translated(f"delete {key}"):
                obstore.delete(self._store, key)
        except FileNotFoundError:
            return

    def list(self, prefix: str) -> Iterator[FoundObject]:
        """Yield every object whose key begins with `prefix`, a folder.

        Raises:
            BucketError: the object store refuses the request or cannot be reached.
        """
        import obstore

        with self._translated(f"list {prefix}"):
            for rows in obstore.list(self._store, prefix):
                for row in rows:
                    yield FoundObject(row["path"], row["size"], row["last_modified"])

    def sign(self, method: Method, key: str, lifetime_s: float) -> str:
        """Return a URL with which anyone may apply the method to the object until its lifetime is over.

        Raises:
            BucketError: the credentials cannot sign.
        """
        import obstore

        with self._translated(f"sign {key}"):
            return str(obstore.sign(self._store, method, key, timedelta(seconds=lifetime_s)))

    def find_fault(self) -> str | None:
        """Write, read and delete a small object; return a sentence on what failed, or None."""
        key = f"checks/{os.getpid()}-{time.monotonic_ns()}"
        try:
            self.put(key, _PROBE)
            found = b"".join(self.read(key))
            self.delete(key)
        except OSError as exc:
            return f"{exc.strerror}."
        return None if found == _PROBE else f"{self.address.url} returned another content than was written."

    @contextmanager
    def _translated(self, what: str) -> Iterator[None]:
        """Raise an OSError in place of the library's exceptions."""
        try:
            yield
        except FileNotFoundError:
            raise FileNotFoundError(errno.ENOENT, f"{self.address.url} has no such object") from None
        except self._errors as exc:
            raise self._describe(what, exc) from None

    def _describe(self, what: str, fault: Exception) -> BucketError:
        text, name = str(fault), type(fault).__name__
        code, status = _CODE.search(text), _STATUS.search(text)
        told = code[1] if code else status[1] if status else ""
        if name in ("PermissionDeniedError", "UnauthenticatedError") or told in ("401", "403"):
            reason = f"it refuses the service's credentials ({told or name})"
        elif told in _FULL_CODES:
            return BucketError(errno.ENOSPC, f"The object store {self.address.url} is full ({told})")
        elif told:
            reason = f"it answered {told}"
        else:
            reason = "it cannot be reached, or there are no credentials for it"
        return BucketError(errno.EIO, f"The object store {self.address.url} cannot {what}: {reason}")


def _open_store(address: BucketAddress) -> Any:
    if find_spec("obstore") is None:
        raise ConfigurationError(
            "Contents in an object store need the package obstore: pip install 'foldnote[objects]'."
        )
    from obstore.exceptions import BaseError
    from obstore.store import from_url

    wait = timedelta(milliseconds=200)
    options: dict[str, Any] = {
        "config": {name: value for name, value in _options_of(address).items() if value != ""},
        "client_options": {
            "allow_http": address.endpoint.startswith("http://"),
            "connect_timeout": timedelta(seconds=_CONNECT_S),
            "read_timeout": timedelta(seconds=_READ_S),
            "timeout": timedelta(seconds=_WHOLE_S),
        },
        "retry_config": {
            "max_retries": _RETRIES,
            "retry_timeout": timedelta(seconds=_RETRY_S),
            "backoff": {"init_backoff": wait, "max_backoff": 10 * wait, "base": 2},
        },
        **_find_credentials(address),
    }
    try:
        return from_url(address.url, **options)
    except (BaseError, ValueError, TypeError) as exc:
        raise ConfigurationError(
            f"The object store {address.url} cannot be used: its options or credentials are incomplete or"
            f" wrong ({type(exc).__name__}). Check the section [objects] of config.toml and the provider's"
            " environment variables: the identifier of a key needs its secret."
        ) from None


def _options_of(address: BucketAddress) -> dict[str, Any]:
    if address.scheme == "az":
        return {"endpoint": address.endpoint, "account_name": address.account}
    if address.scheme == "gs":
        return {"base_url": address.endpoint}
    return {
        "endpoint": address.endpoint,
        "region": address.region,
        "virtual_hosted_style_request": address.virtual_hosted,
    }


def _find_credentials(address: BucketAddress) -> dict[str, Any]:
    """Return the credentials of a profile; without one, the library finds them in the environment.

    Raises:
        ConfigurationError: the profile cannot be used.
    """
    if not address.profile:
        return {}
    if address.scheme != "s3" or find_spec("boto3") is None:
        raise ConfigurationError(
            "The option profile of the section [objects] is for S3, and needs: pip install boto3."
        )
    import boto3
    from botocore.exceptions import BotoCoreError
    from obstore.auth.boto3 import Boto3CredentialProvider

    try:
        return {"credential_provider": Boto3CredentialProvider(boto3.Session(profile_name=address.profile))}
    except (BotoCoreError, ValueError) as exc:
        raise ConfigurationError(
            f"The AWS profile {address.profile!r} cannot be used: {type(exc).__name__}."
        ) from None
