"""Stand-in for design_pdb.py of Antibody-Diffusion-Properties: its arguments and its files, without a model."""

import argparse
import json
import re
from pathlib import Path

from standin import behave, tell_arguments, write_atoms

parser = argparse.ArgumentParser(allow_abbrev=False)
parser.add_argument("pdb_path", type=Path)
for name in ("heavy", "light"):
    parser.add_argument(f"--{name}")
parser.add_argument("--no_renumber", action="store_true")
parser.add_argument("-c", "--config", type=Path, required=True)
parser.add_argument("-o", "--out_root", type=Path, required=True)
parser.add_argument("-s", "--seed", type=int)
parser.add_argument("-d", "--device", default="cuda")
parser.add_argument("--sample_step_num", type=int, default=20)
options = parser.parse_args()
tell_arguments()

config = dict(re.findall(r"^\s*(\w+): *(\S+)$", options.config.read_text(), re.M))
print("CONFIG", json.dumps(sorted(config.items())))
assert Path(json.loads(config["checkpoint"])).read_text() == "weights"
assert Path("diffab").is_dir(), "it does not run in its checkout"
assert "ATOM" in options.pdb_path.read_text()
writes = behave()
results = options.out_root / options.config.stem / f"{options.pdb_path.name}_2026_01_01__00_00_00"
results.mkdir(parents=True)
items = []
for chain, kind in ((options.heavy or "H", "H"), *([(options.light or "L", "L")] if options.light else [])):
    for number in (1, 2, 3):
        tag = f"{kind}_CDR{number}"
        print(f"[2026] Start sampling for: {tag}")
        item = {"tag": tag, "residue_first": [chain, number, " "], "residue_last": [chain, number + 1, " "]}
        items.append(item)
        (results / tag).mkdir()
        for design in range(int(config["num_samples"])):
            text = write_atoms("AAAAA", chain).replace(f"ALA {chain}   {number}", f"TRP {chain}   {number}")
            (results / tag / f"{design:04}.pdb").write_text(text)
        (results / tag / "REF1.pdb").write_text(write_atoms("AAAAA", chain))
if writes:
    (results / "reference.pdb").write_text(write_atoms("AAAAA", "H") + write_atoms("AAAAA", "L"))
    (results / "metadata.json").write_text(json.dumps({"identifier": "complex.pdb", "items": items}))
