"""Stand-in for predict.py of AlphaFlow: its arguments, its inputs' layout and its files, without a model."""

import argparse
import csv
from pathlib import Path

from standin import behave, draw_bar, tell_arguments, write_atoms

parser = argparse.ArgumentParser(allow_abbrev=False)
for name in ("input_csv", "templates_dir", "msa_dir", "outpdb", "weights", "ckpt", "runtime_json"):
    parser.add_argument(f"--{name}")
parser.add_argument("--mode", choices=["alphafold", "esmfold"], default="alphafold")
for name, value in (("samples", 10), ("steps", 10), ("subsample", None)):
    parser.add_argument(f"--{name}", type=int, default=value)
parser.add_argument("--pdb_id", nargs="*", default=[])
parser.add_argument("--tmax", type=float, default=1.0)
for name in ("original_weights", "resample", "no_diffusion", "self_cond", "noisy_first", "no_overwrite"):
    parser.add_argument(f"--{name}", action="store_true")
options = parser.parse_args()
tell_arguments()

assert Path(options.weights).read_text() == "weights"
with Path(options.input_csv).open(newline="") as file:
    rows = list(csv.DictReader(file))
writes = behave()
Path(options.outpdb).mkdir(exist_ok=True)
for row in rows:
    if options.mode == "alphafold":
        alignment = (
            Path(options.msa_dir, row["msa_id"], "a3m", f"{row['msa_id']}.a3m").read_text().split("\n")
        )
        assert alignment[0].startswith(">")
        assert alignment[1] == row["seqres"]
    text = ""
    for sample in range(options.samples):
        draw_bar(sample, options.samples)
        text += f"MODEL {sample}\n{write_atoms(row['seqres'], b_factor=70 + sample)}TER\nENDMDL\n"
    draw_bar(options.samples, options.samples)
    if writes:
        Path(options.outpdb, f"{row['name']}.pdb").write_text(text)
