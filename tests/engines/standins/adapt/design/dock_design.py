"""Stand-in for design/dock_design.py of ADAPT: its arguments, its table of targets and its files, without a model."""

import argparse
import csv
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
from standin import behave, tell_arguments, write_atoms

parser = argparse.ArgumentParser(allow_abbrev=False)
parser.add_argument("--num_designs", type=int, required=True)
parser.add_argument("--pmhc_targets", type=Path, required=True)
parser.add_argument("--outfile_prefix", required=True)
parser.add_argument("--tcr_pdbids", nargs="*")
parser.add_argument("--design_cdrs", type=int, nargs="*")
for name in ("resample", "allow_mhc_mismatch", "design_other_cdrs", "debug", "skip_rf_antibody"):
    parser.add_argument(f"--{name}", action="store_true")
for name in ("num_mpnn_seqs", "num_recycle", "random_state"):
    parser.add_argument(f"--{name}", type=int)
options = parser.parse_args()
tell_arguments()

with options.pmhc_targets.open(newline="") as file:
    targets = list(csv.DictReader(file, delimiter="\t"))
assert all(row["mhc_class"] == "1" for row in targets)
folder = Path(f"{options.outfile_prefix}_tmp")
folder.mkdir()
(folder / "afold1_run.err").write_text("what AlphaFold said\n")
print("python af2_wrapper.py --targets design_tmp/afold1_targets.tsv")
writes = behave()
columns = ["organism", "mhc_class", "mhc", "peptide", "tcr_template_pdbid", "cdr3a", "cdr3b", "chainseq"]
columns += ["model_pdbfile", "pmhc_tcr_pae", *([] if options.skip_rf_antibody else ["combo_score_wtd"])]
lines = ["\t".join(columns)]
for number in range(options.num_designs):
    target = targets[number % len(targets)]
    model = folder / f"afold2_{number}_orient.pdb"
    model.write_text(write_atoms("AAAAA"))
    template = (options.tcr_pdbids or ["1oga"])[0]
    values = [*list(target.values())[:4], template, "CAV", "CAS", "AA/AA/A/A", str(model), str(9.0 - number)]
    lines.append("\t".join([*values, *([] if options.skip_rf_antibody else [str(20.0 + number)])]))
if writes:
    Path(f"{options.outfile_prefix}_final_results.tsv").write_text("\n".join(lines) + "\n")
print("DONE")
