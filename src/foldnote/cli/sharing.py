"""The command ``share``: links to jobs for colleagues, who open them with their own keys."""

from __future__ import annotations

import argparse
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

from foldnote.cli.connection import add_connection, complete_jobs, connect, set_completer
from foldnote.cli.printing import report
from foldnote.errors import ArgumentError
from foldnote.number_arguments import MAX_DAYS, read_rate, read_up_to

if TYPE_CHECKING:
    from foldnote.models.share import Share


def add_share(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``share``."""
    set_completer(parser.add_argument("name", nargs="?", help="the job or batch to link to"), complete_jobs)
    parser.add_argument(
        "--days",
        type=read_up_to(read_rate, MAX_DAYS),
        default=30,
        help="days until the link expires (default: 30)",
    )
    parser.add_argument("--list", action="store_true", help="list your links and who has opened them")
    parser.add_argument("--revoke", metavar="LINK", help="revoke the link with this name, as shown by --list")
    parser.add_argument("--open", metavar="URL", help="download the result of a colleague's link")
    parser.add_argument(
        "--to", type=Path, default=Path(), metavar="FOLDER", help="target folder (default: the current one)"
    )
    add_connection(parser)


def run_share(options: argparse.Namespace) -> int:
    """Make, list, revoke or open a link.

    Raises:
        ArgumentError: the action is missing.
    """
    shares = connect(options).shares
    if options.open:
        job, path = shares.open(options.open)
        target = options.to / path.name
        options.to.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, target)
        return report(options, {"path": str(target), "job": job.to_wire()}, target)
    if options.revoke:
        from foldnote.models.share import LINK_REVOKED

        shares.revoke(options.revoke)
        return report(options, {"revoked": options.revoke}, LINK_REVOKED)
    if options.list:
        links = shares.list(options.name)
        return report(options, [_as_data(link) for link in links], links)
    if options.name is None:
        raise ArgumentError("Name the job to link to, or use --list, --revoke LINK or --open URL.")
    link = shares.make(options.name, options.days)
    return report(options, _as_data(link), link)


def _as_data(share: Share) -> dict[str, Any]:
    return share.model_dump(mode="json", by_alias=True, exclude_none=True)
