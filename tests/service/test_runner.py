"""What a runner leaves behind when its attempt has ended."""

import hashlib
import json
import os
import subprocess
import sys
import uuid
import zipfile
from pathlib import Path

import pytest
from probe_engine import write_probe_engine

from foldnote.service.engines import build_attempt, load_engines
from foldnote.service.runner import attempt as files
from foldnote.service.runner import processes
from foldnote.service.runner.attempt import AttemptSpec, Outcome, prepare_attempt, scratch_folder
from foldnote.service.runner.locking import take_lock
from foldnote.service.runner.runner import EXIT_BUSY


def start_runner(spec: AttemptSpec) -> int:
    command = [sys.executable, "-m", "foldnote.service.runner.runner", str(spec.folder)]
    return subprocess.run(command, check=False).returncode


@pytest.fixture
def make_attempt(tmp_path, monkeypatch):
    monkeypatch.setenv("FOLDNOTE_ENGINE_PATH", str(write_probe_engine(tmp_path / "engines")))

    def make(job_name: str, inputs: dict[str, Path] | None = None) -> AttemptSpec:
        spec = build_attempt(
            load_engines()["probe"],
            attempt_dir=tmp_path / "attempt",
            nonce=uuid.uuid4().hex,
            job_name=job_name,
            tool="anarci",
            settings={"sequence": "EVQLV", "pdbFile": "x"},
            files={"pdbFile": ["inputs/x.pdb"]} if inputs else None,
            seed=11,
        )
        prepare_attempt(spec, inputs)
        return spec

    return make


@pytest.fixture
def run(make_attempt):
    def make_and_run(job_name: str) -> AttemptSpec:
        spec = make_attempt(job_name)
        assert start_runner(spec) == 0
        return spec

    return make_and_run


def replace_command(spec: AttemptSpec, code: str) -> None:
    """Replace the engine of a prepared attempt by another program."""
    path = spec.folder / files.SPEC
    path.write_text(json.dumps(json.loads(path.read_text()) | {"command": [sys.executable, "-c", code]}))


def read_member(spec: AttemptSpec, name: str) -> bytes:
    with zipfile.ZipFile(spec.folder / files.RESULT) as archive:
        return archive.read(name)


def test_the_archive_holds_outputs_manifest_score_and_log(run):
    spec = run("output-2.score.chatter-3")
    with zipfile.ZipFile(spec.folder / files.RESULT) as archive:
        assert archive.testzip() is None
        assert archive.namelist() == [
            "file-0.txt",
            "file-1.txt",
            "settings.json",
            "manifest.json",
            "score.json",
            "job.log",
        ]


def test_the_outcome_names_the_archives_hash(run):
    spec = run("output-1")
    content = (spec.folder / files.RESULT).read_bytes()
    assert Outcome.read(spec.folder).result_sha256 == hashlib.sha256(content).hexdigest()


@pytest.mark.parametrize("job_name", ["memory-64.child", "memory-64.fail", "memory-64.crash-3"])
def test_the_outcome_has_the_processor_time_and_the_memory_of_the_run(make_attempt, job_name):
    """The probe is one small Python process, which fills 64 MB."""
    spec = make_attempt(job_name)
    start_runner(spec)
    outcome = Outcome.read(spec.folder)
    assert 70 < outcome.peak_memory_mb < 130
    assert 0.01 < outcome.cpu_seconds < 10


def test_the_processor_time_is_that_of_all_processes(make_attempt):
    spec = make_attempt("burn-0_3.burn-0_3")
    start_runner(spec)
    assert 0.6 < Outcome.read(spec.folder).cpu_seconds < 3


def test_the_manifest_says_what_was_really_run(run):
    manifest = json.loads(read_member(run("output-1"), "manifest.json"))
    seed = {"seed": 11, "seedNote": None, "seedOffered": 11}
    assert manifest["job"] == {"jobName": "output-1", "type": "anarci", **seed}
    assert manifest["engine"]["method"] == "Probe of the tests"
    assert manifest["engine"]["kind"] == "substitute"
    assert manifest["settings"]["sequence"] == "EVQLV"
    assert manifest["started"] <= manifest["ended"]


def test_the_manifest_hashes_each_output(run):
    spec = run("output-1")
    rows = {row["name"]: row for row in json.loads(read_member(spec, "manifest.json"))["outputs"]}
    content = read_member(spec, "file-0.txt")
    assert rows["file-0.txt"]["sha256"] == hashlib.sha256(content).hexdigest()
    assert rows["file-0.txt"]["sizeBytes"] == len(content)


def test_the_log_holds_both_streams_and_no_progress(run):
    log = (run("chatter-4").folder / files.LOG).read_text()
    assert sorted(log.split("\n")) == ["", "line 0", "line 1", "line 2", "line 3"]


def test_partial_outputs_of_a_failed_run_are_kept(run):
    spec = run("output-1.fail")
    assert Outcome.read(spec.folder).state == "failed"
    assert read_member(spec, "file-0.txt") == b"output 0\n"
    assert Outcome.read(spec.folder).score is None


def test_an_engine_that_ends_by_a_signal_without_a_name_has_failed(make_attempt):
    spec = make_attempt("signalled")
    replace_command(spec, "import os; os.kill(os.getpid(), 40)")
    start_runner(spec)
    outcome = Outcome.read(spec.folder)
    assert outcome.state == "failed"
    assert "was ended by the signal 40. The job's log has the details." in outcome.error


@pytest.mark.parametrize("number", range(8, 20))
def test_too_many_open_files_are_not_an_error_of_the_engine(make_attempt, number):
    spec = make_attempt("short.output-1")
    limit = f"import resource; resource.setrlimit(resource.RLIMIT_NOFILE, ({number}, {number}))"
    code = f"from foldnote.service.runner.runner import main; {limit}; main()"
    subprocess.run([sys.executable, "-c", code, str(spec.folder)], check=False)
    outcome = Outcome.read(spec.folder)
    assert outcome is None or outcome.state in ("succeeded", "lost"), outcome


def test_a_link_in_the_outputs_is_not_followed(make_attempt, tmp_path):
    secret = tmp_path / "secret.txt"
    secret.write_text("not for results")
    spec = make_attempt("output-1")
    (spec.folder / "work" / "outputs" / "link.txt").symlink_to(secret)
    (spec.folder / "work" / "outputs" / "folder").symlink_to(tmp_path, target_is_directory=True)
    start_runner(spec)
    with zipfile.ZipFile(spec.folder / files.RESULT) as archive:
        assert not [name for name in archive.namelist() if "link" in name or "secret" in name]


def test_inputs_are_copied_and_named_in_the_job_file(make_attempt, tmp_path):
    source = tmp_path / "stored-object"
    source.write_text("ATOM\n")
    spec = make_attempt("nothing", {"inputs/x.pdb": source})
    job = json.loads((spec.folder / "work" / "job.json").read_text())
    copy = spec.folder / "work" / job["files"]["pdbFile"][0]
    assert copy.read_text() == "ATOM\n"
    assert not copy.samefile(source)


def test_an_input_cannot_leave_the_work_folder(make_attempt, tmp_path):
    with pytest.raises(ValueError, match="leads out"):
        make_attempt("nothing", {"../../x.pdb": tmp_path})


def test_a_second_runner_finds_the_lock_taken(make_attempt):
    spec = make_attempt("output-1")
    lock = take_lock(spec.folder)
    assert start_runner(spec) == EXIT_BUSY
    os.close(lock)
    assert not (spec.folder / files.RUNNER).exists()


def test_the_engine_sees_a_clean_environment(make_attempt, monkeypatch):
    for name in ("FOLDNOTE_API_KEY", "PYTHONPATH", "VIRTUAL_ENV", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "leak")
    spec = make_attempt("env")
    start_runner(spec)
    seen = json.loads(read_member(spec, "environment.json"))
    assert "leak" not in seen.values()
    assert seen["FOLDNOTE_ATTEMPT"] == spec.nonce
    assert seen["OMP_NUM_THREADS"] == "1"
    assert seen["PYTHONNOUSERSITE"] == "1"
    assert not Path(seen["TMPDIR"]).exists()


def test_the_runner_needs_only_light_modules():
    heavy = "{'pydantic', 'fastapi', 'sqlalchemy', 'pandas', 'httpx'}"
    code = f"import sys, foldnote.service.runner.runner; print(sorted({heavy} & set(sys.modules)))"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "[]"


def test_a_scratch_folder_planted_by_another_user_is_not_used(make_attempt, tmp_path):
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "kept").touch()
    spec = make_attempt("output-1")
    scratch_folder(spec.nonce).symlink_to(tmp_path / "elsewhere")
    try:
        start_runner(spec)
        processes.end_attempt(spec.nonce)
    finally:
        scratch_folder(spec.nonce).unlink()
    assert Outcome.read(spec.folder).state == "lost"
    assert [path.name for path in (tmp_path / "elsewhere").iterdir()] == ["kept"]
