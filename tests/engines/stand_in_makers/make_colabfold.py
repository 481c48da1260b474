"""Write stand-ins for AlphaFold 2's parameters: random numbers with the right names and shapes.

    python make_colabfold.py FOLDER        # with the python of the engine colabfold

The networks themselves give the shapes. The numbers repeat, so that the files compress to a few MB.
"""

import os
import sys
from pathlib import Path

import haiku
import jax
import numpy as np
from alphafold.model import config, model, modules, modules_multimer
from colabfold.batch import build_monomer_feature, generate_input_feature, mk_mock_template

SEQUENCE = "MKTAYIAKQR"
PERIOD = 4096
SINGLE, COMPLEX = "alphafold_params_2021-07-14", "alphafold_params_colab_2022-12-06"


def unfused(name):
    """Return a model's configuration with the parameters' original names."""
    read = config.model_config(name)
    embeddings = read.model.embeddings_and_evoformer
    for stack in (embeddings.evoformer, embeddings.template.template_pair_stack):
        stack.triangle_multiplication_incoming.fuse_projection_weights = False
        stack.triangle_multiplication_outgoing.fuse_projection_weights = False
    return read


def shapes_of_single():
    read = unfused("model_1_ptm")
    given = build_monomer_feature(SEQUENCE, f">101\n{SEQUENCE}\n", mk_mock_template(SEQUENCE))
    features = {name: each[0] for name, each in model.RunModel(read, None).process_features(given, 0).items()}
    return shapes(lambda batch: modules.AlphaFold_noE(read.model)(batch, is_training=False), features)


def shapes_of_complex():
    read = unfused("model_1_multimer_v3")
    row = f">101\n{SEQUENCE}\n"
    given, _ = generate_input_feature(
        [SEQUENCE], [2], [row], [row, row], [mk_mock_template(SEQUENCE)], True, "alphafold2_multimer_v3", 512
    )
    features = dict(model.RunModel(read, None).process_features(given, 0))
    return shapes(lambda batch: modules_multimer.AlphaFold(read.model)(batch, is_training=False), features)


def shapes(network, features):
    """Return scope, name and shape of every parameter."""
    length = features["aatype"].shape[-1]
    features["prev"] = {
        "prev_msa_first_row": np.zeros((length, 256), np.float32),
        "prev_pair": np.zeros((length, length, 128), np.float32),
        "prev_pos": np.zeros((length, 37, 3), np.float32),
    }
    asked = jax.eval_shape(haiku.transform(network).init, jax.random.PRNGKey(0), features)
    return {f"{scope}//{name}": each.shape for scope, row in asked.items() for name, each in row.items()}


def write(folder, names, wanted):
    block = (0.02 * np.random.default_rng(0).standard_normal(PERIOD)).astype(np.float32)
    arrays = {}
    for name, shape in wanted.items():
        kind = name.rpartition("//")[2]
        if kind in ("scale", "offset", "bias"):
            arrays[name] = np.full(shape, float(kind == "scale"), np.float32)
        else:
            arrays[name] = np.resize(block, shape)
    folder.mkdir(parents=True)
    first = folder / names[0]
    np.savez_compressed(first, **arrays)
    for name in names[1:]:
        os.link(first, folder / name)
    (folder / "STAND-IN-WEIGHTS.txt").write_text(
        "Random numbers of the right shapes. They predict nothing.\n"
    )


def main():
    root = Path(sys.argv[1])
    write(root / SINGLE, [f"params_model_{number}_ptm.npz" for number in range(1, 6)], shapes_of_single())
    write(root / COMPLEX, [f"params_model_{n}_multimer_v3.npz" for n in range(1, 6)], shapes_of_complex())
    (root / "STAND-IN-WEIGHTS.txt").write_text("Random numbers of the right shapes. They predict nothing.\n")


main()
