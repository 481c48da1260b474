"""The command ``foldnote`` as a user runs it, in its own process, with a real embedded service."""

import csv
import io
import json
import os
import re
import signal
import subprocess
import sys
import time
import zipfile
from pathlib import Path

import pytest
from forked_python import run_forked
from probe_engine import write_probe_engine

from foldnote import Client

COMMAND = Path(sys.executable).parent / "foldnote"
SEQUENCE = "EVQLVESGGGLVQPGGSLRLSCAASGFNIKDTYIHWVRQAPGKGLEWVARIYPTNGYTRYADSVKGRFTISADTSKNTAYLQMNSLRAEDTAVYYCSRWGGDGFYAMDYWGQGTLVTVSS"
SETTINGS = ["--set", f"sequence={SEQUENCE}", "--set", "scheme=imgt"]
CODE = "import sys; from foldnote.cli import main; sys.exit(main())"
MODULES = (
    *("foldnote.cli", "foldnote.catalog.foreign", "foldnote.catalog.validation"),
    *(f"foldnote.client.resources.{name}" for name in ("files", "jobs", "tools")),
    *("foldnote.client.core.transport", "foldnote.client.local.embedded", "foldnote.client.tables.job_list"),
)
"""Imported by most commands."""
ATOM = "ATOM      1  CA  ALA A   1       0.000   0.000   0.000  1.00  0.00           C\n"


class Shell:
    """Run commands with a separate home, in processes that start as ``foldnote`` does after its imports."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        engines = write_probe_engine(folder / "engines", ("anarci", "align-pdbs"), memory_mb=16)
        self.environment = os.environ | {
            "FOLDNOTE_HOME": str(folder / "home"),
            "FOLDNOTE_ENGINE_PATH": str(engines),
            "PYTHON_KEYRING_BACKEND": "keyring.backends.fail.Keyring",
            "COLUMNS": "200",
        }

    def start(self, *arguments: str, **options) -> subprocess.Popen:
        """Start the command itself."""
        pipe = subprocess.PIPE
        return subprocess.Popen(
            [COMMAND, *arguments],
            stdin=pipe,
            stdout=pipe,
            stderr=pipe,
            text=True,
            env=self.environment,
            **options,
        )

    def __call__(self, *arguments: str, said: str = "", code: int = 0) -> str:
        """Return the command's standard output; `self.err` has its standard error."""
        done = run_forked(CODE, *arguments, environment=self.environment, said=said, modules=MODULES)
        self.err = done.stderr
        assert "Traceback" not in self.err, self.err
        assert done.returncode == code, (done.stdout, self.err)
        return done.stdout

    def data(self, *arguments: str, **more):
        """Return the single JSON document that the command prints."""
        return json.loads(self(*arguments, "--json", **more))


@pytest.fixture(scope="module")
def foldnote(tmp_path_factory):
    shell = Shell(tmp_path_factory.mktemp("command"))
    shell("submit", "anarci", *SETTINGS, "--name", "first.output-2.score.chatter-3", "--wait")
    yield shell
    for path in (shell.folder / "home" / "run").glob("*.json"):
        os.kill(json.loads(path.read_text())["pid"], signal.SIGTERM)


FIRST = "first.output-2.score.chatter-3"


def test_a_tool_is_found_described_and_shown_by_example(foldnote, tmp_path):
    rows = foldnote.data("tools", "antibody", "number", "--available")
    assert "anarci" in [row["type"] for row in rows]
    assert foldnote("schema", "anarci").splitlines()[0].split() == [
        "SETTING",
        "TYPE",
        "NEEDED",
        "DEFAULT",
        "MEANING",
    ]
    place = tmp_path / "settings.json"
    place.write_text(foldnote("example", "anarci"))
    assert foldnote("validate", "anarci", "--settings", str(place)) == "valid\n"


def test_settings_that_are_not_valid_are_reported_with_the_field(foldnote):
    verdict = foldnote.data("validate", "anarci", "--set", "sequence=EVQ1", code=2)
    assert (verdict["valid"], verdict["field"]) == (False, "sequence")
    fault = foldnote.data("submit", "anarci", "--set", "sequence=EVQ1", code=2)
    assert fault["error"]["kind"] == "bad_input"
    assert fault["error"]["problems"][0]["field"] == "sequence"


def test_an_item_of_a_list_and_a_row_are_counted_from_one(foldnote, tmp_path):
    place = tmp_path / "settings.json"
    place.write_text('{"smilesStrings": ["CCO", "bad!"]}')
    told = foldnote("validate", "admet", "--settings", str(place), code=2)
    assert told.startswith("smilesStrings, item 2: ")
    place.write_text('[{"smilesStrings": ["CCO"]}, {"smilesStrings": ["bad!"]}]')
    last = foldnote("validate", "admet", "--settings", str(place), code=2).splitlines()[-1]
    assert re.match(r"2 +no +smilesStrings, item 1 ", last)


def test_a_result_is_fetched_whole_in_part_and_as_a_table_of_contents(foldnote, tmp_path):
    path = foldnote.data("results", FIRST, "--to", str(tmp_path))["path"]
    assert zipfile.is_zipfile(path)
    unpacked = foldnote("results", FIRST, "--to", str(tmp_path / "u"), "--pattern", "file-*").split()
    assert [Path(name).name for name in unpacked] == ["file-0.txt", "file-1.txt"]
    assert sorted(path.name for path in (tmp_path / "u").iterdir()) == ["file-0.txt", "file-1.txt"]
    foldnote("results", FIRST, "--to", str(tmp_path), "--pattern", "*.xyz", code=2)
    assert "It has: file-0.txt" in foldnote.err


def test_a_result_comes_with_its_provenance(foldnote, tmp_path):
    about = foldnote.data("results", FIRST, "--provenance")
    assert (about["method"]["name"], about["settings"]["scheme"]) == ("Probe of the tests", "imgt")
    crate = Path(foldnote("results", FIRST, "--crate", "--to", str(tmp_path)).strip())
    assert (crate / "ro-crate-metadata.json").is_file()
    assert (crate / "file-0.txt").is_file()


def test_a_log_is_printed_and_followed(foldnote):
    assert "line 2" in foldnote("logs", FIRST, "--lines", "5")
    foldnote("submit", "anarci", *SETTINGS, "--name", "follow.sleep-1.chatter-3.fail")
    out = foldnote("logs", "follow.sleep-1.chatter-3.fail", "--follow", code=1)
    assert sorted(line for line in out.splitlines() if line.startswith("line")) == [
        "line 0",
        "line 1",
        "line 2",
    ]


def test_a_table_becomes_a_batch_and_its_results_a_table(foldnote, tmp_path):
    table = tmp_path / "fv.csv"
    table.write_text(f"id,VH\nb.one.score,{SEQUENCE}\nb.two.fail,{SEQUENCE}\n")
    batch = [
        "batch",
        "anarci",
        str(table),
        "--column",
        "sequence=VH",
        "--set",
        "scheme=imgt",
        "--names",
        "id",
    ]
    preview = foldnote.data(*batch, "--preview")
    assert [row["jobName"] for row in preview["results"]] == ["b.one.score", "b.two.fail"]
    assert (preview["count"], preview["valid"], preview["jobsTaken"]) == (2, True, 2)
    record = foldnote.data(*batch, "--name", "b", "--wait")
    assert (record["jobName"], record["batchStatus"]) == ("b", "Complete")
    rows = list(csv.DictReader(io.StringIO(foldnote("results", "b", "--table"))))
    assert [(row["job_name"], row["status"]) for row in rows] == [
        ("b.one.score", "Complete"),
        ("b.two.fail", "Failed"),
    ]
    assert rows[0]["score.probe"] == "0.5"
    assert foldnote("batch", "--retry", "b").startswith("b-retry1: ")


def test_columns_are_guessed_shown_and_changed_by_options(foldnote, tmp_path):
    table = tmp_path / "plate.csv"
    table.write_text(f"Clone;VH;Lot\nmAb 1;{SEQUENCE};7\nmAb 2;{SEQUENCE[:-1]};8\n", "utf-16")
    batch = ["batch", "anarci", str(table), "--set", "scheme=imgt", "--preview"]
    preview = foldnote.data(*batch)
    assert (preview["columns"], preview["namesColumn"]) == ({"sequence": "VH"}, "Clone")
    assert preview["keptColumns"] == ["Lot"]
    assert [row["jobName"] for row in preview["results"]] == ["mAb-1", "mAb-2"]
    assert foldnote(*batch).startswith(
        "Columns: VH → sequence; Clone → the jobs' names; kept with the results: Lot. Change it with"
    )
    foldnote(*batch[:-1], "--name", "plate")
    assert "Columns: VH → sequence" in foldnote.err
    changed = foldnote.data(*batch, "--column", "sequence=VH", "--names", "Lot")
    assert [row["jobName"] for row in changed["results"]] == ["7", "8"]


def test_a_table_without_a_known_column_is_refused_with_its_columns(foldnote, tmp_path):
    table = tmp_path / "odd.csv"
    table.write_text("Lot,Well\n7,A1\n")
    foldnote("batch", "anarci", str(table), code=2)
    assert (
        "No column of the table could be recognized as a setting of anarci. It has: 'Lot', 'Well'."
        in foldnote.err
    )
    assert "such as --column sequence=Lot" in foldnote.err
    table.write_text(f"VH,V H,scheme\n{SEQUENCE},{SEQUENCE},imgt\n")
    foldnote("batch", "anarci", str(table), code=2)
    assert (
        "Choose one, --column sequence=VH --column scheme=scheme or --column 'sequence=V H' --column"
        " scheme=scheme, or submit the table once with each." in foldnote.err
    )


def test_a_large_batch_must_be_confirmed(foldnote, tmp_path):
    table = tmp_path / "many.jsonl"
    table.write_text("".join(json.dumps({"sequence": SEQUENCE[:-n]}) + "\n" for n in range(1, 52)))
    foldnote("batch", "anarci", str(table), "--set", "scheme=imgt", code=2)
    assert "Add --yes to submit 51 jobs" in foldnote.err


def test_jobs_are_watched_until_none_is_unfinished(foldnote):
    foldnote("submit", "anarci", *SETTINGS, "--name", "watched.sleep-1")
    out = foldnote("jobs", "--watch", "--interval", "0.2", "--limit", "1")
    assert out.splitlines()[-1].split()[1:] == ["watched.sleep-1", "anarci", "Complete"]


def test_several_jobs_are_waited_for_stopped_and_deleted(foldnote):
    for name in ("s.sleep-60", "t.sleep-60"):
        foldnote("submit", "anarci", *SETTINGS, "--name", name)
    assert (
        foldnote.data("wait", "s.sleep-60", "--timeout", "0.2", code=124)["error"]["job"]["jobName"]
        == "s.sleep-60"
    )
    assert [job["status"] for job in foldnote.data("stop", "s.sleep-60", "t.sleep-60")] == ["Stopped"] * 2
    states = foldnote.data("wait", "s.sleep-60", "t.sleep-60", code=1)
    assert [job["jobName"] for job in states] == ["s.sleep-60", "t.sleep-60"]
    assert foldnote.data("delete", "s.sleep-60") == {"deleted": ["s.sleep-60"]}
    assert foldnote.data("delete", "s.sleep-60", code=4)["error"]["kind"] == "not_found"


def test_files_are_uploaded_listed_and_deleted(foldnote, tmp_path):
    for name in ("a.pdb", "b.pdb"):
        (tmp_path / name).write_text(ATOM)
    paths = [str(tmp_path / name) for name in ("a.pdb", "b.pdb")]
    assert foldnote.data("files", "upload", *paths, "--folder", "in") == {
        "uploaded": ["in/a.pdb", "in/b.pdb"]
    }
    assert sorted(row["fileName"] for row in foldnote.data("files", "--folder", "in")) == ["a.pdb", "b.pdb"]
    foldnote("files", "delete", "in/a.pdb")
    foldnote("files", "delete", "in/a.pdb", code=4)


def test_a_profile_lives_and_its_key_is_never_shown(foldnote):
    lab = "http://127.0.0.1:9"
    out = foldnote("profile", "add", "lab", lab, "--key", said="fn-SENTINEL\n")
    out += foldnote("profile") + foldnote("profile", "use", "lab") + foldnote("profile", "list", "--json")
    foldnote("profile", "test", "lab", code=5)
    assert "cannot be reached" in foldnote.err
    out += foldnote("profile", "remove", "lab")
    assert "SENTINEL" not in out + foldnote.err
    assert [row["name"] for row in foldnote.data("profile")] == ["embedded"]
    assert foldnote.data("profile", "test", "embedded")["tools_available"] >= 2


def test_an_interrupted_wait_says_so_and_leaves_the_job(foldnote):
    foldnote("submit", "anarci", *SETTINGS, "--name", "interrupted.sleep-60")
    process = foldnote.start("wait", "interrupted.sleep-60")
    process.stderr.readline()
    time.sleep(0.2)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=120)
    assert (process.returncode, "jobs at the service continue" in err) == (130, True)
    foldnote("stop", "interrupted.sleep-60")


def test_a_service_whose_folder_is_named_relative_to_the_current_one_runs_its_jobs(tmp_path):
    foldnote = Shell(tmp_path)
    worker = tmp_path / "engines" / "probe" / "serve.py"
    worker.write_text("RUNS_MANY = True\n\n\ndef load(): ...\n")
    given = ("serve", "--port", "0", "--data-dir", "relative", "--json")
    service = foldnote.start(*given, cwd=foldnote.folder)
    try:
        ready = json.loads(service.stdout.readline())
        with Client(base_url=ready["url"], api_key=ready["key"]) as client:
            job = client.jobs.submit("anarci", {"sequence": SEQUENCE}, job_name="relative").wait()
            assert job.status == "Complete"
    finally:
        service.terminate()
        service.communicate(timeout=120)


def test_a_trial_key_is_requested_once_and_never_shown(foldnote):
    service = foldnote.start("serve", "--port", "0", "--data-dir", str(foldnote.folder / "lab"), "--json")
    try:
        url = json.loads(service.stdout.readline())["url"]
        foldnote("profile", "add", "trial", url)
        first = foldnote.data("provision", "--profile", "trial")
        assert (first["jobsLeft"], first["isClaimed"], first["hasKey"]) == (10, False, True)
        assert first["claimUrl"].startswith("http")
        assert foldnote.data("account", "--profile", "trial")["email"] == first["email"]
        keys = json.loads((foldnote.folder / "home" / "config" / "keys.json").read_text())
        said = json.dumps(first) + foldnote("provision", "--profile", "trial") + foldnote.err
        assert not [key for key in keys.values() if key in said]
    finally:
        service.terminate()
        service.communicate(timeout=120)


def test_options_may_be_placed_between_the_arguments(foldnote, tmp_path):
    table = tmp_path / "one.csv"
    table.write_text(f"id,sequence\nbetween,{SEQUENCE}\n")
    assert foldnote.data("batch", "anarci", "--set", "scheme=imgt", str(table), "--preview")["count"] == 1
    (tmp_path / "between.pdb").write_text(ATOM)
    stored = foldnote("files", "upload", "--folder", "between", str(tmp_path / "between.pdb"))
    assert stored == "between/between.pdb\n"
    assert foldnote.data("jobs", "tag", "--limit", "3", FIRST, "good")["tags"] == ["good"]
    assert foldnote("jobs", "note", FIRST, "--", "-3", "kcal") == "-3 kcal\n"
    assert foldnote.data("profile", "add", "--key", "between", "https://x.example", said="k\n")["kept_in"]
    foldnote("profile", "remove", "between")
    foldnote("jobs", "tag", "--no-such", FIRST, code=2)
    assert "unrecognized arguments: --no-such" in foldnote.err


def test_a_warning_is_a_sentence_without_a_line_of_python(foldnote):
    foldnote("submit", "anarci", *SETTINGS, "--agree", "msa-server", "--name", "warned")
    assert foldnote.err.startswith("foldnote: Not sent with anarci: ")
    assert len(foldnote.err.splitlines()) == 1


def test_characters_that_the_output_cannot_encode_are_escaped(foldnote, tmp_path):
    (tmp_path / "λ.pdb").write_text(ATOM)
    foldnote("files", "upload", str(tmp_path / "λ.pdb"), "--folder", "encoded")
    environment = foldnote.environment | {"PYTHONIOENCODING": "latin-1"}
    command = [COMMAND, "files", "--folder", "encoded"]
    done = subprocess.run(command, env=environment, capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
    assert b"encoded/\\u03bb.pdb" in done.stdout


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("jobs >&-", 0),
        ("jobs 2>&-", 0),
        ("jobs purge --older-than 0h <&-", 2),
        ("submit anarci --settings - <&-", 2),
        ("wait nobody --json | true", 141),
        ("wait nobody 2>&1 | true", 141),
    ],
)
def test_a_closed_stream_is_not_an_error_of_the_program(foldnote, line, code):
    shell = ["bash", "-c", f'set -o pipefail; "$0" {line}', str(COMMAND)]
    done = subprocess.run(shell, env=foldnote.environment, capture_output=True, text=True, check=False)
    assert "Traceback" not in done.stderr
    assert done.returncode == code
