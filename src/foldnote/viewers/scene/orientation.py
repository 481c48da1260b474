"""The initial orientation of a view, as a 3Dmol.js rotation."""

from __future__ import annotations

import math

import numpy as np

from foldnote.viewers.scene.traces import Points

_MAX_COORDINATE_A = 1e6
"""Maximum coordinate; larger ones indicate a damaged file."""
Rotation = tuple[float, float, float, float]
"""Axis (x, y, z) and angle in degrees."""
_MOST_FILL = 1.25
_EDGE_A = 5.0
"""Space above the outermost backbone atom, for side chains, ribbons and labels."""


def find_axes(points: Points) -> tuple[Points, Points] | None:
    """Return the centroid (3,) and principal axes (3, 3), longest first, of points (n, 3); None if n < 4."""
    finite = points[(np.abs(points) < _MAX_COORDINATE_A).all(axis=1)]
    if len(finite) < 4:
        return None
    middle = finite.mean(axis=0)
    _, _, axes = np.linalg.svd(finite - middle, full_matrices=False)
    return middle, axes


def find_rotation(points: Points) -> Rotation | None:
    """Return the rotation that turns the longest principal axis to x and the shortest towards the viewer."""
    frame = find_axes(points)
    return None if frame is None else find_axis_angle(frame[1][0], frame[1][1])


def find_fill(points: Points, rotation: Rotation | None) -> float:
    """Return the zoom beyond the fit of the bounding sphere, at most 1.25, that keeps a structure's height.

    Args:
        points: (n, 3) in Å.
        rotation: the rotation; None for no rotation.
    """
    finite = points[(np.abs(points) < _MAX_COORDINATE_A).all(axis=1)]
    if not len(finite):
        return _MOST_FILL
    from_middle = finite - finite.mean(axis=0)
    up = np.array([0.0, 1.0, 0.0])
    if rotation is not None:
        axis, angle = np.array(rotation[:3]), -math.radians(rotation[3])
        up = (
            up * math.cos(angle)
            + np.cross(axis, up) * math.sin(angle)
            + axis * axis[1] * (1 - math.cos(angle))
        )
    height = float(np.abs(from_middle @ up).max()) + _EDGE_A
    radius = float(np.linalg.norm(from_middle, axis=1).max()) + _EDGE_A
    return round(min(_MOST_FILL, max(1.0, radius / height)), 3)


def find_axis_angle(right: Points, up: Points) -> Rotation | None:
    """Return the rotation that maps ``up`` to y and ``right`` close to x; None if none is needed."""
    y = up / np.linalg.norm(up)
    x = right - np.dot(right, y) * y
    if np.linalg.norm(x) < 1e-6:
        return None
    x = x / np.linalg.norm(x)
    matrix = np.array([x, y, np.cross(x, y)])
    angle = math.acos(float(np.clip((np.trace(matrix) - 1) / 2, -1, 1)))
    axis = np.array([matrix[2, 1] - matrix[1, 2], matrix[0, 2] - matrix[2, 0], matrix[1, 0] - matrix[0, 1]])
    if angle > math.pi - 1e-4:  # a half turn, whose matrix is symmetric: an axis is a column of M + 1
        columns = matrix + np.eye(3)
        axis = columns[:, np.argmax(np.diag(columns))]
    length = float(np.linalg.norm(axis))
    if length < 1e-6:
        return None
    axis = axis / length
    return (*(round(float(part), 4) for part in axis), round(math.degrees(angle), 2))  # type: ignore[return-value]
