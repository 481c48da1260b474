"""Time to read, map and validate a table of antibodies, beside pandas with jsonschema.

A CSV file of foreign column names (``Name;Seq1;Seq2;KD_nM``) is read, its columns are mapped to the settings
of ``abodybuilder`` by their contents, and every row is validated. The peer, alternating in the same run,
reads the file with pandas, renames columns by a given mapping, and validates each row with jsonschema against
the same schema; it does not handle encodings, mapping or rules beyond JSON Schema. Nothing here is a test:
machines differ.
"""

from __future__ import annotations

import argparse
import io
import random
import statistics
import time
from collections.abc import Callable
from typing import Any

import jsonschema
import pandas as pd

from foldnote import catalog
from foldnote.client.inputs.table_file import read_table_bytes
from foldnote.forms.batch.column_mapping import list_header_words
from foldnote.forms.batch.draft_batch import DraftBatch
from foldnote.forms.batch.mapped_table import list_specs

LIMIT_S = 1.0
RUNS = 5
TOOL = catalog.tool("abodybuilder")
EXAMPLE = TOOL.example_job["settings"]


def write_table(rows: int) -> bytes:
    """Write a table of variants of one antibody, each with a few substitutions in both chains."""
    chance = random.Random(7)
    lines = ["Name;Seq1;Seq2;KD_nM"]
    for number in range(rows):
        chains = [list(EXAMPLE[chain]) for chain in ("heavy", "light")]
        for chain in chains:
            for place in chance.sample(range(25, 85), 3):
                chain[place] = chance.choice("ADEFGHIKLMNPQRSTVY")
        heavy, light = ("".join(chain) for chain in chains)
        lines.append(f"mAb {number};{heavy};{light};{chance.uniform(0.1, 100):.3g}")
    return "\n".join(lines).encode()


def read_ours(data: bytes) -> tuple[int, int]:
    """Return the number of rows read and of valid rows."""
    specs = list_specs(TOOL)
    rows = DraftBatch()
    rows.add_table(read_table_bytes(data, known=list_header_words(specs)), specs)
    settings = rows.list_settings(specs)
    assert rows.list_names()
    return len(settings), sum(not catalog.check(TOOL, row).problems for row in settings)


def read_peer(data: bytes) -> tuple[int, int]:
    """Return the same counts by pandas and jsonschema."""
    frame = pd.read_csv(io.BytesIO(data), sep=";").rename(columns={"Seq1": "heavy", "Seq2": "light"})
    validator = jsonschema.Draft202012Validator(TOOL.settings_schema)
    settings: list[dict[str, Any]] = frame[["heavy", "light"]].to_dict("records")
    return len(settings), sum(validator.is_valid(row) for row in settings)


def measure_s(work: Callable[[bytes], tuple[int, int]], data: bytes, rows: int) -> float:
    """Return the seconds of one call, all of whose rows must be valid."""
    start = time.perf_counter()
    assert work(data) == (rows, rows)
    return time.perf_counter() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1000, help="rows of the table (default: 1000)")
    rows = parser.parse_args().rows
    data = write_table(rows)
    read_ours(data), read_peer(data)
    pairs = [(measure_s(read_ours, data, rows), measure_s(read_peer, data, rows)) for _ in range(RUNS)]
    ours, peer = (statistics.median(column) for column in zip(*pairs, strict=True))
    limit = LIMIT_S * rows / 1000
    limits = f"limit {limit:.1f} s, {'ok' if ours <= limit else 'MORE'}; median of {RUNS}"
    print(f"read, map and validate {rows:,} rows: {ours:.3f} s ({limits})")
    print(f"pandas.read_csv and jsonschema, mapped by hand: {peer:.3f} s; ours takes {ours / peer:.2f} of it")


if __name__ == "__main__":
    main()
