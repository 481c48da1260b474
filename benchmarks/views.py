"""The cost of views: bytes in the notebook, time to the first picture, contexts, tables, and drawing offline.

Figures are compared with our limits and with plain py3Dmol, Mol*, nglview, ipymolstar and molviewspec, which
are installed into a separate environment if possible. Chromium draws without a graphics card here, so times
are upper bounds, and on a busy machine only the ratios are meaningful. ``--parts`` names what is measured.
"""

from __future__ import annotations

import argparse
import gzip
import os
import re
import shutil
import statistics
import subprocess
import sys
import tarfile
import tempfile
import time
import venv
from collections.abc import Callable
from contextlib import suppress
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
import py3Dmol
from _view_pages import (
    choose_ms,
    drawn_pixels,
    first_picture_ms,
    insert_ms,
    launch,
    mark_loaded,
    molstar_picture_ms,
    time_table,
    walk_through,
    write_molstar_page,
    write_plain_page,
    write_structure,
)
from playwright.sync_api import Browser, sync_playwright

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests" / "browser"))

from lab_page import LabPage  # noqa: E402
from lab_server import LabServer  # noqa: E402

from foldnote.results import Structure  # noqa: E402
from foldnote.viewers import bundle, compose, write_page  # noqa: E402
from foldnote.viewers.display.batch_rows import BatchRow  # noqa: E402
from foldnote.viewers.display.bundles import rows_bundle  # noqa: E402
from foldnote.viewers.render.library import read_library  # noqa: E402
from foldnote.viewers.scene.drawings.thumbnails import draw_thumbnails  # noqa: E402

RUNS = 3
VIEWS = 50
ROWS = 100_000
BATCH_ROWS = 1_000
CHOICES = 15
CAPSID_RESIDUES = 35_400
WAIT_S = 12
PEER_FOLDER = Path(sys.prefix) / ".view-peers"
LAB = "jupyterlab>=4.6,<4.7"
MOLSTAR = "molstar@5.6.1"
PEERS = {
    "py3Dmol": "import py3Dmol\nview = py3Dmol.view(width=640, height=480)\nview.addModel(text, 'pdb')\n"
    "view.setStyle({'cartoon': {'color': 'spectrum'}})\nview.zoomTo()\nview.show()",
    "nglview": "import nglview\nnglview.NGLWidget(nglview.TextStructure(text))",
    "ipymolstar": "from ipymolstar import PDBeMolstar\n"
    "PDBeMolstar(custom_data={'data': text.encode(), 'format': 'pdb', 'binary': False})",
    "molviewspec": "import molviewspec\nbuilder = molviewspec.create_builder()\n"
    "builder.download(url='p.pdb').parse(format='pdb').model_structure().component().representation()\n"
    "builder.molstar_notebook(data={'p.pdb': text.encode()})",
}
OURS = "import foldnote as fn\nfn.view('p.pdb')"
EXPLORER = """
import foldnote as fn, ipywidgets, time
explorer, echo = fn.explore('p.pdb'), ipywidgets.Label('', _dom_classes=('echo',))
explorer.observe(lambda change: setattr(echo, 'value', str(1000 * time.time())), 'selection')
ipywidgets.VBox([echo, explorer])
"""


class PeerLab(LabServer):
    """JupyterLab in the peers' environment, without foldnote."""

    def command(self) -> list[str]:
        """Use the interpreter of the peers' environment."""
        return [str(PEER_FOLDER / "bin" / "python"), *super().command()[1:]]

    def environment(self) -> dict[str, str]:
        """Leave out our server extension, and put the peers' programs first on PATH."""
        found = super().environment()
        del found["JUPYTER_CONFIG_PATH"]
        return found | {"PATH": f"{PEER_FOLDER / 'bin'}:{found['PATH']}"}


def install_peers() -> list[str]:
    """Return the peers that could be installed into an environment, created once; print the others."""
    done = PEER_FOLDER / "complete"
    if not done.exists():
        print(f"installing {', '.join(PEERS)} and JupyterLab for comparison (about a minute)")
        venv.create(PEER_FOLDER, with_pip=True, clear=True)
        pip = [str(PEER_FOLDER / "bin" / "python"), "-m", "pip", "install", "--quiet"]
        if subprocess.run([*pip, LAB, "ipykernel"], capture_output=True).returncode:
            print("JupyterLab could not be installed for the peers, so there is no comparison")
            return []
        there = [name for name in PEERS if subprocess.run([*pip, name], capture_output=True).returncode == 0]
        done.write_text("\n".join(there))
    there = done.read_text().split()
    for name in PEERS.keys() - set(there):
        print(f"{name} could not be installed")
    return there


def show(what: str, figure: float, limit: float, unit: str) -> None:
    """Print a figure, its limit, and the ratio of the two in one line."""
    print(f"{what:58} {figure:9.4g} {unit:9} limit {limit:g}  ratio {figure / limit:.2f}")


def beside(peer: str, figure: float, ours: float, unit: str) -> None:
    """Print a peer's figure below ours, and its ratio to ours."""
    print(f"    {peer:54} {figure:9.4g} {unit:9} {figure / ours if ours else float('inf'):.2f} times ours")


def plain_html(text: str) -> str:
    """Return what plain py3Dmol stores for a structure drawn as a cartoon."""
    view = py3Dmol.view(width=640, height=480)
    view.addModel(text, "pdb")
    view.setStyle({"cartoon": {"color": "spectrum"}})
    view.zoomTo()
    html: str = view.write_html()
    return html


def measure_bytes(text: str) -> None:
    """Measure the stored bytes of a view against the gzip of its structure."""
    packed = len(gzip.compress(text.encode(), 9))
    parts = bundle(compose(Structure("p.pdb", "pdb", text)))
    ours = sum(len(part) for part in parts.values())
    show("a view of 300 residues in a notebook", ours / packed, 1.5, "x gzip")
    beside("plain py3Dmol", len(plain_html(text)) / packed, ours / packed, "x gzip")
    print(f"    (the structure has {len(text):,} bytes, {packed:,} compressed; the view {ours:,})")


def measure_pictures(browser: Browser, folder: Path) -> None:
    """Measure from loading 3Dmol.js to the first picture, ours and plain py3Dmol's."""
    library = read_library()
    for residues, limit_s in ((300, 1.0), (10_000, 5.0)):
        text = write_structure(residues)
        ours = mark_loaded(write_page(folder / "ours.html", "One", [Structure("p.pdb", "pdb", text)]))
        plain = write_plain_page(folder / "plain.html", plain_html(text), library)
        taken = [_median_s(lambda page=page: first_picture_ms(browser, page)) for page in (ours, plain)]
        show(f"first picture of {residues:,} residues, 3Dmol.js being there", taken[0], limit_s, "s")
        beside("plain py3Dmol (no legend, words or colourings)", taken[1], taken[0], "s")


def measure_large(browser: Browser, folder: Path) -> None:
    """Measure a structure of a capsid's size: processor time from text to page, and time to its picture."""
    text = write_structure(CAPSID_RESIDUES, per_chain=700)
    begin, begin_cpu = time.perf_counter(), time.process_time()
    page = write_page(folder / "large.html", "Large", [Structure("capsid.pdb", "pdb", text)])
    laid, laid_cpu = time.perf_counter() - begin, time.process_time() - begin_cpu
    mark_loaded(page)
    drawn = _median_s(lambda: first_picture_ms(browser, page))
    atoms = text.count("\nATOM") + 1
    show(f"page of {atoms:,} atoms, processor time", laid_cpu, 4.0, "s")
    show("its first picture, 3Dmol.js being there", drawn, 5.0, "s")
    print(
        f"    (laid out in {laid:.1f} s by the clock, {laid + drawn:.1f} s together;"
        f" {page.stat().st_size / 1e6:.1f} MB)"
    )
    measure_molstar(browser, folder, text, laid + drawn)


def measure_molstar(browser: Browser, folder: Path, text: str, ours_s: float) -> None:
    """Measure Mol*'s first picture of the same text, its library being there; print why there is none."""
    npm = shutil.which("npm")
    command = [str(npm), "pack", "--silent", MOLSTAR, "--pack-destination", str(folder)]
    if npm is None or subprocess.run(command, capture_output=True).returncode:
        print("Mol* could not be installed for comparison")
        return
    with tarfile.open(next(folder.glob("molstar-*.tgz"))) as archive:
        archive.extractall(folder, filter="data")
    page = write_molstar_page(folder / "molstar.html", text)
    beside(
        f"{MOLSTAR} from the PDB text, in its default for this size",
        _median_s(lambda: molstar_picture_ms(browser, page)),
        ours_s,
        "s",
    )


def _median_s(measure: Callable[[], float]) -> float:
    return statistics.median(measure() for _ in range(RUNS)) / 1000


def measure_many(browser: Browser, folder: Path) -> None:
    """Scroll twice through a page of fifty small views, and count their contexts."""
    text = write_structure(25)
    view = Structure("p.pdb", "pdb", text)
    ours = walk_through(browser, write_page(folder / "many.html", "Many", [view] * VIEWS))
    plain = "".join(plain_html(text) for _ in range(VIEWS))
    peer = walk_through(browser, write_plain_page(folder / "many-plain.html", plain, read_library()))
    print(
        f"{f'{VIEWS} views on a page: contexts that the browser took away':58} {ours['lost']:9d} limit 0; "
        f"at most {ours['most']} live at once (limit 8), {ours['blank']} of {ours['views']} blank"
    )
    print(f"    {'plain py3Dmol':54} {peer['lost']:9d}")


def measure_table(browser: Browser, folder: Path) -> None:
    """Measure sorting and filtering on the page; half a second still feels immediate."""
    rng = np.random.default_rng(3)
    frame = pd.DataFrame(
        {
            "name": [f"model_{number}" for number in rng.permutation(ROWS)],
            "rank": rng.integers(1, 100, ROWS),
            "plddt": rng.uniform(30, 98, ROWS).round(1),
        }
    )
    found = time_table(browser, write_page(folder / "table.html", "Table", [frame]))
    for what in ("number", "text"):
        show(f"a table of {ROWS:,} rows, sorted by a {what}", found[what] / 1000, 0.5, "s")
    show(f"a table of {ROWS:,} rows, filtered", found["filter"] / 1000, 0.5, "s")
    print(f"    (the table says: {' '.join(found['says'])})")


def measure_batch(browser: Browser) -> None:
    """Measure the table of a batch of numberings: its HTML in Python, and drawing it on the page."""
    rows = [
        BatchRow(
            name=f"antibody-{number}",
            state="Failed" if number % 50 == 0 else "Complete",
            reason="No variable domain was found." if number % 50 == 0 else "",
            figures={
                "chain type": "H",
                "V gene": "IGHV3-66*01",
                "CDR-H3": f"SRWGG{'ACDEFGHIKL'[number % 10]}GFYAMDY",
            },
            scores={"domains": 1, "numberedResidues": 110 + number % 15},
            settings={"sequence": f"{'EVQLVESGGGLVQPGG' * 7}{number}"},
        )
        for number in range(1, BATCH_ROWS + 1)
    ]
    written = statistics.median(_time_s(lambda: rows_bundle(rows, "panel")) for _ in range(RUNS))
    first, *more = insert_ms(browser, rows_bundle(rows, "panel")["text/html"])
    show(f"the table of a batch of {BATCH_ROWS:,} rows, drawn", first / 1000, 0.3, "s")
    beside("drawn again on the same page", statistics.median(more) / 1000, first / 1000, "s")
    show("its HTML, written by Python", written, 0.3, "s")
    measure_drawn_batch(browser)


def measure_drawn_batch(browser: Browser) -> None:
    """Measure the table of a batch of dockings with a drawing in each row."""
    parts = product(("", "C", "CC", "O", "N"), ("F", "Cl", "Br", "O", "C"), range(1, 5), range(1, 11))
    molecules = [
        f"{head}c1ccc({side})cc1{'C' * chain}N(C)C(=O){'C' * tail}" for head, side, chain, tail in parts
    ]
    rows = [
        BatchRow(
            f"ligand-{number}", "Complete", settings={"ligandFile": smiles}, scores={"affinity": -number}
        )
        for number, smiles in enumerate(molecules, 1)
    ]
    drawn = _time_s(lambda: draw_thumbnails(molecules))
    print(f"    ({len(molecules):,} molecules of about 20 atoms, drawn by RDKit once: {drawn:.2f} s)")
    first, *_ = insert_ms(browser, rows_bundle(rows, "drawn")["text/html"])
    show(f"a batch of {len(rows):,} rows with their molecules, drawn", first / 1000, 0.3, "s")
    written = statistics.median(_time_s(lambda: rows_bundle(rows, "drawn")) for _ in range(RUNS))
    show("its HTML, written by Python from the drawings", written, 0.5, "s")


def _time_s(work: Callable[[], object]) -> float:
    begin = time.perf_counter()
    work()
    return time.perf_counter() - begin


def measure_choice(browser: Browser, folder: Path, text: str) -> None:
    """Measure from a click on a residue to the call of an observer in Python, by this machine's clock."""
    server = LabServer(folder / "choice")
    (server.notebooks / "p.pdb").write_text(text)
    try:
        server.start()
        server.write_notebook("choice.ipynb", EXPLORER)
        page = LabPage(browser.new_context(viewport={"width": 1400, "height": 1000}), server)
        page.open("choice.ipynb")
        page.run_all()
        page.page.wait_for_selector(".fne-explorer .fnv-view[data-fn-state=drawn]", timeout=120_000)
        taken = [choose_ms(page.page, 10 * index + 3) for index in range(CHOICES)]
        page.page.context.close()
    finally:
        server.stop()
    show("a residue chosen in the sequence, until Python hears, median", statistics.median(taken), 100, "ms")
    print(f"    (of {CHOICES}: fastest {min(taken):.0f} ms, slowest {max(taken):.0f} ms)")


def measure_offline(browser: Browser, folder: Path, text: str) -> None:
    """Find out which programs draw in JupyterLab while the network is refused."""
    ours = LabServer(folder / "ours")
    drawn = {"foldnote": _draw(browser, ours, {"foldnote": OURS}, text)["foldnote"]}
    there = install_peers()
    if there:
        peers = PeerLab(folder / "peers")
        (peers.folder / "share" / "labextensions" / "foldnote").unlink()
        drawn |= _draw(browser, peers, {name: PEERS[name] for name in there}, text)
    print(f"{'drawn in JupyterLab with the network refused':58} {'pixels':>9} refused addresses")
    for name, (pixels, refused) in drawn.items():
        print(f"    {name:54} {pixels:9,} {', '.join(refused) or 'none wanted'}")


def _draw(
    browser: Browser, server: LabServer, cells: dict[str, str], text: str
) -> dict[str, tuple[int, list[str]]]:
    """Return the pixels that each cell draws, and the hosts that it requested."""
    (server.notebooks / "p.pdb").write_text(text)
    found = {}
    try:
        server.start()
        for name, code in cells.items():
            server.write_notebook(f"{name}.ipynb", f"text = open('p.pdb').read()\n{code}")
            context = browser.new_context(viewport={"width": 1300, "height": 1000})
            page = LabPage(context, server)
            page.open(f"{name}.ipynb")
            page.run_all()
            pixels = _watch(page)
            found[name] = (pixels, sorted({_machine(address) for address in page.outside}))
            context.close()
    finally:
        server.stop()
    return found


def _watch(page: LabPage) -> int:
    """Return the most pixels on a canvas of the output within some seconds, including frames."""
    most = 0
    for _ in range(WAIT_S * 2):
        page.page.wait_for_timeout(500)
        for frame in page.page.frames:
            for canvas in frame.locator("canvas:visible").all():
                with suppress(Exception):  # a canvas may disappear while it is read
                    most = max(most, drawn_pixels(page.page, canvas.screenshot(timeout=2000)))
        if most > 500:
            break
    return most


def _machine(address: str) -> str:
    found = re.match(r"\w+://([^/]+)", address)
    return found[1] if found else address


def main() -> None:
    """Run the measurements that were chosen."""
    text = write_structure(300)
    parts: dict[str, Callable[[Browser, Path], None]] = {
        "bytes": lambda *_: measure_bytes(text),
        "pictures": measure_pictures,
        "large": measure_large,
        "many": measure_many,
        "table": measure_table,
        "batch": lambda browser, _: measure_batch(browser),
        "choice": lambda browser, folder: measure_choice(browser, folder, text),
        "offline": lambda browser, folder: measure_offline(browser, folder, text),
    }
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--parts", nargs="+", choices=parts, default=list(parts))
    wanted = parser.parse_args().parts
    print(f"{os.cpu_count()} processors, {os.getloadavg()[0]:.1f} programs running on them")
    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as place:
        browser = launch(playwright)
        for name in wanted:
            folder = Path(place) / name
            folder.mkdir()
            parts[name](browser, folder)
        browser.close()


if __name__ == "__main__":
    main()
