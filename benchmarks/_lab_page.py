"""Measure what an extension costs a JupyterLab page: JavaScript, start time, painting ten thousand jobs.

``_lab_servers`` provides the servers and extensions; ``lab.py`` prints the figures.
"""

from __future__ import annotations

import gzip
import subprocess
import time
from collections.abc import Mapping
from dataclasses import dataclass

from _lab_frames import Frames, scroll
from _lab_servers import FOLDER, Extension, LabPage, OneExtensionLab
from playwright.sync_api import Browser, Page

JOBS = 10_000
SAMPLED_US = 200
"""Interval between two samples of the profiler."""
_RESTORED = """
let made;
Object.defineProperty(window, 'jupyterapp', {
  configurable: true,
  get: () => made,
  set: app => { made = app; app.restored.then(() => { window.restoredAt = performance.now(); }); }
});
"""
_LOADED = """
pages => performance.getEntriesByType('resource').map(each => each.name.split('?')[0])
  .filter(name => name.endsWith('.js') && pages.some(page => name.includes(`/extensions/${page}/`)))
"""
_PAINT = """
async ([route, command, first]) => {
  const { json, text } = Response.prototype;
  let heard;
  const read = new Promise(done => { heard = done; });
  const wrap = read => async function () {
    const value = await read.call(this);
    if (this.url.includes(route)) { heard(performance.now()); }
    return value;
  };
  Object.assign(Response.prototype, { json: wrap(json), text: wrap(text) });
  void window.jupyterapp.commands.execute(command);
  const from = await read;
  Object.assign(Response.prototype, { json, text });
  while (!document.evaluate(first, document, null, 9, null).singleNodeValue) {
    await new Promise(requestAnimationFrame);
  }
  await new Promise(requestAnimationFrame);
  return performance.now() - from;
}
"""
_FILL = """
from jupyter_scheduler.orm import Job, create_session
with create_session({url!r})() as session:
    session.bulk_save_objects([
        Job(name=f"job-{{n:05}}", status="COMPLETED", runtime_environment_name="python3", output_formats=[],
            input_filename="work.ipynb", create_time=1_760_000_000_000 - n, start_time=1_760_000_000_000 - n)
        for n in range({jobs})
    ])
    session.commit()
"""


@dataclass(frozen=True)
class Start:
    """The start of a JupyterLab page.

    Attributes:
        ms: wall time until JupyterLab reports that its layout is restored.
        cpu_ms: processor time of the page's main thread until shortly after that.
    """

    ms: float
    cpu_ms: float


@dataclass(frozen=True)
class Painted:
    """A painted list of ten thousand jobs.

    Attributes:
        ms: from the response to the painted frame.
        rows: number of rows in the document at that time.
        frames: the times of scrolling; None for a list that shows all its rows at once.
    """

    ms: float
    rows: int
    frames: Frames | None


def open_page(browser: Browser, server: OneExtensionLab) -> LabPage:
    """Open a page in a new context, with an empty cache."""
    page = _make_page(browser, server)
    page.open()
    return page


def _make_page(browser: Browser, server: OneExtensionLab) -> LabPage:
    context = browser.new_context(viewport={"width": 1600, "height": 1000})
    context.set_default_timeout(60_000)
    context.add_init_script(_RESTORED)
    return LabPage(context, server)


def measure_page(browser: Browser, server: OneExtensionLab) -> Start:
    """Start JupyterLab once."""
    page = _make_page(browser, server)
    session = page.page.context.new_cdp_session(page.page)
    session.send("Performance.enable")
    page.open()
    passed = page.page.wait_for_function("window.restoredAt").json_value()
    found = session.send("Performance.getMetrics")["metrics"]
    page.page.context.close()
    return Start(float(passed), next(each["value"] for each in found if each["name"] == "ThreadTime") * 1000)


def measure_code(browser: Browser, server: OneExtensionLab, extension: Extension) -> float:
    """Return the milliseconds that the main thread spent in the extension's code or its callees in one start.

    The sampling profiler slows the thread down, so the time is rather too long than too short.
    """
    page = _make_page(browser, server)
    session = page.page.context.new_cdp_session(page.page)
    session.send("Profiler.enable")
    session.send("Profiler.setSamplingInterval", {"interval": SAMPLED_US})
    session.send("Profiler.start")
    page.open()
    profile = session.send("Profiler.stop")["profile"]
    page.page.context.close()
    paths = [f"/extensions/{name}/" for name in extension.pages]
    nodes = {node["id"]: node for node in profile["nodes"]}
    inside: set[int] = set()
    waiting = [(1, False)]  # node 1 is the root
    while waiting:
        number, is_inside = waiting.pop()
        node = nodes[number]
        is_inside = is_inside or any(path in node["callFrame"]["url"] for path in paths)
        if is_inside:
            inside.add(number)
        waiting += [(child, is_inside) for child in node.get("children", ())]
    times = zip(profile["samples"], profile["timeDeltas"], strict=True)
    return sum(passed for number, passed in times if number in inside) / 1000


def count_javascript(page: Page, extension: Extension) -> tuple[int, int]:
    """Return the gzipped bytes of JavaScript that an extension loads by itself, and the number of files."""
    addresses: list[str] = page.evaluate(_LOADED, list(extension.pages))
    bodies = [page.context.request.get(address).body() for address in sorted(set(addresses))]
    return sum(len(gzip.compress(body, 9)) for body in bodies), len(bodies)


def paint_ours(browser: Browser, page: LabPage) -> Painted:
    """Show ten thousand jobs from one response in our sidebar, then scroll through them."""
    from service_records import jobs_body, make_job

    page.show_sidebar("jobs", 400)
    page.answer("refresh", b"{}")
    page.answer("jobs", jobs_body(*(make_job(f"job-{n:05}", age_s=n) for n in range(JOBS))))
    ms = page.page.evaluate(_PAINT, ["/foldnote/api/jobs", "foldnote:refresh", "//*[@data-job='job-00000']"])
    rows = page.page.locator(".fn-JobRow").count()
    page.page.wait_for_timeout(500)
    return Painted(ms, rows, scroll(browser, page.page, ".fn-JobList"))


def paint_scheduler(page: LabPage, extension: Extension) -> Painted:
    """Show ten thousand jobs from jupyter-scheduler's database, whose list shows some of them at a time."""
    url = f"sqlite:///{page.server.folder / 'data' / 'scheduler.sqlite'}"
    program = [str(FOLDER / "bin" / "python"), "-c", _FILL.format(url=url, jobs=JOBS)]
    subprocess.run(program, check=True, capture_output=True)
    first = "//*[contains(text(), 'job-0')]"
    ms = page.page.evaluate(_PAINT, ["/scheduler/jobs?", extension.panel, first])
    return Painted(ms, page.page.locator(".jp-notebook-jobs-panel:visible tbody tr").count(), None)


class Requests:
    """Count the requests of pages to their Jupyter server for an extension."""

    def __init__(self) -> None:
        """Start without any counts."""
        self._asked: dict[str, int] = {}
        self._begun = time.monotonic()

    def watch(self, name: str, page: Page, extension: Extension) -> None:
        """Count the requests of a page from now on."""
        self._asked[name] = 0

        def note(address: str) -> None:
            if any(route in address for route in extension.routes):
                self._asked[name] += 1

        page.on("request", lambda request: note(request.url))

    def begin(self) -> None:
        """Reset the count."""
        self._asked = dict.fromkeys(self._asked, 0)
        self._begun = time.monotonic()

    def per_minute(self) -> Mapping[str, float]:
        """Return the requests per minute since the last reset."""
        passed_s = time.monotonic() - self._begun
        return {name: count * 60 / passed_s for name, count in self._asked.items()}
