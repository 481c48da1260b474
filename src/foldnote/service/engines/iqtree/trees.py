"""The tree that IQ-TREE writes: its nodes, and where parsimony puts gaps in them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

_PIECE = re.compile(r"[(),;]|[^(),;]+")


@dataclass(eq=False)
class Node:
    """A tip or an ancestor, with the branch above it."""

    name: str = ""
    label: str = ""
    """The name in IQ-TREE's files."""
    length: float | None = None
    """Branch length to the parent; None for the first node."""
    support: float | None = None
    """Share of replicates with the branch above, in per cent."""
    parent: Node | None = None
    children: list[Node] = field(default_factory=list)

    @property
    def is_tip(self) -> bool:
        """Whether it is a given sequence."""
        return not self.children

    def walk(self) -> Iterator[Node]:
        """Yield the node and all below it, each before its children."""
        stack = [self]
        while stack:
            node = stack.pop()
            yield node
            stack.extend(reversed(node.children))

    def count_tips(self) -> int:
        """Count the given sequences below it."""
        return sum(node.is_tip for node in self.walk())


def read_newick(text: str) -> Node:
    """Parse a Newick text whose labels need no quotes; a label is ``name`` or ``name/support``."""
    root = node = Node()
    for piece in _PIECE.findall(text.strip()):
        if piece == "(":
            node = _add_child(node)
        elif piece == "," and node.parent is not None:
            node = _add_child(node.parent)
        elif piece == ")" and node.parent is not None:
            node = node.parent
        elif piece != ";":
            _read_label(node, piece)
    return root


def _add_child(parent: Node) -> Node:
    child = Node(parent=parent)
    parent.children.append(child)
    return child


def _read_label(node: Node, text: str) -> None:
    label, _, length = text.strip().partition(":")
    name, _, support = label.partition("/")
    node.name = node.label = name
    node.support = float(support) if support else None
    node.length = float(length) if length else None


def write_newick(root: Node) -> str:
    """Return the tree as Newick; names with characters besides letters, digits and ``_.-|`` are quoted.

    An ancestor with support is labelled ``name/support``, as IQ-TREE does.
    """
    written: dict[Node, str] = {}
    for node in reversed(list(root.walk())):
        below = f"({','.join(written.pop(child) for child in node.children)})" if node.children else ""
        label = node.name if node.support is None else f"{node.name}/{node.support:g}"
        length = "" if node.length is None else f":{node.length:.10f}"
        written[node] = f"{below}{_quote(label)}{length}"
    return f"{written[root]};\n"


def _quote(label: str) -> str:
    if re.fullmatch(r"[\w.\-|/]+", label, re.ASCII):
        return label
    return "'" + label.replace("'", "''") + "'"


def find_gaps(root: Node, rows: dict[str, Sequence[bool]]) -> dict[str, list[bool]]:
    """Return for each ancestor whether it has a gap at each site, by Fitch's parsimony on gap or no gap.

    If both cost the same, the ancestor has no gap.

    Args:
        root: the tree.
        rows: for each tip, whether it has a gap at each site.

    Returns:
        For each ancestor, one value per site.
    """
    order = list(root.walk())
    possible: dict[Node, list[int]] = {}
    for node in reversed(order):
        if node.is_tip:
            possible[node] = [2 if has_gap else 1 for has_gap in rows[node.name]]
        else:
            possible[node] = [
                _join_sets(states) for states in zip(*(possible[each] for each in node.children), strict=True)
            ]
    chosen: dict[Node, list[int]] = {}
    for node in order:
        above = chosen.get(node.parent) if node.parent else None
        sets = possible[node]
        chosen[node] = [
            above[site] if above and states & above[site] else (1 if states & 1 else 2)
            for site, states in enumerate(sets)
        ]
    return {node.name: [state == 2 for state in chosen[node]] for node in order if not node.is_tip}


def _join_sets(states: Sequence[int]) -> int:
    """Return the states that most children allow: 1 no gap, 2 gap, 3 both."""
    without, with_gap = (sum(bool(each & bit) for each in states) for bit in (1, 2))
    return (without >= with_gap) + 2 * (with_gap >= without)
