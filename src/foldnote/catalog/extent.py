"""How large a JSON Schema becomes when every ``$ref`` is followed, and whether that is too large to use.

A schema of a kilobyte can name its parts so that a validator, or a form, meets each of them millions of
times: pairs of references that lead to pairs of references. `measure` counts without expanding anything, in
time that grows with the text. `find_excess` compares with the limits below.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple
from urllib.parse import unquote, urldefrag, urljoin

MOST_SUBSCHEMAS: Final = 10_000
"""Of a schema whose references are all followed."""
MOST_STEPS: Final = 64
"""References and applicators one inside the other that concern the same part of a value."""
MOST_PARTS: Final = 50_000
"""Values of the schema as it is written."""
MOST_OPTIONS: Final = 5_000
"""Values of one ``enum``."""
MOST_PATTERNS: Final = 40
"""Different regular expressions."""
LONGEST_PATTERN: Final = 5_000

_IN_PLACE: Final = ("not", "if", "then", "else")
_IN_PLACE_LISTS: Final = ("allOf", "anyOf", "oneOf")
_OF_ITEMS: Final = ("items", "contains", "unevaluatedItems")
_OF_MEMBERS: Final = ("additionalProperties", "unevaluatedProperties")
_BASE: Final = "json-schema:///foldnote"
_NOTES, _CONDITION = "x-foldnote", "appliesIf"
_Tree = dict[str, Any]
_VERY_MANY: Final = 10**12


class Extent(NamedTuple):
    """What a subschema comes to, with every reference followed."""

    subschemas: int
    """Itself and those inside; a group that refers to itself counts once, as for one part of a value."""
    patterns: int
    """Regular expressions in them."""
    steps: int
    """The longest way from it that stays at one part of the value."""
    longest: int
    """The longest such way from any subschema inside."""
    options: int
    """Values of the longest ``enum`` inside."""
    is_endless: bool
    """Whether a subschema refers to itself without going on to a part of the value."""
    is_branching: bool
    """Whether one that refers to itself leads to one part of a value more than once."""


class Survey:
    """One schema and the extents of its parts, each found when it is asked for and then kept.

    Args:
        schema: plain JSON in which no container is shared; it must not change.
    """

    def __init__(self, schema: _Tree) -> None:
        self._root = schema
        self._whole = _find_excess_of_text(schema)
        self._graph = _Graph(schema)
        self._found: dict[int, Extent] = {}

    def find_excess(self, start: Any) -> str | None:
        """Why a part of the schema is too large to be used, as ``has more than …``; None where it is not."""
        if self._whole:
            return self._whole
        if self._graph.has_inner_address:
            return "has an $id below the top, which changes what a $ref means"
        found = self.measure(start)
        if found.is_endless:
            return "has a $ref that leads back to itself"
        if found.is_branching:
            return "refers to itself twice for one part of a value, so that its size doubles with every level"
        if found.subschemas > MOST_SUBSCHEMAS:
            return f"has more than {MOST_SUBSCHEMAS:,} parts once each $ref is followed"
        if found.longest > MOST_STEPS:
            return f"has more than {MOST_STEPS} references and conditions one inside the other"
        if found.options > MOST_OPTIONS:
            return f"has an enum of {found.options:,} values; {MOST_OPTIONS:,} can be used"
        return self._graph.find_excess_of_patterns() if found.patterns else None

    def measure(self, start: Any) -> Extent:
        """What a part of the schema comes to; a boolean or another value is one subschema."""
        if not isinstance(start, dict):
            return Extent(1, 0, 1, 1, 0, False, False)
        for group in self._graph.list_groups(start, self._found):
            self._measure_group(group)
        return self._found[id(start)]

    def _measure_group(self, group: list[int]) -> None:
        graph, found, members = self._graph, self._found, set(group)
        order = _order_in_place(group, graph)
        outside = [found[to] for each in group for to, _ in graph.edges[each] if to not in members]
        own = [graph.nodes[each] for each in group]
        options = [len(_as_list(each.get("enum"))) for each in own]
        whole = Extent(
            subschemas=min(len(group) + sum(each.subschemas for each in outside), _VERY_MANY),
            patterns=min(
                sum(each.patterns for each in outside) + sum(len([*_list_patterns(each)]) for each in own),
                _VERY_MANY,
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
            ways = [
                found[to].steps if to in found else steps.get(to, 0)
                for to, way in graph.edges[each]
                if way == ()
            ]
            steps[each] = 1 + max(ways, default=0)
        longest = max(whole.longest, *steps.values())
        for each in group:
            found[each] = whole._replace(steps=steps[each], longest=longest)


def find_excess(schema: Any) -> str | None:
    """Why a whole schema, plain JSON, is too large to be used; None where it is not."""
    return Survey(schema).find_excess(schema) if isinstance(schema, dict) else None


def measure(schema: _Tree) -> Extent:
    """What a whole schema comes to with every reference followed."""
    return Survey(schema).measure(schema)


def _find_excess_of_text(schema: Any) -> str | None:
    """What there is too much of in a schema as it is written."""
    count, waiting = 0, [schema]
    while waiting and count + len(waiting) <= MOST_PARTS:
        each = waiting.pop()
        count += 1
        if isinstance(each, dict):
            waiting += each.values()
        elif isinstance(each, list):
            waiting += each
    return f"has more than {MOST_PARTS:,} values" if waiting else None


def _list_patterns(schema: Mapping[str, Any]) -> Iterator[str]:
    if isinstance(schema.get("pattern"), str):
        yield schema["pattern"]
    yield from _as_dict(schema.get("patternProperties"))


_Way = tuple[str, ...]
"""Where a subschema holds: () at the same part of a value, else ("item",), ("member",), ("each member",),
("key",) or ("name", NAME)."""


@dataclass
class _Reach:
    """How many recursive ways lead from a part of a value to each part inside it."""

    items: int = 0
    members: int = 0
    names: Counter[str] = field(default_factory=Counter)

    def add(self, other: _Reach) -> None:
        """Ways of two schemas that both hold."""
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
    """Subschemas by identity, and what each of them leads to."""

    def __init__(self, root: _Tree) -> None:
        self._root = root
        self._anchors: dict[str, list[_Tree]] = {}
        self._patterns: set[str] = set()
        self.has_inner_address = False
        """Whether an ``$id`` below the top gives references another meaning."""
        own = root.get("$id")
        self._address = _join(_BASE, own) if isinstance(own, str) else _BASE
        self.nodes: dict[int, _Tree] = {}
        self.edges: dict[int, list[tuple[int, _Way]]] = {}
        self._look_through()

    def _look_through(self) -> None:
        waiting: list[Any] = [self._root]
        while waiting:
            each = waiting.pop()
            if isinstance(each, dict):
                for keyword in ("$anchor", "$dynamicAnchor"):
                    if isinstance(each.get(keyword), str):
                        self._anchors.setdefault(each[keyword], []).append(each)
                self._patterns.update(_list_patterns(each))
                self.has_inner_address |= each is not self._root and isinstance(each.get("$id"), str)
                waiting += each.values()
            elif isinstance(each, list):
                waiting += each

    def find_excess_of_patterns(self) -> str | None:
        """What is too much about the regular expressions of the whole schema."""
        if len(self._patterns) > MOST_PATTERNS:
            return f"has {len(self._patterns):,} different patterns; {MOST_PATTERNS} can be used"
        if any(len(pattern) > LONGEST_PATTERN for pattern in self._patterns):
            return f"has a pattern of more than {LONGEST_PATTERN:,} characters"
        return None

    def _follow_from(self, start: _Tree) -> None:
        """Find all that a subschema leads to."""
        waiting = [start]
        while waiting:
            each = waiting.pop()
            if id(each) not in self.edges:
                found = [(child, way) for child, way in self._list_edges(each) if isinstance(child, dict)]
                self.nodes[id(each)] = each
                self.edges[id(each)] = [(id(child), way) for child, way in found]
                waiting += [child for child, _ in found]

    def _list_edges(self, schema: _Tree) -> Iterator[tuple[Any, _Way]]:
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
        """What a reference leads to; nothing where that is outside of the schema."""
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
        """Subschemas that lead to one another, what they lead to before them (Tarjan's strong components).

        What is known already, and what it leads to, is left out.
        """
        self._follow_from(start)
        if id(start) in known:
            return
        index: dict[int, int] = {}
        low: dict[int, int] = {}
        held: list[int] = []
        is_held: set[int] = set()
        root = id(start)
        work = [(root, iter(self.edges[root]))]
        index[root] = low[root] = 0
        held.append(root)
        is_held.add(root)
        while work:
            at, edges = work[-1]
            for to, _ in edges:
                if to in known and to not in index:
                    continue
                if to not in index:
                    index[to] = low[to] = len(index)
                    held.append(to)
                    is_held.add(to)
                    work.append((to, iter(self.edges[to])))
                    break
                if to in is_held:
                    low[at] = min(low[at], index[to])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[at])
                if low[at] == index[at]:
                    group = [held.pop()]
                    while group[-1] != at:
                        group.append(held.pop())
                    is_held.difference_update(group)
                    yield group


def _order_in_place(group: list[int], graph: _Graph) -> list[int] | None:
    """The group with what each part leads to at the same place before it; None where that has no end."""
    members = set(group)
    inner = {each: [to for to, way in graph.edges[each] if way == () and to in members] for each in group}
    waits = {each: len(children) for each, children in inner.items()}
    above: dict[int, list[int]] = {each: [] for each in group}
    for each, children in inner.items():
        for child in children:
            above[child].append(each)
    ready = [each for each, count in waits.items() if count == 0]
    order: list[int] = []
    while ready:
        each = ready.pop()
        order.append(each)
        for parent in above[each]:
            waits[parent] -= 1
            if waits[parent] == 0:
                ready.append(parent)
    return order if len(order) == len(group) else None


def _is_branching(order: list[int], graph: _Graph) -> bool:
    """Whether one part of a value is met twice by the recursion, so that the work doubles at each level."""
    members = set(order)
    reaches: dict[int, _Reach] = {}
    for each in order:
        reach = _Reach()
        everywhere = 0
        for to, way in graph.edges[each]:
            if to not in members:
                continue
            match way:
                case ():
                    reach.add(reaches[to])
                case ("item",):
                    reach.items += 1
                case ("name", name):
                    reach.add(_Reach(names=Counter({name: 1})))
                case ("member",):
                    own = _as_names(graph, each)
                    reach.add(_Reach(members=1, names=Counter(dict.fromkeys(own, 0))))
                case ("each member",):
                    everywhere += 1
        if everywhere:
            reach.add(_Reach(members=everywhere))
        if reach.most > 1:
            return True
        reaches[each] = reach
    return False


def _as_names(graph: _Graph, each: int) -> list[str]:
    """Names of the properties of a part, which ``additionalProperties`` does not concern."""
    return [way[1] for _, way in graph.edges[each] if way[:1] == ("name",)]


def _join(base: str, address: str) -> str:
    """The address as a whole; one that is none stays as it is."""
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
