"""The command ``foldnote`` in process, with its own embedded service and the probe engine."""

import fcntl
import io
import json
import os
import re
import signal
import struct
import subprocess
import sys
import termios
import zipfile
from contextlib import suppress
from importlib.metadata import version
from pathlib import Path

import pytest
from aiosmtpd.controller import Controller
from free_ports import free_port
from probe_engine import write_probe_engine
from service_process import PDB

from foldnote import catalog, errors, settings
from foldnote.cli import build_parser, main
from foldnote.cli.commands import COMMANDS
from foldnote.cli.exit_codes import CODES, find_code
from foldnote.cli.printing import format_table
from foldnote.cli.tables import map_columns
from foldnote.models import Tool, read_runtime
from foldnote.results import open_export

ROOT = Path(__file__).parent.parent.parent
SEQUENCE = "EVQLVESGGGLVQPGGSLRLSCAASGFNIKDTYIHWVRQAPGKGLEWVARIYPTNGYTRYADSVKGRFTISADTSKNTAYLQMNSLRAEDTAVYYCSRWGGDGFYAMDYWGQGTLVTVSS"
ANARCI = ["submit", "anarci", "--set", f"sequence={SEQUENCE}", "--set", "scheme=imgt"]


@pytest.fixture(scope="module")
def shared_home(tmp_path_factory):
    """Return a home whose embedded service outlives single tests."""
    folder = tmp_path_factory.mktemp("cli")
    engines = write_probe_engine(folder / "engines", ("anarci", "align-pdbs"), memory_mb=16)
    patch = pytest.MonkeyPatch()
    patch.setenv("FOLDNOTE_HOME", str(folder / "home"))
    patch.setenv("FOLDNOTE_ENGINE_PATH", str(engines))
    yield folder
    info = read_runtime(settings.runtime_dir())
    if info is not None:
        os.kill(info.pid, signal.SIGTERM)
    patch.undo()


@pytest.fixture
def foldnote(shared_home, monkeypatch, capsys):
    """Run a command; return its exit code, output and error output."""
    monkeypatch.setenv("FOLDNOTE_HOME", str(shared_home / "home"))
    monkeypatch.setenv("FOLDNOTE_ENGINE_PATH", str(shared_home / "engines"))

    def run(*arguments):
        capsys.readouterr()
        code = main(list(arguments))
        said = capsys.readouterr()
        return code, said.out, said.err

    return run


@pytest.fixture
def alone(capsys):
    """Run a command that needs no service."""

    def run(*arguments):
        code = main(list(arguments))
        said = capsys.readouterr()
        return code, said.out, said.err

    return run


def run_on_a_terminal(columns, *arguments):
    """Run a command on a terminal of this width; return its exit code and output, without colours."""
    master, slave = os.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    environment = {name: value for name, value in os.environ.items() if name != "COLUMNS"}
    command = [sys.executable, "-m", "foldnote", *arguments]
    process = subprocess.Popen(command, stdin=slave, stdout=slave, stderr=slave, env=environment)
    os.close(slave)
    said = b""
    with suppress(OSError):  # raised at the end of the output
        while block := os.read(master, 65536):
            said += block
    os.close(master)
    return process.wait(60), re.sub(r"\x1b\[[\d;]*m", "", said.decode())  # Python 3.14 colours the help


def test_a_job_from_its_submission_to_its_result(foldnote, tmp_path):
    code, out, err = foldnote(*ANARCI, "--name", "whole", "--wait", "--json")
    assert (code, json.loads(out)["status"]) == (0, "Complete")
    assert "whole: " in err
    code, out, _ = foldnote("results", "whole", "--to", str(tmp_path / "new" / "folder"), "--json")
    assert zipfile.is_zipfile(json.loads(out)["path"])
    code, out, _ = foldnote("results", "whole", "--to", str(tmp_path), "--file", "settings.json")
    assert json.loads((tmp_path / "settings.json").read_text())["scheme"] == "imgt"
    assert out.strip() == str(tmp_path / "settings.json")
    code, out, _ = foldnote("results", "whole", "--export", "--to", str(tmp_path))
    assert (code, open_export(out.strip()).job_name) == (0, "whole")


def test_the_same_submission_is_sent_once(foldnote):
    first, second, third = (foldnote(*ANARCI, "--json", *more) for more in ([], [], ["--again"]))
    names = [json.loads(out)["jobName"] for _, out, _ in (first, second, third)]
    assert names[0] == names[1] != names[2]


@pytest.mark.parametrize("columns", [80, 60])
def test_the_list_of_engines_fits_a_terminal(columns):
    code, said = run_on_a_terminal(columns, "engines", "list")
    wide = [line for line in said.splitlines() if len(line) > columns]
    assert (code, [line for line in wide if " " in line.strip()]) == (0, [])  # a long path stays whole
    assert "adapter: runs with your own copy of the program" in " ".join(said.split())


def test_a_quote_submits_nothing(foldnote):
    code, out, _ = foldnote(*ANARCI, "--name", "quoted", "--quote", "--json")
    quote = json.loads(out)
    assert (code, quote["jobName"], quote["isSubmitted"]) == (0, "quoted", False)
    assert quote["secondsExpected"] is None or quote["secondsExpected"] >= 0
    assert foldnote(*ANARCI, "--name", "quoted", "--quote")[1].startswith("Quote for anarci")
    assert foldnote("wait", "quoted")[0] == 4


def test_a_job_of_a_batch_is_run_again_as_often_as_was_asked(foldnote, tmp_path):
    table = tmp_path / "rows.csv"
    table.write_text(f"id,sequence\ncli.flaky-1,{SEQUENCE}\n")
    policy = ("--on-failure", "stop", "--retries", "1")
    foldnote("batch", "anarci", str(table), "--names", "id", "--set", "scheme=imgt", *policy, "--wait")
    assert json.loads(foldnote("wait", "cli.flaky-1", "--json")[1])[0]["retries"] == 1


def test_a_verdict_names_its_field_once(foldnote):
    code, out, _ = foldnote("validate", "anarci", "--set", "sequence=E1")
    assert (code, out) == (2, "sequence: Position 2: '1' is a digit; leave line and position numbers out.\n")
    code, out, _ = foldnote("validate", "admet", "--set", 'smilesStrings=["CCO", "C(("]')
    assert out.startswith("smilesStrings, item 2: 'C((' has an unmatched parenthesis")


def test_a_sheet_of_a_workbook_is_named(foldnote, tmp_path):
    openpyxl = pytest.importorskip("openpyxl", reason="openpyxl reads workbooks; it is an extra")
    book = openpyxl.Workbook()
    for sheet, name in ((book.active, "first"), (book.create_sheet("Plate 2"), "second")):
        sheet.append(["id", "sequence"])
        sheet.append([name, SEQUENCE])
    book.save(tmp_path / "plates.xlsx")
    batch = ("batch", "anarci", str(tmp_path / "plates.xlsx"), "--set", "scheme=imgt", "--preview", "--json")
    code, out, _ = foldnote(*batch, "--sheet", "Plate 2")
    assert (code, [row["jobName"] for row in json.loads(out)["results"]]) == (0, ["second"])
    code, _, err = foldnote(*batch, "--sheet", "Plate 3")
    assert (code, "Its sheets are: 'Sheet', 'Plate 2'." in err) == (2, True)
    code, _, err = foldnote(*batch)
    assert "The sheet 'Sheet' was read, not 'Plate 2'." in err


def test_a_file_in_a_table_is_the_name_of_an_upload_also_where_such_a_file_is_here(
    foldnote, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "one.pdb").write_text(PDB)
    (tmp_path / "rows.jsonl").write_text(json.dumps({"pdbFiles": ["one.pdb", "one.pdb"]}) + "\n")
    code, out, _ = foldnote("batch", "align-pdbs", "rows.jsonl", "--preview")
    assert code == 2
    assert "'one.pdb' is neither an upload nor" in out
    assert "Upload it with `foldnote files upload`" in out
    foldnote("files", "upload", "one.pdb")
    assert foldnote("batch", "align-pdbs", "rows.jsonl", "--preview")[0] == 0


def test_a_missing_file_names_the_command_that_uploads_it(foldnote):
    code, out, _ = foldnote("validate", "align-pdbs", "--set", 'pdbFiles=["none.pdb", "two.pdb"]')
    assert (code, "Upload it with `foldnote files upload`" in out) == (2, True)


def test_jobs_are_listed_for_people_and_for_programs(foldnote):
    foldnote(*ANARCI, "--name", "listed")
    code, out, _ = foldnote("jobs", "--limit", "1")
    assert code == 0
    assert out.splitlines()[0].split() == ["JOB", "TOOL", "STATUS", "CREATED", "TOOK", "REASON"]
    assert out.splitlines()[1].startswith("listed  anarci")
    code, out, _ = foldnote("jobs", "--json")
    assert json.loads(out)[0]["jobName"] == "listed"


@pytest.mark.parametrize("more", [[], ["--watch"], ["--json"]])
def test_jobs_of_a_batch_that_does_not_exist_are_not_an_empty_list(foldnote, more):
    code, _, err = foldnote("jobs", "--batch", "NOPE", *more)
    assert (code, err) == (4, "foldnote: There is no batch 'NOPE'.\n")


def test_listing_the_jobs_of_a_job_that_is_not_a_batch_is_refused(foldnote):
    foldnote(*ANARCI, "--name", "single")
    code, out, err = foldnote("jobs", "--batch", "single")
    assert (code, out, err) == (2, "", "foldnote: 'single' is a job, not a batch.\n")


def test_a_failed_job_has_its_own_exit_code_and_shows_its_log(foldnote):
    foldnote(*ANARCI, "--name", "cli.chatter-2.fail")
    code, out, err = foldnote("wait", "cli.chatter-2.fail")
    assert (code, out) == (1, "")
    assert "The probe was asked to fail" in err.splitlines()[-1]
    assert "line 1" in err
    code, out, _ = foldnote("log", "cli.chatter-2.fail", "--json")
    assert "line 1" in json.loads(out)["log"]
    foldnote(*ANARCI, "--name", "cli.fail")
    assert foldnote("wait", "cli.fail")[2].count("The probe was asked to fail") == 1


def test_an_empty_log_is_said_to_be_empty(foldnote):
    foldnote(*ANARCI, "--name", "quiet", "--wait")
    assert foldnote("logs", "quiet") == (0, "", "The log of quiet is empty.\n")
    assert json.loads(foldnote("logs", "quiet", "--json")[1]) == {"log": ""}


def test_a_job_that_is_not_finished_in_time_has_its_own_exit_code(foldnote):
    foldnote(*ANARCI, "--name", "cli.sleep-60")
    code, _, err = foldnote("wait", "cli.sleep-60", "--timeout", "0.1")
    assert (code, "job continues" in err) == (124, True)
    code, out, _ = foldnote("stop", "cli.sleep-60", "--json")
    assert (code, json.loads(out)[0]["jobName"]) == (0, "cli.sleep-60")
    assert foldnote("wait", "cli.sleep-60")[0] == 1


def test_a_result_is_copied_whole_or_not_at_all(foldnote, tmp_path, monkeypatch):
    def interrupted(source, target):
        Path(target).write_bytes(b"half")
        raise KeyboardInterrupt

    assert foldnote(*ANARCI, "--name", "copied", "--wait")[0] == 0
    monkeypatch.setattr("foldnote.cli.results.shutil.copyfile", interrupted)
    assert foldnote("results", "copied", "--to", str(tmp_path / "here"))[0] == 130
    assert list((tmp_path / "here").iterdir()) == []


def test_a_result_that_cannot_be_written_names_its_place(foldnote, tmp_path):
    assert foldnote(*ANARCI, "--name", "placed", "--wait")[0] == 0
    (tmp_path / "placed.zip").mkdir()
    (tmp_path / "a.txt").write_text("a file")
    code, out, err = foldnote("results", "placed", "--to", str(tmp_path))
    assert (code, out) == (6, "")
    assert err.startswith(f"foldnote: {tmp_path / 'placed.zip'} cannot be written: Is a directory.")
    code, _, err = foldnote("results", "placed", "--to", str(tmp_path / "a.txt"))
    assert (code, err) == (6, f"foldnote: {tmp_path / 'a.txt'} cannot be used: it is not a folder.\n")


def test_the_files_of_a_failed_job_are_not_passed_off_as_its_result(foldnote, tmp_path):
    assert foldnote(*ANARCI, "--name", "cli.cut.fail", "--wait")[0] == 1
    code, out, err = foldnote("results", "cli.cut.fail", "--to", str(tmp_path))
    assert (code, out) == (0, f"{tmp_path / 'cli.cut.fail.zip'}\n")
    assert err == "foldnote: cli.cut.fail is Failed, so its result may be incomplete.\n"
    foldnote(*ANARCI, "--name", "uncut", "--wait")
    assert foldnote("results", "uncut", "--to", str(tmp_path))[2] == ""


@pytest.mark.parametrize("command", ["jobs", "files"])
def test_a_list_refuses_a_name_that_it_would_ignore(foldnote, command):
    code, out, err = foldnote(command, "list", "x")
    assert (code, out) == (2, "")
    assert f"`foldnote {command} list` takes no" in err


def test_a_watched_list_that_is_interrupted_has_the_shell_s_exit_code(foldnote):
    foldnote(*ANARCI, "--name", "cli.watched.sleep-60")
    code = "from foldnote.cli import main; import sys; sys.exit(main(['jobs', '--watch', '--json']))"
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    with process:
        process.stdout.readline()
        process.send_signal(signal.SIGINT)
        said = process.stderr.read().decode()
    foldnote("stop", "cli.watched.sleep-60")
    assert (process.returncode, said) == (130, "foldnote: interrupted; jobs at the service continue.\n")


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (None, "s.json cannot be read: No such file or directory."),
        (b"", "There are no settings in "),
        (b"\xff\xfe{\x00", "are not UTF-8 text."),
        (b'{"a": ', "cannot be read as JSON: Expecting value: line 1 column 7 (char 6)."),
        (b"3", "s.json: one JSON object is needed."),
    ],
    ids=["absent", "empty", "utf-16", "cut", "number"],
)
def test_settings_that_cannot_be_read_say_why(foldnote, tmp_path, content, told):
    path = tmp_path / "s.json"
    if content is not None:
        path.write_bytes(content)
    code, _, err = foldnote("submit", "anarci", "--settings", str(path))
    assert code == 2
    assert told in err


def test_a_folder_is_not_uploaded(foldnote, tmp_path):
    code, _, err = foldnote("files", "upload", str(tmp_path))
    assert (code, err) == (2, f"foldnote: '{tmp_path}' is a folder. Name a file to upload.\n")


def test_a_deleted_job_is_gone(foldnote):
    foldnote(*ANARCI, "--name", "gone", "--wait")
    assert foldnote("delete", "gone")[:2] == (0, "gone was deleted.\n")
    code, out, err = foldnote("wait", "gone")
    assert (code, out) == (4, "")
    assert err.startswith("foldnote: ")
    assert "gone" in err


def test_a_job_has_a_note_and_tags_and_old_ones_are_purged(foldnote):
    foldnote(*ANARCI, "--name", "noted", "--wait")
    assert foldnote("jobs", "note", "noted", "Repeat with AHo.")[:2] == (0, "Repeat with AHo.\n")
    assert foldnote("jobs", "tag", "noted", "lead", "b")[1] == "b, lead\n"
    code, out, _ = foldnote("jobs", "untag", "noted", "b", "--json")
    assert json.loads(out) == {"jobName": "noted", "note": "Repeat with AHo.", "tags": ["lead"]}
    code, _, err = foldnote("jobs", "purge", "--older-than", "0h")
    assert (code, "noted" in err, "Add --yes" in err) == (2, True, True)
    code, out, _ = foldnote("jobs", "purge", "--older-than", "1h", "--yes", "--json")
    assert json.loads(out) == {"deleted": []}
    code, out, _ = foldnote("jobs", "purge", "--older-than", "0h", "--yes", "--json")
    assert "noted" in json.loads(out)["deleted"]
    assert foldnote("jobs", "purge")[0] == foldnote("jobs", "note")[0] == 2


def test_a_command_is_run_at_the_end_of_each_job_with_its_data_and_without_a_shell(
    foldnote, tmp_path, monkeypatch
):
    monkeypatch.setenv("FOLDNOTE_API_KEY", "secret-key")
    label = f"VH $(touch {tmp_path}/evil) `x`; 'y"
    foldnote(*ANARCI, "--name", "told.sleep-1", "--label", label)
    foldnote(*ANARCI, "--name", "told.fail")
    script = tmp_path / "then.py"
    script.write_text(
        "import json, os, sys\n"
        "about = {name: value for name, value in os.environ.items() if name.startswith('FOLDNOTE_')}\n"
        "print(json.dumps([sys.argv, about, json.load(sys.stdin)]), file=open(sys.argv[1], 'a'))\n"
        "sys.exit(about['FOLDNOTE_JOB_STATUS'] == 'Failed' and 'no mail today')\n"
    )
    place = tmp_path / "told.txt"
    code, _, err = foldnote(
        "watch", "told.sleep-1", "told.fail", "--then", f"{sys.executable} {script} {place}"
    )
    assert (code, "The command for told.fail ended with 1: no mail today" in err) == (1, True)
    told = {
        about["FOLDNOTE_JOB_NAME"]: (argv, about, job)
        for argv, about, job in map(json.loads, place.read_text().splitlines())
    }
    argv, about, job = told["told.sleep-1"]
    assert (argv[1:], about["FOLDNOTE_JOB_LABEL"], job["label"]) == ([str(place)], label, label)
    assert (job["status"], about["FOLDNOTE_JOB_TOOL"], about["FOLDNOTE_JOB_ERROR"]) == (
        "Complete",
        "anarci",
        "",
    )
    assert told["told.fail"][1]["FOLDNOTE_JOB_ERROR"] == "The probe was asked to fail."
    assert "secret-key" not in place.read_text()
    assert not (tmp_path / "evil").exists()
    for command, fault in (("no-such-program", "no program 'no-such-program'"), ("'open", "cannot be read")):
        code, _, err = foldnote("watch", "told.fail", "--then", command)
        assert (code, fault in err) == (2, True)


def test_a_mail_is_sent_at_the_end_of_each_job_by_the_users_own_server(foldnote, shared_home, monkeypatch):
    foldnote(*ANARCI, "--name", "mailed", "--label", "VH of trastuzumab")
    foldnote(*ANARCI, "--name", "mailed.fail")
    watch = ("watch", "mailed", "mailed.fail", "--mail", "ada@example.org")
    code, _, err = foldnote("watch", "mailed")
    assert (code, "--then COMMAND or --mail ADDRESS" in err) == (2, True)
    code, _, err = foldnote(*watch)
    assert (code, "No mail server is configured" in err) == (2, True)
    mails = []

    class Mailbox:
        async def handle_DATA(self, server, session, envelope):  # noqa: N802  the name that aiosmtpd calls
            mails.append(envelope.content.decode())
            return "250 taken"

    server = Controller(Mailbox(), hostname="127.0.0.1", port=free_port())
    server.start()
    config = shared_home / "home" / "config" / "config.toml"
    config.write_text(f'[mail]\nserver = "127.0.0.1"\nport = {server.port}\nsecurity = "none"\n')
    try:
        code, _, err = foldnote(*watch)
    finally:
        server.stop()
        config.unlink()
    assert code == 1  # one of the jobs failed
    told = {line for mail in mails for line in mail.splitlines()}
    assert {
        "Subject: foldnote: VH of trastuzumab: Complete",
        "Subject: foldnote: mailed.fail: Failed",
    } <= told
    assert "Reason: The probe was asked to fail." in told
    assert SEQUENCE[:20] not in "".join(mails)


def test_the_password_of_the_mail_server_is_in_no_other_programs_environment(monkeypatch):
    monkeypatch.setenv(settings.MAIL_PASSWORD, "secret")
    assert settings.MAIL_PASSWORD not in settings.process_environment()
    assert "secret" not in repr(settings.mail_password())


def test_tools_say_what_runs(foldnote):
    code, out, _ = foldnote("tools", "--available", "--json")
    rows = {row["type"]: row for row in json.loads(out)}
    assert {"anarci", "align-pdbs"} <= set(rows)
    assert all(row["available"] for row in rows.values())
    code, out, _ = foldnote("tools")
    assert (code, len(out.splitlines())) == (0, len(catalog.tools()) + 1)


def test_files_are_uploaded_for_file_fields(foldnote, tmp_path):
    atom = "ATOM      1  CA  ALA A   1       0.000   0.000   0.000  1.00  0.00           C\n"
    for name in ("a", "b"):
        (tmp_path / f"{name}.pdb").write_text(atom)
    files = [part for name in ("a", "b") for part in ("--file", f"pdbFiles={tmp_path / name}.pdb")]
    code, out, err = foldnote("submit", "align-pdbs", *files, "--json")
    assert (code, err) == (0, "")
    assert json.loads(out)["settings"] == {"pdbFiles": ["a.pdb", "b.pdb"]}


def test_settings_come_from_a_file_or_from_a_pipe(foldnote, tmp_path, monkeypatch):
    given = json.dumps({"sequence": SEQUENCE, "scheme": "aho"})
    (tmp_path / "s.json").write_text(given)
    piped = b"\xef\xbb\xbf" + given.encode()  # PowerShell writes a byte order mark
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(piped), "latin-1"))
    first = foldnote("submit", "anarci", "--settings", str(tmp_path / "s.json"), "--json")
    second = foldnote("submit", "anarci", "--settings", "-", "--json")
    assert json.loads(first[1])["jobName"] == json.loads(second[1])["jobName"]


@pytest.mark.parametrize(
    ("arguments", "ends_with", "words"),
    [
        (["submit", "anarcy"], 4, "Did you mean anarci"),
        (["submit", "anarci", "--set", "sequence"], 2, "FIELD=VALUE"),
        (["submit", "anarci", "--set", "sequense=EVQL"], 2, "Did you mean sequence?"),
        (["submit", "anarci", "--set", "sequence=EVQ1"], 2, "sequence"),
        (["submit", "anarci", "--file", "sequence=/no/such/file"], 2, "/no/such/file"),
        (["submit", "anarci", "--settings", "/no/such.json"], 2, "/no/such.json"),
        (["submit", "align-pdbs", "--set", "pdbFiles=3", "--file", "pdbFiles=a.pdb"], 2, "Write a JSON list"),
        (["submit", "align-pdbs", "--set", "pdbFiles=a", "--file", "pdbFiles=a.pdb"], 2, "pdbFiles: --file"),
        (["submit", "admet", "--settings", "-"], 2, "should be one JSON object"),
        ([*ANARCI, "--name", "a b"], 2, ". --name: Character 2"),
        (
            ["submit", "abmap", "--set", "sequence=EVQLVESGG"],
            3,
            "foldnote has no engine for abmap",
        ),
        (["batch", "anarci"], 2, "TOOL TABLE"),
        (["batch", "anarci", "/no/such.csv"], 2, "/no/such.csv"),
        (["batch", "anarci", "-", "--sweep", "scheme=imgt"], 2, "takes a JSON list"),
        (["batch", "anarci", "-"], 2, "no rows"),
        (["batch", "--retry", "nobody"], 4, "nobody"),
        (["log", "nobody"], 4, "nobody"),
        (["logs", "nobody", "--follow"], 4, "nobody"),
        (["results", "nobody"], 4, "nobody"),
        (["results", "nobody", "--table"], 4, "nobody"),
        (["stop", "nobody"], 4, "nobody"),
        (["delete", "nobody"], 4, "nobody"),
        (["files", "upload"], 2, "Name the files"),
        (["files", "upload", "/no/such/file"], 2, "/no/such/file"),
        (["files", "delete", "nothing"], 4, "nothing"),
        (["jobs", "--profile", "nowhere"], 2, "nowhere"),
    ],
)
def test_what_cannot_be_done_is_one_sentence_and_an_exit_code(
    foldnote, monkeypatch, arguments, ends_with, words
):
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"[]")))
    code, out, err = foldnote(*arguments)
    assert (code, out) == (ends_with, "")
    assert err.startswith("foldnote: ")
    assert words in err
    assert "Traceback" not in err


def test_a_folder_that_cannot_be_written_is_a_sentence(foldnote, tmp_path):
    foldnote(*ANARCI, "--name", "somewhere", "--wait")
    (tmp_path / "file").write_text("")
    code, _, err = foldnote("results", "somewhere", "--to", str(tmp_path / "file"))
    assert (code, "cannot be used" in err) == (6, True)


def test_the_doctor_looks_at_everything(foldnote, monkeypatch, tmp_path):
    monkeypatch.setenv("FOLDNOTE_ENGINES_DIR", str(tmp_path))
    (tmp_path / "vina").mkdir()  # an interrupted installation
    code, out, _ = foldnote("doctor", "--json")
    findings = {row["what"]: row for row in json.loads(out)}
    looked_at = {"foldnote", "data folder", "3Dmol.js", "profile", "service", "other engines", "keyring"}
    assert looked_at <= set(findings)
    engines = {what for what in findings if what.startswith("engine ")}
    assert engines == {"engine probe", "engine vina"}
    assert "anarci, antiberty" in findings["other engines"]["found"]  # nothing of them is here
    assert findings["service"]["is_good"]
    assert code == int(any(not row["is_good"] and row["is_needed"] for row in findings.values()))
    assert "service: answers" in foldnote("doctor")[1]


def test_the_doctor_says_what_is_wrong(alone, monkeypatch):
    monkeypatch.setenv("FOLDNOTE_BASE_URL", "http://127.0.0.1:9")
    code, out, _ = alone("doctor", "--json")
    findings = {row["what"]: row for row in json.loads(out)}
    assert code == 1
    assert "cannot be reached" in findings["service"]["found"]
    assert findings["profile"]["advice"]
    assert not [what for what in findings if what.startswith("engine")]  # they run at that service


def test_a_home_that_cannot_be_written_is_named_with_what_to_do(alone, monkeypatch, tmp_path):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("FOLDNOTE_HOME", str(tmp_path / "file" / "home"))
    code, out, _ = alone("doctor", "--json")
    findings = {row["what"]: row for row in json.loads(out)}
    told = f"{tmp_path}/file/home/data cannot be used: Not a directory (set FOLDNOTE_HOME to use another folder)."
    assert (code, findings["folders"]["found"]) == (1, told)
    assert findings["3Dmol.js"]["is_good"]
    code, _, err = alone("jobs")
    assert (code, "FOLDNOTE_HOME" in err) == (6, True)


def test_a_profile_is_added_given_a_key_and_listed(alone, monkeypatch):
    assert alone("profile", "add", "lab", "https://lab.example.org/v1/")[0] == 0
    monkeypatch.setattr("sys.stdin", io.StringIO("fn-SENTINEL\n"))
    code, out, err = alone("profile", "key", "lab")
    assert code == 0
    assert "fn-SENTINEL" not in out + err
    code, out, _ = alone("profile", "--json")
    lab = {"name": "lab", "base_url": "https://lab.example.org/v1", "active": False, "has_key": True}
    assert json.loads(out)[1] == lab | {"by_jupyterhub": False}
    assert settings.api_key(settings.active_profile("lab")).get_secret_value() == "fn-SENTINEL"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["profile", "add"], "profile add NAME"),
        (["profile", "use", "nowhere"], "nowhere"),
        (["profile", "remove", "nowhere"], "nowhere"),
        (["profile", "remove", "embedded"], "own service cannot be removed"),
        (["profile", "add", "lab"], "profile add NAME"),
        (["profile", "add", "lab", "ftp://x"], "https://"),
        (["profile", "add", "a b", "https://x.example"], "cannot name a profile"),
        (["profile", "key"], "profile key NAME"),
        (["profile", "key", "embedded"], "creates its own key"),
        (["profile", "key", "nowhere"], "nowhere"),
        (["engines", "remove"], "Name the"),
        (["engines", "check"], "Name the engines to check"),
    ],
)
def test_what_a_profile_or_an_engine_cannot_be(alone, arguments, words):
    code, out, err = alone(*arguments)
    assert (code, words in out + err) == (2, True)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("install",), "Name the engines to install: foldnote engines install NAME."),
        (("install", "--no-weights"), "Name the engines to install"),
        (("install", "anarci", "--all"), "--all stands for the names of all engines"),
        (("remove", "--all"), "--all stands for the names of all engines, and only to install them."),
        (("--all",), "--all stands for"),
    ],
)
def test_engines_are_installed_by_name_or_all_on_request(alone, arguments, sentence):
    code, out, err = alone("engines", *arguments)
    assert (code, out) == (2, "")
    assert sentence in err


def test_an_unknown_engine_is_not_installed(alone):
    code, out, err = alone("engines", "install", "nothing-like-it")
    assert (code != 0, "nothing-like-it" in out + err) == (True, True)


def test_an_engine_that_cannot_be_installed_has_its_documented_exit_code(alone, tmp_path, monkeypatch):
    engine = write_probe_engine(tmp_path, name="lacking") / "lacking/engine.toml"
    needs = "kind = 'host'\nsystem = [{command = 'no-such-prog', debian = 'nsp'}]"
    engine.write_text(engine.read_text().replace("kind = 'host'", needs))
    monkeypatch.setenv("FOLDNOTE_ENGINE_PATH", str(tmp_path))
    code, out, _ = alone("engines", "install", "lacking")
    assert (code, "no-such-prog" in out) == (6, True)


def test_an_empty_key_changes_nothing(alone, monkeypatch):
    alone("profile", "add", "lab", "https://lab.example.org")
    monkeypatch.setattr("sys.stdin", io.StringIO(""))
    assert alone("profile", "key", "lab")[0] == 2


def test_every_tool_has_a_row_of_engines(alone):
    code, out, _ = alone("engines", "list", "--json")
    assert (code, sum(bool(row["tool"]) for row in json.loads(out))) == (0, len(catalog.tools()))


def test_without_a_command_the_help_is_shown(alone):
    code, out, _ = alone()
    assert code == 2
    assert all(re.search(f"^    {command.name}\\b", out, re.M) for command in COMMANDS)


@pytest.mark.parametrize("columns", [80, 132])
@pytest.mark.parametrize("arguments", [("--help",), ("jobs",), ("schema", "vina"), ("tools",)], ids=" ".join)
def test_a_table_fits_the_terminal(foldnote, arguments, columns):
    foldnote(*ANARCI, "--name", "tall.fail", "--wait")
    code, text = run_on_a_terminal(columns, *arguments)
    assert code == 0
    assert max(map(len, text.splitlines())) < columns


def test_in_a_pipe_each_job_is_one_line_with_the_second(foldnote):
    foldnote(*ANARCI, "--name", "tall.fail", "--wait")
    lines = foldnote("jobs")[1].splitlines()
    (line,) = [line for line in lines if line.startswith("tall.fail ")]
    assert re.search(r"\d\d:\d\d:\d\d[+-]\d\d:\d\d .* The probe was asked to fail\.$", line)


def test_a_long_last_cell_is_below_its_row_where_its_column_would_be_narrow():
    titles, rows = (
        ("JOB", "STATUS", "REASON"),
        [("a" * 30, "Failed", "no chain B in it"), ("b", "Complete", "")],
    )
    assert format_table(titles, rows, 54).splitlines() == [
        f"JOB{' ' * 29}STATUS    REASON",
        f"{'a' * 30}  Failed",
        "    no chain B in it",
        f"b{' ' * 31}Complete",
    ]
    assert format_table(titles, [("a", "Failed", "it has no chain B, only A and C")], 40).splitlines() == [
        "JOB  STATUS  REASON",
        "a    Failed  it has no chain B, only A",
        "             and C",
    ]


def test_the_version_is_the_package_s(alone):
    import foldnote

    assert alone("--version") == (0, f"foldnote {foldnote.__version__}\n", "")


@pytest.mark.parametrize("arguments", [["fold"], ["submit"], ["jobs", "--limit", "0"], ["wait"]])
def test_what_is_not_understood_has_exit_code_2(arguments):
    with pytest.raises(SystemExit) as caught:
        main(arguments)
    assert caught.value.code == 2


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["fold", "--json"], "invalid choice: 'fold'"),
        (["submit", "--json"], "the following arguments are required: tool"),
        (["jobs", "--json", "--limit", "0"], "'0' is not a whole number above 0"),
        (["wait", "a", "--forever", "--json"], "unrecognized arguments: --forever"),
        (["results", "a", "--report", "--crate", "--json"], "not allowed with argument"),
        (["admin", "fold", "--json"], "invalid choice: 'fold'"),
        (["admin", "set-budget", "LAB", "-1", "--json"], "'-1' is not a number that is not negative"),
    ],
)
def test_what_is_not_understood_is_data_for_programs(arguments, told, capsys):
    with pytest.raises(SystemExit) as caught:
        main(arguments)
    said = capsys.readouterr()
    fault = json.loads(said.out)["error"]
    assert (caught.value.code, fault["kind"], fault["exit"]) == (2, "bad_input", 2)
    assert told in fault["message"]
    assert told in said.err


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.name)
def test_every_command_explains_itself(command, capsys):
    with pytest.raises(SystemExit) as caught:
        build_parser().parse_args([command.name, "--help"])
    assert caught.value.code == 0
    assert command.help in " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize(
    "command",
    [row for row in COMMANDS if row.name not in ("lab", "serve", "admin", "mcp", "completion")],
    ids=lambda row: row.name,
)
def test_every_command_that_tells_something_tells_it_to_programs(command, capsys):
    with pytest.raises(SystemExit):
        build_parser().parse_args([command.name, "--help"])
    assert "--json" in capsys.readouterr().out


def test_an_interruption_has_the_shell_s_exit_code(alone, monkeypatch):
    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("foldnote.settings.profiles", interrupt)
    assert alone("profile")[0] == 130


def test_a_closed_output_pipe_causes_no_traceback():
    code = "from foldnote.cli import main; import sys; sys.exit(main(['engines', 'list', '--json']))"
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    process.stdout.close()
    complaint = process.stderr.read().decode()
    process.stderr.close()
    assert process.wait() in (0, 141)
    assert "Traceback" not in complaint


@pytest.mark.parametrize("arguments", [["profile"], ["profile", "--json"], ["completion", "bash"]])
def test_output_to_a_full_disk_causes_no_traceback(arguments):
    code = f"from foldnote.cli import main; import sys; sys.exit(main({arguments}))"
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            [sys.executable, "-c", code], stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )
    assert done.returncode == 6
    assert all(line.endswith(": No space left on device.") for line in done.stderr.splitlines())


def test_what_a_plain_terminal_cannot_show_is_escaped(foldnote):
    """The service that the fixture starts is that of the other process."""
    foldnote("account")
    code = "from foldnote.cli import main; import sys; sys.exit(main(['schema', 'vina']))"
    plain = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, check=False, env=os.environ | plain
    )
    assert (done.returncode, done.stderr) == (0, b"")
    assert rb"4 to 200 \xc5 each" in done.stdout


def test_every_exception_of_the_tree_has_an_exit_code():
    for kind in vars(errors).values():
        if isinstance(kind, type) and issubclass(kind, errors.FoldnoteError):
            row = find_code(kind([]) if issubclass(kind, errors.SettingsError) else kind("x"))
            assert row.code not in (0, 130, 141)


def test_a_job_without_a_result_is_not_one_that_does_not_exist():
    for code, exit_code in (("no_result", 1), ("job_not_found", 4), ("file_not_found", 4)):
        assert find_code(errors.NotFoundError("x", status=404, code=code)).code == exit_code


def test_the_table_of_exit_codes_is_in_the_documentation():
    page = (ROOT / "docs" / "cli.md").read_text()
    for row in CODES:
        assert f"| {int(row.code)} | `{row.kind}` | {row.meaning} |" in page


def test_every_command_is_in_the_documentation():
    page = (ROOT / "docs" / "cli.md").read_text()
    for command in COMMANDS:
        assert f"`foldnote {command.name}" in page


def test_a_chosen_profile_is_used_until_it_is_removed(alone):
    alone("profile", "add", "lab", "https://lab.example.org")
    alone("profile", "use", "lab")
    assert settings.active_profile().name == "lab"
    assert alone("profile", "remove", "lab")[0] == 0
    assert settings.active_profile().name == "embedded"


def test_a_failure_is_data_for_programs(foldnote):
    code, out, _ = foldnote("delete", "nobody", "--json")
    fault = json.loads(out)["error"]
    assert (code, fault["kind"], fault["exit"], fault["code"]) == (4, "not_found", 4, "job_not_found")


def make_tool(properties):
    """Return a tool with only these settings."""
    schema = {"type": "object", "properties": properties, "additionalProperties": False}
    return Tool(type="probe", schema=schema)


@pytest.mark.parametrize(
    ("text", "suffix"),
    [
        ("sequence,num,flag\nEVQL,3,true\n,,\n", ".csv"),
        ("sequence\tnum\tflag\nEVQL\t3\ttrue\n", ".tsv"),
        ('[{"sequence": "EVQL", "num": 3, "flag": true}]', ".json"),
        ('{"sequence": "EVQL", "num": 3, "flag": true}\n', ".jsonl"),
    ],
)
def test_a_table_is_read_by_what_the_settings_are(tmp_path, text, suffix):
    path = tmp_path / f"table{suffix}"
    path.write_text(text)
    tool = make_tool({"sequence": {"type": "string"}, "num": {"type": "number"}, "flag": {"type": "boolean"}})
    rows = map_columns(path, tool, {}, None, set()).expand().settings
    assert rows[0] == {"sequence": "EVQL", "num": 3, "flag": True}


def test_a_damaged_line_of_a_table_is_named(tmp_path):
    tool = make_tool({"sequence": {"type": "string"}})
    path = tmp_path / "t.jsonl"
    path.write_text('{"sequence": "EVQL\u2028"}\n\n{bad\n')
    with pytest.raises(errors.ArgumentError, match="line 3 is not one JSON object: .* at column 2"):
        map_columns(path, tool, {}, None, set())
    path.write_text('{"sequence": "EVQL\u2028"}\n\n')
    assert map_columns(path, tool, {}, None, set()).expand().settings == [{"sequence": "EVQL\u2028"}]
    with pytest.raises(errors.ArgumentError, match="cannot be read: No such file or directory"):
        map_columns(tmp_path / "absent.csv", tool, {}, None, set())


def test_digits_of_a_text_field_stay_text(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("VH\n007\n")
    tool = make_tool({"sequence": {"type": "string"}})
    assert map_columns(path, tool, {"sequence": "VH"}, None, set()).expand().settings == [{"sequence": "007"}]


@pytest.mark.parametrize("text", ["a,b\n1,2,3\n", "[1]", '{"a": ', "a,b\n", "", "[]"])
def test_a_table_that_cannot_be_read_says_so(tmp_path, text):
    path = tmp_path / "t.csv"
    path.write_text(text)
    with pytest.raises(errors.FoldnoteError, match=r"table|t\.csv"):
        map_columns(path, make_tool({"a": {"type": "number"}}), {}, None, set())


def test_an_unknown_option_shows_the_usage_of_its_command(capsys):
    with pytest.raises(SystemExit) as ended:
        main(["wait", "a", "--forever"])
    assert ended.value.code == 2
    said = capsys.readouterr().err
    assert said.startswith("usage: foldnote wait")
    assert "unrecognized arguments: --forever" in said


def test_arguments_after_lab_go_to_jupyterlab_including_options():
    code = "import sys; from foldnote.cli import main; sys.exit(main(['lab', '--version']))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == version("jupyterlab")


def test_the_cell_of_a_list_may_be_one_value_several_or_json(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text('id,SMILES\na,CCO\nb,CCO;c1ccccc1\nc,"[""C"", ""N""]"\n')
    rows = map_columns(path, catalog.tool("admet"), {}, None, set()).expand().settings
    assert [row["smilesStrings"] for row in rows] == [["CCO"], ["CCO", "c1ccccc1"], ["C", "N"]]
