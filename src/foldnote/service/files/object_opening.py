"""Open the contents of a service: a folder in its data folder, or a bucket.

A service removes contents to which its database does not refer. Therefore a bucket belongs to one data
folder: both contain a marker, and the service refuses a bucket or a data folder with a different marker, or
with none.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from foldnote.errors import ConfigurationError
from foldnote.io import hold_lock, write_atomically
from foldnote.service.files.bucket import BucketClient, BucketError
from foldnote.service.files.bucket_address import BucketAddress
from foldnote.service.files.object_bucket import ObjectBucket
from foldnote.service.files.object_folder import ObjectFolder
from foldnote.service.files.objects import ObjectStore
from foldnote.service.layout import BUCKET_MARK, COPIES, OBJECTS
from foldnote.text import format_duration

MARK_KEY = "foldnote-service.json"
_LOCK_S = 60.0


def open_objects(data: Path, address: BucketAddress | None, replica: str = "") -> ObjectStore:
    """Open the contents that belong to a data folder.

    Args:
        data: the data folder.
        address: address of the bucket; None for the folder.
        replica: name of this replica; empty if there is only one.

    Raises:
        ConfigurationError: the bucket cannot be used, or belongs to another data folder.
    """
    require_bucket(data, address)
    if address is None:
        return ObjectFolder(data / OBJECTS, replica)
    if any((data / OBJECTS).glob("??/*")):
        raise ConfigurationError(
            f"{data} has contents that are not in {address.url}. Stop the service and upload them:"
            f" foldnote admin --data-dir {data} move-to-bucket"
        )
    return open_bucket(data, address, replica)


def require_bucket(data: Path, address: BucketAddress | None) -> None:
    """Refuse to start without a bucket if the contents are in one.

    Raises:
        ConfigurationError: they are, and no bucket is configured.
    """
    known = _read_mark(data) if address is None else None
    if known is not None:
        raise ConfigurationError(
            f"The contents of {data} are in {known['url']}. Name it in the section [objects] of config.toml."
        )


def open_bucket(
    data: Path, address: BucketAddress, replica: str, lock_timeout_s: float = _LOCK_S
) -> ObjectBucket:
    """Open the bucket of a data folder, or mark an unused one as its own.

    Args:
        data: the data folder.
        address: address of the bucket.
        replica: name of this replica.
        lock_timeout_s: seconds to wait for another process that is opening it.

    Raises:
        ConfigurationError: the bucket cannot be used, or belongs to another data folder.
    """
    bucket = BucketClient(address)
    try:
        with hold_lock(data / f"{BUCKET_MARK}.lock", timeout_s=lock_timeout_s) as is_held:
            if not is_held:
                raise ConfigurationError(
                    f"For {format_duration(lock_timeout_s)} another process has been opening {address.url}"
                    f" for the data folder {data}. Check that the bucket can be reached, and try again."
                )
            _require_own(data, bucket)
    except BucketError as exc:
        raise ConfigurationError(
            f"{exc.strerror}. Check the section [objects] of config.toml (url, region, endpoint), and the"
            " credentials in the provider's environment variables or files."
        ) from None
    except FileNotFoundError:
        raise ConfigurationError(
            f"The bucket of {address.url} does not exist. Create it, or correct url in the section [objects]"
            " of config.toml."
        ) from None
    return ObjectBucket(bucket, data / COPIES, replica)


def _require_own(data: Path, bucket: BucketClient) -> None:
    """Compare the markers, and create them if both are missing.

    Raises:
        ConfigurationError: they differ.
        BucketError: the bucket cannot be read or written.
    """
    url, known, found = bucket.address.url, _read_mark(data), _read_owner(bucket)
    if known is not None and known["url"] != url:
        raise ConfigurationError(
            f"The contents of {data} are in {known['url']}, not in {url}. Correct the section [objects] of"
            " config.toml."
        )
    if known is None and found is None:
        known = {"url": url, "owner": secrets.token_hex(16), "isMarked": False}
        _write_mark(data, known)
    if known is None or (found is not None and found != known["owner"]):
        raise ConfigurationError(
            f"{url} holds the contents of another service, which would remove those of this one. Use another"
            f" prefix. If that service no longer exists, delete the object {MARK_KEY} there."
        )
    if found is None and known["isMarked"]:
        raise ConfigurationError(
            f"{url} does not have the contents of {data}: its object {MARK_KEY} is missing. Restore the"
            f" bucket, or a backup of the service; {data / BUCKET_MARK} names what is expected."
        )
    if found is None:
        bucket.put(MARK_KEY, json.dumps({"owner": known["owner"]}).encode())
    if not known["isMarked"]:
        _write_mark(data, {**known, "isMarked": True})


def _read_owner(bucket: BucketClient) -> str | None:
    try:
        return str(json.loads(b"".join(bucket.read(MARK_KEY)))["owner"])
    except FileNotFoundError:
        return None
    except (ValueError, KeyError, TypeError):
        return ""  # of another program


def _read_mark(data: Path) -> dict[str, Any] | None:
    try:
        content = json.loads((data / BUCKET_MARK).read_text("utf-8"))
        return {"url": str(content["url"]), "owner": content["owner"], "isMarked": content["isMarked"]}
    except FileNotFoundError:
        return None
    except (ValueError, KeyError, TypeError) as exc:
        raise ConfigurationError(
            f"{data / BUCKET_MARK} is damaged. Restore it from a backup of the data folder."
        ) from exc


def _write_mark(data: Path, content: Mapping[str, Any]) -> None:
    write_atomically(data / BUCKET_MARK, json.dumps(content), is_durable=True)
