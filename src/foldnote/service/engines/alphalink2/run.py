"""Predict complexes from crosslinks with the lab's own copy of AlphaLink2.

Reads job.json and the crosslinks, runs unifold/homo_search.py, generate_crosslink_pickle.py and inference.py,
and collects outputs/sample_*.pdb, outputs/relaxed_best.pdb and outputs/scores.csv.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from adapter_program import (
    PROGRAM_FOLDER,
    ProgressSpan,
    copy_file,
    describe_program,
    describe_weights,
    read_chains,
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
from pdb_lines import mean_plddt

MODEL = "multimer_af2_crop"
"""The configuration of the network that the program's own script runs."""
DATABASES = {
    "uniref90_database_path": "uniref90/uniref90.fasta",
    "mgnify_database_path": "mgnify/mgy_clusters_2018_12.fa",
    "bfd_database_path": "bfd/bfd_metaclust_clu_complete_id30_c90_final_seq.sorted_opt",
    "uniclust30_database_path": "uniclust30/uniclust30_2018_08/uniclust30_2018_08",
    "uniprot_database_path": "uniprot/uniprot.fasta",
    "pdb_seqres_database_path": "pdb_seqres/pdb_seqres.txt",
    "template_mmcif_dir": "pdb_mmcif/mmcif_files",
    "obsolete_pdbs_path": "pdb_mmcif/obsolete.dat",
}
"""Flags of homo_search.py, and the locations of databases in the program's own script."""
SEARCH_UNTIL = "--max_template_date=3000-01-01"
SAMPLED = re.compile(r"Model (\d+) Crosslink satisfaction: (\S+) Model confidence: (\S+)")
FILE = re.compile(r"AlphaLink2_\d+_[\d.]+\.pdb")
COLUMNS = ("rank", "file", "model_confidence", "crosslink_satisfaction", "mean_plddt")
LARGEST_SEED = 2**31 - 1


@dataclass(frozen=True)
class LinkedSampling:
    """How the program draws its samples."""

    samples: int
    recycles: int
    neff: int
    """Effective number of sequences to which the alignment is reduced; -1 for all of it."""
    crosslink_cutoff: float
    """Longest distance that a crosslink bridges, in Å."""
    has_dropout: bool
    """Whether each sample ignores some of the crosslinks."""
    seed: int


def main() -> None:
    """Run the job of this folder."""
    job, options = read_job(), read_options()
    settings, seed = job["settings"], job["seed"] % LARGEST_SEED
    chains = read_chains(settings["sequence"])
    sampling = read_sampling(settings, seed)
    write_used(seed=seed)
    report(0.01, "Writing the program's input")
    write_input(chains, Path(job["files"]["crosslinksFile"][0]))
    search_databases(options)
    encode_crosslinks(options)
    rows = collect(PROGRAM_FOLDER.resolve() / "models", sampling, predict(options, sampling))
    write_table("scores.csv", rows, COLUMNS)
    write_score({"model_confidence": float(rows[0]["model_confidence"]), "samples": sampling.samples})
    write_notes(
        [
            *describe_program("AlphaLink2", Path(options["folder"]), options.get("arguments", ())),
            describe_weights(Path(options["weights"])),
            "The crosslink cutoff counts satisfied crosslinks and changes no prediction.",
        ]
    )
    report(1.0, "Done")


def read_sampling(settings: Mapping[str, Any], seed: int) -> LinkedSampling:
    """Read the settings of the samples; fail for a number that is not whole."""
    return LinkedSampling(
        require_integer(settings, "numSamples"),
        require_integer(settings, "recyclingIterations"),
        require_integer(settings, "neff") if settings.get("neff") is not None else -1,
        settings["crosslinkCutoff"],
        settings["dropoutCrosslinks"],
        seed,
    )


def write_input(chains: Sequence[str], crosslinks: Path) -> None:
    """Write target.fasta and crosslinks.txt, without empty lines and repeated spaces, for the program."""
    PROGRAM_FOLDER.mkdir()
    fasta = "".join(f">chain_{number}\n{chain}\n" for number, chain in enumerate(chains, 1))
    (PROGRAM_FOLDER / "target.fasta").write_text(fasta, "utf-8")
    links = crosslinks.read_text("utf-8-sig", "replace").splitlines()
    kept = [" ".join(line.split()) for line in links if line.strip()]
    (PROGRAM_FOLDER / "crosslinks.txt").write_text("\n".join(kept) + "\n", "utf-8")


def run_script(
    options: Mapping[str, Any],
    name: str,
    script: str,
    arguments: Sequence[str],
    span: ProgressSpan,
    read_progress: Callable[[str], float | None] | None = None,
) -> None:
    """Run a script of AlphaLink2's folder; fail, with ``name``, if it does."""
    folder = Path(options["folder"])
    run_program(
        name,
        [options["python"], folder / script, *arguments],
        span,
        read_progress=read_progress,
        variables={"PYTHONPATH": str(folder)},
    )


def search_databases(options: Mapping[str, Any]) -> None:
    """Make the alignments and templates of all chains, in the folder models."""
    databases = Path(options["databases"])
    arguments = (
        *("--fasta_path=target.fasta", "--output_dir=models"),
        *(f"--{flag}={databases / path}" for flag, path in DATABASES.items()),
        *(SEARCH_UNTIL, "--use_precomputed_msas=True", *options.get("search_arguments", ())),
    )
    span = ProgressSpan(0.02, 0.4, "Searching the databases")
    run_script(options, "AlphaLink2's homo_search.py", "unifold/homo_search.py", arguments, span)


def encode_crosslinks(options: Mapping[str, Any]) -> None:
    """Write the crosslinks in the format that the network reads."""
    arguments = ("--csv", "crosslinks.txt", "--output", "crosslinks.pkl.gz")
    span = ProgressSpan(0.4, 0.41, "Reading the crosslinks")
    script = "generate_crosslink_pickle.py"
    run_script(options, f"AlphaLink2's {script}", script, arguments, span)


def predict(options: Mapping[str, Any], sampling: LinkedSampling) -> dict[int, tuple[str, str]]:
    """Predict the samples; return crosslink satisfaction and confidence of each, as printed."""
    arguments = (
        *(f"--model_name={MODEL}", f"--param_path={Path(options['weights'])}"),
        *("--data_dir=models", "--target_name=target", "--output_dir=models"),
        *("--crosslinks=crosslinks.pkl.gz", "--bf16", "--use_uniprot", "--relax"),
        f"--max_recycling_iters={sampling.recycles}",
        f"--times={sampling.samples}",
        f"--cutoff={sampling.crosslink_cutoff}",
        f"--neff={sampling.neff}",
        f"--dropout_crosslinks={1 if sampling.has_dropout else -1}",
        f"--data_random_seed={sampling.seed}",
        *options.get("arguments", ()),
    )
    scores_by_sample: dict[int, tuple[str, str]] = {}

    def read_sample(line: str) -> float | None:
        found = SAMPLED.search(line)
        if found is None:
            return None
        scores_by_sample[int(found[1])] = found[2], found[3]
        return len(scores_by_sample) / sampling.samples

    span = ProgressSpan(0.41, 0.97, "Predicting")
    run_script(options, "AlphaLink2", "inference.py", arguments, span, read_sample)
    return scores_by_sample


def collect(
    folder: Path, sampling: LinkedSampling, scores_by_sample: Mapping[int, tuple[str, str]]
) -> list[dict[str, Any]]:
    """Copy the samples into the result by falling confidence; return a row for each."""
    if len(scores_by_sample) != sampling.samples:
        fail(f"AlphaLink2 predicted {len(scores_by_sample)} samples, and {sampling.samples} were asked for.")
    (best,) = require_files("AlphaLink2", list(folder.glob("AlphaLink2_*_best.pdb"))[:1], "relaxed structure")
    copy_file(best, "relaxed_best.pdb")
    files = [path for path in folder.iterdir() if FILE.fullmatch(path.name)]
    rows: list[dict[str, Any]] = []
    ranked = sorted(scores_by_sample.items(), key=lambda row: -float(row[1][1]))
    for rank, (sample, (satisfaction, confidence)) in enumerate(ranked, 1):
        # The program names a file by the seed of its sample, which it derives from ours in this way.
        name = f"AlphaLink2_{hash((sampling.seed, sample)) % 100000}_{confidence}.pdb"
        found = [path for path in files if path.name == name]
        (path,) = require_files("AlphaLink2", found, f"structure of sample {sample + 1}")
        rows.append(
            {
                "rank": rank,
                "file": copy_file(path, f"sample_{rank:03}.pdb").name,
                "model_confidence": confidence,
                "crosslink_satisfaction": satisfaction,
                "mean_plddt": mean_plddt(path.read_text("utf-8")),
            }
        )
    return rows


main()
