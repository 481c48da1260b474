"""Whatever happens to the rescoring, the docking continues and the reason is reported."""

import json
import sys
from pathlib import Path

import pytest

import foldnote.service.engines as engines

RECEPTORS, POSES = ["RECEPTOR\n"] * 3, ["first\n", "second\n", "third\n"]
SCORES = {
    "scores": [{"CNNscore": value, "CNNaffinity": 5.0, "CNNvariance": 0.1} for value in (0.2, 0.9, 0.2)],
    "outside": [0, 2, 0],
    "edge": 23.5,
    "asMetal": ["Si"],
}


@pytest.fixture(autouse=True)
def rescoring(monkeypatch, tmp_path):
    """Import the module by its own name, as in the engine's environment, in a working folder."""
    monkeypatch.syspath_prepend(str(Path(engines.__file__).parent / "vina"))
    monkeypatch.chdir(tmp_path)
    import rescoring

    yield rescoring
    sys.modules.pop("rescoring", None)


def offer(program, time_limit_s=30.0):
    """Return an add-on whose program is this Python text."""
    Path("program.py").write_text(program)
    return {
        "method": "Scoring of the tests",
        "version": "1",
        "command": [sys.executable, "program.py"],
        "timeLimitS": time_limit_s,
        "reason": None,
    }


def write_scores(content):
    return f"import sys; open(sys.argv[1] + '/scores.json', 'w').write({json.dumps(content)!r})"


def test_figures_and_ranks_come_back_in_the_order_of_the_poses(rescoring):
    found = rescoring.rescore(offer(write_scores(SCORES)), RECEPTORS, POSES, print)
    assert [row["CNNscore"] for row in found.rows] == [0.2, 0.9, 0.2]
    assert [(row["vina_rank"], row["cnn_rank"]) for row in found.rows] == [(1, 2), (2, 1), (3, 3)]
    assert found.describe() == {"used": True, "reason": None}
    assert "by CNNscore pose 2 is the best" in found.notes[0]
    assert "no channel for Si" in found.notes[1]
    assert "In 1 of 3 poses" in found.notes[2]


def test_receptor_and_poses_are_handed_over_as_files(rescoring):
    rescoring.rescore(offer(write_scores(SCORES)), RECEPTORS, POSES, print)
    assert Path("rescoring/receptor.pdb").read_text() == RECEPTORS[0]
    assert [Path(f"rescoring/pose-{number}.sdf").read_text() for number in (1, 2, 3)] == POSES


def test_a_pose_whose_receptor_is_another_one_has_it_beside_it(rescoring):
    rescoring.rescore(offer(write_scores(SCORES)), ["RECEPTOR\n", "MOVED\n", "RECEPTOR\n"], POSES, print)
    assert {path.name: path.read_text() for path in Path("rescoring").glob("receptor*.pdb")} == {
        "receptor.pdb": "RECEPTOR\n",
        "receptor-2.pdb": "MOVED\n",
    }


def test_progress_is_passed_on_and_other_lines_are_not(rescoring):
    told = []
    program = 'print(\'{"pose": 1, "poses": 3}\'); print("Loading"); print("[1]");' + write_scores(SCORES)
    rescoring.rescore(offer(program), RECEPTORS, POSES, lambda *said: told.append(said))
    assert told == [(pytest.approx(1 / 3), "Rescored pose 1 of 3")]


def test_an_add_on_that_is_not_installed_is_not_a_failure(rescoring):
    found = rescoring.rescore({"reason": "The engine gnina is not installed."}, RECEPTORS, POSES, print)
    assert found.describe() == {"used": False, "reason": "The engine gnina is not installed."}
    assert (found.rows, found.notes) == ((), ())


@pytest.mark.parametrize(
    ("program", "reason"),
    [
        ("import sys; print('first', file=sys.stderr); sys.exit('no such file')", "no such file"),
        ("import os; os.kill(os.getpid(), 9)", "signal 9 ended it, which happens where memory runs out"),
        ("raise SystemExit(3)", "exit status 3"),
        ("pass", "No such file or directory"),
        (write_scores({"scores": []} | {"outside": []}), "it gave 0 rows for 3 poses"),
        (write_scores(SCORES | {"scores": [{"CNNscore": 1}] * 3}), "CNNaffinity"),
        (
            write_scores(SCORES | {"scores": [dict.fromkeys(SCORES["scores"][0], float("nan"))] * 3}),
            "not numbers",
        ),
        (write_scores([]), "It failed"),
        ("import time; time.sleep(60)", "it took longer than 1 s"),
    ],
    ids=["message", "killed", "silent", "nothing", "few", "columns", "nan", "list", "slow"],
)
def test_a_failure_is_reported_with_its_reason(rescoring, program, reason):
    limit_s = 1.0 if "sleep" in program else 60.0
    found = rescoring.rescore(offer(program, limit_s), RECEPTORS, POSES, print)
    assert found.rows == ()
    assert reason in found.reason
    assert reason in found.notes[0]
    assert "the docking is complete" in found.notes[0]


def test_a_program_that_cannot_be_started_is_a_failure(rescoring):
    offered = offer("") | {"command": ["/no/such/python"]}
    assert "It failed" in rescoring.rescore(offered, RECEPTORS, POSES, print).reason
