"""Stand-in for predict.py of AF2Dock: its arguments, its inputs and its files, without a model."""

import argparse
from pathlib import Path

from standin import behave, draw_bar, tell_arguments, write_atoms

parser = argparse.ArgumentParser(allow_abbrev=False)
parser.add_argument("output_dir", type=Path)
for name in (
    "input_csv",
    "rec_struc_path",
    "lig_struc_path",
    "rec_seq_path",
    "lig_seq_path",
    "checkpoint_path",
):
    parser.add_argument(f"--{name}", type=Path)
for name, value in (
    ("num_samples", 40),
    ("num_steps", 10),
    ("merge_first_n_steps", 0),
    ("data_random_seed", None),
):
    parser.add_argument(f"--{name}", type=int, default=value)
for name, value in (("data_id", None), ("model_device", "cuda"), ("precision", "tf32")):
    parser.add_argument(f"--{name}", default=value)
for name in ("save_intermediate_pred", "overwrite_existing", "long_sequence_inference", "no-esm"):
    parser.add_argument(f"--{name}", action="store_true")
options = parser.parse_args()
tell_arguments()

assert options.checkpoint_path.read_text() == "weights"
assert 0 <= options.data_random_seed < 2**32
for path in (options.rec_struc_path, options.lig_struc_path):
    assert "ATOM" in path.read_text()
writes = behave()
folder = options.output_dir / f"0_{options.data_id}"
options.output_dir.mkdir(exist_ok=True)
folder.mkdir()
rows = []
draw_bar(0, 1)
for sample in range(options.num_samples):
    text = write_atoms("AAA", "A", 80 + sample) + "TER\n" + write_atoms("AA", "B", 80 + sample) + "TER\nEND\n"
    if writes:
        (folder / f"{options.data_id}_s{sample}.pdb").write_text(text)
        (folder / f"{options.data_id}_s{sample}_ori_chain.pdb").write_text(text)
        (folder / f"{options.data_id}_s{sample}_t0_template.pdb").write_text(text)
    rows.append((sample, 0.5 + 0.1 * (sample % 3)))
    draw_bar(sample + 1, options.num_samples)
if writes:
    lines = [f"{sample},{iptm}" for sample, iptm in sorted(rows, key=lambda row: -row[1])]
    path = folder / f"{options.data_id}_s0_{options.num_samples - 1}_iptm.csv"
    path.write_text("\n".join(["sample_idx,iptm", *lines]) + "\n")
