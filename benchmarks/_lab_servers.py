"""JupyterLab with exactly one extension (foldnote or one of two peers that also show jobs), or with none.

All of them run in one separate environment, which is created once, so two servers differ only in the
extension. The benchmarks of JupyterLab use this module.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import venv
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT / "tests" / "browser"), str(ROOT / "tests" / "unit" / "lab")]

from lab_page import LabPage  # noqa: E402
from lab_server import LabServer  # noqa: E402

__all__ = ["EXTENSIONS", "FOLDER", "ROOT", "Extension", "LabPage", "OneExtensionLab", "install", "version_of"]

FOLDER = Path(sys.prefix) / ".lab-peers"
LAB = "jupyterlab>=4.6,<4.7"
_OFFERED = FOLDER / "share" / "jupyter" / "labextensions-offered"


@dataclass(frozen=True)
class Extension:
    """An extension of JupyterLab.

    Attributes:
        package: what pip installs; empty for none.
        pages: folders of its front end and of the extensions that it depends on.
        modules: its server extensions.
        routes: a part of the URLs of its requests.
        panel: the id of the command or tab that opens its list of jobs; empty if it has none.
    """

    package: str = ""
    pages: tuple[str, ...] = ()
    modules: tuple[str, ...] = ()
    routes: tuple[str, ...] = ()
    panel: str = ""


EXTENSIONS: Mapping[str, Extension] = {
    "JupyterLab alone": Extension(),
    "foldnote": Extension("foldnote", ("foldnote",), ("foldnote",), ("/foldnote/",), "foldnote:show-jobs"),
    "jupyter-scheduler": Extension(
        "jupyter-scheduler",
        ("@jupyterlab/scheduler",),
        ("jupyter_scheduler",),
        ("/scheduler/",),
        "scheduling:list-jobs-from-launcher",
    ),
    "dask-labextension": Extension(
        "dask-labextension",
        ("dask-labextension", "@jupyterhub/jupyter-server-proxy"),
        ("dask_labextension", "jupyter_server_proxy"),
        ("/dask/", "/server-proxy/"),
        "dask-dashboard-launcher",
    ),
}
"""Extensions by name; the first is the one that the others are compared with."""


class OneExtensionLab(LabServer):
    """A JupyterLab with one extension."""

    def __init__(self, folder: Path, extension: Extension, more: Mapping[str, str] | None = None) -> None:
        """Prepare the folders; ``more`` is added to the environment."""
        super().__init__(folder, engine_path=ROOT / "tests" / "engines")
        self._more = dict(more or {})
        links = self.folder / "share" / "labextensions"
        (links / "foldnote").unlink()
        for page in extension.pages:
            link = links / page
            link.parent.mkdir(parents=True, exist_ok=True)
            link.symlink_to(self.page_folder(page))
        config = self.folder / "enabled" / "jupyter_server_config.d"
        config.mkdir(parents=True)
        enabled = {"jpserver_extensions": dict.fromkeys(extension.modules, True)}
        (config / "extension.json").write_text(json.dumps({"ServerApp": enabled}))

    @staticmethod
    def page_folder(page: str) -> Path:
        """Return the folder of an extension's front end."""
        return ROOT / "src" / "foldnote" / "labextension" if page == "foldnote" else _OFFERED / page

    def command(self) -> list[str]:
        """Use the interpreter of the peers' environment."""
        return [str(FOLDER / "bin" / "python"), *super().command()[1:]]

    def environment(self) -> dict[str, str]:
        """Enable only this server extension, and put the environment's programs first on PATH."""
        found = super().environment()
        path = f"{FOLDER / 'bin'}:{found['PATH']}"
        return found | self._more | {"PATH": path, "JUPYTER_CONFIG_PATH": str(self.folder / "enabled")}


def install() -> dict[str, Extension]:
    """Install all extensions into the environment; return those available, and print the peers that fail.

    Raises:
        RuntimeError: JupyterLab or foldnote itself cannot be installed.
    """
    done = FOLDER / "complete"
    if not done.exists():
        print("installing JupyterLab, foldnote and peers for comparison (a minute or two)", flush=True)
        venv.create(FOLDER, with_pip=True, clear=True)
        peers = [each.package for each in EXTENSIONS.values() if each.package not in ("", "foldnote")]
        ours = (LAB, "--editable", str(ROOT))
        there = peers if _pip(*ours, *peers) else []
        if not there:
            if not _pip(*ours):
                raise RuntimeError("JupyterLab could not be installed into an environment of its own.")
            there = [package for package in peers if _pip(package, LAB)]
        _take_out()
        done.write_text("\n".join(there))
    there = [*done.read_text().split(), "", "foldnote"]
    for each in EXTENSIONS.values():
        if each.package not in there:
            print(f"{each.package} could not be installed, so it is not compared")
    return {name: each for name, each in EXTENSIONS.items() if each.package in there}


def version_of(package: str) -> str:
    """Return the installed version."""
    code = f"from importlib.metadata import version; print(version({package!r}))"
    command = [str(FOLDER / "bin" / "python"), "-c", code]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def _pip(*wanted: str) -> bool:
    command = [str(FOLDER / "bin" / "python"), "-m", "pip", "install", "--quiet", *wanted]
    here = {**os.environ, "HATCH_JUPYTER_BUILDER_SKIP_NPM": "1"}
    return subprocess.run(command, capture_output=True, env=here).returncode == 0


def _take_out() -> None:
    """Move the installed extensions out of JupyterLab's search path; each server links those that it uses."""
    found = FOLDER / "share" / "jupyter" / "labextensions"
    _OFFERED.mkdir(parents=True)
    for each in EXTENSIONS.values():
        for page in each.pages:
            if (found / page).exists():
                (_OFFERED / page).parent.mkdir(parents=True, exist_ok=True)
                (found / page).rename(_OFFERED / page)
        for module in each.modules:
            for name in (module, module.replace("_", "-")):
                (FOLDER / "etc/jupyter/jupyter_server_config.d" / f"{name}.json").unlink(missing_ok=True)
