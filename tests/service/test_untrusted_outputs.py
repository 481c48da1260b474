"""Whatever an engine puts in the place of its own files, it blocks no slot and leaks no file."""

import json
import os
import resource
import subprocess
import sys
import time
import uuid
import zipfile

import pytest

from foldnote.results import open_result
from foldnote.service.files.archives import copy_members
from foldnote.service.runner import attempt as files
from foldnote.service.runner import untrusted
from foldnote.service.runner.attempt import AttemptSpec, Outcome, prepare_attempt

PRELUDE = "import json, os, pathlib, shutil, socket, sys, time; out = pathlib.Path('outputs')\n"
OUTPUT = "(out / 'a.txt').write_text('a')\n"
PLACES = ("score.json", "notes.json", "outputs/x", "../log.txt", "../progress.json")
SPECIAL = {
    "fifo": "os.mkfifo({name!r})",
    "folder": "os.mkdir({name!r})",
    "socket": "s = socket.socket(socket.AF_UNIX); s.bind({name!r})",
    "endless device": "os.symlink('/dev/zero', {name!r})",
    "link to nothing": "os.symlink('/nowhere', {name!r})",
}


@pytest.fixture
def run(tmp_path):
    """Run Python code as an engine; return the specification and the outcome."""

    def run_code(code: str, **more) -> tuple[AttemptSpec, Outcome]:
        nonce = uuid.uuid4().hex  # names a folder of the whole machine, where other tests run, too
        spec = AttemptSpec(
            attempt_dir=str(tmp_path / "attempt"),
            nonce=nonce,
            job_name="job",
            tool="anarci",
            settings={},
            command=(sys.executable, "-c", PRELUDE + code),
            environment={files.NONCE_VARIABLE: nonce},
            engine={"method": "Probe"},
            **more,
        )
        prepare_attempt(spec)
        command = [sys.executable, "-m", "foldnote.service.runner.runner", spec.attempt_dir]
        assert subprocess.run(command, check=False, timeout=60).returncode == 0
        return spec, Outcome.read(spec.folder)

    return run_code


def members(spec: AttemptSpec) -> list[str]:
    with zipfile.ZipFile(spec.folder / files.RESULT) as archive:
        assert archive.testzip() is None
        return archive.namelist()


@pytest.mark.parametrize("kind", SPECIAL)
def test_special_files_in_place_of_files_do_not_block_anything(run, kind):
    began = time.monotonic()
    code = "\n".join(SPECIAL[kind].format(name=name) for name in PLACES)
    spec, outcome = run(f"{OUTPUT}{code}\nprint('said')", time_limit_s=20)
    assert time.monotonic() - began < 10
    assert (outcome.state, outcome.score) == ("succeeded", None)
    assert members(spec) == ["a.txt", "manifest.json", "job.log"]
    assert (spec.folder / files.LOG).read_text() == "said\n"


def test_outputs_that_are_a_link_are_not_followed(run, tmp_path):
    (tmp_path / "secret").mkdir()
    (tmp_path / "secret" / "key").write_text("not for results")
    spec, outcome = run(f"shutil.rmtree(out); os.symlink({str(tmp_path / 'secret')!r}, out)")
    assert (outcome.state, outcome.result_sha256) == ("failed", None)
    assert not (spec.folder / files.RESULT).exists()


def test_a_work_folder_that_is_a_link_is_not_followed(run, tmp_path):
    (tmp_path / "other" / "outputs").mkdir(parents=True)
    (tmp_path / "other" / "outputs" / "key").write_text("not for results")
    code = f"os.rename('../work', '../aside'); os.symlink({str(tmp_path / 'other')!r}, '../work')"
    assert run(code)[1].state == "failed"


def test_a_linked_score_is_not_read(run, tmp_path):
    (tmp_path / "other.json").write_text('{"secret": 1}')
    spec, outcome = run(OUTPUT + f"os.symlink({str(tmp_path / 'other.json')!r}, 'score.json')")
    assert outcome.score is None
    assert "omitted" in outcome.note
    assert "score.json" not in members(spec)


def test_a_hard_link_is_a_file_like_any_other(run):
    spec, outcome = run(OUTPUT + "os.link(out / 'a.txt', out / 'b.txt')")
    assert outcome.state == "succeeded"
    assert members(spec)[:2] == ["a.txt", "b.txt"]


def test_packing_ends_at_the_time_limit(run):
    began = time.monotonic()
    spec, outcome = run("os.truncate(os.open(out / 'big', os.O_CREAT | os.O_RDWR), 8 << 30)", time_limit_s=1)
    assert time.monotonic() - began < 12
    assert outcome.state == "timed_out"
    assert outcome.error == (
        "Probe ended, but its outputs were not kept: the time limit of 1 s passed first."
    )
    assert sorted(path.name for path in spec.folder.iterdir() if "result" in path.name) == []


def test_packing_ends_when_the_job_is_stopped(run, tmp_path):
    ask = "import time; time.sleep(1.5); open('attempt/cancel', 'w').close()"
    with subprocess.Popen([sys.executable, "-c", ask], cwd=tmp_path):
        _, outcome = run("os.truncate(os.open(out / 'big', os.O_CREAT | os.O_RDWR), 8 << 30)")
    assert (outcome.state, outcome.result_sha256) == ("stopped", None)


def test_more_bytes_than_the_limit_are_not_kept(run):
    code = "os.truncate(os.open(out / 'big', os.O_CREAT | os.O_RDWR), 8 << 30)"
    spec, outcome = run(code, output_limit_bytes=1 << 20)
    assert outcome.state == "failed"
    assert outcome.error.endswith("outputs/ holds 8.59 GB; this service keeps 1.05 MB of a job.")
    assert json.loads((spec.folder / files.MANIFEST).read_text())["state"] == "failed"


def test_more_files_than_an_archive_may_have_are_not_kept(run):
    _, outcome = run("[(out / str(n)).touch() for n in range(9_998)]")
    assert outcome.error.endswith("its outputs were not kept: outputs/ has more than 9,997 files or folders.")


def test_as_many_files_as_are_kept_can_be_read_by_whoever_gets_them(run, tmp_path):
    code = "[(out / str(n)).touch() for n in range(9_997)]; open('score.json', 'w').write('{\"a\": 1}')"
    spec, outcome = run(code)
    assert outcome.state == "succeeded"
    assert len(open_result(spec.folder / files.RESULT).files) >= 9_997
    with zipfile.ZipFile(tmp_path / "batch.zip", "w") as batch:
        copy_members(spec.folder / files.RESULT, batch, "job/")


def test_a_score_that_is_too_large_is_left_out_with_a_note(run):
    code = OUTPUT + "open('score.json', 'w').write(json.dumps({str(n): n for n in range(300_000)}))"
    _, outcome = run(code)
    assert (outcome.state, outcome.score) == ("succeeded", None)
    assert outcome.note.startswith("The tool's score.json was omitted: it is larger than 65.5 kB")


def test_a_thousand_figures_are_shown_and_the_number_of_the_others(run):
    _, outcome = run(OUTPUT + "open('score.json', 'w').write(json.dumps({str(n): 1 for n in range(2000)}))")
    assert len(outcome.score) == 1000
    assert outcome.note == "The tool's score.json has 2,000 figures; the first 1,000 are shown."


def test_three_thousand_names_that_become_one_are_distinguished_quickly(run):
    code = "[os.close(os.open(os.fsencode(out) + b'/' + b'\\x01' * (n % 50) + b'\\x02' * (50 - n % 50)"
    spec, outcome = run(code + " + str(n // 50).encode(), os.O_CREAT)) for n in range(3000)]")
    assert outcome.state == "succeeded"
    assert len(set(members(spec))) == 3002
    assert max(len(name.rpartition("/")[2]) for name in members(spec)) <= 255


def test_the_names_of_255_bytes_stay_names_of_files(run):
    spec, outcome = run("[(out / (each + 'x' * 250 + '.pdb')).touch() for each in ('_', '\\x01')]")
    assert outcome.state == "succeeded"
    assert all(len(name.encode()) <= 255 and name for name in members(spec))


def test_outputs_with_names_of_the_services_own_files_are_all_kept(run):
    code = """
for name in ("manifest.json", "outputs/manifest.json", "outputs/outputs/manifest.json", "job.log"):
    (out / name).parent.mkdir(exist_ok=True)
    (out / name).write_text(name)
"""
    spec, outcome = run(code)
    assert outcome.state == "succeeded"
    with zipfile.ZipFile(spec.folder / files.RESULT) as archive:
        rows = json.loads(archive.read("manifest.json"))["outputs"]
        contents = {archive.read(row["name"]).decode() for row in rows}
    assert contents == {"manifest.json", "outputs/manifest.json", "outputs/outputs/manifest.json", "job.log"}


def test_a_manifest_is_json_whatever_numbers_the_engine_used(run):
    used = '{"seed": 1, "settings": {"cutoff": Infinity, "offset": NaN, "limit": 1e999, "step": 0.5}}'
    spec, _ = run(f"{OUTPUT}pathlib.Path('used.json').write_text({used!r})")

    def refuse(word):
        raise AssertionError(f"{word} is not valid JSON")

    with zipfile.ZipFile(spec.folder / files.RESULT) as archive:
        manifest = json.loads(archive.read("manifest.json"), parse_constant=refuse)
    used = {"cutoff": "Infinity", "offset": "NaN", "limit": "1e999", "step": 0.5}
    assert manifest["settings"] == used


def test_no_output_is_left_out_because_too_many_files_are_open(tmp_path):
    (tmp_path / "a.txt").write_text("a")
    (tmp_path / "b").mkdir()
    folder = os.open(tmp_path, os.O_RDONLY)
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    taken = [os.dup(folder) for _ in range(100)]
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (taken[-1] + 1, limits[1]))
        for act in (lambda: untrusted.list_files(folder), lambda: untrusted.open_file("a.txt", folder)):
            with pytest.raises(OSError, match="Too many open files"):
                act()
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)
        for each in (folder, *taken):
            os.close(each)
