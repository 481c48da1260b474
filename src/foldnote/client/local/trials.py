"""Trial keys issued to this user, kept so that each service is asked for one only once.

The key itself is stored with all other keys (see ``settings``), under the address of its service; the other
data of the trial is in a file that only the user can read. A second key would be another account, which does
not see the jobs of the first.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from pydantic import SecretStr

from foldnote import settings
from foldnote.errors import ConfigurationError
from foldnote.io import hold_lock, write_atomically
from foldnote.models.account import Credential, read_credential

_OWN_PROFILES = (settings.EMBEDDED, settings.ENVIRONMENT, "given")
"""Profiles that are not in the configuration file, for which no key is stored."""


def find_trial(service: str) -> Credential | None:
    """Return the trial key and data issued by the service, if any."""
    about = _read().get(service)
    key = settings.api_key(settings.Profile(_name(service), service))
    if not isinstance(about, dict) or key is None:
        return None
    return read_credential(about | {"apiKey": key.get_secret_value()})


def save_trial(service: str, profile_name: str, credential: Credential) -> None:
    """Store an issued trial key, also for the user's profile of this name.

    Raises:
        ConfigurationError: it cannot be stored.
    """
    settings.store_api_key(_name(service), credential.api_key)
    if profile_name not in _OWN_PROFILES:
        settings.store_api_key(profile_name, credential.api_key)
    about = credential.model_dump(mode="json", by_alias=True, exclude={"api_key"})
    _write(_read() | {service: about})


def delete_trial(service: str) -> None:
    """Delete a trial whose key no longer works."""
    _write({known: about for known, about in _read().items() if known != service})


def is_key_of(credential: Credential, key: SecretStr | None) -> bool:
    """Return whether ``key`` is the issued trial key."""
    return key is not None and key.get_secret_value() == credential.api_key.get_secret_value()


@contextmanager
def try_lock() -> Iterator[bool]:
    """Hold the lock for requesting a key; yields False while another process holds it.

    Raises:
        ConfigurationError: nothing can be stored, so no key must be requested.
    """
    with ExitStack() as stack:
        try:
            is_held = stack.enter_context(hold_lock(settings.config_dir() / "trials.lock"))
        except OSError as exc:
            folder = settings.config_dir()
            raise ConfigurationError(f"A trial key cannot be stored in {folder}: {exc}.") from exc
        yield is_held


def _name(service: str) -> str:
    """Return the name under which a service's trial key is stored."""
    return f"trial:{service}"


def _path() -> Path:
    return settings.config_dir() / "trials.json"


def _read() -> dict[str, Any]:
    try:
        known = json.loads(_path().read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    return known if isinstance(known, dict) else {}


def _write(known: dict[str, Any]) -> None:
    try:
        write_atomically(_path(), json.dumps(known), is_private=True)
    except OSError as exc:
        raise ConfigurationError(f"The trial key's data cannot be stored in {_path()}: {exc}.") from exc
