"""The path of the probe engine, which is beside the other test engines."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "engines"))

from probe_engine import write_probe_engine

__all__ = ["write_probe_engine"]
