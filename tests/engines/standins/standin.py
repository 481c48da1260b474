"""Shared by the stand-in programs: they log their arguments, and misbehave when told to.

A file ``behaviour`` in the checkout says how: ``fail`` ends midway, ``silent`` writes no result, ``sleep`` waits.
"""

import json
import sys
import time
from pathlib import Path

CHECKOUT = Path(__file__).parent


def tell_arguments(name="arguments"):
    """Write the arguments to the log, where the test finds them."""
    print(f"{name.upper()} {json.dumps(sys.argv[1:])}", flush=True)


def behave():
    """Behave as the checkout says; return whether results are to be written."""
    path = CHECKOUT / "behaviour"
    behaviour = path.read_text() if path.exists() else ""
    if behaviour == "fail":
        print("RuntimeError: CUDA out of memory. Tried to allocate 2.00 GiB", file=sys.stderr)
        sys.exit(1)
    if behaviour == "sleep":
        (CHECKOUT / "asleep").touch()
        time.sleep(600)
    return behaviour != "silent"


def draw_bar(done, total):
    """Print a progress bar as tqdm does."""
    print(
        f"\r{100 * done // total:3}%|####      | {done}/{total} [00:01<00:02,  1.00it/s]",
        end="",
        file=sys.stderr,
    )


def write_atoms(sequence, chain="A", b_factor=80.0, first=1):
    """Return the lines of a structure with one atom per residue."""
    return "".join(
        f"ATOM  {number:5}  CA  ALA {chain}{number:4}    {3.8 * number:8.3f}{0:8.3f}{0:8.3f}  1.00{b_factor:6.2f}"
        "           C  \n"
        for number in range(first, first + len(sequence))
    )


def read_flags(known):
    """Parse the flags of a program that uses absl, including its flag files; an unknown one is an error."""
    flags = {}
    words = sys.argv[1:]
    while words:
        name, _, value = words.pop(0).strip().removeprefix("--").partition("=")
        if name == "flagfile":
            words = [*Path(value).read_text().split(), *words]
        elif name not in known:
            sys.exit(f"FATAL Flags parsing error: Unknown command line flag '{name}'")
        else:
            flags[name] = value
    return flags
