"""The command that prints what a shell needs to complete the others; argcomplete does the work."""

from __future__ import annotations

import argparse

from foldnote.cli.exit_codes import Exit

_SHELLS = ("bash", "zsh", "fish")
_ADVICE = {
    "bash": '# Add to ~/.bashrc:  eval "$(foldnote completion bash)"',
    "zsh": '# Add to ~/.zshrc, after compinit:  eval "$(foldnote completion zsh)"',
    "fish": "# Write to a file:  foldnote completion fish > ~/.config/fish/completions/foldnote.fish",
}


def add_completion(parser: argparse.ArgumentParser) -> None:
    """Arguments of ``completion``."""
    parser.add_argument("shell", choices=_SHELLS)


def run_completion(options: argparse.Namespace) -> int:
    """Print the script."""
    from argcomplete.shell_integration import shellcode

    print(_ADVICE[options.shell])
    print(shellcode(["foldnote"], shell=options.shell).strip())
    return Exit.DONE
