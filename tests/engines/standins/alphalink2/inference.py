"""Stand-in for inference.py of AlphaLink2: its arguments, its inputs and its files, without a model."""

import argparse
from pathlib import Path

from standin import behave, tell_arguments, write_atoms

parser = argparse.ArgumentParser(allow_abbrev=False)
for name in ("model_name", "target_name", "model_device"):
    parser.add_argument(f"--{name}")
for name in ("param_path", "data_dir", "crosslinks", "output_dir"):
    parser.add_argument(f"--{name}", type=Path)
for name in (
    "data_random_seed",
    "neff",
    "dropout_crosslinks",
    "times",
    "max_recycling_iters",
    "num_ensembles",
):
    parser.add_argument(f"--{name}", type=int)
parser.add_argument("--cutoff", type=float)
for name in ("sample_templates", "use_uniprot", "relax", "bf16", "save_raw_output"):
    parser.add_argument(f"--{name}", action="store_true")
options = parser.parse_args()
tell_arguments()

assert options.param_path.read_text() == "weights"
assert options.crosslinks.read_text() == "crosslinks"
assert (options.data_dir / "chains.txt").read_text() == "A B"
writes = behave()
for sample in range(options.times):
    seed, confidence = hash((options.data_random_seed, sample)) % 100000, 0.5 + 0.1 * sample
    print(f"Model {sample} Crosslink satisfaction: 0.250 Model confidence: {confidence:.3f}")
    if writes:
        path = options.output_dir / f"AlphaLink2_{seed}_{confidence:.3f}.pdb"
        path.write_text(write_atoms("AAA", b_factor=70 + sample))
if writes:
    (
        options.output_dir / f"AlphaLink2_{options.param_path.name}_{seed}_{confidence:.3f}_best.pdb"
    ).write_text(write_atoms("AAA", b_factor=0.7))
