"""Predict complexes from crosslinks with the lab's own copy of AlphaLink2.

Reads job.json and the crosslinks, runs unifold/homo_search.py, generate_crosslink_pickle.py and inference.py,
and collects outputs/sample_*.pdb, outputs/relaxed_best.pdb and outputs/scores.csv.
"""

from __future__ import annotations

import re
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


def main() -> None:
    """Run the job of this folder."""
    job, options = read_job(), read_options()
    settings, seed = job["settings"], job["seed"] % LARGEST_SEED
    chains = read_chains(settings["sequence"])
    samples, recycles = (
        require_integer(settings, "numSamples"),
        require_integer(settings, "recyclingIterations"),
    )
    neff = require_integer(settings, "neff") if settings.get("neff") is not None else -1
    cutoff, has_dropout = settings["crosslinkCutoff"], settings["dropoutCrosslinks"]
    write_used(seed=seed)
    report(0.01, "Writing the program's input")
    PROGRAM_FOLDER.mkdir()
    place, code = PROGRAM_FOLDER.resolve(), Path(options["folder"])
    fasta = "".join(f">chain_{number}\n{chain}\n" for number, chain in enumerate(chains, 1))
    (place / "target.fasta").write_text(fasta, "utf-8")
    links = Path(job["files"]["crosslinksFile"][0]).read_text("utf-8-sig", "replace").splitlines()
    kept = [" ".join(line.split()) for line in links if line.strip()]
    (place / "crosslinks.txt").write_text("\n".join(kept) + "\n", "utf-8")
    databases, weights = Path(options["databases"]), Path(options["weights"])
    python, ours = options["python"], {"PYTHONPATH": str(code)}
    run_program(
        "AlphaLink2's homo_search.py",
        [
            *(
                python,
                code / "unifold" / "homo_search.py",
                "--fasta_path=target.fasta",
                "--output_dir=models",
            ),
            *(f"--{flag}={databases / path}" for flag, path in DATABASES.items()),
            *(SEARCH_UNTIL, "--use_precomputed_msas=True", *options.get("search_arguments", ())),
        ],
        ProgressSpan(0.02, 0.4, "Searching the databases"),
        variables=ours,
    )
    run_program(
        "AlphaLink2's generate_crosslink_pickle.py",
        [
            *(python, code / "generate_crosslink_pickle.py"),
            *("--csv", "crosslinks.txt", "--output", "crosslinks.pkl.gz"),
        ],
        ProgressSpan(0.4, 0.41, "Reading the crosslinks"),
        variables=ours,
    )
    scores_by_sample: dict[int, tuple[str, str]] = {}

    def read_sample(line: str) -> float | None:
        found = SAMPLED.search(line)
        if found is None:
            return None
        scores_by_sample[int(found[1])] = found[2], found[3]
        return len(scores_by_sample) / samples

    run_program(
        "AlphaLink2",
        [
            *(python, code / "inference.py", f"--model_name={MODEL}", f"--param_path={weights}"),
            *("--data_dir=models", "--target_name=target", "--output_dir=models"),
            *("--crosslinks=crosslinks.pkl.gz", "--bf16", "--use_uniprot", "--relax"),
            f"--max_recycling_iters={recycles}",
            f"--times={samples}",
            f"--cutoff={cutoff}",
            f"--neff={neff}",
            f"--dropout_crosslinks={1 if has_dropout else -1}",
            f"--data_random_seed={seed}",
            *options.get("arguments", ()),
        ],
        ProgressSpan(0.41, 0.97, "Predicting"),
        read_progress=read_sample,
        variables=ours,
    )
    rows = collect(place / "models", seed, samples, scores_by_sample)
    write_table("scores.csv", rows, COLUMNS)
    write_score({"model_confidence": float(rows[0]["model_confidence"]), "samples": samples})
    write_notes(
        [
            *describe_program("AlphaLink2", code, options.get("arguments", ())),
            describe_weights(weights),
            "The crosslink cutoff counts satisfied crosslinks and changes no prediction.",
        ]
    )
    report(1.0, "Done")


def collect(
    folder: Path, seed: int, samples: int, scores_by_sample: dict[int, tuple[str, str]]
) -> list[dict[str, Any]]:
    """Copy the samples into the result by falling confidence; return a row for each."""
    if len(scores_by_sample) != samples:
        fail(f"AlphaLink2 predicted {len(scores_by_sample)} samples, and {samples} were asked for.")
    (best,) = require_files("AlphaLink2", list(folder.glob("AlphaLink2_*_best.pdb"))[:1], "relaxed structure")
    copy_file(best, "relaxed_best.pdb")
    files = [path for path in folder.iterdir() if FILE.fullmatch(path.name)]
    rows: list[dict[str, Any]] = []
    ranked = sorted(scores_by_sample.items(), key=lambda row: -float(row[1][1]))
    for rank, (sample, (satisfaction, confidence)) in enumerate(ranked, 1):
        # The program names a file by the seed of its sample, which it derives from ours in this way.
        name = f"AlphaLink2_{hash((seed, sample)) % 100000}_{confidence}.pdb"
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
