"""A parser of command lines whose errors are also JSON, as every other failure with ``--json``."""

from __future__ import annotations

import argparse
import json
import sys
from typing import NoReturn

_EXIT_CODE = 2
"""With which argparse exits."""


class JsonErrorParser(argparse.ArgumentParser):
    """A parser that can print its errors as JSON on standard output, besides usage and message.

    Attributes:
        as_json: whether the command line has ``--json``.
    """

    as_json = False

    def error(self, message: str) -> NoReturn:
        """Print usage and message, and exit."""
        if self.as_json:
            report = {"error": {"kind": "bad_input", "exit": _EXIT_CODE, "message": message}}
            sys.stdout.write(f"{json.dumps(report)}\n")
        super().error(message)
