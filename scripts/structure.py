"""Report the package's structure: rooms, import cycles, folders, modules with one importer, a job's path.

``python scripts/structure.py [ROOT]`` reads ``ROOT/src/foldnote``; ROOT is this repository, or a work tree of another
commit for comparison. The last part submits a job to an embedded service with the probe engine, and counts the files
and functions of foldnote that run in the client when a form is submitted, the job polled and its result drawn.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from contextlib import redirect_stdout
from graphlib import CycleError, TopologicalSorter
from io import StringIO
from pathlib import Path
from types import FrameType
from typing import Any

HERE = Path(__file__).parent.parent
LARGEST_FOLDER = 12
NOT_FUNCTIONS = {"<module>", "<genexpr>", "<listcomp>", "<dictcomp>", "<setcomp>"}
SEQUENCE = "EVQLVESGGGLVQPGGSLRLSCAASGFNIKDTYIHWVRQAPGKGLEWVARIYPTNGYTRYADSVKGRFTISADTSKNTAYLQMNSLRAEDTAVYYCSRWGGDGFYAMDYWGQGTLVTVSS"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("root", nargs="?", type=Path, default=HERE, help="a work tree (default: this one)")
    parser.add_argument("--no-job", action="store_true", help="leave out the traced job")
    parser.add_argument("--trace", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    root = options.root.resolve()
    if options.trace:
        trace_job(root)
        return
    package = root / "src/foldnote"
    print_rooms(package)
    print_folders(package)
    print_imports(root)
    if not options.no_job:
        sys.stdout.flush()
        run_traced(root)


def print_rooms(package: Path) -> None:
    rooms: dict[str, list[int]] = defaultdict(list)
    for path in package.rglob("*.py"):
        parts = path.relative_to(package).parts
        rooms[parts[0] if len(parts) > 1 else "(top)"].append(len(path.read_text().splitlines()))
    print(f"{'room':10}{'files':>7}{'lines':>8}{'largest':>9}")
    for room, lines in sorted(rooms.items()):
        print(f"{room:10}{len(lines):7}{sum(lines):8}{max(lines):9}")
    everything = [number for lines in rooms.values() for number in lines]
    print(f"{'all':10}{len(everything):7}{sum(everything):8}{max(everything):9}")


def print_folders(package: Path) -> None:
    folders = Counter(path.parent for path in package.rglob("*.py") if path.name != "__init__.py")
    large = [(number, folder) for folder, number in folders.most_common() if number > LARGEST_FOLDER]
    print(f"\nfolders with more than {LARGEST_FOLDER} modules: {len(large)}")
    for number, folder in large:
        print(f"  {number:3}  {folder.relative_to(package)}")


def print_imports(root: Path) -> None:
    import grimp  # installed with import-linter

    sys.path.insert(0, str(root / "src"))
    graph = grimp.build_graph("foldnote", exclude_type_checking_imports=True, cache_dir=None)
    imports = {module: graph.find_modules_directly_imported_by(module) for module in graph.modules}
    cycles = find_cycles(imports)
    print(f"\nimport cycles: {len(cycles)}")
    for cycle in cycles:
        print("  " + " → ".join(cycle))
    importers = {module: graph.find_modules_that_directly_import(module) for module in graph.modules}
    single = sorted(module for module, users in importers.items() if len(users) == 1)
    siblings = [module for module in single if parent(module) == parent(*importers[module])]
    print(f"\nmodules with exactly one importer: {len(single)}, a sibling for {len(siblings)} of them")
    for module in siblings:
        print(f"  {module} ← {next(iter(importers[module])).rpartition('.')[2]}")


def parent(module: str) -> str:
    return module.rpartition(".")[0]


def find_cycles(imports: dict[str, Iterable[str]]) -> list[list[str]]:
    """Yield import cycles in turn, each after removing the last import of those before."""
    left = {module: sorted(used) for module, used in sorted(imports.items())}
    cycles: list[list[str]] = []
    while True:
        try:
            TopologicalSorter(left).prepare()
        except CycleError as exc:
            cycle: list[str] = exc.args[1][::-1]  # from importer to imported
            cycles.append(cycle)
            left[cycle[0]].remove(cycle[1])
        else:
            return cycles


def run_traced(root: Path) -> None:
    """Trace in a separate process, which imports foldnote from ``root``."""
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder) / "home"
        environment = os.environ | {
            "PYTHONPATH": str(root / "src"),
            "FOLDNOTE_HOME": str(home),
            "FOLDNOTE_ENGINE_PATH": str(root / "tests/engines"),
            "FOLDNOTE_SERVICE_IDLE_STOP_S": "5",
        }
        subprocess.run(
            [sys.executable, __file__, str(root), "--trace"], env=environment, check=True, cwd=folder
        )
        runtime = next(home.rglob("service.json"), None)
        if runtime is not None:
            os.kill(json.loads(runtime.read_text())["pid"], 15)
            while runtime.exists():
                time.sleep(0.1)


class Trace:
    """Record files and functions of foldnote that run during the block, and calls between rooms."""

    def __init__(self, package: Path) -> None:
        self._package = f"{package}{os.sep}"
        self.functions: set[tuple[str, str]] = set()
        self.crossings: Counter[tuple[str, str]] = Counter()

    def __enter__(self) -> Trace:
        threading.setprofile(self._note)
        sys.setprofile(self._note)
        return self

    def __exit__(self, *_: object) -> None:
        sys.setprofile(None)
        threading.setprofile(None)

    def _note(self, frame: FrameType, event: str, _: object) -> None:
        name = self._find(frame)
        if event != "call" or name is None or frame.f_code.co_name in NOT_FUNCTIONS:
            return
        self.functions.add((name, frame.f_code.co_qualname))
        caller = frame.f_back
        while caller is not None and self._find(caller) is None:
            caller = caller.f_back
        if caller is not None:
            between = Path(self._find(caller) or "").parts[0], Path(name).parts[0]
            self.crossings[between] += between[0] != between[1]

    def _find(self, frame: FrameType) -> str | None:
        path = frame.f_code.co_filename
        return path[len(self._package) :] if path.startswith(self._package) else None

    def describe(self, what: str) -> str:
        files = {name for name, _ in self.functions}
        crossings = ", ".join(
            f"{one} → {other} {number}" for (one, other), number in self.crossings.most_common(4) if number
        )
        return f"  {what:28}{len(files):5} files{len(self.functions):6} functions   {crossings}"


def trace_job(root: Path) -> None:
    """Take every step twice: the first time loads modules, the second is counted."""
    with redirect_stdout(StringIO()):
        walk(root, lambda _, act: act())
    print("\nthe way of a job, in the client, once everything is loaded")
    walk(root, lambda what, act: measure(root / "src/foldnote", what, act))


def walk(root: Path, step: Callable[[str, Callable[[], Any]], Any]) -> None:
    from IPython.core.interactiveshell import InteractiveShell

    draw = InteractiveShell.instance().display_formatter.format  # as a cell does with its last value
    import foldnote as fn

    assert Path(fn.__file__).parent == root / "src/foldnote", fn.__file__
    name = f"trace{time.time_ns()}.structure"  # the probe engine writes a structure for this name
    form = fn.form("anarci", job_name=name, sequence=SEQUENCE)
    job = step("submit from a form", form.submit)
    step("look at the job", lambda: fn.job(name))
    job.wait()
    result = step("fetch the result", job.result)
    step("draw the result", lambda: draw(result))
    path = root / "tests/engines/data/t4-lysozyme-l99a.pdb"
    step("draw a PDB file", lambda: draw(fn.view(str(path))))


def measure(package: Path, what: str, act: Callable[[], Any]) -> Any:
    with redirect_stdout(StringIO()), Trace(package) as trace:
        outcome = act()
    print(trace.describe(what), flush=True)
    return outcome


if __name__ == "__main__":
    main()
