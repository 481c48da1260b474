"""The time from typing a letter to the shading of an antibody's CDRs, and the share of numbering in it.

Measured in a real JupyterLab and Chromium, from the keystroke to the frame in which the letters below the
field have changed, as the median of several letters. The same run measures numbering alone, in milliseconds
per chain, beside ANARCI on the same chains, with its profiles loaded, if its engine is installed. Needs
Chromium and the test dependencies, as the browser tests do.
"""

from __future__ import annotations

import csv
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from playwright.sync_api import sync_playwright

from foldnote.forms.biology.domains import find_domains
from foldnote.service.engines.registry import load_engines

ROOT = Path(__file__).parents[1]
sys.path.append(str(ROOT / "tests" / "browser"))
from lab_page import LabPage  # noqa: E402
from lab_server import LabServer  # noqa: E402

LETTERS = 12
LIMIT_MS = 100.0
ANTIBODIES = ROOT / "tests" / "unit" / "forms" / "data" / "antibodies.csv"
_CELL = "import foldnote as fn\nfn.form('abodybuilder', light={light!r})"
_TYPE = """
text => new Promise(done => {
  const root = document.querySelector('.foldnote-form');
  const box = root.querySelector('textarea');
  const last = () => [...box.closest('.foldnote-field').querySelectorAll('.fn-letters .fn-number')].pop();
  const from = performance.now();
  box.value = text;
  box.dispatchEvent(new Event('input', { bubbles: true }));
  const look = () => {
    if (last()?.textContent === `${text.length}`) { done(performance.now() - from); }
    else if (performance.now() - from > 20000) { done(null); }
    else { requestAnimationFrame(look); }
  };
  look();
})
"""
_PEER = """
import csv, sys, time
from domains import run_anarci
rows = list(csv.DictReader(open(sys.argv[1])))
run_anarci(rows[-1]["heavy"], "imgt")
for row in rows[:-1]:
    for chain in ("heavy", "light"):
        start = time.perf_counter()
        assert len(run_anarci(row[chain], "imgt")[0]) == 1
        print(1000 * (time.perf_counter() - start))
"""


def measure_numbering() -> float:
    """Return the median milliseconds of immunum for a chain that is not cached."""
    with ANTIBODIES.open(newline="") as file:
        rows = list(csv.DictReader(file))
    find_domains(rows[-1]["heavy"])
    found = []
    for chain in (row[name] for row in rows[:-1] for name in ("heavy", "light")):
        start = time.perf_counter()
        assert len(find_domains(chain)) == 1
        found.append(1000 * (time.perf_counter() - start))
    return statistics.median(found)


def measure_peer() -> float | None:
    """Return the same for ANARCI in its engine's environment; None if that is not installed."""
    engine = load_engines()["anarci"]
    if not engine.python.exists():
        return None
    parts = [engine.folder, *((engine.folder.parent / name) for name in ("antibody", "protocol"))]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, parts))}
    done = subprocess.run(
        [engine.python, "-c", _PEER, ANTIBODIES], capture_output=True, text=True, check=True, env=environment
    )
    return statistics.median(map(float, done.stdout.split()))


def measure_page() -> float:
    """Return the median milliseconds from a letter to the shading of its chain."""
    with ANTIBODIES.open(newline="") as file:
        row = next(csv.DictReader(file))
    chromium = os.environ.get("FOLDNOTE_CHROMIUM") or shutil.which("chromium")
    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as folder:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        server = LabServer(Path(folder) / "lab", engine_path=ROOT / "tests" / "engines")
        server.start()
        try:
            lab = LabPage(browser.new_context(viewport={"width": 1400, "height": 1000}), server)
            server.write_notebook("shading.ipynb", _CELL.format(light=row["light"]))
            lab.open("shading.ipynb")
            lab.wait_for_kernel()
            lab.run_all()
            lab.page.locator(".foldnote-form textarea").first.wait_for()
            lab.page.wait_for_timeout(2000)
            ends = range(len(row["heavy"]) - LETTERS, len(row["heavy"]) + 1)
            found = [lab.page.evaluate(_TYPE, row["heavy"][:end]) for end in ends][1:]
        finally:
            server.stop()
            browser.close()
    if None in found:
        raise SystemExit("a letter was not shaded within 20 s")
    return statistics.median(found)


def main() -> None:
    page, ours, peer = measure_page(), measure_numbering(), measure_peer()
    state = "ok" if page <= LIMIT_MS else "MORE"
    print(
        f"keystroke to shading: {page:.0f} ms (limit {LIMIT_MS:.0f} ms, {state}; median of {LETTERS} letters)"
    )
    print(f"numbering of a chain by immunum: {ours:.2f} ms")
    if peer is None:
        print(
            "ANARCI is not installed (foldnote engines install anarci), so there is nothing to compare with"
        )
    else:
        print(
            f"numbering of a chain by ANARCI, profiles loaded: {peer:.2f} ms; immunum takes {ours / peer:.2f}"
        )


if __name__ == "__main__":
    main()
