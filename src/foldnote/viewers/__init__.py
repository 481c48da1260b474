"""Display results: scenes in 3D, tables, pages that open offline, and the card of a running job.

A :class:`Scene` is plain data, which the renderer draws. Importing this package lets notebooks show every
:class:`foldnote.results.Result` in full. It submits nothing and sends no requests; only the job card uses the
client.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from foldnote.results import register_display, register_part_display
from foldnote.viewers.display import admet_views as _admet_views  # noqa: F401  (registers views)
from foldnote.viewers.display import antibody_views as _antibody_views  # noqa: F401  (registers views)
from foldnote.viewers.display import free_energy_views as _free_energy_views  # noqa: F401  (registers views)
from foldnote.viewers.display import molecule_views as _molecule_views  # noqa: F401  (registers views)
from foldnote.viewers.display import sequence_views as _sequence_views  # noqa: F401  (registers views)
from foldnote.viewers.display import structure_views as _structure_views  # noqa: F401  (registers views)
from foldnote.viewers.display.bundles import (
    bundle,
    compose_result,
    default_view,
    join_bundles,
    result_bundles,
    show_result,
    table_bundle,
)
from foldnote.viewers.display.exported_views import export_bundles, show_export
from foldnote.viewers.display.grid import Grid, make_grid
from foldnote.viewers.display.page import write_page
from foldnote.viewers.display.parts import show_part
from foldnote.viewers.display.report import ReportPart, write_report
from foldnote.viewers.plots.interaction_diagram import InteractionDiagram, draw_interactions
from foldnote.viewers.plots.plot import Plot
from foldnote.viewers.plots.prediction_plots import (
    plot_coverage,
    plot_distribution,
    plot_pae,
    plot_plddt,
    plot_scatter,
)
from foldnote.viewers.plots.tree_plot import plot_tree
from foldnote.viewers.registry import register_view, unregister_view
from foldnote.viewers.render.library import load_script
from foldnote.viewers.render.py3dmol import render
from foldnote.viewers.render.scripts import save_script
from foldnote.viewers.scene.coloring import choose
from foldnote.viewers.scene.compose import compose
from foldnote.viewers.scene.docking_view import compose_poses
from foldnote.viewers.scene.model import (
    Coloring,
    Highlight,
    LegendItem,
    Line,
    Scene,
    SceneChain,
    SceneModel,
    Step,
    register_drawers,
)
from foldnote.viewers.scene.molecule_view import compose_molecules
from foldnote.viewers.scene.superposed import find_structure, overlay

if TYPE_CHECKING:
    from foldnote.viewers.card.job_card import JobCard
    from foldnote.viewers.explorer.explorer import Explorer, explore

__all__ = [
    "Coloring",
    "Explorer",
    "Grid",
    "Highlight",
    "InteractionDiagram",
    "JobCard",
    "LegendItem",
    "Line",
    "Plot",
    "ReportPart",
    "Scene",
    "SceneChain",
    "SceneModel",
    "Step",
    "bundle",
    "choose",
    "compose",
    "compose_molecules",
    "compose_poses",
    "compose_result",
    "default_view",
    "draw_interactions",
    "explore",
    "export_bundles",
    "find_structure",
    "join_bundles",
    "load_script",
    "make_grid",
    "overlay",
    "plot_coverage",
    "plot_distribution",
    "plot_pae",
    "plot_plddt",
    "plot_scatter",
    "plot_tree",
    "register_view",
    "result_bundles",
    "show_export",
    "show_result",
    "table_bundle",
    "unregister_view",
    "write_page",
    "write_report",
]

register_display(lambda result: list(result_bundles(result)))
register_part_display(show_part)
register_drawers(render, bundle, save_script)


def __getattr__(name: str) -> Any:
    if name in ("Explorer", "explore"):
        return getattr(import_module("foldnote.viewers.explorer.explorer"), name)
    if name == "edit_box":
        return import_module("foldnote.viewers.explorer.box_editor").edit_box
    if name == "JobCard":
        return import_module("foldnote.viewers.card.job_card").JobCard
    raise AttributeError(f"module 'foldnote.viewers' has no attribute {name!r}")
