"""Which ``pip install`` calls make an engine's environment: those of its lock, or else its own steps."""

from __future__ import annotations

from importlib.metadata import distributions

from foldnote.service.engines.engine import ENVIRONMENT, Engine
from foldnote.service.engines.locks import LockedStep, first_steps, last_steps, name_of, normalize, read_lock


def plan_first(engine: Engine, *, with_hashes: bool) -> tuple[LockedStep, ...]:
    """What is installed in any case.

    Raises:
        EngineError: the lock cannot be read.
    """
    lock = engine.environment.lock
    if lock is None:
        return tuple(LockedStep(f"pip install {' '.join(step)}", step) for step in engine.environment.steps)
    packages = read_lock(engine.folder / lock.file)
    return first_steps(lock, _requirements(engine), packages, with_hashes=with_hashes)


def plan_last(engine: Engine, *, with_hashes: bool) -> tuple[LockedStep, ...]:
    """What the builds that are installed now need beyond that.

    Raises:
        EngineError: the lock cannot be read.
    """
    lock = engine.environment.lock
    if lock is None:
        return ()
    packages = read_lock(engine.folder / lock.file)
    return last_steps(lock, _requirements(engine), packages, _declared(engine), with_hashes=with_hashes)


def _requirements(engine: Engine) -> tuple[str, ...]:
    return tuple(each for step in engine.environment.steps for each in step)


def _declared(engine: Engine) -> frozenset[str]:
    """Packages that the installed builds of the unhashed packages ask for."""
    lock = engine.environment.lock
    folders = (engine.home / ENVIRONMENT).glob("lib/python*/site-packages")
    return frozenset(
        name_of(requirement)
        for found in distributions(path=[str(folder) for folder in folders])
        if lock and normalize(found.metadata["Name"] or "") in lock.unhashed
        for requirement in found.requires or ()
    )
