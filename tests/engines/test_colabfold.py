"""ColabFold with stand-in parameters: its command line, files and figures, and that it sends nothing without consent.

The parameters are random numbers (``stand_in_makers/make_colabfold.py``), so no figure is meaningful; the tests compare
the results of our engine and of the program itself for the same input.
"""

import csv
import io
import json
import os
import shutil
import subprocess
import sys
import tarfile
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from colabfold_runs import (
    FSD,
    OTHER,
    SMALL,
    make_stand_in_fixture,
    predict,
    predict_as_published,
    skip_without_colabfold,
)
from engine_contract import EngineContract, read_manifest
from real_engine import load_engines, run_directly

from foldnote import catalog
from foldnote.results import open_result

pytestmark = [pytest.mark.engine, pytest.mark.extra_engine, skip_without_colabfold]

ALIGNMENT = "foldnote.alignment"


stand_in = make_stand_in_fixture()


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    outcome, outputs = predict(tmp_path_factory.mktemp("fsd"))
    assert outcome.state == "succeeded", outcome.error
    return outputs


class TestContract(EngineContract):
    engine = "colabfold"
    needs_seed = True


def test_a_run_with_stand_ins_shows_no_confidence_and_says_so(run):
    assert sorted(path.name for path in run.iterdir()) == [
        "cite.bibtex",
        "config.json",
        "prediction.a3m",
        "prediction_coverage.png",
        "prediction_unrelaxed_stand_in_001.pdb",
    ]
    atoms = [
        line
        for line in (run / "prediction_unrelaxed_stand_in_001.pdb").read_text().splitlines()
        if line.startswith("ATOM")
    ]
    assert {line[60:66] for line in atoms} == {"  0.00"}
    assert not (run.parent / "score.json").exists()
    manifest = read_manifest(run)
    assert manifest["notes"][0] == "Ran with stand-in weights: figures mean nothing."
    assert {each["state"] for each in manifest["engine"]["weights"]} == {"stand-in"}
    assert "not yet checked with the published weights" in manifest["engine"]["note"]


@pytest.fixture(scope="module")
def complexed(tmp_path_factory):
    """Return two models of a dimer of FSD-1 with its own alignment, and those of the program itself."""
    folder = tmp_path_factory.mktemp("dimer")
    a3m = f">query\n{FSD}\n>other\n{OTHER}\n"
    done, work = predict_as_published(
        folder / "ours",
        f"{FSD}:{FSD}",
        {ALIGNMENT: a3m},
        useMSA=True,
        numModels="2",
        numRelax=1,
        ipsaeScoring=True,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    engine = load_engines()["colabfold"]
    direct = folder / "direct"
    direct.mkdir()
    (direct / "prediction.a3m").write_text(f"#28\t2\n>query\n{FSD}\n>other\n{OTHER}\n")
    program = [str(engine.python), str(engine.python.with_name("colabfold_batch"))]
    options = "--num-models 2 --num-recycle 0 --random-seed 7 --model-type alphafold2_multimer_v3"
    data = ["--data", str(work / "data")]
    run_directly(engine, [*program, "prediction.a3m", "out", *data, *options.split()], direct)
    return done, work, direct / "out"


def test_the_files_are_those_of_the_program_itself(complexed):
    _, work, direct = complexed
    ours = work / "outputs"
    named = {path.name for path in direct.iterdir() if path.is_file()}
    assert {path.name for path in ours.iterdir()} == named - {"log.txt", "prediction.done.txt"} | {
        "ranking.csv"
    }
    for path in (
        sorted(direct.glob("*.pdb")) + sorted(direct.glob("prediction_*.json")) + [direct / "prediction.a3m"]
    ):
        assert (ours / path.name).read_bytes() == path.read_bytes(), path.name


def test_the_order_and_the_figures_are_the_programs(complexed):
    done, work, direct = complexed
    with (work / "outputs" / "ranking.csv").open() as stream:
        rows = list(csv.DictReader(stream))
    assert [row["rank"] for row in rows] == ["1", "2"]
    scores = [json.loads(path.read_text()) for path in sorted(direct.glob("*_scores_rank_*.json"))]
    said = [line.split() for line in done.stdout.splitlines() if " rank_00" in line]
    assert [f"pLDDT={float(row['plddt']):.3g}" in words for row, words in zip(rows, said, strict=True)] == [
        True,
        True,
    ]
    assert [(float(row["ptm"]), float(row["iptm"])) for row in rows] == [
        (each["ptm"], each["iptm"]) for each in scores
    ]
    assert [float(row["ipsae"]) for row in rows] == [max(each["ipsae"].values()) for each in scores]
    figures = json.loads((work / "score.json").read_text())
    assert figures == {
        "pLDDT": float(rows[0]["plddt"]), "pTM": scores[0]["ptm"], "ipTM": scores[0]["iptm"],
        "ipSAE": max(scores[0]["ipsae"].values()),
    }  # fmt: skip


def test_the_viewers_get_models_in_order_with_plddt_and_aligned_error(complexed, tmp_path):
    _, work, _ = complexed
    archive = shutil.make_archive(str(tmp_path / "result"), "zip", work / "outputs")
    models = open_result(Path(archive)).models
    assert len(models) == 2
    assert models[0].pae.matrix.shape == (56, 56)
    with (work / "outputs" / "ranking.csv").open() as stream:
        means = [float(row["plddt"]) for row in csv.DictReader(stream)]
    assert [round(float(each.plddt["plddt"].mean()), 1) for each in models] == [
        round(mean, 1) for mean in means
    ]


def test_a_model_that_cannot_be_relaxed_is_reported_and_kept(complexed):
    """Random parameters put atoms at the same positions."""
    done, work, _ = complexed
    with (work / "outputs" / "ranking.csv").open() as stream:
        assert [row["relaxed"] for row in csv.DictReader(stream)] == ["", ""]
    assert "Minimization failed" in done.stdout + done.stderr
    notes = json.loads((work / "notes.json").read_text())
    assert "The model of rank 1 could not be relaxed; the log says why." in notes


def test_a_real_structure_is_relaxed(tmp_path):
    """The heavy CDR3 of an antibody: the residues stay and hydrogens are added."""
    import gemmi

    loop = gemmi.read_structure(str(Path(__file__).parents[1] / "unit/results/data/c143_h3.pdb"))
    for number, residue in enumerate(loop[0][0], start=1):
        residue.seqid = gemmi.SeqId(number, " ")
    loop.write_pdb(str(tmp_path / "a_unrelaxed_b.pdb"))
    engine = load_engines()["colabfold"]
    program = (
        "import sys; from pathlib import Path; sys.path.insert(0, sys.argv[1]); from run import relax;"
        " print(relax(Path(sys.argv[2])))"
    )
    command = [str(engine.python), "-c", program, str(engine.folder), "a_unrelaxed_b.pdb"]
    assert run_directly(engine, command, tmp_path).split()[-1] == "a_relaxed_b.pdb"
    relaxed = gemmi.read_structure(str(tmp_path / "a_relaxed_b.pdb"))
    assert [each.name for each in relaxed[0][0]] == [each.name for each in loop[0][0]]
    assert any(atom.is_hydrogen() for residue in relaxed[0][0] for atom in residue)


def test_progress_is_reported_model_by_model(complexed):
    told = [
        json.loads(line.split(" ", 1)[1])
        for line in complexed[0].stdout.splitlines()
        if line.startswith("FOLDNOTE_PROGRESS")
    ]
    fractions = [each["fraction"] for each in told]
    assert fractions == sorted(fractions)
    assert fractions[-1] == 1.0
    assert any(each["message"].startswith("Model 2, recycle 0") for each in told)


class Server(BaseHTTPRequestHandler):
    """An MSA server with ColabFold's protocol, which finds one related sequence."""

    asked: list[str] = []

    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"])).decode()
        self.asked.append(f"{self.path} {body}")
        self.answer(json.dumps({"id": "1", "status": "COMPLETE"}).encode())

    def do_GET(self):
        self.asked.append(self.path)
        held = io.BytesIO()
        with tarfile.open(fileobj=held, mode="w:gz") as archive:
            text = f">101\n{FSD}\n>found\t0.9\n{OTHER}\n\0".encode()
            entry = tarfile.TarInfo("uniref.a3m")
            entry.size = len(text)
            archive.addfile(entry, io.BytesIO(text))
        self.answer(held.getvalue())

    def answer(self, content):
        self.send_response(200)
        self.send_header("content-length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_):
        pass


@pytest.fixture
def server():
    Server.asked = []
    with ThreadingHTTPServer(("127.0.0.1", 0), Server) as made:
        threading.Thread(target=made.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{made.server_port}"
        made.shutdown()


def test_the_labs_own_server_is_queried_without_consent_for_the_job(server, tmp_path):
    done, work = predict_as_published(tmp_path, FSD, environment={"FOLDNOTE_MSA_SERVER": server}, useMSA=True)
    assert done.returncode == 0, done.stderr[-2000:]
    assert FSD in Server.asked[0]
    assert "mode=all" in Server.asked[0]
    assert OTHER in (work / "outputs" / "prediction.a3m").read_text()
    assert "The sequence was sent to 127.0.0.1." in json.loads((work / "notes.json").read_text())


def test_without_consent_no_server_is_queried_whatever_is_set(tmp_path):
    a3m = {ALIGNMENT: f">a\n{FSD}\n"}
    outcome, outputs = predict(tmp_path, texts=a3m, templateMode="pdb100", useMSA=True)
    assert outcome.state == "succeeded", outcome.error
    config = json.loads((outputs / "config.json").read_text())
    assert (config["host_url"], config["use_templates"]) == ("http://127.0.0.1:9", False)
    assert "No templates were used" in " ".join(read_manifest(outputs)["notes"])
    assert read_manifest(outputs)["settingsChanged"]["templateMode"] == {"given": "pdb100", "used": "none"}


def test_consent_names_the_public_server_to_the_program(tmp_path):
    """With the network cut, the program cannot reach it, and says so."""
    outcome, outputs = predict(tmp_path, useMSA=True, extensions={"external": ["msa-server"]})
    assert outcome.error == "The alignment or the templates could not be made; the log says why."
    assert (
        json.loads((outputs.parent / "colabfold" / "config.json").read_text())["host_url"]
        == "https://api.colabfold.com"
    )


REFUSED = [
    ({"useMSA": True}, {}, "This job asks for an alignment, and nothing may be sent."),
    ({"sequence": f"{FSD}:"}, {}, "The sequence has an empty chain."),
    ({"sequence": "MK*B"}, {}, "The sequence has '*', 'B'; the standard amino acids and X are taken."),
    ({"sequence": "A" * 1201}, {}, "The chains have 1201 letters together."),
    ({"sequence": "XXX:XX"}, {}, "The sequence has only X"),
    (
        {"modelType": "deepfold_v1"},
        {},
        "modelType deepfold_v1 needs parameters that this engine does not fetch.",
    ),
    ({"templateMode": "custom"}, {}, "templateMode is custom, and there is no template"),
    ({"bfvdTemplates": True}, {}, "ColabFold takes no templates from BFVD."),
    ({"randomSeed": 1.5}, {}, "randomSeed is 1.5; it must be a whole number from 0"),
    ({"numRecycles": 0.5}, {}, "numRecycles is 0.5; it must be a whole number."),
    ({}, {ALIGNMENT: f">a\n{FSD}\n"}, "There is an alignment, and useMSA is false"),
    ({"useMSA": True}, {ALIGNMENT: "\n"}, "The alignment has no sequence."),
    ({"useMSA": True}, {ALIGNMENT: FSD}, "The alignment is not A3M: text stands before the first name"),
    (
        {"useMSA": True},
        {ALIGNMENT: f">a\n{OTHER}\n"},
        "The first sequence of the alignment is not that of the job.",
    ),
    ({"useMSA": True}, {ALIGNMENT: f">a\n{FSD}\n>b\nMKV\n"}, "Sequence 2 of the alignment has 3 columns"),
    ({"useMSA": True}, {ALIGNMENT: f">a\n{FSD}\n>b\n{FSD[:-1]}1\n"}, "Sequence 2 of the alignment has '1'"),
    (
        {"useMSA": True, "sequence": f"{FSD}:{OTHER}"},
        {ALIGNMENT: f">a\n{FSD}\n"},
        "The alignment of a complex of different",
    ),
    (
        {"useMSA": True},
        {ALIGNMENT: f"#27\t1\n>a\n{FSD}\n"},
        "The first line of the alignment is about other chains",
    ),
    ({}, {"initialGuess": "ATOM\n"}, "The structure in initialGuess"),
    ({"templateMode": "custom"}, {"templateFiles": "ATOM\n"}, "The file in templateFiles is not mmCIF"),
    (
        {"templateMode": "custom"},
        {"templateFiles": "_atom_site.id 1\n"},
        "The template lacks _entity_poly_seq",
    ),
]


@pytest.mark.parametrize(("settings", "texts", "sentence"), REFUSED)
def test_what_cannot_be_run_is_refused_in_a_sentence(tmp_path, settings, texts, sentence):
    outcome, _ = predict(tmp_path, texts=texts, **settings)
    assert outcome.state == "failed"
    assert outcome.error.startswith(sentence), outcome.error


@pytest.mark.parametrize(
    ("settings", "variables", "arguments"),
    [
        ({"dropout": True}, {}, ["--use-dropout"]),
        ({"recycleEarlyStopTolerance": "0.5"}, {}, ["--recycle-early-stop-tolerance", "0.5"]),
        ({"randomSeed": 11}, {}, ["--random-seed", "11"]),
        ({"modelType": "alphafold2"}, {}, ["--model-type", "alphafold2"]),
        ({"sequence": f"{FSD}:{OTHER}"}, {}, ["--model-type", "alphafold2_multimer_v3"]),
        (
            {"useMSA": True, "maxMsa": "32:64"},
            {"FOLDNOTE_MSA_SERVER": "http://msa.lab"},
            ["--max-msa", "32:64"],
        ),
        (
            {"useMSA": True, "sequence": f"{FSD}:{OTHER}", "pairMode": "paired"},
            {"FOLDNOTE_MSA_SERVER": "http://msa.lab"},
            ["--pair-mode", "paired"],
        ),
        (
            {"useMSA": True, "templateMode": "pdb100"},
            {"FOLDNOTE_MSA_SERVER": "http://msa.lab/"},
            ["--templates"],
        ),
        ({"useMSA": True}, {"FOLDNOTE_MSA_SERVER": "http://msa.lab/"}, ["--host-url", "http://msa.lab"]),
    ],
)
def test_a_setting_becomes_its_flag(settings, variables, arguments, tmp_path, monkeypatch):
    given = catalog.default_settings(catalog.tool("alphafold")) | SMALL | {"sequence": FSD} | settings
    plan = plan_of(
        {"settings": given, "files": {}, "seed": 7, "extensions": {}}, variables, tmp_path, monkeypatch
    )
    said = plan["arguments"]
    assert any(said[i : i + len(arguments)] == arguments for i in range(len(said))), said


def plan_of(job, variables, folder, monkeypatch):
    """Return the plan of a job by the engine's own module."""
    engine = load_engines()["colabfold"]
    program = (
        "import dataclasses, json, sys; from arguments import plan_run;"
        "job, variables = json.load(sys.stdin); plan = plan_run(job, variables); plan.alignment = None;"
        "print(json.dumps(dataclasses.asdict(plan)))"
    )
    paths = os.pathsep.join([str(engine.folder), str(engine.folder.parent / "protocol")])
    monkeypatch.setenv("PYTHONPATH", paths)
    done = subprocess.run(
        [sys.executable, "-c", program],
        input=json.dumps([job, variables]),
        capture_output=True,
        text=True,
        check=True,
        cwd=folder,
    )
    return json.loads(done.stdout)


def test_the_public_server_in_the_configuration_is_not_consent(tmp_path, monkeypatch):
    job = {"settings": SMALL | {"sequence": FSD}, "files": {}, "seed": 7, "extensions": {}}
    plan = plan_of(job, {"FOLDNOTE_MSA_SERVER": "https://api.colabfold.com"}, tmp_path, monkeypatch)
    assert plan["arguments"][-4:-2] != ["--host-url", "https://api.colabfold.com"]
    assert "https://api.colabfold.com" not in plan["arguments"]


def test_an_own_template_and_a_structure_to_begin_with_are_used(run, tmp_path):
    """The template is the model of another run with two residues renamed; hhsearch finds it, without any server."""
    import gemmi

    structure = gemmi.read_structure(str(run / "prediction_unrelaxed_stand_in_001.pdb"))
    structure.name = "TMPL"

    def write():
        structure.setup_entities()
        for entity in structure.entities:
            entity.full_sequence = [residue.name for residue in structure[0][0]]
        structure.assign_label_seq_id()
        document = structure.make_mmcif_document()
        kinds = document[0].find_values("_chem_comp.type")
        for row in range(len(kinds)):
            kinds[row] = "'L-peptide linking'"  # as the PDB writes it
        return document.as_string()

    guess = write()
    for residue, letter in zip(structure[0][0], OTHER, strict=True):
        residue.name = gemmi.expand_one_letter(letter, gemmi.ResidueKind.AA)
    done, work = predict_as_published(
        tmp_path, FSD, {"templateFiles": write(), "initialGuess": guess}, templateMode="custom"
    )
    assert done.returncode == 0, done.stderr[-2000:]
    config = json.loads((work / "outputs" / "config.json").read_text())
    assert (config["use_templates"], config["initial_guess"]) == (True, "guess.cif")
    assert "tmpl_A" in (work / "outputs" / "prediction_template_domain_names.json").read_text()
    assert not any("template" in note for note in json.loads((work / "notes.json").read_text()))
