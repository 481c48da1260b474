"""Stand-in weights of AEV-PLIG: ten random models for the authors' program, part of which is among the tests' data.

    python make_aev_plig.py FOLDER

Writes FOLDER/program as in the authors' repository, without training data.
"""

import argparse
import sys
import tarfile
from pathlib import Path

folder = Path(sys.argv[1])
with tarfile.open(Path(__file__).parents[1] / "data/aev-plig-program.tar.gz") as archive:
    archive.extractall(folder, filter="data")
sys.path.insert(0, str(folder / "program"))

import torch  # noqa: E402  needs the authors' modules on the path
from model_defs import GATv2Net  # noqa: E402

ATOM, BOND = 15 + 22 * 16, 4
"""Numbers of features of an atom (its own, and of the surrounding protein by 22 atom types and 16 distances) and of a
bond.
"""
shape = argparse.Namespace(activation_function="leaky_relu", head=3, hidden_dim=256)
for number in range(10):
    torch.manual_seed(number)
    model = GATv2Net(node_feature_dim=ATOM, edge_feature_dim=BOND, config=shape)
    model.out.weight.data *= 1000  # makes small differences of the input visible
    name = f"model_GATv2Net_ligsim90_fep_benchmark_{number}.model"
    torch.save(model.state_dict(), folder / "program/output/trained_models" / name)
