"""The joined tables of a batch, with the job of every row.

Files that several jobs have under the same name become one table.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

import pandas as pd

from foldnote.errors import UnreadableFileError
from foldnote.results import Region, Result
from foldnote.results.batch import stack_tables
from foldnote.results.naming.file_kinds import is_working_file, structure_order
from foldnote.text import count

NamedTable = tuple[str, pd.DataFrame]


def list_tables(result: Result) -> Iterator[NamedTable]:
    """Yield titles and tables of the results: regions, models, poses, interactions, other tables by name."""
    regions = {name: list_regions(job.regions) for name, job in result.jobs.items()}
    if any(len(table) for table in regions.values()):
        yield "Regions", stack_tables(regions)
    models = result.model_table
    if set(models.columns) - {"job", "prediction", "rank", "model"}:
        yield "Scores of every model", models
    elif len(result.score_table) > 1:
        yield "Scores of every file", result.score_table
    if result.poses:
        yield "Poses", result.pose_table
        yield from list_interactions(result)
    yield from _list_files(result)


def list_interactions(result: Result) -> list[NamedTable]:
    """Return the interactions of poses, without atom coordinates; empty where there are none."""
    interactions = result.interaction_table
    coordinates = ["x", "y", "z", "ligand_x", "ligand_y", "ligand_z"]
    return (
        [] if interactions.empty else [("Interactions of the poses", interactions.drop(columns=coordinates))]
    )


def _list_files(result: Result) -> Iterator[NamedTable]:
    """Yield one table per file name, joined from the jobs that have this file."""
    docked = {pose.file for pose in result.poses}
    names: dict[str, list[str]] = defaultdict(list)
    for job, job_result in result.jobs.items():
        for name in job_result.tables:
            if not is_working_file(name) and f"{job}/{name}" not in docked:
                names[name].append(job)
    for name in sorted(names, key=structure_order):
        job_tables = {job: read_table(result.jobs[job], name) for job in names[name]}
        tables = {job: table for job, table in job_tables.items() if table is not None}
        if tables:
            jobs = list(tables)
            yield f"{name} of {jobs[0] if len(jobs) == 1 else count(len(jobs), 'job')}", stack_tables(tables)


def read_table(result: Result, name: str) -> pd.DataFrame | None:
    """Read a table of the result; None if it is missing or damaged."""
    try:
        return result.tables.get(name)
    except UnreadableFileError:
        return None


def list_regions(regions: tuple[Region, ...]) -> pd.DataFrame:
    """Return the regions of a numbering.

    Returns:
        One row per region: ``chain``, ``region``, ``sequence``, ``first`` and ``last`` (positions of the
        scheme), ``scheme``, ``cdr_definition`` str, ``residues`` int64.
    """
    rows = [
        {
            "chain": region.chain,
            "region": region.label if region.is_cdr else region.name,
            "sequence": region.sequence,
            "residues": len(region.sequence),
            "first": region.positions[0],
            "last": region.positions[-1],
            "scheme": region.scheme,
            "cdr_definition": region.definition,
        }
        for region in regions
    ]
    return pd.DataFrame(rows)
