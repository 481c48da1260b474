"""Stand-in for generate_crosslink_pickle.py of AlphaLink2: its arguments and its file."""

import argparse
from pathlib import Path

parser = argparse.ArgumentParser(allow_abbrev=False)
parser.add_argument("--csv", type=Path, required=True)
parser.add_argument("--output", type=Path, required=True)
options = parser.parse_args()
rows = [line.split(" ") for line in options.csv.read_text().splitlines()]
assert all(len(row) == 5 for row in rows)
options.output.write_text("crosslinks")
