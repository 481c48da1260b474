"""Structures, pages and browser measurements for the figures of ``views.py``, which prints them.

Pages are files that include 3Dmol.js, so the figures contain no time of a server.
"""

from __future__ import annotations

import base64
import json
import math
import os
import random
import shutil
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Page, Playwright

_ARGUMENTS = (
    "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update",
)  # fmt: skip
_ATOMS = (
    ("N", 1.55, 0.0, -0.9), ("CA", 2.28, 28.0, 0.0), ("C", 1.65, 57.0, 1.1), ("O", 2.0, 62.0, 2.3),
    ("CB", 3.3, 20.0, 0.4), ("CG", 4.4, 32.0, 0.9), ("CD1", 5.2, 22.0, 0.2), ("CD2", 4.9, 45.0, 1.6),
)  # fmt: skip
_LIMIT_MS = 60_000
WATCH = """
window.fnLost = 0;
const get = HTMLCanvasElement.prototype.getContext;
HTMLCanvasElement.prototype.getContext = function (kind, ...more) {
  const context = get.call(this, kind, ...more);
  if (context && String(kind).startsWith('webgl') && !context.fnWatched) {
    context.fnWatched = true;
    const extend = context.getExtension.bind(context);
    context.getExtension = name => {
      const found = extend(name);
      if (name !== 'WEBGL_lose_context' || !found) return found;
      return { loseContext: () => { context.fnGivenBack = true; found.loseContext(); } };
    };
    this.addEventListener('webglcontextlost', () => { if (!context.fnGivenBack) window.fnLost += 1; });
  }
  return context;
};
"""
"""Count WebGL contexts that the browser takes away, without those that a program releases itself."""

_UNTIL_SEEN = """
limit_ms => new Promise((done, fail) => {
  const end = performance.now() + limit_ms;
  const look = () => {
    const canvas = document.querySelector('canvas');
    const ours = document.querySelector('.fnv-view');
    const state = ours && ours.dataset.fnState;
    if (state === 'failed') return fail(new Error(ours.querySelector('.fnv-note').textContent));
    if (performance.now() > end) return fail(new Error(`no picture within ${limit_ms} ms: ${state}`));
    if (!canvas || (ours && state !== 'drawn')) return setTimeout(look, 5);
    const flat = document.createElement('canvas');
    flat.width = flat.height = 8;
    flat.getContext('2d').drawImage(canvas, 0, 0, 8, 8);
    flat.getContext('2d').getImageData(0, 0, 8, 8);
    done(performance.now() - window.fnLoaded);
  };
  look();
})
"""
_DRAW_MOLSTAR = """
molstar.Viewer.create('app', { layoutIsExpanded: false, layoutShowControls: false }).then(async viewer => {
  await viewer.loadStructureFromData(text, 'pdb');
  const canvas = viewer.plugin.canvas3d;
  await new Promise(done => {
    const watch = canvas.didDraw.subscribe(() => {
      if (canvas.reprCount.value > 0) { watch.unsubscribe(); done(); }
    });
    canvas.requestDraw();
  });
  const flat = document.createElement('canvas').getContext('2d');
  flat.drawImage(document.querySelector('canvas'), 0, 0, 8, 8);
  flat.getImageData(0, 0, 8, 8);
  window.fnDrawn = performance.now();
});
"""
_THROUGH = """
async () => {
  const rest = ms => new Promise(done => setTimeout(done, ms));
  let most = 0;
  const live = () => { most = Math.max(most, (window.foldnoteLive || []).length); };
  for (let round = 0; round < 2; round++) {
    for (let top = 0; top <= document.body.scrollHeight; top += 700) {
      window.scrollTo(0, top);
      await rest(60);
      live();
    }
  }
  return { lost: window.fnLost, most };
}
"""
_DARK = """
async address => {
  const image = new Image();
  image.src = address;
  await image.decode();
  const flat = document.createElement('canvas');
  flat.width = image.width; flat.height = image.height;
  const pen = flat.getContext('2d');
  pen.drawImage(image, 0, 0);
  const data = pen.getImageData(0, 0, flat.width, flat.height).data;
  let count = 0;
  for (let i = 0; i < data.length; i += 4) {
    const far = Math.abs(data[i] - data[0]) + Math.abs(data[i+1] - data[1]) + Math.abs(data[i+2] - data[2]);
    if (far > 24) count += 1;
  }
  return count;
}
"""
_SORT = """
async index => {
  const button = document.querySelectorAll('.fnv-table th button')[index];
  const begun = performance.now();
  button.click();
  await new Promise(requestAnimationFrame);
  return performance.now() - begun;
}
"""
_INSERT = """
async html => {
  document.body.innerHTML = '';
  const begun = performance.now(), pane = document.createElement('div');
  pane.innerHTML = html;
  document.body.appendChild(pane);
  for (const dead of pane.querySelectorAll('script')) {
    const live = document.createElement('script');
    live.textContent = dead.textContent;
    dead.replaceWith(live);
  }
  while (pane.firstElementChild.dataset.fnState !== 'drawn') {
    if (performance.now() > begun + 60000) throw new Error('the table was not drawn in 60 s');
    await new Promise(done => setTimeout(done, 1));
  }
  await new Promise(requestAnimationFrame);
  return performance.now() - begun;
}
"""
_FILTER = """
async words => {
  const field = document.querySelector('.fnv-table input[type=search]');
  const begun = performance.now();
  field.value = words;
  field.dispatchEvent(new Event('input'));
  await new Promise(requestAnimationFrame);
  return performance.now() - begun;
}
"""
_CHOOSE = """
async place => {
  const cell = document.querySelectorAll('.fne-cell')[place], echo = document.querySelector('.echo');
  const before = echo.textContent, box = cell.getBoundingClientRect();
  const at = { clientX: box.left + 4, clientY: box.top + 6, bubbles: true, pointerId: 1 };
  const begun = performance.timeOrigin + performance.now();
  cell.closest('.fne-sequence').setPointerCapture = () => undefined;
  cell.dispatchEvent(new PointerEvent('pointerdown', at));
  cell.dispatchEvent(new PointerEvent('pointerup', at));
  while (echo.textContent === before) {
    if (performance.timeOrigin + performance.now() > begun + 60000) throw new Error('no answer in 60 s');
    await new Promise(done => setTimeout(done, 1));
  }
  return Number(echo.textContent) - begun;
}
"""


def launch(playwright: Playwright) -> Browser:
    """Launch Chromium without a graphics card, as on a build machine, where it is slower than on a user's."""
    path = os.environ.get("FOLDNOTE_CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
    return playwright.chromium.launch(executable_path=path, args=list(_ARGUMENTS))


def write_structure(residues: int, per_chain: int = 300) -> str:
    """Write a PDB file of parallel helices: complete residues, realistic noise, pLDDT as B-factors."""
    rng = random.Random(7)
    lines = []
    for index in range(residues):
        chain, place = divmod(index, per_chain)
        name = chr(ord("A") + chain) if chain < 26 else chr(ord("a") + chain - 26)
        bundle, step = divmod(place, 25)
        x0, y0 = 12.0 * (bundle % 4) + 60.0 * (chain % 6), 12.0 * (bundle // 4) + 45.0 * (chain // 6)
        plddt = 90 - 25 * abs(math.sin(place / 40)) + rng.uniform(-3, 3)
        for atom, radius, turn, rise in _ATOMS:
            angle = math.radians(100 * step + turn)
            x, y = x0 + radius * math.cos(angle), y0 + radius * math.sin(angle)
            z = 1.5 * step + rise
            x, y, z = (value + rng.gauss(0, 0.12) for value in (x, y, z))
            lines.append(
                f"ATOM  {len(lines) % 99999 + 1:5d}  {atom:<3s} LEU {name}{place + 1:4d}    "
                f"{x:8.3f}{y:8.3f}{z:8.3f}  1.00{plddt:6.2f}           {atom[0]}  "
            )
    return "\n".join([*lines, "END", ""])


def write_plain_page(path: Path, html: str, library: str) -> Path:
    """Write a page with a peer's HTML and 3Dmol.js."""
    path.write_text(
        f"<!doctype html><meta charset=utf-8><body><script>{library}</script>"
        f"<script>window.fnLoaded=performance.now();window.$3Dmolpromise=Promise.resolve()</script>{html}",
        "utf-8",
    )
    return path


def write_molstar_page(path: Path, text: str) -> Path:
    """Write a page beside the unpacked npm package of Mol*, which draws a structure in PDB format."""
    path.write_text(
        "<!doctype html><meta charset=utf-8><body>"
        '<div id=app style="position:relative;width:640px;height:480px"></div>'
        '<script src="package/build/viewer/molstar.js"></script>'
        f"<script>window.fnLoaded = performance.now(); const text = {json.dumps(text)};"
        f"{_DRAW_MOLSTAR}</script>",
        "utf-8",
    )
    return path


def molstar_picture_ms(browser: Browser, path: Path) -> float:
    """Return the milliseconds from loading Mol* to its first picture that can be read back."""
    page = open_page(browser, path)
    page.wait_for_function("window.fnDrawn !== undefined")
    taken: float = page.evaluate("window.fnDrawn - window.fnLoaded")
    page.close()
    return taken


def mark_loaded(path: Path) -> Path:
    """Record on one of our pages when its library has loaded."""
    text = path.read_text("utf-8")
    path.write_text(
        text.replace("</head>", "<script>window.fnLoaded=performance.now()</script></head>", 1), "utf-8"
    )
    return path


def open_page(browser: Browser, path: Path) -> Page:
    """Open a page that counts lost WebGL contexts."""
    page = browser.new_page(viewport={"width": 1300, "height": 900})
    page.set_default_timeout(60_000)
    page.add_init_script(WATCH)
    page.goto(path.resolve().as_uri(), wait_until="commit")
    return page


def first_picture_ms(browser: Browser, path: Path) -> float:
    """Return the milliseconds from loading 3Dmol.js to the first picture that can be read back.

    Raises:
        playwright.sync_api.Error: the view reports that it cannot be drawn, or takes over a minute.
    """
    page = open_page(browser, path)
    page.wait_for_function("window.fnLoaded !== undefined")
    taken: float = page.evaluate(_UNTIL_SEEN, _LIMIT_MS)
    page.close()
    return taken


def walk_through(browser: Browser, path: Path) -> dict[str, int]:
    """Scroll twice through a page; count contexts ``lost``, ``most`` alive, ``views`` and ``blank`` ones."""
    page = open_page(browser, path)
    page.wait_for_load_state()
    found: dict[str, int] = page.evaluate(_THROUGH)
    states = page.locator(".fnv-view").evaluate_all("views => views.map(view => view.dataset.fnState || '')")
    page.close()
    return found | {"views": len(states), "blank": sum(s not in ("drawn", "asleep") for s in states)}


def choose_ms(page: Page, place: int) -> float:
    """Return the milliseconds from choosing a residue in the explorer's sequence to the call in Python."""
    page.locator(".fne-cell").nth(place).scroll_into_view_if_needed()
    page.wait_for_timeout(1000)
    taken: float = page.evaluate(_CHOOSE, place)
    return taken


def drawn_pixels(page: Page, picture: bytes) -> int:
    """Count the pixels of a picture that differ from its first one."""
    count: int = page.evaluate(_DARK, f"data:image/png;base64,{base64.b64encode(picture).decode('ascii')}")
    return count


def insert_ms(browser: Browser, html: str) -> list[float]:
    """Return the milliseconds to draw a table's HTML inserted as by a tab: once, and four times more."""
    page = browser.new_page(viewport={"width": 1300, "height": 900})
    taken = [float(page.evaluate(_INSERT, html)) for _ in range(5)]
    page.close()
    return taken


def time_table(browser: Browser, path: Path) -> dict[str, Any]:
    """Return the milliseconds to sort a table by number and text and to filter it, and what it ``says``."""
    page = open_page(browser, path)
    page.wait_for_selector(".fnv-table[data-fn-state=drawn]")
    page.evaluate(_SORT, 1)
    found = {
        "number": page.evaluate(_SORT, 2),
        "text": page.evaluate(_SORT, 0),
        "filter": page.evaluate(_FILTER, "model_99"),
        "says": page.locator(".fnv-table .fnt-quiet").all_inner_texts(),
    }
    page.close()
    return found
