"""Install an engine's environment in the user's data folder, in steps that can be resumed.

The engine's lock is installed, or its steps if it has none, with ``venv`` and ``pip`` and the user's own pip
configuration. The Python is the running one, or an older one if the engine has no packages for it. If uv is
on PATH, it chooses the build of PyTorch that fits the machine. An engine counts as installed once its probe
has run and ``ready.json`` is published. This module asks and prints nothing; events are passed to the caller.
"""

from __future__ import annotations

import errno
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from foldnote import settings
from foldnote.errors import EngineInstallError
from foldnote.io import compare_space
from foldnote.service.engines.engine import (
    ENVIRONMENT,
    READY,
    Engine,
    explain_missing,
    explain_python,
    find_missing,
    find_python,
    read_ready,
)
from foldnote.service.engines.launch import make_environment
from foldnote.service.engines.licences import (
    LicenceTerms,
    explain_unaccepted,
    find_acceptance,
    find_own_acceptances,
    record_acceptances,
)
from foldnote.service.engines.locks import explain_other_hash, read_report
from foldnote.service.engines.pip import (
    InstallerRun,
    can_serve_others,
    explain_failure,
    pip_command,
    tells_full_disk,
    uv_command,
)
from foldnote.service.engines.plan import PipStep, plan_final_steps, plan_initial_steps
from foldnote.service.engines.shared_files import STORE, drop_unused_files, share_files
from foldnote.service.engines.waiting_locks import describe_holder, try_lock, wait_for_lock
from foldnote.service.engines.weights.declared import Weights
from foldnote.service.engines.weights.state import RECORD
from foldnote.service.engines.weights.store import Offer, WeightStore, find_offered
from foldnote.service.files.conditions import is_full
from foldnote.service.runner.attempt import now, write_json
from foldnote.settings import process_environment
from foldnote.text import format_size

STEPS = "steps.json"
INSTALL_LOG = "install.log"
REQUIREMENTS = "requirements.txt"
REPORT = "report.json"
_INSPECT = (
    "import json, sysconfig; from importlib.metadata import distributions;"
    "print(json.dumps({'site_packages': sysconfig.get_path('purelib'),"
    " 'packages': {d.metadata['Name']: d.version for d in distributions()}}))"
)
_NOT_FOR_PIP = frozenset(
    {"PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV", "PIP_TARGET", "PIP_PREFIX", "PIP_ROOT", "__PYVENV_LAUNCHER__"}
)
_PROBE_LIMIT_S = 600
_MEASURE_EVERY_S = 2.0
_LAST_FRACTION = 0.97


@dataclass(frozen=True, slots=True)
class InstallEvent:
    """Progress of an installation."""

    engine: str
    message: str
    fraction: float | None = None
    """0 to 1; None if unknown."""
    elapsed_s: float = 0.0
    """Seconds since the installation began."""
    is_milestone: bool = False
    """Whether a step has started or ended, rather than continues."""


Report = Callable[[InstallEvent], None]


def install(
    engine: Engine,
    report: Report,
    *,
    with_hashes: bool = True,
    offer: Offer | None = None,
    has_accepted: bool = False,
    with_weights: bool = True,
    with_optional: bool = False,
) -> None:
    """Make the environment of ``engine`` and download its weights, or resume where an earlier try stopped.

    If another process installs or removes it, wait until that has ended, and report the wait.

    Args:
        engine: engine to install.
        report: receives each event.
        with_hashes: whether packages of the engine's lock must be exactly the files that it names. If not,
            any build of the locked versions is accepted, for registries that build their own packages.
        offer: a folder of weights to use instead of downloading; optional ones in it are used, too.
        has_accepted: whether the user accepts the terms from `list_unaccepted`; this is recorded.
        with_weights: whether the weights are installed, too; the engine does not run without those that are
            not optional.
        with_optional: whether its optional weights are installed, too.

    Raises:
        EngineInstallError: what failed, why, and what to do. Completed steps are kept for the next try,
            unless the disk became full: then they are removed.
    """
    if engine.environment.kind == "host" and not engine.weights:
        _refuse_missing_programs(engine)
        if (reason := engine.state().reason) is not None:
            raise EngineInstallError(reason)
        return
    if with_optional and not any(each.optional for each in engine.weights):
        raise EngineInstallError(
            f"The engine {engine.name} has no optional weights: leave --optional-weights out."
        )
    wanted = _list_wanted_weights(engine, offer, with_optional) if with_weights else ()
    _check_weights(engine, wanted, offer)
    asked = _list_asked(engine, wanted, offer)
    if asked and not has_accepted:
        raise EngineInstallError(explain_unaccepted(engine.name, asked))
    try:
        record_acceptances(engine.name, asked)
        engine.home.mkdir(parents=True, exist_ok=True)
        installation = _Installation(engine, report, with_hashes, offer)
        with wait_for_lock(_name_lock(engine), f"installing {engine.name}", installation.report_wait):
            wanted = _list_wanted_weights(engine, offer, with_optional) if with_weights else ()
            installation.run(wanted)
    except OSError as exc:
        raise EngineInstallError(
            f"The engine {engine.name} is not installed: {engine.home} cannot be used: {exc.strerror or exc}."
            " Correct this, or choose another folder with FOLDNOTE_ENGINES_DIR, and install it again."
        ) from exc


def remove(engine: Engine) -> bool:
    """Remove the environment of ``engine``; return False if there was none.

    Raises:
        EngineInstallError: it is being installed now, or it cannot be removed.
    """
    if not engine.home.exists():
        return False
    with try_lock(_name_lock(engine), f"removing {engine.name}") as is_locked:
        if not is_locked:
            raise EngineInstallError(
                f"The engine {engine.name} is used by {describe_holder(_name_lock(engine))}. Remove it when"
                " that has ended."
            )
        try:
            for name in (READY, STEPS, RECORD):  # first, so that remains of a crash are rebuilt
                (engine.home / name).unlink(missing_ok=True)
            shutil.rmtree(engine.home)
            drop_unused_files(_shared_files())
        except OSError as exc:
            raise EngineInstallError(f"{engine.home} cannot be removed: {exc}.") from exc
    return True


class _Installation:
    """One run of the installer."""

    def __init__(self, engine: Engine, report: Report, with_hashes: bool, offer: Offer | None) -> None:
        self._engine = engine
        self._report = report
        self._with_hashes = with_hashes
        self._offer = offer
        self._completed_steps: list[str] = []
        self._download_bytes = 0
        self._fetched_bytes = 0
        self._files: dict[str, Any] = {}
        self._has_waited = False
        self._started_at = time.monotonic()
        self._env = engine.home / ENVIRONMENT
        self._log = engine.home / INSTALL_LOG

    def report_wait(self, holder: str) -> None:
        """Report which process must end first; the first report is a milestone."""
        self._report_event(f"waiting for {holder}", is_milestone=not self._has_waited)
        self._has_waited = True

    def run(self, wanted: Sequence[Weights]) -> None:
        """Run the remaining steps, and download the ``wanted`` weights."""
        try:
            self._run(wanted)
        except OSError as exc:
            if not is_full(exc):
                raise
            (self._engine.home / STEPS).unlink(missing_ok=True)
            shutil.rmtree(self._env, ignore_errors=True)
            needed = self._engine.environment.disk_mb * 1_000_000
            raise EngineInstallError(
                f"The disk has too little space: the engine {self._engine.name} is not installed, and its"
                f" incomplete files were removed. {compare_space(self._env, needed)}"
                f"Free space in {self._engine.home.parent} and in {tempfile.gettempdir()},"
                " where pip unpacks, or choose another folder with FOLDNOTE_ENGINES_DIR. Then install again."
            ) from exc

    def _run(self, wanted: Sequence[Weights]) -> None:
        is_ready = self._engine.environment_state().installed
        self._download_bytes = sum(each.expected_bytes for each in wanted)
        if is_ready and not wanted:
            self._report_event("is already installed", 1.0, is_milestone=True)
            return
        owner = self._engine.owner
        if not is_ready and owner is not None:
            self._install_owner(owner)
        elif not is_ready:
            _refuse_missing_programs(self._engine)
            self._install_packages(_require_python(self._engine))
        self._install_weights([each for each in wanted if not each.optional])
        freed = 0
        if not is_ready and owner is None:
            self._probe_environment()
            freed = self._share_files()
        try:
            self._install_weights([each for each in wanted if each.optional])
        except EngineInstallError as exc:
            raise EngineInstallError(
                f"{exc.message} Until all of its optional weights are there, the engine {self._engine.name}"
                f" runs as {self._engine.method}."
            ) from exc
        shared = f", and shares {format_size(freed)} of files with other engines" if freed else ""
        self._report_event(f"is installed{shared}", 1.0, is_milestone=True)

    def _install_owner(self, owner: Engine) -> None:
        """Make the environment that this engine uses, which belongs to another one."""

        def report(event: InstallEvent) -> None:
            share = None if event.fraction is None else event.fraction * self._environment_share
            self._report_event(
                f"environment of {owner.name}: {event.message}", share, is_milestone=event.is_milestone
            )

        # its terms are among those of this engine, which are accepted
        install(owner, report, with_hashes=self._with_hashes, has_accepted=True, with_weights=False)

    def _install_weights(self, wanted: Sequence[Weights]) -> None:
        """Download the weights one after another; complete ones are kept if a later one fails."""
        store = WeightStore(settings.weights_dir())
        for each in wanted:

            def report_progress(message: str, have: int, before: int = self._fetched_bytes) -> None:
                share = min(1.0, (before + have) / (self._download_bytes or 1))
                begin = self._environment_share
                self._report_event(message, begin + share * (_LAST_FRACTION - begin))

            source = f"from {self._offer.folder}" if self._offer else f"from {each.host}"
            what = f"weights: {each.name}, {each.size_in_words}, {source}; licence: {each.licence}"
            self._report_event(what, is_milestone=True)
            store.install(each, self._engine.home, report_progress, self._offer)
            self._fetched_bytes += each.expected_bytes
        if wanted:
            store.drop_unused()

    @property
    def _environment_share(self) -> float:
        """The share of the packages in the size of the whole installation; the rest is weights."""
        mb, more = self._engine.environment.disk_mb, self._download_bytes / 1_000_000
        return _LAST_FRACTION * mb / (mb + more) if more else _LAST_FRACTION

    def _install_packages(self, python: str) -> None:
        engine = self._engine
        (engine.home / READY).unlink(missing_ok=True)
        is_resumed = self._read_completed_steps()
        if not is_resumed:
            self._remove_environment()
        self._require_disk_space()
        if not is_resumed:
            self._make_environment(python)
        first = plan_initial_steps(engine, with_hashes=self._with_hashes)
        more = len(plan_final_steps(engine, with_hashes=self._with_hashes))
        self._run_steps(first, 0, len(first) + more)
        last = plan_final_steps(engine, with_hashes=self._with_hashes)
        self._run_steps(last, len(first), len(first) + len(last))

    def _share_files(self) -> int:
        """Share files with other environments as a single copy; return the bytes that this freed."""
        self._report_event("sharing files with other engines", _LAST_FRACTION)
        record = read_ready(self._engine)
        freed = share_files(Path(record["site_packages"]), _shared_files()) if record else 0
        drop_unused_files(_shared_files())  # those of an earlier environment of this engine
        return freed

    def _report_event(
        self, message: str, fraction: float | None = None, *, is_milestone: bool = False
    ) -> None:
        elapsed_s = time.monotonic() - self._started_at
        self._report(InstallEvent(self._engine.name, message, fraction, elapsed_s, is_milestone))

    def _run_steps(self, steps: Sequence[PipStep], before: int, total: int) -> None:
        for number, step in enumerate(steps, before + 1):
            if step.key not in self._completed_steps:
                self._run_step(number, total, step)
                self._completed_steps.append(step.key)
                self._write_completed_steps()

    def _read_completed_steps(self) -> bool:
        """Resume after the completed steps; return False if no usable environment of this version exists."""
        try:
            content = json.loads((self._engine.home / STEPS).read_text("utf-8"))
            is_current = self._engine.is_current(content) and self._engine.python.exists()
            done, files = list(content["done"]), dict(content.get("files", {}))
        except (OSError, ValueError, KeyError):
            return False
        if is_current:
            self._completed_steps, self._files = done, files
        return is_current

    def _write_completed_steps(self) -> None:
        content = {**self._recipe_fields, "done": self._completed_steps, "files": self._files}
        write_json(self._engine.home / STEPS, content)

    @property
    def _recipe_fields(self) -> dict[str, str]:
        return {"recipe": self._engine.recipe, "lock": self._engine.lock_digest}

    def _remove_environment(self) -> None:
        """Remove an environment that is incomplete or of another version."""
        (self._engine.home / STEPS).unlink(missing_ok=True)
        if self._env.exists():
            self._report_event("removing remains of an earlier attempt or version", is_milestone=True)
            shutil.rmtree(self._env)

    def _require_disk_space(self) -> None:
        needed = self._engine.environment.disk_mb * 1_000_000 - (_used_mb(self._env) << 20)
        free = shutil.disk_usage(self._engine.home).free
        if free < needed:
            raise EngineInstallError(
                f"The engine {self._engine.name} needs {format_size(needed)} more in {self._engine.home};"
                f" {format_size(free)} are free."
                " Free space, or choose another folder with FOLDNOTE_ENGINES_DIR."
            )

    def _make_environment(self, python: str) -> None:
        self._report_event("creating the environment", 0.0, is_milestone=True)
        # a pip per environment takes seconds and megabytes, and this Python's pip may not support another
        # version
        without_pip = ["--without-pip"] if python == sys.executable and can_serve_others() else []
        result = subprocess.run(
            [python, "-m", "venv", *without_pip, str(self._env)],
            capture_output=True,
            text=True,
            errors="replace",
            env=pip_environment(self._engine),
            check=False,
        )
        if result.returncode:
            shutil.rmtree(self._env, ignore_errors=True)
            _raise_if_full(result.stderr, result.stdout)
            lines = (result.stderr + result.stdout).strip().splitlines()
            raise EngineInstallError(
                f"{Path(python).name} -m venv failed for the engine {self._engine.name}:"
                f" {lines[-1] if lines else 'it gave no reason'}."
                " On Debian or Ubuntu the package python3-venv may be missing."
            )
        self._write_completed_steps()

    def _run_step(self, number: int, total: int, step: PipStep) -> None:
        place = f"step {number} of {total}"
        title = f"{place}: {step.title}"
        share = (number - 1) / (total + 1)
        self._report_event(title, self._disk_fraction(share), is_milestone=True)
        environment = pip_environment(self._engine)
        if step.has_builds:
            by_uv = uv_command(self._engine.python, step.arguments, environment)
            if by_uv and self._run_installer(by_uv, environment, title, share).returncode == 0:
                return
        command = pip_command(self._engine.python, self._arguments(step))
        run = self._run_installer(command, environment, title, share)
        if run.returncode:
            _raise_if_full(*run.errors)
            why = explain_other_hash(self._engine.name, run.mismatch) or explain_failure(run.errors)
            raise EngineInstallError(
                f"The engine {self._engine.name} is not installed: {place} failed."
                f" {why} pip's whole output is in {self._log}."
                " Install it again to continue from here."
            )
        self._record_files(step)

    def _run_installer(
        self, command: Sequence[str], environment: Mapping[str, str], title: str, share: float
    ) -> InstallerRun:
        run = InstallerRun(command, environment, self._log)
        measured = 0.0
        for line in run.lines():
            if time.monotonic() - measured > _MEASURE_EVERY_S:
                self._report_event(line or title, self._disk_fraction(share))
                measured = time.monotonic()
        return run

    def _arguments(self, step: PipStep) -> tuple[str, ...]:
        home = self._engine.home
        if not self._engine.lock_digest:
            return step.arguments
        (home / REPORT).unlink(missing_ok=True)
        (home / REQUIREMENTS).write_text(step.requirements, "utf-8")
        wanted = ("-r", str(home / REQUIREMENTS)) if step.requirements else ()
        return ("--report", str(home / REPORT), *step.arguments, *wanted)

    def _record_files(self, step: PipStep) -> None:
        """Record the installed files and their hashes from pip's report."""
        try:
            report = json.loads((self._engine.home / REPORT).read_text("utf-8"))
        except (OSError, ValueError):
            return
        self._files |= dict(read_report(report, is_checked=step.is_checked))

    def _disk_fraction(self, share: float) -> float:
        """Return the fraction of the expected disk space in use, at least the fraction of completed steps."""
        expected = self._engine.environment.disk_mb
        filled = _used_mb(self._env) / expected if expected else 0.0
        return self._environment_share * min(1.0, max(share, filled))

    def _probe_environment(self) -> None:
        self._report_event("checking that it works", _LAST_FRACTION, is_milestone=True)
        inspected = json.loads(self._run_python(_INSPECT))
        site_packages = inspected["site_packages"]
        draft = {"recipe": "", "site_packages": site_packages}
        write_json(self._engine.home / READY, draft)  # the probe needs the engine's own PATH
        try:
            self._run_python(self._engine.environment.probe or "pass")
        except EngineInstallError:
            (self._engine.home / READY).unlink(missing_ok=True)
            raise
        files = {"files": dict(sorted(self._files.items()))} if self._files else {}
        size = {"installed_mb": max(1, _used_mb(self._env))}
        ready = {**self._recipe_fields, "installed": now(), **size, **inspected, **files}
        write_json(self._engine.home / READY, ready)

    def _run_python(self, code: str) -> str:
        try:
            result = subprocess.run(
                [str(self._engine.python), "-c", code],
                cwd=self._engine.home,
                env=make_environment(self._engine, 1),
                capture_output=True,
                text=True,
                errors="replace",
                timeout=_PROBE_LIMIT_S,
                check=True,
            )
        except (OSError, subprocess.SubprocessError) as exc:
            output = str(getattr(exc, "stderr", None) or exc).strip().splitlines()
            raise EngineInstallError(
                f"The engine {self._engine.name} was installed but does not work: {output[-1]}."
                f" Run `foldnote engines remove {self._engine.name}`, then install it again."
            ) from exc
        return result.stdout


def _shared_files() -> Path:
    return settings.engines_dir() / STORE


def _raise_if_full(*lines: str) -> None:
    """Raise an OSError if a program reported that the disk is full."""
    if tells_full_disk(lines):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def pip_environment(engine: Engine) -> dict[str, str]:
    """Return the user's environment, without variables that would make pip install elsewhere."""
    inherited = {name: value for name, value in process_environment().items() if name not in _NOT_FOR_PIP}
    return {
        **inherited,
        "PATH": os.pathsep.join([str(engine.python.parent), inherited.get("PATH", os.defpath)]),
        "PIP_USER": "0",
        "PIP_NO_INPUT": "1",
        "PIP_DISABLE_PIP_VERSION_CHECK": "1",
        "PYTHONNOUSERSITE": "1",
        "PYTHONUNBUFFERED": "1",
    }


def _refuse_missing_programs(engine: Engine) -> None:
    if missing := find_missing(engine):
        raise EngineInstallError(f"The engine {engine.name} cannot be installed. {explain_missing(missing)}")


def _require_python(engine: Engine) -> str:
    exact = engine.environment.requires_python
    found = find_python(engine)
    if found is None or (exact and found != sys.executable):
        version = exact or engine.environment.newest_python
        candidates = (each for each in (found, _fetch_python(version)) if each)
        found = next((each for each in candidates if _read_version(each) == version), None)
    if found is None:
        raise EngineInstallError(explain_python(engine))
    return found


def _fetch_python(version: str) -> str | None:
    """Return the Python of this version that uv has or downloads, if uv is on PATH; else None."""
    uv = shutil.which("uv", path=process_environment().get("PATH"))
    if uv is None:
        return None
    for arguments in (("install", version), ("find", version)):
        result = subprocess.run([uv, "python", *arguments], capture_output=True, text=True, check=False)
    return result.stdout.strip() or None


def _read_version(python: str) -> str:
    """Return a version such as ``3.12``; empty for a program that fails, such as a shim without Python."""
    code = "import sys; print('{}.{}'.format(*sys.version_info))"
    with suppress(OSError):
        result = subprocess.run([python, "-c", code], capture_output=True, text=True, check=False)
        return result.stdout.strip()
    return ""


def list_unaccepted(
    engine: Engine, *, offer: Offer | None = None, with_weights: bool = True, with_optional: bool = False
) -> tuple[LicenceTerms, ...]:
    """Return the terms that this user must accept for an installation, and has not accepted before.

    The arguments are those of `install`. Stand-in weights have no terms.
    """
    wanted = _list_wanted_weights(engine, offer, with_optional) if with_weights else ()
    return _list_asked(engine, wanted, offer)


def _list_asked(engine: Engine, wanted: Sequence[Weights], offer: Offer | None) -> tuple[LicenceTerms, ...]:
    program = () if engine.terms == () or engine.environment_state().installed else engine.terms
    weights = () if offer and offer.is_stand_in else tuple(each.terms for each in wanted)
    needed = [each for each in (*program, *weights) if each is not None]
    own = find_own_acceptances() if needed else []
    return tuple(each for each in needed if find_acceptance(engine.name, each, own) is None)


def _check_weights(engine: Engine, wanted: Sequence[Weights], offer: Offer | None) -> None:
    """Refuse impossible requests before anything is installed."""
    if offer is not None and not engine.weights:
        raise EngineInstallError(f"The engine {engine.name} takes no weights: leave --weights out.")
    if offer is not None and not offer.folder.is_dir():
        raise EngineInstallError(f"{offer.folder} is not a folder. --weights takes a folder of weights.")
    rows = engine.installed_weights()
    have = {row.file for row in rows}
    if offer is not None and not wanted and (lacking := [w for w in engine.weights if w.file not in have]):
        names = ", ".join(each.file for each in lacking)
        raise EngineInstallError(f"{offer.folder} has none of the weights that {engine.name} lacks: {names}.")
    if offer is not None and offer.is_stand_in and any(row.state == "published" for row in rows):
        raise EngineInstallError(
            f"The engine {engine.name} has published weights, which stand-ins do not replace."
            f" Run `foldnote engines remove {engine.name}` first."
        )


def _list_wanted_weights(engine: Engine, offer: Offer | None, with_optional: bool) -> tuple[Weights, ...]:
    """Return the weights to install: missing ones, and stand-ins that published ones are to replace.

    Optional ones are included if requested, or if they are in the given folder.
    """
    published = {row.file for row in engine.installed_weights() if row.state == "published"}
    return tuple(
        each
        for each in engine.weights
        if (each.file not in published or (offer is not None and offer.is_stand_in))
        and (not each.optional or with_optional or (offer is not None and find_offered(each, offer)))
    )


def _name_lock(engine: Engine) -> Path:
    """Return the file whose lock one installer at a time holds; the lock ends with its holder."""
    return engine.home.with_name(f".{engine.name}.lock")


def _used_mb(folder: Path) -> int:
    """Return the total size of the files below ``folder``, in MB (2**20 bytes)."""
    total = 0
    for root, _, names in os.walk(folder):
        for name in names:
            try:
                total += os.lstat(os.path.join(root, name)).st_size  # noqa: PTH118  called for 30,000 files
            except OSError:
                continue
    return total >> 20
