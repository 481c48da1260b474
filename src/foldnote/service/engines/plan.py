"""Plan the ``pip install`` calls that make an engine's environment, from its lock or from its own steps."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import distributions

from foldnote.io import hash_bytes
from foldnote.service.engines.engine import ENVIRONMENT, Engine
from foldnote.service.engines.launch import has_nvidia_gpu
from foldnote.service.engines.locks import LockedPackage, is_library, name_of, normalize, read_lock
from foldnote.text import count


@dataclass(frozen=True, slots=True)
class PipStep:
    """One ``pip install``."""

    title: str
    arguments: tuple[str, ...]
    requirements: str = ""
    """Content of the requirements file for pip; empty for none."""
    is_checked: bool = False
    """Whether pip compares hashes."""
    has_builds: bool = False
    """Whether the package has a build for each kind of GPU, of which uv knows the right one."""

    @property
    def key(self) -> str:
        """Hash of its content; a step with the same hash is not repeated."""
        said = [*self.arguments, self.requirements] if self.requirements else self.arguments
        return hash_bytes(json.dumps(said).encode())


def plan_initial_steps(engine: Engine, *, with_hashes: bool) -> tuple[PipStep, ...]:
    """Return the steps that are always needed: unhashed packages, then wheels, then source packages.

    Args:
        engine: the engine to install; the versions of its unhashed packages are those of its ``steps``.
        with_hashes: whether pip compares hashes, or accepts any build of the locked version.

    Raises:
        EngineError: the lock cannot be read.
    """
    lock = engine.environment.lock
    if lock is None:
        return tuple(PipStep(f"pip install {' '.join(step)}", step) for step in engine.environment.steps)
    always = [each for each in read_lock(engine.folder / lock.file) if not is_library(lock, each.name)]
    built = [each for each in always if each.name in lock.built]
    wheels = [each for each in always if each.name not in lock.built]
    return (
        *(PipStep(f"pip install {each}", ("--no-deps", each), has_builds=True) for each in _pinned(engine)),
        _locked_step(wheels, ("--only-binary", ":all:"), with_hashes),
        *([_locked_step(built, ("--no-build-isolation",), with_hashes)] if built else []),
    )


def plan_final_steps(engine: Engine, *, with_hashes: bool) -> tuple[PipStep, ...]:
    """Return the steps that depend on the installed builds of the unhashed packages.

    The libraries of the lock are installed if those builds require one of them, or, if they are for a GPU, if
    the machine has one. The last step installs the requirements of builds that differ from the lock's;
    usually there are none.

    Raises:
        EngineError: the lock cannot be read.
    """
    lock = engine.environment.lock
    if lock is None:
        return ()
    pinned = _pinned(engine)
    libraries = [each for each in read_lock(engine.folder / lock.file) if is_library(lock, each.name)]
    names = {each.name for each in libraries}
    is_wanted = has_nvidia_gpu() if lock.libraries_for_gpu else bool(names & _declared(engine))
    return (
        *([_locked_step(libraries, ("--only-binary", ":all:"), with_hashes)] if is_wanted else []),
        *([PipStep(f"pip install {' '.join(pinned)}, with what it needs", pinned)] if pinned else []),
    )


def _pinned(engine: Engine) -> tuple[str, ...]:
    """Return the requirements of the unhashed packages."""
    lock = engine.environment.lock
    every = (each for step in engine.environment.steps for each in step)
    return tuple(each for each in every if lock and name_of(each) in lock.unhashed)


def _declared(engine: Engine) -> frozenset[str]:
    """Return the packages that the installed builds of the unhashed packages require."""
    lock = engine.environment.lock
    folders = (engine.home / ENVIRONMENT).glob("lib/python*/site-packages")
    return frozenset(
        name_of(requirement)
        for found in distributions(path=[str(folder) for folder in folders])
        if lock and normalize(found.metadata["Name"] or "") in lock.unhashed
        for requirement in found.requires or ()
    )


def _locked_step(packages: Sequence[LockedPackage], arguments: tuple[str, ...], with_hashes: bool) -> PipStep:
    texts = [each.text if with_hashes else each.without_hashes for each in packages]
    what = count(len({each.name for each in packages}), "locked package")
    return PipStep(
        f"pip install {what}, {'each with its hash' if with_hashes else 'without their hashes'}",
        ("--no-deps", *(("--require-hashes",) if with_hashes else ()), *arguments),
        "\n".join(texts) + "\n",
        with_hashes,
    )
