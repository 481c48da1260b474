"""Open the configured database and bucket for the administrator's commands."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from foldnote import settings
from foldnote.errors import ConfigurationError
from foldnote.service.backups.swapping import require_complete
from foldnote.service.files.bucket_address import BucketAddress
from foldnote.service.layout import DATABASE
from foldnote.service.store.address import StoreAddress
from foldnote.service.store.store import Store

Result = TypeVar("Result")
Report = dict[str, Any]
"""The output of a command: a message, and its content for programs."""


def read_store_address(options: argparse.Namespace) -> StoreAddress | None:
    """Return the address of the PostgreSQL database; None for the database in the data folder.

    Raises:
        ConfigurationError: the address is invalid.
    """
    if options.embedded:
        return None
    return StoreAddress.read(settings.config_section("store"), settings.store_url())


def read_bucket_address(options: argparse.Namespace) -> BucketAddress | None:
    """Return the address of the bucket; None if contents are in the data folder.

    Raises:
        ConfigurationError: the address is invalid.
    """
    return None if options.embedded else BucketAddress.read(settings.config_section("objects"))


def use_store(
    folder: Path, options: argparse.Namespace, do: Callable[[Store, argparse.Namespace], Result]
) -> Result:
    """Open the database of a data folder, call `do` with it, and return its result; close the database.

    Raises:
        ConfigurationError: the folder has no service, or the database cannot be used.
    """
    address = read_store_address(options)
    if address is None:
        if not (folder / DATABASE).is_file():
            raise ConfigurationError(
                f"{folder} is not the data folder of a service. Start `foldnote serve` there first."
            )
        require_complete(folder)
    store = Store(address or folder / DATABASE)
    try:
        return do(store, options)
    finally:
        store.close()
