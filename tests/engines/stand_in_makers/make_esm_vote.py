"""Stand-in weights of ESM-1b and ESM-1v: small random models, instead of 650 million parameters, in fair-esm's file format.

    python make_esm_vote.py FOLDER [LAYERS WIDTH]

The names of parameters and of arguments are those of the published files, with the prefixes that fair-esm removes.
"""

import argparse
import sys
from pathlib import Path

import esm
import torch

folder = Path(sys.argv[1])
layers, width = map(int, sys.argv[2:4] or (2, 40))
names = ["esm1b_t33_650M_UR50S"] + [f"esm1v_t33_650M_UR90S_{number}" for number in range(1, 6)]
alphabet = esm.Alphabet.from_architecture("roberta_large")
for seed, name in enumerate(names):
    torch.manual_seed(seed)
    shape = {"layers": layers, "embed_dim": width, "ffn_embed_dim": 4 * width, "attention_heads": 20}
    more = {"arch": "roberta_large", "max_positions": 1024, "token_dropout": True}
    given = argparse.Namespace(**shape, **more, emb_layer_norm_before="esm1b" in name)
    model = esm.ProteinBertModel(given, alphabet)
    state = {
        ("encoder." if key.startswith("lm_head") else "encoder.sentence_encoder.") + key: value
        for key, value in model.state_dict().items()
        if not key.startswith("contact_head")
    }
    known = {f"encoder_{key}": value for key, value in shape.items()} | more
    torch.save({"args": argparse.Namespace(**known), "model": state}, folder / f"{name}.pt")
