"""Archives made for the tests of results, and the location of the real ones."""

import gzip
import json
import os
import zipfile
from math import cos, sin
from pathlib import Path

import gemmi
import pytest

from foldnote.results import Structure

DATA = Path(__file__).parent / "data"
SHARED = (
    Path(os.environ.get("FOLDNOTE_SHARED_DATA", Path(__file__).parents[4] / "shared" / "data")) / "results"
)
FV = (DATA / "trastuzumab_fv_ca.pdb").read_text()
NUMBERING = (DATA / "numbering.csv").read_bytes()

RECEPTOR = """REMARK  Name = receptor
ATOM      1  N   MET A 318      16.000  52.000  14.000  1.00  0.00    -0.346 N
ATOM      2  HN  MET A 318      16.000  52.000  15.000  1.00  0.00     0.163 HD
ATOM      3  CA  MET A 318      17.400  52.000  13.700  1.00  0.00     0.177 C
ATOM      4  SD  MET A 318      18.400  52.000  13.700  1.00  0.00     0.177 SA
TER
"""
"""Four atoms in the form of a docking program's input."""

needs_shared = pytest.mark.skipif(
    not SHARED.is_dir(), reason=f"the real result archives are not at {SHARED} (set FOLDNOTE_SHARED_DATA)"
)


def open_fold(name: str) -> Structure:
    """Return Cα atoms of a known structure: see the README of the data."""
    return Structure.open(DATA / "folds" / f"{name}.pdb.gz")


def write_zip(path: Path, members: dict[str, bytes | str]) -> Path:
    """Write a ZIP of ``members`` to ``path``."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return path


def write_fv_result(path: Path) -> Path:
    """Write a result as the antibody engine does."""
    engine = {"name": "abodybuilder2", "method": "ABodyBuilder2", "kind": "genuine", "version": "1.0.1"}
    manifest = {
        "job": {"jobName": "fv-1", "type": "abodybuilder", "seed": 7},
        "engine": engine,
        "notes": ["One model; no ensemble error."],
        "started": "2026-11-21T07:13:01.000Z",
        "ended": "2026-11-21T07:13:43.500Z",
    }
    return write_zip(
        path,
        {
            "antibody.pdb": FV,
            "numbering.csv": NUMBERING,
            "nested/copy.pdb.gz": gzip.compress(FV.encode()),
            "table.tsv": "name\tvalue\na\t1\nb\t2.5\n",
            "records.json": json.dumps([{"x": 1, "y": "a"}, {"x": 2, "y": None}]),
            "score.json": '{"residues": 227, "energy": NaN}',
            "manifest.json": json.dumps(manifest),
            "job.log": "done\n",
        },
    )


def with_b_factors(values: list[float]) -> str:
    """Return the Fv with one B-factor per residue."""
    lines = [line for line in FV.splitlines() if line.startswith("ATOM")]
    return "\n".join(f"{line[:60]}{value:6.2f}{line[66:]}" for line, value in zip(lines, values, strict=True))


def write_fold_result(folder: Path, job_name: str, fold: str, settings: dict, scores: dict) -> Path:
    """Write the result of a job whose structure is one of the folds."""
    manifest = {"job": {"jobName": job_name, "type": "abodybuilder"}, "settings": settings}
    members = {
        "prediction.pdb": gzip.decompress((DATA / "folds" / f"{fold}.pdb.gz").read_bytes()),
        "score.json": json.dumps(scores),
        "manifest.json": json.dumps(manifest),
    }
    return write_zip(folder / f"{job_name}.zip", members)


def write_ensemble(models: int = 5) -> str:
    """Return several models of the Fv: bent by smooth waves, rotated and shifted."""
    parsed = gemmi.read_pdb_string(FV)
    for step in range(1, models):
        model = parsed[0].clone()
        model.num = step + 1
        for chain in model:
            for place, residue in enumerate(chain):
                for atom in residue:
                    x, y, z = atom.pos.tolist()
                    bent = (
                        step * sin(place / 7),
                        0.5 * step * cos(place / 5),
                        0.3 * step * sin(place / 3 + step),
                    )
                    atom.pos = gemmi.Position(-y + bent[0], x + bent[1] + 3 * step, z + bent[2])
        parsed.add_model(model)
    return parsed.make_pdb_string()
