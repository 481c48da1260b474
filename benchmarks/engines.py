"""The service's overhead beside an engine's own time: one job, a batch in warm workers, 1,000 numberings.

A single job is compared with the same program run alone, a batch with the same program that has loaded its
model and is called row by row, numberings with the ANARCI program on one file of all sequences. Engines that
are not installed are reported and left out. Nothing here is a test: machines differ.

    python benchmarks/engines.py [--tool anarci] [--rows 100] [--numberings 1000]
"""

from __future__ import annotations

import argparse
import json
import os
import random
import statistics
import subprocess
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from _service import ServiceRun, report, say_load

from foldnote.service.engines import Engine, load_engines
from foldnote.service.engines.launch import make_environment

HEAVY = (
    "EVQLVESGGGLVQPGGSLRLSCAASGFNIKDTYIHWVRQAPGKGLEWVARIYPTNGYTRYADSVKGRFTISADTSKNTAYLQMNSLRAEDTAVYYC"
    "SRWGGDGFYAMDYWGQGTLVTVSS"
)
"""Variable domain of trastuzumab's heavy chain (INN list 78)."""
LIGHT = (
    "DIQMTQSPSSLSASVGDRVTITCRASQDVNTAVAWYQQKPGKAPKLLIYSASFLYSGVPSRFSGSRSGTDFTLTISSLQPEDFATYYCQQHYTTPPT"
    "FGQGTKVEIK"
)
"""Variable domain of its light chain."""
MOLECULES = ("CC(=O)Oc1ccccc1C(=O)O", "CN1C=NC2=C1C(=O)N(C(=O)N2C)C", "CC(C)Cc1ccc(cc1)C(C)C(=O)O")
TOOLS: dict[str, tuple[str, Any]] = {
    "anarci": ("anarci", lambda row: {"sequence": vary(row), "scheme": "imgt"}),
    "antiberty": ("antiberty", lambda row: {"task": "antibody-embeddings", "heavyChain": vary(row)}),
    "admet": ("admet_ai", lambda row: {"smilesStrings": ["C" * (row % 20) + MOLECULES[row % 3]]}),
    "abodybuilder": ("abodybuilder2", lambda row: {"heavy": vary(row), "light": LIGHT}),
}
"""Tool, its engine, and the settings of a row."""
ROWS = {"anarci": 1000, "antiberty": 200, "admet": 1000, "abodybuilder": 20}
"""Rows of a batch: what a user submits together, where that takes no longer than some minutes."""
ROW_BY_ROW = """
import os, sys
sys.path[0] = sys.argv[1]
import run, serve
serve.load()
getattr(serve, "begin", lambda: None)()
import time
begun = time.perf_counter()
for folder in sys.argv[2:]:
    os.chdir(folder)
    run.main()
print(time.perf_counter() - begun, file=sys.stderr)
"""

ANARCI_ROW_BY_ROW = """
import sys
from anarci import anarci
import time
begun = time.perf_counter()
for sequence in sys.argv[1:]:
    anarci([("row", sequence)], scheme="imgt", assign_germline=True, allowed_species=["human", "mouse"])
print(time.perf_counter() - begun, file=sys.stderr)
"""
"""ANARCI itself, which starts hmmscan for each sequence; the engine searches in its own process."""


def vary(row: int) -> str:
    """Return the heavy chain with one residue of its third CDR exchanged, a different variant per row."""
    draw = random.Random(row)
    place = 98 + row % 8
    return HEAVY[:place] + draw.choice("ADEFGHIKLNQRSTVY") + HEAVY[place + 1 :]


def bare_folders(folder: Path, tool: str, settings: Sequence[dict[str, Any]]) -> list[Path]:
    """Create a working folder for each row, as a runner does."""
    made = []
    for row, each in enumerate(settings):
        work = folder / f"{tool}-{row}"
        (work / "outputs").mkdir(parents=True)
        job = {"jobName": f"row-{row}", "type": tool, "settings": each, "files": {}, "seed": 1}
        (work / "job.json").write_text(json.dumps(job))
        made.append(work)
    return made


def run_bare_s(engine: Engine, work: Path) -> float:
    """Return the seconds of the engine's program alone."""
    command = [str(engine.python), "-u", str(engine.folder / "run.py")]
    begun = time.perf_counter()
    subprocess.run(command, cwd=work, env=make_environment(engine, 1), capture_output=True, check=True)
    return time.perf_counter() - begun


def run_row_by_row_s(engine: Engine, folders: Sequence[Path]) -> float:
    """Return the seconds that the loaded program takes for all rows in sequence, without loading."""
    command = [str(engine.python), "-c", ROW_BY_ROW, str(engine.folder), *map(str, folders)]
    result = subprocess.run(
        command, env=make_environment(engine, 1), capture_output=True, text=True, check=True
    )
    return float(result.stderr.split()[-1])


def run_anarci_s(engine: Engine, sequences: Sequence[str]) -> float:
    """Return the seconds that ANARCI's own function takes for all sequences in turn, without loading."""
    command = [str(engine.python), "-c", ANARCI_ROW_BY_ROW, *sequences]
    result = subprocess.run(
        command, env=make_environment(engine, 1), capture_output=True, text=True, check=True
    )
    return float(result.stderr.split()[-1])


def measure_single_job(tool: str, runs: int = 7) -> None:
    """Measure from before POST /submit-job to the end of the engine's first job, beside the program."""
    name, settings_of = TOOLS[tool]
    engine = load_engines()[name]
    bare, ours = [], []
    for run in range(runs):
        with tempfile.TemporaryDirectory() as folder, ServiceRun(Path(folder), None) as service:
            (work,) = bare_folders(Path(folder), tool, [settings_of(run)])
            bare.append(run_bare_s(engine, work))
            begun = time.perf_counter()
            body = {"jobName": "one", "type": tool, "settings": settings_of(run)}
            service.client.post("/submit-job", json=body).raise_for_status()
            if service.wait("one", 0.005)["status"] != "Complete":
                raise SystemExit(f"The job of {tool} failed.")
            ours.append(time.perf_counter() - begun)
    more = statistics.median(ours) - statistics.median(bare)
    report(f"{tool}: a single job, beyond the program", more, 0.3, "s")
    print(f"    the program {statistics.median(bare):.2f} s, the job {statistics.median(ours):.2f} s")


def measure_batch(tool: str, rows: int) -> None:
    """Measure a batch on one core with a loaded worker, beside the loaded program called row by row."""
    name, settings_of = TOOLS[tool]
    engine = load_engines()[name]
    settings = [settings_of(row) for row in range(rows)]
    with tempfile.TemporaryDirectory() as folder, ServiceRun(Path(folder), None, "--workers", "1") as service:
        peer_s = run_row_by_row_s(engine, bare_folders(Path(folder), tool, settings))
        service.client.post(
            "/submit-job", json={"jobName": "warm", "type": tool, "settings": settings[0]}
        ).raise_for_status()
        service.wait("warm")
        begun = time.perf_counter()
        body = {"batchName": "many", "type": tool, "settings": settings}
        service.client.post("/submit-batch", json=body).raise_for_status()
        wait_for_batch(service, rows)
        ours_s = time.perf_counter() - begun
    ours_ms, peer_ms = ours_s / rows * 1000, peer_s / rows * 1000
    peers = {"the loaded program, row by row": peer_ms}
    if tool == "anarci":
        some = [each["sequence"] for each in settings[:50]]
        peers["ANARCI's own function, row by row"] = run_anarci_s(engine, some) / len(some) * 1000
    report(f"{tool}: a row of {rows} in a warm worker", ours_ms, 1.1 * peer_ms, "ms", peers)


def measure_numberings(rows: int) -> None:
    """Measure numberings as a batch on all cores, beside ANARCI on one file with as many cores."""
    engine = load_engines()["anarci"]
    cores = os.cpu_count() or 1
    settings = [{"sequence": vary(row), "scheme": "imgt"} for row in range(rows)]
    with tempfile.TemporaryDirectory() as folder, ServiceRun(Path(folder), None) as service:
        fasta = Path(folder, "all.fasta")
        fasta.write_text("".join(f">{row}\n{each['sequence']}\n" for row, each in enumerate(settings)))
        program = engine.python.parent / "ANARCI"
        command = [str(program), "-i", str(fasta), "-s", "imgt", "--ncpu", str(cores), "--assign_germline"]
        begun = time.perf_counter()
        subprocess.run(command, env=make_environment(engine, cores), capture_output=True, check=True)
        peer_s = time.perf_counter() - begun
        begun = time.perf_counter()
        body = {"batchName": "many", "type": "anarci", "settings": settings}
        service.client.post("/submit-batch", json=body).raise_for_status()
        wait_for_batch(service, rows)
        ours_s = time.perf_counter() - begun
    report(f"{rows} numberings, {cores} at once", ours_s, 1.15 * peer_s, "s", {"the ANARCI program": peer_s})


def wait_for_batch(service: ServiceRun, rows: int) -> None:
    while True:
        counts = service.client.get("/jobs", params={"batch": "many", "limit": 1}).json()["statuses"]
        if counts["Complete"] + counts["Stopped"] == rows:
            if counts["Stopped"]:
                raise SystemExit(f"{counts['Stopped']} of {rows} rows failed.")
            return
        time.sleep(0.05)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rows", type=int, help="rows of each batch; by default 20 to 1000")
    parser.add_argument("--numberings", type=int, default=1000)
    parser.add_argument("--tool", choices=TOOLS, action="append")
    options = parser.parse_args()
    say_load()
    engines = load_engines()
    for tool in options.tool or TOOLS:
        if not engines[TOOLS[tool][0]].state().installed:
            print(f"{tool}: not measured, its engine is not installed")
            continue
        measure_single_job(tool)
        measure_batch(tool, options.rows or ROWS[tool])
    if engines["anarci"].state().installed and "anarci" in (options.tool or TOOLS):
        measure_numberings(options.numberings)


if __name__ == "__main__":
    main()
