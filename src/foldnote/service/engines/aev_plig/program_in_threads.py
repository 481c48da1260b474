"""Run AEV-PLIG's script with threads instead of processes, and with more than one ligand.

Processes would pass on their graphs through sockets in the temporary folder, whose path may be too long for
that (108 characters). With several graphs, the file that the script writes contains a ``defaultdict``, which
newer versions of PyTorch read only if told to trust the file. The results are the same.
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
    """Load a file of PyTorch; trust only the script's own files."""
    more = {"weights_only": False} if OWN_FILES in str(place).split("/") else {}
    return _load(place, *arguments, **options, **more)


concurrent.futures.ProcessPoolExecutor = concurrent.futures.ThreadPoolExecutor  # type: ignore[misc, assignment]
torch.load = load
runpy.run_path(SCRIPT, run_name="__main__")
