"""The time until a form of forty fields is visible in JupyterLab, and until a letter has its verdict.

Figures are medians of several runs in a real JupyterLab and Chromium; ipywidgets-jsonschema, ipyautoui and
magicgui show a plain form of forty fields in the same JupyterLab, from a kernel of their own environment.
Visible means that the last control has been drawn. Needs Chromium and the test dependencies, as the browser
tests do.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT / "tests" / "browser"), str(ROOT / "benchmarks")]

from forms import PEER_FOLDER, install_peers  # noqa: E402

RUNS = 4
LIMIT_SEEN_MS, LIMIT_KEY_MS = 600.0, 100.0
_SETUP = f"import sys; sys.path.insert(0, {str(ROOT / 'benchmarks')!r}); import form_features as f\n"
CELLS = {
    "foldnote": (
        _SETUP
        + "import foldnote as fn\nfn.form({'type': 'object', 'properties': {'a': {'type': 'string'}}})",
        "fn.form(f.forty_schema())",
    ),
    "ipywidgets-jsonschema": (
        _SETUP + "from ipywidgets_jsonschema import Form\nForm({'type': 'string'}).show()",
        "Form(f.forty_schema()).show()",
    ),
    "ipyautoui": (
        _SETUP + "from ipyautoui import AutoUi\nfrom IPython.display import display\n"
        "display(AutoUi({'type': 'object', 'title': 'A', 'properties': {'a': {'type': 'string'}}}))",
        "display(AutoUi(f.forty_schema()))",
    ),
    "magicgui": (
        _SETUP + "import magicgui; magicgui.use_app('ipynb')\nfrom IPython.display import display\n"
        "kinds = (('str', \"'t'\"), ('float', '1.0'), ('int', '3'), ('bool', 'False'), ('str', \"'a'\"))\n"
        "text = ', '.join(f'f{n}: {kinds[n % 5][0]} = {kinds[n % 5][1]}' for n in range(40))\n"
        "exec(f'def forty({text}): pass')",
        "display(magicgui.magicgui(forty).native)",
    ),
}
"""For each generator, a cell that loads it and the cell to measure."""

_SEE = """
() => new Promise(done => {
  const notebook = window.jupyterapp.shell.currentWidget.content;
  notebook.activeCellIndex = 1;
  const cell = notebook.widgets[1].node;
  const controls = () => [...cell.querySelectorAll(
    '.jp-OutputArea input, .jp-OutputArea select, .jp-OutputArea textarea'
  )].filter(node => node.getClientRects().length > 0).length;
  window.jupyterapp.commands.execute('notebook:clear-cell-output').then(() => {
    const from = performance.now();
    let most = 0, at = from;
    window.jupyterapp.commands.execute('notebook:run-cell');
    const look = now => {
      const count = controls();
      if (count > most) { most = count; at = now; }
      if (now - at > 1500 && most >= 30) { done({ ms: at - from, controls: most }); }
      else if (now - from > 60000) { done({ ms: null, controls: most }); }
      else { requestAnimationFrame(look); }
    };
    requestAnimationFrame(look);
  });
})
"""
_TYPE = """
wrong => new Promise(done => {
  const form = document.querySelectorAll('.foldnote-form');
  const root = form[form.length - 1];
  const box = root.querySelector('.foldnote-number input[type=text]');
  const from = performance.now();
  box.value = wrong ? 'x' : '1';
  box.dispatchEvent(new Event('input', { bubbles: true }));
  const look = () => {
    if ((root.querySelector('.fn-error') !== null) === wrong) { done(performance.now() - from); }
    else { requestAnimationFrame(look); }
  };
  look();
})
"""


def write_kernel(folder: Path) -> None:
    """Write a kernel spec for the peers' environment."""
    place = folder / "share" / "kernels" / "peers"
    place.mkdir(parents=True)
    argv = [str(PEER_FOLDER / "bin" / "python"), "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    spec = {"argv": argv, "display_name": "peers", "language": "python"}
    (place / "kernel.json").write_text(json.dumps(spec))


def measure(lab: Any, name: str) -> dict[str, float | None]:
    """Return milliseconds until the form of ``name`` is visible, its controls, and ours until a verdict."""
    kernel = "python3" if name == "foldnote" else "peers"
    lab.server.write_notebook(f"{name}.ipynb", *CELLS[name], kernel=kernel)
    lab.open(f"{name}.ipynb")
    lab.wait_for_kernel()
    lab.run_all()
    seen = [lab.page.evaluate(_SEE) for _ in range(RUNS + 1)][1:]
    if any(found["ms"] is None for found in seen):
        return {"ms": None, "controls": seen[0]["controls"]}
    figures = {"ms": statistics.median(found["ms"] for found in seen), "controls": seen[0]["controls"]}
    if name == "foldnote":
        keys = [lab.page.evaluate(_TYPE, turn % 2 == 0) for turn in range(2 * RUNS)]
        figures["key"] = statistics.median(keys)
    return figures


def tell(name: str, figures: dict[str, float | None]) -> None:
    """Print how soon the form was visible, and the share of the limit that this is."""
    ms = figures["ms"]
    told = "not seen within a minute" if ms is None else f"{ms:7.0f} ms ({ms / LIMIT_SEEN_MS:4.0%})"
    print(f"{name:24} forty fields seen after {told}, {figures['controls']:.0f} controls", flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--only", choices=CELLS, help="measure one generator")
    only = parser.parse_args().only
    from lab_page import LabPage
    from lab_server import LabServer
    from playwright.sync_api import sync_playwright

    names = [only] if only else list(CELLS)
    if names != ["foldnote"] and not _prepare_peers():
        names = ["foldnote"]
    chromium = os.environ.get("FOLDNOTE_CHROMIUM") or shutil.which("chromium")
    found: dict[str, dict[str, float | None]] = {}
    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as folder:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        server = LabServer(Path(folder) / "lab")
        write_kernel(server.folder)
        peers = PEER_FOLDER / "share" / "jupyter" / "labextensions"
        for place in peers.glob("*") if peers.is_dir() else ():
            target = server.folder / "share" / "labextensions" / place.name
            if not target.exists() and place.name != "@jupyter-widgets":
                target.symlink_to(place)
        server.start()
        try:
            for name in names:
                page = LabPage(browser.new_context(viewport={"width": 1400, "height": 1000}), server)
                found[name] = measure(page, name)
                tell(name, found[name])
                page.page.context.close()
        finally:
            server.stop()
            browser.close()
    ours = found.get("foldnote")
    if ours is None:
        return 0
    key = ours["key"] or 0.0
    print(f"{'a letter to its verdict':24} {key:7.0f} ms ({key / LIMIT_KEY_MS:4.0%})")
    is_kept = (ours["ms"] or float("inf")) <= LIMIT_SEEN_MS and key <= LIMIT_KEY_MS
    print("kept   both limits" if is_kept else "BROKEN a limit")
    return 0 if is_kept else 1


def _prepare_peers() -> bool:
    """Return whether the peers' environment exists, after creating it with a kernel."""
    python = install_peers()
    if python is None:
        print("the peers could not be installed, so there is nothing to compare with")
        return False
    done = subprocess.run([python, "-m", "pip", "install", "--quiet", "ipykernel"], capture_output=True)
    return done.returncode == 0


if __name__ == "__main__":
    sys.exit(main())
