"""Results and single files rendered for a page by the separate renderer program."""

import gzip
import json
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from table_data import unpack

from foldnote.client.inputs.batch_table import Rows
from foldnote.client.local.ledger import Ledger
from foldnote.client.tables.batch_results import Sheet
from foldnote.errors import UnreadableFileError
from foldnote.lab.renderer import (
    MEMORY_LIMIT_BYTES,
    PROCESSOR_LIMIT_S,
    lay_out_file,
    lay_out_result,
    lay_out_row,
    main,
)
from foldnote.settings import EMBEDDED

ROOT = Path(__file__).parents[3]
DATA = Path(__file__).parents[1] / "results" / "data"
ERRORS = [[0.0, 4.0, 20.0], [4.0, 0.0, 21.0], [20.0, 21.0, 0.0]]


def write_json(folder, name, content):
    path = folder / name
    text = json.dumps(content).encode()
    path.write_bytes(gzip.compress(text) if name.endswith(".gz") else text)
    return path


@pytest.mark.parametrize(
    ("name", "content"),
    [
        (
            "AF-P1-F1-predicted_aligned_error_v4.json",
            [{"predicted_aligned_error": ERRORS, "max_predicted_aligned_error": 31.75}],
        ),
        (
            "fold_one_full_data_0.json",
            {"pae": ERRORS, "token_chain_ids": ["A", "A", "B"], "token_res_ids": [1, 2, 1]},
        ),
        ("pae_rank_1.json.gz", {"pae": ERRORS}),
    ],
)
def test_aligned_errors_are_drawn_from_each_spelling(tmp_path, name, content):
    answer = lay_out_file(write_json(tmp_path, name, content), name)
    assert f"Predicted aligned error, {name}" in answer.html
    assert "3 × 3 tokens" in answer.html
    assert answer.files == ()


STOCKHOLM = "# STOCKHOLM 1.0\none MKTAY\ntwo MK-AY\n//\n"
SAMPLES = {
    **dict.fromkeys((".pdb", ".ent"), "trastuzumab_fv_ca.pdb"),
    **dict.fromkeys((".cif", ".mmcif", ".pdbx"), "altloc.cif"),
    ".bcif": "trp_cage_two_models.bcif",
    **dict.fromkeys((".sdf", ".mol"), "tyr.sdf"),
    ".mol2": "benzene.mol2",
    ".pdbqt": "vina_poses.pdbqt",
    **dict.fromkeys((".a3m", ".a2m", ".fasta", ".fa", ".faa", ".fas", ".fna"), ">one\nMKTAY\n>two\nMK-AY\n"),
    **dict.fromkeys((".sto", ".sth", ".stk", ".stockholm"), STOCKHOLM),
    **dict.fromkeys((".aln", ".clustal", ".clw"), "clustal.aln"),
}
"""A sample for every suffix that JupyterLab's file browser opens with our viewers: a file, or its text."""


def test_every_ending_of_the_file_browser_has_a_sample():
    script = (ROOT / "labextension" / "src" / "models" / "files" / "filetypes.ts").read_text()
    listed = re.findall(r"withCompressed\(((?:'\.\w+'(?:, )?)+)\)", script)
    assert set(re.findall(r"\.\w+", " ".join(listed))) == set(SAMPLES)


@pytest.mark.parametrize("packing", ["", ".gz"])
@pytest.mark.parametrize("ending", SAMPLES)
def test_a_file_of_every_ending_is_drawn(tmp_path, ending, packing):
    sample = SAMPLES[ending]
    content = sample.encode() if "\n" in sample else (DATA / sample).read_bytes()
    path = tmp_path / f"sample{ending}{packing}"
    path.write_bytes(gzip.compress(content) if packing else content)
    html = lay_out_file(path, path.name).html
    assert "fnv-stage" in html or "sequences" in html
    assert path.name in html


def test_the_chains_of_aligned_errors_are_compared_where_the_file_names_them(tmp_path):
    content = {"pae": ERRORS, "token_chain_ids": ["A", "A", "B"], "token_res_ids": [1, 2, 1]}
    answer = lay_out_file(write_json(tmp_path, "full_data_0.json", content), "full_data_0.json")
    assert "Between chains the lowest mean is 20.5 Å" in answer.html


@pytest.mark.parametrize("content", [{"a": 1}, [1, 2], {"pae": [[1, 2]]}, {"pae": "no"}, None])
def test_a_json_file_without_aligned_errors_says_so(tmp_path, content):
    path = write_json(tmp_path, "pae.json", content)
    with pytest.raises(UnreadableFileError, match=r"pae\.json contains no predicted aligned error.*editor"):
        lay_out_file(path, "pae.json")


def test_a_damaged_json_file_is_named(tmp_path):
    path = tmp_path / "pae.json"
    path.write_text('{"pae": [[0,')
    with pytest.raises(UnreadableFileError, match=r"pae\.json"):
        lay_out_file(path, "pae.json")


def test_an_alignment_shows_its_coverage_and_every_sequence(tmp_path):
    path = tmp_path / "query.a3m"
    path.write_text(">query\nMKTAY\n>hit-1 from a bank\nMKaT-Y\n>hit-2\nM--AY\n")
    html = lay_out_file(path, "query.a3m").html
    assert "3 sequences over 5 columns" in html
    assert "hit-1" in html
    assert "from a bank" in html


def test_sequences_of_unequal_length_are_listed(tmp_path):
    path = tmp_path / "list.fasta"
    path.write_text(">one\nMKT\n>two\nMKTAY\n")
    html = lay_out_file(path, "list.fasta").html
    assert "two" in html
    assert "columns; between" not in html


def test_markup_in_a_file_stays_text(tmp_path):
    path = tmp_path / "<i>evil.a3m"
    path.write_text("><img/src=x/onerror=alert(1)> <script>alert(2)</script>\nMKT\n>b\nMKT\n")
    html = lay_out_file(path, path.name).html
    assert "<img/src" not in html
    assert "<script>alert(2)" not in html
    assert "<i>evil" not in html


def test_a_file_with_nothing_to_draw_says_what_to_do(tmp_path):
    path = tmp_path / "model.cif"
    path.write_text("data_empty\n")
    with pytest.raises(UnreadableFileError, match=r"model\.cif"):
        lay_out_file(path, "model.cif")


def test_the_result_of_a_batch_tells_which_settings_its_jobs_share_and_which_differ(tmp_path):
    head = "jobName,status,settings.note,settings.chains,settings.seed,settings.sequence,settings.none"
    rows = [f'{name},Complete,\'=1+1,"[""A""]",7,{name.upper()},' for name in ("a", "b", "c")]
    (tmp_path / "results.csv").write_text("\n".join([head, *rows, ""]))
    for name in ("a", "b", "c"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "manifest.json").write_text("{}")
    answer = lay_out_result(tmp_path, "cats")
    assert json.loads(answer.settings) == {
        "sameInAllRows": {"note": "=1+1", "chains": ["A"], "seed": 7},
        "differentByRow": {"sequence": "3 values in 3 rows, in the table of the result"},
    }
    assert lay_out_row(tmp_path, "a").settings == ""


def test_the_table_of_a_batch_has_the_columns_that_were_kept_on_this_computer(tmp_path, capsys):
    (tmp_path / "results.csv").write_text("jobName,status\na,Complete\nb,Complete\n")
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "manifest.json").write_text("{}")
    kept = [{"sequence": "EVQ", "KD": 0.5}, {"sequence": "DIQ", "KD": 12.0}]
    rows = Rows([{"sequence": row["sequence"]} for row in kept], ["a", "b"], kept, kept=("KD",))
    Ledger().remember_sheet("plate", Sheet.of_rows("plate", ["a", "b"], rows).write())
    Ledger().remember_sheet("other", Sheet.of_rows("other", ["a", "c"], rows).write())

    def list_columns(title, *service):
        assert main(["result", str(tmp_path), title, *service]) == 0
        data = unpack(json.loads(capsys.readouterr().out)["html"])
        return dict(zip([column["name"] for column in data["columns"]], data["values"], strict=True))

    assert list_columns("plate", EMBEDDED)["KD"] == [0.5, 12.0]
    assert "KD" not in list_columns("plate")  # a colleague's
    assert "KD" not in list_columns("other", EMBEDDED)  # an earlier batch with this name


def test_the_views_of_a_result_are_headed_with_the_label_of_the_job(tmp_path, capsys):
    place = tmp_path / "result.zip"
    with zipfile.ZipFile(place, "w") as archive:
        archive.write(DATA / "trastuzumab_fv_ca.pdb", "fv.pdb")
        archive.writestr("manifest.json", '{"jobName": "job-1"}')

    def read_html(*more):
        assert main(["result", str(place), "job-1", *more]) == 0
        return json.loads(capsys.readouterr().out)["html"]

    assert "job-1 · fv.pdb" in read_html("", "")
    assert "Trastuzumab · fv.pdb" in read_html(EMBEDDED, "Trastuzumab")
    assert "A colleague&#x27;s · fv.pdb" in read_html("", "A colleague's")
    Ledger().remember_label("job-1", "Herceptin")
    assert "Herceptin · fv.pdb" in read_html(EMBEDDED, "Trastuzumab")
    assert "Trastuzumab · fv.pdb" in read_html("", "Trastuzumab")  # another user's job with this name


def test_a_result_keeps_its_files_and_its_manifest(tmp_path):
    (tmp_path / "manifest.json").write_text('{"method": "probe"}')
    answer = lay_out_result(tmp_path, "job-1")
    assert [file.name for file in answer.files] == ["manifest.json"]
    assert '"method": "probe"' in answer.manifest


def test_the_program_answers_json_or_one_sentence(tmp_path, capsys):
    assert main(["file", str(DATA / "trastuzumab_fv_ca.pdb"), "trastuzumab_fv_ca.pdb"]) == 0
    assert json.loads(capsys.readouterr().out)["title"] == "trastuzumab_fv_ca.pdb"
    assert main(["file", str(tmp_path / "none.pdb"), "none.pdb"]) == 1
    assert "none.pdb" in capsys.readouterr().err


def read_limited(path, *limits):
    """Return the program's response about a file, run with resource limits of the system."""
    program = [sys.executable, "-m", "foldnote.lab.renderer", "file", str(path), path.name]
    return subprocess.run(["prlimit", *limits, *program], capture_output=True, text=True, timeout=120)


def test_the_program_limits_its_memory_and_its_time():
    code = (
        "from resource import *; from foldnote.lab.renderer import limit_resources; limit_resources()\n"
        "print(getrlimit(RLIMIT_AS)[1], getrlimit(RLIMIT_CPU)[1]); bytearray(5 * 1024**3)"
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert ended.stdout.split() == [str(MEMORY_LIMIT_BYTES), str(PROCESSOR_LIMIT_S)]
    assert ended.stderr.endswith("MemoryError\n")


def test_a_file_that_takes_more_memory_than_the_limit_is_named(tmp_path):
    path = tmp_path / "pae.json"
    path.write_bytes(b'{"pae": [' + b"1.5," * 10_000_000 + b"1]}")
    ended = read_limited(path, f"--as={640 * 1024**2}")
    assert ended.returncode == 1
    assert ended.stderr == "pae.json needs more memory than the panel may use. Open it in a cell.\n"
