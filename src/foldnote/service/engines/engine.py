"""The description of an engine, and whether it can run on this machine."""

from __future__ import annotations

import json
import shutil
import sys
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from foldnote import settings
from foldnote.errors import EngineError
from foldnote.io import hash_bytes
from foldnote.models.tool import ToolEngine
from foldnote.service.engines.configuration import (
    Configured,
    EngineOption,
    explain_configuration,
    find_configured,
)
from foldnote.service.engines.licences import LicenceTerms
from foldnote.service.engines.locks import LockSource
from foldnote.service.engines.published_case import read_record
from foldnote.service.engines.refusals import Refusal
from foldnote.service.engines.weights.declared import Weights
from foldnote.service.engines.weights.state import (
    HAS_STAND_IN,
    UNCHECKED,
    InstalledWeights,
    find_damaged,
    find_usable,
    is_stand_in,
)
from foldnote.text import format_size

Kind = Literal["genuine", "genuine-task", "substitute", "adapter", "registered"]
EnvironmentKind = Literal["venv", "host"]
DEFAULT_COMMAND = ("{python}", "-u", "{engine_dir}/run.py")
ENVIRONMENT = "env"
CACHE = "cache"
READY = "ready.json"
_OURS = (sys.version_info.major, sys.version_info.minor)
_OLDEST_MINOR = 11


@dataclass(frozen=True, slots=True)
class SystemNeed:
    """A program that must be on PATH and that pip cannot install."""

    command: str
    debian: str = ""
    """Debian or Ubuntu package that contains it; empty if unknown."""


@dataclass(frozen=True, slots=True)
class Environment:
    """The environment in which the engine's program runs."""

    kind: EnvironmentKind = "venv"
    """``venv``: an environment of its own; ``host``: the Python that runs the service."""
    steps: tuple[tuple[str, ...], ...] = ()
    """Arguments of each ``pip install``, in order. If there is a lock, it is made from them."""
    lock: LockSource | None = None
    """The lock to install; None to install the steps themselves."""
    path: tuple[str, ...] = ()
    """Folders to put first on PATH; ``{site_packages}`` and ``{engine_dir}`` are filled in."""
    modules: tuple[str, ...] = ()
    """Folders of modules that ``run.py`` imports, relative to the engine's folder."""
    variables: dict[str, str] = field(default_factory=dict)
    inherit: tuple[str, ...] = ()
    """Additional variables to pass on from the service's environment; by default only a few are."""
    system: tuple[SystemNeed, ...] = ()
    probe: str = ""
    """Python statement that checks after installation that the engine works."""
    newest_python: str = ""
    """Newest Python for which all of its packages are built, such as ``3.12``; empty for any."""
    requires_python: str = ""
    """The only Python with which it runs, such as ``3.12``; empty if ``newest_python`` suffices."""
    disk_mb: int = 0
    """Disk space that the environment needs, in MB."""
    same_as: str = ""
    """The engine that declares the environment; this one may add modules and variables."""


@dataclass(frozen=True, slots=True)
class Resources:
    """Resources of one run."""

    cores: int = 1
    memory_mb: int = 1024
    """Reserved memory in MB (2**20 bytes)."""
    memory_limit_mb: int = 0
    """Memory in MB (2**20 bytes) above which a run is ended; 0 means no limit."""
    gpus: int = 0
    may_use_gpu: bool = False
    """Whether a run uses a GPU if there is one, without requiring it."""
    gpu_memory_mb: int = 0
    """Memory in MB (2**20 bytes) that a run uses of its GPU, which others may then share; 0 for all."""


@dataclass(frozen=True, slots=True)
class EngineState:
    """Whether an engine can run here, now."""

    installed: bool
    reason: str | None = None
    """Why not, and what to do; None if it can."""
    python: Path | None = None


@dataclass(frozen=True, slots=True)
class Engine:
    """The content of ``engine.toml``."""

    folder: Path
    name: str
    method: str
    """The method that is run, e.g. ``ABodyBuilder2 (model 1 of 4)``."""
    kind: Kind
    version: str
    tools: tuple[str, ...]
    note: str = ""
    """What a user must know before trusting a result."""
    outputs: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """The files of a result, by tool: name, colon, content."""
    differs: dict[str, dict[str, str]] = field(default_factory=dict)
    """``method``, ``kind`` and ``note`` of tools for which they differ from the engine's, by tool."""
    omits: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """Functions that the catalog lists for a tool and this engine does not perform, by tool."""
    licence: str = ""
    licence_note: str = ""
    citation: str = ""
    homepage: str = ""
    command: tuple[str, ...] = DEFAULT_COMMAND
    time_limit_s: float = 86_400.0
    environment: Environment = field(default_factory=Environment)
    resources: Resources = field(default_factory=Resources)
    lock_digest: str = ""
    """SHA-256 of the lock when the engine was read; empty without one."""
    adds_to: tuple[str, ...] = ()
    """Engines whose runs use this one while it is installed; it is then an add-on and may serve no tool."""
    extensions: tuple[str, ...] = ()
    """Accepted extensions: ``alignment``, and ``external:<purpose>`` for each purpose for which it sends
    inputs to another machine, if the user agrees for the job."""
    refusals: tuple[Refusal, ...] = ()
    """Rules for jobs that are refused before they are queued."""
    weights: tuple[Weights, ...] = ()
    """Files that it needs, or can use, and no package contains; they are downloaded from their authors."""
    terms: tuple[LicenceTerms, ...] = ()
    """Terms that a user must accept before its program is installed; ``weights`` have their own."""
    with_optional_weights: dict[str, str] = field(default_factory=dict)
    """``method``, ``kind`` and ``note`` that it has while all of its optional weights are installed."""
    options: tuple[EngineOption, ...] = ()
    """Options that the user configures, such as the path of the lab's own program."""
    checked_with_published_weights: bool = False
    """Whether it was run with the published ``weights``, not only with stand-ins."""
    add_ons: tuple[Engine, ...] = ()
    """The engines that add to this one; filled in when all engines are loaded."""
    owner: Engine | None = None
    """The engine whose environment it uses (``same_as``); filled in when all engines are loaded."""

    def for_tool(self, tool: str) -> Engine:
        """Return the engine with its method, kind and note for ``tool`` and for the installed weights."""
        changes = dict(self.differs.get(tool, {}))
        if self.has_optional_weights():
            changes |= self.with_optional_weights
        return replace(self, **changes) if changes else self  # type: ignore[arg-type]

    @property
    def home(self) -> Path:
        """Folder of the engine's own files, which may not exist."""
        return settings.engines_dir() / self.name

    @property
    def environment_home(self) -> Path:
        """Folder of the engine's environment, which may be another engine's and may not exist."""
        return self.owner.home if self.owner else self.home

    @property
    def python(self) -> Path:
        """The Python that runs the engine, which may not exist."""
        if self.environment.kind == "host":
            return Path(sys.executable)
        return self.environment_home / ENVIRONMENT / "bin" / "python"

    @property
    def recipe(self) -> str:
        """Hash of everything that an installation is made from; when it changes, a new one is needed."""
        content = [
            self.environment.steps,
            self.environment.probe,
            min(sys.version_info[:2], newest_python(self)),
            *([self.environment.requires_python] if self.environment.requires_python else []),
        ]
        return hash_bytes(json.dumps(content).encode())

    def is_current(self, record: dict[str, Any]) -> bool:
        """Return whether an installation, complete or not, was made from this recipe and this lock."""
        return record.get("recipe") == self.recipe and record.get("lock", "") == self.lock_digest

    def state(self) -> EngineState:
        """Return whether the engine can run on this machine, with the reason if it cannot."""
        state = self.environment_state()
        if state.installed and (lacking := self.lacking_weights()):
            expected = sum(each.expected_bytes for each in lacking)
            size = f"about {format_size(expected)}" if expected else "an unknown amount"
            damaged = {row.file for row in self.damaged_weights()}
            names = ", ".join(each.name for each in lacking if each.file in damaged)
            what = f"damaged ({names} changed its size on the disk)" if names else "not installed"
            return EngineState(
                False,
                f"The weights of the engine {self.name} are {what}:"
                f" run `foldnote engines install {self.name}` ({size} to fetch).",
            )
        return state

    def installed_weights(self) -> tuple[InstalledWeights, ...]:
        """Return the installed weights, published or stand-in, that are still declared."""
        return find_usable(self.weights, self.home) if self.weights else ()

    def damaged_weights(self) -> tuple[InstalledWeights, ...]:
        """Return the weights whose size has changed since they were completely installed."""
        return find_damaged(self.weights, self.home) if self.weights else ()

    def lacking_weights(self) -> tuple[Weights, ...]:
        """Return the missing weights without which it does not run."""
        have = {row.file for row in self.installed_weights()}
        return tuple(each for each in self.weights if each.file not in have and not each.optional)

    @property
    def needs_weights(self) -> bool:
        """Whether it does not run without files from its authors."""
        return any(not each.optional for each in self.weights)

    def has_optional_weights(self) -> bool:
        """Return whether all of its optional weights are installed; a run uses all of them or none."""
        optional = {each.file for each in self.weights if each.optional}
        return bool(optional) and optional <= {row.file for row in self.installed_weights()}

    def weights_in_use(self) -> tuple[InstalledWeights, ...]:
        """Return the installed weights that a run uses."""
        idle = set() if self.has_optional_weights() else {each.file for each in self.weights if each.optional}
        return tuple(row for row in self.installed_weights() if row.file not in idle)

    @property
    def weights_note(self) -> str:
        """Note on its weights for users; empty if it has none, or they were checked."""
        if not self.needs_weights and not self.weights_in_use():
            return ""
        is_checked = self.checked_with_published_weights
        sentences = ("" if is_checked or self.check_note else UNCHECKED, self.check_note, self.stand_in_note)
        return " ".join(filter(None, sentences))

    @property
    def full_version(self) -> str:
        """Name and version of what runs now: the engine, its installed add-ons, and non-published weights."""
        parts = [self, *(each for each in self.add_ons if each.state().installed)]
        names = ", ".join(f"{each.name} {each.version}" for each in parts)
        if is_stand_in(self.weights_in_use()):
            return f"{names} (stand-in weights)"
        return f"{names} (optional weights)" if self.has_optional_weights() else names

    @property
    def check_note(self) -> str:
        """Result of its published case here, with its present weights; empty if that was not run."""
        hashes = [row.sha256 for row in self.weights_in_use()]
        record = read_record(self.home, self.version, hashes)
        return record.sentence if record else ""

    @property
    def stand_in_note(self) -> str:
        """Note that the weights here are stand-ins; empty if they are not."""
        return HAS_STAND_IN if is_stand_in(self.weights_in_use()) else ""

    @property
    def full_note(self) -> str:
        """The note, followed by the one on its weights."""
        return " ".join(filter(None, (self.note, self.weights_note)))

    @property
    def download_mb(self) -> int:
        """Size of the weights that it needs in MB (10**6 bytes), exact or approximate."""
        needed = (each.expected_bytes for each in self.weights if not each.optional)
        return -(-sum(needed) // 1_000_000)

    def configured(self) -> Configured:
        """Return its options as the user's configuration sets them now."""
        return find_configured(self.name, self.options)

    @property
    def databases(self) -> tuple[str, ...]:
        """Names of the databases on this machine that its runs search, as configured now."""
        options = [option for option in self.options if option.kind == "database"]
        values = self.configured().values if options else {}
        return tuple(Path(str(values[each.name])).name for each in options if each.name in values)

    def environment_state(self) -> EngineState:
        """Return whether its environment can be used, regardless of its weights."""
        missing = find_missing(self)
        if missing:
            return EngineState(False, explain_missing(missing))
        if wrong := explain_configuration(self.name, self.configured()):
            return EngineState(False, wrong)
        if self.environment.kind == "host":
            return EngineState(True, python=self.python)
        remedy = f"run `foldnote engines install {self.name}`"
        ready = read_ready(self)
        if ready is None and find_python(self) is None:
            return EngineState(False, explain_python(self))
        if ready is None:
            needed = (self.environment.disk_mb + self.download_mb) * 1_000_000
            size = f" ({format_size(needed)} or more)" if needed else ""
            return EngineState(False, f"The engine {self.name} is not installed: {remedy}{size}.")
        if not self.is_current(ready) or not self.python.exists():
            return EngineState(False, f"The engine {self.name} was installed for another version: {remedy}.")
        return EngineState(True, python=self.python)

    def as_tool_engine(self, tool: str) -> ToolEngine:
        """Return the engine as shown in the list of tools, for the type ``tool``."""
        engine = self.for_tool(tool)
        return ToolEngine(
            name=engine.name,
            method=engine.method,
            kind=engine.kind,
            version=engine.version,
            full_version=engine.full_version,
            licence=engine.licence or None,
            citation=engine.citation or None,
            note=engine.full_note or None,
            outputs=engine.outputs.get(tool, ()),
            databases=engine.databases,
        )


def read_ready(engine: Engine) -> dict[str, Any] | None:
    """Return the record of a complete installation (recipe, packages, site_packages), or None."""
    try:
        content = json.loads((engine.environment_home / READY).read_text("utf-8"))
    except (OSError, ValueError):
        return None
    return content if isinstance(content, dict) else None


def find_missing(engine: Engine) -> tuple[SystemNeed, ...]:
    """Return the required programs that are not on PATH."""
    search = settings.process_environment().get("PATH")
    return tuple(need for need in engine.environment.system if not shutil.which(need.command, path=search))


def explain_missing(missing: tuple[SystemNeed, ...]) -> str:
    """Return one sentence on the missing programs and how to get them."""
    commands = ", ".join(need.command for need in missing)
    packages = " ".join(need.debian for need in missing if need.debian)
    hint = f" On Debian or Ubuntu: sudo apt-get install {packages}" if packages else ""
    return f"These programs are not on PATH: {commands}.{hint}"


def newest_python(engine: Engine) -> tuple[int, int]:
    """Return the newest Python that the engine's environment can use."""
    return find_newest_python(engine.environment.newest_python)


def find_newest_python(newest: str) -> tuple[int, int]:
    """Return ours, or the ``newest`` one with packages, such as ``3.12``, if it is older."""
    major, _, minor = newest.partition(".")
    return min(_OURS, (int(major), int(minor))) if minor else _OURS


def find_python(engine: Engine) -> str | None:
    """Return the Python for the environment: ours, or if that does not fit another one on PATH; else None."""
    exact = engine.environment.requires_python
    search = settings.process_environment().get("PATH")
    if exact:
        ours = "{}.{}".format(*_OURS)
        return sys.executable if exact == ours else shutil.which(f"python{exact}", path=search)
    major, minor = newest_python(engine)
    if (major, minor) == _OURS:
        return sys.executable
    names = [f"python{major}.{each}" for each in range(minor, _OLDEST_MINOR - 1, -1)]
    return next((path for name in names if (path := shutil.which(name, path=search))), None)


def explain_python(engine: Engine) -> str:
    """Say why no environment can be made, and what to do."""
    exact, newest = engine.environment.requires_python, engine.environment.newest_python
    needed = exact or f"{newest} or older"
    lacking = f"there is no python{exact} on PATH" if exact else "no older one is on PATH"
    return (
        f"The engine {engine.name} needs Python {needed}, for which its packages are built;"
        f" this is Python {_OURS[0]}.{_OURS[1]}, and {lacking}. With python{exact or newest}, or with uv"
        f" (https://docs.astral.sh/uv), which fetches it, run `foldnote engines install {engine.name}`."
    )


def share_environment(engine: Engine, owner: Engine) -> Engine:
    """Return the engine in the environment of ``owner``, with that engine's modules, variables and terms.

    Raises:
        EngineError: the owner has no environment of its own.
    """
    if owner.environment.kind != "venv" or owner.environment.same_as:
        raise EngineError(
            f"The engine {engine.name} cannot use the environment of {owner.name}, which has none of its own."
        )
    theirs, ours = owner.environment, engine.environment
    variables = {
        name: value.replace("{engine_dir}", str(owner.folder)) for name, value in theirs.variables.items()
    }
    return replace(
        engine,
        owner=owner,
        lock_digest=owner.lock_digest,
        terms=(*owner.terms, *engine.terms),
        environment=replace(
            theirs,
            same_as=owner.name,
            path=tuple(each.replace("{engine_dir}", str(owner.folder)) for each in theirs.path),
            modules=(*(str((owner.folder / each).resolve()) for each in theirs.modules), *ours.modules),
            variables=variables | ours.variables,
        ),
    )
