"""Stand-in weights of OpenFold 3: its network with one block per stack, and random numbers.

    python make_openfold3.py FOLDER

Writes of3-ob-2025-06-30-174k.pt as the authors publish it, a plain dictionary of parameters. The published network has
4, 48, 24 and 4 blocks in these stacks, and is otherwise the same.
"""

import sys
from pathlib import Path

import torch
from openfold3.entry_points.experiment_runner import skip_random_init
from openfold3.projects.of3_all_atom.model import OpenFold3
from openfold3.projects.of3_all_atom.project_entry import OF3ProjectEntry

config = OF3ProjectEntry().get_model_config_with_presets(["predict"])
for stack in (
    config.architecture.msa.msa_module,
    config.architecture.pairformer,
    config.architecture.diffusion_module.diffusion_transformer,
    config.architecture.heads.pairformer_embedding.pairformer,
):
    stack.no_blocks = 1
with skip_random_init():
    parameters = OpenFold3(config).state_dict()
generator = torch.Generator().manual_seed(0)
for name, values in parameters.items():
    if "version" in name:
        continue
    if values.dim() > 1:
        values.normal_(0, values.shape[-1] ** -0.5, generator=generator)
    elif name.endswith("weight"):
        values.fill_(1)
    else:
        values.normal_(0, 0.1, generator=generator)
torch.save(parameters, Path(sys.argv[1]) / "of3-ob-2025-06-30-174k.pt")
