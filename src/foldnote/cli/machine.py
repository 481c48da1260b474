"""Commands about this machine: JupyterLab, the service, engines, and what is wrong here."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from dataclasses import asdict

from foldnote.cli.connection import add_json as add_json
from foldnote.cli.printing import print_json, show
from foldnote.errors import ArgumentError, UnsupportedSystemError


def add_rest(parser: argparse.ArgumentParser) -> None:
    """Arguments that another program or parser reads."""
    parser.add_argument("arguments", nargs=argparse.REMAINDER)


def run_lab(options: argparse.Namespace) -> int:
    """Become JupyterLab, in the Python that foldnote is installed in."""
    command = [sys.executable, "-m", "jupyterlab", *options.arguments]
    if hasattr(os, "geteuid") and os.geteuid() == 0 and "--allow-root" not in command:
        command.append("--allow-root")
    if sys.platform != "win32":
        os.execv(sys.executable, command)
    return subprocess.call(command)  # Windows' exec returns to the shell at once


def run_serve(options: argparse.Namespace) -> int:
    """Serve in the foreground."""
    _require_posix()
    from foldnote.service.serve import run

    return run(options.arguments)


def run_admin(options: argparse.Namespace) -> int:
    """Manage a service."""
    _require_posix()
    from foldnote.service.admin import main

    return main(options.arguments)


def _require_posix() -> None:
    if sys.platform == "win32":
        raise UnsupportedSystemError


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
        UnsupportedSystemError: this is Windows.
    """
    _require_posix()
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
