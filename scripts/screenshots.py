"""Take the pictures of the docs from the running product.

JupyterLab starts with separate folders and without a network; a prediction, a docking and a screen are run in Chromium,
which needs their engines. The gallery's pictures come from the notebooks that ``make docs`` executed. Run it with
``make screenshots``; ``--gallery`` takes only the gallery's.
"""

from __future__ import annotations

import base64
import json
import os
import re
import shutil
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import Page, expect, sync_playwright

from foldnote import settings

ROOT = Path(__file__).parent.parent
IMAGES = ROOT / "docs" / "images"
sys.path.insert(0, str(ROOT / "tests" / "browser"))
os.environ.setdefault("FOLDNOTE_TEST_PICTURES", str(IMAGES))
os.environ.setdefault("FOLDNOTE_ENGINES_DIR", str(settings.engines_dir()))

from lab_page import LabPage  # noqa: E402  shared with the browser tests
from lab_server import LabServer  # noqa: E402

VH = "EVQLVESGGGLVQPGGSLRLSCAASGFNIKDTYIHWVRQAPGKGLEWVARIYPTNGYTRYADSVKGRFTISADTSKNTAYLQMNSLRAEDTAVYYCSRWGGDGFYAMDYWGQGTLVTVSS"
VL = "DIQMTQSPSSLSASVGDRVTITCRASQDVNTAVAWYQQKPGKAPKLLIYSASFLYSGVPSRFSGSRSGTDFTLTISSLQPEDFATYYCQQHYTTPPTFGQGTKVEIK"
PEMBROLIZUMAB = (
    "QVQLVQSGVEVKKPGASVKVSCKASGYTFTNYYMYWVRQAPGQGLEWMGGINPSNGGTNFNEKFKNRVTLTTDSSTTTAYMELKSLQFDDTAVYYCARRDYRFDMGFDYWGQGTTVTVSS",
    "EIVLTQSPATLSLSPGERATLSCRASKGVSTSGYSYLHWYQQKPGQAPRLLIYLASYLESGVPARFSGSGSGTDFTLTISSLEPEDFAVYYCQHSRDLPLTFGGGTKVEIK",
)
RECEPTOR = "t4-lysozyme-l99a.pdb"
EARLIER = (
    f"""import foldnote as fn

HEAVY, LIGHT = {PEMBROLIZUMAB!r}
fn.submit("anarci", sequence=HEAVY, job_name="pembrolizumab-VH-IMGT").wait()
fn.submit("abodybuilder", heavy=HEAVY, light=LIGHT, job_name="pembrolizumab-Fv").wait().status""",
)
SITE = f"""import foldnote as fn

RECEPTOR = "{RECEPTOR}"
atoms = fn.open_result(RECEPTOR).structures[0].to_frame()
centre = atoms.loc[atoms["residue"] == "TMP", ["x", "y", "z"]].mean().round(1).tolist()
"""
DOCKING = (
    SITE
    + """fn.submit("vina", receptorFile=fn.upload(RECEPTOR), ligandFile="Cc1ccc(C)cc1", boxCenter=centre,
          boxSize=[16, 16, 16], seed=1, job_name="redock-xylene")"""
)
SCREEN = (
    SITE
    + """ligands = {"benzene": "c1ccccc1", "toluene": "Cc1ccccc1", "ethylbenzene": "CCc1ccccc1", "phenol": "Oc1ccccc1",
           "propylbenzene": "CCCc1ccccc1", "butylbenzene": "CCCCc1ccccc1", "p-xylene": "Cc1ccc(C)cc1",
           "benzofuran": "c1ccc2c(c1)cco2", "indole": "c1ccc2[nH]ccc2c1"}
fn.screen(fn.upload(RECEPTOR), list(ligands.values()), names=list(ligands), tool="vina", boxCenter=centre,
          boxSize=[16, 16, 16], exhaustiveness=4, seed=1, batch_name="cavity-screen")"""
)
WINDOW = {"width": 1440, "height": 1000}


def main() -> int:
    take_gallery_pictures(ROOT / "build" / "notebooks", IMAGES / "gallery")
    if "--gallery" in sys.argv:
        return 0
    with tempfile.TemporaryDirectory() as folder:
        server = LabServer(Path(folder))
        server.start()
        try:
            take_pictures(server)
        finally:
            server.stop()
    print(f"The pictures are in {IMAGES}.")
    return 0


def take_gallery_pictures(executed: Path, folder: Path) -> None:
    """Take the figure of each executed notebook, or else the first picture of its results."""
    folder.mkdir(parents=True, exist_ok=True)
    for path in sorted(executed.glob("*.ipynb")):
        cells = json.loads(path.read_text("utf-8"))["cells"]
        shown = [output.get("data", {}) for cell in cells for output in cell.get("outputs", [])]
        figures = [("png", data["image/png"]) for data in shown if "image/png" in data]
        texts = "".join(text for data in shown for text in data.get("text/html", []))
        drawn = re.findall(r'<img[^>]*src="data:image/(png|svg)[^,"]*,([^"]+)"', texts)
        kind, content = (figures + drawn)[0]
        (folder / f"{path.stem}.{kind}").write_bytes(base64.b64decode(content))


def take_pictures(server: LabServer) -> None:
    server.write_notebook("pembrolizumab.ipynb", *EARLIER)
    server.write_notebook("trastuzumab.ipynb", 'import foldnote as fn\n\nfn.form("abodybuilder")')
    server.write_notebook("redocking.ipynb", DOCKING)
    server.write_notebook("screen.ipynb", SCREEN)
    shutil.copyfile(ROOT / "notebooks" / "data" / RECEPTOR, server.notebooks / RECEPTOR)
    with sync_playwright() as playwright:
        chromium = os.environ.get("FOLDNOTE_CHROMIUM") or shutil.which("chromium")
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
        lab = LabPage(browser.new_context(viewport=WINDOW, device_scale_factor=1.5), server)
        run_earlier_jobs(lab)
        take_job_pictures(lab)
        take_docking_picture(lab)
        take_batch_pictures(lab)
        browser.close()


def run_earlier_jobs(lab: LabPage) -> None:
    """Run jobs from another notebook, so that the panel has several jobs and the engine is already loaded."""
    lab.open("pembrolizumab.ipynb")
    lab.run_all()
    expect(lab.page.locator(".jp-OutputArea-output").last).to_contain_text("Complete", timeout=300_000)


def take_job_pictures(lab: LabPage) -> None:
    """Take a form with a wrong letter, then the job's card, its structure and the panel, light and dark."""
    lab.open("trastuzumab.ipynb")
    lab.show_sidebar("jobs", 300)
    lab.run_all()
    fill_form(lab.page)
    lab.resize(WINDOW["width"], 1300)  # all of the form is visible
    lab.picture("wrong-letter", lab.page.locator(".foldnote-form"))
    lab.resize(WINDOW["width"], WINDOW["height"])
    lab.page.locator(".foldnote-form textarea").nth(0).fill(VH)
    lab.page.get_by_role("button", name="Submit", exact=True).click()
    expect(lab.page.locator(".foldnote-card")).to_contain_text("Complete", timeout=300_000)
    show_result(lab)
    lab.picture("quickstart")
    lab.set_theme("dark")
    lab.page.wait_for_timeout(1000)
    lab.picture("quickstart-dark")
    lab.set_theme("light")


def take_docking_picture(lab: LabPage) -> None:
    """Take the best pose in the receptor's cavity, with its interactions."""
    lab.open("redocking.ipynb")
    lab.page.keyboard.press("Control+b")
    lab.run_all()
    expect(lab.page.locator(".foldnote-card")).to_contain_text("Complete", timeout=300_000)
    show_result(lab)
    view = lab.page.locator(".fnv-view[data-fn-state=drawn]").first
    view.wait_for(timeout=60_000)
    view.get_by_label("Hydrophobic contacts").check()
    view.locator(".fnv-stage").focus()
    for _ in range(6):  # after a turn by 60° no helix covers the ligand
        lab.page.keyboard.press("ArrowLeft")
    view.locator(".fnv-stage").blur()
    lab.resize(WINDOW["width"], 1800)  # all of the view is visible
    lab.page.wait_for_timeout(1500)
    lab.picture("docking", view)
    lab.resize(WINDOW["width"], WINDOW["height"])


def take_batch_pictures(lab: LabPage) -> None:
    """Take the table of a screen of nine ligands, and the panel."""
    lab.open("screen.ipynb")
    sidebar = lab.show_sidebar("jobs", 300)
    lab.run_all()
    card = lab.page.locator(".foldnote-card")
    expect(card).to_contain_text("9 of 9 jobs complete", timeout=300_000)
    expect(lab.page.locator(".fnv-table").last).to_contain_text("9 jobs: 9 complete", timeout=60_000)
    sidebar.get_by_role("row", name="cavity-screen").first.click()
    lab.page.keyboard.press("ArrowRight")
    lab.resize(WINDOW["width"], 752)  # shows whole rows of jobs, and no empty space below the table
    lab.page.mouse.move(5, 5)
    lab.page.wait_for_timeout(2000)
    lab.picture("panel", sidebar)
    lab.page.keyboard.press("Control+b")
    card.evaluate("card => card.scrollIntoView({block: 'start'})")
    lab.page.wait_for_timeout(2000)
    lab.picture("batch")


def fill_form(page: Page) -> None:
    """Fill in the heavy chain with one letter that is no amino acid, and the light chain."""
    heavy = page.locator(".foldnote-form textarea").nth(0)
    heavy.wait_for(timeout=120_000)
    heavy.fill(VH[:16] + "J" + VH[17:])
    page.locator(".foldnote-form textarea").nth(1).fill(VL)
    expect(page.locator(".foldnote-form")).to_contain_text("Position 17")


def show_result(lab: LabPage) -> None:
    """Scroll so that the card and the structure are visible together; views are drawn only when visible."""
    lab.page.locator(".foldnote-card").evaluate("card => card.scrollIntoView({block: 'start'})")
    lab.page.mouse.move(5, 5)
    lab.page.wait_for_timeout(1500)
    lab.wait_until_drawn(lab.page.locator(".jp-OutputArea-output canvas").first)


if __name__ == "__main__":
    sys.exit(main())
