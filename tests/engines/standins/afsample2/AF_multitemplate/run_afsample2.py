"""Stand-in for run_afsample2.py of AFsample2: its flags, its inputs and its files, without a model."""

import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
from standin import behave, read_flags, tell_arguments, write_atoms

FLAGS = "method fasta_paths model_preset models_to_use nstruct num_multimer_predictions_per_model msa_rand_fraction"
FLAGS += " random_seed output_dir msa_file data_dir db_preset dropout no_templates"
flags = read_flags(FLAGS.split())
tell_arguments()

assert flags["data_dir"] == "/databases"
records = [line for line in Path(flags["fasta_paths"]).read_text().splitlines() if not line.startswith(">")]
assert ("multimer" in flags["model_preset"]) == (len(records) > 1)
if "msa_file" in flags:
    assert Path(flags["msa_file"]).read_text().splitlines()[1] == records[0]
least = int(flags.get("num_multimer_predictions_per_model", 5)) if len(records) > 1 else 1
writes = behave()
folder = Path(flags["output_dir"], Path(flags["fasta_paths"]).stem, "afsample2")
folder.mkdir(parents=True)
names = [
    f"{network}_pred_{number}"
    for network in flags["models_to_use"].split(",")
    for number in range(1, max(int(flags["nstruct"]), least) + 1)
]
for place, name in enumerate(names):
    tag = f"{name}_rand{float(flags['msa_rand_fraction'])}_nodropout"
    if writes:
        (folder / f"unrelaxed_{tag}.pdb").write_text(write_atoms("AAA", b_factor=60 + place))
        (folder / f"result_{tag}.pkl").write_text("pickled")
        scores = {"ranking_confidence": 60.0 + place} | (
            {"ptm": 0.7, "iptm": 0.6} if len(records) > 1 else {}
        )
        (folder / f"result_{tag}.pkl.json").write_text(json.dumps(scores))
    print(f"I1123 Saved results to {folder}/result_{tag}.pkl")
