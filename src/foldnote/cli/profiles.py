"""The command ``profile``: known services, the active one, and their keys.

A key is read from a hidden prompt or from standard input; it is never an argument, which other users of a
machine can read, and it is never printed.
"""

from __future__ import annotations

import argparse
import getpass
import sys
from typing import TYPE_CHECKING

from foldnote import settings
from foldnote.cli.connection import add_json, complete_profiles, set_completer
from foldnote.cli.printing import print_message, report
from foldnote.errors import ArgumentError

if TYPE_CHECKING:
    from collections.abc import Callable


def add_profile(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``profile``."""
    parser.add_argument("action", choices=tuple(_ACTIONS), nargs="?", default="list")
    set_completer(parser.add_argument("name", nargs="?", help="the profile's name"), complete_profiles)
    parser.add_argument("base_url", nargs="?", help="address of the service, for `add`")
    parser.add_argument("--key", action="store_true",
                        help="for `add`: ask for the key, or read it from standard input")  # fmt: skip
    add_json(parser)


def run_profile(options: argparse.Namespace) -> int:
    """List, add, choose, test or remove profiles, or store a key.

    Raises:
        ArgumentError: no profile is named.
    """
    if options.action != "list" and not options.name:
        raise ArgumentError(f"Name the profile: foldnote profile {options.action} NAME")
    return _ACTIONS[options.action](options)


def _list(options: argparse.Namespace) -> int:
    active = settings.active_profile()
    rows = [*settings.profiles(), *([active] if active.name == settings.ENVIRONMENT else [])]
    profile_rows = [
        {
            "name": row.name,
            "base_url": row.base_url,
            "active": row.name == active.name,
            "has_key": row.is_embedded or row.is_of_hub or settings.api_key(row) is not None,
            "by_jupyterhub": row.is_of_hub,
        }
        for row in rows
    ]
    lines = [
        f"{'*' if row['active'] else ' '} {row['name']}  {row['base_url'] or 'this machine'}"
        + ("" if row["has_key"] else "  (no key)")
        + ("  (signs in with JupyterHub)" if row["by_jupyterhub"] else "")
        for row in profile_rows
    ]
    return report(options, profile_rows, "\n".join(lines))


def _add(options: argparse.Namespace) -> int:
    if not options.base_url:
        raise ArgumentError(
            "Give a name and an address: foldnote profile add NAME https://service.example.org/v1"
        )
    profile = settings.save_profile(options.name, options.base_url)
    content: dict[str, object] = {"name": profile.name, "base_url": profile.base_url}
    if options.key:
        return _store_key(options, content)
    text = f"Added {profile.name}: {profile.base_url}. Next: foldnote profile key {profile.name}"
    return report(options, content, text)


def _key(options: argparse.Namespace) -> int:
    return _store_key(options, {"name": options.name})


def _store_key(options: argparse.Namespace, content: dict[str, object]) -> int:
    """Read a key from a hidden prompt or from standard input, and store it."""
    from pydantic import SecretStr

    profile = settings.active_profile(options.name)
    if profile.is_embedded:
        raise ArgumentError("The embedded service creates its own key; none needs to be stored.")
    key = getpass.getpass(f"API key for {options.name}: ") if sys.stdin.isatty() else sys.stdin.readline()
    if not key.strip():
        raise ArgumentError("No key was given; nothing was changed.")
    location = settings.store_api_key(options.name, SecretStr(key.strip()))
    return report(options, content | {"kept_in": location}, f"The key is stored in {location}.")


def _use(options: argparse.Namespace) -> int:
    profile = settings.use_profile(options.name)
    content = {"name": profile.name, "base_url": profile.base_url, "active": True}
    code = report(options, content, f"{profile.name} is now the active profile.")
    if settings.active_profile().name != profile.name:
        print_message("FOLDNOTE_BASE_URL or FOLDNOTE_PROFILE is set in this shell and takes precedence.")
    return code


def _remove(options: argparse.Namespace) -> int:
    settings.remove_profile(options.name)
    text = f"{options.name} and its key were removed; its jobs stay at the service."
    return report(options, {"removed": options.name}, text)


def _test(options: argparse.Namespace) -> int:
    """Check that the service answers and accepts the key."""
    from foldnote.client import Client

    with Client(options.name) as client:
        tools = client.tools.list()
        jobs = client.jobs.list(limit=1).statuses.total
        content = {
            "name": options.name,
            "base_url": client.profile.base_url,
            "tools": len(tools),
            "tools_available": sum(tool.available for tool in tools),
            "jobs": jobs,
        }
    runs = f"{content['tools_available']} of {len(tools)} tools"
    text = f"{options.name} answers and accepts the key. It runs {runs}."
    return report(options, content, text)


_ACTIONS: dict[str, Callable[[argparse.Namespace], int]] = {
    "list": _list,
    "add": _add,
    "key": _key,
    "use": _use,
    "test": _test,
    "remove": _remove,
}
