"""Files of the account, with both APIs and the real service."""

import hashlib
import io

import gemmi
import pandas as pd
import pytest
from job_settings import PDB
from scripted_service import answers

from foldnote.client.inputs.sources import name_source, open_source
from foldnote.errors import BadRequestError, FoldnoteError, JobNameTakenError
from foldnote.results import Structure

CONTENT = PDB.encode()
STRUCTURE = gemmi.read_pdb_string(PDB)


@pytest.fixture
def pdb(tmp_path, name):
    path = tmp_path / f"{name}.pdb"
    path.write_bytes(CONTENT)
    return path


async def stored(api, settle, file_name, folder=None):
    page = await settle(api.files.list(limit=100, folder=folder))
    return {record.file_name: record.file_size for record in page.files}[file_name]


async def test_a_path_is_uploaded_under_its_name(api, settle, pdb):
    assert await settle(api.files.upload(pdb)) == pdb.name
    assert await stored(api, settle, pdb.name) == len(CONTENT)


async def test_bytes_are_uploaded_into_a_folder(api, settle, name):
    assert await settle(api.files.upload(CONTENT, f"{name}.pdb", "inputs")) == f"inputs/{name}.pdb"
    assert await stored(api, settle, f"{name}.pdb", "inputs") == len(CONTENT)


async def test_an_open_file_is_uploaded(api, settle, pdb):
    with pdb.open("rb") as stream:
        assert await settle(api.files.upload(stream)) == pdb.name
    assert await stored(api, settle, pdb.name) == len(CONTENT)


async def test_a_name_with_spaces_and_accents_arrives_whole(api, settle):
    assert await settle(api.files.upload(io.BytesIO(CONTENT), "ma protéine #1.pdb")) == "ma protéine #1.pdb"
    assert await stored(api, settle, "ma protéine #1.pdb") == len(CONTENT)


@pytest.mark.parametrize(
    ("source", "sentence"),
    [
        (b"x", "have no name"),
        ("nowhere.pdb", "no file"),
        (io.StringIO("x"), "name|binary"),
        (7, "takes a path"),
        (STRUCTURE, "have no name|has no name"),
    ],
)
async def test_what_cannot_be_uploaded_says_why(api, settle, source, sentence):
    with pytest.raises(FoldnoteError, match=sentence):
        await settle(api.files.upload(source))


@pytest.mark.parametrize(
    ("source", "file_name", "begin"),
    [
        (STRUCTURE, "a.pdb", "ATOM"),
        (STRUCTURE, "a.cif", "data_"),
        (pd.DataFrame({"mhc": ["A*02:01"], "peptide": ["SLLMWITQC"]}), "a.tsv", "mhc\tpeptide\nA*02:01\t"),
        (pd.DataFrame({"x": [1]}), "a.csv", "x\n1\n"),
    ],
)
def test_structures_and_tables_are_written_as_the_name_says(source, file_name, begin):
    content, digest = open_source(source, file_name)
    assert begin in content.decode()
    assert digest == hashlib.sha256(content).hexdigest()


def test_a_structure_of_a_result_keeps_its_name_and_text(pdb):
    structure = Structure.open(pdb)
    assert name_source(structure) == pdb.name
    assert open_source(structure)[0] == CONTENT
    assert open_source(structure, "a.cif")[0].startswith(b"data_")


@pytest.mark.parametrize(("file_name", "begin"), [("a.pdb", "ATOM"), ("a.cif", "data_")])
def test_an_array_of_biotite_is_written(pdb, file_name, begin):
    module = pytest.importorskip("biotite.structure.io.pdb", reason="biotite is an optional package")
    atoms = module.PDBFile.read(str(pdb)).get_structure(model=1)
    assert begin in open_source(atoms, file_name)[0].decode()


async def test_a_structure_is_uploaded(api, settle, name):
    assert await settle(api.files.upload(STRUCTURE, f"{name}.cif")) == f"{name}.cif"
    assert await stored(api, settle, f"{name}.cif") > 0


@pytest.mark.parametrize("source", [b"x" * 3_000_000, "path"])
async def test_an_upload_tells_how_far_it_is(api, settle, name, tmp_path, source):
    if source == "path":
        source = tmp_path / "large"
        source.write_bytes(b"y" * 3_000_000)
    told = []
    await settle(api.files.upload(source, name, progress=lambda done, total: told.append((done, total))))
    assert told == [(1 << 20, 3_000_000), (2 << 20, 3_000_000), (3_000_000, 3_000_000)]


async def test_a_text_file_is_refused_with_the_cure(api, settle, pdb):
    with pdb.open() as stream, pytest.raises(FoldnoteError, match="binary mode"):
        await settle(api.files.upload(stream))


async def test_a_deleted_file_is_gone(api, settle, pdb):
    await settle(api.files.upload(pdb))
    await settle(api.files.delete(pdb.name))
    with pytest.raises(BadRequestError):
        await settle(api.files.delete(pdb.name))


async def test_pages_of_files(api, settle, name):
    for number in range(3):
        await settle(api.files.upload(CONTENT, f"{name}-{number}.pdb", folder=name))
    page = await settle(api.files.list(limit=2, folder=name))
    assert (len(page.files), page.total, page.has_more) == (2, 3, True)


async def test_a_file_that_changed_under_its_name_makes_another_job(api, settle, name):
    settings = {"pdbFiles": [f"{name}-a.pdb", f"{name}-b.pdb"]}
    for file in settings["pdbFiles"]:
        await settle(api.files.upload(CONTENT, file))
    first = await settle(api.jobs.submit("align-pdbs", settings))
    await settle(api.files.upload(CONTENT + b"END\n", f"{name}-a.pdb"))
    second = await settle(api.jobs.submit("align-pdbs", settings))
    assert first.job_name != second.job_name


async def test_a_named_job_is_not_taken_for_one_with_other_files(api, settle, name):
    settings = {"pdbFiles": [f"{name}-a.pdb", f"{name}-b.pdb"]}
    for file in settings["pdbFiles"]:
        await settle(api.files.upload(CONTENT, file))
    await settle(api.jobs.submit("align-pdbs", settings, job_name=name))
    assert (await settle(api.jobs.submit("align-pdbs", settings, job_name=name))).job_name == name
    await settle(api.files.upload(CONTENT + b"END\n", f"{name}-a.pdb"))
    with pytest.raises(JobNameTakenError, match="other contents"):
        await settle(api.jobs.submit("align-pdbs", settings, job_name=name))


async def test_files_as_a_frame_over_all_pages(api, settle, name):
    for number in range(3):
        await settle(api.files.upload(b"ATOM", f"{name}-{number}.pdb", folder=name))
    frame = await settle(api.files.to_frame(folder=name))
    assert sorted(frame.index) == [f"{name}/{name}-{number}.pdb" for number in range(3)]
    assert (frame.index.name, list(frame.columns)) == ("path", ["name", "folder", "size_bytes", "uploaded"])
    assert (frame["size_bytes"].tolist(), str(frame["uploaded"].dt.tz)) == ([4, 4, 4], "UTC")


def test_paging_ends_at_the_first_page_without_new_rows(scripted, connect):
    row = {"fileId": "1", "fileName": "a.pdb"}
    scripted.on("GET", "/files", answers({"files": [row], "total": 9, "hasMore": True}))
    assert list(connect().files.to_frame().index) == ["a.pdb"]
    assert scripted.count("GET", "/files") == 2


def test_names_alone_are_a_frame_with_gaps(scripted, connect):
    scripted.on("GET", "/files", answers(["a.pdb", "in/<b>.pdb"]))
    client = connect()
    frame = client.files.to_frame()
    assert frame["size_bytes"].isna().all()
    assert frame.loc["in/<b>.pdb", "folder"] == "in"
    shown = client.files.list()
    assert "<b>" not in shown._repr_html_()
    assert repr(shown).startswith("2 of 2 files")


async def test_a_folder_is_deleted_with_its_files(api, settle, name):
    await settle(api.files.upload(CONTENT, "a.pdb", name))
    await settle(api.files.upload(CONTENT, f"{name}.pdb"))
    await settle(api.files.delete_folder(name))
    assert (await settle(api.files.list(folder=name))).files == ()
    assert await stored(api, settle, f"{name}.pdb") == len(CONTENT)
