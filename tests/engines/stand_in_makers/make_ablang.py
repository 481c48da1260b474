"""Stand-in weights of AbLang: random models of the published shapes, but with two layers instead of twelve.

    python make_ablang.py FOLDER [LAYERS]

Writes FOLDER/heavy and FOLDER/light with amodel.pt, hparams.json and vocab.json, as in the authors' archives.
"""

import argparse
import json
import sys
from pathlib import Path

import torch
from ablang.model import AbLang

folder = Path(sys.argv[1])
shape = {
    "vocab_size": 24,
    "hidden_size": 768,
    "num_hidden_layers": int(sys.argv[2]) if len(sys.argv) > 2 else 2,
    "num_attention_heads": 12,
    "intermediate_size": 3072,
    "max_position_embeddings": 160,
    "pad_token_id": 21,
    "hidden_act": "gelu",
    "hidden_dropout_prob": 0.1,
    "attention_probs_dropout_prob": 0.1,
    "layer_norm_eps": 1e-12,
    "initializer_range": 0.1,
}
for seed, name in enumerate(("heavy", "light")):
    torch.manual_seed(seed)
    (folder / name).mkdir(parents=True)
    torch.save(AbLang(argparse.Namespace(**shape)).state_dict(), folder / name / "amodel.pt")
    (folder / name / "hparams.json").write_text(json.dumps(shape))
    vocabulary = {letter: place for place, letter in enumerate("<MRHKDESTNQCGPAVIFYWL->*")}
    (folder / name / "vocab.json").write_text(json.dumps(vocabulary))
