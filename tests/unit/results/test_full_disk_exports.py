"""Exports to a full disk: one message with the sizes, no partial file, the old file kept."""

import gc
import os
import re
import subprocess
from contextlib import suppress
from pathlib import Path

import pytest
from result_archives import write_fv_result, write_zip
from test_full_disk import mount

from foldnote.errors import ResultError
from foldnote.results import JobParts, Structure, open_result, save_export
from foldnote.results.molecules.molecule_files import read_molecules
from foldnote.viewers import (
    ReportPart,
    compose_poses,
    draw_interactions,
    explore,
    plot_scatter,
    write_page,
    write_report,
)

MB = 1 << 20
DATA = Path(__file__).parent / "data"
RECEPTOR = Structure.open(DATA / "abl_pocket.pdb")
LIGAND = read_molecules((DATA / "imatinib.sdf").read_bytes(), "imatinib.sdf").molecules[0]
RECORD = {"jobName": "fv-1", "type": "abodybuilder", "status": "Complete", "settings": {"heavy": "EVQL"}}


@pytest.fixture
def small(tmp_path):
    """Create a file system of 4 MB with 40 kB free."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mount(folder, 4)
    try:
        with (folder / "other").open("wb", buffering=0) as stream:
            stream.write(bytes(4 * MB - 40_960 - 4096))
        yield folder
    finally:
        command = ["umount", "-l", str(folder)]
        subprocess.run(command if os.geteuid() == 0 else ["sudo", "-n", *command], check=True)


@pytest.fixture
def large(tmp_path):
    """Return a result with a file of 3 MB that does not compress."""
    return open_result(
        write_zip(tmp_path / "large.zip", {"frames.bin": os.urandom(3 * MB), "score.json": "{}"})
    )


def refuse(write, place):
    """Return the message; assert that only the disk's old file remains."""
    before = {each.name: each.read_bytes() for each in place.parent.iterdir() if each.name != "other"}
    with pytest.raises(ResultError) as caught:
        write(place)
    said = str(caught.value)
    assert said.startswith(f"{place} cannot be written: No space left on device. ")
    assert "Free some space, or choose another folder" in said
    assert {each.name: each.read_bytes() for each in place.parent.iterdir() if each.name != "other"} == before
    return said


def test_an_export_says_what_it_needs_and_keeps_the_old_file(small, large):
    place = small / "fv.foldnote.zip"
    place.write_text("old")
    said = refuse(lambda path: save_export(path, JobParts([large], RECORD)), place)
    assert "It needs 3.15 MB, and " in said
    assert " kB are free. " in said


def test_a_report_and_a_page_say_what_they_need(small, tmp_path):
    result = open_result(write_fv_result(tmp_path / "fv.zip"))
    for write in (
        lambda path: write_report(path, "Leads", [ReportPart("fv", result)]),
        lambda path: write_page(path, "Leads", [result]),
    ):
        assert " kB are free. " in refuse(write, small / "report.html")


def test_a_file_of_a_result_says_what_it_needs(small, large):
    said = refuse(lambda path: large.save_to(path.parent), small / "frames.bin")
    assert "It needs 3.15 MB, and " in said
    assert "the result is still whole in large.zip" in said


def test_figures_leave_no_partial_file(small, tmp_path):
    result = open_result(write_fv_result(tmp_path / "fv.zip"))
    plot = plot_scatter(result.structure.to_frame(), "x", "y")
    fill(small / "rest")
    for name in ("plot.svg", "plot.png", "plot.pdf"):
        refuse(plot.save, small / name)


@pytest.mark.parametrize("suffix", [".pml", ".cxc"])
def test_a_script_and_its_structure_files_are_written_whole_or_not_at_all(small, suffix):
    """There is room for some of its files."""
    scene = compose_poses(RECEPTOR, open_result(DATA / "vina_poses.pdbqt").poses)
    sizes = [len(model.text) for model in scene.models]
    (small / "rest").write_bytes(bytes(40_960 - max(sizes) - 8_192))
    (small / "view-1.pdb").write_text("old")
    assert " kB are free. " in refuse(scene.save, small / f"view{suffix}")


@pytest.mark.filterwarnings("error::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("name", ["fv-crate.zip", "fv-crate"])
def test_a_crate_says_what_it_needs_and_leaves_nothing(small, large, name):
    said = refuse(large.save_crate, small / name)
    gc.collect()  # files that the library left open complained in tracebacks
    assert re.search(r"It needs 3\.\d+ MB, and [\d.]+ kB are free\. ", said)


def test_a_crate_reports_missing_space_for_its_temporary_files(small, large, tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(small))
    with pytest.raises(ResultError, match=r"cannot be written: No space left on device\. .* are free\. "):
        large.save_crate(tmp_path / "fv-crate")
    assert [each.name for each in small.iterdir()] == ["other"]
    assert not (tmp_path / "fv-crate").exists()


def test_an_explorer_and_a_diagram_say_what_they_need(small, tmp_path):
    result = open_result(write_fv_result(tmp_path / "fv.zip"))
    said = refuse(explore(result.structure).save, small / "explorer.html")
    assert " kB are free. " in said
    diagram = draw_interactions(RECEPTOR, LIGAND)
    fill(small / "rest")
    for name in ("diagram.svg", "diagram.png", "diagram.pdf"):
        refuse(diagram.save, small / name)


def fill(place):
    """Fill the free space."""
    with place.open("wb", buffering=0) as stream, suppress(OSError):
        while stream.write(bytes(4096)):
            pass
