"""The environment variables with which executors start foldnote on other machines."""

from __future__ import annotations

_VARIABLES = {
    "engines_dir": "FOLDNOTE_ENGINES_DIR",
    "weights_dir": "FOLDNOTE_WEIGHTS_DIR",
    "engine_path": "FOLDNOTE_ENGINE_PATH",
    "node_dir": "FOLDNOTE_NODE_DIR",
}
"""Environment variables by the option of an executor that sets them."""


def read_environment(options: object) -> dict[str, str]:
    """Return the environment variables that an executor's options set; empty options set none."""
    return {name: value for key, name in _VARIABLES.items() if (value := getattr(options, key))}
