"""Find faults of a static page on a phone and on a screen, in light and dark."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from lab_server import ROOT
from patience import PATIENCE_MS
from playwright.sync_api import Browser, Page

WIDTHS = (400, 1400)
_AXE = ROOT / "node_modules" / "axe-core" / "axe.min.js"
# The style sheets of a page opened from a file cannot be read by scripts.
_FAULTS = """
async () => (await window.axe.run(document, {preload: false})).violations
  .flatMap(rule => rule.nodes.map(node => `${rule.id}: ${node.failureSummary} ${node.html.slice(0, 300)}`))
"""
# Elements that extend beyond the page, unless a scroll container or intended clipping holds them.
_TOO_WIDE = """
() => {
  const width = document.documentElement.clientWidth;
  const isContained = node => {
    for (let box = node.parentElement; box && box !== document.body; box = box.parentElement) {
      if (box.scrollWidth > box.clientWidth && getComputedStyle(box).overflowX !== 'visible') return true;
    }
    return false;
  };
  const wide = [...document.querySelectorAll('article *, main *')].filter(node => {
    const box = node.getBoundingClientRect();
    return box.width > 1 && box.height > 1 && box.right > width + 1 && !isContained(node);
  });
  const scrolled = document.documentElement.scrollWidth - width;
  return [...(scrolled > 0 ? [`the page is ${scrolled} px too wide`] : []),
          ...wide.map(node => `beyond the page: ${node.outerHTML.slice(0, 200)}`)];
}
"""


def find_page_faults(chromium: Browser, pages: Sequence[Path]) -> list[str]:
    """Return axe-core's findings, script errors, requests to other machines, and elements wider than the page."""
    found: list[str] = []
    for width in WIDTHS:
        found += _look_at_all(chromium, pages, width)
    return found


def _look_at_all(chromium: Browser, pages: Sequence[Path], width: int) -> list[str]:
    found: list[str] = []
    context = chromium.new_context(viewport={"width": width, "height": 900}, reduced_motion="reduce")
    context.set_default_timeout(PATIENCE_MS)
    page = context.new_page()
    page.on("pageerror", lambda error: found.append(f"{page.url}: {error}"))
    page.on("request", lambda asked: found.extend(_name_outside(page.url, asked.url)))
    for path in pages:
        page.goto(path.as_uri())
        page.evaluate(_AXE.read_text())
        found += [f"{path.name}, {width} px, {fault}" for fault in _look(page)]
    context.close()
    return found


def _name_outside(page: str, address: str) -> list[str]:
    return [] if address.startswith(("file:", "data:", "blob:")) else [f"{page} asks for {address}"]


def _look(page: Page) -> list[str]:
    found = []
    for theme in ("light", "dark"):
        page.emulate_media(color_scheme=theme)
        page.evaluate("() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
        found += [f"{theme}: {fault}" for fault in [*page.evaluate(_FAULTS), *page.evaluate(_TOO_WIDE)]]
    return found
