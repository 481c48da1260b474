"""Validate the settings of a tool: list all problems as sentences, in the order of the fields.

The rules are in the tools' schemas and in `foldnote.catalog.checks`; this module applies them in order:
defaults, conditions, JSON Schema keywords, checks. Types are never changed. White space and case are ignored
in sequences; the normalized settings have them cleaned.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from foldnote.catalog.checks import run_checks
from foldnote.catalog.checks.row import CheckContext, Finding, matches
from foldnote.catalog.json_values import NOT_FINITE, ParsedValue, Path, parse_value
from foldnote.catalog.keywords import Rules, SchemaFault
from foldnote.catalog.prepared_schema import FIELD_KEYWORDS, Prepared, PreparedField, prepare
from foldnote.catalog.sequences import clean_sequence, take_letters
from foldnote.catalog.wording import describe_fault, describe_invalid_part, describe_unknown, name_kind

if TYPE_CHECKING:
    from foldnote.catalog.described_tool import DescribedTool
    from foldnote.models.problem import Problem

MAX_REPORTED: Final = 20
"""Maximum number of unknown settings that are named, and of findings of the checks of one field."""


class Check(NamedTuple):
    """The result of validating a settings object."""

    problems: tuple[Problem, ...]
    """The problems in the order of the fields, at most a few dozen of each field; unknown keys last."""
    normalized: dict[str, Any]
    """The settings with defaults filled in, sequences cleaned and fields that do not apply dropped."""
    missing_fields: tuple[str, ...] = ()
    """Required fields without a default that are absent."""

    @property
    def is_valid(self) -> bool:
        """Whether there are no problems."""
        return not self.problems


def check(tool: DescribedTool, settings: Mapping[str, Any], *, trusts_defaults: bool = False) -> Check:
    """Validate ``settings``; returns all problems and the settings that a service would run.

    Args:
        tool: the tool.
        settings: names and values.
        trusts_defaults: skip the checks of values that equal the schema's default.
    """
    if not isinstance(settings, Mapping):
        wrong = Finding("", "Settings must be an object of names and values.", "wrong_type")
        return Check(_as_problems([wrong]), {})
    prepared = prepare(tool)
    normalized = _normalize(prepared, settings)
    missing = tuple(
        item.name
        for item in prepared.fields
        if item.required and item.name not in normalized and _applies(item, normalized)
    )
    found = _walk(prepared, normalized, missing, trusts_defaults=trusts_defaults)
    return Check(_as_problems(found), normalized, missing)


def check_field(
    tool: DescribedTool, name: str, value: Any, settings: Mapping[str, Any]
) -> tuple[Problem, ...]:
    """Validate the ``value`` of one field, given the other ``settings``.

    A field that does not apply has no problems.
    """
    prepared = prepare(tool)
    normalized = _normalize(prepared, {**settings, name: value})
    item = next((item for item in prepared.fields if item.name == name), None)
    if item is None:
        return _as_problems(_find_unknown(prepared, {name: value}))
    return _as_problems(_check_value(item, prepared, normalized)) if name in normalized else ()


def default_settings(tool: DescribedTool) -> dict[str, Any]:
    """Return the defaults of the fields that apply if nothing else is given, in field order."""
    return _normalize(prepare(tool), {})


def read_records(tool: DescribedTool, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Replace each sequence that is exactly one FASTA record by the record's letters; the rest is kept."""
    fields = {item.name for item in prepare(tool).fields if item.is_sequence}
    return {
        name: take_letters(value) if name in fields and isinstance(value, str) else value
        for name, value in settings.items()
    }


def applies(tool: DescribedTool, name: str, settings: Mapping[str, Any]) -> bool:
    """Return whether the field applies, given these settings; False for an unknown name."""
    prepared = prepare(tool)
    item = next((item for item in prepared.fields if item.name == name), None)
    return item is not None and _applies(item, _fill(prepared, settings))


def _applies(item: PreparedField, filled: Mapping[str, Any]) -> bool:
    if item.condition is not None:
        looked_at = {name: filled[name] for name in item.depends_on if name in filled}
        if item.condition.is_compiled and not item.condition.accepts(parse_value(looked_at).value):
            return False
    return matches(item.notes.get("appliesWhen"), filled)


def _fill(prepared: Prepared, settings: Mapping[str, Any]) -> dict[str, Any]:
    filled = {}
    for item in prepared.fields:
        if item.name in settings:
            filled[item.name] = settings[item.name]
        elif item.has_default:
            filled[item.name] = copy.deepcopy(item.schema["default"])
    known = filled.keys()
    return filled | {name: value for name, value in settings.items() if name not in known}


def _normalize(prepared: Prepared, settings: Mapping[str, Any]) -> dict[str, Any]:
    filled = _fill(prepared, settings)
    for item in prepared.fields:
        if item.name in filled and not _applies(item, filled):
            del filled[item.name]
        elif item.is_sequence and _is_cleanable(filled.get(item.name)):
            filled[item.name] = clean_sequence(filled[item.name])
    return filled


def _is_cleanable(value: object) -> bool:
    return isinstance(value, str) and ">" not in value


def _walk(
    prepared: Prepared, normalized: Mapping[str, Any], missing: tuple[str, ...], *, trusts_defaults: bool
) -> Iterator[Finding]:
    for item in prepared.fields:
        if item.name in missing:
            yield Finding(item.name, "Required.", "missing_field")
        elif item.name in normalized:
            is_trusted = trusts_defaults and _is_default(item, normalized[item.name])
            yield from _check_value(item, prepared, normalized, is_trusted=is_trusted)
    yield from _find_unknown(prepared, normalized)
    if prepared.rest:
        yield from _check_rest(prepared.rest, normalized)


def _is_default(item: PreparedField, value: Any) -> bool:
    """Return whether a text, number or switch is the schema's default."""
    default = item.schema.get("default")
    is_plain = isinstance(value, str | int | float) and type(value) is type(default)
    return is_plain and bool(value == default)


def _check_value(
    item: PreparedField, prepared: Prepared, normalized: Mapping[str, Any], *, is_trusted: bool = False
) -> Iterator[Finding]:
    parsed = parse_value(normalized[item.name])
    infinite = next((invalid for invalid in parsed.invalid if invalid.reason == NOT_FINITE), None)
    if infinite:
        yield Finding(item.name, *describe_invalid_part(infinite))
        return
    standard = [] if is_trusted else list(_check_standard(item, parsed))
    yield from standard
    long = _find_long_text(item, parsed.value)
    if long and not standard:
        yield long
    if not parsed.invalid and not long and not any(finding.code == "wrong_type" for finding in standard):
        context = CheckContext(item.name, item.notes, normalized, item.required, prepared.properties)
        yield from islice(run_checks(parsed.original, context), MAX_REPORTED)


def _find_long_text(item: PreparedField, value: Any) -> Finding | None:
    """Return the finding on the first text that is too long for this field; None without one."""
    if item.max_text_length is None:
        return None
    pending: list[tuple[Path, Any]] = [((), value)]
    while pending:
        path, each = pending.pop()
        if isinstance(each, str) and len(each) > item.max_text_length and not (item.is_file and "\n" in each):
            message = f"This has {len(each):,} characters; at most {item.max_text_length:,} can be used."
            return _make_finding(item.name, path, (message, "too_long"))
        if isinstance(each, dict):
            pending += [((*path, key), part) for key, part in each.items()]
        elif isinstance(each, list):
            pending += [((*path, number), part) for number, part in enumerate(each)]
    return None


def _check_standard(item: PreparedField, parsed: ParsedValue) -> Iterator[Finding]:
    """Yield one finding per path: the first violated keyword, or a value that JSON cannot represent."""
    findings: dict[Path, Finding] = {}
    unit = str(item.notes.get("unit") or "")
    for path, words in _describe_faults(item.rules.find_faults(parsed), unit):
        if path not in findings:
            findings[path] = _make_finding(item.name, path, words)
    for invalid in parsed.invalid:
        if not any(invalid.path[:length] in findings for length in range(len(invalid.path) + 1)):
            findings[invalid.path] = _make_finding(item.name, invalid.path, describe_invalid_part(invalid))
    yield from findings.values()


def _make_finding(name: str, path: Path, words: tuple[str, str]) -> Finding:
    return Finding(_printable(".".join(map(str, (name, *path)))), *words)


def _find_unknown(prepared: Prepared, settings: Mapping[str, Any]) -> Iterator[Finding]:
    names = prepared.names
    known = frozenset(names)
    unknown = ((key, value) for key, value in settings.items() if key not in known)
    for key, value in islice(unknown, MAX_REPORTED):
        if prepared.is_closed:
            yield Finding(_printable(key), describe_unknown(_name_key(key), names), "unknown_field")
        elif invalid := parse_value({key: value}).invalid:
            yield Finding(_printable(key), *describe_invalid_part(invalid[0]))
    more = sum(1 for _ in unknown) if prepared.is_closed else 0
    if more:
        yield Finding("", f"There are {more:,} more settings that this tool does not have.", "unknown_field")


def _check_rest(rules: Rules, normalized: Mapping[str, Any]) -> Iterator[Finding]:
    """Yield the faults that concern several fields; those of single fields are already reported."""
    faults = rules.find_faults(parse_value(dict(normalized)))
    findings = (
        finding
        for fault in faults
        if fault.schema_path[0] not in FIELD_KEYWORDS
        for finding in _describe_rest_fault(fault)
    )
    yield from dict.fromkeys(findings)


def _describe_rest_fault(fault: SchemaFault) -> Iterator[Finding]:
    for path, words in _describe_faults([fault]):
        yield Finding(_printable(".".join(map(str, path))), *words)


def find_problems(rules: Rules, parsed: ParsedValue) -> list[Problem]:
    """Return the problems of a value under a schema, one per path; paths are relative to the value."""
    findings: dict[Path, Finding] = {}
    for path, words in _describe_faults(rules.find_faults(parsed)):
        findings.setdefault(path, Finding(_printable(".".join(map(str, path))), *words))
    return list(_as_problems(list(findings.values())))


def _describe_faults(faults: list[SchemaFault], unit: str = "") -> Iterator[tuple[Path, tuple[str, str]]]:
    """Yield the faults with their messages and codes; a missing name is reported where it is missing."""
    for fault in faults:
        yield from _describe_missing(fault) or [(fault.path, describe_fault(fault, unit))]


def _describe_missing(fault: SchemaFault) -> list[tuple[Path, tuple[str, str]]]:
    instance, expected = fault.instance, fault.expected
    if not isinstance(instance, Mapping):
        return []
    if fault.keyword == "required" and isinstance(expected, list):
        words = ("Required.", "missing_field")
        return [((*fault.path, name), words) for name in expected if name not in instance]
    if fault.keyword == "dependentRequired" and isinstance(expected, Mapping):
        return [
            ((*fault.path, name), (f"This is required when {other} is given.", "missing_field"))
            for other, names in expected.items()
            for name in names
            if other in instance and name not in instance
        ]
    return []


def _name_key(key: object) -> str:
    """Return a key as text; for a key of another type, which only Python allows, the name of its type."""
    return key if isinstance(key, str) else name_kind(key)


def _printable(key: object) -> str:
    """Return a key as it can be sent in an answer: short, and without lone surrogates."""
    return _name_key(key)[:100].encode("utf-8", "backslashreplace").decode()


def _as_problems(findings: Iterator[Finding] | list[Finding]) -> tuple[Problem, ...]:
    from foldnote.models.problem import Problem

    return tuple(Problem(field=item.field, message=item.message, code=item.code) for item in findings)
