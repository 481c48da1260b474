"""Rescore poses with GNINA's networks if the add-on gnina is installed.

The add-on runs in its own environment: receptor and poses are passed as files, and figures are returned. Any
failure there leaves the docking unchanged, and is reported.
"""

from __future__ import annotations

import json
import math
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import Timer
from typing import Any

ADD_ON = "gnina"
FIGURES = ("CNNscore", "CNNaffinity", "CNNvariance")
"""GNINA's names: predicted probability that the pose is right, 0 to 1; predicted pK; its variance."""
FOLDER = Path("rescoring")

ProgressReport = Callable[[float, str], None]


@dataclass(frozen=True)
class Rescoring:
    """The add-on's result, or the reason why there is none."""

    reason: str | None = None
    """Why the poses have no figures; None if they have."""
    rows: tuple[dict[str, float], ...] = ()
    """For each pose, the figures and both ranks."""
    notes: tuple[str, ...] = ()

    def describe(self) -> dict[str, Any]:
        """Return the add-on's row of used.json."""
        return {"used": self.reason is None, "reason": self.reason}


def rescore(
    offered: Mapping[str, Any],
    receptors: Sequence[str],
    poses: Sequence[str],
    report_progress: ProgressReport,
) -> Rescoring:
    """Return the score the poses.

    Args:
        offered: the description of the add-on that this run received.
        receptors: for each pose, PDB of the receptor's heavy atoms.
        poses: an SDF record each, Vina's best first.
        report_progress: called with the fraction of poses that are done, and a message.
    """
    if offered["reason"] is not None:
        return Rescoring(offered["reason"])
    try:
        found = run_add_on(offered, receptors, poses, report_progress)
        rows = read_rows(found, len(poses))
        return Rescoring(None, rows, write_notes_of(offered, rows, found))
    except (OSError, ValueError, KeyError, TypeError, subprocess.SubprocessError) as exc:
        reason = f"It failed: {' '.join(str(exc).split())[:300].rstrip('.')}."
        told = (
            f"The poses have no CNN scores, since GNINA's rescoring failed; the docking is complete. {reason}"
        )
        return Rescoring(reason, notes=(told,))


def run_add_on(
    offered: Mapping[str, Any],
    receptors: Sequence[str],
    poses: Sequence[str],
    report_progress: ProgressReport,
) -> dict[str, Any]:
    """Run the add-on's program; return the content of its scores.json.

    Raises:
        ChildProcessError: it failed, or took too long; the text says which.
    """
    FOLDER.mkdir()
    FOLDER.joinpath("receptor.pdb").write_text(receptors[0], "utf-8")
    for number, (pose, receptor) in enumerate(zip(poses, receptors, strict=True), start=1):
        FOLDER.joinpath(f"pose-{number}.sdf").write_text(pose, "utf-8")
        if receptor != receptors[0]:
            FOLDER.joinpath(f"receptor-{number}.pdb").write_text(receptor, "utf-8")
    complaints, late = FOLDER / "complaints.txt", []
    with (
        complaints.open("w", encoding="utf-8") as errors,
        subprocess.Popen(
            [*offered["command"], str(FOLDER.resolve())],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
            errors="replace",
        ) as process,
    ):
        timer = Timer(offered["timeLimitS"], lambda: (late.append(True), process.kill()))
        timer.start()
        for line in process.stdout or ():
            follow(line, report_progress)
        process.wait()
        timer.cancel()
    if late:
        raise ChildProcessError(f"it took longer than {offered['timeLimitS']:.0f} s")
    if process.returncode:
        raise ChildProcessError(explain(process.returncode, complaints))
    content: dict[str, Any] = json.loads(FOLDER.joinpath("scores.json").read_text("utf-8"))
    return content


def follow(line: str, report_progress: ProgressReport) -> None:
    """Report the add-on's progress; ignore its other lines."""
    try:
        found = json.loads(line)
        report_progress(found["pose"] / found["poses"], f"Rescored pose {found['pose']} of {found['poses']}")
    except (ValueError, KeyError, TypeError):
        return


def explain(status: int, complaints: Path) -> str:
    """Explain the add-on program's exit status."""
    if status < 0:
        return f"signal {-status} ended it, which happens where memory runs out"
    lines = complaints.read_text("utf-8", "replace").strip().splitlines()
    return lines[-1] if lines else f"exit status {status}"


def read_rows(content: Mapping[str, Any], count: int) -> tuple[dict[str, float], ...]:
    """Return the figures of each pose, and its rank by Vina and by CNNscore.

    Raises:
        ValueError: there is not one row of finite figures for each pose.
    """
    rows = [{name: float(row[name]) for name in FIGURES} for row in content["scores"]]
    if len(rows) != count or not all(math.isfinite(value) for row in rows for value in row.values()):
        raise ValueError(f"it gave {len(rows)} rows for {count} poses, or figures that are not numbers")
    order = sorted(range(count), key=lambda place: -rows[place]["CNNscore"])
    return tuple(
        {**row, "vina_rank": place + 1, "cnn_rank": order.index(place) + 1} for place, row in enumerate(rows)
    )


def write_notes_of(
    offered: Mapping[str, Any], rows: Sequence[Mapping[str, float]], content: Mapping[str, Any]
) -> tuple[str, ...]:
    """Return notes for readers of the figures."""
    best = next(int(row["vina_rank"]) for row in rows if row["cnn_rank"] == 1)
    rescored = (
        f"The poses were rescored by {offered['method']} {offered['version']} (default ensemble of GNINA"
        f" 1.0). Their order is Vina's; by CNNscore pose {best} is the best."
    )
    notes = [rescored]
    if metals := content["asMetal"]:
        notes.append(f"GNINA's networks have no channel for {', '.join(metals)} and see it as a metal.")
    if cut := sum(each > 0 for each in content["outside"]):
        notes.append(
            f"In {cut} of {len(rows)} poses the ligand reaches out of the cube of {content['edge']:g} Å that"
            " the networks see: their CNN scores are of a part of it."
        )
    return tuple(notes)
