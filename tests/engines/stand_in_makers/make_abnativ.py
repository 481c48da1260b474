"""Stand-in weights of AbNatiV2: random models with one layer of attention each.

    python make_abnativ.py FOLDER

Writes FOLDER/vh2_model.ckpt, vl2_model.ckpt, vhh2_model.ckpt and vpaired2_model.ckpt in the format of PyTorch
Lightning.
"""

import sys
from pathlib import Path

import pytorch_lightning
import torch
from abnativ.model.abnativ2_paired import AbNatiV_Paired_Model
from abnativ.model.abnativ2_unpaired import AbNatiV_Model

folder = Path(sys.argv[1])
shape = {
    "run_name": "stand-in",
    "d_embedding": 128,
    "kernel": 8,
    "stride": 8,
    "num_heads": 4,
    "num_mha_layers": 1,
    "d_ff": 128,
    "length_seq": 149,
    "alphabet_size": 21,
    "drop": 0.0,
    "num_embeddings": 32,
    "embedding_dim_code_book": 16,
    "decay": 0.9,
    "commitment_cost": 0.25,
    "learning_rate": 1e-4,
    "batch_size": 8,
}
paired = shape | {
    "d_embedding_cross": 64,
    "num_heads_cross": 4,
    "d_ff_cross": 64,
    "freeze_heavy": False,
    "freeze_light": False,
    "gate_bias": -2.0,
    "d_ppred_lr": 16,
    "zeta": 1.0,
    "fp_diverse_test": "",
    "fp_pssm": "",
    "fp_test": "",
}
kinds = {"vh2": AbNatiV_Model, "vl2": AbNatiV_Model, "vhh2": AbNatiV_Model, "vpaired2": AbNatiV_Paired_Model}
for seed, (name, kind) in enumerate(kinds.items()):
    torch.manual_seed(seed)
    values = paired if name == "vpaired2" else shape
    state = kind(values).state_dict()
    for key, value in state.items():
        if key.endswith("initted"):
            value.fill_(1)  # an untrained codebook would be drawn anew in every run
        elif key.endswith("embed"):
            value.copy_(torch.nn.functional.normalize(torch.randn_like(value), dim=-1))
    # Single-chain models get their hyperparameters as the argument hparams.
    content = {
        "state_dict": state,
        "hyper_parameters": values,
        "hparams_name": "hparams",
        "pytorch-lightning_version": pytorch_lightning.__version__,
    }
    torch.save(content, folder / f"{name}_model.ckpt")
