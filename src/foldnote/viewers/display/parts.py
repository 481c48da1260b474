"""Mime bundles of parts of a result: structures, models, PAE matrices, alignments, poses.

A part that cannot be read is shown as a message with the reason.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from foldnote.errors import FoldnoteError
from foldnote.results import (
    Alignment,
    Confidence,
    Ensemble,
    Model,
    Molecule,
    Pae,
    Pose,
    Structure,
    Superposition,
)
from foldnote.results.side_by_side.comparison import Comparison
from foldnote.viewers.display.bundles import (
    Bundle,
    bundle,
    join_bundles,
    join_plots,
    message_bundle,
    table_bundle,
)
from foldnote.viewers.display.comparison_views import show_comparison
from foldnote.viewers.plots.ensemble_plots import plot_rmsf
from foldnote.viewers.plots.prediction_plots import plot_coverage, plot_pae, plot_plddt
from foldnote.viewers.scene.compose import compose
from foldnote.viewers.scene.molecule_view import compose_molecules


def show_part(item: Any) -> Bundle:
    """Return the mime bundle of a part; for other objects, their repr as plain text."""
    show = next((show for kind, show in _SHOWN if isinstance(item, kind)), None)
    if show is None:
        return {"text/plain": repr(item)}
    try:
        return show(item)
    except FoldnoteError as exc:
        return message_bundle(str(exc))


def _show_model(model: Model) -> Bundle:
    plots = [plot_plddt([model]), plot_pae(model.pae) if model.pae is not None else None]
    return join_bundles([bundle(compose(model.structure)), *join_plots(plots)])


def _show_alignment(alignment: Alignment) -> Bundle:
    if alignment.is_aligned and alignment.depth > 1:
        return bundle(plot_coverage(alignment))
    return table_bundle(alignment.to_frame(), alignment.name)


def _show_pose(pose: Pose) -> Bundle:
    figures = ", ".join(f"{name} {value:g}" for name, value in pose.scores.items())
    title = f"{pose.ligand or pose.file} · rank {pose.rank}{f' · {figures}' if figures else ''}"
    return bundle(compose_molecules([pose.molecule], title=title))


_SHOWN: tuple[tuple[type, Callable[[Any], Bundle]], ...] = (
    (Comparison, show_comparison),
    (Structure, lambda item: join_bundles([bundle(item), *join_plots([plot_rmsf(item)])])),
    (Ensemble, lambda item: show_part(item.structure)),
    (Model, _show_model),
    (Pae, lambda item: bundle(plot_pae(item, f"Predicted aligned error from {item.source}"))),
    (Alignment, _show_alignment),
    (Molecule, lambda item: bundle(compose_molecules([item], title=item.file))),
    (Pose, _show_pose),
    (Confidence, lambda item: table_bundle(item.residues, f"pLDDT from {item.source}")),
    (Superposition, lambda item: table_bundle(item.pairs, repr(item).strip("<>"))),
)
