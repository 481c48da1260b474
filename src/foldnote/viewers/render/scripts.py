"""Write a scene as a script of another viewer, by the suffix of its file."""

from __future__ import annotations

from pathlib import Path

from foldnote.errors import ArgumentError
from foldnote.viewers.render.chimerax_script import write_chimerax_script
from foldnote.viewers.render.pymol_script import write_pymol_script
from foldnote.viewers.scene.model import Scene

_WRITERS = {".pml": write_pymol_script, ".cxc": write_chimerax_script}


def save_script(scene: Scene, path: str | Path) -> Path:
    """Write a PyMOL (``.pml``) or ChimeraX script (``.cxc``); see :meth:`Scene.save`.

    Raises:
        ArgumentError: the name has another suffix.
        ResultError: a file cannot be written.
    """
    target = Path(path).expanduser()
    write = _WRITERS.get(target.suffix.lower())
    if write is None:
        raise ArgumentError(
            f"{target.name} has no suffix of a script. Use .pml for PyMOL or .cxc for ChimeraX. A page"
            " (.html, .pdf) is written by foldnote.viewers.write_page; a picture (.png) is saved by *Save*"
            " above the view."
        )
    write(scene, target)
    return target
