"""Cluster a multiple sequence alignment by DBSCAN, as AF-Cluster does before it predicts structures.

Reads ``a3mFile`` from job.json. Writes the files that engine.toml lists: an alignment of each cluster with
the query first, random alignments for comparison, and tables of clusters, sequences and the scan of eps.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from engine_protocol import fail, read_job, report, write_notes, write_score, write_table, write_used
from msa import AlignedRows, Codes, count_block_rows, encode, make_one_hot, measure_squares, read_msa, vote
from numpy.typing import NDArray

OUTPUTS = Path("outputs")
MIN_SAMPLES = 3
EPS_VALUES = np.arange(3, 20.5, 0.5)
"""Range of the scan, from the first to the last, in units of the encoding: the square root of twice the
number of columns that differ."""
SAMPLE = 0.25
"""Share of the sequences on which each eps is tried."""
FEWEST_TO_SAMPLE = 40
"""With fewer sequences, a quarter is too small to show clusters, and eps is tried on all."""
CONTROLS, CONTROL_SIZES = 10, (10, 100)
MAX_SEQUENCES = 30_000
MAX_PAIRS = 80_000_000
"""Maximum pairs of near sequences kept in memory: about 1.5 GB."""
UNCLUSTERED = -1

CLUSTER_COLUMNS = (
    "cluster",
    "size",
    "identity_to_query",
    "levenshtein_identity_to_query",
    "levenshtein_identity_to_consensus",
    "consensus",
    "file",
)
"""Columns of clusters.csv: cluster, from 0; size in sequences without the query; means over its sequences of
the share of columns that are as in the query, and of 1 - Levenshtein distance / columns from query and
consensus, as the authors' program writes them. A row is a cluster."""
SEQUENCE_COLUMNS = ("sequence", "cluster", "gap_share", "identity_to_query", "pc1", "pc2")
"""Columns of sequences.csv: a row is a sequence, the query first; cluster is empty for the query and for
sequences in no cluster; shares 0 to 1; pc1 and pc2 are the first two principal components of the one-hot
encoding."""
SCAN_COLUMNS = ("eps", "clusters", "unclustered", "sequences")
"""Columns of eps_scan.csv: clusters, and sequences in none, of the random sample of ``sequences``."""


def main() -> None:
    """Run the job of this folder."""
    job = read_job()
    report(0.01, "Reading the alignment")
    given = read_msa(Path(job["files"]["a3mFile"][0]))
    if len(given.rows) > MAX_SEQUENCES:
        fail(
            f"{len(given.rows)} sequences are left to be clustered, and {MAX_SEQUENCES} is the most."
            " Filter the alignment first, such as with hhfilter or MMseqs2."
        )
    codes = encode(given.rows)
    random = np.random.default_rng(job["seed"])
    eps, scan = choose_eps(codes, random, given.notes)
    write_used(seed=job["seed"], settings={})
    labels = cluster(codes, eps, 0.5, 0.85)
    report(0.86, "Drawing the map")
    indices, shares = find_places(codes, encode([given.query[1]]), job["seed"])
    report(0.92, "Writing the clusters")
    OUTPUTS.joinpath("clusters").mkdir(parents=True)
    rows = write_clusters(given, codes, labels)
    write_controls(given, random)
    write_table("clusters.csv", rows, CLUSTER_COLUMNS)
    write_table("eps_scan.csv", scan, SCAN_COLUMNS)
    write_table("sequences.csv", list_sequences(given, codes, labels, indices), SEQUENCE_COLUMNS)
    write_summary(given, labels, eps, shares)
    report(1.0, "Done")


def choose_eps(codes: Codes, random: np.random.Generator, notes: list[str]) -> tuple[float, list[Any]]:
    """Return the eps with the most clusters in random samples, the smallest in a tie, and the whole scan."""
    if len(codes) < FEWEST_TO_SAMPLE:
        notes.append(
            f"With {len(codes)} sequences eps was chosen on all of them; the authors' program takes a random"
            " quarter."
        )
    counts, rows = [], []
    for index, eps in enumerate(EPS_VALUES):
        report(0.02 + 0.48 * index / len(EPS_VALUES), f"Trying eps {eps:g}")
        size = len(codes) if len(codes) < FEWEST_TO_SAMPLE else round(SAMPLE * len(codes))
        labels = cluster(codes[random.permutation(len(codes))[:size]], float(eps))
        unclustered = int((labels == UNCLUSTERED).sum())
        groups = len(set(labels.tolist()))  # noise counts as one, as in the authors' program
        counts.append(groups)
        rows.append([f"{eps:g}", groups - (unclustered > 0), unclustered, size])
        if eps > 10 and groups == 1:
            break
    return float(EPS_VALUES[int(np.argmax(counts))]), rows


def cluster(codes: Codes, eps: float, start: float = 0.0, end: float = 0.0) -> NDArray[np.int64]:
    """Return the cluster of each sequence by DBSCAN of the one-hot encodings; -1 for none.

    Distances are computed in blocks, since those of all pairs may not fit into memory. Progress is reported
    from ``start`` to ``end``, or not at all if they are equal.
    """
    from scipy.sparse import csr_array
    from sklearn.cluster import DBSCAN

    step = count_block_rows(codes.shape[1])
    counts, indices = [], []
    for first in range(0, len(codes), step):
        if end > start:
            report(start + (end - start) * first / len(codes), f"Clustering with eps {eps:g}")
        near = find_near(codes[first : first + step], codes, eps, step)
        counts += [len(each) for each in near]
        indices += near
        if sum(counts) > MAX_PAIRS:
            fail(
                f"The sequences are too alike: at eps {eps:g} more than {MAX_PAIRS} pairs are near, which do"
                " not fit into the memory. Filter the alignment first, such as to 90 % identity by hhfilter."
            )
    pointers = np.concatenate([[0], np.cumsum(counts)])
    found = np.concatenate(indices)
    graph = csr_array((np.ones(len(found), dtype=np.float32), found, pointers), shape=(len(codes),) * 2)
    model = DBSCAN(eps=1.0, min_samples=MIN_SAMPLES, metric="precomputed")  # distances are thresholded
    labels: NDArray[np.int64] = model.fit_predict(graph)
    return labels


def find_near(own: Codes, codes: Codes, eps: float, step: int) -> list[NDArray[np.int32]]:
    """Return for each of some sequences the indices of all at most ``eps`` away, itself included."""
    parts = [measure_squares(own, codes[first : first + step]) for first in range(0, len(codes), step)]
    return [np.flatnonzero(row <= eps**2).astype(np.int32) for row in np.hstack(parts)]


def find_places(codes: Codes, query: Codes, seed: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the first two principal components of the sequences, the query last, and their shares."""
    import scipy.sparse
    from sklearn.decomposition import PCA

    both = np.vstack([codes, query])
    if len(codes) < 3 or (codes == codes[0]).all():
        return np.zeros((len(both), 2)), np.zeros(2)
    step = count_block_rows(codes.shape[1])
    starts = range(0, len(both), step)
    blocks = [scipy.sparse.csr_array(make_one_hot(both[first : first + step])) for first in starts]
    encoded = scipy.sparse.vstack(blocks).tocsr()
    model = PCA(n_components=2, svd_solver="arpack", random_state=seed).fit(encoded[: len(codes)])
    return model.transform(encoded), np.nan_to_num(model.explained_variance_ratio_)


def write_clusters(given: AlignedRows, codes: Codes, labels: NDArray[np.int64]) -> list[list[Any]]:
    """Write an alignment of each cluster, the query first; return the rows of clusters.csv."""
    query = encode([given.query[1]])[0]
    width = len(str(labels.max())) if labels.max() > 999 else 3
    rows = []
    for label in range(int(labels.max()) + 1):
        members = np.flatnonzero(labels == label)
        own = [given.rows[index] for index in members]
        consensus = vote(codes[members])
        name = f"cluster_{label:0{width}d}.a3m"
        write_a3m(OUTPUTS / "clusters" / name, given, members)
        identity = float((codes[members] == query).mean())
        figures = (identity, average_identity(own, given.query[1]), average_identity(own, consensus))
        rows.append([label, len(members), *(f"{figure:.4f}" for figure in figures), consensus, name])
    return rows


def average_identity(rows: Sequence[str], other: str) -> float:
    """Return the mean of 1 - Levenshtein distance / columns."""
    from rapidfuzz.distance import Levenshtein

    return float(np.mean([1 - Levenshtein.distance(row, other) / len(other) for row in rows]))


def write_controls(given: AlignedRows, random: np.random.Generator) -> None:
    """Write alignments of randomly drawn sequences, for comparison with the clusters."""
    for size in CONTROL_SIZES:
        if len(given.rows) > size:
            OUTPUTS.joinpath("controls").mkdir(exist_ok=True)
            for number in range(CONTROLS):
                members = random.permutation(len(given.rows))[:size]
                write_a3m(OUTPUTS / "controls" / f"random_{size}_{number:03d}.a3m", given, members)


def write_a3m(path: Path, given: AlignedRows, members: Sequence[int] | NDArray[np.intp]) -> None:
    """Write the query and some sequences."""
    records = [given.query, *((given.headers[index], given.rows[index]) for index in members)]
    path.write_text("".join(f">{header}\n{row}\n" for header, row in records), "utf-8")


def list_sequences(
    given: AlignedRows, codes: Codes, labels: NDArray[np.int64], indices: NDArray[np.float64]
) -> list[list[Any]]:
    """Return the rows of sequences.csv."""
    query = encode([given.query[1]])
    identities = np.append((codes == query).mean(axis=1), 1.0)
    names = [header.split()[0] for header in (*given.headers, given.query[0])]
    letters = [*given.rows, given.query[1]]
    order = [len(codes), *range(len(codes))]
    clusters = [*("" if label == UNCLUSTERED else label for label in labels.tolist()), ""]
    return [
        [
            names[index],
            clusters[index],
            f"{letters[index].count('-') / len(letters[index]):.4f}",
            f"{identities[index]:.4f}",
            *(f"{figure:.4f}" for figure in indices[index]),
        ]
        for index in order
    ]


def write_summary(
    given: AlignedRows, labels: NDArray[np.int64], eps: float, shares: NDArray[np.float64]
) -> None:
    """Write figures and notes."""
    unclustered = int((labels == UNCLUSTERED).sum())
    notes = list(given.notes)
    if labels.max() < 0:
        notes.insert(
            0, "No cluster was found: no three sequences are alike enough at any eps that was tried."
        )
    write_notes(notes)
    write_score(
        {
            "clusters": int(labels.max()) + 1,
            "clusteredSequences": len(labels) - unclustered,
            "unclusteredShare": round(unclustered / len(labels), 4),
            "eps": eps,
            "minSamples": MIN_SAMPLES,
            "pc1VarianceShare": round(float(shares[0]), 4),
            "pc2VarianceShare": round(float(shares[1]), 4),
        }
    )


if __name__ == "__main__":
    sys.exit(main())
