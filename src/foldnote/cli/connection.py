"""Options, client and name completion, shared by commands that use a service.

Names are completed from local data only, so completion never waits for a service.
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from foldnote.client import Client


def connect(options: argparse.Namespace) -> Client:
    """Make a client of the selected profile."""
    from foldnote.client import Client

    return Client(options.profile)


def add_connection(parser: argparse.ArgumentParser) -> None:
    """Add ``--profile`` and ``--json``."""
    profile = parser.add_argument("--profile", help="the service to use (default: the active profile)")
    set_completer(profile, complete_profiles)
    add_json(parser)


def add_json(parser: argparse.ArgumentParser) -> None:
    """Add ``--json``."""
    parser.add_argument("--json", action="store_true", help="print one JSON document")


def add_tool(parser: argparse.ArgumentParser) -> None:
    """Add the argument for a tool's type."""
    set_completer(parser.add_argument("tool", help="the tool's type, see `foldnote tools`"), complete_tools)


def add_name(parser: argparse.ArgumentParser) -> None:
    """Add the argument for one job's name."""
    set_completer(parser.add_argument("name", help="the job's or batch's name"), complete_jobs)
    add_connection(parser)


def add_names(parser: argparse.ArgumentParser) -> None:
    """Add the arguments for names of jobs."""
    names = parser.add_argument("names", nargs="+", metavar="name", help="names of jobs and batches")
    set_completer(names, complete_jobs)
    add_connection(parser)


def set_completer(action: argparse.Action, completer: Any) -> None:
    """Complete this argument with the values that ``completer`` returns; argcomplete reads the attribute."""
    action.completer = completer  # type: ignore[attr-defined]


def complete_tools(**_: object) -> list[str]:
    """Complete tools of the bundled catalog."""
    from foldnote import catalog

    return sorted(catalog.tools())


def complete_jobs(**_: object) -> list[str]:
    """Complete names of jobs submitted from this computer, newest first."""
    from foldnote import settings
    from foldnote.client.local.ledger import Ledger

    return Ledger(service=settings.active_profile().base_url or settings.EMBEDDED).job_names()


def complete_profiles(**_: object) -> list[str]:
    """Complete profiles of this computer."""
    from foldnote import settings

    return [profile.name for profile in settings.profiles()]
