"""The command that serves assistants: ``foldnote mcp``."""

from __future__ import annotations

import argparse
from pathlib import Path

from foldnote.cli.connection import complete_profiles, set_completer
from foldnote.cli.exit_codes import Exit
from foldnote.errors import ConfigurationError
from foldnote.number_arguments import read_amount, read_count, read_rate

_ACTIONS = ("submit", "stop", "delete", "upload")


def add_mcp(parser: argparse.ArgumentParser) -> None:
    """Declare the options of ``foldnote mcp``."""
    set_completer(parser.add_argument("--profile", help="the service to use (default: the active profile)"),
                complete_profiles)  # fmt: skip
    parser.add_argument("--allow", action="append", choices=_ACTIONS, default=[], metavar="ACTION",
                        help="do this without asking: submit, stop, delete or upload; may be repeated"
                        )  # fmt: skip
    parser.add_argument(
        "--max-jobs", type=read_count, default=20, help="new jobs of one session (default: 20)"
    )
    parser.add_argument("--max-weighted-hours", type=read_amount,
                        help="do not submit a job whose estimated cost is higher")  # fmt: skip
    parser.add_argument("--max-runtime-s", type=read_rate, help="time limit of each job in seconds")
    parser.add_argument("--folder", type=Path, help="folder whose files may be uploaded (default: none)")


def run_mcp(options: argparse.Namespace) -> int:
    """Serve one assistant over standard input and output.

    Raises:
        ConfigurationError: the SDK of the protocol is not installed, or the folder does not exist.
    """
    if options.folder is not None and not options.folder.is_dir():
        raise ConfigurationError(f"{options.folder} is not a folder.")
    try:
        from foldnote.mcp.consent import Permissions
        from foldnote.mcp.server import run
    except ModuleNotFoundError as exc:
        raise ConfigurationError(
            "`foldnote mcp` needs the SDK of the Model Context Protocol: pip install 'foldnote[mcp]'."
        ) from exc
    limits = (options.max_jobs, options.max_weighted_hours, options.max_runtime_s)
    run(options.profile, Permissions(frozenset(options.allow), *limits), options.folder)
    return Exit.DONE
