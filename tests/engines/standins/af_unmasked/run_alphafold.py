"""Stand-in for run_alphafold.py of AF_unmasked: its flags, its inputs and its files, without a model."""

import json
from pathlib import Path

from standin import behave, read_flags, tell_arguments, write_atoms

FLAGS = (
    "fasta_paths output_dir model_preset num_multimer_predictions_per_model random_seed models_to_use dropout"
)
FLAGS += " cross_chain_templates cross_chain_templates_only data_dir template_mmcif_dir uniprot_max_hits"
flags = read_flags(FLAGS.split())
tell_arguments()

assert flags["data_dir"] == "/databases"
assert flags["cross_chain_templates"] == ""
folder = Path(flags["output_dir"], Path(flags["fasta_paths"]).stem)
slots = len(list((folder / "template_data" / "mmcif_files").iterdir()))
print(f"SLOTS [{slots}]")
known = [f"model_{number}_{flags['model_preset']}" for number in range(1, 6)]
networks = flags["models_to_use"].split(",") if "models_to_use" in flags else known
assert set(networks) <= set(known)
writes = behave()
names = [
    f"{network}_pred_{number}"
    for network in networks
    for number in range(1, int(flags["num_multimer_predictions_per_model"]) + 1)
]
order = names[::-1]
for place, name in enumerate(order):
    print(
        f"I1123 Total JAX model {name} on target predict time (includes compilation time, see --benchmark): 1.0s"
    )
    if writes:
        (folder / f"ranked_{place}.pdb").write_text(write_atoms("AAA", b_factor=90 - place))
if writes:
    ranking = {"iptm+ptm": {name: 0.9 - 0.01 * place for place, name in enumerate(order)}, "order": order}
    (folder / "ranking_debug.json").write_text(json.dumps(ranking))
