"""Our engine's clusters are those published by AF-Cluster's authors, and those of scikit-learn."""

import csv
import gzip
import json
import re
from pathlib import Path

import pytest
from engine_contract import EngineContract
from real_engine import load_engines, run_directly, run_engine

from foldnote import catalog
from foldnote.results import open_result
from foldnote.viewers import result_bundles

HERE = Path(__file__).parent
EXAMPLE = (Path(catalog.__file__).parent / "examples" / "ubiquitin-family.a3m").read_text()
DIRECT = """
import csv, json, sys
import numpy as np
from sklearn.cluster import DBSCAN
alphabet = "ACDEFGHIKLMNPQRSTVWY-"
rows, eps = json.loads(open(sys.argv[1]).read()), float(sys.argv[2])
encoded = np.array([[letter == each for letter in row for each in alphabet] for row in rows], dtype=float)
print(json.dumps(DBSCAN(eps=eps, min_samples=3).fit(encoded).labels_.tolist()))
"""
OURS = """
import json, sys
sys.path[:0] = sys.argv[3:]
from msa import encode
from run import cluster
print(json.dumps(cluster(encode(json.loads(open(sys.argv[1]).read())), float(sys.argv[2])).tolist()))
"""

pytestmark = [
    pytest.mark.engine,
    pytest.mark.extra_engine,
    pytest.mark.skipif(
        not load_engines()["afcluster"].state().installed, reason="needs: foldnote engines install afcluster"
    ),
]


def cluster(folder, text, seed=7):
    outcome, outputs = run_engine("afcluster", folder, {}, seed, {"a3mFile": text})
    assert outcome.state == "succeeded", outcome.error
    return outputs


def read_table(outputs, name):
    with (outputs / name).open(newline="") as stream:
        return list(csv.DictReader(stream))


def read_score(outputs):
    return json.loads((outputs.parent / "score.json").read_text())


def read_notes(outputs):
    return " ".join(json.loads((outputs.parent / "notes.json").read_text()))


def read_published():
    """Return the query, and the authors' names, sequences and clusters for the lymphotactin family."""
    text = gzip.decompress((HERE / "data" / "lymphotactin_clusters.tsv.gz").read_bytes()).decode()
    rows = [line.split("\t") for line in text.splitlines()[1:]]
    return rows[0], rows[1:]


def label_directly(folder, program, rows, eps):
    engine = load_engines()["afcluster"]
    (folder / "rows.json").write_text(json.dumps(rows))
    modules = [str(engine.folder), str(engine.folder.parent / "protocol")]
    command = [str(engine.python), "-c", program, "rows.json", f"{eps}", *modules]
    return json.loads(run_directly(engine, command, folder))


@pytest.fixture(scope="module")
def example(tmp_path_factory):
    return cluster(tmp_path_factory.mktemp("example"), EXAMPLE)


@pytest.fixture(scope="module")
def lymphotactin(tmp_path_factory):
    query, rows = read_published()
    text = "".join(f">{name}\n{row}\n" for name, row, *_ in [query, *rows])
    return cluster(tmp_path_factory.mktemp("lymphotactin"), text)


class TestContract(EngineContract):
    engine = "afcluster"
    needs_seed = True

    @pytest.fixture
    def run(self, example):
        return example


def test_clusters_of_lymphotactin_are_the_published_ones(tmp_path):
    """57 clusters at eps 9, 357 of 1305 sequences in none. They were made in 2022, before W was added to the
    authors' alphabet (June 2023): here W is written as the unknown letter X."""
    _, rows = read_published()
    published = [int(row[2]) for row in rows]
    labels = label_directly(tmp_path, OURS, [row[1].replace("W", "X") for row in rows], 9.0)
    assert (max(published) + 1, published.count(-1), len(published)) == (57, 357, 1305)
    assert labels == published


def test_clusters_are_those_of_scikit_learn_on_the_encodings(lymphotactin, tmp_path):
    _, rows = read_published()
    labels = label_directly(tmp_path, DIRECT, [row[1] for row in rows], read_score(lymphotactin)["eps"])
    ours = [row["cluster"] for row in read_table(lymphotactin, "sequences.csv")[1:]]
    assert ours == [str(label) if label >= 0 else "" for label in labels]


def test_the_chosen_eps_is_the_first_with_the_most_clusters(lymphotactin):
    """The authors' scan of this family chose 9.0 with 22 clusters; their count includes the unclustered sequences as
    one.
    """
    scan = read_table(lymphotactin, "eps_scan.csv")
    counts = [int(row["clusters"]) + (int(row["unclustered"]) > 0) for row in scan]
    best = scan[counts.index(max(counts))]
    assert read_score(lymphotactin)["eps"] == float(best["eps"])
    assert 8 <= float(best["eps"]) <= 9.5
    assert {row["sequences"] for row in scan} == {"326"}
    assert counts[-1] == 1


def test_every_cluster_is_a_file_with_the_query_first(lymphotactin):
    query, rows = read_published()
    assigned = read_table(lymphotactin, "sequences.csv")[1:]
    clusters = read_table(lymphotactin, "clusters.csv")
    for row in clusters:
        lines = (lymphotactin / "clusters" / row["file"]).read_text().splitlines()
        members = [each["sequence"] for each in assigned if each["cluster"] == row["cluster"]]
        assert lines[:2] == [f">{query[0]}", query[1]]
        assert [line[1:] for line in lines[2::2]] == members
        assert len(members) == int(row["size"]) >= 3
    score = read_score(lymphotactin)
    assert score["clusters"] == len(clusters) == len(list((lymphotactin / "clusters").iterdir()))
    assert score["clusteredSequences"] == sum(int(row["size"]) for row in clusters)
    assert score["unclusteredShare"] == pytest.approx(1 - score["clusteredSequences"] / len(rows), abs=1e-4)


def test_random_alignments_to_compare_with_have_the_query_first(lymphotactin):
    query, _ = read_published()
    files = sorted((lymphotactin / "controls").iterdir())
    assert len(files) == 20
    depths = [path.read_text().count(">") for path in files]
    assert depths == [101] * 10 + [11] * 10
    assert all(path.read_text().startswith(f">{query[0]}\n{query[1]}\n") for path in files)


def test_figures_of_clusters_are_those_of_their_sequences(example):
    query = "".join(c for c in EXAMPLE.split(">")[1].split("\n", 1)[1] if c.isupper() or c == "-")
    for row in read_table(example, "clusters.csv"):
        rows = (example / "clusters" / row["file"]).read_text().splitlines()[3::2]
        same = [sum(a == b for a, b in zip(each, query, strict=True)) / len(query) for each in rows]
        assert float(row["identity_to_query"]) == pytest.approx(sum(same) / len(same), abs=1e-4)
        assert float(row["levenshtein_identity_to_query"]) >= float(row["identity_to_query"]) - 1e-4
        columns = list(zip(*rows, strict=True))
        assert all(
            column.count(letter) == max(map(column.count, column))
            for column, letter in zip(columns, row["consensus"], strict=True)
        )


def test_the_same_seed_gives_the_same_result_and_another_one_other_random_alignments(lymphotactin, tmp_path):
    query, rows = read_published()
    text = "".join(f">{name}\n{row}\n" for name, row, *_ in [query, *rows])
    again, other = (cluster(tmp_path / str(seed), text, seed) for seed in (7, 8))
    for path in (each for each in lymphotactin.rglob("*") if each.is_file()):
        assert (again / path.relative_to(lymphotactin)).read_bytes() == path.read_bytes()
    control = "controls/random_10_000.a3m"
    assert (other / control).read_text() != (lymphotactin / control).read_text()


def test_insertions_comments_and_windows_line_ends_change_nothing(example, tmp_path):
    records = EXAMPLE.split(">")[1:]
    odd = "#76\t1\r\n" + "".join(
        f">{head}\r\n{body[:10]}aa{body[10:]}\r\n".replace("\n\r\n", "\r\n")
        for head, body in ((each.split("\n", 1)[0], each.split("\n", 1)[1].strip()) for each in records)
    )
    outputs = cluster(tmp_path, odd)
    assert (outputs / "clusters.csv").read_bytes() == (example / "clusters.csv").read_bytes()


def test_gappy_sequences_are_left_out_and_counted(tmp_path):
    length = len(re.sub("[^A-Z-]", "", EXAMPLE.split(">")[1].split("\n", 1)[1]))
    gappy = f">gappy\n{'-' * (length // 2)}{'A' * (length - length // 2)}\n"
    outputs = cluster(tmp_path, EXAMPLE + gappy + gappy)
    assert "2 of 31 sequences were left out because 25% or more" in read_notes(outputs)
    assert "gappy" not in (outputs / "sequences.csv").read_text()


def test_without_any_cluster_that_is_what_the_result_says(tmp_path):
    outputs = cluster(tmp_path, ">q\nACDEFGHIKL\n>a\nACDEFGHIKV\n>b\nVVVVVVVVVV\n")
    assert (outputs / "clusters.csv").read_text().count("\n") == 1
    assert read_score(outputs)["unclusteredShare"] == 1.0
    assert read_notes(outputs).startswith("No cluster was found")


def test_the_result_is_shown_as_a_map_with_its_tables(lymphotactin):
    parts = result_bundles(open_result(lymphotactin.parents[1] / "result.zip"))
    assert "pc2 against pc1" in parts[0]["text/plain"]
    assert "the query" in parts[0]["text/html"]
    assert "other clusters" in parts[0]["text/html"]
    assert "Clusters" in parts[1]["text/html"]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "The alignment has no sequence. Give an A3M file."),
        ("ACDE\n", "text stands before the first name, which begins with '>'"),
        (">q\nACDE\n", "holds the query only"),
        (">q\nACDE\n>a\nACD\n", "Sequence 2 (a) has 3 aligned columns, the query 4"),
        (">q\nacde\n>a\nacde\n", "The query has no aligned column"),
        (">q\nACDE\n>a\n--DE\n", "No sequence besides the query is left"),
    ],
    ids=["empty", "header", "query", "lengths", "lower", "gaps"],
)
def test_what_cannot_be_clustered_is_a_plain_sentence(tmp_path, text, sentence):
    outcome, _ = run_engine("afcluster", tmp_path, {}, texts={"a3mFile": text})
    assert outcome.state == "failed"
    assert sentence in outcome.error
