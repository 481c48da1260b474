"""Runs AEV-PLIG's script with threads where it uses processes, and with more than one ligand.

Processes hand their graphs on through sockets in the temporary folder, whose path may be too long for that
(108 characters). The file of graphs that the script writes has a ``defaultdict`` for several of them, which
newer versions of PyTorch read only when they are told to trust the file. What is computed is the same.
"""

import concurrent.futures
import runpy
from typing import Any

import torch

SCRIPT = "process_and_predict.py"
OWN_FILES = "processed"
"""Folder of the files that the script itself has just written."""
_load = torch.load


def load(place: Any, *arguments: Any, **options: Any) -> Any:
    """Read a file of PyTorch; only the script's own ones are trusted."""
    more = {"weights_only": False} if OWN_FILES in str(place).split("/") else {}
    return _load(place, *arguments, **options, **more)


concurrent.futures.ProcessPoolExecutor = concurrent.futures.ThreadPoolExecutor  # type: ignore[misc, assignment]
torch.load = load
runpy.run_path(SCRIPT, run_name="__main__")
