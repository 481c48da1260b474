"""GNINA's scores beside Vina's are those of GNINA and of gninatorch, and the docking never depends on them."""

import csv
import json
import shutil
import sys
from pathlib import Path

import pytest
from engine_contract import EngineContract, read_manifest
from odd_inputs import list_odd_inputs
from real_engine import load_engines, run_directly, run_engine

from foldnote import catalog
from foldnote.results import open_result

HERE = Path(__file__).parent
DATA = HERE / "data" / "gnina"
LYSOZYME = (HERE / "data" / "t4-lysozyme-l99a.pdb").read_text()
XYLENE = "Cc1ccc(C)cc1 p-xylene\n"
BOX = {"boxCenter": [42.3, 45.4, 18.2], "boxSize": [12, 12, 12]}
FIGURES = ("CNNscore", "CNNaffinity", "CNNvariance")
NONE_MISSING = all(load_engines()[name].state().installed for name in ("vina", "gnina"))

pytestmark = [
    pytest.mark.engine,
    pytest.mark.extra_engine,
    pytest.mark.skipif(not NONE_MISSING, reason="needs: foldnote engines install vina gnina"),
]


def dock(folder, ligand=XYLENE, **settings):
    """Return the outputs of a docking into T4 lysozyme L99A, around its cavity."""
    given = catalog.default_settings(catalog.tool("vina")) | BOX | settings
    texts = {"receptorFile": LYSOZYME, "ligandFile": ligand}
    outcome, outputs = run_engine("vina", folder, given, texts=texts)
    assert outcome.state == "succeeded", outcome.error
    return outputs


def read_table(outputs):
    with (outputs / "docking.csv").open(newline="") as stream:
        return list(csv.DictReader(stream))


def read_add_on(outputs):
    (add_on,) = read_manifest(outputs)["engine"]["addOns"]
    return add_on


def score(folder, receptor, poses):
    """Return the add-on program's scores of poses given as SDF."""
    folder.mkdir()
    (folder / "receptor.pdb").write_text(receptor)
    for number, pose in enumerate(poses, start=1):
        (folder / f"pose-{number}.sdf").write_text(pose)
    engine = load_engines()["gnina"]
    run_directly(engine, [str(engine.python), str(engine.folder / "run.py"), str(folder)], folder)
    return json.loads((folder / "scores.json").read_text())


def write_record(atoms):
    """Return an SDF of atoms without bonds: element and coordinates in Å."""
    rows = [f"{x:10.4f}{y:10.4f}{z:10.4f} {element:<3} 0  0" for element, x, y, z in atoms]
    return "\n".join(["a test", "", "", f"{len(atoms):3}  0  0  0  0  0", *rows, "M  END", "$$$$", ""])


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """p-Xylene in the cavity of T4 lysozyme L99A."""
    return dock(tmp_path_factory.mktemp("site"), exhaustiveness=4)


class TestContract(EngineContract):
    engine = "vina"
    needs_seed = True
    # test_vina covers odd inputs of docking
    rare_odd_inputs = tuple(odd.name for odd in list_odd_inputs("vina"))

    @pytest.fixture
    def run(self, site):
        return site


@pytest.mark.parametrize(
    ("receptor", "ligands", "published"),
    [
        ("r1", ("l1", "l2"), [(0.66093, 1.82328, 0.56169), (0.44233, 1.54133, 0.38851)]),
        ("r2", ("l2",), [(0.43392, 1.49802, 0.21729)]),
    ],
)
def test_figures_are_those_of_the_program_gnina(tmp_path, receptor, ligands, published):
    """Values from the tests of gninatorch, computed by ``gnina --score_only --cnn default`` of GNINA 1.0."""
    poses = [(DATA / f"{name}.sdf").read_text() for name in ligands]
    found = score(tmp_path / "run", (DATA / f"{receptor}.pdb").read_text(), poses)
    rows = [tuple(row[name] for name in FIGURES) for row in found["scores"]]
    assert rows == [pytest.approx(row, abs=3e-5) for row in published]


def test_figures_of_a_docking_are_those_of_a_direct_run_of_gninatorch(site):
    folder, engine, rows = site.parent / "rescoring", load_engines()["gnina"], read_table(site)
    command = [
        str(engine.python),
        "-m",
        "gninatorch.gnina",
        "poses.types",
        "--no_cache",
        "-d",
        ".",
        "-g",
        "cpu",
    ]
    lines = [line.split(": ") for line in run_directly(engine, command, folder).splitlines()]
    for name in FIGURES:
        theirs = [float(parts[1]) for parts in lines if parts[0] == name]
        assert [float(row[name]) for row in rows] == pytest.approx(theirs, abs=1e-4)


def test_the_order_stays_vinas_and_both_ranks_are_shown(site):
    rows = read_table(site)
    assert [row["vina_rank"] for row in rows] == [row["pose"] for row in rows]
    affinities = [float(row["affinity"]) for row in rows]
    assert affinities == sorted(affinities)
    by_score = sorted(rows, key=lambda row: -float(row["CNNscore"]))
    assert [row["cnn_rank"] for row in by_score] == [str(place) for place in range(1, len(rows) + 1)]
    assert len(rows) > 2


def test_a_result_has_the_figures_in_its_pose_table_and_its_score(site):
    result = open_result(site.parents[1] / "result.zip")
    assert [pose.rank for pose in result.poses] == list(range(1, len(read_table(site)) + 1))
    for name in (*FIGURES, "vina_rank", "cnn_rank"):
        assert result.pose_table[name].tolist() == [float(row[name]) for row in read_table(site)]
    assert [result.scores[name] for name in FIGURES] == result.pose_table.loc[0, list(FIGURES)].tolist()


def test_provenance_has_method_version_licence_and_citation_of_the_rescoring(site):
    add_on = read_add_on(site)
    assert (add_on["name"], add_on["version"], add_on["used"], add_on["reason"]) == (
        "gnina",
        "0.0.2",
        True,
        None,
    )
    assert add_on["packages"]["molgrid"] == "0.5.5"
    about = open_result(site.parents[1] / "result.zip").provenance()
    assert about["addOns"][0]["method"]["version"] == "0.0.2"
    assert "10.1186/s13321-021-00522-2" in about["citations"][1]
    assert "GPL-2.0" in about["addOns"][0]["licence"]
    assert any(
        "rescored by GNINA's CNN scoring by gninatorch 0.0.2" in note for note in about["method"]["notes"]
    )


def test_the_same_seed_gives_the_same_table_and_vinas_part_is_the_same_without_the_add_on(
    site, tmp_path, monkeypatch
):
    again = dock(tmp_path / "again", exhaustiveness=4)
    assert (again / "docking.csv").read_bytes() == (site / "docking.csv").read_bytes()
    (tmp_path / "engines").mkdir()
    (tmp_path / "engines" / "vina").symlink_to(load_engines()["vina"].home)
    monkeypatch.setenv("FOLDNOTE_ENGINES_DIR", str(tmp_path / "engines"))
    without = dock(tmp_path / "without", exhaustiveness=4)
    columns = ("pose", "affinity", "rmsd_lower", "rmsd_upper")
    assert read_table(without) == [{name: row[name] for name in columns} for row in read_table(site)]
    add_on = read_add_on(without)
    assert add_on["used"] is False
    assert "run `foldnote engines install gnina`" in add_on["reason"]
    assert "CNN" not in " ".join(read_manifest(without)["notes"])


def test_a_rescoring_that_fails_leaves_the_docking_and_is_reported(tmp_path, monkeypatch):
    broken = shutil.copytree(load_engines()["gnina"].folder, tmp_path / "more" / "gnina")
    (broken / "run.py").write_text("raise SystemExit('the weights are damaged')\n")
    monkeypatch.setenv("FOLDNOTE_ENGINE_PATH", str(tmp_path / "more"))
    outputs = dock(tmp_path / "run", exhaustiveness=1)
    assert list(read_table(outputs)[0]) == ["pose", "affinity", "rmsd_lower", "rmsd_upper"]
    assert (read_add_on(outputs)["used"], read_add_on(outputs)["reason"]) == (
        False,
        "It failed: the weights are damaged.",
    )
    assert "GNINA's rescoring failed; the docking is complete" in read_manifest(outputs)["notes"][-1]


def test_silicon_and_halogens_are_rescored_and_what_is_seen_as_a_metal_is_reported(tmp_path):
    outputs = dock(tmp_path, "C[Si](C)(F)c1cc(Cl)cc(Br)c1I\n", exhaustiveness=1, boxSize=[20, 20, 20])
    assert all(0 <= float(row["CNNscore"]) <= 1 for row in read_table(outputs))
    assert "no channel for Si and see it as a metal" in " ".join(read_manifest(outputs)["notes"])


def test_odd_poses_have_figures_and_say_what_the_networks_do_not_see(site, tmp_path):
    """Hydrogens change nothing, metals and boron are reported, atoms outside the cube are counted."""
    receptor = (site.parent / "rescoring" / "receptor.pdb").read_text()
    pose = (site.parent / "rescoring" / "pose-1.sdf").read_text()
    x, y, z = BOX["boxCenter"]
    chain = [("C", x + 1.4 * place - 20, y, z) for place in range(30)]
    odd = [
        pose,
        drop_hydrogens(pose),
        write_record([("Zn", x, y, z)]),
        write_record([("C", x, y, z), ("B", x + 1.6, y, z)]),
        write_record(chain),
    ]
    found = score(tmp_path / "odd", receptor, odd)
    rows = found["scores"]
    assert rows[0] == rows[1]
    assert rows[0]["CNNscore"] == float(read_table(site)[0]["CNNscore"])
    assert found["asMetal"] == ["B", "Zn"]
    assert found["outside"][:4] == [0, 0, 0, 0]
    assert found["outside"][4] == 14


def drop_hydrogens(record):
    """Return an SDF record without its hydrogens, which are last, and their bonds."""
    lines = record.splitlines()
    atoms, bonds = int(lines[3][:3]), int(lines[3][3:6])
    kept = [line for line in lines[4 : 4 + atoms] if line[31:34].strip() != "H"]
    joined = [
        line
        for line in lines[4 + atoms : 4 + atoms + bonds]
        if max(int(line[:3]), int(line[3:6])) <= len(kept)
    ]
    assert len(kept) < atoms
    counts = f"{len(kept):3}{len(joined):3}{lines[3][6:]}"
    return "\n".join([*lines[:3], counts, *kept, *joined, "M  END", "$$$$", ""])


def test_the_licence_is_shown_before_installation(capsys):
    from foldnote.service.engines.command import run_install

    assert run_install(["gnina"], stream=sys.stdout) == 0
    told = capsys.readouterr().out
    assert told.index("licence: MIT (gninatorch") < told.index("is already installed")
    assert "GPL-2.0 (Open Babel" in told
