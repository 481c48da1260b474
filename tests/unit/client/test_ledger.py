"""The ledger: a cache whose loss or damage never breaks a call."""

import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pandas as pd
import pytest

from foldnote.client.inputs.batch_table import expand_rows
from foldnote.client.local.identity import identify
from foldnote.client.local.ledger import Ledger
from foldnote.client.tables.batch_results import Sheet, join_results

SETTINGS = {"a": 1, "b": ["x"]}


def test_the_order_of_settings_does_not_matter():
    assert identify("t", {"a": 1, "b": 2}) == identify("t", {"b": 2, "a": 1})


@pytest.mark.parametrize(
    "other",
    [
        identify("u", SETTINGS),
        identify("t", {"a": 2, "b": ["x"]}),
        identify("t", SETTINGS, "name"),
        identify("t", SETTINGS, None, {"x": "0" * 64}),
        identify("t", SETTINGS, None, {"x": "1" * 64}),
    ],
)
def test_each_part_of_a_submission_matters(other):
    assert identify("t", SETTINGS) != other


def test_an_identity_is_the_same_in_every_version():
    """Names of jobs are derived from it: a change would submit everything again."""
    assert identify("t", SETTINGS).startswith("bbea795d5c759e7d")


def test_a_submission_is_remembered_and_forgotten(tmp_path):
    ledger = Ledger(tmp_path / "l.db")
    ledger.remember("id", "job", "t")
    assert Ledger(tmp_path / "l.db").find("id") == "job"
    assert ledger.identities("job") == {"id"}
    ledger.forget("id")
    assert ledger.find("id") is None


def test_services_do_not_share_memories(tmp_path):
    Ledger(tmp_path / "l.db", "https://a").remember_cell("cell", "job")
    assert Ledger(tmp_path / "l.db", "https://b").cell_job("cell") is None
    assert Ledger(tmp_path / "l.db", "https://a").cell_job("cell") == "job"


def test_the_last_upload_of_a_name_counts(tmp_path):
    ledger = Ledger(tmp_path / "l.db")
    ledger.remember_upload("x.pdb", "1")
    ledger.remember_upload("x.pdb", "2")
    assert ledger.uploads() == {"x.pdb": "2"}


@pytest.mark.parametrize(
    "content", [b"not a database at all, but long enough" * 40, b"SQLite format 3\0" + b"\xff" * 900]
)
def test_a_damaged_ledger_is_an_empty_one_and_then_a_new_one(tmp_path, content):
    (tmp_path / "l.db").write_bytes(content)
    ledger = Ledger(tmp_path / "l.db")
    assert ledger.find("id") is None
    assert ledger.uploads() == {}
    ledger.remember("id", "job", "t")
    assert ledger.find("id") == "job"
    assert (tmp_path / "l.damaged").read_bytes() == content


def test_a_damaged_ledger_is_recreated(tmp_path):
    ledger = Ledger(tmp_path / "l.db")
    for number in range(100):
        ledger.remember(f"id{number}" * 20, "job", "t")
    content = bytearray((tmp_path / "l.db").read_bytes())
    content[4096:] = b"\xff" * (len(content) - 4096)
    (tmp_path / "l.db").write_bytes(content)
    ledger.remember("id", "job", "t")
    ledger.remember("id", "job", "t")
    assert ledger.find("id") == "job"


def test_a_ledger_in_a_folder_that_is_not_there_is_an_empty_one(tmp_path):
    ledger = Ledger(tmp_path / "nowhere" / "l.db")
    ledger.remember("id", "job", "t")
    assert ledger.find("id") is None


def test_many_write_at_once(tmp_path):
    def write(number: int) -> None:
        Ledger(tmp_path / "l.db").remember(f"id{number}", f"job{number}", "t")

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(write, range(80)))
    assert all(Ledger(tmp_path / "l.db").find(f"id{number}") == f"job{number}" for number in range(80))


@pytest.mark.parametrize(
    "table",
    [
        pd.DataFrame({"id": ["a", "b"], "n": [1, 2], "x": [0.5, float("nan")]}, index=["i", "j"]),
        pd.DataFrame({"kind": pd.Categorical(["u", "v"]), "n": pd.array([1, None], dtype="Int64")}),
        pd.DataFrame({"at": pd.to_datetime(["2026-03-29T01:30Z", "2026-10-25T01:30Z"])}),
        pd.DataFrame({"flag": [True, False]}, index=pd.Index([7, 9], name="row")),
    ],
)
def test_the_table_of_a_batch_is_found_again_as_it_was(tmp_path, table):
    ledger = Ledger(tmp_path / "ledger.db")
    sheet = Sheet.of_rows("b", ["b-1", "b-2"], expand_rows(table))
    ledger.remember_sheet("b", sheet.write())
    found = join_results(Sheet.read(ledger.sheet("b")), {})
    pd.testing.assert_frame_equal(found, join_results(sheet, {}))


RECORDED = Path(__file__).parent / "ledger-0.1.db"
"""Written by foldnote 0.1 from a notebook, for its own service and for ``https://lab.example.org``."""
PLAIN = "a948a0a27988b1f0cfcacc9337115d4972841a56e5755bf8b65e04329fa8233e"
NAMED = "e61b9b40af0159c654ca5bbf9dfdec41a56c82be6b8992d0c2a5b3095507d871"


@pytest.fixture
def recorded(tmp_path):
    path = tmp_path / "ledger.db"
    shutil.copy(RECORDED, path)
    return path


def test_a_ledger_of_0_1_still_finds_its_jobs(recorded):
    ledger = Ledger(recorded)
    assert identify("anarci", {"sequence": "EVQL", "scheme": "imgt"}) == PLAIN
    assert identify("anarci", {"sequence": "EVQL"}, "wished") == NAMED
    assert (ledger.find(PLAIN), ledger.find(NAMED)) == ("anarci-1", "wished")
    assert ledger.identities("anarci-1") == {PLAIN}
    assert set(ledger.job_names()) == {"anarci-1", "wished"}
    assert Ledger(recorded, "https://lab.example.org").find(PLAIN) == "anarci-of-the-lab"


def test_a_ledger_of_0_1_keeps_its_cells_notebooks_uploads_and_tables(recorded):
    ledger, lab = Ledger(recorded), Ledger(recorded, "https://lab.example.org")
    assert ledger.cell_job("cell-1") == "wished"
    assert ledger.notebooks() == dict.fromkeys(["anarci-1", "wished"], "/home/ada/antibodies.ipynb")
    assert ledger.uploads() == {"folder/target.pdb": "ab" * 32}
    assert lab.uploads() == {"folder/target.pdb": "cd" * 32}
    assert ledger.sheet("batch-1") == "name,sequence\nα,EVQL\n"


def test_a_ledger_of_0_1_is_gone_on_with(recorded):
    Ledger(recorded).remember("new", "anarci-2", "anarci")
    assert Ledger(recorded).job_names()[0] == "anarci-2"
    assert not recorded.with_suffix(".damaged").exists()
