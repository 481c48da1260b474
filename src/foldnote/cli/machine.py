"""Commands about this machine: JupyterLab, the service, engines, diagnosis, and shell completion."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from foldnote.cli.connection import add_json as add_json
from foldnote.cli.exit_codes import Exit
from foldnote.cli.printing import confirm, report
from foldnote.errors import ArgumentError, UnsupportedSystemError

if TYPE_CHECKING:
    from foldnote.service.engines import Engine
    from foldnote.service.engines.licences import LicenceTerms
    from foldnote.service.engines.weights.store import Offer

_COMPLETION = {
    "bash": '# Add to ~/.bashrc:  eval "$(foldnote completion bash)"',
    "zsh": '# Add to ~/.zshrc, after compinit:  eval "$(foldnote completion zsh)"',
    "fish": "# Write to a file:  foldnote completion fish > ~/.config/fish/completions/foldnote.fish",
}


def add_rest(parser: argparse.ArgumentParser) -> None:
    """Accept any arguments, for another program or parser."""
    parser.add_argument("arguments", nargs=argparse.REMAINDER)


def run_lab(options: argparse.Namespace) -> int:
    """Run JupyterLab in foldnote's Python environment, replacing this process."""
    command = [sys.executable, "-m", "jupyterlab", *options.arguments]
    if hasattr(os, "geteuid") and os.geteuid() == 0 and "--allow-root" not in command:
        command.append("--allow-root")
    if sys.platform != "win32":
        os.execv(sys.executable, command)
    return subprocess.call(command)  # on Windows, exec would return to the shell at once


def run_serve(options: argparse.Namespace) -> int:
    """Run the job service in the foreground."""
    _require_posix()
    from foldnote.service.serve import run

    return run(options.arguments)


def run_admin(options: argparse.Namespace) -> int:
    """Administer a service."""
    _require_posix()
    from foldnote.service.admin import main

    return main(options.arguments)


def _require_posix() -> None:
    if sys.platform == "win32":
        raise UnsupportedSystemError


def add_engines(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``engines``."""
    parser.add_argument("action", choices=("list", "install", "check", "remove"), nargs="?", default="list")
    parser.add_argument("names", nargs="*", metavar="ENGINE")
    parser.add_argument(
        "--all",
        action="store_true",
        help="install every engine that this Python has packages for and whose terms need no acceptance: many"
        " gigabytes",
    )
    parser.add_argument(
        "--no-hashes",
        action="store_true",
        help="accept any build of the locked versions, for a registry with its own builds",
    )
    parser.add_argument(
        "--weights",
        metavar="FOLDER",
        help="take weights from this folder instead of fetching them; they are verified the same way",
    )
    parser.add_argument("--no-weights", action="store_true", help="install everything except the weights")
    parser.add_argument(
        "--optional-weights",
        action="store_true",
        help="also install the optional weights; the list says what they add",
    )
    parser.add_argument(
        "--stand-in",
        action="store_true",
        help="the folder has stand-in weights, for tests: jobs run, and are marked as meaningless",
    )
    parser.add_argument(
        "--accept-licences",
        "--accept-licence",
        action="store_true",
        help="accept the terms of an engine or its weights without a prompt; the list shows them",
    )
    add_json(parser)


def run_engines(options: argparse.Namespace) -> int:
    """List, install, check or remove engines.

    Raises:
        ArgumentError: no engine to install, check or remove is named, or weights are given without naming
            one, or options contradict each other.
        UnsupportedSystemError: this is Windows.
    """
    _require_posix()
    from foldnote import catalog
    from foldnote.service.engines import command

    if options.all and (options.names or options.action != "install"):
        raise ArgumentError("--all stands for the names of all engines, and only to install them.")
    if options.action == "list":
        return command.run_list(list(catalog.tools()), as_json=options.json)
    if options.optional_weights and (options.no_weights or not options.names):
        raise ArgumentError(
            "Name the engines whose optional weights you want, without --no-weights:"
            " foldnote engines install NAME --optional-weights."
        )
    if options.action == "install":
        if not (options.names or options.all):
            raise ArgumentError(
                "Name the engines to install: foldnote engines install NAME. `foldnote engines` lists them;"
                " --all installs all, which takes many gigabytes."
            )
        failed = command.run_install(
            options.names,
            as_json=options.json,
            with_hashes=not options.no_hashes,
            offer=_read_offer(options),
            has_accepted=options.accept_licences,
            ask=None if options.json or not sys.stdin.isatty() else _ask_to_accept,
            with_weights=not options.no_weights,
            with_optional=options.optional_weights,
        )
        return Exit.BROKEN if failed else Exit.DONE
    if not options.names:
        raise ArgumentError(f"Name the engines to {options.action}: foldnote engines {options.action} NAME.")
    if options.action == "check":
        return command.run_check(
            options.names,
            lambda tool: catalog.default_settings(catalog.tool(tool)),
            as_json=options.json,
        )
    return command.run_remove(options.names, as_json=options.json)


def _ask_to_accept(engine: Engine, terms: Sequence[LicenceTerms]) -> bool:
    """Show the terms of an engine and ask on the terminal whether the user accepts them."""
    lines = [f"{engine.method} is under terms that you must accept.", engine.licence_note]
    lines += [f"{licence.name}: {licence.licence} ({licence.source}){licence.address}" for licence in terms]
    lines += ["Your acceptance is recorded on this computer, with your user name and the time."]
    sys.stderr.write("".join(f"{line}\n" for line in lines if line))
    return confirm("Do you accept these terms?")


def _read_offer(options: argparse.Namespace) -> Offer | None:
    from foldnote.service.engines.weights.store import Offer

    if options.stand_in and not options.weights:
        raise ArgumentError("--stand-in says what the folder of --weights has: name that folder.")
    if options.weights and len(options.names) != 1:
        raise ArgumentError(
            "Name the engine that the weights are for: foldnote engines install NAME --weights FOLDER."
        )
    return Offer(Path(options.weights).expanduser().resolve(), options.stand_in) if options.weights else None


def run_doctor(options: argparse.Namespace) -> int:
    """Check the installation, and print how to fix problems."""
    from foldnote.cli.doctor import run_checks

    findings = run_checks()
    lines = []
    for finding in findings:
        lines.append(f"{'ok ' if finding.is_good else '-- '} {finding.what}: {finding.found}")
        lines += [f"      {finding.advice}"] if finding.advice else []
    report(options, [asdict(finding) for finding in findings], "\n".join(lines))
    return Exit.DONE if all(each.is_good or not each.is_needed for each in findings) else Exit.JOB_FAILED


def add_completion(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``completion``."""
    parser.add_argument("shell", choices=tuple(_COMPLETION))


def run_completion(options: argparse.Namespace) -> int:
    """Print the completion script for a shell."""
    from argcomplete.shell_integration import shellcode

    print(_COMPLETION[options.shell])
    print(shellcode(["foldnote"], shell=options.shell).strip())
    return Exit.DONE
