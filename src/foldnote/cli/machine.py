"""Commands about this machine: JupyterLab, the service, engines, profiles, and what is wrong here."""

from __future__ import annotations

import argparse
import getpass
import json
import os
import sys
from dataclasses import asdict

from foldnote import settings
from foldnote.errors import FoldnoteError


def add_json(parser: argparse.ArgumentParser) -> None:
    """``--json``."""
    parser.add_argument("--json", action="store_true", help="print JSON for programs")


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


def add_engines(parser: argparse.ArgumentParser) -> None:
    """Arguments of ``engines``."""
    parser.add_argument("action", choices=("list", "install", "remove"), nargs="?", default="list")
    parser.add_argument("names", nargs="*", metavar="ENGINE")
    add_json(parser)


def run_engines(options: argparse.Namespace) -> int:
    """List, install or remove engines."""
    from foldnote import catalog
    from foldnote.service.engines import command

    if options.action == "list":
        return command.run_list(list(catalog.tools()), as_json=options.json)
    if options.action == "install":
        return command.run_install(options.names, as_json=options.json)
    if not options.names:
        raise FoldnoteError("Say which engines to remove: foldnote engines remove NAME.")
    return command.run_remove(options.names)


def add_profile(parser: argparse.ArgumentParser) -> None:
    """Arguments of ``profile``."""
    parser.add_argument("action", choices=("list", "add", "key"), nargs="?", default="list")
    parser.add_argument("name", nargs="?", help="the profile's name")
    parser.add_argument("base_url", nargs="?", help="address of the service, for `add`")
    add_json(parser)


def run_profile(options: argparse.Namespace) -> int:
    """List profiles, add one, or store a key."""
    if options.action == "add":
        if not options.name or not options.base_url:
            raise FoldnoteError("Say which: foldnote profile add NAME https://service.example.org/v1")
        profile = settings.save_profile(options.name, options.base_url)
        print(f"{profile.name} is {profile.base_url}. Next: foldnote profile key {profile.name}")
        return 0
    if options.action == "key":
        return _store_key(options.name)
    active = settings.active_profile().name
    rows = [
        {"name": row.name, "base_url": row.base_url, "active": row.name == active}
        for row in settings.profiles()
    ]
    if options.json:
        print(json.dumps(rows))
        return 0
    for row in rows:
        print(f"{'*' if row['active'] else ' '} {row['name']}  {row['base_url'] or 'this machine'}")
    return 0


def _store_key(name: str | None) -> int:
    """Ask for a key without showing it, or read it from a pipe."""
    if not name:
        raise FoldnoteError("Say which profile: foldnote profile key NAME")
    from pydantic import SecretStr

    profile = settings.active_profile(name)
    if profile.is_embedded:
        raise FoldnoteError("The embedded service makes its own key; none has to be stored.")
    key = getpass.getpass(f"API key for {name}: ") if sys.stdin.isatty() else sys.stdin.readline()
    if not key.strip():
        raise FoldnoteError("No key was given; nothing is changed.")
    print(f"The key is kept in {settings.store_api_key(name, SecretStr(key.strip()))}.")
    return 0


def run_doctor(options: argparse.Namespace) -> int:
    """Check everything, and say what to do where something is wrong."""
    from foldnote.cli.doctor import examine

    findings = examine()
    if options.json:
        print(json.dumps([asdict(finding) for finding in findings]))
    else:
        for finding in findings:
            print(f"{'ok ' if finding.is_good else '-- '} {finding.what}: {finding.found}")
            if finding.advice:
                print(f"      {finding.advice}")
    return 0 if all(finding.is_good or not finding.is_needed for finding in findings) else 1
