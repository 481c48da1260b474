"""Render a still image of a scene without a browser.

It is shown where the 3D view is not drawn: in untrusted notebooks, on code hosts, in exported pages and, with
more pixels, on paper. Chains are drawn as tubes, thicker in helices and strands, in the colours and
orientation of the scene.
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
from foldnote.viewers.render.png import write_png, write_rgb_png
from foldnote.viewers.render.styles import list_hidden
from foldnote.viewers.scene import palette
from foldnote.viewers.scene.model import Scene, SceneModel
from foldnote.viewers.scene.traces import ChainTrace, read_traces

Floats = NDArray[np.float64]
Image = NDArray[np.float32]
Pixels = NDArray[np.uint8]
Indices = NDArray[np.int64]

WIDTH, HEIGHT = 336, 224
"""Size of the image file on a screen in pixels; it is scaled to the size of the view."""
ROW_WIDTH, ROW_HEIGHT = 210, 126
"""Size of the image file for a row of a table, which shows it at half its size."""
_FINE = 2
"""Supersampling factor per axis; ``_shrink`` averages the same number of pixels."""
_BREAK_A = {True: 4.5, False: 9.0}
"""Maximum distance (Å) of consecutive residues that are joined: between Cα atoms, and between others."""
_RADIUS_A = {"H": 0.95, "E": 0.8, "C": 0.42}
_ATOM_RADIUS_A = 0.75
_UNKNOWN_WIDTH = 0.45
"""Width of the tube of residues without a value, as a fraction."""
_MIN_EXTENT_A = 3.0
"""Minimum half width of the picture, so that a single atom does not fill it."""
_MAX_COORDINATE_A = 1e6
"""Maximum coordinate; damaged files with larger ones get no image."""
_MAX_SPHERES = 60_000
_BEADS = 14
_COLORS = 24
_LEAST_GAIN = 200_000
"""Minimum of pixels × squared distance to the nearest palette colour for a colour to be in the palette."""
_LIGHT_STEPS, _PRINTED_LIGHT_STEPS = 8, 64
"""Levels of brightness; few give a small file, but on paper they would be visible as bands."""
_ELEMENTS = {"C": "#7d8790", "N": "#3050f8", "O": "#e0302a", "S": "#c8a400", "P": "#ff8000"}
_OTHER_ELEMENT = "#8a5fbf"


@dataclass(frozen=True, eq=False)
class _Spheres:
    """Spheres to draw: centres (n, 3) and radii (n,) in Å, colours (n, 3) from 0 to 255."""

    centres: Floats
    radii: Floats
    colors: Floats


@dataclass(frozen=True)
class _Canvas:
    """How a picture is drawn: its size in pixels, and its levels of brightness."""

    width: int
    height: int
    light_steps: int
    beads: int
    """Largest number of spheres between two residues."""


@dataclass(frozen=True, eq=False)
class _DepthBuffer:
    """The nearest sphere at each of n pixels: its depth, index (-1 for none) and brightness."""

    depth: Image
    owner: Indices
    light: Floats

    @classmethod
    def make(cls, count: int) -> _DepthBuffer:
        """Return a surface with nothing on it."""
        return cls(np.full(count, -np.inf, np.float32), np.full(count, -1, np.int64), np.zeros(count))

    def draw(self, pixels: Indices, z: Floats, owner: Indices | np.int64, light: Floats | np.float64) -> None:
        """Draw pixels that are nearer than existing ones; ``owner`` or ``light`` may be one for all."""
        is_nearer = np.flatnonzero(z > self.depth[pixels])
        if not len(is_nearer):
            return
        pixels = pixels[is_nearer]
        self.depth[pixels] = z[is_nearer]
        self.owner[pixels] = owner[is_nearer] if isinstance(owner, np.ndarray) else owner
        self.light[pixels] = light[is_nearer] if isinstance(light, np.ndarray) else light


def draw_picture(scene: Scene) -> bytes | None:
    """Return a PNG with transparent background, or None if the scene has nothing to draw."""
    pixels = _draw_pixels(scene, _Canvas(WIDTH, HEIGHT, _LIGHT_STEPS, _BEADS))
    return None if pixels is None else _write_png(pixels)


def draw_row_picture(scene: Scene) -> bytes | None:
    """Return the PNG for a row of a table, or None if the scene has nothing to draw."""
    pixels = _draw_pixels(scene, _Canvas(ROW_WIDTH, ROW_HEIGHT, _LIGHT_STEPS, _BEADS // 2))
    return None if pixels is None else _write_png(pixels)


def draw_printed_picture(scene: Scene, zoom: int) -> bytes | None:
    """Return a PNG for paper: in full colour on white, ``zoom`` times the size of a screen's.

    None if the scene has nothing to draw.
    """
    pixels = _draw_pixels(scene, _Canvas(WIDTH * zoom, HEIGHT * zoom, _PRINTED_LIGHT_STEPS, 2 * _BEADS))
    if pixels is None:
        return None
    cover = pixels[..., 3:] / 255
    return write_rgb_png((pixels[..., :3] * cover + 255 * (1 - cover)).round().astype(np.uint8))


def _draw_pixels(scene: Scene, canvas: _Canvas) -> Pixels | None:
    """Return red, green, blue and alpha from 0 to 255, shape (height, width, 4)."""
    parts = [part for index in range(len(scene.models)) for part in _read_spheres(scene, index, canvas.beads)]
    if not parts:
        return None
    spheres = _Spheres(
        *(np.concatenate([getattr(p, name) for p in parts]) for name in ("centres", "radii", "colors"))
    )
    if not (np.abs(spheres.centres) < _MAX_COORDINATE_A).all():
        return None
    return _shrink(_rasterize(_rotate_spheres(spheres, scene.rotation), canvas))


def _read_spheres(scene: Scene, index: int, beads: int) -> list[_Spheres]:
    model = scene.models[index]
    if index in list_hidden(scene):
        return []
    if model.is_molecule:
        return [_read_molecule(model)]
    structure = Structure(model.name, model.format, model.text)
    try:
        traces = read_traces(structure)
        ligands = _read_ligands(structure.to_gemmi(), model)
    except UnreadableFileError:
        return []
    total = sum(len(trace.points) for trace in traces.values())
    fine = max(2, min(beads, _MAX_SPHERES // max(total, 1)))
    parts = [
        _make_tube(traces[chain.name], _color_residues(scene, index, model, chain.name, chain.color), fine)
        for chain in model.chains
        if chain.name in traces
    ]
    return [*parts, *([ligands] if len(ligands.radii) else [])]


def _color_residues(scene: Scene, index: int, model: SceneModel, chain: str, base: str) -> Floats:
    """Return the initial colour of each residue of a chain, shape (n, 3), 0 to 255."""
    scene_chain = next(own for own in model.chains if own.name == chain)
    coloring = scene.coloring
    if coloring is not None and index < len(coloring.shades):
        shades = coloring.shades[index].get(chain, ())
        colors = [coloring.palette[shade] if shade >= 0 else palette.UNKNOWN for shade in shades]
        return _to_rgb(colors or [palette.UNKNOWN] * len(scene_chain.numbers))
    marks = {n: mark.color for mark in model.highlights if mark.chain == chain for n in mark.numbers}
    return _to_rgb([marks.get(number, base) for number in scene_chain.numbers])


def _make_tube(trace: ChainTrace, colors: Floats, fine: int) -> _Spheres:
    """Return spheres along a spline through the residues of one chain, ``fine`` per residue."""
    points, count = trace.points, len(trace.points)
    colors = np.resize(colors, (count, 3))
    if not (np.abs(points) < _MAX_COORDINATE_A).all():
        return _Spheres(points, np.ones(count), colors)  # rejected by _draw_pixels
    steps = np.linalg.norm(np.diff(points, axis=0), axis=1)
    limit = np.where(trace.is_calpha[:-1] & trace.is_calpha[1:], _BREAK_A[True], _BREAK_A[False])
    segments = np.flatnonzero(steps <= limit)
    radii = np.array([_RADIUS_A[letter] for letter in trace.secondary])
    radii[(colors == _to_rgb([palette.UNKNOWN])).all(axis=1)] *= _UNKNOWN_WIDTH
    share = np.linspace(0, 1, fine, endpoint=False)
    i = np.repeat(segments, fine)
    t = np.tile(share, len(segments))
    before, after = np.maximum(i - 1, 0), np.minimum(i + 2, count - 1)
    centres = _spline(points[before], points[i], points[i + 1], points[after], t)
    nearest = np.where(t < 0.5, i, i + 1)
    widths = radii[i] * (1 - t) + radii[i + 1] * t
    return _Spheres(
        np.concatenate([centres, points]),
        np.concatenate([widths, radii]),
        np.concatenate([colors[nearest], colors]),
    )


def _spline(a: Floats, b: Floats, c: Floats, d: Floats, share: Floats) -> Floats:
    """Interpolate between ``b`` and ``c``, (n, 3), with a Catmull-Rom spline at fractions ``share`` (n,)."""
    t = share[:, None]
    return np.asarray(
        0.5 * (2 * b + (c - a) * t + (2 * a - 5 * b + 4 * c - d) * t**2 + (3 * b - a - 3 * c + d) * t**3)
    )


def _read_ligands(parsed: gemmi.Structure, model: SceneModel) -> _Spheres:
    names = {*model.ligands, *model.ions}
    atoms = [
        (residue.name, a)
        for chain in parsed[0]
        for residue in chain
        if residue.name in names
        for a in residue
    ]
    atoms = [(name, atom) for name, atom in atoms if not atom.is_hydrogen()]
    elements = {name: _ELEMENTS | {"C": model.color} if name in model.guests else _ELEMENTS for name in names}
    colors = [elements[name].get(atom.element.name, _OTHER_ELEMENT) for name, atom in atoms]
    return _Spheres(
        np.array([atom.pos.tolist() for _, atom in atoms], dtype=np.float64).reshape(-1, 3),
        np.full(len(atoms), _ATOM_RADIUS_A),
        _to_rgb(colors).reshape(-1, 3),
    )


def _read_molecule(model: SceneModel) -> _Spheres:
    """Return the heavy atoms of a small molecule."""
    molecule = read_molecules(model.text.encode(), model.name).molecules[0]
    atoms = molecule.atoms[molecule.atoms["element"] != "H"]
    positions = atoms[["x", "y", "z"]].to_numpy(np.float64)
    elements = _ELEMENTS | {"C": model.color}
    return _Spheres(
        positions,
        np.full(len(positions), _ATOM_RADIUS_A),
        _to_rgb([elements.get(element, _OTHER_ELEMENT) for element in atoms["element"]]).reshape(-1, 3),
    )


def _rotate_spheres(spheres: _Spheres, rotation: tuple[float, float, float, float] | None) -> _Spheres:
    """Rotate the spheres and centre them on the origin."""
    centres = spheres.centres - (spheres.centres.min(axis=0) + spheres.centres.max(axis=0)) / 2
    if rotation:
        x, y, z, degrees = rotation
        centres = centres @ _rotate(np.array([x, y, z]), math.radians(degrees)).T
        centres -= (centres.min(axis=0) + centres.max(axis=0)) / 2
    return _Spheres(centres, spheres.radii, spheres.colors)


def _rotate(axis: Floats, angle: float) -> Floats:
    """Return the rotation matrix (3, 3) about ``axis`` by ``angle`` in radians (Rodrigues' formula)."""
    x, y, z = axis / max(float(np.linalg.norm(axis)), 1e-9)
    cross = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.asarray(np.eye(3) + math.sin(angle) * cross + (1 - math.cos(angle)) * cross @ cross)


def _rasterize(spheres: _Spheres, canvas: _Canvas) -> Image:
    """Return the supersampled image (height, width, 4): RGB from 0 to 255, alpha 0 or 1; zeros elsewhere."""
    width, height = canvas.width * _FINE, canvas.height * _FINE
    extent = np.maximum(np.abs(spheres.centres).max(axis=0) + spheres.radii.max(), _MIN_EXTENT_A)
    scale = 0.95 * min(width / 2 / extent[0], height / 2 / extent[1])  # a margin beyond rounding errors
    column = np.round(spheres.centres[:, 0] * scale + width / 2).astype(np.int64)
    row = np.round(height / 2 - spheres.centres[:, 1] * scale).astype(np.int64)
    middle, z = row * width + column, spheres.centres[:, 2] * scale
    buffer = _DepthBuffer.make(width * height)
    sizes = np.maximum(1, np.round(spheres.radii * scale)).astype(np.int64)
    for size in np.unique(sizes):
        pixels = _rasterize_sphere(int(size), canvas.light_steps)
        _draw_equal_spheres(buffer, pixels, width, middle, z, np.flatnonzero(sizes == size))
    image = np.zeros((width * height, 4), np.float32)
    covered = np.flatnonzero(buffer.owner >= 0)
    image[covered, :3] = spheres.colors[buffer.owner[covered]] * buffer.light[covered, None]
    image[covered, 3] = 1
    _shade_depth(image, buffer.depth, width, canvas.light_steps)
    return image.reshape(height, width, 4)


def _rasterize_sphere(size: int, light_steps: int) -> Floats:
    """Return the pixels of a sphere of radius ``size`` in pixels: x, y, height, brightness; (n, 4)."""
    span = np.arange(-size, size + 1)
    x, y = (grid.ravel() for grid in np.meshgrid(span, span))
    inside = x**2 + y**2 <= size**2 + 0.5
    x, y = x[inside], y[inside]
    rise = np.sqrt(np.maximum(0, size**2 + 0.5 - x**2 - y**2))
    light = 0.68 + 0.32 * np.clip((-0.35 * x - 0.5 * y + 0.8 * rise) / max(size, 1), 0, 1)
    return np.stack([x, y, rise, np.round(light * light_steps) / light_steps], axis=1)


def _draw_equal_spheres(
    buffer: _DepthBuffer, pixels: Floats, width: int, middle: Indices, z: Floats, spheres: Indices
) -> None:
    """Draw spheres with the same ``pixels`` where they are nearer than the existing pixels.

    The loop runs over the fewer of the two, spheres or pixels of a sphere; numpy handles the other.
    """
    steps = (pixels[:, 1] * width + pixels[:, 0]).astype(np.int64)
    rises, lights = pixels[:, 2], pixels[:, 3]
    if len(spheres) < len(pixels):
        for sphere in spheres[np.argsort(-z[spheres], kind="stable")]:  # nearest first: it hides the most
            buffer.draw(middle[sphere] + steps, z[sphere] + rises, sphere, lights)
        return
    # Of several spheres at a pixel the last one stays.
    spheres = spheres[np.argsort(z[spheres], kind="stable")]
    middle, z = middle[spheres], z[spheres]
    for step, rise, light in zip(steps, rises, lights, strict=True):
        buffer.draw(middle + step, z + rise, spheres, light)


def _shade_depth(image: Image, depth: Image, width: int, light_steps: int) -> None:
    """Darken distant pixels, and edges in front of something much further away."""
    is_covered = np.isfinite(depth)
    if not is_covered.any():
        return
    nearest, farthest = depth[is_covered].max(), depth[is_covered].min()
    fog = np.clip((nearest - depth[is_covered]) / max(nearest - farthest, 1e-6), 0, 1)
    filled = np.where(is_covered, depth, farthest - (nearest - farthest))
    jumps = np.zeros_like(filled)
    for step in (1, -1, width, -width):
        jumps = np.maximum(jumps, np.roll(filled, step) - filled)
    edge = jumps[is_covered] > 0.12 * max(nearest - farthest, 1e-6)
    factor = (1 - 0.28 * fog) * np.where(edge, 0.55, 1.0)
    image[is_covered, :3] *= (np.round(factor * light_steps) / light_steps)[:, None]


def _shrink(fine: Image) -> Pixels:
    """Average blocks of two by two; red, green, blue and alpha from 0 to 255, shape (height, width, 4)."""
    rows = fine[0::2] + fine[1::2]
    blocks = (rows[:, 0::2] + rows[:, 1::2]) / 4
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
    """Encode pixels as a PNG with a reduced palette."""
    flat = (pixels.reshape(-1, 4) // 16).astype(np.uint32)
    flat[flat[:, 3] == 0] = 0
    codes = flat @ np.array([1, 16, 256, 4096], dtype=np.uint32)
    counts = np.bincount(codes, minlength=16**4)
    kinds = np.flatnonzero(counts)
    shades = (
        np.stack([kinds % 16, kinds // 16 % 16, kinds // 256 % 16, kinds // 4096], axis=1).astype(np.float64)
        * 17
    )
    kept = choose_shades(shades, counts[kinds])
    gaps = ((shades[:, None, :] - shades[kept][None]) ** 2).sum(axis=2)
    nearest = np.zeros(len(counts), np.uint8)
    nearest[kinds] = gaps.argmin(axis=1)
    index = nearest[codes].reshape(pixels.shape[:2])
    table = shades[kept].astype(np.uint8)
    return write_png(index, table)


def choose_shades(shades: Floats, counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Choose palette colours: frequent ones, and rare ones unlike any other, while they make a difference.

    Otherwise a short region of low confidence could take the colour of high confidence.

    Args:
        shades: shape (n, 4), the colours.
        counts: shape (n,), the number of pixels of each.

    Returns:
        Indices of the chosen colours.
    """
    chosen = [int(counts.argmax())]
    gaps = ((shades - shades[chosen[0]]) ** 2).sum(axis=1)
    while len(chosen) < min(_COLORS, len(shades)):
        gains = counts * gaps
        if gains.max() < _LEAST_GAIN:
            break
        chosen.append(int(gains.argmax()))
        gaps = np.minimum(gaps, ((shades - shades[chosen[-1]]) ** 2).sum(axis=1))
    return np.array(chosen, dtype=np.int64)
