"""A still picture of a scene, made without a browser.

It stands in the output where the 3D view is not drawn: in a notebook that is not trusted, on a code host, in
an exported page, beside a kernel that is gone. It shows the course of the chains as tubes, thicker in helices
and strands, in the colours of the scene and from the same side; it is a sketch of the 3D view and not a copy.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import gemmi
import numpy as np
from numpy.typing import NDArray

from foldnote.errors import UnreadableFileError
from foldnote.results import Structure
from foldnote.results.molecules.molecule_files import read_molecules
from foldnote.viewers.render.png import write_png
from foldnote.viewers.render.styles import list_hidden
from foldnote.viewers.scene import palette
from foldnote.viewers.scene.model import Scene, SceneModel
from foldnote.viewers.scene.traces import ChainTrace, read_traces

Floats = NDArray[np.float64]
Pixels = NDArray[np.uint8]

WIDTH, HEIGHT = 336, 224
"""Size in pixels of the picture's file; it is shown at the size of the view."""
_FINE = 2
"""Drawn so many times larger, and averaged."""
_BREAK_A = {True: 4.5, False: 9.0}
"""Neighbours in a chain further apart than this (Å) are not joined: Cα atoms, and others."""
_RADIUS_A = {"H": 0.95, "E": 0.8, "C": 0.42}
_ATOM_RADIUS_A = 0.75
_LEAST_EXTENT_A = 3.0
"""From the middle to the edge; a single atom does not fill the picture."""
_FURTHEST_A = 1e6
"""Coordinates beyond this are those of a damaged file, of which no picture is made."""
_MOST_SPOTS = 60_000
_COLORS = 24
_LIGHT_STEPS = 8
_ELEMENTS = {"C": "#7d8790", "N": "#3050f8", "O": "#e0302a", "S": "#c8a400", "P": "#ff8000"}
_OTHER_ELEMENT = "#8a5fbf"


@dataclass(frozen=True, eq=False)
class _Spots:
    """Balls to paint: centres (n, 3) in Å, radii (n,) in Å, colours (n, 3) from 0 to 255."""

    centres: Floats
    radii: Floats
    colors: Floats


def draw_picture(scene: Scene) -> bytes | None:
    """The scene as a PNG with a transparent ground, or None when it holds nothing to draw."""
    parts = [part for index in range(len(scene.models)) for part in _read_spots(scene, index)]
    if not parts:
        return None
    spots = _Spots(
        *(np.concatenate([getattr(p, name) for p in parts]) for name in ("centres", "radii", "colors"))
    )
    if not (np.abs(spots.centres) < _FURTHEST_A).all():
        return None
    spots = _turn(spots, scene.rotation)
    return _write_png(_shrink(_paint(spots)))


def _read_spots(scene: Scene, index: int) -> list[_Spots]:
    model = scene.models[index]
    if index in list_hidden(scene):
        return []
    if model.is_molecule:
        return [_read_molecule(model)]
    structure = Structure(model.name, model.format, model.text)
    try:
        traces = read_traces(structure)
        ligands = _read_ligands(structure.to_gemmi(), {*model.ligands, *model.ions})
    except UnreadableFileError:
        return []
    total = sum(len(trace.points) for trace in traces.values())
    fine = max(2, min(14, _MOST_SPOTS // max(total, 1)))
    parts = [
        _lay_tube(traces[chain.name], _color_residues(scene, index, model, chain.name, chain.color), fine)
        for chain in model.chains
        if chain.name in traces
    ]
    return [*parts, *([ligands] if len(ligands.radii) else [])]


def _color_residues(scene: Scene, index: int, model: SceneModel, chain: str, base: str) -> Floats:
    """The colour of each residue of a chain as the scene shows it first, shape (n, 3)."""
    found = next(own for own in model.chains if own.name == chain)
    coloring = scene.coloring
    if coloring is not None and index < len(coloring.shades):
        shades = coloring.shades[index].get(chain, ())
        colors = [coloring.palette[shade] if shade >= 0 else palette.UNKNOWN for shade in shades]
        return _to_rgb(colors or [palette.UNKNOWN] * len(found.numbers))
    marks = {n: mark.color for mark in model.highlights if mark.chain == chain for n in mark.numbers}
    return _to_rgb([marks.get(number, base) for number in found.numbers])


def _lay_tube(trace: ChainTrace, colors: Floats, fine: int) -> _Spots:
    """Balls along a smooth curve through the residues of one chain, ``fine`` for each of them."""
    points, count = trace.points, len(trace.points)
    colors = np.resize(colors, (count, 3))
    if not (np.abs(points) < _FURTHEST_A).all():
        return _Spots(points, np.ones(count), colors)  # which draw_picture refuses
    steps = np.linalg.norm(np.diff(points, axis=0), axis=1)
    limit = np.where(trace.is_calpha[:-1] & trace.is_calpha[1:], _BREAK_A[True], _BREAK_A[False])
    joined = np.flatnonzero(steps <= limit)
    radii = np.array([_RADIUS_A[letter] for letter in trace.secondary])
    share = np.linspace(0, 1, fine, endpoint=False)
    i = np.repeat(joined, fine)
    t = np.tile(share, len(joined))
    before, after = np.maximum(i - 1, 0), np.minimum(i + 2, count - 1)
    centres = _spline(points[before], points[i], points[i + 1], points[after], t)
    near = np.where(t < 0.5, i, i + 1)
    widths = radii[i] * (1 - t) + radii[i + 1] * t
    return _Spots(
        np.concatenate([centres, points]),
        np.concatenate([widths, radii]),
        np.concatenate([colors[near], colors]),
    )


def _spline(a: Floats, b: Floats, c: Floats, d: Floats, share: Floats) -> Floats:
    """Catmull and Rom's curve between ``b`` and ``c``."""
    t = share[:, None]
    return np.asarray(
        0.5 * (2 * b + (c - a) * t + (2 * a - 5 * b + 4 * c - d) * t**2 + (3 * b - a - 3 * c + d) * t**3)
    )


def _read_ligands(parsed: gemmi.Structure, names: set[str]) -> _Spots:
    atoms = [a for chain in parsed[0] for residue in chain if residue.name in names for a in residue]
    atoms = [atom for atom in atoms if not atom.is_hydrogen()]
    return _Spots(
        np.array([atom.pos.tolist() for atom in atoms], dtype=np.float64).reshape(-1, 3),
        np.full(len(atoms), _ATOM_RADIUS_A),
        _to_rgb([_ELEMENTS.get(atom.element.name, _OTHER_ELEMENT) for atom in atoms]).reshape(-1, 3),
    )


def _read_molecule(model: SceneModel) -> _Spots:
    """The atoms of a small molecule and points along its bonds."""
    molecule = read_molecules(model.text.encode(), model.name).molecules[0]
    atoms = molecule.atoms[molecule.atoms["element"] != "H"]
    places = atoms[["x", "y", "z"]].to_numpy(np.float64)
    elements = _ELEMENTS | {"C": model.color}
    return _Spots(
        places,
        np.full(len(places), _ATOM_RADIUS_A),
        _to_rgb([elements.get(element, _OTHER_ELEMENT) for element in atoms["element"]]).reshape(-1, 3),
    )


def _turn(spots: _Spots, rotation: tuple[float, float, float, float] | None) -> _Spots:
    """The same spots around the origin, seen from the front."""
    centres = spots.centres - (spots.centres.min(axis=0) + spots.centres.max(axis=0)) / 2
    if rotation:
        x, y, z, degrees = rotation
        centres = centres @ _rotate(np.array([x, y, z]), math.radians(degrees)).T
        centres -= (centres.min(axis=0) + centres.max(axis=0)) / 2
    return _Spots(centres, spots.radii, spots.colors)


def _rotate(axis: Floats, angle: float) -> Floats:
    """The matrix of a turn around ``axis`` (Rodrigues)."""
    x, y, z = axis / max(float(np.linalg.norm(axis)), 1e-9)
    cross = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.asarray(np.eye(3) + math.sin(angle) * cross + (1 - math.cos(angle)) * cross @ cross)


def _paint(spots: _Spots) -> Floats:
    """The picture at its fine size, (height, width, 4): red, green, blue to 255 and cover from 0 to 1."""
    width, height = WIDTH * _FINE, HEIGHT * _FINE
    extent = np.maximum(np.abs(spots.centres).max(axis=0) + spots.radii.max(), _LEAST_EXTENT_A)
    scale = 0.95 * min(width / 2 / extent[0], height / 2 / extent[1])
    x = spots.centres[:, 0] * scale + width / 2
    y = height / 2 - spots.centres[:, 1] * scale
    z = spots.centres[:, 2] * scale
    depth = np.full(width * height, -np.inf)
    image = np.zeros((width * height, 4))
    sizes = np.maximum(1, np.round(spots.radii * scale)).astype(np.int64)
    for size in np.unique(sizes):
        own = np.flatnonzero(sizes == size)
        ball = _make_ball(int(size))
        for chunk in np.array_split(own, max(1, len(own) * len(ball) // 2_000_000)):
            _stamp(image, depth, ball, (x[chunk], y[chunk], z[chunk]), spots.colors[chunk], width, height)
    _shade_depth(image, depth, width)
    return image.reshape(height, width, 4)


def _make_ball(size: int) -> Floats:
    """Pixels of a ball of ``size`` pixels: x, y, height and brightness of each, shape (n, 4)."""
    span = np.arange(-size, size + 1)
    x, y = (grid.ravel() for grid in np.meshgrid(span, span))
    inside = x**2 + y**2 <= size**2 + 0.5
    x, y = x[inside], y[inside]
    rise = np.sqrt(np.maximum(0, size**2 + 0.5 - x**2 - y**2))
    light = 0.68 + 0.32 * np.clip((-0.35 * x - 0.5 * y + 0.8 * rise) / max(size, 1), 0, 1)
    return np.stack([x, y, rise, np.round(light * _LIGHT_STEPS) / _LIGHT_STEPS], axis=1)


def _stamp(
    image: Floats,
    depth: Floats,
    ball: Floats,
    place: tuple[Floats, Floats, Floats],
    colors: Floats,
    width: int,
    height: int,
) -> None:
    """Paint balls where they are nearer than what is there."""
    x = (np.round(place[0])[:, None] + ball[:, 0]).astype(np.int64)
    y = (np.round(place[1])[:, None] + ball[:, 1]).astype(np.int64)
    z = (place[2][:, None] + ball[:, 2]).ravel()
    owner, pixel = np.divmod(np.arange(x.size), len(ball))
    seen = ((x >= 0) & (x < width) & (y >= 0) & (y < height)).ravel()
    where = (y * width + x).ravel()
    seen &= z > depth[np.where(seen, where, 0)]
    if not seen.any():
        return
    where, z, owner, pixel = where[seen], z[seen], owner[seen], pixel[seen]
    order = np.lexsort((z, where))
    where, last = where[order], np.append(np.diff(where[order]) != 0, True)
    top = order[last]
    where = where[last]
    depth[where] = z[top]
    image[where, :3] = colors[owner[top]] * ball[pixel[top], 3][:, None]
    image[where, 3] = 1


def _shade_depth(image: Floats, depth: Floats, width: int) -> None:
    """Darken edges where something lies well behind, and what is far away."""
    drawn = np.isfinite(depth)
    if not drawn.any():
        return
    near, far = depth[drawn].max(), depth[drawn].min()
    fog = np.clip((near - depth[drawn]) / max(near - far, 1e-6), 0, 1)
    filled = np.where(drawn, depth, far - (near - far))
    jumps = np.zeros_like(filled)
    for step in (1, -1, width, -width):
        jumps = np.maximum(jumps, np.roll(filled, step) - filled)
    edge = jumps[drawn] > 0.12 * max(near - far, 1e-6)
    factor = (1 - 0.28 * fog) * np.where(edge, 0.55, 1.0)
    # Few steps of brightness make a small file.
    image[drawn, :3] *= (np.round(factor * _LIGHT_STEPS) / _LIGHT_STEPS)[:, None]


def _shrink(fine: Floats) -> Pixels:
    """Averages of blocks, as red, green, blue and cover from 0 to 255, shape (HEIGHT, WIDTH, 4)."""
    weighted = np.concatenate([fine[..., :3] * fine[..., 3:], fine[..., 3:]], axis=2)
    blocks = weighted.reshape(HEIGHT, _FINE, WIDTH, _FINE, 4).mean(axis=(1, 3))
    cover = np.maximum(blocks[..., 3:], 1e-6)
    return (
        np.concatenate([blocks[..., :3] / cover, blocks[..., 3:] * 255], axis=2)
        .round()
        .clip(0, 255)
        .astype(np.uint8)
    )


def _to_rgb(colors: list[str]) -> Floats:
    return np.array([[int(c[i : i + 2], 16) for i in (1, 3, 5)] for c in colors], dtype=np.float64)


def _write_png(pixels: Pixels) -> bytes:
    """The pixels as a PNG of at most 256 colours."""
    flat = (pixels.reshape(-1, 4) // 16).astype(np.uint32)
    flat[flat[:, 3] == 0] = 0
    codes = flat @ np.array([1, 16, 256, 4096], dtype=np.uint32)
    kinds, places, counts = np.unique(codes, return_inverse=True, return_counts=True)
    shades = (
        np.stack([kinds % 16, kinds // 16 % 16, kinds // 256 % 16, kinds // 4096], axis=1).astype(np.float64)
        * 17
    )
    kept = choose_shades(shades, counts)
    gaps = ((shades[:, None, :] - shades[kept][None]) ** 2).sum(axis=2)
    index = gaps.argmin(axis=1).astype(np.uint8)[places].reshape(HEIGHT, WIDTH)
    table = shades[kept].astype(np.uint8)
    return write_png(index, table)


def choose_shades(shades: Floats, counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """The shades to keep: frequent ones, and rare ones that none of them resembles.

    Without the second a short stretch of low confidence would take the colour of a high one.
    """
    chosen = [int(counts.argmax())]
    gaps = ((shades - shades[chosen[0]]) ** 2).sum(axis=1)
    while len(chosen) < min(_COLORS, len(shades)):
        chosen.append(int((counts * gaps).argmax()))
        gaps = np.minimum(gaps, ((shades - shades[chosen[-1]]) ** 2).sum(axis=1))
    return np.array(chosen, dtype=np.int64)
