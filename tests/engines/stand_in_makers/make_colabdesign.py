"""Stand-ins for AlphaFold's pTM parameters, with 2 of 48 blocks, and for AF2BIND's heads: random numbers.

    python make_colabdesign.py FOLDER [BLOCKS]

Writes FOLDER/alphafold_params_2021-07-14 with five equal models and FOLDER/af2bind with a pickled head.
"""

import os
import pickle
import sys
from pathlib import Path

import haiku
import jax
import jax.numpy as jnp
import numpy as np
from colabdesign.af.alphafold.model import config, modules
from colabdesign.af.inputs import update_aatype, update_seq
from colabdesign.af.prep import prep_input_features

PERIOD, LENGTH = 4099, 8
BAITS, CHANNELS = 20, 128


def find_shapes(blocks):
    """Return the shape of every parameter of the network, by scope and name."""
    read = config.model_config("model_1_ptm")
    read.model.embeddings_and_evoformer.evoformer_num_block = blocks
    for name in ("bfloat16", "use_dgram", "use_remat"):
        read.model.global_config[name] = False
    features = prep_input_features(L=LENGTH, N=1, T=1)
    update_seq(jnp.eye(20)[:LENGTH][None], features)
    update_aatype(jnp.arange(LENGTH), features)
    features["template_mask"] = jnp.ones(1)
    features["residue_index"] = np.arange(LENGTH)
    features["use_dropout"] = False
    features["batch"] = None
    features["mask_template_interchain"] = False
    features["prev"] = {
        "prev_msa_first_row": np.zeros((LENGTH, 256)),
        "prev_pair": np.zeros((LENGTH, LENGTH, 128)),
        "prev_pos": np.zeros((LENGTH, 37, 3)),
    }
    network = haiku.transform(lambda batch: modules.AlphaFold(read.model)(batch, return_representations=True))
    asked = jax.eval_shape(network.init, jax.random.PRNGKey(0), features)
    return {f"{scope}//{name}": each.shape for scope, row in asked.items() for name, each in row.items()}


def write_parameters(folder, shapes):
    block = (0.06 * np.random.default_rng(0).standard_normal(PERIOD)).astype(np.float32)
    arrays = {}
    for name, shape in shapes.items():
        kind = name.rpartition("//")[2]
        is_constant = kind in ("scale", "offset", "bias")
        arrays[name] = (
            np.full(shape, float(kind == "scale"), np.float32) if is_constant else np.resize(block, shape)
        )
    folder.mkdir(parents=True)
    first = folder / "params_model_1_ptm.npz"
    np.savez_compressed(first, **arrays)
    for number in range(2, 6):
        os.link(first, folder / f"params_model_{number}_ptm.npz")


def write_head(folder):
    numbers, size = np.random.default_rng(1), 2 * BAITS * CHANNELS
    head = {
        "~": {"mean": 0.1 * numbers.standard_normal(size), "std": 1 + numbers.random(size)},
        "linear": {"w": 0.004 * numbers.standard_normal((size, 1)), "b": numbers.standard_normal(1)},
    }
    folder.mkdir(parents=True)
    with (folder / "split_nosc_pair_A_split_nosc_pair_B_0.pickle").open("wb") as stream:
        pickle.dump(jax.tree_util.tree_map(lambda array: jnp.asarray(array, jnp.float32), head), stream)


if __name__ == "__main__":
    root = Path(sys.argv[1])
    write_parameters(root / "alphafold_params_2021-07-14", find_shapes(int((sys.argv[2:] or ["2"])[0])))
    write_head(root / "af2bind")
