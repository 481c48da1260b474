"""Build the specification of an attempt from an engine and a job: command, environment, limits.

An engine gets a small environment made here, not the service's: no service keys, no PYTHONPATH, nothing from
the notebook's environment, and as many threads as it declares. This module starts no process.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from foldnote.errors import EngineError
from foldnote.service.engines.engine import CACHE, DEFAULT_COMMAND, Engine, Resources, read_ready
from foldnote.service.engines.weights.state import FOLDER as WEIGHTS_FOLDER
from foldnote.service.runner.attempt import NONCE_VARIABLE, AttemptSpec
from foldnote.settings import process_environment

INHERITED = (
    "HOME",
    "USER",
    "LOGNAME",
    "LANG",
    "LANGUAGE",
    "TZ",
    "TMPDIR",
    "LD_LIBRARY_PATH",
    "CUDA_VISIBLE_DEVICES",
    "NVIDIA_VISIBLE_DEVICES",
)
"""Variables of the service's environment that every engine gets, in addition to those with the prefix LC_."""
LOADED_BY = "serve.py"
"""Script of an engine whose ``load()`` prepares a worker for many jobs."""
_JOB_SERVER = Path(__file__).parent / "protocol" / "job_server.py"
THREADS = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "NUMEXPR_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
    "OPENMM_CPU_THREADS",
)
"""Variables that limit the number of threads of numerical libraries."""
SILENCE = dict.fromkeys(("ORT_DISABLE_TELEMETRY", "ORT_TELEMETRY_DISABLED", "DO_NOT_TRACK"), "1")
"""Variables that disable telemetry of libraries.

ONNX Runtime sends telemetry since 1.29, with a machine identifier that it stores in the home folder.
"""

ADD_ONS = "FOLDNOTE_ADD_ONS"
"""Variable with the engine's add-ons: a JSON object by name, see ``offer_add_ons``."""
OPTIONS = "FOLDNOTE_OPTIONS"
"""Variable with the engine's configured options: a JSON object by name."""
WEIGHTS = "FOLDNOTE_WEIGHTS"
"""Variable that names the folder of an engine's weights."""
WEIGHTS_STATE = "FOLDNOTE_WEIGHTS_STATE"
"""Variable with the value ``published``, or ``stand-in`` if any weights are stand-ins."""
OPTIONAL_WEIGHTS = "FOLDNOTE_OPTIONAL_WEIGHTS"
"""Variable with the value ``yes`` if all optional weights are installed; a run then uses them."""


def build_attempt(
    engine: Engine,
    *,
    attempt_dir: Path,
    nonce: str,
    job_name: str,
    tool: str,
    settings: Mapping[str, Any],
    files: Mapping[str, Sequence[str]] | None = None,
    extensions: Mapping[str, Any] | None = None,
    seed: int = 0,
    max_cores: int | None = None,
    time_limit_s: float | None = None,
    assigns_gpus: bool = False,
) -> AttemptSpec:
    """Build the specification of one run of ``engine``.

    Args:
        engine: the engine to run.
        attempt_dir: absolute folder of the attempt; it need not exist.
        nonce: single-use identifier of the attempt.
        job_name: name of the job.
        tool: type of the tool.
        settings: settings with the defaults filled in.
        files: for each file field the paths below ``work/`` that ``prepare_attempt`` fills.
        extensions: extensions besides the settings, without the alignment, which is a file.
        seed: seed of all random numbers.
        max_cores: maximum number of cores.
        time_limit_s: time limit in seconds, instead of the engine's own.
        assigns_gpus: whether the run is assigned specific GPUs of this machine, if any.

    Raises:
        EngineError: the engine cannot run on this machine; the message says what to do.
    """
    engine = engine.for_tool(tool)
    state = engine.state()
    if not state.installed:
        raise EngineError(state.reason)
    resources = needed_resources(engine)
    cores = max(1, min(resources.cores, max_cores or resources.cores))
    return AttemptSpec(
        attempt_dir=str(attempt_dir),
        nonce=nonce,
        job_name=job_name,
        tool=tool,
        settings=dict(settings),
        command=tuple(_fill(part, engine) for part in engine.command),
        worker=_worker_command(engine, assigns_gpus=assigns_gpus),
        environment={**make_environment(engine, cores), NONCE_VARIABLE: nonce},
        seed=seed,
        extensions=dict(extensions or {}),
        files={name: tuple(paths) for name, paths in (files or {}).items()},
        time_limit_s=time_limit_s or engine.time_limit_s,
        cores=cores,
        memory_mb=resources.memory_mb,
        memory_limit_mb=resources.memory_limit_mb,
        engine=describe(engine),
        engine_version=engine.full_version,
    )


def describe(engine: Engine) -> dict[str, Any]:
    """Return the description of the engine for the manifest of a result."""
    return {
        "name": engine.name,
        "method": engine.method,
        "kind": engine.kind,
        "version": engine.version,
        "note": engine.full_note or None,
        "licence": engine.licence or None,
        "citation": engine.citation or None,
        "homepage": engine.homepage or None,
        "packages": dict(sorted((read_ready(engine) or {}).get("packages", {}).items())),
        **({"weights": _describe_weights(engine)} if engine.weights else {}),
        **({"addOns": [describe(each) for each in engine.add_ons]} if engine.add_ons else {}),
    }


def _describe_weights(engine: Engine) -> list[dict[str, Any]]:
    """Describe the weights of a run: name, origin, and whether they are the published ones."""
    declared = {each.file: each for each in engine.weights}
    return [
        {
            "name": declared[row.file].name,
            "state": row.state,
            "sha256": row.sha256,
            "url": row.url if row.state == "published" else None,
            "licence": declared[row.file].licence,
            "source": declared[row.file].source,
        }
        for row in engine.weights_in_use()
    ]


def needed_resources(engine: Engine) -> Resources:
    """Return the resources of one run: add-ons run one after another, with the cores of the engine itself."""
    installed = [each.resources for each in engine.add_ons if each.state().installed]
    memory_mb = max(each.memory_mb for each in (engine.resources, *installed))
    return replace(engine.resources, memory_mb=memory_mb)


def offer_add_ons(engine: Engine) -> dict[str, dict[str, Any]]:
    """Return for each add-on how the engine's run starts it, or why it cannot.

    A row has ``method``, ``version``, ``command`` (without the arguments, which the two engines agree on),
    ``timeLimitS`` and ``reason``. If the add-on can run, the reason is null, otherwise the command is.
    """
    offered = {}
    for each in engine.add_ons:
        state = each.state()
        command = [_fill(part, each) for part in each.command] if state.installed else None
        offered[each.name] = {
            "method": each.method,
            "version": each.version,
            "command": command,
            "timeLimitS": each.time_limit_s,
            "reason": state.reason,
        }
    return offered


def make_environment(engine: Engine, cores: int) -> dict[str, str]:
    """Return the complete environment of the engine's process, except for the attempt's nonce."""
    outer = process_environment()
    wanted = {*INHERITED, *engine.environment.inherit}
    inherited = {name: value for name, value in outer.items() if name in wanted or name.startswith("LC_")}
    own = {name: _fill(value, engine) for name, value in engine.environment.variables.items()}
    return {
        **inherited,
        **dict.fromkeys(THREADS, str(cores)),
        **SILENCE,
        **_place_caches(engine),
        "PYTHONNOUSERSITE": "1",
        "PYTHONUNBUFFERED": "1",
        "PYTHONUTF8": "1",
        "PYTHONDONTWRITEBYTECODE": "1",
        **({"PYTHONPATH": _module_path(engine)} if engine.environment.modules else {}),
        **(_name_weights(engine) if engine.weights else {}),
        **({ADD_ONS: json.dumps(offer_add_ons(engine))} if engine.add_ons else {}),
        **({OPTIONS: json.dumps(dict(engine.configured().values))} if engine.options else {}),
        **own,
        "PATH": _search_path(engine, outer.get("PATH", os.defpath)),
    }


def _worker_command(engine: Engine, *, assigns_gpus: bool) -> tuple[str, ...]:
    """Return the command that loads the engine for many jobs; empty without ``serve.py``.

    It is also empty for an engine that would use any GPU it finds (AMD's, or without ``nvidia-smi``): CUDA
    cannot be used in a forked process if the parent has initialized it.
    """
    if not (engine.folder / LOADED_BY).is_file() or engine.command != DEFAULT_COMMAND:
        return ()
    if engine.resources.may_use_gpu and has_gpu() and not assigns_gpus:
        return ()
    return (str(engine.python), "-u", str(_JOB_SERVER), str(engine.folder))


def has_gpu(devices: Path = Path("/dev")) -> bool:
    """Return whether this machine has a GPU of NVIDIA or AMD that engines can use."""
    is_hidden = process_environment().get("CUDA_VISIBLE_DEVICES") == ""
    return has_nvidia_gpu(devices) or ((devices / "kfd").exists() and not is_hidden)


def has_nvidia_gpu(devices: Path = Path("/dev")) -> bool:
    """Return whether this machine has a GPU of NVIDIA that engines can use."""
    is_hidden = process_environment().get("CUDA_VISIBLE_DEVICES") == ""
    return any(devices.glob("nvidia[0-9]*")) and not is_hidden


def _place_caches(engine: Engine) -> dict[str, str]:
    """Return variables that place libraries' caches in the engine's own folder, not in the user's home."""
    if engine.environment.kind == "host":
        return {}
    cache = engine.home / CACHE
    return {"XDG_CACHE_HOME": str(cache), "MPLCONFIGDIR": str(cache / "matplotlib")}


def _name_weights(engine: Engine) -> dict[str, str]:
    """Return variables with the location of an engine's weights, and whether they are stand-ins."""
    state = "stand-in" if engine.stand_in_note else "published"
    named = {WEIGHTS: str(engine.home / WEIGHTS_FOLDER), WEIGHTS_STATE: state}
    return named | ({OPTIONAL_WEIGHTS: "yes"} if engine.has_optional_weights() else {})


def _module_path(engine: Engine) -> str:
    return os.pathsep.join(str((engine.folder / name).resolve()) for name in engine.environment.modules)


def _search_path(engine: Engine, outer: str) -> str:
    """Return PATH with the engine's own folders first and without the service's own environment."""
    first = [_fill(folder, engine) for folder in engine.environment.path]
    if engine.environment.kind == "host":
        return os.pathsep.join([*first, outer])
    service = Path(sys.prefix) / "bin"
    rest = [folder for folder in outer.split(os.pathsep) if folder and Path(folder) != service]
    return os.pathsep.join([*first, str(engine.python.parent), *rest])


def _fill(text: str, engine: Engine) -> str:
    if "{" not in text:
        return text
    for word, value in {
        "{python}": str(engine.python),
        "{engine_dir}": str(engine.folder),
        "{weights}": str(engine.home / WEIGHTS_FOLDER),
        "{site_packages}": (read_ready(engine) or {}).get("site_packages", ""),
    }.items():
        text = text.replace(word, value)
    return text
