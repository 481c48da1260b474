"""AlphaFold's networks as ColabDesign runs them, with the installed parameters."""

from __future__ import annotations

import contextlib
import os
import sys
import warnings
from pathlib import Path
from typing import Any

PARAMETERS = "alphafold_params_2021-07-14"
HEADS = "af2bind"
_STACK = "evoformer/evoformer_iteration/"
"""Prefix of the names of parameters that are stacked by block."""


def has_stand_ins() -> bool:
    """Return whether the parameters are random numbers, whose figures are meaningless."""
    return os.environ.get("FOLDNOTE_WEIGHTS_STATE") == "stand-in"


def find_weights(name: str) -> Path:
    """Return the folder of installed weights with this name."""
    return Path(os.environ["FOLDNOTE_WEIGHTS"]) / name


def make_model(protocol: str, **arguments: Any) -> Any:
    """Return ColabDesign's model of a protocol, with as many blocks as the parameters (published: 48)."""
    warnings.simplefilter("ignore")
    from colabdesign import mk_afdesign_model

    with contextlib.redirect_stdout(sys.stderr):
        model = mk_afdesign_model(protocol=protocol, data_dir=str(find_weights(PARAMETERS)), **arguments)
    kept = vars(model)
    configuration, parameters = kept["_cfg"].model.embeddings_and_evoformer, kept["_model_params"][0]
    stacked = next(row for scope, row in parameters.items() if _STACK in scope)
    configuration.evoformer_num_block = int(next(iter(stacked.values())).shape[0])
    return model


def find_inputs(model: Any) -> dict[str, Any]:
    """Return AlphaFold's input features, which ColabDesign has no function to change."""
    inputs: dict[str, Any] = vars(model)["_inputs"]
    return inputs


def find_course(model: Any) -> dict[str, Any]:
    """Return the log of the steps since the last restart, with the data of the best one."""
    course: dict[str, Any] = vars(model)["_tmp"]
    return course
