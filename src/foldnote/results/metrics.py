"""Known figures of predictions: what each means, its scale, and which direction is better.

One row a metric, under the names that programs write. A name that is not here is shown as it stands, and
nothing is claimed of it.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Metric:
    """One row of the table.

    Attributes:
        label: what people call it.
        unit: unit or scale in words.
        higher_is_better: the direction; None where neither is better.
        definition: one sentence.
        names: how programs spell it in their files, lower case.
    """

    label: str
    unit: str
    higher_is_better: bool | None
    definition: str
    names: tuple[str, ...]


METRICS: tuple[Metric, ...] = (
    Metric("pTM", "0 to 1", True, "Predicted TM-score of the whole model.", ("ptm",)),
    Metric("ipTM", "0 to 1", True, "Predicted TM-score over the interfaces between chains.", ("iptm",)),
    Metric(
        "ranking score",
        "the program's own scale",
        True,
        "The figure by which the program ranks its models.",
        ("ranking_score", "ranking_confidence", "confidence_score", "aggregate_score"),
    ),
    Metric(
        "mean pLDDT",
        "0 to 100, or 0 to 1 as the file says",
        True,
        "Predicted local distance difference test, averaged.",
        ("mean_plddt", "complex_plddt", "plddt"),
    ),
    Metric(
        "interface pLDDT",
        "0 to 1",
        True,
        "pLDDT averaged with a higher weight at interfaces.",
        ("complex_iplddt",),
    ),
    Metric("PDE", "Å", False, "Predicted error of distances, averaged.", ("complex_pde",)),
    Metric(
        "PAE",
        "Å",
        False,
        "Predicted aligned error; its largest value.",
        ("max_pae", "mean_pae", "max_predicted_aligned_error"),
    ),
    Metric("ligand ipTM", "0 to 1", True, "ipTM over protein and ligand interfaces.", ("ligand_iptm",)),
    Metric(
        "disordered share",
        "0 to 1",
        None,
        "Share of residues predicted as disordered.",
        ("fraction_disordered",),
    ),
    Metric(
        "clash",
        "0 or 1",
        False,
        "Whether atoms of the model overlap.",
        ("has_clash", "has_inter_chain_clashes"),
    ),
)

_BY_NAME = {name: metric for metric in METRICS for name in metric.names}
_TELLING = frozenset(
    {
        "ptm",
        "iptm",
        "confidence_score",
        "ranking_score",
        "ranking_confidence",
        "aggregate_score",
        "affinity_pred_value",
    }
)


def find_metric(name: str) -> Metric | None:
    """The metric that a file calls ``name``, or None."""
    return _BY_NAME.get(name.lower())


def has_scores(names: object) -> bool:
    """Whether a set of figure names is that of a score file, and not of a configuration."""
    return isinstance(names, dict) and any(str(name).lower() in _TELLING for name in names)


RANKING_NAMES = (
    "ranking_score",
    "ranking_confidence",
    "confidence_score",
    "aggregate_score",
    "iptm+ptm",
    "iptm",
    "ptm",
    "mean_plddt",
)
"""Figures by which programs rank models, the most telling first; higher is better in all."""
