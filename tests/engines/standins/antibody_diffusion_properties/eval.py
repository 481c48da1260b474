"""Stand-in for eval.py of Antibody-Diffusion-Properties: its arguments and its table."""

import argparse
from pathlib import Path

from standin import tell_arguments

parser = argparse.ArgumentParser(allow_abbrev=False)
parser.add_argument("--root", type=Path, required=True)
parser.add_argument("--output_file", default="summary.csv")
for name in ("no_similarity", "no_energy", "no_hydro", "no_pred_ddg"):
    parser.add_argument(f"--{name}", action="store_true")
options = parser.parse_args()
tell_arguments("scoring")

assert options.no_energy
rows = ["method,structure,cdr,filename,rmsd,seqid,hydro,pred_ddg"]
for path in sorted(options.root.glob("*/*/*_CDR*/0*.pdb")):
    rows.append(f"design,complex.pdb,{path.parent.name},{path.name},1.5,50.0,-0.25,-1.75")
(options.root / options.output_file).write_text("\n".join(rows) + "\n")
