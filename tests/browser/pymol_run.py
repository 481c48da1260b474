"""Run a script in PyMOL and print as JSON what it shows: ``pymol_run.py SCRIPT FOLDER [SELECTION WIDTH HEIGHT]``.

PyMOL has one session per process, so this is a separate one. With a selection, PyMOL also draws it as a white ball on
black, from the camera position of the script; the ball's center is printed, in pixels.
"""

import json
import sys
from pathlib import Path

import numpy as np
import pymol2


def look(cmd):
    """Return the atoms with their positions and colours, and the representations in which each is shown."""
    atoms, colors, own = [], [], "not name PS1"
    cmd.iterate_state(1, own, "atoms.append([chain, resi, name, x, y, z])", space={"atoms": atoms})
    cmd.iterate(
        f"name CA and ({own})", "colors.append([chain, resi, s.cartoon_color])", space={"colors": colors}
    )
    return {
        "atoms": atoms,
        "cartoon": [[chain, resi, cmd.get_color_tuple(color)] for chain, resi, color in colors],
        "shown": {
            kind: cmd.count_atoms(f"rep {kind}") for kind in ("cartoon", "sticks", "spheres", "surface")
        },
        "lines": [name for name in cmd.get_names("all") if cmd.get_type(name) == "object:measurement"],
        "view": cmd.get_view(),
    }


def find_ball(cmd, place, width, height, picture):
    cmd.hide("everything")
    cmd.bg_color("black")
    cmd.show("spheres", place)
    cmd.alter(place, "vdw=0.8")
    cmd.color("white", place)
    for setting in ("ray_shadows", "depth_cue", "fog"):
        cmd.set(setting, 0)
    cmd.ray(width, height)
    cmd.png(str(picture), format=1)
    # PPM: three header words, the second of which is the size, then the pixels
    _, size, _, pixels = picture.read_bytes().split(b"\n", 3)
    columns, rows = map(int, size.split())
    bright = np.frombuffer(pixels, np.uint8).reshape(rows, columns, 3).max(axis=2) > 60
    y, x = np.nonzero(bright)
    return [float(x.mean()), float(y.mean()), len(x)]


def main(script, folder, *place):
    with pymol2.PyMOL() as session:
        cmd = session.cmd
        cmd.load(script)
        found = look(cmd)
        if place:
            chosen, width, height = place
            found["ball"] = find_ball(cmd, chosen, int(width), int(height), Path(folder) / "ball.ppm")
    print("\n" + json.dumps(found))


if __name__ == "__main__":
    main(*sys.argv[1:])
