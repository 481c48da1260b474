"""A box in a structure, drawn in 3D with handles that move it; a form can be bound to its numbers."""

from __future__ import annotations

from collections.abc import Sequence

import traitlets

from foldnote.live_widget import LiveWidget, write_module
from foldnote.viewers.render.compression import pack, transpose_lines
from foldnote.viewers.render.html import SERVED_LIBRARY, read_asset

_SCRIPTS = ("scene_parts.js", "scene_hands.js", "box_editor.js")


class BoxEditor(LiveWidget):
    """A structure and a box around a part of it, in a notebook with a running kernel.

    ``box`` is a list of six numbers in Å: the centre along x, y and z, then the edges; empty for no box. It
    changes while a handle is dragged, and setting it moves the drawn box.
    """

    _esm = write_module("\n".join(map(read_asset, _SCRIPTS)))
    _css = read_asset("box_editor.css")
    box: traitlets.List[float] = traitlets.List().tag(sync=True)
    _packed = traitlets.Unicode().tag(sync=True)
    _served = traitlets.Unicode(SERVED_LIBRARY).tag(sync=True)
    _limits: traitlets.List[float] = traitlets.List().tag(sync=True)

    def __init__(self, text: str, box: Sequence[float], limits: Sequence[float]) -> None:
        """Create an editor of ``box`` in a structure.

        Args:
            text: the structure as PDB or mmCIF.
            box: centre and edges, Å; empty for none.
            limits: minimum and maximum edge, Å.
        """
        form = "mmcif" if "_atom_site." in text else "pdb"
        super().__init__(
            _packed=pack({"format": form, "pieces": transpose_lines(text)}),
            _limits=[float(limit) for limit in limits],
            box=[float(number) for number in box],
        )


def edit_box(text: str, box: Sequence[float], limits: Sequence[float]) -> BoxEditor:
    """Return an editor of a box in a structure; the arguments are those of :class:`BoxEditor`."""
    return BoxEditor(text, box, limits)
