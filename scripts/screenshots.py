"""The pictures that the docs show, taken from the running product.

JupyterLab is started with folders of its own and the network cut, and the quickstart's story is clicked through
in Chromium; the engines must be installed. The gallery's pictures are taken from the notebooks that ``make docs``
executed. Run it with ``make screenshots``; ``--gallery`` takes the gallery's only.
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

from lab_page import LabPage  # noqa: E402  the harness of the browser tests
from lab_server import LabServer  # noqa: E402

VH = "EVQLVESGGGLVQPGGSLRLSCAASGFNIKDTYIHWVRQAPGKGLEWVARIYPTNGYTRYADSVKGRFTISADTSKNTAYLQMNSLRAEDTAVYYCSRWGGDGFYAMDYWGQGTLVTVSS"
VL = "DIQMTQSPSSLSASVGDRVTITCRASQDVNTAVAWYQQKPGKAPKLLIYSASFLYSGVPSRFSGSRSGTDFTLTISSLQPEDFATYYCQQHYTTPPTFGQGTKVEIK"
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
    """The figure of each executed notebook, else the first picture of its results."""
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
    server.write_notebook("trastuzumab.ipynb", 'import foldnote as fn\n\nfn.form("abodybuilder")')
    with sync_playwright() as playwright:
        chromium = os.environ.get("FOLDNOTE_CHROMIUM") or shutil.which("chromium")
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
        lab = LabPage(browser.new_context(viewport=WINDOW, device_scale_factor=1.5), server)
        lab.open("trastuzumab.ipynb")
        lab.show_sidebar("jobs", 300)
        lab.run_all()
        fill_form(lab.page)
        lab.picture("wrong-letter", lab.page.locator(".foldnote-form"))
        lab.page.locator(".foldnote-form textarea").nth(0).fill(VH)
        lab.page.get_by_role("button", name="Submit", exact=True).click()
        expect(lab.page.locator(".foldnote-card")).to_contain_text("Complete", timeout=300_000)
        show_result(lab.page)
        lab.wait_until_drawn(
            lab.page.locator(".jp-OutputArea-output canvas").first
        )  # only what is in sight is drawn
        lab.picture("quickstart")
        lab.set_theme("dark")
        lab.page.wait_for_timeout(1000)
        lab.picture("quickstart-dark")
        browser.close()


def fill_form(page: Page) -> None:
    """The heavy chain with one letter that is no amino acid, and the light chain."""
    heavy = page.locator(".foldnote-form textarea").nth(0)
    heavy.wait_for(timeout=120_000)
    heavy.fill(VH[:16] + "J" + VH[17:])
    page.locator(".foldnote-form textarea").nth(1).fill(VL)
    expect(page.locator(".foldnote-form")).to_contain_text("Position 17")


def show_result(page: Page) -> None:
    """Scroll so that the card and the structure are seen together."""
    page.locator(".foldnote-card").evaluate("card => card.scrollIntoView({block: 'start'})")
    page.mouse.move(5, 5)
    page.wait_for_timeout(1500)


if __name__ == "__main__":
    sys.exit(main())
