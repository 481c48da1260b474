"""Move the contents of a service from its data folder to a bucket."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

from foldnote.errors import ConfigurationError
from foldnote.io import sync
from foldnote.service.backups.swapping import require_complete
from foldnote.service.files.bucket import BucketError
from foldnote.service.files.bucket_address import BucketAddress
from foldnote.service.files.object_bucket import ObjectBucket
from foldnote.service.files.object_opening import open_bucket
from foldnote.service.layout import OBJECTS
from foldnote.service.lock import FolderLock
from foldnote.service.store.address import StoreAddress
from foldnote.service.store.store import Store

MOVED = f"{OBJECTS}.moved"


def move_to_bucket(folder: Path, bucket: BucketAddress, address: StoreAddress | None) -> int:
    """Upload the contents of a stopped service; return their number.

    The files stay in the data folder under another name. If the move is interrupted, run it again.

    Args:
        folder: the data folder.
        bucket: a bucket that no other service uses.
        address: address of the service's PostgreSQL database; None if it is in the data folder.

    Raises:
        ConfigurationError: the service is running, there are no contents to move, or the bucket cannot be
            used.
    """
    if not (folder / OBJECTS).is_dir():
        raise ConfigurationError(f"{folder} has no contents to move.")
    if (folder / MOVED).exists():
        raise ConfigurationError(f"{folder / MOVED} exists. Remove what an earlier move left there.")
    lock = FolderLock(folder, "data folder")
    lock.take()
    try:
        require_complete(folder)
        if address is not None:
            _require_stopped(address)
        number = upload_contents(folder / OBJECTS, open_bucket(folder, bucket, "move"))
        (folder / OBJECTS).rename(folder / MOVED)
        sync(folder)
    except BucketError as exc:
        raise ConfigurationError(f"{exc.strerror}. What was uploaded stays; run the command again.") from None
    finally:
        lock.release()
    return number


def upload_contents(folder: Path, bucket: ObjectBucket) -> int:
    """Upload every content of a folder; return their number.

    Raises:
        BucketError: the bucket cannot be written now.
        OSError: a content cannot be read.
    """
    paths = sorted(folder.glob("??/*"))
    for path in paths:
        bucket.upload(path, path.name)
    return len(paths)


def _require_stopped(address: StoreAddress) -> None:
    with closing(Store(address)) as store:
        running = [row.name for row in store.replicas.all() if row.lease_left_s > 0]
    if running:
        raise ConfigurationError(
            f"Replicas are running, or were until a moment ago: {', '.join(sorted(running))}. Stop all of"
            f" them, and wait {address.lease_s:g} s."
        )
