"""From a claim to a prepared attempt folder with its inputs in place."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

from foldnote.service.engines import Engine, build_attempt
from foldnote.service.files.objects import ObjectStore
from foldnote.service.queue.attempt import AttemptSpec, prepare_attempt
from foldnote.service.store.queue import Claim

_JOBS_PER_FOLDER = 1000


def job_folder(root: Path, job_id: int) -> Path:
    """The folder of all attempts of a job."""
    return root / str(job_id // _JOBS_PER_FOLDER) / str(job_id)


def attempt_folder(root: Path, job_id: int, attempt: int) -> Path:
    """The folder of one attempt."""
    return job_folder(root, job_id) / str(attempt)


def prepare(root: Path, claim: Claim, engine: Engine, objects: ObjectStore, max_cores: int) -> AttemptSpec:
    """Write the attempt's folder: what to run and the inputs.

    Raises:
        EngineError: the engine cannot run here any more.
        OSError: the folder cannot be written, or an input is gone.
    """
    places = input_places(claim)
    files: dict[str, list[str]] = {}
    for each, place in zip(claim.inputs, places, strict=True):
        files.setdefault(each.field, []).append(place)
    spec = build_attempt(
        engine,
        attempt_dir=attempt_folder(root, claim.job_id, claim.attempt),
        nonce=claim.nonce,
        job_name=claim.name,
        tool=claim.type,
        settings=json.loads(claim.normalized),
        files=files,
        seed=seed_of(claim),
        max_cores=max_cores,
        time_limit_s=min(engine.time_limit_s, claim.max_runtime_s or engine.time_limit_s),
    )
    sources = {p: objects.path(each.sha256) for p, each in zip(places, claim.inputs, strict=True)}
    prepare_attempt(spec, sources)
    return spec


def input_places(claim: Claim) -> list[str]:
    """For each input its path below `work/`: under its field, numbered where a name comes twice."""
    places: list[str] = []
    for position, each in enumerate(claim.inputs):
        place = f"inputs/{each.field}/{each.name}"
        places.append(place if place not in places else f"inputs/{each.field}/{position}/{each.name}")
    return places


def seed_of(claim: Claim) -> int:
    """A seed that the same tool and settings always give, below 2**31."""
    digest = hashlib.sha256(f"{claim.type}\n{claim.normalized}".encode()).digest()
    return int.from_bytes(digest[:4], "big") >> 1
