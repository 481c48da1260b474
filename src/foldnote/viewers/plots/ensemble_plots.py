"""Plot how much each residue moves among the models of an ensemble."""

from __future__ import annotations

from foldnote.errors import UnreadableFileError
from foldnote.results import Structure, superpose_models
from foldnote.results.structure.formats import MOLECULE_FORMATS
from foldnote.text import count
from foldnote.viewers.plots.plot import Plot
from foldnote.viewers.plots.profile import plot_profile

_COLUMN = "RMSF (Å)"


def plot_rmsf(structure: Structure | None) -> Plot | None:
    """Plot the RMSF of each residue over the models of a file, in Å; None for a single model.

    The models are superposed on their mean; see :func:`foldnote.results.superpose_models`.
    """
    if structure is None or structure.format in MOLECULE_FORMATS:
        return None
    try:
        if structure.models < 2:
            return None
        ensemble = superpose_models(structure)
    except UnreadableFileError:
        return None
    title = f"RMSF over {count(len(ensemble), 'model')}, superposed on their mean"
    return plot_profile(ensemble.rmsf.rename(columns={"rmsf": _COLUMN}), _COLUMN, title)
