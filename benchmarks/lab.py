"""The cost of foldnote in JupyterLab: its start, JavaScript, ten thousand jobs, and requests to the service.

Figures are compared with limits and with JupyterLab alone, jupyter-scheduler and dask-labextension, which
also show jobs, in the same run; they are installed into a separate environment if possible. Needs Chromium
and the test dependencies, as the browser tests do. On a busy machine only the ratios are meaningful. A full
run takes twelve minutes; ``--parts`` names what is measured, such as ``--parts idle``, and starts only the
servers for it.
"""

from __future__ import annotations

import argparse
import math
import os
import shutil
import statistics
import tempfile
import time
from collections.abc import Callable, Mapping
from itertools import accumulate
from pathlib import Path

from _lab_frames import FRAME_MS, LONG_MS, median_ms, scroll_empty
from _lab_pace import CountedService, counted
from _lab_page import (
    JOBS,
    Painted,
    Requests,
    Start,
    count_javascript,
    measure_code,
    measure_page,
    open_page,
    paint_ours,
    paint_scheduler,
)
from _lab_servers import Extension, LabPage, OneExtensionLab, install, version_of
from chromium_features import LEFT_OUT
from playwright.sync_api import Browser, sync_playwright

STARTS = 36
"""Enough that the error of the median difference is smaller than the limit."""
PROFILED = 9
"""Starts with a profiler, which separates the code of an extension from that of JupyterLab."""
PAGES = 4
SETTLING_S = 30.0
"""Pause in which the poller's rate allowance, used up by opening pages, recovers."""
LETTING_GO_S = 45.0
UNSEEN_S = 30.0
CHANGES = 3
TURN_S = 20.0
ALONE, OURS = "JupyterLab alone", "foldnote"
SCHEDULER = "jupyter-scheduler"
_WATCH = """
name => {
  const seen = {};
  window.seenAt = seen;
  setInterval(() => {
    const word = document.querySelector(`[data-job="${name}"] .fn-JobRow-word`)?.textContent;
    if (word) { seen[word] ??= Date.now(); }
  }, 10);
}
"""


def show(what: str, figure: float, limit: float, unit: str, more: str = "") -> None:
    """Print a figure, its limit, and the ratio of the two in one line."""
    print(
        f"{what:58} {figure:9.4g} {unit:8} limit {limit:<6.4g} ratio {figure / limit:.2f}  {more}", flush=True
    )


def beside(peer: str, figure: float, ours: float, unit: str, more: str = "") -> None:
    """Print a peer's figure below ours, and its ratio to ours."""
    ratio = f"{figure / ours:.2f} times ours" if ours > 0 else "ours is none"
    print(f"    {peer:54} {figure:9.4g} {unit:8} {ratio}  {more}", flush=True)


class Labs:
    """The servers, each with one extension; each is started when it is first used."""

    def __init__(
        self, folder: Path, service: CountedService, extensions: Mapping[str, Extension], starts: int
    ) -> None:
        """Start nothing yet; measure ``starts`` starts of a page on each server."""
        self.extensions, self.starts = extensions, starts
        self._folder, self._service = folder, service
        self._running: dict[str, OneExtensionLab] = {}

    def server(self, name: str) -> OneExtensionLab:
        """Return the server with this extension, starting it if needed."""
        if name not in self._running:
            more = self._service.environment if name == OURS else {}
            folder = self._folder / str(len(self._running))
            self._running[name] = OneExtensionLab(folder, self.extensions[name], more)
            self._running[name].start()
        return self._running[name]

    def stop(self) -> None:
        """Stop the running servers."""
        for server in self._running.values():
            server.stop()

    def peers(self) -> list[str]:
        """Return the names of the other extensions that show jobs."""
        return [name for name in self.extensions if name not in (ALONE, OURS)]


def measure_start(browser: Browser, labs: Labs, _: CountedService) -> None:
    """Measure starts alternately, so that other load affects all; compare each with that of JupyterLab alone.

    Wall time is what a user waits for; the processor time of the page's main thread varies less between
    starts when other programs run.
    """
    servers = {name: labs.server(name) for name in labs.extensions}
    for server in servers.values():
        measure_page(browser, server)  # fills the server's caches
    starts: dict[str, list[Start]] = {name: [] for name in servers}
    for turn in range(labs.starts):
        names = list(servers)
        for name in names[turn % len(names) :] + names[: turn % len(names)]:
            starts[name].append(measure_page(browser, servers[name]))
    times = {name: [each.ms for each in some] for name, some in starts.items()}
    later = _compare_starts("until its layout is restored", times)
    delay = statistics.median(later[OURS])
    show("later with foldnote, median of the differences", delay, 50, "ms", _spread(later[OURS]))
    for name in labs.peers():
        beside(name, statistics.median(later[name]), delay, "ms", _spread(later[name]))
    cpu_times = {name: [each.cpu_ms for each in some] for name, some in starts.items()}
    more = _compare_starts("processor time until then", cpu_times)
    for name, each in more.items():
        beside(
            f"more with {name}", statistics.median(each), statistics.median(more[OURS]), "ms", _spread(each)
        )
    in_code = {
        name: sorted(measure_code(browser, labs.server(name), labs.extensions[name]) for _ in range(PROFILED))
        for name in (OURS, *labs.peers())
    }
    for name, each in in_code.items():
        span = f"({each[0]:.0f} to {each[-1]:.0f} in {PROFILED} starts)"
        ours = statistics.median(in_code[OURS])
        beside(f"of it in code of {name}, by a profiler", statistics.median(each), ours, "ms", span)


def _compare_starts(what: str, times: dict[str, list[float]]) -> dict[str, list[float]]:
    """Print the times of JupyterLab alone; return how much longer those with an extension took."""
    alone, title = times.pop(ALONE), f"JupyterLab alone, {what}"
    print(f"{title:58} {statistics.median(alone):9.4g} ms       {_spread(alone)}", flush=True)
    return {
        name: [with_it - without for with_it, without in zip(each, alone, strict=True)]
        for name, each in times.items()
    }


def _spread(times: list[float]) -> str:
    """Format the quartiles, and the distribution-free 95 % confidence interval of the median."""
    low, _, high = statistics.quantiles(times, n=4)
    count, ranked = len(times), sorted(times)
    chances = accumulate(math.comb(count, below) / 2**count for below in range(count))
    rank = sum(chance <= 0.025 for chance in chances) - 1
    median = f"median within {ranked[rank]:.0f} to {ranked[-1 - rank]:.0f}" if rank >= 0 else "too few"
    return f"(half of {count} within {low:.0f} to {high:.0f}; {median})"


def measure_javascript(browser: Browser, labs: Labs, _: CountedService) -> None:
    """Measure the JavaScript that is loaded at the start."""
    pages = {name: open_page(browser, labs.server(name)) for name in (OURS, *labs.peers())}
    loaded = {name: count_javascript(page.page, labs.extensions[name]) for name, page in pages.items()}
    show("JavaScript loaded at the start, gzipped", loaded[OURS][0] / 1000, 60, "kB")
    for name in labs.peers():
        beside(name, loaded[name][0] / 1000, loaded[OURS][0] / 1000, "kB", f"{loaded[name][1]} files")
    has_3d = pages[OURS].page.evaluate("window.$3Dmol !== undefined")
    print(f"{'3Dmol.js at the start':58} {'loaded' if has_3d else 'not loaded'}")
    for page in pages.values():
        page.page.context.close()


def measure_paint(browser: Browser, labs: Labs, _: CountedService) -> None:
    """Measure painting and scrolling ten thousand jobs."""
    shown = [name for name in labs.peers() if name == SCHEDULER]
    pages = {name: open_page(browser, labs.server(name)) for name in (OURS, *shown)}
    ours = paint_ours(browser, pages[OURS])
    _show_painted(ours, browser)
    if SCHEDULER in pages:
        theirs = paint_scheduler(pages[SCHEDULER], labs.extensions[SCHEDULER])
        beside(
            SCHEDULER,
            theirs.ms,
            ours.ms,
            "ms",
            f"{theirs.rows} rows of {JOBS:,}; the others on further pages",
        )
    print("    dask-labextension shows clusters, and has no list of jobs")
    for page in pages.values():
        page.page.context.close()


def _show_painted(ours: Painted, browser: Browser) -> None:
    show(f"{JOBS:,} jobs, from their answer to the picture", ours.ms, 300, "ms")
    show("    rows in the document", ours.rows, 100, "rows")
    frames, empty = ours.frames, scroll_empty(browser)
    if frames is not None:
        show("one frame while scrolling through them, median", median_ms(frames.drawn), FRAME_MS, "ms")
        print(f"    foldnote:      {frames.line()}")
        print(f"    an empty page: {empty.line()}")
        print(f"    (50, 95 and 99 of 100 frames take no longer; long ones take over {LONG_MS:.0f} ms)")


def measure_pace(browser: Browser, labs: Labs, service: CountedService) -> None:
    """Count requests while jobs run, and measure when changes become visible."""
    pages = [open_page(browser, labs.server(OURS)) for _ in range(PAGES)]
    for page in pages:
        page.show_sidebar("jobs", 400)
    requests = Requests()
    requests.watch(OURS, pages[0].page, labs.extensions[OURS])
    others = {name: _open_panel(browser, labs, name, requests) for name in labs.peers()}
    _wait(pages[0], SETTLING_S)
    before = service.asked
    requests.begin()
    seen = [each for number in range(CHANGES) for each in _see(pages, service, number)]
    questions = service.asked - before
    asked = questions.total() * 60 / (CHANGES * TURN_S)
    which = ", ".join(f"{count} {path}" for path, count in questions.most_common())
    show(f"questions to the service a minute, {PAGES} pages, {CHANGES} jobs", asked, 12, "/min", f"({which})")
    per_minute = requests.per_minute()
    print(f"    (a page asks its Jupyter server {per_minute[OURS]:.1f} times a minute)")
    for name in labs.peers():
        beside(f"{name}, nothing running, page to server", per_minute[name], asked, "/min")
    title = f"until every page shows a change of state, median of {len(seen)}"
    show(title, statistics.median(seen), 1, "s", f"(the slowest {max(seen):.2f} s)")
    for page in (*pages, *others.values()):
        page.page.context.close()


def measure_idle(browser: Browser, labs: Labs, service: CountedService) -> None:
    """Count requests while no panel is visible and no job runs, after a job was followed to its end."""
    page = open_page(browser, labs.server(OURS))
    page.show_sidebar("jobs", 400)
    name = "before-idle.sleep-2"
    page.page.evaluate(_WATCH, name)
    service.submit(name)
    page.page.wait_for_function("window.seenAt.Complete")
    page.execute("application:toggle-left-area")
    _wait(page, LETTING_GO_S)
    before = service.asked
    _wait(page, UNSEEN_S)
    title = f"questions in {UNSEEN_S:.0f} s, hidden and idle"
    print(f"{title:58} {(service.asked - before).total():9} limit 0", flush=True)
    page.page.context.close()


def _wait(page: LabPage, passed_s: float) -> None:
    page.page.wait_for_timeout(passed_s * 1000)


def _open_panel(browser: Browser, labs: Labs, name: str, requests: Requests) -> LabPage:
    """Open a page of a peer with its panel visible."""
    extension = labs.extensions[name]
    page = open_page(browser, labs.server(name))
    requests.watch(name, page.page, extension)
    if ":" in extension.panel:
        page.execute(extension.panel)
    else:
        page.page.evaluate("id => window.jupyterapp.shell.activateById(id)", extension.panel)
    return page


def _see(pages: list[LabPage], service: CountedService, number: int) -> list[float]:
    """Return the seconds until the last page shows the job as running and as complete; takes ``TURN_S``."""
    name, begun = f"change-{number}.sleep-10", time.monotonic()
    for page in pages:
        page.page.evaluate(_WATCH, name)
    service.submit(name)
    late = []
    for word, moment in (("Running", "started"), ("Complete", "completed")):
        seen = [page.page.wait_for_function(f"window.seenAt[{word!r}]").json_value() for page in pages]
        late.append(float((max(seen) - service.moment(name, moment)) / 1000))
    _wait(pages[0], max(0.0, TURN_S - (time.monotonic() - begun)))
    return late


PARTS: Mapping[str, Callable[[Browser, Labs, CountedService], None]] = {
    "start": measure_start,
    "javascript": measure_javascript,
    "paint": measure_paint,
    "pace": measure_pace,
    "idle": measure_idle,
}


def main() -> None:
    """Run the measurements that were chosen."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=list(PARTS))
    parser.add_argument("--starts", type=int, default=STARTS, help="starts of each (default: %(default)s)")
    parser.add_argument("--alone", action="store_true", help="without the peers, where starts are measured")
    chosen = parser.parse_args()
    extensions = install()
    if chosen.alone:
        extensions = {name: extensions[name] for name in (ALONE, OURS)}
    versions = ", ".join(
        f"{each.package} {version_of(each.package)}" for each in extensions.values() if each.package
    )
    print(f"{os.cpu_count()} processors, {os.getloadavg()[0]:.1f} programs running on them; {versions}")
    program = os.environ.get("FOLDNOTE_CHROMIUM") or shutil.which("chromium")
    with tempfile.TemporaryDirectory() as place, sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=program, args=["--no-sandbox", "--disable-gpu", LEFT_OUT]
        )
        with counted(Path(place) / "service") as service:
            labs = Labs(Path(place), service, extensions, chosen.starts)
            try:
                for name in chosen.parts:
                    PARTS[name](browser, labs, service)
            finally:
                labs.stop()
        browser.close()


if __name__ == "__main__":
    main()
