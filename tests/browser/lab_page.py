"""Drive a page of JupyterLab: open notebooks, run them, read what is shown."""

import json
import os
import re
import time
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from lab_server import ROOT, LabServer
from patience import PATIENCE_S
from playwright.sync_api import BrowserContext, ConsoleMessage, Error, Locator, Page, Request, Route

_PICTURES = os.environ.get("FOLDNOTE_TEST_PICTURES")
_AXE = ROOT / "node_modules" / "axe-core" / "axe.min.js"
_LOCAL = {"127.0.0.1", "localhost", "[::1]", "::1", ""}
_NUMBERS = count(1)
_POLL_MS = 100
"""Playwright checks this in each animation frame by default, which makes the page draw every frame."""
_SLOW_MACHINE = """
const timeout = AbortSignal.timeout.bind(AbortSignal);
AbortSignal.timeout = ms => timeout(ms === 2000 ? ms * SLOWNESS : ms);
"""
"""anywidget throws if a widget takes longer than two seconds to load; ``test_late_widgets`` tests ours in that case."""
_IS_RESTORED = """
() => {
  const app = window.jupyterapp;
  app?.restored.then(() => { app.isRestored = true; });
  return app?.isRestored === true;
}
"""
"""Synchronous: Playwright's ``wait_for_function`` takes a promise for true, whatever it resolves to."""
_ROUND_TRIP = """
() => window.jupyterapp.shell.currentWidget.sessionContext.session.kernel
  .requestExecute({ code: 'pass', silent: true, store_history: false }).done.then(() => null)
"""
_TIDY = """
async () => {
  const { shell } = window.jupyterapp;
  const list = area => { try { return [...shell.widgets(area)]; } catch { return []; } }; // JupyterLab 4.4 lists no 'down'
  const open = ['main', 'down'].flatMap(list);
  // a notebook that is closed while its kernel starts, or the manager of its widgets, is a fault to JupyterLab
  const rest = async ({ sessionContext }) => {
    await sessionContext?.ready;
    for (let round = 0; round < 2; round += 1) {
      const kernel = sessionContext?.session?.kernel;
      if (!kernel || kernel.isDisposed || kernel.status === 'dead') return;
      await kernel.info;
      if (!kernel.supportsSubshells) return;
      await kernel.requestListSubshell({}).done.catch(() => null); // comes after what was asked before
      await new Promise(resolve => setTimeout(resolve, 200));
    }
  };
  await Promise.race([Promise.all(open.map(rest)), new Promise(resolve => setTimeout(resolve, 15000))]);
  for (const each of open) each.dispose();
  shell.collapseLeft();
  shell.collapseRight();
}
"""
_EXECUTE = """
([id, args]) => Promise.race([
  window.jupyterapp.commands.execute(id, args).then(() => null),
  new Promise((_, fail) => setTimeout(() => fail(new Error(`${id} did not end: does a dialog wait?`)), 300000))
])
"""
_LAID_OUT = """
async width => {
  const deadline = Date.now() + 30_000;
  const main = document.querySelector('#main');
  const measure = () => JSON.stringify(Array.from(
    document.querySelectorAll('#main, #jp-main-dock-panel, .jp-Notebook, .jp-OutputArea-output'),
    node => Object.values(node.getBoundingClientRect().toJSON())
  ));
  let last = '', same = 0;
  while (same < 3 && Date.now() < deadline) {
    await new Promise(resolve => setTimeout(resolve, 50));
    await new Promise(requestAnimationFrame);
    const now = measure();
    const isDone = window.innerWidth === width && (!main || Math.abs(main.offsetWidth - width) <= 1);
    same = isDone && now === last ? same + 1 : 0;
    last = now;
  }
}
"""
_FITS = """
async (node, slack) => {
  const deadline = Date.now() + 30_000;
  while (node.scrollWidth > node.clientWidth + slack) {
    if (Date.now() > deadline) return false;
    await new Promise(resolve => setTimeout(resolve, 100));
  }
  return true;
}
"""
_COUNT_PIXELS = """
canvas => {
  const flat = document.createElement('canvas');
  flat.width = canvas.width; flat.height = canvas.height;
  const pen = flat.getContext('2d');
  pen.drawImage(canvas, 0, 0);
  const data = pen.getImageData(0, 0, flat.width, flat.height).data;
  const ground = [data[0], data[1], data[2], data[3]];
  let count = 0;
  const colours = {};
  for (let i = 0; i < data.length; i += 4) {
    const far = Math.abs(data[i] - ground[0]) + Math.abs(data[i+1] - ground[1]) + Math.abs(data[i+2] - ground[2]);
    if (data[i + 3] > 0 && far > 24) {
      count += 1;
      const key = [data[i] >> 5, data[i+1] >> 5, data[i+2] >> 5].join();
      colours[key] = (colours[key] || 0) + 1;
    }
  }
  return { drawn: count, colours: Object.keys(colours).length, all: flat.width * flat.height };
}
"""


def find_place(what: Locator) -> dict[str, float]:
    """Return the box of a visible element in px, once it has stopped moving."""
    deadline, last = time.monotonic() + PATIENCE_S, None
    while time.monotonic() < deadline:
        what.wait_for(state="visible")
        place = what.bounding_box()  # None if it has just been hidden or redrawn
        if place is not None and place == last:
            return dict(place)
        last = place
        what.page.wait_for_timeout(50)
    raise AssertionError(f"{what} does not stop moving")


class LabPage:
    """One page of one JupyterLab.

    Attributes:
        page: the Playwright page, for what this class does not offer.
        server: the server behind it.
        workspace: name of JupyterLab's workspace; each call of ``open`` makes a new one.
        outside: addresses outside this computer that the page requested; each was refused.
        faults: uncaught exceptions of the page, with their stacks.
        complaints: console errors and failed requests, for the messages of failing tests.
    """

    def __init__(self, context: BrowserContext, server: LabServer, slowness: float = 30) -> None:
        """Create a page; the browser reaches only this computer (see ``conftest``).

        anywidget's time limit for widgets is multiplied by ``slowness``, since tests share a machine.
        """
        self.server = server
        self.workspace = ""
        self.outside: list[str] = []
        self.faults: list[str] = []
        self.complaints: list[str] = []
        context.on("request", self._note_outside)
        self.page: Page = context.new_page()
        self.page.add_init_script(_SLOW_MACHINE.replace("SLOWNESS", str(slowness)))
        self.page.on("console", self._note_error)
        self.page.on(
            "requestfailed", lambda request: self.complaints.append(f"{request.url}: {request.failure}")
        )
        self.page.on("pageerror", lambda fault: self.faults.append(fault.stack or str(fault)))

    def close(self) -> None:
        """Close the page and those that it opened, and clear cookies and storage for the next page of the context."""
        context = self.page.context
        context.remove_listener("request", self._note_outside)
        context.clear_cookies()
        context.clear_permissions()
        for page in context.pages:
            if page.url.startswith("http"):
                page.evaluate("() => { localStorage.clear(); sessionStorage.clear(); }")
            page.close()

    def open(self, notebook: str | None = None) -> None:
        """Open JupyterLab in a new workspace, with the notebook if one is given, and wait until it is ready."""
        self.workspace = f"tests-{next(_NUMBERS)}"
        self._load(f"/tree/{notebook}" if notebook else "")
        if notebook:
            self.page.wait_for_selector(".jp-Notebook .jp-Cell")

    def reopen(self, is_saved: Callable[[dict[str, Any]], bool]) -> None:
        """Load the page again as after a restart of the browser, once ``is_saved`` is true of the workspace's data."""
        self.wait_until_saved(is_saved)
        self._load("")

    def wait_until_saved(self, is_saved: Callable[[dict[str, Any]], bool]) -> None:
        """Wait until ``is_saved`` is true of the workspace's data, which JupyterLab saves with a delay."""
        end = time.monotonic() + PATIENCE_S
        while time.monotonic() < end:
            status, body = self.server.request(f"lab/api/workspaces/{self.workspace}")
            if status == 200 and is_saved(json.loads(body)["data"]):
                return
            self.page.wait_for_timeout(200)
        raise AssertionError(f"JupyterLab saved {body[:2000]!r}")

    def _load(self, path: str) -> None:
        self.page.goto(f"{self.server.url}lab/workspaces/{self.workspace}{path}?token={self.server.token}")
        self.page.wait_for_selector("#jupyterlab-splash", state="detached")
        self.page.wait_for_function(_IS_RESTORED, polling=_POLL_MS)

    def turn_to(self, notebook: str) -> None:
        """Show only this notebook without reloading the page; unsaved changes are lost."""
        self.page.evaluate(_TIDY)
        self.execute("docmanager:open", path=notebook)
        self.page.wait_for_selector(".jp-Notebook .jp-Cell")

    def execute(self, command: str, **args: Any) -> None:
        """Execute a command of JupyterLab and wait for it.

        An error gets the page's complaints as a note: where foldnote failed to load, its commands are missing.
        """
        try:
            self.page.evaluate(_EXECUTE, [command, args])
        except Error as fault:
            fault.add_note("\n".join([f"{self.page.url} complained of:", *self.complaints[-20:]]))
            raise

    def wait_for_kernel(self) -> None:
        """Wait until the current notebook's kernel is idle."""
        self.page.wait_for_function(
            "document.querySelector('#jp-main-statusbar')?.textContent.includes('| Idle')",
            polling=_POLL_MS,
        )

    def catch_up(self) -> None:
        """Wait until the kernel has processed the page's messages, and the page the kernel's replies."""
        for _ in range(2):  # a widget sends text typed meanwhile only after the kernel's reply
            self.page.evaluate(_ROUND_TRIP)
            self.page.wait_for_timeout(100)

    def run_all(self) -> None:
        """Run every cell of the current notebook and wait until all have finished."""
        self.wait_for_kernel()
        self.execute("notebook:run-all-cells")

    def run_code(self, *cells: str) -> None:
        """Replace all cells of the current notebook with new code cells, and run them."""
        self.wait_for_kernel()
        self.page.evaluate(
            """cells => {
                 const notebook = window.jupyterapp.shell.currentWidget.content.model.sharedModel;
                 notebook.deleteCellRange(0, notebook.cells.length);
                 notebook.insertCells(0, cells.map(source => ({ cell_type: 'code', source })));
               }""",
            list(cells),
        )
        self.execute("notebook:run-all-cells")

    def save(self) -> None:
        """Save the current notebook."""
        self.execute("docmanager:save")

    def outputs(self) -> list[str]:
        """Return the visible text of every output of the current notebook."""
        return [text.strip() for text in self.page.locator(".jp-OutputArea-output").all_inner_texts()]

    def cells(self) -> list[str]:
        """Return the source of every cell of the current notebook."""
        found: list[str] = self.page.evaluate(
            """() => Array.from(window.jupyterapp.shell.currentWidget.content.widgets)
                     .map(cell => cell.model.sharedModel.getSource())"""
        )
        return found

    def pixels(self, canvas: Locator) -> dict[str, int]:
        """Count the pixels drawn on a WebGL canvas: ``drawn`` of ``all``, in how many ``colours``."""
        canvas.scroll_into_view_if_needed()
        counted: dict[str, int] = canvas.evaluate(_COUNT_PIXELS)
        return counted

    def wait_until_drawn(self, canvas: Locator, *, least: int = 500, tries: int = 40) -> dict[str, int]:
        """Wait until at least ``least`` pixels are drawn; return the last count, even if they are fewer."""
        canvas.wait_for(state="attached")
        counted = self.pixels(canvas)
        while counted["drawn"] < least and tries > 0:
            self.page.wait_for_timeout(250)
            counted, tries = self.pixels(canvas), tries - 1
        return counted

    def set_theme(self, name: str) -> None:
        """Switch to the theme ``light``, ``dark`` or ``dark high contrast``."""
        self.execute("apputils:change-theme", theme=f"JupyterLab {name.title()}")
        is_light = "true" if name == "light" else "false"
        self.page.wait_for_selector(f"body[data-jp-theme-light={is_light}]", state="attached")
        self.page.wait_for_timeout(300)

    def resize(self, width: int, height: int) -> None:
        """Resize the window, and wait until JupyterLab has adjusted its layout."""
        self.page.set_viewport_size({"width": width, "height": height})
        self.page.evaluate(_LAID_OUT, width)

    def fits(self, what: Locator, slack_px: int = 0) -> bool:
        """Return whether ``what`` has no horizontal overflow, after waiting for a layout that is still under way."""
        fits: bool = what.evaluate(_FITS, slack_px)
        return fits

    def show_sidebar(self, view: str = "jobs", width_px: int | None = None) -> Locator:
        """Bring our sidebar to the front at this width, and return it."""
        self.execute(f"foldnote:show-{view}")
        sidebar = self.page.locator("#foldnote-sidebar")
        sidebar.wait_for(state="visible")
        if width_px is not None:
            self._set_width(sidebar, width_px)
        return sidebar

    def choose_member(self, sidebar: Locator, member: str) -> None:
        """Choose a member of the organization. The list of members is read on request only, so it is refreshed first."""
        sidebar.get_by_label("Owner of the jobs").select_option("organization")
        select = sidebar.get_by_label("Member")
        for _ in range(30):
            if select.locator(f"option[value='{member}']").count():
                break
            self.page.wait_for_timeout(1_000)
            sidebar.get_by_role("button", name=re.compile("^(Refresh|Try now)$")).last.click()
        select.select_option(member)

    def picture(self, name: str, what: Locator | None = None) -> None:
        """Save a screenshot of the page or of a part in the folder ``FOLDNOTE_TEST_PICTURES``, if that is set."""
        if _PICTURES:
            (what or self.page).screenshot(path=str(Path(_PICTURES, f"{name}.png")))

    def accessibility_faults(self, selector: str) -> list[str]:
        """Return axe-core's findings below ``selector``, one line each: the rule and the node's HTML."""
        if not self.page.evaluate("typeof window.axe !== 'undefined'"):
            self.page.evaluate(_AXE.read_text())
        found: list[str] = self.page.evaluate(
            """async selector => (await window.axe.run(selector)).violations
                 .flatMap(rule => rule.nodes.map(node => `${rule.id}: ${node.failureSummary} ${node.html}`))""",
            selector,
        )
        return found

    def answer(self, route: str, body: bytes, status: int = 200) -> Callable[[], None]:
        """Answer a route of our server extension with ``body`` from now on, for states that are hard to reach.

        Returns:
            A function that lets the server answer again.
        """
        pattern = re.compile(rf"/foldnote/api/{route}(\?.*)?$")

        def fulfill(request: Route) -> None:
            request.fulfill(status=status, content_type="application/json", body=body)

        self.page.route(pattern, fulfill)
        return lambda: self.page.unroute(pattern, fulfill)

    def _set_width(self, sidebar: Locator, width_px: int) -> None:
        handle = self.page.locator("#jp-main-split-panel > .lm-SplitPanel-handle:visible").first
        box, panel = handle.bounding_box(), sidebar.bounding_box()
        assert box is not None
        assert panel is not None
        middle = box["y"] + box["height"] / 2
        self.page.mouse.move(box["x"] + box["width"] / 2, middle)
        self.page.mouse.down()
        self.page.mouse.move(box["x"] + box["width"] / 2 + width_px - panel["width"], middle, steps=4)
        self.page.mouse.up()
        self.page.wait_for_timeout(200)

    def _note_error(self, message: ConsoleMessage) -> None:
        if message.type == "error":
            self.complaints.append(message.text)

    def _note_outside(self, request: Request) -> None:
        address = urlsplit(request.url)
        if address.scheme not in ("data", "blob") and (address.hostname or "") not in _LOCAL:
            self.outside.append(request.url)
