"""Estimate the cost of free-energy submissions, and limit it for unclaimed keys.

The estimate uses the submitted settings with their defaults. It covers the sampling of the protocol; setup,
charges and analysis are small in comparison and are not counted:

    hours = ligands · repeats · (equilLength + prodLength) · (4 fs / timestep) · 24 h / day
            · (complex windows / complex rate + solvent windows / solvent rate)

with lengths in ns, 30 windows of the ligand in the protein at 100 ns/day and 14 in water at 400 ns/day, at a
time step of 4 fs: the windows of the Open Free Energy protocol and the speed of a typical GPU. If the tool's
settings state the number of windows, that number is used: in water only without a complex, and in both with
one, whose windows include those of a restraint. The number of ligands is the number of records of the SDF
file, or of lines of SMILES. One weighted hour is one hour of that machine.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from foldnote.models.tool import Tool
from foldnote.service.faults import RefusalError
from foldnote.service.files.objects import ObjectStore
from foldnote.service.store.accounts.accounts import Caller
from foldnote.service.store.jobs.insertion import NewJob
from foldnote.service.store.quotas import TRIAL

FAMILY = "free-energy"
COMPLEX_WINDOWS, SOLVENT_WINDOWS = 30, 14
COMPLEX_NS_PER_DAY, SOLVENT_NS_PER_DAY = 100.0, 400.0
REFERENCE_TIMESTEP_FS = 4.0
_WINDOWS, _RESTRAINT_WINDOWS = ("electrostaticWindows", "stericWindows"), "restraintWindows"
_RECORD_END, _MOLECULE_END = b"$$$$", b"M  END"


class Allowance:
    """The largest estimate that an unclaimed key may submit, in weighted hours."""

    def __init__(self, objects: ObjectStore, weighted_hours: float) -> None:
        self._objects = objects
        self._weighted_hours = weighted_hours

    def require(self, caller: Caller, tool: Tool, rows: Sequence[NewJob]) -> None:
        """Check that a free-energy submission of an unclaimed account is within the allowance.

        Raises:
            RefusalError: 403, stating the estimate and the allowance.
        """
        if caller.tier != TRIAL or tool.family != FAMILY:
            return
        estimated = round(sum(self._estimate(row) for row in rows), 2)
        if estimated > self._weighted_hours:
            raise allowance_exceeded(tool.type, estimated, self._weighted_hours)

    def _estimate(self, job: NewJob) -> float:
        paths = [self._objects.path(item.sha256) for item in job.inputs if item.field == "ligandsSDF"]
        return estimate_hours(job.normalized, sum(map(count_ligands, paths)))


def estimate_hours(settings: Mapping[str, Any], ligands: int) -> float:
    """Return weighted hours of a binding or hydration free energy with these normalised settings."""
    length_ns = (float(settings.get("equilLength", 0)) + float(settings.get("prodLength", 0))) / 1000
    days_per_ns = COMPLEX_WINDOWS / COMPLEX_NS_PER_DAY + SOLVENT_WINDOWS / SOLVENT_NS_PER_DAY
    if all(name in settings for name in _WINDOWS):
        windows = sum(float(settings[name]) for name in _WINDOWS)
        days_per_ns = windows / SOLVENT_NS_PER_DAY
        if _RESTRAINT_WINDOWS in settings:
            days_per_ns += (windows + float(settings[_RESTRAINT_WINDOWS])) / COMPLEX_NS_PER_DAY
    slower = REFERENCE_TIMESTEP_FS / float(settings.get("timestep", REFERENCE_TIMESTEP_FS))
    return ligands * float(settings.get("protocolRepeats", 1)) * length_ns * slower * 24 * days_per_ns


def count_ligands(sdf: Path) -> int:
    """Return the number of records of an SDF file, at least 1; an unterminated last record counts.

    A file without any SDF marker is read as SMILES, one per line.
    """
    with sdf.open("rb") as stream:
        ends, lines, is_open, is_sdf = 0, 0, False, False
        for line in stream:
            is_end = line.startswith(_RECORD_END)
            ends += is_end
            lines += bool(line.strip())
            is_open = not is_end and (is_open or bool(line.strip()))
            is_sdf = is_sdf or is_end or line.startswith(_MOLECULE_END)
    return max(1, ends + is_open if is_sdf else lines)


def allowance_exceeded(tool_type: str, estimated: float, allowed: float) -> RefusalError:
    """Build the 403 for an estimate above the allowance."""
    sentence = (
        f"This {tool_type} run is estimated at {estimated:g} weighted hours; an unclaimed key may spend"
        f" {allowed:g}. Ask for fewer ligands, repeats or shorter runs, or claim the account."
    )
    fields = {"estimatedWeightedHours": estimated, "allowanceWeightedHours": allowed}
    return RefusalError(403, "allowance_exceeded", sentence, more=fields)
