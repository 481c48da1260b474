"""Validate values against JSON Schema draft 2020-12, and report each violated keyword.

This is the only module that uses the validator, ``jsonschema_rs``, chosen because it loads in a few
milliseconds, which delays every notebook and service once. References are never fetched, ``format`` is not
checked, and a schema that cannot be compiled accepts everything, leaving the check to the service it came
from.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Final, NamedTuple
from urllib.parse import quote, unquote

from foldnote.catalog.json_values import TOO_LARGE, InvalidPart, ParsedValue, Path, parse_value

if TYPE_CHECKING:
    from jsonschema_rs import FancyRegexOptions, RegexOptions, Registry, ValidationError, Validator

    from foldnote.catalog.extent import SchemaSize, SchemaSizes

_BASE = "json-schema:///foldnote"
_DRAFT = "https://json-schema.org/draft/2020-12/schema"
_REFERENCES = {"$ref", "$dynamicRef"}
_BY_PART = {"items", "additionalProperties", "unevaluatedProperties", "unevaluatedItems"}
"""Keywords whose schema applies to each of several parts of the value."""
_BY_NAME = {"patternProperties", "prefixItems"}
_CLOSED: Final = {"additionalProperties", "unevaluatedProperties"}
_UNKNOWN = object()
_MAX_RECENT: Final = 4
_MANY_VISITS: Final = 20_000
"""Estimated evaluations of a subschema on a part of a value above which only the first fault is reported."""
MAX_VISITS: Final = 20_000_000
"""Estimated evaluations above which the value is not validated at all; they take about a second."""
MAX_MATCHED_CHARACTERS: Final = 400_000_000
"""Limit on a value's characters (squared if patterns can backtrack) times the number of patterns."""
_SHORT_TEXT: Final = 1000
_PATTERN_BYTES: Final = 8 << 20
_MAX_BACKTRACKS: Final = 100_000


class SchemaFault(NamedTuple):
    """A violation of one keyword."""

    keyword: str
    expected: Any
    """The keyword's value in the schema."""
    path: Path
    """Path of the violating part in the value."""
    instance: Any
    """The violating part."""
    message: str
    """The validator's message, in which the instance is called "it"."""
    schema_path: Path
    """Path by which the keyword was reached in the schema."""


class Document:
    """A complete schema, to which the references of its parts are resolved."""

    _recent: ClassVar[dict[int, tuple[Mapping[str, Any], Document]]] = {}

    def __init__(self, schema: Mapping[str, Any]) -> None:
        self.root: dict[str, Any] = parse_value(dict(schema)).value | {"$schema": _DRAFT}

    @classmethod
    def of(cls, schema: Mapping[str, Any]) -> Document:
        """Return the document of a schema object; recent ones are cached, since parts are compiled singly."""
        found = cls._recent.get(id(schema))
        if found is None:
            for key in list(cls._recent)[: 1 - _MAX_RECENT]:
                cls._recent.pop(key, None)
            # The schema is stored so that its id is not reused.
            found = cls._recent[id(schema)] = schema, cls(schema)
        return found[1]

    @cached_property
    def sizes(self) -> SchemaSizes:
        """The sizes of the schema's parts."""
        from foldnote.catalog.extent import SchemaSizes  # deferred: the bundled schemas are known to be small

        return SchemaSizes(self.root)

    @cached_property
    def registry(self) -> Registry:
        """The registry with which the validator resolves references."""
        from jsonschema_rs import Draft202012, Registry

        return Registry([(_BASE, self.root)], draft=Draft202012, retriever=_accept_everything)

    def compile(self, *pointer: str) -> Rules:
        """Compile the part of the schema under these keys; without keys, the complete schema."""
        return Rules(self, pointer)

    def compile_part(self, schema: Mapping[str, Any]) -> Rules:
        """Compile a schema taken from the document or composed of its parts."""
        return Rules(self, (), _point_to_root(parse_value(dict(schema)).value))


class Rules:
    """A schema that is compiled when the first value is validated; thread-safe."""

    def __init__(self, document: Document, pointer: tuple[str, ...], part: Any = None) -> None:
        self._document = document
        self._pointer = pointer
        self._is_part = part is not None
        self._root = document.root
        self._schema: Any = self._root if part is None else part
        for key in pointer:
            self._schema, _ = _step(self._schema, key)
        self._has_reference = _has_reference(self._schema)
        self._skipped = 1 if self._has_reference and part is None else 0

    @property
    def _validator(self) -> Validator | None:
        """The compiled schema; None if it could not be compiled."""
        return self._compiled[0]

    @property
    def _can_backtrack(self) -> bool:
        """Whether patterns have look-around or backreferences, whose time is quadratic in a text's length."""
        return self._compiled[1]

    def accepts(self, value: Any) -> bool:
        """Return whether ``value``, JSON types only, is valid; False if the schema could not be compiled."""
        if self._validator is None or self._is_too_large(parse_value(value)):
            return False
        return self._validator.is_valid(value)

    @property
    def is_compiled(self) -> bool:
        """Whether the schema could be compiled; otherwise no fault is ever found."""
        return self._validator is not None

    def find_faults(self, parsed: ParsedValue) -> list[SchemaFault]:
        """List the keywords that a value violates: wrong types first, then in the order of the schema.

        For invalid parts of the value only a wrong type is reported. If schema and value are both large, only
        the first fault is reported.
        """
        if self._validator is None:
            return []
        if self._is_too_large(parsed):
            return [SchemaFault(TOO_LARGE, None, (), parsed.original, "it is too large to be checked", ())]
        errors = _find_first if self._has_many_faults(parsed) else _find_all
        found = [
            self._read(error, parsed)
            for error in errors(self._validator, parsed.value)
            if _is_violation(error)
        ]
        found.sort(key=lambda pair: (pair[1].keyword != "type", pair[0]))
        return [fault for _, fault in found if not _is_inside(fault, parsed.invalid)]

    @cached_property
    def _extent(self) -> SchemaSize:
        return self._document.sizes.measure(self._schema)

    def _is_too_large(self, parsed: ParsedValue) -> bool:
        """Return whether validation would take seconds."""
        if parsed.parts * self._extent.subschemas > MAX_VISITS:
            return True
        characters = parsed.characters**2 if self._can_backtrack else parsed.characters
        return parsed.characters > _SHORT_TEXT and characters * self._extent.patterns > MAX_MATCHED_CHARACTERS

    def _has_many_faults(self, parsed: ParsedValue) -> bool:
        """Return whether there may be so many faults that collecting them takes seconds."""
        return parsed.parts * self._extent.subschemas > _MANY_VISITS

    @cached_property
    def _compiled(self) -> tuple[Validator | None, bool]:
        from jsonschema_rs import FancyRegexOptions, RegexOptions

        if self._document.sizes.find_excess(self._schema):
            return None, False
        linear = RegexOptions(size_limit=_PATTERN_BYTES, dfa_size_limit=_PATTERN_BYTES)
        found = self._compile_with(linear)
        if found is None and self._extent.patterns:
            backtracking = FancyRegexOptions(backtrack_limit=_MAX_BACKTRACKS, size_limit=_PATTERN_BYTES)
            return self._compile_with(backtracking), True
        return found, False

    def _compile_with(self, patterns: RegexOptions | FancyRegexOptions) -> Validator | None:
        from jsonschema_rs import Draft202012Validator, ReferencingError

        schema: Any = self._schema
        if self._has_reference and not self._is_part:
            schema = {"$ref": _BASE + "/".join(("#", *map(_escape, self._pointer)))}
        try:
            return Draft202012Validator(
                schema,
                registry=self._document.registry if self._has_reference else None,
                validate_formats=False,
                offline=True,
                mask="it",
                pattern_options=patterns,
            )
        except (ValueError, TypeError, ReferencingError):
            return None

    def _read(self, error: ValidationError, parsed: ParsedValue) -> tuple[tuple[int, ...], SchemaFault]:
        schema_path = tuple(error.evaluation_path[self._skipped :])
        path = _restore_path(parsed.value, error)
        ranks, expected = self._follow(schema_path, parsed.value, path)
        name = None
        while error.kind.name == "propertyNames":
            error = error.kind.value
            name = error.instance
        given = _restore_keys(parsed, path)
        instance = _find_instance(parsed, path, given) if name is None else name
        keyword = str(schema_path[-1]) if schema_path else ""
        if error.kind.name == "falseSchema" and keyword not in _CLOSED:
            keyword, expected = "", False
        if expected is _UNKNOWN:
            expected = error.kind.value
        return tuple(ranks), SchemaFault(keyword, expected, given, instance, error.message, schema_path)

    def _follow(self, schema_path: Path, value: Any, path: Iterable[str | int]) -> tuple[list[int], Any]:
        """Return a keyword's sort key, which is its position in the schema's reading order, and its value."""
        ranks: list[int] = []
        at: Any = self._schema
        parts = _Parts(value, path)
        previous: str | int = ""
        for step in schema_path:
            at, rank = _step(at, step)
            if at is _UNKNOWN:
                break
            ranks.append(rank)
            if previous == "properties":
                parts.take()
            elif step in _BY_PART or previous in _BY_NAME:
                ranks.append(parts.take())
            if step == "$ref" and isinstance(at, str):
                at = _resolve(self._root, at)
            previous = "" if previous in _BY_NAME or previous == "properties" else step
        return ranks, at


class _Parts:
    """The positions of the parts along a path into a value, level by level."""

    def __init__(self, value: Any, path: Iterable[str | int]) -> None:
        self._value = value
        self._path = iter(path)

    def take(self) -> int:
        key = next(self._path, None)
        self._value, position = _step(self._value, key)
        return position


def _find_all(validator: Validator, value: Any) -> Iterable[ValidationError]:
    return validator.iter_errors(value)


def _find_first(validator: Validator, value: Any) -> Iterable[ValidationError]:
    """Return at most one error; ``iter_errors`` builds all of them at once, each of several kilobytes."""
    from jsonschema_rs import ValidationError

    try:
        validator.validate(value)
    except ValidationError as error:
        return [error]
    return []


def is_schema(schema: Any) -> bool:
    """Return whether a JSON value is a valid schema of draft 2020-12 that can be compiled."""
    from jsonschema_rs import meta

    if isinstance(schema, bool):
        return True
    if not isinstance(schema, dict):
        return False
    stated = schema | {"$schema": _DRAFT}  # another address in $schema would be fetched
    return meta.is_valid(stated) and Document(stated).compile().is_compiled


def find_schema_fault(schema: Mapping[str, Any]) -> str:
    """Return the first rule of draft 2020-12 that a schema violates, with its place; empty if none."""
    from jsonschema_rs import ValidationError, meta

    try:
        meta.validate({**schema, "$schema": _DRAFT})
    except ValidationError as error:
        place = ".".join(map(str, error.instance_path))
        return f"{place}: {error.message}" if place else error.message
    except (TypeError, ValueError) as error:  # a part that JSON cannot represent
        return str(error)
    return ""


def fits(value: Any, schema: Mapping[str, Any]) -> bool:
    """Return whether a JSON value is valid under a self-contained schema; an invalid schema accepts all."""
    rules = Document(schema).compile()
    return not rules.is_compiled or rules.accepts(value)


def all_fit(values: Iterable[Any], schema: Mapping[str, Any]) -> bool:
    """Return whether all JSON values are valid under a self-contained schema."""
    return all(fits(value, schema) for value in values)


def _step(at: Any, key: str | int | None) -> tuple[Any, int]:
    for found in _list_keys(at, key):
        return at[found], found if isinstance(found, int) else list(at).index(found)
    return _UNKNOWN, 0


def _list_keys(at: Any, key: str | int | None) -> list[Any]:
    """Return the keys or positions in a dict or list that ``key`` of a path may mean."""
    if isinstance(at, list):
        return [key] if isinstance(key, int) and key < len(at) else []
    if not isinstance(at, dict):
        return []
    return [key] if key in at else [name for name in at if isinstance(key, int) and _is_written(name, key)]


def _is_written(name: str, number: int) -> bool:
    digits = name.removeprefix("+")
    return digits.isascii() and digits.isdecimal() and len(digits) < 100 and int(digits) == number


def _point_to_root(schema: Any) -> Any:
    """Make local references absolute, so that the schema can be compiled outside of the document."""
    if isinstance(schema, list):
        return [_point_to_root(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    pointed = {key: _point_to_root(part) for key, part in schema.items()}
    reference = schema.get("$ref")
    is_local = isinstance(reference, str) and reference.startswith("#")
    return pointed | ({"$ref": f"{_BASE}{reference}"} if is_local else {})


def _resolve(root: Any, reference: str) -> Any:
    reference = reference.removeprefix(_BASE)
    if not reference.startswith("#"):
        return _UNKNOWN
    at = root
    for key in unquote(reference[1:]).split("/")[1:]:
        name = key.replace("~1", "/").replace("~0", "~")
        at, _ = _step(at, int(name) if isinstance(at, list) and name.isdecimal() else name)
    return at


def _accept_everything(_address: str) -> dict[str, Any]:
    """Substitute a remote schema with one that accepts everything."""
    return {}


def _escape(key: str) -> str:
    return quote(key.replace("~", "~0").replace("/", "~1"), safe="~")


def _has_reference(schema: Any) -> bool:
    if isinstance(schema, dict):
        return not _REFERENCES.isdisjoint(schema) or any(map(_has_reference, schema.values()))
    return isinstance(schema, list) and any(map(_has_reference, schema))


def _is_violation(error: ValidationError) -> bool:
    """Return whether the error is a violation, as opposed to a failure of the validator itself."""
    from jsonschema_rs import ValidationErrorKind as Kind

    return not isinstance(
        error.kind, Kind.BacktrackLimitExceeded | Kind.RegexEngineFailure | Kind.Referencing
    )


def _restore_path(value: Any, error: ValidationError) -> Path:
    """Return the path of the error's instance.

    The validator's paths omit empty keys and turn keys that consist of digits into positions.
    """
    path = tuple(error.instance_path)
    if error.kind.name == "falseSchema":
        return path
    return next(_list_paths(value, path, error.instance), path)


def _list_paths(at: Any, path: Path, wanted: Any) -> Iterator[Path]:
    if not path and at == wanted:
        yield ()
    for key in _list_keys(at, path[0]) if path else ():
        yield from ((key, *rest) for rest in _list_paths(at[key], path[1:], wanted))
    if isinstance(at, dict) and "" in at:
        yield from (("", *rest) for rest in _list_paths(at[""], path, wanted))


def _restore_keys(parsed: ParsedValue, path: Path) -> Path:
    """Return the path with the original keys, in which lone surrogates were replaced."""
    at, given = parsed.value, parsed.original
    names: list[str | int] = []
    for key in path:
        is_replaced = isinstance(given, dict) and key not in given
        names.append(list(given)[list(at).index(key)] if is_replaced else key)
        at, given = at[key], given[names[-1]]
    return tuple(names)


def _find_instance(parsed: ParsedValue, path: Path, given: Path) -> Any:
    found = [invalid.part for invalid in parsed.invalid if invalid.path == given]
    if found:
        return found[0]
    return _find(parsed.value, path) if parsed.invalid else _find(parsed.original, given)


def _find(at: Any, path: Path) -> Any:
    for key in path:
        at, _ = _step(at, key)
    return at


def _is_inside(fault: SchemaFault, invalid: Iterable[InvalidPart]) -> bool:
    holders: Iterator[InvalidPart] = (item for item in invalid if fault.path[: len(item.path)] == item.path)
    return any(fault.path != item.path or fault.keyword != "type" for item in holders)
