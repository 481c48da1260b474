"""Stand-in weights of RFdiffusion3: its network with fewer and smaller layers and random numbers.

    python make_rfdiffusion3.py FOLDER

Writes rfd3_latest.ckpt as the authors publish it: the weights, their moving averages, and the settings of the training,
from which the program builds its network and reads its input.
"""

import os
import sys
from pathlib import Path

import hydra
import rfd3
import torch
from hydra import compose, initialize_config_dir
from omegaconf import OmegaConf

NETWORK = "model.net"
SMALL = {
    "c_s": 64,
    "c_z": 32,
    "c_atom": 32,
    "diffusion_module.c_token": 96,
    "token_initializer.n_pairformer_blocks": 1,
    "diffusion_module.diffusion_token_encoder.n_pairformer_blocks": 1,
    "diffusion_module.atom_attention_encoder.n_blocks": 1,
    "diffusion_module.atom_attention_decoder.n_blocks": 1,
    "diffusion_module.diffusion_transformer.n_block": 2,
    "diffusion_module.downcast.cross_attention_block.c_model": 32,
    "diffusion_module.upcast.cross_attention_block.c_model": 32,
}
folder = Path(sys.argv[1])
os.environ.setdefault("PROJECT_ROOT", str(folder))  # required by the training settings
os.environ.setdefault("USER", "nobody")


def keep_from_hydra(value):
    """Return the settings without those that only a running Hydra can resolve."""
    if isinstance(value, dict):
        return {key: keep_from_hydra(each) for key, each in value.items()}
    if isinstance(value, list):
        return [keep_from_hydra(each) for each in value]
    return "unused" if isinstance(value, str) and "${hydra" in value else value


with initialize_config_dir(config_dir=str(Path(rfd3.__file__).with_name("configs")), version_base="1.3"):
    overrides = [f"{NETWORK}.{name}={value}" for name, value in SMALL.items()]
    settings = compose("train", ["experiment=pretrain", *overrides])
settings = OmegaConf.create(keep_from_hydra(OmegaConf.to_container(settings, resolve=False)))
torch.manual_seed(0)
network = hydra.utils.instantiate(settings.model.net, _recursive_=False)
weights = network.state_dict()
content = {f"{kind}.{name}": value for kind in ("model", "shadow") for name, value in weights.items()}
torch.save(
    {"model": content, "train_cfg": settings, "global_step": 0, "current_epoch": 0},
    folder / "rfd3_latest.ckpt",
)
