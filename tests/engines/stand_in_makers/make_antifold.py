"""Stand-in weights of AntiFold: a random model of the published shape (about 540 MB).

python make_antifold.py FOLDER
"""

import argparse
import sys
from pathlib import Path

import torch
from antifold import esm
from antifold.esm.inverse_folding.gvp_transformer import GVPTransformerModel
from antifold.esm.pretrained import IF1_dict

torch.manual_seed(0)
alphabet = esm.Alphabet.from_architecture("vt_medium_with_invariant_gvp")
model = GVPTransformerModel(argparse.Namespace(**IF1_dict), alphabet)
torch.save({"model_state_dict": model.state_dict()}, Path(sys.argv[1]) / "model.pt")
