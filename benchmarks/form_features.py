# ruff: noqa: E501 - one trial per line reads as a table
"""Features of JSON Schema as 23 trials for any form generator, and a form of forty fields.

A trial is a schema, the initial content, a value that must be kept exactly, and one that must not be accepted
silently. This file also runs alone in the environments of the peers.
"""

from __future__ import annotations

import json
import statistics
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

RUNS = 5
FORTY_KINDS: tuple[dict[str, Any], ...] = (
    {"type": "string", "default": "text"},
    {"type": "number", "minimum": 0, "maximum": 10, "default": 1},
    {"type": "integer", "default": 3},
    {"type": "boolean", "default": False},
    {"type": "string", "enum": ["a", "b", "c"], "default": "a"},
    {"type": "array", "items": {"type": "string"}, "default": []},
    {"type": "string", "default": ""},
    {"type": "number", "default": 0},
)
"""Eight kinds of fields that every peer supports."""


@dataclass(frozen=True)
class Trial:
    """A trial of one feature."""

    name: str
    schema: dict[str, Any]
    value: Any
    """A value that the form must keep exactly."""
    wrong: Any = None
    """A value that must be refused, reported or ignored; None if there is none."""
    dropped: Any = None
    """The part of `wrong` that must remain where a field does not apply; None elsewhere."""
    start: dict[str, Any] = field(default_factory=dict)
    """The minimum content of an untouched form."""


def _of(
    name: str, child: dict[str, Any], good: Any, bad: Any = None, start: Any = None, **more: Any
) -> Trial:
    schema = {"type": "object", "title": "T", "properties": {"x": child}, **more}
    wrong = None if bad is None else {"x": bad}
    return Trial(name, schema, {"x": good}, wrong, start={} if start is None else {"x": start})


_ROW = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
_KINDS = [
    {"title": "A", "type": "object", "properties": {"k": {"const": "a"}, "n": {"type": "integer"}}, "required": ["k", "n"]},
    {"title": "B", "type": "object", "properties": {"k": {"const": "b"}, "s": {"type": "string"}}, "required": ["k", "s"]},
]  # fmt: skip
_WHEN = {"if": {"properties": {"x": {"const": "b"}}}, "then": {"properties": {"y": {"type": "integer"}}}}

TRIALS: tuple[Trial, ...] = (
    _of("text, numbers, switches", {"type": "integer", "default": 3}, 5, 1.5, 3),
    _of("null", {"type": "null"}, None, "x"),
    _of("enum", {"enum": ["a", 2], "default": "a"}, 2, "z", "a"),
    _of("const", {"const": 7}, 7, 8, 7, required=["x"]),
    _of("labelled values", {"oneOf": [{"const": "h", "title": "Heavy"}, {"const": "l", "title": "Light"}]}, "l", "z"),
    _of("nullable by type", {"type": ["number", "null"]}, None, "z"),
    _of("nullable by anyOf", {"anyOf": [{"type": "number"}, {"type": "null"}]}, None, "z"),
    _of("objects inside", _ROW, {"n": 3}, {"n": "z"}),
    _of("lists with defaults", {"type": "array", "items": {"type": "number"}, "default": [1]}, [2, 3], ["z"], [1]),
    _of("lists of enums", {"type": "array", "items": {"enum": ["a", "b"]}, "uniqueItems": True}, ["b"], ["a", "a"]),
    _of("rows of objects", {"type": "array", "items": _ROW}, [{"n": 1}, {"n": 2}], [{"n": "z"}]),
    _of("maps", {"type": "object", "additionalProperties": {"type": "string"}}, {"H": "1 2"}, {"H": 3}),
    _of("$ref with siblings", {"$ref": "#/$defs/d", "default": 5}, 6, 10, 5, **{"$defs": {"d": {"type": "integer", "maximum": 9, "default": 1}}}),
    _of("defaults inside", {"type": "object", "default": {"n": 4}, **{k: v for k, v in _ROW.items() if k != "type"}}, {"n": 3}, None, {"n": 4}),
    _of("bounds", {"type": "number", "exclusiveMinimum": 0, "multipleOf": 0.5}, 1.5, 0),
    _of("lengths and patterns", {"type": "string", "minLength": 2, "pattern": "^[A-Z]+$"}, "AB", "ab"),
    _of("format", {"type": "string", "format": "date"}, "2026-11-21", "21.11."),
    Trial("if, then, else", {"type": "object", "title": "T", "properties": {"x": {"enum": ["a", "b"], "default": "a"}}, **_WHEN},
          {"x": "b", "y": 2}, {"x": "a", "y": 2}, {"x": "a"}),
    Trial("allOf of conditions", {"type": "object", "title": "T", "properties": {"x": {"enum": ["a", "b"], "default": "a"}}, "allOf": [_WHEN]},
          {"x": "b", "y": 2}, {"x": "a", "y": 2}, {"x": "a"}),
    Trial("dependentRequired", {"type": "object", "title": "T", "properties": {"x": {"type": "string"}, "y": {"type": "string"}}, "dependentRequired": {"x": ["y"]}},
          {"x": "1", "y": "2"}, {"x": "1"}),
    Trial("dependentSchemas", {"type": "object", "title": "T", "properties": {"x": {"type": "string"}}, "dependentSchemas": {"x": {"properties": {"y": {"type": "string"}}}}},
          {"x": "1", "y": "2"}, {"y": "2"}, {}),
    _of("unions of objects", {"oneOf": _KINDS}, {"k": "b", "s": "1"}, {"k": "a", "n": "z"}),
    _of("places of a list", {"type": "array", "prefixItems": [{"type": "number"}, {"type": "string"}]}, [1, "a"], ["a", 1]),
)  # fmt: skip


@dataclass(frozen=True)
class Generator:
    """A form generator to test."""

    name: str
    build: Callable[[dict[str, Any]], Any]
    read: Callable[[Any], Any]
    write: Callable[[Any, Any], None]
    objects: Callable[[Any], bool]
    """Whether the form reports a fault."""


def forty_schema() -> dict[str, Any]:
    """Return a schema of forty fields."""
    fields = {
        f"field{number}": FORTY_KINDS[number % 8] | {"description": f"What field {number} is for."}
        for number in range(40)
    }
    return {"type": "object", "title": "Forty", "properties": fields}


def passes(generator: Generator, trial: Trial) -> bool:
    """Return whether the generator shows, keeps and validates what the trial requires."""
    try:
        form = generator.build(trial.schema)
        if not _has(generator.read(form), trial.start):
            return False
        generator.write(form, trial.value)
        if not _same(generator.read(form), trial.value) or generator.objects(form):
            return False
    except Exception:  # noqa: BLE001 - a generator may fail on a schema with any exception
        return False
    return trial.wrong is None or _minds(generator, trial)


def measure(build: Callable[[], Any]) -> dict[str, float]:
    """Return milliseconds (median), widget models, and kB of their initial states."""
    from ipywidgets import Widget

    build()
    spent, made = [], {}
    for _ in range(RUNS):
        before = Widget.get_manager_state()["state"].keys()
        begun = time.perf_counter()
        form = build()
        spent.append((time.perf_counter() - begun) * 1000)
        states = Widget.get_manager_state()["state"]
        made = {key: model["state"] for key, model in states.items() if key not in before}
        del form
    size = sum(len(json.dumps(state, default=str)) for state in made.values())
    return {"ms": statistics.median(spent), "models": len(made), "kB": size / 1000}


def report(generator: Generator) -> dict[str, Any]:
    """Return all measurements of one generator."""
    passed = [trial.name for trial in TRIALS if passes(generator, trial)]
    return {"name": generator.name, "passed": passed, **measure(lambda: generator.build(forty_schema()))}


def _minds(generator: Generator, trial: Trial) -> bool:
    form = generator.build(trial.schema)
    try:
        generator.write(form, trial.wrong)
        held = generator.read(form)
    except Exception:  # noqa: BLE001 - any exception is a refusal
        return trial.dropped is None
    if trial.dropped is not None:
        return _same(held, trial.dropped)
    return not _same(held, trial.wrong) or generator.objects(form)


def _same(one: Any, other: Any) -> bool:
    return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)


def _has(value: Any, least: dict[str, Any]) -> bool:
    return all(name in value and _same(value[name], wanted) for name, wanted in least.items())


def _ipywidgets_jsonschema() -> Generator:
    import jsonschema
    from ipywidgets_jsonschema import Form

    def objects(form: Any) -> bool:
        return not jsonschema.Draft202012Validator(form.schema).is_valid(form.data)

    return Generator(
        "ipywidgets-jsonschema", Form, lambda form: form.data, lambda form, value: setattr(form, "data", value),
        lambda form: hasattr(form, "schema") and objects(form),
    )  # fmt: skip


def _ipyautoui() -> Generator:
    from ipyautoui import AutoUi

    return Generator(
        "ipyautoui", AutoUi, lambda form: form.value, lambda form, value: setattr(form, "value", value),
        lambda _form: False,
    )  # fmt: skip


def _foldnote() -> Generator:
    from foldnote.forms import SchemaForm

    return Generator(
        "foldnote", SchemaForm, lambda form: form.data, lambda form, value: form.set_value(value),
        lambda form: bool(form.problems),
    )  # fmt: skip


def _magicgui() -> dict[str, Any]:
    """A generator from annotations; it takes no JSON Schema, so only its speed is compared."""
    import magicgui

    magicgui.use_app("ipynb")
    kinds = (("str", "'text'"), ("float", "1.0"), ("int", "3"), ("bool", "False"), ("str", "'a'"))
    arguments = ", ".join(f"field{n}: {kinds[n % 5][0]} = {kinds[n % 5][1]}" for n in range(40))
    names: dict[str, Any] = {}
    exec(f"def forty({arguments}): pass", names)
    return {"name": "magicgui", "passed": [], **measure(lambda: magicgui.magicgui(names["forty"]).native)}


if __name__ == "__main__":
    REPORTS: dict[str, Callable[[], dict[str, Any]]] = {
        "foldnote": lambda: report(_foldnote()),
        "ipywidgets-jsonschema": lambda: report(_ipywidgets_jsonschema()),
        "ipyautoui": lambda: report(_ipyautoui()),
        "magicgui": _magicgui,
    }
    print(json.dumps(REPORTS[sys.argv[1] if len(sys.argv) > 1 else "foldnote"]()))
