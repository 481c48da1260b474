"""Check whether the parts of foldnote work on this machine, and advise how to fix problems."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import foldnote
from foldnote import settings
from foldnote.cli.printing import describe_failure
from foldnote.errors import FoldnoteError, UnsupportedSystemError

if TYPE_CHECKING:
    from foldnote.service.engines.engine import Engine


@dataclass(frozen=True)
class DoctorFinding:
    """The result of checking one component.

    Attributes:
        what: name of the component.
        is_good: whether it works.
        found: the finding as text.
        advice: what to do; empty if nothing.
        is_needed: whether foldnote requires it.
    """

    what: str
    is_good: bool
    found: str
    advice: str = ""
    is_needed: bool = True


def run_checks() -> list[DoctorFinding]:
    """Check every component, in the order in which a user needs them."""
    checks = (_python, _folders, _extension, _viewer, _profile, _service, _bucket, _engines, _keyring)
    return [finding for check in checks for finding in _run(check)]


def _run(check: Callable[[], list[DoctorFinding]]) -> list[DoctorFinding]:
    try:
        return check()
    except (FoldnoteError, OSError) as exc:
        return [DoctorFinding(check.__name__.strip("_"), False, describe_failure(exc))]


def _python() -> list[DoctorFinding]:
    return [DoctorFinding("foldnote", True, f"{foldnote.__version__}, Python {sys.version.split()[0]}")]


def _folders() -> list[DoctorFinding]:
    folder = settings.data_dir()
    free_gb = shutil.disk_usage(folder).free / 1e9
    advice = (
        "" if free_gb > 5 else "Engines and results need some gigabytes: free space, or set FOLDNOTE_HOME."
    )
    return [DoctorFinding("data folder", free_gb > 1, f"{folder}, {free_gb:.0f} GB free", advice)]


def _extension() -> list[DoctorFinding]:
    listed = Path(sys.prefix) / "share/jupyter/labextensions/foldnote/package.json"
    version = json.loads(listed.read_text("utf-8"))["version"] if listed.is_file() else ""
    is_enabled = (Path(sys.prefix) / "etc/jupyter/jupyter_server_config.d/foldnote.json").is_file()
    again = "Reinstall foldnote in the environment that runs JupyterLab."
    state = "enabled" if is_enabled else "not enabled"
    return [
        DoctorFinding(
            "JupyterLab extension", bool(version), version or "not installed", "" if version else again
        ),
        DoctorFinding("Jupyter server extension", is_enabled, state, "" if is_enabled else again),
    ]


def _viewer() -> list[DoctorFinding]:
    if (Path(__file__).parent.parent / "static/3Dmol-min.js").is_file():
        return [DoctorFinding("3Dmol.js", True, "bundled")]
    advice = "Build the front end: npm ci && npm run build:prod"
    return [DoctorFinding("3Dmol.js", False, "missing; structures cannot be displayed", advice)]


def _profile() -> list[DoctorFinding]:
    profile = settings.active_profile()
    description = f"{profile.name}: {profile.base_url or 'this machine'}"
    if profile.is_of_hub:
        return [_hub_profile(description)]
    if profile.is_embedded or settings.api_key(profile) is not None:
        return [DoctorFinding("profile", True, description)]
    advice = f"Store one: foldnote profile key {profile.name}"
    return [DoctorFinding("profile", False, f"{description}, without a key", advice)]


def _hub_profile(description: str) -> DoctorFinding:
    has_token = settings.hub_token() is not None
    advice = "" if has_token else "Run foldnote in your server at the hub, where JUPYTERHUB_API_TOKEN is set."
    return DoctorFinding("profile", has_token, f"{description}, by JupyterHub", advice)


def _service() -> list[DoctorFinding]:
    from foldnote.client import Client

    with Client() as client:
        counts = client.jobs.list(limit=1).statuses
    state = f"answers; {counts.running} running, {counts.in_queue} in the queue, {counts.complete} complete"
    return [DoctorFinding("service", True, state)]


def _bucket() -> list[DoctorFinding]:
    options = settings.config_section("objects")
    if not options:
        return []
    from foldnote.service.files.bucket import BucketClient
    from foldnote.service.files.bucket_address import BucketAddress

    address = BucketAddress.read(options)
    fault = None if address is None else BucketClient(address).find_fault()
    advice = "Check the section [objects] of config.toml, and the provider's credentials." if fault else ""
    state = fault or f"{options['url']} can be written and read"
    return [DoctorFinding("object store", fault is None, state, advice)]


def _engines() -> list[DoctorFinding]:
    """Return the engines of this machine, which only its embedded service uses.

    Engines without anything installed are combined into one finding.
    """
    if not settings.active_profile().is_embedded:
        return []
    if sys.platform == "win32":
        return [DoctorFinding("engines", False, UnsupportedSystemError().message, is_needed=False)]
    from foldnote.service.engines.registry import load_engines

    findings, absent = [], []
    for engine in load_engines().values():
        state = engine.state()
        if not (state.installed or _is_configured(engine)):
            absent.append(engine.name)
            continue
        is_ours = state.installed or engine.kind == "adapter"
        advice = "" if is_ours else f"foldnote engines install {engine.name}"
        description = engine.method if state.installed else state.reason or "not installed"
        findings.append(
            DoctorFinding(f"engine {engine.name}", state.installed, description, advice, is_needed=False)
        )
    if absent:
        advice = "foldnote engines list says what each runs and needs."
        description = f"not installed: {', '.join(sorted(absent))}"
        findings.append(DoctorFinding("other engines", False, description, advice, is_needed=False))
    return findings


def _is_configured(engine: Engine) -> bool:
    """Return whether a user began to install or configure the engine, or set its folder."""
    if engine.environment.kind == "venv":
        return engine.home.is_dir()
    return not engine.options or bool(engine.configured().mistakes or settings.engine_options(engine.name))


def _keyring() -> list[DoctorFinding]:
    try:
        import keyring
        from keyring.backends import fail
    except ImportError:
        return [DoctorFinding("keyring", True, "not installed; keys are stored in a private file")]
    backend = keyring.get_keyring()
    works = not isinstance(backend, fail.Keyring)
    state = str(backend.name) if works else "no usable backend; keys are stored in a private file"
    return [DoctorFinding("keyring", True, state)]
