"""The time of the first form in a fresh interpreter, beside ``import ipywidgets`` alone.

A form counts as painted when its widgets, with a field for each setting of the schema, exist and the state of
each has been serialized as a message, ready to send. The service is queried afterwards. Times are wall and
processor time of one process, from before the first import; both programs alternate, so that other load
affects both, and the ratio is that of the medians. The process checks itself that nothing was imported too
early. ``--kernels`` repeats the measurement in fresh IPython kernels, where the peer finds many of its
imports loaded already, and adds the time until all of the cell's output has arrived.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from jupyter_client.manager import KernelManager

TOOLS = ("abodybuilder", "alphafold", "vina")
LIMIT = 1.5
ABSENT = ("httpx", "pydantic", "pandas", "foldnote.results", "foldnote.viewers")
_BEGIN = "import sys, time; wall, cpu = time.perf_counter(), time.process_time()"
_END = "print(time.perf_counter() - wall, time.process_time() - cpu)"
_PEER = "import ipywidgets"
_FORM = "import foldnote; form = foldnote.form({tool!r})"
_CHECK = f"""
found = [name for name in {ABSENT!r} if name in sys.modules]
assert not found, found
from ipywidgets import Widget
named = set(form.described.settings_schema["properties"])
assert named <= set(form.fields) and form.widget.model_id in Widget.get_manager_state()["state"]
"""
Times = tuple[float, float]
"""Wall seconds and processor seconds."""


@contextmanager
def home() -> Iterator[dict[str, str]]:
    """Return the environment of a user who has just installed foldnote: an empty home."""
    with tempfile.TemporaryDirectory() as folder:
        kept = {name: text for name, text in os.environ.items() if not name.startswith(("FOLDNOTE_", "XDG_"))}
        kept.pop("PYTHONDONTWRITEBYTECODE", None)
        yield kept | {"HOME": folder}


def in_interpreter(code: str, after: str, environment: dict[str, str]) -> Times:
    """Return the times of ``code`` in a fresh interpreter."""
    whole = "\n".join((_BEGIN, code, _END, after))
    done = subprocess.run(
        [sys.executable, "-c", whole], env=environment, capture_output=True, text=True, check=True
    )
    wall, cpu = done.stdout.split()[:2]
    return float(wall), float(cpu)


def in_kernel(code: str, after: str, environment: dict[str, str]) -> tuple[Times, float]:
    """Return the times of ``code`` in a fresh kernel, and the seconds until a client has all the output."""
    manager = KernelManager(kernel_name="python3", transport="ipc")
    manager.start_kernel(env=environment)
    client = manager.client()
    client.start_channels()
    try:
        client.wait_for_ready(timeout=60)
        told: list[str] = []

        def hear(message: dict[str, object]) -> None:
            content = message["content"]
            if message["msg_type"] == "stream" and isinstance(content, dict):
                told.append(str(content["text"]))

        begun = time.perf_counter()
        reply = client.execute_interactive(
            "\n".join((_BEGIN, code, _END, after, "globals().get('form')")), output_hook=hear, timeout=60
        )
        shown_s = time.perf_counter() - begun
        assert reply["content"]["status"] == "ok", json.dumps(reply["content"], default=str)[:2000]
        wall, cpu = "".join(told).split()[:2]
        return (float(wall), float(cpu)), shown_s
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)


def compare(what: str, ours: Callable[[], Times], peer: Callable[[], Times], runs: int) -> float:
    """Measure both alternately and print their medians; return the ratio of the processor times."""
    ours(), peer()  # warms the file cache
    pairs = [(ours(), peer()) for _ in range(runs)]
    ratios = []
    for place, name in enumerate(("on the clock", "of the processor")):
        mine, theirs = (statistics.median(pair[side][place] for pair in pairs) for side in (0, 1))
        ratios.append(mine / theirs)
        print(
            f"{what}, {name}: {mine * 1000:.0f} ms, import ipywidgets {theirs * 1000:.0f} ms,"
            f" ratio {mine / theirs:.2f}, limit {LIMIT}"
        )
    return ratios[1]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=11, help="processes of each kind (default: 11)")
    parser.add_argument("--kernels", action="store_true", help="also in fresh kernels, which takes minutes")
    chosen = parser.parse_args()
    worst = 0.0
    with home() as environment:
        for tool in TOOLS:
            code = _FORM.format(tool=tool)
            ratio = compare(
                f"first form, {tool}",
                lambda code=code: in_interpreter(code, _CHECK, environment),
                lambda: in_interpreter(_PEER, "", environment),
                chosen.runs,
            )
            worst = max(worst, ratio)
        if chosen.kernels:
            compare_in_kernels(environment, chosen.runs)
    print(
        f"{'kept  ' if worst <= LIMIT else 'BROKEN'} within {LIMIT} times import ipywidgets, of the processor"
    )
    return 0 if worst <= LIMIT else 1


def compare_in_kernels(environment: dict[str, str], runs: int) -> None:
    """Print the same for fresh kernels, and the time until everything has arrived at a client."""
    code, shown = _FORM.format(tool=TOOLS[0]), []

    def ours() -> Times:
        times, shown_s = in_kernel(code, _CHECK, environment)
        shown.append(shown_s)
        return times

    compare(f"first form in a kernel, {TOOLS[0]}", ours, lambda: in_kernel(_PEER, "", environment)[0], runs)
    print(f"    until the client has its display message: {statistics.median(shown) * 1000:.0f} ms")


if __name__ == "__main__":
    sys.exit(main())
