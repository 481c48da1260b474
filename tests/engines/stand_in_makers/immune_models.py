"""Stand-in weights of ImmuneBuilder's models: ABodyBuilder2's model 1, widened where needed, and perturbed.

Each feature of model 1 is duplicated in the wider model and weighted by half wherever it is summed, so that without
perturbation it computes the same as model 1 (Chen, Goodfellow, Shlens, "Net2Net", arXiv:1511.05641). Random weights
would give no protein that OpenMM can refine. All are perturbed in the same direction, each more than the one before, so
that the first is not the one nearest to the mean.
"""

from pathlib import Path

import ImmuneBuilder
import torch
from ImmuneBuilder.models import StructureModule

HEADS = 12
DISTURBANCE = 0.05
given = torch.load(
    Path(ImmuneBuilder.__file__).parent / "trained_model" / "antibody_model_1", map_location="cpu"
)
node = given["node_embed.weight"].shape[0]
# For each feature of the wider model: its feature in model 1 (-1 for none) and its weight.
NODES = [*range(node), *range(node)], [0.5] * (2 * node)
FEATURES = [*range(node), *range(node), *range(node, 2 * node), *range(node, 2 * node)], [0.5] * (4 * node)
EDGES = [0, *range(1, node), *range(1, node), -1], [1.0] + [0.5] * (2 * node - 2) + [0.0]
ROWS = {node: NODES[0], 2 * node: FEATURES[0], node - 1: [*range(node - 1), *range(node - 1), -1]}


def pick(tensor, places, axis):
    chosen = tensor.index_select(axis, torch.tensor([max(each, 0) for each in places]))
    shape = [-1 if each == axis else 1 for each in range(tensor.dim())]
    return chosen * torch.tensor([float(each >= 0) for each in places], dtype=tensor.dtype).view(shape)


def widen_columns(weight, name):
    if name.startswith(("node_embed", "edge_embed")):
        return weight
    if "edge_attention_bias" in name:
        places, counts = EDGES
    elif "final_linear" in name:
        rest = range(HEADS * node, weight.shape[1])
        places = [head * node + each if each >= 0 else -1 for head in range(HEADS) for each in EDGES[0]]
        places, counts = [*places, *rest], EDGES[1] * HEADS + [1.0] * len(rest)
    else:
        places, counts = NODES if weight.shape[1] == node else FEATURES
    return pick(weight, places, 1) * torch.tensor(counts, dtype=weight.dtype)


def widen(name, tensor):
    if "point_weight" in name:
        return tensor
    if tensor.dim() == 2:
        tensor = widen_columns(tensor, name)
    is_inner = any(word in name for word in ("to_scalar", "to_vector", "final_pred", "to_correction"))
    return tensor if is_inner else pick(tensor, ROWS[tensor.shape[0]], 0)


def make_stand_ins(folder, stem, widths, first=1):
    """Write ``STEM_1`` and so on; ``widths`` are those of their embeddings, where ABodyBuilder2's model 1 has 128."""
    for place, width in enumerate(widths):
        torch.manual_seed(0)
        is_wide = width == 2 * node
        wide = {name: (widen(name, tensor) if is_wide else tensor).float() for name, tensor in given.items()}
        share = (place + first - 1) * DISTURBANCE
        disturbed = {name: each * (1 + share * torch.randn_like(each)) for name, each in wide.items()}
        StructureModule(rel_pos_dim=64, embed_dim=width).load_state_dict(disturbed)
        torch.save(disturbed, folder / f"{stem}_{first + place}")
