"""Trees are drawn to scale with the names of their nodes, up to a hundred tips and beyond."""

import re
import xml.etree.ElementTree as ET

import pandas as pd
import pytest

from foldnote.errors import ArgumentError
from foldnote.viewers import plot_tree


def make_nodes(tips=4):
    """Return a ladder of tips with made-up names, as a tree's table of nodes."""
    rows = [("Node1", "", None, None, 0.9), ("tip & <1>", "Node1", 0.5, None, None)]
    for number in range(2, tips):
        rows += [
            (f"Node{number}", f"Node{number - 1}", 0.25, 95.0, 0.8),
            (f"tip{number}", f"Node{number}", 0.5, None, None),
        ]
    rows.append((f"tip{tips}", f"Node{tips - 1}", 1.0, None, None))
    columns = ["node", "parent", "branch_length", "branch_support", "mean_posterior_probability"]
    return pd.DataFrame(rows, columns=columns)


def read_texts(plot):
    return [text.text for text in ET.fromstring(plot.svg).findall(".//{*}text")]


def test_a_tree_has_names_support_and_branches_to_scale():
    plot = plot_tree(make_nodes())
    assert plot.words.startswith("4 sequences and 3 ancestors; the longest path from Node1 is 1.5 ")
    texts = read_texts(plot)
    assert {"tip & <1>", "tip2", "tip3", "tip4", "Node1", "Node2 95", "Node3 95"} <= set(texts)
    curve = plot.drawing.marks[0]
    places = set(zip(curve.xs, curve.ys, strict=True))
    assert {(0.5, 3.0), (0.75, 2.0), (1.0, 1.0), (1.5, 0.0)} <= places
    assert 'title="Node2, support 95 %, mean probability 0.800"' in plot.to_html()


def test_branches_do_not_cross_in_whatever_order_the_nodes_are_given():
    """In a table by level, tips of different ancestors take turns."""
    parents = {"left": "root", "right": "root", "A": "left", "B": "right", "C": "left", "D": "right"}
    rows = [("root", "", None), *((node, parent, 1.0) for node, parent in parents.items())]
    plot = plot_tree(pd.DataFrame(rows, columns=["node", "parent", "branch_length"]))
    heights = {label.text: label.y for label in plot.drawing.marks[2:] if label.text in "ABCD"}
    assert sorted(heights, key=heights.__getitem__, reverse=True) == ["A", "C", "B", "D"]


def test_a_tree_of_a_hundred_tips_has_every_name():
    nodes = make_nodes(100)
    plot = plot_tree(nodes)
    tips = set(nodes["node"]) - set(nodes["parent"])
    assert tips <= set(read_texts(plot))
    assert plot.drawing.height / len(tips) > 15


def test_a_tree_of_very_many_tips_says_that_it_has_no_names():
    plot = plot_tree(make_nodes(400))
    assert "too many tips to name" in plot.words
    assert "tip7" not in read_texts(plot)


def read_printed(plot, path):
    """Return the texts of a figure as wide as a journal's column, and the size of each in points."""
    texts = ET.parse(plot.save(path, width_mm=85)).getroot().findall(".//{*}text")
    return {each.text: float(re.search(r"([\d.]+)px", each.get("style"))[1]) for each in texts}


def test_a_tree_in_a_column_of_a_journal_is_legible(tmp_path):
    nodes = make_nodes(30)
    nodes["node"] = nodes["node"].str.replace("tip", "ubiquitin_like_modifier_")
    printed = read_printed(plot_tree(nodes), tmp_path / "tree.svg")
    assert min(printed.values()) >= 5
    assert set(nodes["node"]) == {name.removesuffix(" 95") for name in printed} & set(nodes["node"])


def test_in_print_ancestors_whose_names_would_overlap_are_not_named(tmp_path):
    rows = [(f"Node{number}", f"Node{number - 1}", 1.0, 95.0) for number in range(2, 10)]
    rows = [("Node1", "", None, None), *rows, ("tip", "Node9", 1.0, None)]
    plot = plot_tree(pd.DataFrame(rows, columns=["node", "parent", "branch_length", "branch_support"]))
    assert {"Node1", "Node2 95", "Node3 95", "tip"} <= set(read_texts(plot))
    printed = read_printed(plot, tmp_path / "tree.svg")
    assert {"Node1", "Node3 95", "tip"} <= set(printed)
    assert "Node2 95" not in printed


def test_a_tree_is_a_figure_of_matplotlib(tmp_path):
    text = plot_tree(make_nodes()).save(tmp_path / "tree.svg").read_text()
    assert "tip2" in text
    assert "Substitutions per site" in text


@pytest.mark.parametrize(
    ("nodes", "said"),
    [
        (make_nodes().drop(columns="parent"), "no column parent"),
        (make_nodes()[["node"]], "no columns parent, branch_length. It has: node"),
        (make_nodes().iloc[::-1], "no parent above it"),
        (make_nodes().iloc[:0], "no nodes"),
    ],
)
def test_a_table_that_is_not_a_tree_is_refused(nodes, said):
    with pytest.raises(ArgumentError, match=said):
        plot_tree(nodes)
