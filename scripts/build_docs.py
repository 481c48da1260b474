"""Build the documentation site into ``build/site``, without a network; warnings and broken links are errors. Run it with ``make docs``.

The notebooks are executed first, on an embedded service with a separate home; with ``--kept`` their outputs of the last
build are used. A notebook whose engines are not all installed is shown without outputs, and its page says so.
"""

from __future__ import annotations

import json
import os
import re
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
sys.path.insert(0, str(DOCS))

from _reference.broken_links import find_broken_links  # noqa: E402
from _reference.notebook_facts import list_missing_engines, read_notebooks  # noqa: E402


def main() -> int:
    shutil.rmtree(DOCS / "tutorials", ignore_errors=True)
    (DOCS / "tutorials").mkdir()
    engines = settings.engines_dir()
    for notebook in read_notebooks(ROOT / "notebooks"):
        page = DOCS / "tutorials" / notebook.path.name
        missing = list_missing_engines(notebook)
        if missing:
            print(f"{notebook.path.name} is shown without outputs: not installed: {', '.join(missing)}")
            page.write_text(say_without_outputs(notebook.path, missing), "utf-8")
        else:
            shutil.copy(execute(notebook.path, engines), page)
    with tempfile.TemporaryDirectory() as home:  # pages describe the engines before anything is installed
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
    if done.returncode:
        return done.returncode
    for page in (DOCS / "tutorials").glob("*.ipynb"):
        copy_linked(page, KEPT, SITE / "tutorials")
    if broken := find_broken_links(SITE):
        print("Broken links:", *broken, sep="\n", file=sys.stderr)
        return 1
    print(f"The site is in {SITE}: open index.html.")
    return 0


def say_without_outputs(notebook: Path, missing: list[str]) -> str:
    """Return the notebook with a note below its title."""
    content = json.loads(notebook.read_text("utf-8"))
    text = f"The outputs are missing: this site was built without the engine {' and '.join(missing)}."
    note = {
        "cell_type": "markdown",
        "id": "without-outputs",
        "metadata": {},
        "source": [f"```{{note}}\n{text}\n```"],
    }
    content["cells"].insert(1, note)
    return json.dumps(content)


def execute(notebook: Path, engines: Path) -> Path:
    """Execute the notebook and return it."""
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
        limits = ("--ExecutePreprocessor.timeout=600", "--log-level=WARN", "--KernelManager.transport=ipc")
        subprocess.run((*run, *limits, notebook.name), cwd=folder, env=environment, check=True)
        shutil.copy(Path(folder) / notebook.name, kept)
        copy_linked(kept, Path(folder), KEPT)
    return kept


def copy_linked(notebook: Path, source: Path, target: Path) -> None:
    """Copy files that the notebook wrote and its outputs link to, such as a report."""
    cells = json.loads(notebook.read_text("utf-8"))["cells"]
    shown = [
        output.get("data", {}).get("text/html", "") for cell in cells for output in cell.get("outputs", [])
    ]
    for path in re.findall(r'href="([\w./-]+)"', "".join("".join(each) for each in shown)):
        if (source / path).is_file() and (source / path).resolve().is_relative_to(source.resolve()):
            (target / path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(source / path, target / path)


if __name__ == "__main__":
    sys.exit(main())
