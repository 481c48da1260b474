"""Structures for tests of engines: real proteins, and real ones modified to be odd."""

import csv
import gzip
import json
from pathlib import Path

from foldnote import catalog

DATA = Path(__file__).parent / "data"
EXAMPLES = Path(catalog.__file__).parent / "examples"
TRP_CAGE = (EXAMPLES / "trp-cage.pdb").read_text()
FV = (EXAMPLES / "trastuzumab-fv.pdb").read_text()


def read_packed(name):
    """Return the text of a gzipped file of the folder ``data``."""
    with gzip.open(DATA / name, "rt") as stream:
        return stream.read()


def read_atoms(text):
    """Return the lines of atoms."""
    return [line for line in text.splitlines() if line.startswith("ATOM")]


def renumber(lines, numbers):
    """Return the atoms with other residue numbers; the insertion code is part of a number."""
    made = []
    for line in lines:
        number = numbers.get(line[22:27].strip(), line[22:27].strip())
        digits = number.rstrip("ABCDEFGHIJKLMNOPQRSTUVWXYZ")
        made.append(f"{line[:22]}{digits:>4}{number[len(digits) :] or ' '}{line[27:]}")
    return made


def shift(lines, chain, distance):
    """Return a copy of the atoms as another chain, moved along x by a distance in Å."""
    return [
        f"{line[:21]}{chain}{line[22:30]}{float(line[30:38]) + distance:8.3f}{line[38:]}" for line in lines
    ]


def set_b_factors(lines, value):
    """Return the atoms with one value in the B-factor column."""
    return [f"{line[:60]}{value:6.2f}{line[66:]}" for line in lines]


def join(*groups):
    """Join groups of lines into one file."""
    return "\n".join([*(line for group in groups for line in group), "END", ""])


def read_table(path):
    with path.open(newline="") as stream:
        return list(csv.DictReader(stream))


def read_notes(outputs):
    return " ".join(json.loads((outputs.parent / "notes.json").read_text()))


def read_score(outputs):
    return json.loads((outputs.parent / "score.json").read_text())
