"""Commands about profiles: which services are known, which one is used, and the keys for them.

A key comes from a prompt that does not show it, or from standard input; it is never an argument, which other
users of a machine can read, and it is never printed.
"""

from __future__ import annotations

import argparse
import getpass
import sys
from typing import TYPE_CHECKING

from foldnote import settings
from foldnote.cli.connection import add_json, complete_by, offer_profiles
from foldnote.cli.exit_codes import Exit
from foldnote.cli.printing import print_json, show, tell
from foldnote.errors import ArgumentError

if TYPE_CHECKING:
    from collections.abc import Callable


def add_profile(parser: argparse.ArgumentParser) -> None:
    """Arguments of ``profile``."""
    parser.add_argument("action", choices=tuple(_ACTIONS), nargs="?", default="list")
    complete_by(parser.add_argument("name", nargs="?", help="the profile's name"), offer_profiles)
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
        raise ArgumentError(f"Say which profile: foldnote profile {options.action} NAME")
    return _ACTIONS[options.action](options)


def _list(options: argparse.Namespace) -> int:
    active = settings.active_profile()
    rows = [*settings.profiles(), *([active] if active.name == settings.ENVIRONMENT else [])]
    found = [
        {
            "name": row.name,
            "base_url": row.base_url,
            "active": row.name == active.name,
            "has_key": row.is_embedded or settings.api_key(row) is not None,
        }
        for row in rows
    ]
    if options.json:
        print_json(found)
        return Exit.DONE
    for row in found:
        key = "" if row["has_key"] else "  (no key)"
        show(f"{'*' if row['active'] else ' '} {row['name']}  {row['base_url'] or 'this machine'}{key}")
    return Exit.DONE


def _add(options: argparse.Namespace) -> int:
    if not options.base_url:
        raise ArgumentError("Say which: foldnote profile add NAME https://service.example.org/v1")
    profile = settings.save_profile(options.name, options.base_url)
    told: dict[str, object] = {"name": profile.name, "base_url": profile.base_url}
    if options.key:
        return _store_key(options, told)
    if options.json:
        print_json(told)
    else:
        show(f"{profile.name} is {profile.base_url}. Next: foldnote profile key {profile.name}")
    return Exit.DONE


def _key(options: argparse.Namespace) -> int:
    return _store_key(options, {"name": options.name})


def _store_key(options: argparse.Namespace, told: dict[str, object]) -> int:
    """Ask for a key without showing it, or read it from a pipe."""
    from pydantic import SecretStr

    profile = settings.active_profile(options.name)
    if profile.is_embedded:
        raise ArgumentError("The embedded service makes its own key; none has to be stored.")
    key = getpass.getpass(f"API key for {options.name}: ") if sys.stdin.isatty() else sys.stdin.readline()
    if not key.strip():
        raise ArgumentError("No key was given; nothing is changed.")
    place = settings.store_api_key(options.name, SecretStr(key.strip()))
    print_json(told | {"kept_in": place}) if options.json else show(f"The key is kept in {place}.")
    return Exit.DONE


def _use(options: argparse.Namespace) -> int:
    profile = settings.use_profile(options.name)
    told = {"name": profile.name, "base_url": profile.base_url, "active": True}
    print_json(told) if options.json else show(f"{profile.name} is used from now on.")
    if settings.active_profile().name != profile.name:
        tell(
            "FOLDNOTE_BASE_URL or FOLDNOTE_PROFILE of this shell says otherwise; they win while they are set."
        )
    return Exit.DONE


def _remove(options: argparse.Namespace) -> int:
    settings.remove_profile(options.name)
    if options.json:
        print_json({"removed": options.name})
    else:
        show(f"{options.name} and its key are forgotten; its jobs stay where they are.")
    return Exit.DONE


def _test(options: argparse.Namespace) -> int:
    """Whether the service answers, takes the key, and what it runs."""
    from foldnote.client import Client

    with Client(options.name) as client:
        tools = client.tools.list()
        jobs = client.jobs.list(limit=1).statuses.total
        told = {
            "name": options.name,
            "base_url": client.profile.base_url,
            "tools": len(tools),
            "tools_available": sum(tool.available for tool in tools),
            "jobs": jobs,
        }
    if options.json:
        print_json(told)
    else:
        show(
            f"{options.name} answers and takes the key."
            f" It runs {told['tools_available']} of {len(tools)} tools."
        )
    return Exit.DONE


_ACTIONS: dict[str, Callable[[argparse.Namespace], int]] = {
    "list": _list,
    "add": _add,
    "key": _key,
    "use": _use,
    "test": _test,
    "remove": _remove,
}
