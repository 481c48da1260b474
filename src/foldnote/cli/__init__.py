"""The command ``foldnote``: the functions for notebooks, from a terminal.

Results are written to standard output, progress and errors to standard error; with ``--json``, standard
output is one JSON document. ``exit_codes`` has the table of exit codes. Each command is a row in
``commands``; packages that are slow to import are imported when their command runs.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import shutil
import sys
import textwrap
import warnings
from collections.abc import Sequence
from io import TextIOWrapper
from typing import Any

from foldnote import settings
from foldnote.argument_parser import JsonErrorParser
from foldnote.cli.commands import COMMANDS
from foldnote.cli.exit_codes import CODES, Exit, find_code
from foldnote.cli.printing import name_commands, print_failure, print_message
from foldnote.errors import (
    FoldnoteError,
    IncompleteResultWarning,
    NoEstimateWarning,
    NotSentWarning,
    TableWarning,
)


class _CommandParser(JsonErrorParser):
    """A command's parser, which accepts options between its arguments: ``batch TOOL --yes TABLE``.

    argparse supports this since Python 3.12.7; before, arguments after an option were unknown.

    Attributes:
        is_for_another: whether the arguments are for another program or parser.
    """

    is_for_another = False
    _is_inner_call = False

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Parse the options, then the arguments: ``parse_known_intermixed_args`` calls this twice."""
        if self.is_for_another or self._is_inner_call:
            return super().parse_known_args(args, namespace)
        self._is_inner_call = True
        try:
            return self.parse_known_intermixed_args(args, namespace)
        finally:
            self._is_inner_call = False


def build_parser(*, as_json: bool = False) -> argparse.ArgumentParser:
    """Build the parser of all commands.

    Args:
        as_json: whether errors of the command line are also printed as JSON.
    """
    width = shutil.get_terminal_size().columns - 2  # as argparse wraps the rest
    codes = "\n".join(
        textwrap.fill(row.meaning, width, initial_indent=f"  {row.code:3}  ", subsequent_indent=" " * 7)
        for row in sorted(CODES, key=lambda row: row.code)
    )
    parser = JsonErrorParser(
        prog="foldnote",
        description="Protein-analysis jobs, in JupyterLab and on the command line.",
        epilog=f"exit codes:\n{codes}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.as_json = as_json
    parser.add_argument("--version", action="store_true", help="print the version")
    rows = parser.add_subparsers(dest="command", metavar="COMMAND", parser_class=_CommandParser)
    for command in COMMANDS:
        row = rows.add_parser(
            command.name, aliases=command.aliases, help=command.help, description=command.help
        )
        command.add_arguments(row)
        row.is_for_another, row.as_json = command.reads_arguments, as_json
        row.set_defaults(run=command.run, parser=row)
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; returns its exit code."""
    raw_arguments = list(sys.argv[1:] if arguments is None else arguments)
    for command in COMMANDS:
        if command.reads_arguments and [command.name] == raw_arguments[:1]:
            return _run(argparse.Namespace(run=command.run, arguments=raw_arguments[1:]))
    parser = build_parser(as_json="--json" in raw_arguments)
    if settings.is_completing():
        import argcomplete

        argcomplete.autocomplete(parser)  # answers a completion request of the shell, and exits
    options, unknown = parser.parse_known_args(raw_arguments)
    if unknown:  # show the usage of this command only
        getattr(options, "parser", parser).error(f"unrecognized arguments: {' '.join(unknown)}")
    if options.version:
        import foldnote

        print(f"foldnote {foldnote.__version__}")
        return Exit.DONE
    if options.command is None:
        parser.print_help()
        return Exit.BAD_INPUT
    return _run(options)


def _run(options: argparse.Namespace) -> int:
    _prepare_streams()
    try:
        code = _run_command(options)
        sys.stdout.flush()  # detects a closed pipe here rather than at exit
    except BrokenPipeError:  # discard the remaining output
        for stream in (sys.stdout, sys.stderr):
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
        return Exit.PIPE_CLOSED
    except OSError as exc:  # standard output is a file that cannot be written, such as on a full disk
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        print_message(f"foldnote: Standard output cannot be written: {exc.strerror or exc}.")
        return Exit.BROKEN
    return code


def _run_command(options: argparse.Namespace) -> int:
    try:
        with warnings.catch_warnings():
            _shorten_warnings()
            return int(options.run(options))
    except BrokenPipeError:
        raise
    except (FoldnoteError, OSError, KeyboardInterrupt) as exc:  # OSError: an unusable folder
        row = find_code(exc)
        print_failure(exc, row, as_json=getattr(options, "json", False))
        return row.code


def _prepare_streams() -> None:
    """Open streams that the caller closed, and escape characters that their encoding lacks."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(os.open(os.devnull, os.O_RDWR), mode))
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper) and stream.errors in ("strict", "surrogateescape"):
            with contextlib.suppress(OSError):  # a pipe has taken the place of the file
                stream.reconfigure(errors="backslashreplace")


def _shorten_warnings() -> None:
    """Print foldnote's warnings as sentences, without the Python line that caused them."""
    show = warnings.showwarning
    ours = (IncompleteResultWarning, NoEstimateWarning, NotSentWarning, TableWarning)
    warnings.showwarning = lambda message, category, *place: (
        print_message(f"foldnote: {name_commands(str(message))}")
        if issubclass(category, ours)
        else show(message, category, *place)
    )
