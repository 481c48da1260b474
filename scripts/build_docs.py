"""Build the documentation site into ``build/site``, without a network; warnings are errors. Run it with ``make docs``.

The notebooks are executed first, on an embedded service in a home of its own, where their engines are installed; with
``--kept`` what they showed at the last build is taken. Without the engines they are shown without outputs, which is said.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from foldnote import settings

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
SITE = ROOT / "build" / "site"
KEPT = ROOT / "build" / "notebooks"
ENGINES = ("abodybuilder2", "aggrescan3d", "anarci", "iqtree", "vina")


def main() -> int:
    shutil.rmtree(DOCS / "tutorials", ignore_errors=True)
    (DOCS / "tutorials").mkdir()
    engines = settings.engines_dir()
    lacking = [name for name in ENGINES if not (engines / name / "ready.json").is_file()]
    for notebook in sorted((ROOT / "notebooks").glob("*.ipynb")):
        shown = notebook if lacking else execute(notebook, engines)
        shutil.copy(shown, DOCS / "tutorials" / notebook.name)
    if lacking:
        print(f"The tutorials have no outputs, since these engines are not installed: {', '.join(lacking)}.")
    with tempfile.TemporaryDirectory() as home:  # pages say what the engines are before anything is installed
        environment = os.environ | {"FOLDNOTE_HOME": home, "FOLDNOTE_ENGINE_PATH": ""}
        environment.pop("FOLDNOTE_ENGINES_DIR", None)
        build = (
            sys.executable,
            "-m",
            "sphinx",
            "-W",
            "-n",
            "--keep-going",
            "-q",
            "-b",
            "html",
        )
        done = subprocess.run((*build, DOCS, SITE), env=environment, check=False)
    if done.returncode == 0:
        print(f"The site is in {SITE}: open index.html.")
    return done.returncode


def execute(notebook: Path, engines: Path) -> Path:
    """The executed notebook."""
    kept = KEPT / notebook.name
    if kept.is_file() and "--kept" in sys.argv:
        return kept
    print(f"Executing {notebook.name}", flush=True)
    KEPT.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        shutil.copy(notebook, folder)
        shutil.copytree(notebook.parent / "data", Path(folder) / "data")
        environment = os.environ | {
            "FOLDNOTE_HOME": f"{folder}/home",
            "FOLDNOTE_ENGINES_DIR": str(engines),
            "FOLDNOTE_SERVICE_IDLE_STOP_S": "20",
        }
        run = (sys.executable, "-m", "jupyter", "nbconvert", "--to", "notebook", "--execute", "--inplace")
        limits = ("--ExecutePreprocessor.timeout=600", "--log-level=WARN")
        subprocess.run((*run, *limits, notebook.name), cwd=folder, env=environment, check=True)
        shutil.copy(Path(folder) / notebook.name, kept)
    return kept


if __name__ == "__main__":
    sys.exit(main())
