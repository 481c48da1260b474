"""Score docked poses with GNINA's convolutional neural networks, for the engine that docked them.

    run.py FOLDER

The folder contains receptor.pdb and the poses, pose-1.sdf to pose-N.sdf, each with one molecule. A pose with
a different receptor, because side chains were flexible, has it as receptor-N.pdb. The program prints a line
of JSON after each pose, ``{"pose": 1, "poses": 9}``, and writes scores.json into the folder: ``scores``, a
row for each pose in order (CNNscore, 0 to 1; CNNaffinity, pK; CNNvariance, pK squared); ``outside``, the
number of each pose's atoms outside of the cube that the networks see, whose ``edge`` is in Å; and
``asMetal``, elements of the ligand that have no type of their own and are treated as a metal. Nothing is
random, and a pose's figures do not depend on the other poses.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

EDGE = 23.5
"""Edge in Å of the cube about the ligand's centre, as in the training of the networks."""
RESOLUTION = 0.5
"""Grid spacing in Å."""
ENSEMBLE = "default"
"""The five networks that GNINA 1.0 uses by default (McNutt et al. 2021)."""
TYPES = "poses.types"
METAL = "GenericMetal"


def main() -> None:
    """Score the poses in the given folder."""
    folder = Path(sys.argv[1])
    count = len(list(folder.glob("pose-*.sdf")))
    networks = load_networks()
    rows, outside, metals = [], [], set()
    for number, batch in enumerate(read_batches(folder, count), start=1):
        rows.append(score(networks, batch))
        ligand = batch[0].coord_sets[-1]
        outside.append(count_outside(ligand.coords.tonumpy()))
        metals |= find_metals(ligand, read_elements(folder / f"pose-{number}.sdf"))
        print(json.dumps({"pose": number, "poses": count}), flush=True)
    content = {"scores": rows, "outside": outside, "edge": EDGE, "asMetal": sorted(metals)}
    folder.joinpath("scores.json").write_text(json.dumps(content, allow_nan=False), "utf-8")


def load_networks() -> Any:
    """Return the ensemble, ready to predict."""
    import torch
    from gninatorch.gnina import setup_gnina_model

    torch.set_num_threads(int(os.environ.get("OMP_NUM_THREADS", "1")))
    torch.use_deterministic_algorithms(True)
    return setup_gnina_model(ENSEMBLE, EDGE, RESOLUTION)[0]


def read_batches(folder: Path, count: int) -> Any:
    """Yield a batch of one for each pose, with its receptor."""
    import molgrid

    lines = []
    for number in range(1, count + 1):
        own = f"receptor-{number}.pdb"
        lines.append(f"{own if folder.joinpath(own).exists() else 'receptor.pdb'} pose-{number}.sdf\n")
    folder.joinpath(TYPES).write_text("".join(lines), "utf-8")
    provider = molgrid.ExampleProvider(
        data_root=os.fspath(folder),
        balanced=False,
        shuffle=False,
        default_batch_size=1,
        iteration_scheme=molgrid.IterationScheme.SmallEpoch,
    )
    provider.populate(os.fspath(folder / TYPES))
    for _ in range(count):
        yield provider.next_batch(1)


def score(networks: Any, batch: Any) -> dict[str, float]:
    """Return the figures of one pose."""
    import molgrid
    import torch

    maker = molgrid.GridMaker(resolution=RESOLUTION, dimension=EDGE)
    kinds = sum(each.num_types() for each in batch[0].coord_sets)
    grid = torch.zeros((1, *maker.grid_dimensions(kinds)))
    maker.forward(batch, grid, random_translation=0.0, random_rotation=False)
    with torch.inference_mode():
        log_score, affinity, variance = networks(grid)
    return {
        "CNNscore": round(float(log_score[0, -1].exp()), 5),
        "CNNaffinity": round(float(affinity[0]), 5),
        "CNNvariance": round(float(variance[0]), 5),
    }


def count_outside(places: Any) -> int:
    """Count the atoms outside of the cube around their centre; ``places`` in Å, shape (atoms, 3)."""
    return int((abs(places - places.mean(axis=0)) > EDGE / 2).any(axis=1).sum())


def find_metals(ligand: Any, elements: list[str]) -> set[str]:
    """Return the elements of the ligand's heavy atoms whose type is that of metals."""
    import molgrid

    names = list(molgrid.defaultGninaLigandTyper.get_type_names())
    kinds = [names[int(each)] for each in ligand.type_index.tonumpy()]
    return {element for element, kind in zip(elements, kinds, strict=True) if kind.startswith(METAL)}


def read_elements(path: Path) -> list[str]:
    """Return the elements of the heavy atoms of a record of SDF, version V2000, in their order."""
    lines = path.read_text("utf-8").splitlines()
    every = [line[31:34].strip() for line in lines[4 : 4 + int(lines[3][:3])]]
    return [element for element in every if element not in ("H", "D", "T")]


if __name__ == "__main__":
    sys.exit(main())
