"""Validate values against JSON Schema draft 2020-12, and report each broken keyword as a plain record.

The only module that knows the validator. It is compiled code that loads in a few milliseconds, which counts
because each notebook and each service waits for it once. No reference is fetched from anywhere, ``format``
is a remark, and a schema that cannot be compiled is left to the service that it came from.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Final, NamedTuple
from urllib.parse import quote, unquote

from foldnote.catalog.extent import Extent, Survey
from foldnote.catalog.json_values import TOO_LARGE, Odd, Path, Plain, read_plain

if TYPE_CHECKING:
    from jsonschema_rs import FancyRegexOptions, RegexOptions, Registry, ValidationError, Validator

_BASE = "json-schema:///foldnote"
_DRAFT = "https://json-schema.org/draft/2020-12/schema"
_REFERENCES = {"$ref", "$dynamicRef"}
_BY_PART = {"items", "additionalProperties", "unevaluatedProperties", "unevaluatedItems"}
"""Keywords whose schema applies to one part of the value after another."""
_BY_NAME = {"patternProperties", "prefixItems"}
_CLOSED: Final = {"additionalProperties", "unevaluatedProperties"}
_UNKNOWN = object()
_MOST_RECENT: Final = 4
_MANY_VISITS: Final = 20_000
"""Times that a subschema is held against a part of a value; above them only the first fault is looked for."""
MOST_VISITS: Final = 20_000_000
"""The same beyond which nothing is held against the value: about a second."""
MOST_LETTERS_MATCHED: Final = 400_000_000
"""Characters of a value's texts times patterns; of patterns that look around or back, their square."""
_FEW_LETTERS: Final = 1000
_PATTERN_BYTES: Final = 8 << 20
_MOST_BACKTRACKS: Final = 100_000


class SchemaFault(NamedTuple):
    """One keyword that a value breaks."""

    keyword: str
    wanted: Any
    """The keyword's value in the schema."""
    path: Path
    """Where in the value."""
    instance: Any
    """What stands there."""
    message: str
    """The validator's own words, which call the instance "it"."""
    place: Path
    """Where in the schema the keyword was met."""


class Document:
    """A whole schema, whose parts refer to one another."""

    _recent: ClassVar[dict[int, tuple[Mapping[str, Any], Document]]] = {}

    def __init__(self, schema: Mapping[str, Any]) -> None:
        self.root: dict[str, Any] = read_plain(dict(schema)).value | {"$schema": _DRAFT}

    @classmethod
    def of(cls, schema: Mapping[str, Any]) -> Document:
        """The document of this very object, read once while its parts are compiled one after another."""
        found = cls._recent.get(id(schema))
        if found is None:
            for key in list(cls._recent)[: 1 - _MOST_RECENT]:
                cls._recent.pop(key, None)
            found = cls._recent[id(schema)] = schema, cls(schema)  # kept, so that no other has its id
        return found[1]

    @cached_property
    def survey(self) -> Survey:
        """How large the parts of the schema are."""
        return Survey(self.root)

    @cached_property
    def registry(self) -> Registry:
        """Where the validator finds what the schema refers to."""
        from jsonschema_rs import Draft202012, Registry

        return Registry([(_BASE, self.root)], draft=Draft202012, retriever=_leave)

    def compile(self, *pointer: str) -> Rules:
        """The part of the schema that these keys lead to, ready; without keys the whole."""
        return Rules(self, pointer)

    def compile_part(self, schema: Mapping[str, Any]) -> Rules:
        """A schema that stands anywhere in the document, or was made of its parts, ready."""
        return Rules(self, (), _point_to_root(read_plain(dict(schema)).value))


class Rules:
    """One schema, ready to be held against values by any thread."""

    def __init__(self, document: Document, pointer: tuple[str, ...], part: Any = None) -> None:
        self._document = document
        self._root = document.root
        self._schema: Any = self._root if part is None else part
        for key in pointer:
            self._schema, _ = _step(self._schema, key)
        has_reference = _has_reference(self._schema)
        self._is_tried = False
        """Whether a pattern looks around or back, which takes the square of a text's length."""
        self._skipped = 1 if has_reference and part is None else 0
        pointed: Any = {"$ref": _BASE + "/".join(("#", *map(_escape, pointer)))}
        self._validator = self._compile(self._schema if part is not None else pointed, has_reference)

    def is_met(self, value: Any) -> bool:
        """Whether ``value``, plain JSON, breaks nothing; False for a schema that could not be compiled."""
        if self._validator is None or self._is_too_much(read_plain(value)):
            return False
        return self._validator.is_valid(value)

    @property
    def is_usable(self) -> bool:
        """Whether the schema could be compiled; where it could not, nothing is ever found."""
        return self._validator is not None

    def find_faults(self, plain: Plain) -> list[SchemaFault]:
        """Every keyword that the value breaks, wrong types first, then in the order of the schema.

        Inside a part that is not JSON only a wrong type is reported; where schema and value are both large,
        only the first broken keyword. Nothing is found by a schema that could not be compiled.
        """
        if self._validator is None:
            return []
        if self._is_too_much(plain):
            return [SchemaFault(TOO_LARGE, None, (), plain.given, "it is too large to be checked", ())]
        errors = _find_first if self._has_many_faults(plain) else _find_all
        found = [self._read(error, plain) for error in errors(self._validator, plain.value) if _told(error)]
        found.sort(key=lambda pair: (pair[1].keyword != "type", pair[0]))
        return [fault for _, fault in found if not _is_inside(fault, plain.odd)]

    @cached_property
    def _extent(self) -> Extent:
        return self._document.survey.measure(self._schema)

    def _is_too_much(self, plain: Plain) -> bool:
        """Whether holding the schema against the value would take seconds."""
        if plain.parts * self._extent.subschemas > MOST_VISITS:
            return True
        letters = plain.letters**2 if self._is_tried else plain.letters
        return plain.letters > _FEW_LETTERS and letters * self._extent.patterns > MOST_LETTERS_MATCHED

    def _has_many_faults(self, plain: Plain) -> bool:
        """Whether there may be so many faults that making them all takes seconds."""
        return plain.parts * self._extent.subschemas > _MANY_VISITS

    def _compile(self, schema: Any, has_reference: bool) -> Validator | None:
        from jsonschema_rs import FancyRegexOptions, RegexOptions

        if self._document.survey.find_excess(self._schema):
            return None
        linear = RegexOptions(size_limit=_PATTERN_BYTES, dfa_size_limit=_PATTERN_BYTES)
        found = self._compile_with(schema, has_reference, linear)
        if found is None and self._extent.patterns:
            tried = FancyRegexOptions(backtrack_limit=_MOST_BACKTRACKS, size_limit=_PATTERN_BYTES)
            found, self._is_tried = self._compile_with(schema, has_reference, tried), True
        return found

    def _compile_with(
        self, schema: Any, has_reference: bool, patterns: RegexOptions | FancyRegexOptions
    ) -> Validator | None:
        from jsonschema_rs import Draft202012Validator, ReferencingError

        try:
            return Draft202012Validator(
                schema if has_reference else self._schema,
                registry=self._document.registry if has_reference else None,
                validate_formats=False,
                offline=True,
                mask="it",
                pattern_options=patterns,
            )
        except (ValueError, TypeError, ReferencingError):
            return None

    def _read(self, error: ValidationError, plain: Plain) -> tuple[tuple[int, ...], SchemaFault]:
        place = tuple(error.evaluation_path[self._skipped :])
        path = _restore_path(plain.value, error)
        ranks, wanted = self._follow(place, plain.value, path)
        name = None
        while error.kind.name == "propertyNames":
            error = error.kind.value
            name = error.instance
        given = _name_as_given(plain, path)
        instance = _find_instance(plain, path, given) if name is None else name
        keyword = str(place[-1]) if place else ""
        if error.kind.name == "falseSchema" and keyword not in _CLOSED:
            keyword, wanted = "", False
        if wanted is _UNKNOWN:
            wanted = error.kind.value
        return tuple(ranks), SchemaFault(keyword, wanted, given, instance, error.message, place)

    def _follow(self, place: Path, value: Any, path: Iterable[str | int]) -> tuple[list[int], Any]:
        """The order in which a reader of the schema comes to a place in it, and what stands there."""
        ranks: list[int] = []
        at: Any = self._schema
        parts = _Parts(value, path)
        before: str | int = ""
        for step in place:
            at, rank = _step(at, step)
            if at is _UNKNOWN:
                break
            ranks.append(rank)
            if before == "properties":
                parts.take()
            elif step in _BY_PART or before in _BY_NAME:
                ranks.append(parts.take())
            if step == "$ref" and isinstance(at, str):
                at = _look_up(self._root, at)
            before = "" if before in _BY_NAME or before == "properties" else step
        return ranks, at


class _Parts:
    """The positions, level by level, of the parts that lead to a place in a value."""

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
    """One error at most: the validator makes all of them at once, and each takes kilobytes."""
    from jsonschema_rs import ValidationError

    try:
        validator.validate(value)
    except ValidationError as error:
        return [error]
    return []


def is_schema(schema: Any) -> bool:
    """Whether plain JSON is a schema of draft 2020-12 that can be held against values."""
    from jsonschema_rs import meta

    if isinstance(schema, bool):
        return True
    if not isinstance(schema, dict):
        return False
    stated = schema | {"$schema": _DRAFT}  # whatever else it says there would be fetched
    return meta.is_valid(stated) and Document(stated).compile().is_usable


def fits(value: Any, schema: Mapping[str, Any]) -> bool:
    """Whether plain JSON breaks nothing of a schema that stands alone; one that is none takes everything."""
    rules = Document(schema).compile()
    return not rules.is_usable or rules.is_met(value)


def _step(at: Any, key: str | int | None) -> tuple[Any, int]:
    for found in _list_keys(at, key):
        return at[found], found if isinstance(found, int) else list(at).index(found)
    return _UNKNOWN, 0


def _list_keys(at: Any, key: str | int | None) -> list[Any]:
    """Keys or positions that ``key`` of a path may refer to in a dict or list."""
    if isinstance(at, list):
        return [key] if isinstance(key, int) and key < len(at) else []
    if not isinstance(at, dict):
        return []
    return [key] if key in at else [name for name in at if isinstance(key, int) and _is_written(name, key)]


def _is_written(name: str, number: int) -> bool:
    digits = name.removeprefix("+")
    return digits.isascii() and digits.isdecimal() and len(digits) < 100 and int(digits) == number


def _point_to_root(schema: Any) -> Any:
    """The schema with its local references as addresses in the document, wherever it is compiled."""
    if isinstance(schema, list):
        return [_point_to_root(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    pointed = {key: _point_to_root(part) for key, part in schema.items()}
    reference = schema.get("$ref")
    is_local = isinstance(reference, str) and reference.startswith("#")
    return pointed | ({"$ref": f"{_BASE}{reference}"} if is_local else {})


def _look_up(root: Any, reference: str) -> Any:
    reference = reference.removeprefix(_BASE)
    if not reference.startswith("#"):
        return _UNKNOWN
    at = root
    for key in unquote(reference[1:]).split("/")[1:]:
        name = key.replace("~1", "/").replace("~0", "~")
        at, _ = _step(at, int(name) if isinstance(at, list) and name.isdecimal() else name)
    return at


def _leave(_address: str) -> dict[str, Any]:
    """Replace a remote schema by one that accepts everything."""
    return {}


def _escape(key: str) -> str:
    return quote(key.replace("~", "~0").replace("/", "~1"), safe="~")


def _has_reference(schema: Any) -> bool:
    if isinstance(schema, dict):
        return not _REFERENCES.isdisjoint(schema) or any(map(_has_reference, schema.values()))
    return isinstance(schema, list) and any(map(_has_reference, schema))


def _told(error: ValidationError) -> bool:
    """Whether the value broke a rule, rather than that the rule could not be followed to its end."""
    from jsonschema_rs import ValidationErrorKind as Kind

    return not isinstance(
        error.kind, Kind.BacktrackLimitExceeded | Kind.RegexEngineFailure | Kind.Referencing
    )


def _restore_path(value: Any, error: ValidationError) -> Path:
    """Where the error's instance is.

    In the validator's paths a key without a character is left out, and one of digits reads as a position.
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


def _name_as_given(plain: Plain, path: Path) -> Path:
    """The same path by the keys as given, some of which had lone surrogates."""
    at, given = plain.value, plain.given
    names: list[str | int] = []
    for key in path:
        is_mended = isinstance(given, dict) and key not in given
        names.append(list(given)[list(at).index(key)] if is_mended else key)
        at, given = at[key], given[names[-1]]
    return tuple(names)


def _find_instance(plain: Plain, path: Path, given: Path) -> Any:
    odd = [odd.part for odd in plain.odd if odd.path == given]
    if odd:
        return odd[0]
    return _find(plain.value, path) if plain.odd else _find(plain.given, given)


def _find(at: Any, path: Path) -> Any:
    for key in path:
        at, _ = _step(at, key)
    return at


def _is_inside(fault: SchemaFault, odd: Iterable[Odd]) -> bool:
    holders: Iterator[Odd] = (item for item in odd if fault.path[: len(item.path)] == item.path)
    return any(fault.path != item.path or fault.keyword != "type" for item in holders)
