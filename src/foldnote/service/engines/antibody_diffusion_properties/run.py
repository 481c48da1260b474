"""Redesign CDRs with the lab's own copy of Antibody-Diffusion-Properties.

Reads job.json and the complex, writes a configuration, runs design_pdb.py and, if requested, eval.py, and
collects outputs/design_*.pdb, outputs/reference.pdb and outputs/designs.csv.
"""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from adapter_program import (
    PROGRAM_FOLDER,
    ProgressSpan,
    copy_file,
    describe_program,
    describe_weights,
    read_bar,
    require_files,
    require_integer,
    run_program,
)
from engine_protocol import (
    fail,
    read_job,
    read_options,
    report,
    write_notes,
    write_score,
    write_table,
    write_used,
)
from pdb_lines import read_protein, read_residues

NAME = "Antibody-Diffusion-Properties"
CONFIGS = {"DDG_Hydropathy": "ddg_and_hydro", "Hydropathy": "hydro", "DDG": "ddg"}
"""The properties, with the names of the program's configurations that sample by them."""
LARGEST_SEED = 2**32 - 1
"""Largest seed that numpy accepts."""
CDRS = 6
SCORES = {"pred_ddg": "ddg_kcal_mol", "hydro": "hydropathy", "rmsd": "rmsd_a", "seqid": "identity_percent"}
"""Columns of eval.py's table, with their names here."""
COLUMNS = ("cdr", "design", "file", "sequence", "before", *SCORES.values())


def main() -> None:
    """Run the job of this folder."""
    job, options = read_job(), read_options()
    settings, seed = job["settings"], job["seed"] % LARGEST_SEED
    designs = require_integer(settings, "numDesigns")
    if settings["sampleCDRTogether"]:
        fail("The program guides the design of one CDR at a time only. Turn sampleCDRTogether off.")
    chains = {"--heavy": settings.get("heavyChain"), "--light": settings.get("lightChain")}
    ignored = {}
    if settings["task"] == "Nanobody":
        if chains.pop("--light"):
            ignored["lightChain"] = "A nanobody has no light chain."
        if not chains["--heavy"]:
            fail("Name the nanobody's chain as heavyChain.")
    write_used(seed=seed, ignored=ignored)
    report(0.01, "Reading the structure")
    text = read_protein(Path(job["files"]["pdbFile"][0]), "The structure")
    known = read_residues(text)
    for chain in filter(None, chains.values()):
        if chain not in known:
            fail(f"The structure has no chain {chain}. Its chains: {', '.join(known)}.")
    PROGRAM_FOLDER.mkdir()
    place, code, weights = PROGRAM_FOLDER.resolve(), Path(options["folder"]), Path(options["weights"])
    (place / "complex.pdb").write_text(text, "utf-8")
    property_name = CONFIGS[settings["property"]]
    config = (code / "configs" / "test" / f"codesign_single_{property_name}.yml").read_text("utf-8")
    (place / "design.yml").write_text(change_config(config, str(weights), designs), "utf-8")
    # Its models of ΔΔG are located relative to the checkout, so it runs there; it writes only to our folder.
    is_scored = settings.get("scoring") == "binding-ddg"
    run_program(
        NAME,
        [
            *(options["python"], code / "design_pdb.py", place / "complex.pdb"),
            *("--config", place / "design.yml", "--out_root", place / "results", "--seed", str(seed)),
            *(word for flag, chain in chains.items() if chain for word in (flag, chain)),
            *options.get("arguments", ()),
        ],
        ProgressSpan(0.02, 0.8 if is_scored else 0.97, "Redesigning CDRs"),
        folder=code,
        read_progress=CdrProgress(),
    )
    metadata = require_files(NAME, (place / "results").glob("design/complex.pdb_*/metadata.json"), "designs")
    results = metadata[0].parent
    scores = score(options["python"], code, place) if is_scored else {}
    reference = copy_file(require_files(NAME, [results / "reference.pdb"], "reference")[0], "reference.pdb")
    rows = list(collect(results, reference.read_text("utf-8"), scores))
    write_table("designs.csv", rows, COLUMNS if is_scored else COLUMNS[: -len(SCORES)])
    write_score({"designs": len(rows)})
    write_notes(
        [
            *describe_program(NAME, code, options.get("arguments", ())),
            describe_weights(weights),
            f"{designs} designs of each of {len({row['cdr'] for row in rows})} CDRs.",
        ]
    )
    report(1.0, "Done")


def change_config(text: str, weights: str, designs: int) -> str:
    """Return the program's YAML with the path of the weights and the number of designs."""
    for key, value in (("checkpoint", json.dumps(weights)), ("num_samples", str(designs))):
        row = re.compile(rf"^(\s*{key}:).*$", re.M)
        if not row.search(text):
            fail(f"The configured checkout's configuration has no {key}; this adapter fits another version.")
        text = row.sub(lambda found, value=value: f"{found[1]} {value}", text, count=1)
    return text


class CdrProgress:
    """Computes the fraction of all CDRs from the line that begins each one and the bars in it."""

    def __init__(self) -> None:
        self._begun = 0

    def __call__(self, line: str) -> float | None:
        """Return the fraction that a line reports, or None."""
        if "Start sampling for:" in line:
            self._begun += 1
            return (self._begun - 1) / CDRS
        fraction = read_bar(line)
        return None if fraction is None else (max(self._begun - 1, 0) + 0.99 * fraction) / CDRS


def score(python: str, code: Path, place: Path) -> dict[tuple[str, str], dict[str, str]]:
    """Return the scores of eval.py by CDR and file of the program."""
    run_program(
        f"eval.py of {NAME}",
        [python, code / "eval.py", "--no_energy", "--root", place / "results"],
        ProgressSpan(0.8, 0.97, "Scoring the designs"),
        folder=code,
    )
    (table,) = require_files(NAME, [place / "results" / "summary.csv"], "table of scores")
    with table.open(newline="", encoding="utf-8") as file:
        return {(row["cdr"], row["filename"]): row for row in csv.DictReader(file)}


def collect(
    results: Path, reference: str, scores: Mapping[tuple[str, str], Mapping[str, str]]
) -> Iterator[dict[str, Any]]:
    """Copy the designs into the result; return a row for each."""
    before = read_residues(reference)
    for item in json.loads((results / "metadata.json").read_text("utf-8"))["items"]:
        cdr = item["tag"]
        paths = require_files(NAME, (results / cdr).glob("[0-9]*.pdb"), f"designs of {cdr}")
        for number, path in enumerate(paths, 1):
            chains = read_residues(path.read_text("utf-8"))
            copied = copy_file(path, f"design_{cdr}_{number:03}.pdb")
            found = scores.get((cdr, path.name), {})
            yield {
                "cdr": cdr,
                "design": number,
                "file": copied.name,
                "sequence": cut(chains, item["residue_first"], item["residue_last"]),
                "before": cut(before, item["residue_first"], item["residue_last"]),
                **{ours: found[theirs] for theirs, ours in SCORES.items() if theirs in found},
            }


def cut(chains: Mapping[str, Mapping[str, str]], first: list[Any], last: list[Any]) -> str:
    """Return the residues of a chain from first to last, each with chain, number and insertion code."""
    chain = chains.get(first[0], {})
    names = list(chain)
    begin, end = f"{first[1]}{first[2]}".strip(), f"{last[1]}{last[2]}".strip()
    if begin not in chain or end not in chain:
        return ""
    return "".join(chain[name] for name in names[names.index(begin) : names.index(end) + 1])


main()
