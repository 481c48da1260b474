"""Check that every schema of a large collection gets a form that keeps its own value, and measure the forms.

    git clone --depth 1 https://github.com/SchemaStore/schemastore
    python benchmarks/form_collection.py schemastore/src/schemas/json

For each file the form is built, set to its own value, rebuilt from its data, and its code evaluated; each
time the value must be exactly the same. Every folded object of the form is opened, which must not remove
anything away. Failures, seconds of processor time and models of the largest are printed.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import signal
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ipywidgets import Widget

from foldnote.forms import SchemaForm
from foldnote.forms.fields.field import is_same
from foldnote.forms.fields.kinds.group import ObjectField

LIMIT_S = 1.0
_MAX_S = 60
_MAX_OPENED = 30
_MAX_FORMS = 30


@dataclass(frozen=True)
class Outcome:
    """The outcome for one schema."""

    name: str
    build_s: float
    """Processor time of the first form."""
    models: int
    fault: str
    """What is wrong, in words; empty if nothing."""


class _TooSlowError(Exception):
    pass


def main() -> int:
    """Try every schema; exit with status 1 if one fails."""
    parser = argparse.ArgumentParser(description="Tries the form of every JSON Schema in a folder.")
    installed = Path(sys.prefix) / "share" / "jupyter" / "lab" / "schemas"
    parser.add_argument(
        "folder",
        type=Path,
        nargs="?",
        default=installed,
        help="folder of .json files, such as SchemaStore's; default: the settings schemas of JupyterLab",
    )
    parser.add_argument("--part", default="1/1", help="part of the files to try, such as 2/3")
    parser.add_argument("--slowest", type=int, default=10, help="number of slowest schemas to list")
    chosen = parser.parse_args()
    part, parts = map(int, chosen.part.split("/"))
    paths = sorted(chosen.folder.rglob("*.json"))[part - 1 :: parts]
    # memory of widgets is not released
    with multiprocessing.Pool(1, maxtasksperchild=_MAX_FORMS) as processes:
        outcomes = [_tell(outcome) for outcome in processes.imap(_try, paths)]
    tried = [outcome for outcome in outcomes if outcome is not None]
    failed = [outcome for outcome in tried if outcome.fault]
    slowest = sorted(tried, key=lambda outcome: -outcome.build_s)[: chosen.slowest]
    for outcome in slowest:
        print(f"{outcome.build_s:8.2f} s {outcome.models:6} models  {outcome.name}")
    slow = sum(outcome.build_s > LIMIT_S for outcome in tried)
    print(
        f"{len(tried)} schemas, {len(failed)} failed, {len(outcomes) - len(tried)} are no JSON Schema; "
        f"{slow} of them built in more than {LIMIT_S:g} s"
    )
    return 1 if failed else 0


def _tell(outcome: Outcome | None) -> Outcome | None:
    """Print the outcome of a schema immediately, since a large collection takes minutes."""
    if outcome is not None:
        print(f"FAILED {outcome.name}: {outcome.fault}" if outcome.fault else f"{outcome.name}", flush=True)
    return outcome


def _try(path: Path) -> Outcome | None:
    try:
        schema = json.loads(path.read_text("utf-8-sig"))
    except ValueError:
        return None
    if not isinstance(schema, dict):
        return None
    Widget.close_all()
    signal.signal(signal.SIGPROF, _stop)
    signal.setitimer(signal.ITIMER_PROF, _MAX_S)
    begun = time.process_time()
    build_s, models, fault = 0.0, 0, ""
    try:
        form = SchemaForm(schema)
        build_s = time.process_time() - begun
        models = len(Widget.get_manager_state()["state"])
        fault = "; ".join(_list_faults(schema, form))
    except Exception as error:  # noqa: BLE001 - finding any failure is the purpose
        fault = f"{type(error).__name__}: {error}"
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
    Widget.close_all()
    return Outcome(path.stem, build_s, models, fault)


def _list_faults(schema: dict[str, Any], form: SchemaForm) -> Iterator[str]:
    value, data = form.value, form.data
    form.set(form.value)
    if not is_same(form.value, value):
        yield "setting it to its own value changes it"
    if not is_same(SchemaForm(schema, data).data, data):
        yield "a second form does not hold its data"
    names: dict[str, Any] = {}
    exec(form.code(), names)
    if not is_same(names["settings"], data):
        yield "its code says something else"
    if len(form._repr_mimebundle_()["text/html"]) == 0:
        yield "it has no static rendering"
    folded = [field for field in form.section.walk() if isinstance(field, ObjectField)]
    for field in folded[:_MAX_OPENED]:
        field.focus_at(next(iter(field.spec.schema.get("properties") or ("",))))
    if not _holds(form.value, value):
        yield "opening its folded objects takes something away"


def _holds(whole: Any, part: Any) -> bool:
    """Return whether ``whole`` contains everything in ``part``; defaults may have been added."""
    if isinstance(whole, dict) and isinstance(part, dict):
        return all(name in whole and _holds(whole[name], item) for name, item in part.items())
    return is_same(whole, part)


def _stop(_signal: int, _frame: object) -> None:
    raise _TooSlowError(f"not done after {_MAX_S} s of processor time")


if __name__ == "__main__":
    sys.exit(main())
