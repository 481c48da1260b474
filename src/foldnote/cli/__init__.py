"""The command ``foldnote``: what a notebook does, from a terminal.

Results go to standard output, progress and complaints to standard error. Exit codes: 0 done, 1 it went wrong
(the sentence says why), 2 the command was not understood, 3 a job failed or was stopped, 4 a job was not
finished in time, 130 interrupted. Each command is a row in ``commands``; heavy rooms are imported when their
command runs.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence

from foldnote.cli.commands import COMMANDS
from foldnote.errors import FoldnoteError, JobError, JobFailedError, WaitTimeoutError

EXIT_FAILED = 1
EXIT_JOB_FAILED = 3
EXIT_TIMEOUT = 4
EXIT_INTERRUPTED = 130


def build_parser() -> argparse.ArgumentParser:
    """The parser of all commands."""
    parser = argparse.ArgumentParser(
        prog="foldnote", description="Protein-analysis jobs, in JupyterLab and here."
    )
    parser.add_argument("--version", action="store_true", help="print the version")
    rows = parser.add_subparsers(dest="command", metavar="COMMAND")
    for command in COMMANDS:
        row = rows.add_parser(command.name, help=command.help, description=command.help)
        command.add_arguments(row)
        row.set_defaults(run=command.run)
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and give its exit code."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    if given[:1] == ["serve"]:  # it has a parser of its own, so that other commands need not load the service
        from foldnote.service.serve import run

        return run(given[1:])
    parser = build_parser()
    options = parser.parse_args(given)
    if options.version:
        import foldnote

        print(f"foldnote {foldnote.__version__}")
        return 0
    if options.command is None:
        parser.print_help()
        return 2
    try:
        code = int(options.run(options))
        sys.stdout.flush()  # a reader that went away is noticed here, and not when Python ends
        return code
    except KeyboardInterrupt:
        return EXIT_INTERRUPTED
    except BrokenPipeError:  # the reader of our output went away; what is left to say goes nowhere
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return EXIT_FAILED
    except FoldnoteError as exc:
        _complain(exc.message, exc.log_tail if isinstance(exc, JobFailedError) else "")
        return _exit_code(exc)
    except OSError as exc:  # the edge of the process: a folder or a disk that cannot be used
        _complain(f"{exc.filename or 'A file'} cannot be used: {exc.strerror or exc}.")
        return EXIT_FAILED


def _complain(sentence: str, log_tail: str = "") -> None:
    if log_tail.strip():
        print(f"The end of the job's log:\n{log_tail.rstrip()}", file=sys.stderr)
    print(f"foldnote: {sentence}", file=sys.stderr)


def _exit_code(exc: FoldnoteError) -> int:
    if isinstance(exc, WaitTimeoutError):
        return EXIT_TIMEOUT
    return EXIT_JOB_FAILED if isinstance(exc, JobError) else EXIT_FAILED
