"""The cost of a form: build time, models, bytes to the front end, and time from a keystroke to its verdict.

Every tool of the catalog and a form of forty fields are measured, as medians of several runs in this process,
beside our limits; then 23 features of JSON Schema and a plain form of forty fields beside ipyautoui, magicgui
and ipywidgets-jsonschema, which are installed into a separate environment if possible. The front end's own
time is not included. Nothing here is a test: machines differ.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import time
import venv
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ipywidgets import Widget

from foldnote import catalog
from foldnote.forms import Form
from foldnote.models.tool import Tool

RUNS = 7
PEERS = ("ipywidgets-jsonschema", "ipyautoui", "magicgui")
PEER_FOLDER = Path(sys.prefix) / ".form-peers"
FEATURES = Path(__file__).with_name("form_features.py")
LIMIT_MS, LIMIT_TOOL_MS, LIMIT_MODELS, LIMIT_KB, LIMIT_KEY_MS = 50.0, 100.0, 150, 60.0, 100.0
HEAVY = (
    "EVQLVESGGGLVQPGGSLRLSCAASGFNIKDTYIHWVRQAPGKGLEWVARIYPTNGYTRYADSVKGRFTISADTSKNTAYLQMNSLRAEDTAVYYC"
    "SRWGGDGFYAMDYWGQGTLVTVSS"
)
_KINDS: tuple[dict[str, Any], ...] = (
    {"type": "string", "default": "text"},
    {"type": "number", "minimum": 0, "maximum": 10, "default": 1, "x-foldnote": {"unit": "ps"}},
    {"type": "integer", "default": 3},
    {"type": "boolean", "default": False},
    {"type": "string", "enum": ["a", "b", "c"], "default": "a"},
    {"type": "array", "items": {"type": "string"}},
    {"type": "string", "x-foldnote": {"role": "sequence", "alphabet": "amino-acid"}},
    {"type": "number", "x-foldnote": {"appliesWhen": {"field4": ["b"]}}},
)


def forty_fields() -> Tool:
    """Return a tool of forty fields of eight kinds."""
    fields = {
        f"field{number}": _KINDS[number % 8] | {"description": f"What field {number} is for."}
        for number in range(40)
    }
    return Tool(type="forty", settings_schema={"type": "object", "properties": fields})


def median_ms(work: Callable[[], object]) -> float:
    """Return the median milliseconds of one call."""
    work()
    spent = []
    for _ in range(RUNS):
        begun = time.perf_counter()
        work()
        spent.append((time.perf_counter() - begun) * 1000)
    return statistics.median(spent)


def build_whole(tool: Tool) -> Form:
    """Build a form and what is added after it is first shown: the code for its events."""
    form = Form(tool)
    assert form.surface.widget.model_id
    return form


def models_and_kilobytes(build: Callable[[], Form]) -> tuple[int, float]:
    """Return the number of widget models of one form, and the size of their initial states as JSON in kB."""
    before = Widget.get_manager_state()["state"].keys()
    form = build()
    states = Widget.get_manager_state()["state"]
    made = [model["state"] for key, model in states.items() if key not in before]
    size = sum(len(json.dumps(state, default=str)) for state in made)
    del form
    return len(made), size / 1000


def keystroke_ms(form: Form, name: str) -> float:
    """Return the milliseconds from one more letter in the field to all messages that it causes."""
    box = form.fields[name].widget
    letters = iter("ACDEFGHIKLMNPQRSTVWY" * 100)

    def press() -> None:
        box.value += next(letters)

    return median_ms(press)


def row(label: str, ms: float, limit_ms: float, models: int, kilobytes: float) -> str:
    """Format one line of output."""
    return f"{label:34} {ms:7.1f} ms ({ms / limit_ms:4.0%}) {models:4d} models {kilobytes:6.1f} kB"


def install_peers() -> str | None:
    """Return the interpreter of the peers' environment, creating it once; None if that fails."""
    python = PEER_FOLDER / "bin" / "python"
    if not (PEER_FOLDER / "complete").exists():
        print(f"installing {', '.join(PEERS)} for comparison (about a minute)")
        venv.create(PEER_FOLDER, with_pip=True, clear=True)
        done = subprocess.run([python, "-m", "pip", "install", "--quiet", *PEERS], capture_output=True)
        if done.returncode:
            return None
        (PEER_FOLDER / "complete").touch()
    return str(python)


def features_of(python: str, name: str) -> dict[str, Any] | None:
    """Measure a generator in its own process; None if it does not start."""
    done = subprocess.run(
        [python, "-W", "ignore", FEATURES, name], capture_output=True, text=True, timeout=300
    )
    return json.loads(done.stdout.splitlines()[-1]) if done.returncode == 0 else None


def compare() -> int:
    """Print the features and figures of ours and of the peers; return the number of our features."""
    python = install_peers()
    rows = [features_of(sys.executable, "foldnote")]
    rows += [features_of(python, name) for name in PEERS] if python else []
    print(
        f"{'a plain form of 40 fields, and 23 features':44} {'ms':>7} {'models':>7} {'kB':>7} {'features':>9}"
    )
    for found in filter(None, rows):
        print(
            f"{found['name']:44} {found['ms']:7.0f} {found['models']:7.0f} {found['kB']:7.0f} "
            f"{len(found['passed']):6d}/23"
        )
    if not python:
        print("the peers could not be installed, so there is nothing to compare with")
    return len(rows[0]["passed"]) if rows[0] else 0


def main() -> int:
    worst = 0.0
    for name, tool in catalog.tools().items():
        ms = median_ms(lambda tool=tool: build_whole(tool))
        worst = max(worst, ms)
        print(row(name, ms, LIMIT_TOOL_MS, *models_and_kilobytes(lambda tool=tool: build_whole(tool))))
    forty = forty_fields()
    ms = median_ms(lambda: build_whole(forty))
    models, kilobytes = models_and_kilobytes(lambda: build_whole(forty))
    print(row("a form of 40 fields", ms, LIMIT_MS, models, kilobytes))
    antibody = Form(catalog.tool("abodybuilder"), values={"heavy": HEAVY})
    long_form = Form(catalog.tool("alphafold"), values={"sequence": "ACDEFGHIKL" * 490})
    keys = {
        "40 fields": keystroke_ms(Form(forty), "field6"),
        "antibody, numbered": keystroke_ms(antibody, "heavy"),
        "4900 residues": keystroke_ms(long_form, "sequence"),
    }
    for label, key_ms in keys.items():
        print(f"{'keystroke to verdict, ' + label:34} {key_ms:7.1f} ms ({key_ms / LIMIT_KEY_MS:4.0%})")
    passed = compare()
    kept = {
        "every feature of JSON Schema": passed == 23,
        "40 fields are built in time": ms <= LIMIT_MS,
        "few models": models <= LIMIT_MODELS,
        "few bytes": kilobytes <= LIMIT_KB,
        "every tool in time": worst <= LIMIT_TOOL_MS,
        "keystrokes in time": max(keys.values()) <= LIMIT_KEY_MS,
    }
    print("\n".join(f"{'kept  ' if is_kept else 'BROKEN'} {what}" for what, is_kept in kept.items()))
    return 0 if all(kept.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
