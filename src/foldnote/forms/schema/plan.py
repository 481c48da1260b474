"""Which fields an object schema can have, and which of them apply for given values.

The conditional keywords ``if``/``then``/``else``, ``allOf``, ``dependentSchemas``, ``dependentRequired``, and
``oneOf`` or ``anyOf`` of objects with a discriminator property, are converted once to parts with conditions.
A condition is a schema that the validator evaluates. ``x-foldnote.appliesWhen`` and ``appliesIf`` add further
conditions.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, NamedTuple

from foldnote.catalog.checks.row import matches
from foldnote.catalog.keywords import Document, Rules
from foldnote.catalog.prepared_schema import CONDITION
from foldnote.forms.schema.resolution import find_discriminator, narrow, read_fixed, resolve, says_more
from foldnote.forms.schema.spec import MISSING, SHAPES, FieldSpec, rank_specs, read_spec

_MAX_ROUNDS: Final = 8
_MAX_LEVELS: Final = 12


class Condition(NamedTuple):
    """A schema that the object must match (``is_wanted``) or must not match."""

    rules: Rules
    is_wanted: bool = True

    def holds(self, value: Mapping[str, Any]) -> bool:
        """Return whether the object ``value`` meets the condition."""
        return self.rules.accepts(dict(value)) is self.is_wanted


When = tuple[Condition, ...]
"""Conditions that must all hold."""


class Part(NamedTuple):
    """One description of a property."""

    spec: FieldSpec
    whens: tuple[When, ...]
    """The part applies when all conditions of one of these hold."""
    note: Condition | None = None
    """A further condition, from ``x-foldnote.appliesIf``, evaluated with defaults filled in."""
    narrowings: tuple[tuple[Mapping[str, Any], When], ...] = ()
    """Conditional descriptions that narrow this one, each with its conditions."""

    def describe(self, holding: tuple[int, ...]) -> FieldSpec:
        """Return the specification narrowed by the conditional descriptions at the indices ``holding``."""
        if not holding:
            return self.spec
        schema: Mapping[str, Any] = self.spec.schema
        for index in holding:
            schema = narrow(schema, self.narrowings[index][0], is_nearer=True)
        spec = read_spec(self.spec.path, schema, self.spec.root, required=self.spec.required)
        return spec._replace(nullable=self.spec.nullable)


class Requirement(NamedTuple):
    """Names that are required, or forbidden, under conditions."""

    names: frozenset[str]
    when: When


class PlanState(NamedTuple):
    """The outcome of a plan for given values."""

    value: dict[str, Any]
    applying: frozenset[int]
    """Positions of the parts that apply; of several with one name, the first."""
    required: frozenset[str]
    narrowings: Mapping[int, tuple[int, ...]]
    """Indices of the conditional descriptions that hold, by position of the part; others are left out."""


class Plan:
    """Everything that an object schema can require, with the conditions."""

    def __init__(self) -> None:
        self.parts: tuple[Part, ...] = ()
        self.requirements: list[Requirement] = []
        self.bans: list[Requirement] = []
        self.options: list[tuple[When, Rules]] = []
        """The options of unions, each with the conditions that select it."""
        self.kinds: list[Requirement] = []
        """Discriminators of unions that are required."""
        self.more: FieldSpec | None = None
        """The field for additional properties, if the schema describes them."""

    def evaluate(self, raw: Mapping[int, Any]) -> PlanState:
        """Find what applies when the parts have the values ``raw``, by position.

        Values of fields that do not apply are ignored: the search is repeated until the result is stable.
        """
        parts = [(position, part) for position, part in enumerate(self.parts)]
        filled = {
            part.spec.name: filled_value
            for position, part in reversed(parts)
            if (filled_value := _fill(part.spec, raw[position])) is not MISSING
        }
        value: dict[str, Any] = {}
        applying: frozenset[int] = frozenset()
        for _ in range(_MAX_ROUNDS):
            candidates = frozenset(self._choose(parts, value, filled))
            if candidates == applying:
                break
            applying = candidates
            value = {
                part.spec.name: raw[position]
                for position, part in parts
                if position in applying and raw[position] is not MISSING
            }
        required = frozenset(
            name
            for requirement in self.requirements
            if _hold(requirement.when, value)
            for name in requirement.names
        )
        return PlanState(value, applying, required, self._list_narrowings(value))

    def _list_narrowings(self, value: Mapping[str, Any]) -> dict[int, tuple[int, ...]]:
        indices = {
            position: tuple(index for index, (_, when) in enumerate(part.narrowings) if _hold(when, value))
            for position, part in enumerate(self.parts)
            if part.narrowings
        }
        return {position: holding for position, holding in indices.items() if holding}

    def _choose(
        self, parts: Iterable[tuple[int, Part]], value: Mapping[str, Any], filled: Mapping[str, Any]
    ) -> Iterator[int]:
        banned = {name for ban in self.bans if _hold(ban.when, value) for name in ban.names}
        excluded: set[str] = set(banned)
        for position, part in parts:
            name = part.spec.name
            if name in excluded or not any(_hold(when, value) for when in part.whens):
                continue
            is_noted = part.note is None or part.note.holds(filled)
            if is_noted and matches(part.spec.notes.get("appliesWhen"), filled):
                excluded.add(name)
                yield position


def read_plan(schema: Mapping[str, Any], root: Mapping[str, Any], path: tuple[str, ...] = ()) -> Plan:
    """Return the plan of an object schema; references are looked up in ``root``."""
    reader = _PlanReader(root, path)
    reader.read(schema, (), 0)
    return reader.finish(_read_more(resolve(schema, root), root, path))


class _PlanReader:
    def __init__(self, root: Mapping[str, Any], path: tuple[str, ...]) -> None:
        self._root = root
        self._path = path
        self._plan = Plan()
        self._document: Document | None = None
        self._descriptions: dict[str, list[tuple[dict[str, Any], When]]] = {}
        self._narrowings: dict[str, list[tuple[dict[str, Any], When]]] = {}

    def read(self, schema: Any, when: When, level: int) -> None:
        plain = resolve(schema, self._root)
        if level > _MAX_LEVELS or not plain:
            return
        self._read_properties(plain, when)
        for part in _listed(plain.get("allOf")):
            self.read(part, when, level + 1)
        if "if" in plain:
            test = self._compile(plain["if"])
            self.read(plain.get("then"), (*when, Condition(test)), level + 1)
            self.read(plain.get("else"), (*when, Condition(test, is_wanted=False)), level + 1)
        self._read_dependencies(plain, when, level)
        for keyword in ("oneOf", "anyOf"):
            self._read_union(_listed(plain.get(keyword)), when, level)

    def finish(self, more: FieldSpec | None) -> Plan:
        for name in sorted(name for requirement in self._plan.requirements for name in requirement.names):
            self._descriptions.setdefault(name, [({}, ())])  # required but not described: always shown
        parts = [
            self._make_part(name, child, alternatives)
            for name, descriptions in self._descriptions.items()
            for child, alternatives in _group(descriptions)
        ]
        positions = {id(part.spec): part for part in parts}
        self._plan.parts = tuple(positions[id(spec)] for spec in rank_specs(part.spec for part in parts))
        self._plan.more = more
        return self._plan

    def _make_part(self, name: str, child: Any, alternatives: list[tuple[Any, When]]) -> Part:
        spec = self._read_spec(name, child, alternatives)
        condition_schema = spec.notes.get(CONDITION)
        rules = self._compile(condition_schema) if isinstance(condition_schema, Mapping) else None
        note = Condition(rules) if rules is not None and rules.is_compiled else None
        whens = tuple(when for _, when in alternatives)
        narrowings = tuple(
            (child, narrowing_when)
            for child, narrowing_when in self._narrowings.get(name, ())
            if any(set(when) <= set(narrowing_when) for when in whens)
        )
        return Part(spec, whens, note, narrowings)

    def _read_spec(self, name: str, child: Any, alternatives: list[tuple[Any, When]]) -> FieldSpec:
        """Return the specification, required if the property is required whenever the part applies."""
        whens = [when for _, when in alternatives]
        is_required = all(
            any(
                name in requirement.names and set(requirement.when) <= set(when)
                for requirement in self._plan.requirements
            )
            for when in whens
        )
        return read_spec((*self._path, name), child, self._root, required=is_required)

    def _read_properties(self, plain: Mapping[str, Any], when: When) -> None:
        properties = plain.get("properties")
        for name, child in properties.items() if isinstance(properties, Mapping) else ():
            if child is False:
                self._plan.bans.append(Requirement(frozenset([name]), when))
                continue
            self._add(name, child, when)
        required = frozenset(_listed(plain.get("required"), str))
        if required:
            self._plan.requirements.append(Requirement(required, when))
        excluded = plain.get("not")
        if isinstance(excluded, Mapping) and set(excluded) == {"required"}:
            banned = _listed(excluded["required"], str)
            if len(banned) == 1:
                self._plan.bans.append(Requirement(frozenset(banned), when))

    def _add(self, name: str, child: Any, when: When) -> None:
        """Add a description of a property.

        A description that holds only if an earlier one does is kept as a conditional description that narrows
        it.
        """
        descriptions = self._descriptions.setdefault(name, [])
        has_shape = _has_shape(child, self._root)
        for earlier, earlier_when in descriptions:
            is_wider = not set(earlier_when) - set(when)
            if is_wider and (not has_shape or _has_shape(earlier, self._root)):
                self._add_narrowing(name, child, when, set(when) - set(earlier_when))
                return
        if has_shape:
            shapeless = [pair for pair in descriptions if not _has_shape(pair[0], self._root)]
            earlier_children = [pair[0] for pair in shapeless if isinstance(pair[0], Mapping)]
            notes = {key: value for earlier in earlier_children for key, value in earlier.items()}
            descriptions[:] = [
                pair for pair in descriptions if pair not in shapeless or set(pair[1]) - set(when)
            ]
            child = notes | dict(child) if notes else child
        descriptions.append((child, when))

    def _add_narrowing(self, name: str, child: Any, when: When, conditions: set[Condition]) -> None:
        """Keep a conditional description if it has conditions and keywords that a form shows."""
        plain = resolve(child, self._root)
        if conditions and says_more(plain):
            self._narrowings.setdefault(name, []).append((plain, when))

    def _read_dependencies(self, plain: Mapping[str, Any], when: When, level: int) -> None:
        for keyword in ("dependentRequired", "dependentSchemas", "dependencies"):
            dependencies = plain.get(keyword)
            for name, dependency in dependencies.items() if isinstance(dependencies, Mapping) else ():
                present = (*when, Condition(self._compile({"required": [name]})))
                self.read(
                    {"required": dependency} if isinstance(dependency, list) else dependency,
                    present,
                    level + 1,
                )

    def _read_union(self, options: list[Any], when: When, level: int) -> None:
        plains = [resolve(option, self._root) for option in options]
        name = find_discriminator(plains, self._root)
        if name is None:
            for plain in plains:
                self.read({key: plain[key] for key in ("properties",) if key in plain}, when, level + 1)
            return
        self._descriptions[name] = [(self._join_kinds(name, plains), when)]
        if any(name in _listed(plain.get("required"), str) for plain in plains):
            self._plan.requirements.append(Requirement(frozenset([name]), when))
            self._plan.kinds.append(self._plan.requirements[-1])
        for plain in plains:
            kind = read_fixed(plain["properties"][name], self._root)[0]
            is_kind = {"properties": {name: {"const": kind}}, "required": [name]}
            chosen_when = (*when, Condition(self._compile(is_kind)))
            self._plan.options.append((chosen_when, self._compile(plain)))
            other_properties = {key: child for key, child in plain["properties"].items() if key != name}
            self.read(plain | {"properties": other_properties}, chosen_when, level + 1)

    def _join_kinds(self, name: str, plains: list[dict[str, Any]]) -> dict[str, Any]:
        """Return the schema of the discriminator, with one labelled choice per option."""
        children = [resolve(plain["properties"][name], self._root) for plain in plains]
        choices = [
            {
                "const": read_fixed(child, self._root)[0],
                "title": plain.get("title") or str(read_fixed(child, self._root)[0]),
            }
            for child, plain in zip(children, plains, strict=True)
        ]
        labels = {key: children[0][key] for key in ("title", "description") if key in children[0]}
        defaults = [child["default"] for child in children if "default" in child]
        is_agreed = len(set(map(repr, defaults))) == 1
        return labels | {"oneOf": choices} | ({"default": defaults[0]} if is_agreed else {})

    def _compile(self, schema: Any) -> Rules:
        if self._document is None:
            self._document = Document.of(self._root)
        mapping = schema if isinstance(schema, Mapping) else {"not": {}} if schema is False else {}
        return self._document.compile_part(mapping)


def _read_more(plain: Mapping[str, Any], root: Mapping[str, Any], path: tuple[str, ...]) -> FieldSpec | None:
    """Return the field for additional properties; None if they are forbidden or not described."""
    described = {key: plain[key] for key in ("additionalProperties", "patternProperties") if plain.get(key)}
    if not any(isinstance(value, Mapping) and value for value in described.values()):
        return None
    title = "Other names" if plain.get("properties") else "Names and values"
    return read_spec((*path, title), {"type": "object", "title": title, **described}, root, required=False)


def _group(descriptions: list[tuple[Any, When]]) -> Iterator[tuple[Any, list[tuple[Any, When]]]]:
    """Group equal descriptions of one property."""
    groups: dict[str, list[tuple[Any, When]]] = {}
    for child, when in descriptions:
        groups.setdefault(repr(child), []).append((child, when))
    for alternatives in groups.values():
        yield alternatives[0][0], alternatives


def _has_shape(child: Any, root: Mapping[str, Any]) -> bool:
    """Return whether a description constrains the kind of value."""
    return any(key in SHAPES for key in resolve(child, root))


def _listed(value: Any, kind: type = object) -> list[Any]:
    return [item for item in value if isinstance(item, kind)] if isinstance(value, list) else []


def _hold(when: When, value: Mapping[str, Any]) -> bool:
    return all(condition.holds(value) for condition in when)


def _fill(spec: FieldSpec, value: Any) -> Any:
    return spec.default if value is MISSING else value
