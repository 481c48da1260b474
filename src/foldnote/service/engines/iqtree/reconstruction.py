"""Read IQ-TREE's output, and write the result: tree, nodes, ancestors, probabilities, models."""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from engine_protocol import write_table
from sequence_files import Sequence
from trees import Node, find_gaps, read_newick, write_newick

NODE_COLUMNS = (
    "node",
    "kind",
    "parent",
    "branch_length",
    "branch_support",
    "tips",
    "mean_posterior_probability",
    "uncertain_sites",
    "gap_sites",
)
"""Columns of nodes.csv: name; tip or ancestor; name of the parent; length of the branch to it, in
substitutions per site; support of that branch in per cent; given sequences below; mean over the sites of the
best state's probability; sites whose best state has less than 0.8; sites with a gap. A row is a node."""
SITE_COLUMNS = ("node", "site", "state", "probability", "second_state", "second_probability", "gap")
"""Columns of probabilities.csv: ancestor; site of the alignment, 1-based (a codon for CODON); the most
probable state and its probability; the second, empty if none has any; 1 if parsimony puts a gap. A row is an
ancestor's site."""
MODEL_COLUMNS = ("model", "tree_log_likelihood", "aic", "aicc", "bic", "bic_weight")
UNCERTAIN = 0.8
OUTPUTS = Path("outputs")
_NUMBER = r"(-?\d+(?:\.\d+)?(?:e[+-]?\d+)?)"


@dataclass
class Reconstruction:
    """The result of IQ-TREE."""

    program: str
    model: str
    log_likelihood: float
    bic: float
    tree_length: float
    tree: Node
    states: list[str]
    """Residues, bases or codons, in the order of the probabilities."""
    sites: dict[str, list[array[float]]]
    """For each ancestor, the probabilities at each site."""
    gaps: dict[str, list[bool]]
    models: list[dict[str, Any]]
    nodes: list[dict[str, Any]]
    report: str

    @property
    def root_name(self) -> str:
        """The node from which the tree is drawn."""
        return self.tree.name

    @property
    def gap_sites(self) -> int:
        """Number of sites with a gap, over all ancestors."""
        return sum(map(sum, self.gaps.values()))

    @property
    def total_sites(self) -> int:
        """Number of sites of all ancestors."""
        return sum(map(len, self.gaps.values()))


def read_reconstruction(prefix: Path, sequences: list[Sequence], mode: str) -> Reconstruction:
    """Read the files of a run, with the sequences' own names."""
    text = prefix.with_suffix(".iqtree").read_text("utf-8")
    tree = read_newick(prefix.with_suffix(".treefile").read_text("utf-8"))
    for node in tree.walk():
        if node.is_tip:
            node.name = sequences[int(node.name.removeprefix("row"))].name
    rename_ancestors(tree, {each.name for each in sequences})
    states, sites = read_states(prefix.with_suffix(".state"), tree)
    gaps = find_gaps(tree, {each.name: list_gaps(each, mode) for each in sequences})
    found = Reconstruction(
        program=(re.match(r"IQ-TREE \S+", text) or [""])[0],
        model=read_model(text),
        log_likelihood=read_figure(text, "Log-likelihood of the tree:"),
        bic=read_figure(text, r"Bayesian information criterion \(BIC\) score:"),
        tree_length=read_figure(text, r"Total tree length \(sum of branch lengths\):"),
        tree=tree,
        states=states,
        sites=sites,
        gaps=gaps,
        models=list_models(text),
        nodes=[],
        report=re.sub(r"\brow(\d{6})\b", lambda found: sequences[int(found[1])].name, text),
    )
    tip_gaps = {each.name: sum(list_gaps(each, mode)) for each in sequences}
    found.nodes = [describe_node(node, found, tip_gaps) for node in tree.walk()]
    return found


def rename_ancestors(tree: Node, taken: set[str]) -> None:
    """Keep IQ-TREE's names of the ancestors, unless a sequence has one of them."""
    ancestors = [node for node in tree.walk() if not node.is_tip]
    if any(node.name in taken for node in ancestors):
        for node in ancestors:
            node.name = f"Ancestor_{node.name}"


def read_states(path: Path, tree: Node) -> tuple[list[str], dict[str, list[array[float]]]]:
    """Return the states and, for each ancestor, its rows of the table of probabilities."""
    names = {node.label: node.name for node in tree.walk() if not node.is_tip}
    sites: dict[str, list[array[float]]] = {name: [] for name in names.values()}
    states: list[str] = []
    with path.open(encoding="utf-8") as stream:
        for line in stream:
            words = line.rstrip("\n").split("\t")
            if line.startswith("Node\t"):
                states = [word.removeprefix("p_") for word in words[3:]]
            elif not line.startswith("#"):
                sites[names[words[0]]].append(array("d", map(float, words[3:])))
    return states, sites


def list_gaps(sequence: Sequence, mode: str) -> list[bool]:
    """Return whether the sequence has a gap at each site."""
    width = 3 if mode == "CODON" else 1
    letters = sequence.letters
    return [not letters[at : at + width].strip("-") for at in range(0, len(letters), width)]


def read_figure(text: str, label: str) -> float:
    """Return the number after a label of the report.

    Raises:
        RuntimeError: the report does not have it.
    """
    found = re.search(rf"{label}\s*{_NUMBER}", text)
    if found is None:
        raise RuntimeError(f"IQ-TREE's report does not say {label}")
    return float(found[1])


def read_model(text: str) -> str:
    """Return the model that the tree was built with.

    Raises:
        RuntimeError: the report does not name it.
    """
    found = re.search(r"^Best-fit model according to BIC: (\S+)", text, re.M) or re.search(
        r"^Model of substitution: (\S+)", text, re.M
    )
    if found is None:
        raise RuntimeError("IQ-TREE's report does not name the model.")
    return found[1]


def list_models(text: str) -> list[dict[str, Any]]:
    """Return the rows of models.csv: the compared models, best BIC first, or the requested one."""
    figure = r"(-?\d+\.\d+)\s+"
    sign = r"[+-]\s+(\S+)\s+"
    row = re.compile(rf"^(\S+)\s+{figure}{figure}{sign}{figure}{sign}{figure}[+-]\s+(\S+)\s*$", re.M)
    rows = [
        dict(zip(MODEL_COLUMNS, (name, log_likelihood, aic, aicc, bic, weight), strict=True))
        for name, log_likelihood, aic, _, aicc, _, bic, weight in row.findall(text)
    ]
    if rows:
        return rows
    criterion = r"\({}\) score:"
    return [
        {
            "model": read_model(text),
            "tree_log_likelihood": read_figure(text, "Log-likelihood of the tree:"),
            "aic": read_figure(text, criterion.format("AIC")),
            "aicc": read_figure(text, criterion.format("AICc")),
            "bic": read_figure(text, criterion.format("BIC")),
            "bic_weight": "",
        }
    ]


def describe_node(node: Node, found: Reconstruction, tip_gaps: dict[str, int]) -> dict[str, Any]:
    """Return one row of nodes.csv."""
    row: dict[str, Any] = {
        "node": node.name,
        "kind": "tip" if node.is_tip else "ancestor",
        "parent": node.parent.name if node.parent else "",
        "branch_length": "" if node.length is None else node.length,
        "branch_support": "" if node.support is None else f"{node.support:g}",
        "tips": node.count_tips(),
    }
    if node.is_tip:
        return row | {
            "mean_posterior_probability": "",
            "uncertain_sites": "",
            "gap_sites": tip_gaps[node.name],
        }
    best = [max(site) for site in found.sites[node.name]]
    return row | {
        "mean_posterior_probability": round(sum(best) / len(best), 5),
        "uncertain_sites": sum(each < UNCERTAIN for each in best),
        "gap_sites": sum(found.gaps[node.name]),
    }


def write_reconstruction(found: Reconstruction, mode: str) -> None:
    """Write all files of the result except the alignment."""
    OUTPUTS.joinpath("tree.nwk").write_text(write_newick(found.tree), "utf-8")
    OUTPUTS.joinpath("report.txt").write_text(found.report, "utf-8")
    write_table("nodes.csv", found.nodes, NODE_COLUMNS)
    write_table("models.csv", found.models, MODEL_COLUMNS)
    write_table("probabilities.csv", list_sites(found), SITE_COLUMNS)
    every = ("node", "site", *found.states)
    write_table("all_probabilities.csv", list_probabilities(found), every)
    gap = "---" if mode == "CODON" else "-"
    for name, has_gaps in (("ancestors.fasta", False), ("ancestors_gapped.fasta", True)):
        text = "".join(
            f">{node}\n{write_sequence(found, node, gap if has_gaps else '')}\n" for node in found.sites
        )
        OUTPUTS.joinpath(name).write_text(text, "utf-8")


def write_sequence(found: Reconstruction, node: str, gap: str) -> str:
    """Return the most probable states of an ancestor, with ``gap`` where parsimony puts one."""
    letters = (found.states[site.index(max(site))] for site in found.sites[node])
    if not gap:
        return "".join(letters)
    return "".join(gap if has else each for each, has in zip(letters, found.gaps[node], strict=True))


def list_sites(found: Reconstruction) -> Iterator[tuple[Any, ...] | list[Any]]:
    """Yield the rows of probabilities.csv."""
    for node, sites in found.sites.items():
        for place, probabilities in enumerate(sites):
            order = sorted(range(len(probabilities)), key=lambda index: -probabilities[index])
            first, second = order[0], order[1]
            yield (
                node,
                place + 1,
                found.states[first],
                f"{probabilities[first]:.5f}",
                found.states[second] if probabilities[second] else "",
                f"{probabilities[second]:.5f}",
                int(found.gaps[node][place]),
            )


def list_probabilities(found: Reconstruction) -> Iterator[tuple[Any, ...] | list[Any]]:
    """Yield the rows of all_probabilities.csv."""
    for node, sites in found.sites.items():
        for place, probabilities in enumerate(sites, start=1):
            yield (node, place, *(f"{each:.5f}" for each in probabilities))
