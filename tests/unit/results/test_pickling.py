"""Results, structures and models can be sent to other processes, as joblib and multiprocessing do."""

import copy
import pickle
import subprocess
import sys
import tarfile
import zipfile

import foreign_archives
import pytest
from result_archives import write_fv_result, write_zip

from foldnote.errors import ArchiveError
from foldnote.results import compare, open_result

LOAD = """
import pickle, sys
result = pickle.load(sys.stdin.buffer)
print(result.name, len(result.jobs), result.structure.name, len(result.structure.chains), *result.tables)
"""


def as_zip(path):
    return write_fv_result(path / "fv.zip")


def as_folder(path):
    return open_result(as_zip(path)).save_to(path / "fv")


def as_tar(path):
    """Write the archive as `tar -C folder -czf fv.tar.gz .` does."""
    with tarfile.open(path / "fv.tar.gz", "w:gz") as archive:
        archive.add(as_folder(path), ".")
    return path / "fv.tar.gz"


def as_nested(path):
    return write_zip(path / "outer.zip", {"inner.zip": as_zip(path).read_bytes()})


def as_batch(path):
    with zipfile.ZipFile(as_zip(path)) as job:
        files = {name: job.read(name) for name in job.namelist()}
    return write_zip(path / "batch.zip", {f"{row}/{name}": files[name] for row in "ab" for name in files})


@pytest.mark.parametrize("write", [as_zip, as_folder, as_tar, as_nested, as_batch])
def test_a_result_is_the_same_in_another_process_and_folder(tmp_path, monkeypatch, write):
    monkeypatch.chdir(tmp_path)
    path = write(tmp_path).relative_to(tmp_path)
    result = open_result(path, "mine")
    assert result.structure.chains  # read before, too
    loaded = subprocess.run(
        [sys.executable, "-c", LOAD], input=pickle.dumps(result), capture_output=True, check=True, cwd="/"
    )
    assert loaded.stdout.decode().split() == [
        *("mine", str(len(result.jobs)), result.structure.name, "2", *result.tables)
    ]
    assert copy.deepcopy(result).read(result.files[0].name) == result.read(result.files[0].name)


def test_a_result_whose_archive_is_gone_says_so_where_it_is_loaded(tmp_path):
    pickled = pickle.dumps(open_result(as_zip(tmp_path)))
    (tmp_path / "fv.zip").unlink()
    with pytest.raises(ArchiveError, match=r"fv\.zip cannot be read"):
        pickle.loads(pickled)


def test_a_structure_needs_no_file_and_keeps_the_confidence_of_its_model(tmp_path):
    model = open_result(write_zip(tmp_path / "af3.zip", foreign_archives.alphafold3_local())).models[0]
    pickled = pickle.dumps(model.structure)
    (tmp_path / "af3.zip").unlink()
    loaded = pickle.loads(pickled)
    assert loaded.text == model.structure.text
    assert loaded.plddt.equals(model.structure.plddt)


def test_a_model_and_a_comparison_are_as_they_were(tmp_path):
    archive = write_zip(tmp_path / "af2.zip", foreign_archives.alphafold2())
    model = open_result(archive).models[0]
    loaded = pickle.loads(pickle.dumps(model))
    assert (loaded.rank, loaded.scores) == (model.rank, model.scores)
    assert (loaded.pae.matrix == model.pae.matrix).all()
    comparison = compare([open_result(archive), model.structure])
    assert pickle.loads(pickle.dumps(comparison)).table.equals(comparison.table)
