"""Measure how large a JSON Schema becomes when its references are expanded, and whether that is too large.

A schema of one kilobyte can make a validator or a form visit its parts millions of times, with pairs of
references to pairs of references. `measure` counts without expanding, in time linear in the schema's size.
`find_excess` compares the counts with the limits below.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple
from urllib.parse import unquote, urldefrag, urljoin

MAX_SUBSCHEMAS: Final = 10_000
"""Maximum number of subschemas, with all references expanded."""
MAX_STEPS: Final = 64
"""Maximum number of nested references and applicators for the same part of a value."""
MAX_PARTS: Final = 50_000
"""Maximum number of values in the schema as written."""
MAX_OPTIONS: Final = 5_000
"""Maximum number of values of one ``enum``."""
MAX_PATTERNS: Final = 40
"""Maximum number of different regular expressions."""
MAX_PATTERN_LENGTH: Final = 5_000

_IN_PLACE: Final = ("not", "if", "then", "else")
_IN_PLACE_LISTS: Final = ("allOf", "anyOf", "oneOf")
_OF_ITEMS: Final = ("items", "contains", "unevaluatedItems")
_BASE: Final = "json-schema:///foldnote"
_NOTES, _CONDITION = "x-foldnote", "appliesIf"
_Tree = dict[str, Any]
_CAP: Final = 10**12


class SchemaSize(NamedTuple):
    """The size of a subschema with all references expanded."""

    subschemas: int
    """Number of subschemas, including itself; those of a recursive group count once."""
    patterns: int
    """Number of regular expressions in them."""
    steps: int
    """Length of the longest chain of references and applicators from it at the same part of the value."""
    longest: int
    """Length of the longest such chain from any subschema inside."""
    options: int
    """Number of values of the longest ``enum`` inside."""
    is_endless: bool
    """Whether a subschema refers to itself without descending into the value, an endless recursion."""
    is_branching: bool
    """Whether a recursive subschema applies to one part of a value more than once."""


class SchemaSizes:
    """The extents of the parts of one schema, computed on demand and cached.

    Args:
        schema: JSON types only, without shared containers; must not be modified afterwards.
    """

    def __init__(self, schema: _Tree) -> None:
        self._root = schema
        self._excess = _find_excess_of_size(schema)
        self._graph = _Graph(schema)
        self._found: dict[int, SchemaSize] = {}

    def find_excess(self, start: Any) -> str | None:
        """Explain why a part of the schema is too large, in words such as ``has more than …``; else None."""
        if self._excess:
            return self._excess
        if self._graph.has_inner_address:
            return "has an $id below the top level, which changes what a $ref means"
        found = self.measure(start)
        if found.is_endless:
            return "has a $ref that leads back to itself"
        if found.is_branching:
            return "applies itself twice to the same part of a value, so that its size doubles at every level"
        if found.subschemas > MAX_SUBSCHEMAS:
            return f"has more than {MAX_SUBSCHEMAS:,} parts when every $ref is expanded"
        if found.longest > MAX_STEPS:
            return f"has more than {MAX_STEPS} nested references and conditions"
        if found.options > MAX_OPTIONS:
            return f"has an enum of {found.options:,} values; the limit is {MAX_OPTIONS:,}"
        return self._graph.find_excess_of_patterns() if found.patterns else None

    def measure(self, start: Any) -> SchemaSize:
        """Measure a part of the schema; a boolean or another value counts as one subschema."""
        if not isinstance(start, dict):
            return SchemaSize(1, 0, 1, 1, 0, False, False)
        for group in self._graph.list_groups(start, self._found):
            self._measure_group(group)
        return self._found[id(start)]

    def _measure_group(self, group: list[int]) -> None:
        graph, found, members = self._graph, self._found, set(group)
        order = _order_in_place(group, graph)
        outside = [found[to] for each in group for to, _ in graph.edges[each] if to not in members]
        own = [graph.nodes[each] for each in group]
        options = [len(_as_list(each.get("enum"))) for each in own]
        whole = SchemaSize(
            subschemas=min(len(group) + sum(each.subschemas for each in outside), _CAP),
            patterns=min(
                sum(each.patterns for each in outside) + sum(len([*_list_patterns(each)]) for each in own),
                _CAP,
            ),
            steps=0,
            longest=max((each.longest for each in outside), default=0),
            options=max([*options, *(each.options for each in outside)]),
            is_endless=order is None or any(each.is_endless for each in outside),
            is_branching=any(each.is_branching for each in outside)
            or (order is not None and _is_branching(order, graph)),
        )
        steps: dict[int, int] = {}
        for each in order or group:
            lengths = [
                found[to].steps if to in found else steps.get(to, 0)
                for to, location in graph.edges[each]
                if location == ()
            ]
            steps[each] = 1 + max(lengths, default=0)
        longest = max(whole.longest, *steps.values())
        for each in group:
            found[each] = whole._replace(steps=steps[each], longest=longest)


def find_excess(schema: Any) -> str | None:
    """Explain why a complete schema, JSON types only, is too large to be used; None if it is not."""
    return SchemaSizes(schema).find_excess(schema) if isinstance(schema, dict) else None


def measure(schema: _Tree) -> SchemaSize:
    """Measure a complete schema with all references expanded."""
    return SchemaSizes(schema).measure(schema)


def _find_excess_of_size(schema: Any) -> str | None:
    """Explain why the schema as written is too large; None if it is not."""
    count, pending = 0, [schema]
    while pending and count + len(pending) <= MAX_PARTS:
        each = pending.pop()
        count += 1
        if isinstance(each, dict):
            pending += each.values()
        elif isinstance(each, list):
            pending += each
    return f"has more than {MAX_PARTS:,} values" if pending else None


def _list_patterns(schema: Mapping[str, Any]) -> Iterator[str]:
    if isinstance(schema.get("pattern"), str):
        yield schema["pattern"]
    yield from _as_dict(schema.get("patternProperties"))


_Location = tuple[str, ...]
"""The part of a value to which a subschema applies: () for the same part as its parent, else ("item",),
("member",), ("each member",), ("key",) or ("name", NAME)."""


@dataclass
class _VisitCounts:
    """How often a recursive schema applies to each part of a value."""

    items: int = 0
    members: int = 0
    names: Counter[str] = field(default_factory=Counter)

    def add(self, other: _VisitCounts) -> None:
        """Add the counts of a schema that applies to the same part."""
        for name in {*self.names, *other.names}:
            self.names[name] = self.of(name) + other.of(name)
        self.items += other.items
        self.members += other.members

    def of(self, name: str) -> int:
        return self.names.get(name, self.members)

    @property
    def most(self) -> int:
        return max((self.items, self.members, *self.names.values()))


class _Graph:
    """Subschemas by id, with edges to the subschemas that each one applies."""

    def __init__(self, root: _Tree) -> None:
        self._root = root
        self._anchors: dict[str, list[_Tree]] = {}
        self._patterns: set[str] = set()
        self.has_inner_address = False
        """Whether an ``$id`` below the top level changes the base of references."""
        own = root.get("$id")
        self._address = _join(_BASE, own) if isinstance(own, str) else _BASE
        self.nodes: dict[int, _Tree] = {}
        self.edges: dict[int, list[tuple[int, _Location]]] = {}
        self._collect()

    def _collect(self) -> None:
        pending: list[Any] = [self._root]
        while pending:
            each = pending.pop()
            if isinstance(each, dict):
                for keyword in ("$anchor", "$dynamicAnchor"):
                    if isinstance(each.get(keyword), str):
                        self._anchors.setdefault(each[keyword], []).append(each)
                self._patterns.update(_list_patterns(each))
                self.has_inner_address |= each is not self._root and isinstance(each.get("$id"), str)
                pending += each.values()
            elif isinstance(each, list):
                pending += each

    def find_excess_of_patterns(self) -> str | None:
        """Explain why the regular expressions are too many or too long; None if they are not."""
        if len(self._patterns) > MAX_PATTERNS:
            return f"has {len(self._patterns):,} different patterns; the limit is {MAX_PATTERNS}"
        if any(len(pattern) > MAX_PATTERN_LENGTH for pattern in self._patterns):
            return f"has a pattern of more than {MAX_PATTERN_LENGTH:,} characters"
        return None

    def _follow_from(self, start: _Tree) -> None:
        """Add a subschema and everything reachable from it to the graph."""
        pending = [start]
        while pending:
            each = pending.pop()
            if id(each) not in self.edges:
                found = [
                    (child, location) for child, location in self._list_edges(each) if isinstance(child, dict)
                ]
                self.nodes[id(each)] = each
                self.edges[id(each)] = [(id(child), location) for child, location in found]
                pending += [child for child, _ in found]

    def _list_edges(self, schema: _Tree) -> Iterator[tuple[Any, _Location]]:
        for keyword in ("$ref", "$dynamicRef"):
            if isinstance(schema.get(keyword), str):
                yield from ((found, ()) for found in self._follow(schema[keyword]))
        for keyword in _IN_PLACE:
            yield schema.get(keyword), ()
        for keyword in _IN_PLACE_LISTS:
            yield from ((each, ()) for each in _as_list(schema.get(keyword)))
        for keyword in ("dependentSchemas", "dependencies"):
            yield from ((each, ()) for each in _as_dict(schema.get(keyword)).values())
        yield _as_dict(schema.get(_NOTES)).get(_CONDITION), ()
        yield from ((schema.get(keyword), ("item",)) for keyword in _OF_ITEMS)
        yield from ((each, ("item",)) for each in _as_list(schema.get("prefixItems")))
        yield from ((each, ("name", name)) for name, each in _as_dict(schema.get("properties")).items())
        yield schema.get("additionalProperties"), ("member",)
        yield schema.get("unevaluatedProperties"), ("each member",)
        by_pattern = _as_dict(schema.get("patternProperties"))
        yield from ((each, ("each member",)) for each in by_pattern.values())
        yield schema.get("propertyNames"), ("key",)

    def _follow(self, reference: str) -> list[Any]:
        """Resolve a reference; empty if it points outside of the schema."""
        is_local = reference.startswith("#")
        address, fragment = urldefrag(reference) if is_local else urldefrag(_join(self._address, reference))
        if not is_local and unquote(address) not in (_BASE, unquote(self._address)):
            return []
        pointer = unquote(fragment)
        if pointer and not pointer.startswith("/"):
            return list(self._anchors.get(pointer, ()))
        at: Any = self._root
        for key in pointer.split("/")[1:]:
            name = key.replace("~1", "/").replace("~0", "~")
            if isinstance(at, list):
                at = at[int(name)] if _is_position(name) and int(name) < len(at) else None
            else:
                at = at.get(name) if isinstance(at, dict) else None
        return [at]

    def list_groups(self, start: _Tree, known: Container[int]) -> Iterator[list[int]]:
        """Yield the strongly connected components reachable from ``start``, successors first (Tarjan 1972).

        Known subschemas, and those reachable only through them, are left out.
        """
        self._follow_from(start)
        if id(start) in known:
            return
        index: dict[int, int] = {}
        low: dict[int, int] = {}
        stack: list[int] = []
        on_stack: set[int] = set()
        root = id(start)
        work = [(root, iter(self.edges[root]))]
        index[root] = low[root] = 0
        stack.append(root)
        on_stack.add(root)
        while work:
            at, edges = work[-1]
            for to, _ in edges:
                if to in known and to not in index:
                    continue
                if to not in index:
                    index[to] = low[to] = len(index)
                    stack.append(to)
                    on_stack.add(to)
                    work.append((to, iter(self.edges[to])))
                    break
                if to in on_stack:
                    low[at] = min(low[at], index[to])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[at])
                if low[at] == index[at]:
                    group = [stack.pop()]
                    while group[-1] != at:
                        group.append(stack.pop())
                    on_stack.difference_update(group)
                    yield group


def _order_in_place(group: list[int], graph: _Graph) -> list[int] | None:
    """Sort a group so that subschemas applied to the same part of a value come first; None for a cycle."""
    members = set(group)
    inner = {
        each: [to for to, location in graph.edges[each] if location == () and to in members] for each in group
    }
    unordered = {each: len(children) for each, children in inner.items()}
    parents: dict[int, list[int]] = {each: [] for each in group}
    for each, children in inner.items():
        for child in children:
            parents[child].append(each)
    ready = [each for each, count in unordered.items() if count == 0]
    order: list[int] = []
    while ready:
        each = ready.pop()
        order.append(each)
        for parent in parents[each]:
            unordered[parent] -= 1
            if unordered[parent] == 0:
                ready.append(parent)
    return order if len(order) == len(group) else None


def _is_branching(order: list[int], graph: _Graph) -> bool:
    """Return whether the recursion applies to one part of a value twice, doubling the work at each level."""
    members = set(order)
    reaches: dict[int, _VisitCounts] = {}
    for each in order:
        reach = _VisitCounts()
        all_members = 0
        for to, location in graph.edges[each]:
            if to not in members:
                continue
            match location:
                case ():
                    reach.add(reaches[to])
                case ("item",):
                    reach.items += 1
                case ("name", name):
                    reach.add(_VisitCounts(names=Counter({name: 1})))
                case ("member",):
                    own = _list_property_names(graph, each)
                    reach.add(_VisitCounts(members=1, names=Counter(dict.fromkeys(own, 0))))
                case ("each member",):
                    all_members += 1
        if all_members:
            reach.add(_VisitCounts(members=all_members))
        if reach.most > 1:
            return True
        reaches[each] = reach
    return False


def _list_property_names(graph: _Graph, each: int) -> list[str]:
    """Return the names of the properties of a subschema, which ``additionalProperties`` does not cover."""
    return [location[1] for _, location in graph.edges[each] if location[:1] == ("name",)]


def _join(base: str, address: str) -> str:
    """Join an address with its base; an invalid one is kept, without its fragment."""
    try:
        return urljoin(base, address)
    except ValueError:
        return address.partition("#")[0]


def _is_position(name: str) -> bool:
    return name.isdecimal() and len(name) < 10


def _as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _as_dict(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
