"""Structures opened by id, from a local server in place of the Protein Data Bank and the AlphaFold Database."""

import gzip
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.resources import files

import gemmi
import pytest

import foldnote as fn
from foldnote.client.downloads.public_structures import find_structure_file
from foldnote.errors import ArgumentError, RequestTimeoutError, ServiceUnreachableError, TransportError

EXAMPLE = files("foldnote.catalog").joinpath("examples", "trp-cage.pdb").read_text()
CIF = gemmi.read_pdb_string(EXAMPLE).make_mmcif_document().as_string().encode()
MODEL = "/files/AF-P69905-F1-model_v6.cif"
PREDICTIONS = [{"entryId": "AF-P69905-F1", "cifUrl": f"https://alphafold.ebi.ac.uk{MODEL}"}]
ANSWERS = {
    "/download/1UBQ.cif.gz": gzip.compress(CIF),
    "/download/2DAM.cif.gz": gzip.compress(CIF)[:200],
    "/api/prediction/P69905": json.dumps(PREDICTIONS).encode(),
    "/api/prediction/Q8I3H7": b"<html>",
    MODEL: CIF,
}


@pytest.fixture
def database(monkeypatch, tmp_path):
    """Start a server that stands in for both databases; return the paths that were requested."""
    asked, stopped = [], threading.Event()

    class Database(BaseHTTPRequestHandler):
        def do_GET(self):
            asked.append(self.path)
            if self.path == "/download/9SLO.cif.gz":
                stopped.wait(10)
            body = ANSWERS.get(self.path)
            self.send_response(500 if "5BAD" in self.path else 404 if body is None else 200)
            self.send_header("Content-Length", str(len(body or b"")))
            self.end_headers()
            self.wfile.write(body or b"")

        def log_message(self, *args):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Database)
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    monkeypatch.setenv("FOLDNOTE_RCSB_URL", f"http://127.0.0.1:{server.server_port}/")
    monkeypatch.setenv("FOLDNOTE_ALPHAFOLD_DB_URL", f"http://127.0.0.1:{server.server_port}")
    monkeypatch.setenv("FOLDNOTE_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    yield asked
    stopped.set()
    server.shutdown()
    server.server_close()


@pytest.mark.parametrize("name", ["1ubq", "pdb_00001UBQ"])
def test_an_entry_of_the_protein_data_bank_is_fetched_once(database, name):
    scene = fn.view(name)

    assert (scene.title, len(scene.models[0].chains[0].numbers)) == ("1UBQ.cif", 20)
    assert fn.view(name) == scene
    assert database == ["/download/1UBQ.cif.gz"]


@pytest.mark.parametrize("name", ["AF-P69905-F1", "p69905"])
def test_a_prediction_of_the_alphafold_database_is_fetched_in_its_version(database, name):
    assert fn.view(name).title == "AF-P69905-F1.cif"
    assert fn.explore(name)
    assert database == ["/api/prediction/P69905", MODEL]


def test_a_file_of_that_name_wins(database, tmp_path):
    (tmp_path / "1ubq").write_text(EXAMPLE)

    assert fn.view("1ubq").title == "1ubq"
    assert find_structure_file("trp-cage.pdb").name == "trp-cage.pdb"
    assert database == []


@pytest.mark.parametrize(
    ("name", "error", "said"),
    [
        pytest.param("9zzz", ArgumentError, "Protein Data Bank has no entry 9ZZZ", id="no-entry"),
        pytest.param(
            "Q9Y6K9", ArgumentError, "AlphaFold Database has no entry AF-Q9Y6K9-F1", id="no-accession"
        ),
        pytest.param("AF-P69905-F2", ArgumentError, "it has AF-P69905-F1", id="no-fragment"),
        pytest.param("5bad", TransportError, "status 500; check the network, or download", id="fault"),
        pytest.param("Q8I3H7", TransportError, "did not answer with a list of predictions", id="no-list"),
        pytest.param("2dam", TransportError, "2DAM.cif.gz is damaged", id="damaged"),
    ],
)
def test_a_failed_fetch_is_reported_and_not_kept(database, tmp_path, name, error, said):
    for _ in range(2):
        with pytest.raises(error, match=said):
            fn.view(name)
    assert not list((tmp_path / "home" / "cache" / "structures").glob("*"))


def test_without_the_network_one_sentence_names_the_address_and_the_way_out(database, monkeypatch):
    monkeypatch.setenv("FOLDNOTE_RCSB_URL", "http://127.0.0.1:9")

    with pytest.raises(ServiceUnreachableError) as caught:
        fn.view("1ubq")
    assert str(caught.value).startswith("http://127.0.0.1:9/download/1UBQ.cif.gz cannot be reached (")
    assert str(caught.value).endswith("on another computer and give the file's path.")


def test_a_database_that_is_silent_is_not_waited_for(database, monkeypatch):
    monkeypatch.setenv("FOLDNOTE_REQUEST_TIMEOUT_S", "0.2")

    with pytest.raises(RequestTimeoutError, match=r"did not answer within 0\.2 s"):
        fn.view("9slo")


def test_a_file_larger_than_allowed_is_refused(database, monkeypatch):
    monkeypatch.setenv("FOLDNOTE_LARGEST_ANSWER_MB", "0.01")

    with pytest.raises(TransportError, match=r"larger than 0\.01 MB"):
        fn.view("1ubq")
