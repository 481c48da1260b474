"""The linked explorer: one selection of residues in 3D, sequence, plots, table and Python.

It needs a running kernel; without one its output shows the same scene.
"""

from __future__ import annotations

import base64
import uuid
from collections.abc import Iterable, Sequence
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any

import pandas as pd
import traitlets

from foldnote.cell_outputs import shape_for
from foldnote.errors import ArgumentError
from foldnote.io import save_file
from foldnote.kernel import find_front_end
from foldnote.live_widget import LiveWidget, write_module
from foldnote.results import Model, Pae, Region, Structure
from foldnote.viewers.explorer.explorer_page import write_explorer_page
from foldnote.viewers.explorer.image_requests import Background, ImageRequester, make_request
from foldnote.viewers.explorer.selection_binding import SelectionBinding, SupportsFields
from foldnote.viewers.plots.prediction_plots import shade_pae
from foldnote.viewers.render.html import make_view, read_asset
from foldnote.viewers.render.py3dmol import render
from foldnote.viewers.render.styles import select_residues
from foldnote.viewers.scene.compose import compose
from foldnote.viewers.scene.model import Scene

Residue = tuple[str, str]
"""Chain and residue number with insertion code, such as ``("H", "112A")``."""


class Explorer(LiveWidget):
    """A structure whose residues are selected in any of its views, or in Python.

    ``explorer.selection`` is a list of (chain, number) pairs; setting it marks the residues everywhere, and
    functions registered with ``explorer.observe(function, "selection")`` are called after every choice on the
    page.
    """

    _esm = write_module(read_asset("explorer.js"))
    _css = "\n".join(map(read_asset, ("scene.css", "explorer.css")))
    _view_data = traitlets.Dict().tag(sync=True)
    _residues: traitlets.List[list[Any]] = traitlets.List().tag(sync=True)
    _pae = traitlets.Dict().tag(sync=True)
    selection: traitlets.List[Residue] = traitlets.List().tag(sync=True)

    def __init__(self, scene: Scene, pae: Pae | None = None) -> None:
        """Create an explorer of the scene's first model.

        Args:
            scene: the scene shown in 3D.
            pae: predicted aligned error of the same model; ignored if its tokens are not the residues.
        """
        self._scene = scene
        self._model = scene.models[0]
        self._keys = [(chain.name, number) for chain in self._model.chains for number in chain.numbers]
        self._values = _find_confidence(scene)
        self._links: list[SelectionBinding] = []
        super().__init__(
            _residues=self._list_residues(),
            _pae=_pack_pae(pae, self._keys),
            _view_data=make_view(scene, uuid.uuid4().hex[:12], render(scene).startjs),
        )
        self._images = ImageRequester(self)

    def _repr_mimebundle_(self, **kwargs: Any) -> Any:
        """Return the live explorer, and the scene for pages without its kernel."""
        live = super()._repr_mimebundle_(**kwargs)
        data = live[0] if isinstance(live, tuple) else live  # None without a display
        return shape_for(find_front_end(), {**data, **self._scene._repr_mimebundle_()}) if data else live

    def _list_residues(self) -> list[list[Any]]:
        """List for each residue: chain, number, letter, confidence and 3Dmol.js selection."""
        rows = []
        for chain in self._model.chains:
            for number, letter in zip(chain.numbers, chain.sequence, strict=True):
                atoms = select_residues(0, chain.name, (number,))
                rows.append([chain.name, number, letter, self._values.get((chain.name, number)), atoms])
        return rows

    @traitlets.validate("selection")
    def _check_selection(self, proposal: Any) -> list[Residue]:
        pairs = [(str(chain), str(number)) for chain, number in proposal["value"]]
        valid = set(self._keys)
        unknown = [f"{chain} {number}" for chain, number in pairs if (chain, number) not in valid]
        if unknown:
            raise ArgumentError(
                f"{self._model.name} has no residue {', '.join(unknown[:5])}. "
                f"Give pairs of chain and number, such as {self._keys[0]!r}."
            )
        return pairs

    def select(self, chain: str, numbers: Iterable[object] | None = None) -> None:
        """Select residues of one chain, by default all of them.

        Raises:
            ArgumentError: there is no such residue.
        """
        own = [number for name, number in self._keys if name == chain] if numbers is None else list(numbers)
        if not own and numbers is None:
            raise ArgumentError(f"{self._model.name} has no chain {chain!r}.")
        self.selection = [(chain, str(number)) for number in own]

    def fill(self, form: SupportsFields, name: str) -> None:
        """Keep a residue field of a form and the selection in sync in both directions.

        Initially the selection is set to the field's residues, or, if the field is empty, the field to the
        selection. A field for one chain takes the residues of the chain named in the form.

        Args:
            form: a form, as returned by :func:`foldnote.form`.
            name: name of a residue field.

        Raises:
            ArgumentError: the form has no such field, or it is not a field for residues.
        """
        chains = {chain.name: chain.numbers for chain in self._model.chains}
        self._links.append(SelectionBinding(self, chains, form, name))

    async def picture(
        self,
        path: str | Path | None = None,
        *,
        width_px: int = 1600,
        height_px: int = 1200,
        dpi: int = 300,
        background: Background = "seen",
    ) -> bytes:
        """Return the current 3D view as a PNG, drawn by the page that shows the explorer.

        ``await`` it in a cell below the one that shows the explorer.

        Args:
            path: file to which the PNG is also written; an existing one is replaced.
            width_px: width in pixels, 16 to 8,000.
            height_px: height in pixels, 16 to 8,000.
            dpi: resolution stored in the file, in dots per inch, 1 to 2,400.
            background: ``seen``, ``white`` or ``transparent``.

        Returns:
            The PNG.

        Raises:
            ArgumentError: an argument is outside these values.
            ResultError: no page drew it within a minute, or the page could not.
        """
        png = await self._images.request(make_request(width_px, height_px, dpi, background))
        if path is not None:
            save_file(Path(path), png)
        return png

    def save(self, path: str | Path, *, title: str = "") -> Path:
        """Write the explorer as one HTML page, whose views stay linked without a kernel or a network.

        The current selection is kept in the page.

        Args:
            path: path of the page, ending with ``.html``; its folder is created if absent. An existing file
                is replaced.
            title: heading of the page, by default that of the structure.

        Returns:
            The path of the page.

        Raises:
            ArgumentError: the name has another suffix.
            ConfigurationError: the package was built without 3Dmol.js.
        """
        state = {name: getattr(self, name) for name in ("_view_data", "_residues", "_pae", "selection")}
        return write_explorer_page(path, title or self._scene.title or self._model.name, state, self._css)

    @property
    def selected(self) -> pd.DataFrame:
        """The selected residues.

        Returns:
            One row per residue, in the structure's order: ``chain``, ``number``, ``letter`` str, ``plddt``
            float64 (0 to 100; NaN where unknown).
        """
        selected_keys = {tuple(pair) for pair in self.selection}
        rows = [row[:4] for row in self._residues if (row[0], row[1]) in selected_keys]
        frame = pd.DataFrame(rows, columns=["chain", "number", "letter", "plddt"])
        return frame.astype({"chain": "str", "number": "str", "letter": "str", "plddt": "float64"})

    @property
    def text(self) -> str:
        """The selected residues as text, such as ``H:30-32,35 L:50``."""
        selected_keys = {tuple(pair) for pair in self.selection}
        spans_by_chain = {
            chain.name: _write_spans(chain.numbers, [(chain.name, n) in selected_keys for n in chain.numbers])
            for chain in self._model.chains
        }
        return " ".join(f"{name}:{spans}" for name, spans in spans_by_chain.items() if spans)


def explore(
    item: Structure | Model, *, title: str = "", regions: Sequence[Region] = (), notes: Sequence[str] = ()
) -> Explorer:
    """Return an explorer of one structure, with the PAE of its model.

    Args:
        item: the structure, or the model that has it.
        title: heading; by default the name of the structure.
        regions: regions of a numbering, of which the CDRs are highlighted.
        notes: caveats, as sentences.

    Raises:
        UnreadableFileError: the structure's file is damaged or holds no atoms.
        ArgumentError: the structure has no chains.
    """
    structure = item.structure if isinstance(item, Model) else item
    scene = compose(structure, regions=regions, title=title)
    if not scene.models[0].chains:
        raise ArgumentError(f"{structure.name} has no chains, so no residues can be selected.")
    count = structure.models
    several = (
        [f"Only the first of {count} models is shown; fn.view can show the others."] if count > 1 else []
    )
    scene = scene.model_copy(update={"notes": (*scene.notes, *several, *notes)})
    return Explorer(scene, item.pae if isinstance(item, Model) else None)


def _find_confidence(scene: Scene) -> dict[Residue, float]:
    values_by_chain = next((c.values[0] for c in scene.colorings if c.key == "confidence" and c.values), {})
    return {
        (chain.name, number): value
        for chain in scene.models[0].chains
        for number, value in zip(chain.numbers, values_by_chain.get(chain.name, ()), strict=False)
        if value is not None
    }


def _pack_pae(pae: Pae | None, keys: list[Residue]) -> dict[str, Any]:
    """Return the PAE as an image with the residue index of each row; empty where these are unknown."""
    if pae is None or pae.tokens is None:
        return {}
    positions = {key: index for index, key in enumerate(keys)}
    owners = [positions.get(key, -1) for key in zip(pae.tokens["chain"], pae.tokens["number"], strict=True)]
    if not any(owner >= 0 for owner in owners):
        return {}
    png = base64.b64encode(shade_pae(pae).to_png()).decode("ascii")
    return {
        "picture": f"data:image/png;base64,{png}",
        "owners": owners,
        "borders": [int(b) for b in pae.borders],
    }


def _write_spans(numbers: Sequence[str], flags: Sequence[bool]) -> str:
    """Return the flagged residue numbers of a chain as ranges, ``5-7,9``."""
    runs = [
        list(run) for is_chosen, run in groupby(zip(numbers, flags, strict=True), itemgetter(1)) if is_chosen
    ]
    return ",".join(run[0][0] if len(run) == 1 else f"{run[0][0]}-{run[-1][0]}" for run in runs)
