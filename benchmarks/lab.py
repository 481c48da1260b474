"""What the JupyterLab side costs: painting 10,000 jobs, questions to the service, JavaScript, the start.

Each figure stands beside its limit; JupyterLab without the extension is the peer, started in the same run.
Needs Chromium and the test dependencies, as the browser tests do.
"""

from __future__ import annotations

import asyncio
import gzip
import statistics
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT / "tests" / "browser"), str(ROOT / "tests" / "unit" / "lab")]

STARTS = 5
WATCHED_S = 60.0
PAGES = 5
STATIC = ROOT / "src" / "foldnote" / "labextension" / "static"

_PAINT = """
async name => {
  const json = Response.prototype.json;
  const read = new Promise(done => {
    Response.prototype.json = async function () {
      const value = await json.call(this);
      if (this.url.includes('/foldnote/api/jobs')) { done(performance.now()); }
      return value;
    };
  });
  void window.jupyterapp.commands.execute('foldnote:refresh');
  const from = await read;
  Response.prototype.json = json;
  while (!document.querySelector(`[data-job="${name}"]`)) { await new Promise(requestAnimationFrame); }
  await new Promise(requestAnimationFrame);
  return performance.now() - from;
}
"""
_SCROLL = """
async () => {
  const list = document.querySelector('.fn-JobList');
  const frames = [];
  let last = performance.now();
  for (let top = 0; top < 60000; top += 500) {
    list.scrollTop = top;
    await new Promise(requestAnimationFrame);
    frames.push(performance.now() - last);
    last = performance.now();
  }
  return frames.sort((a, b) => a - b)[Math.floor(frames.length / 2)];
}
"""


def show(what: str, figure: float, limit: float, unit: str) -> None:
    """One line: the figure, its limit, and the ratio of the two."""
    print(f"{what:58} {figure:9.2f} {unit:6} limit {limit:g} {unit}  ratio {figure / limit:.2f}")


async def watch_service() -> tuple[int, float]:
    """Questions to the service in a minute while a job runs, and seconds until its end is seen."""
    from lab_fixtures import JobService

    from foldnote.lab.connection import Line
    from foldnote.lab.pace import Pace
    from foldnote.lab.poller import Poller
    from foldnote.service.app import create_app
    from foldnote.service.config import ServiceConfig

    engines = (ROOT / "tests" / "engines",)
    with tempfile.TemporaryDirectory() as folder:
        app = create_app(ServiceConfig(data_dir=Path(folder), engine_paths=engines))
        async with app.router.lifespan_context(app):
            service = JobService(app, app.state.service.local_key)
            poller = Poller(Line(None, service.connect), Pace())
            async with service.client() as client:
                tool = await client.tools.get("anarci")
                example = tool.example_job["settings"]
                await client.jobs.submit(tool, example, job_name=f"long.sleep-{WATCHED_S + 30:.0f}")
                pages = [asyncio.create_task(_look(poller)) for _ in range(PAGES)]
                await asyncio.sleep(5)
                before = service.requests
                await asyncio.sleep(WATCHED_S)
                asked = service.requests - before
                begun = time.monotonic()
                await client.jobs.stop(f"long.sleep-{WATCHED_S + 30:.0f}")
                while b'"Stopped","' not in poller.look().body:
                    await asyncio.sleep(0.02)
                seen_s = time.monotonic() - begun
            for page in pages:
                page.cancel()
            await asyncio.gather(*pages, return_exceptions=True)
            await poller.close()
            return asked, seen_s


async def _look(poller: object) -> None:
    tag = None
    while True:
        answer = await poller.look_later(tag, 25.0)  # type: ignore[attr-defined]
        tag = answer.tag
        await asyncio.sleep(0.25)


def measure_page() -> None:
    """Painting and scrolling 10,000 jobs, and what is loaded before anybody asks for anything."""
    from lab_page import LabPage
    from lab_server import LabServer
    from playwright.sync_api import sync_playwright
    from service_records import jobs_body, make_job

    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as folder:
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox"])
        server = LabServer(Path(folder) / "with", engine_path=ROOT / "tests" / "engines")
        bare = LabServer(Path(folder) / "without", engine_path=ROOT / "tests" / "engines")
        (bare.folder / "share" / "labextensions" / "foldnote").unlink()
        try:
            server.start()
            bare.start()
            page = LabPage(browser.new_context(), server)
            page.open()
            loaded = page.page.evaluate(
                "performance.getEntriesByType('resource').map(each => each.name)"
                ".filter(name => name.includes('/extensions/foldnote/'))"
            )
            names = {url.rpartition("/")[2].partition("?")[0] for url in loaded}
            eager = sum(
                len(gzip.compress((STATIC / name).read_bytes())) for name in names if (STATIC / name).exists()
            )
            show("JavaScript loaded at start, gzipped", eager / 1000, 60, "kB")
            page.show_sidebar("jobs", 400)
            jobs = [make_job(f"job-{index:05}", age_s=index) for index in range(10_000)]
            page.answer("refresh", b"{}")
            page.answer("jobs", jobs_body(*jobs))
            show(
                "10,000 jobs, from their answer to the picture",
                page.page.evaluate(_PAINT, "job-00000"),
                300,
                "ms",
            )
            show(
                "one frame while scrolling through them, median", page.page.evaluate(_SCROLL), 1000 / 60, "ms"
            )
            show("rows in the document", page.page.locator(".fn-JobRow").count(), 100, "rows")
            page.page.context.close()
            starts = {each: [_start_ms(browser, each) for _ in range(STARTS)] for each in (server, bare)}
            with_us, without = (statistics.median(starts[each]) for each in (server, bare))
            print(f"{'JupyterLab until restored, with and without':58} {with_us:9.0f} ms  {without:9.0f} ms")
            show("difference", with_us - without, 50, "ms")
        finally:
            server.stop()
            bare.stop()
            browser.close()


def _start_ms(browser: object, server: object) -> float:
    from lab_page import LabPage

    context = browser.new_context()  # type: ignore[attr-defined]
    page = LabPage(context, server)  # type: ignore[arg-type]
    begun = time.perf_counter()
    page.open()
    passed = (time.perf_counter() - begun) * 1000
    context.close()
    return passed


def main() -> None:
    """Print everything."""
    measure_page()
    asked, seen_s = asyncio.run(watch_service())
    show(f"questions to the service a minute, {PAGES} pages, a job runs", asked * 60 / WATCHED_S, 12, "/min")
    show("until a change of state is seen", seen_s, 1, "s")


if __name__ == "__main__":
    main()
