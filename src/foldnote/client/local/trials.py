"""Trial keys that were given out to this user: kept, so that each service is asked for one only once.

The key itself is kept where all keys are (see ``settings``), under the address of its service; what else came
with it stands in a file that only the user can read. A second key would be another account, whose jobs the
first one does not see.
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
"""Names of profiles that stand in no file, so that no key is kept for them."""


def find_trial(service: str) -> Credential | None:
    """What was given out for the service, if anything was."""
    about = _read().get(service)
    key = settings.api_key(settings.Profile(_name(service), service))
    if not isinstance(about, dict) or key is None:
        return None
    return read_credential(about | {"apiKey": key.get_secret_value()})


def keep_trial(service: str, profile_name: str, credential: Credential) -> None:
    """Keep what the service gave out; a profile of the user's gets the key, too.

    Raises:
        ConfigurationError: it can be kept nowhere.
    """
    settings.store_api_key(_name(service), credential.api_key)
    if profile_name not in _OWN_PROFILES:
        settings.store_api_key(profile_name, credential.api_key)
    about = credential.model_dump(mode="json", by_alias=True, exclude={"api_key"})
    _write(_read() | {service: about})


def forget_trial(service: str) -> None:
    """Drop what is known of a trial whose key is dead."""
    _write({known: about for known, about in _read().items() if known != service})


def is_key_of(credential: Credential, key: SecretStr | None) -> bool:
    """Whether ``key`` is the one that was given out."""
    return key is not None and key.get_secret_value() == credential.api_key.get_secret_value()


@contextmanager
def try_hold() -> Iterator[bool]:
    """One's turn to ask for a key; False while another process has it.

    Raises:
        ConfigurationError: nothing can be kept here, so that no key must be asked for.
    """
    with ExitStack() as stack:
        try:
            is_held = stack.enter_context(hold_lock(settings.config_dir() / "trials.lock"))
        except OSError as exc:
            folder = settings.config_dir()
            raise ConfigurationError(f"A trial key cannot be kept in {folder}: {exc}.") from exc
        yield is_held


def _name(service: str) -> str:
    """Under which name a service's trial key is kept."""
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
        raise ConfigurationError(f"The trial key's data cannot be kept in {_path()}: {exc}.") from exc
