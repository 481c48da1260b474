"""Commands about this machine: JupyterLab, the service, engines, and what is wrong here."""

from __future__ import annotations

import argparse
import os
import sys
from dataclasses import asdict

from foldnote.cli.connection import add_json as add_json
from foldnote.cli.printing import print_json, show
from foldnote.errors import ArgumentError


def add_lab(parser: argparse.ArgumentParser) -> None:
    """Arguments of ``lab``."""
    parser.add_argument(
        "arguments", nargs=argparse.REMAINDER, help="a notebook or folder, and options of jupyter lab"
    )


def run_lab(options: argparse.Namespace) -> int:
    """Become JupyterLab, in the Python that foldnote is installed in."""
    command = [sys.executable, "-m", "jupyterlab", *options.arguments]
    if hasattr(os, "geteuid") and os.geteuid() == 0 and "--allow-root" not in command:
        command.append("--allow-root")
    os.execv(sys.executable, command)


def add_serve(_: argparse.ArgumentParser) -> None:
    """``serve`` has a parser of its own; this row shows it in the list of commands."""


def run_serve(_: argparse.Namespace) -> int:
    """Serve in the foreground."""
    from foldnote.service.serve import run

    return run([])


def add_admin(_: argparse.ArgumentParser) -> None:
    """``admin`` has a parser of its own, as ``serve`` has."""


def run_admin(_: argparse.Namespace) -> int:
    """Say what can be administered."""
    from foldnote.service.admin import main

    return main(["--help"])


def add_engines(parser: argparse.ArgumentParser) -> None:
    """Arguments of ``engines``."""
    parser.add_argument("action", choices=("list", "install", "remove"), nargs="?", default="list")
    parser.add_argument("names", nargs="*", metavar="ENGINE")
    parser.add_argument(
        "--no-hashes",
        action="store_true",
        help="install the locked versions whatever their hashes, from a registry with builds of its own",
    )
    add_json(parser)


def run_engines(options: argparse.Namespace) -> int:
    """List, install or remove engines.

    Raises:
        ArgumentError: no engine to remove is named.
    """
    from foldnote import catalog
    from foldnote.service.engines import command

    if options.action == "list":
        return command.run_list(list(catalog.tools()), as_json=options.json)
    if options.action == "install":
        with_hashes = not options.no_hashes
        return command.run_install(options.names, as_json=options.json, with_hashes=with_hashes)
    if not options.names:
        raise ArgumentError("Say which engines to remove: foldnote engines remove NAME.")
    return command.run_remove(options.names)


def run_doctor(options: argparse.Namespace) -> int:
    """Check everything, and say what to do where something is wrong."""
    from foldnote.cli.doctor import examine

    findings = examine()
    if options.json:
        print_json([asdict(finding) for finding in findings])
    else:
        for finding in findings:
            show(f"{'ok ' if finding.is_good else '-- '} {finding.what}: {finding.found}")
            if finding.advice:
                show(f"      {finding.advice}")
    return 0 if all(finding.is_good or not finding.is_needed for finding in findings) else 1
