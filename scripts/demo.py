"""Run the quickstart notebook from end to end, and save its results for inspection.

The notebook runs against the embedded service, as it does for a user. Beside the executed notebook it leaves a web page
with the 3D view and the tables, and the structure as a PDB file.
"""

from __future__ import annotations

import sys
import threading
import time
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError
from traitlets.config import Config

import foldnote as fn
from foldnote.errors import FoldnoteError
from foldnote.viewers.display.page import write_page

ROOT = Path(__file__).parent.parent
NOTEBOOK = ROOT / "notebooks" / "quickstart.ipynb"
OUTPUT = ROOT / "demo-output"


class Progress:
    """Print the progress: the running cell, and each change of the job that it waits for."""

    def __init__(self, cells: int) -> None:
        self._cells = cells
        self._begun = time.monotonic()
        self._ended = threading.Event()

    def say(self, text: str) -> None:
        print(f"  {time.monotonic() - self._begun:5.1f} s  {text}", flush=True)

    def cell(self, cell: nbformat.NotebookNode, cell_index: int, **_: object) -> None:
        if cell.cell_type == "code":
            first = cell.source.strip().splitlines()[0]
            self.say(f"cell {cell_index + 1} of {self._cells}: {first[:70]}")

    def follow_jobs(self) -> None:
        seen: set[tuple[str, str, str]] = set()
        while not self._ended.wait(0.5):
            try:
                jobs = fn.connect().jobs.list(limit=5)
            except FoldnoteError:  # the service is still starting
                continue
            for job in jobs:
                percent = f" {job.progress:.0%}" if job.progress is not None and not job.is_final else ""
                state = (job.job_name, f"{job.status}{percent}", job.message or "")
                if not job.is_final and state not in seen:
                    seen.add(state)
                    self.say(f"    {state[0]}: {state[1]}  {state[2]}")

    def __enter__(self) -> Progress:
        self._thread = threading.Thread(target=self.follow_jobs, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join(timeout=5)


def run_notebook() -> nbformat.NotebookNode:
    """Return the quickstart notebook with its outputs.

    Raises:
        CellExecutionError: a cell failed.
    """
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    with Progress(len(notebook.cells)) as progress:
        NotebookClient(
            notebook,
            timeout=1800,
            resources={"metadata": {"path": str(ROOT)}},
            on_cell_start=progress.cell,
            # use no ports, and print no warning about them
            config=Config({"KernelManager": {"transport": "ipc"}}),
        ).execute()
        progress.say("the notebook is complete")
    return notebook


def find_sequences(notebook: nbformat.NotebookNode) -> dict[str, str]:
    """Return the two sequences that the notebook uses."""
    names: dict[str, str] = {}
    exec(next(cell.source for cell in notebook.cells if "VH =" in cell.source), names)
    return {"heavy": names["VH"], "light": names["VL"]}


def main() -> int:
    print("\n== Running notebooks/quickstart.ipynb against the embedded service", flush=True)
    OUTPUT.mkdir(exist_ok=True)
    try:
        notebook = run_notebook()
        job = fn.submit("abodybuilder", **find_sequences(notebook))
        result = job.result()
    except (CellExecutionError, FoldnoteError) as failure:
        print(
            f"\nThe demo failed:\n{failure}\n\nWhat to look at: .venv/bin/foldnote doctor",
            file=sys.stderr,
        )
        return 1
    nbformat.write(notebook, OUTPUT / "quickstart.ipynb")
    page = write_page(OUTPUT / "trastuzumab.html", "Trastuzumab, variable domains", [result])
    structure = result.structures[0]
    pdb = OUTPUT / "trastuzumab.pdb"
    pdb.write_text(structure.text)
    chains = ", ".join(f"chain {chain.name} with {len(chain)} residues" for chain in structure.chains)
    print(f"""
Done. Trastuzumab's Fv: {chains}.
Method: {result.manifest.method if result.manifest else "not recorded"}

  3D view and tables   {page}
  structure            {pdb}
  executed notebook    {OUTPUT / "quickstart.ipynb"}

Next: open the page in a browser, or run `make lab` for the same notebook in JupyterLab.
The job stays with the embedded service as {job.job_name}; `.venv/bin/foldnote jobs` lists it.""")
    return 0


if __name__ == "__main__":
    sys.exit(main())
