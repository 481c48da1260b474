"""Measure how smoothly a list scrolls: the times between frames, by the page's clock and by the browser's.

``requestAnimationFrame`` fires when the page may draw; Chromium's trace records when a frame was presented or
dropped. An empty page that scrolls in the same way shows the limit of the machine.
"""

from __future__ import annotations

import json
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from playwright.sync_api import Browser, Page

FRAME_MS = 1000 / 60
LONG_MS = 1.5 * FRAME_MS
_STEP_PX = 120
_STEPS = 240
_CATEGORIES = ["-*", "disabled-by-default-devtools.timeline.frame"]
_SCROLL = """
async ([selector, step, steps]) => {
  const list = document.querySelector(selector);
  list.scrollTop = 0;
  const next = () => new Promise(requestAnimationFrame);
  for (let index = 0; index < 20; index += 1) { await next(); }
  const frames = [];
  let last = await next();
  for (let index = 0; index < steps; index += 1) {
    list.scrollTop += step;
    const now = await next();
    frames.push(now - last);
    last = now;
  }
  return frames;
}
"""
_EMPTY = (
    "<div id='list' style='height: 900px; width: 400px; overflow: auto'>"
    "<div style='height: 470000px'></div></div>"
)


@dataclass(frozen=True)
class Frames:
    """Milliseconds between frames while a list scrolls.

    Attributes:
        asked: between animation frames of the page.
        drawn: between frames that the browser presented.
        dropped: number of dropped frames.
    """

    asked: tuple[float, ...]
    drawn: tuple[float, ...]
    dropped: int

    def line(self) -> str:
        """Format the figures in one line."""
        return (
            f"{_shares(self.asked)} by the page, {_shares(self.drawn)} by the browser; "
            f"of {len(self.drawn)}, {sum(each > LONG_MS for each in self.drawn)} long, {self.dropped} dropped"
        )


def median_ms(times: Sequence[float]) -> float:
    """Return the median; 0 without measurements."""
    return statistics.median(times) if times else 0.0


def share_ms(times: Sequence[float], fraction: float) -> float:
    """Return the quantile ``fraction`` of the times."""
    return sorted(times)[min(len(times) - 1, int(fraction * len(times)))] if times else 0.0


def scroll(browser: Browser, page: Page, selector: str) -> Frames:
    """Scroll a list by 120 pixels per frame, like a fast mouse wheel, from its top over about 600 rows."""
    page.bring_to_front()
    browser.start_tracing(page=page, categories=_CATEGORIES)
    asked: list[float] = page.evaluate(_SCROLL, [selector, _STEP_PX, _STEPS])
    events = json.loads(browser.stop_tracing())["traceEvents"]
    at = sorted(event["ts"] / 1000 for event in events if event["name"] == "DrawFrame")
    drawn = [now - before for before, now in pairwise(at)][-len(asked) :]
    dropped = sum(event["name"] == "DroppedFrame" for event in events)
    return Frames(tuple(asked), tuple(drawn), dropped)


def scroll_empty(browser: Browser) -> Frames:
    """Scroll an otherwise empty page in the same way."""
    page = browser.new_page()
    page.set_content(_EMPTY)
    try:
        return scroll(browser, page, "#list")
    finally:
        page.close()


def _shares(times: Sequence[float]) -> str:
    return " / ".join(f"{share_ms(times, fraction):.1f}" for fraction in (0.5, 0.95, 0.99)) + " ms"
