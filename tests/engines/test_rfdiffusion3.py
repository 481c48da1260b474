"""RFdiffusion3 with stand-in weights: our engine's result is that of ``rfd3 design`` for the same input.

The network is small and its numbers random (``stand_in_makers/make_rfdiffusion3.py``), so new residues form no protein
and no figure is meaningful; the kept parts of a structure stay where they were.
"""

import csv
import gzip
import json
import re
import subprocess

import gemmi
import numpy
import pytest
from engine_contract import EngineContract, read_manifest
from odd_inputs import list_odd_inputs
from stand_ins import StandInRuns, skip_unless_installed

from foldnote import catalog
from foldnote.service.engines.launch import make_environment

pytestmark = [
    pytest.mark.engine,
    pytest.mark.extra_engine,
    pytest.mark.timeout(2400),
    skip_unless_installed("rfdiffusion3"),
]

DNA_COMPLEX = catalog.tool("rfdiffusion3").example_job["settings"]["structure"]
"""Chain A is a protein of 51 residues, B and C are DNA strands of 11, with a sodium ion as C12."""
SMALL = {"steps": 3, "designs": 2, "seed": 7}
BINDER = {
    "contig": "9-12,/0,A5-30,/0,B3-8",
    "hotspots": {"A": "17 18-19"},
    "hotspotAtoms": {"A22": "CZ,NH1"},
    "ligands": ["na"],
    "fixedAtoms": {"A6": "BKBN", "A10-11": "N,CA,C"},
    "redesignedResidues": "A20-21",
    "loops": "fewer",
    "totalLength": "41-43",
    "batchSize": 2,
}


RUNS = StandInRuns("rfdiffusion3", SMALL)
engine = RUNS.make_engine_fixture()
run = RUNS.make_run_fixture({"structure": DNA_COMPLEX}, **BINDER)


def design(folder, structure=DNA_COMPLEX, **settings):
    return RUNS.run(folder, {"structure": structure} if structure else None, **settings)


def design_as_published(folder, structure=DNA_COMPLEX, **settings):
    """Run it as if the weights were the published ones, so that figures stay; return the work folder."""
    texts = {"structure": structure} if structure else None
    return RUNS.run_as_published(folder, texts, **settings)[0]


def design_directly(engine, folder, specification, *options):
    """Design with the program's command line in ``folder``; return its structures and records."""
    environment = make_environment(engine, engine.resources.cores)
    (folder / "direct.json").write_text(json.dumps({"design": specification}))
    program = str(engine.python.with_name("rfd3"))
    given = ["inputs=direct.json", "out_dir=out", "global_prefix=''", "seed=7"]
    sampling = ["inference_sampler.num_timesteps=3", *options]
    command = [engine.python, program, "design", *given, *sampling]
    subprocess.run(command, cwd=folder, env=environment, check=True)
    paths = sorted((folder / "out").glob("*.cif.gz"))
    records = [
        json.loads(path.with_name(path.name.replace(".cif.gz", ".json")).read_text()) for path in paths
    ]
    return [gzip.decompress(path.read_bytes()).decode() for path in paths], records


def without_date(text):
    return re.sub(r"_entry\.(author|date|time) .*\n", "", text)


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    return design_as_published(tmp_path_factory.mktemp("whole"), **BINDER)


@pytest.fixture(scope="module")
def direct(engine, tmp_path_factory):
    """Design the same binder with the command line, from our own file with the ion as a separate chain."""
    folder = tmp_path_factory.mktemp("direct")
    lines = [line for line in DNA_COMPLEX.splitlines() if line.startswith(("ATOM", "TER"))]
    ion = next(line for line in DNA_COMPLEX.splitlines() if line.startswith("HETATM"))
    (folder / "complex.pdb").write_text("\n".join([*lines, f"{ion[:21]}Z   1{ion[26:]}", "END", ""]))
    specification = {
        "input": "complex.pdb",
        "contig": "9-12,/0,A5-30,/0,B3-8",
        "length": "41-43",
        "ligand": "Z1",
        "select_fixed_atoms": {"A6": "BKBN", "A10-11": "N,CA,C"},
        "select_hotspots": {"A17": "ALL", "A18": "ALL", "A19": "ALL", "A22": "CZ,NH1"},
        "select_unfixed_sequence": {"A20-21": "ALL"},
        "infer_ori_strategy": "hotspots",
        "is_non_loopy": True,
    }
    return design_directly(engine, folder, specification, "diffusion_batch_size=2", "n_batches=1")


class TestContract(EngineContract):
    engine = "rfdiffusion3"
    needs_seed = True
    short = SMALL | {"designs": 1}
    rare_odd_inputs = tuple(
        odd.name for odd in list_odd_inputs("rfdiffusion3")
    )  # loading PyTorch takes seconds in each


def test_a_binder_and_its_figures_are_those_of_the_program(whole, direct):
    structures, records = direct
    assert len(structures) == 2
    for number, (structure, record) in enumerate(zip(structures, records, strict=True), start=1):
        assert (whole / "outputs" / f"design_{number}.cif").read_text() == without_date(structure)
        told = json.loads((whole / "outputs" / f"design_{number}.json").read_text())
        assert told["metrics"] == record["metrics"]
        assert told["diffused_index_map"] == record["diffused_index_map"]


def test_a_protein_alone_is_that_of_the_program(engine, tmp_path):
    made = design_as_published(tmp_path, None, contig="8-16", guidanceScale=None)
    structures, records = design_directly(
        engine, tmp_path, {"length": "8-16"}, "diffusion_batch_size=1", "n_batches=2"
    )
    texts = [(made / "outputs" / f"design_{number}.cif").read_text() for number in (1, 2)]
    assert texts == list(map(without_date, structures))
    with (made / "outputs" / "designs.csv").open(newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert [float(row["radius_of_gyration"]) for row in rows] == [
        record["metrics"]["radius_of_gyration"] for record in records
    ]
    for row in rows:  # by another program's masses
        assert float(row["radius_of_gyration"]) == pytest.approx(
            measure_gyration(made / "outputs" / row["file"]), rel=1e-4
        )
    assert [len(row["sequence"]) for row in rows] == [record["metrics"]["num_residues"] for record in records]


def measure_gyration(path):
    """Return the radius of gyration in Å of all atoms of a file."""
    structure = gemmi.read_structure(str(path))
    atoms = [each.atom for each in structure[0].all()]
    places = numpy.array([atom.pos.tolist() for atom in atoms])
    masses = numpy.array([atom.element.weight for atom in atoms])
    middle = numpy.average(places, axis=0, weights=masses)
    return numpy.sqrt(numpy.average(((places - middle) ** 2).sum(axis=1), weights=masses))


def find_atoms(structure, chain, number):
    residue = next(each for each in structure[0][chain] if each.seqid.num == number)
    return {atom.name: atom.pos.tolist() for atom in residue}


def superimpose(first, second):
    """Return the RMSD in Å of two sets of points, by gemmi."""
    return gemmi.superpose_positions(
        [gemmi.Position(*each) for each in first], [gemmi.Position(*each) for each in second]
    ).rmsd


def test_what_is_kept_of_the_structure_stays_in_place(whole):
    given = gemmi.read_pdb_string(DNA_COMPLEX)
    given.merge_chain_parts()
    for number in (1, 2):
        made = gemmi.read_structure(str(whole / "outputs" / f"design_{number}.cif"))
        places = json.loads((whole / "outputs" / f"design_{number}.json").read_text())["diffused_index_map"]
        assert len(places) == 32
        first, second = [], []
        for source, target in places.items():
            before = find_atoms(given, source[0], int(source[1:]))
            after = find_atoms(made, target[0], int(target[1:]))
            free = {"A6": 4, "A10": 3, "A11": 3}.get(source)
            if source in ("A20", "A21"):
                continue
            for name in list(before)[:free]:
                first.append(before[name])
                second.append(after[name])
        ion = next(iter(made[0]["Z"]))
        first.append(find_atoms(given, "C", 12)["NA"])
        second.append(ion[0].pos.tolist())
        assert len(first) > 250
        assert superimpose(first, second) < 0.05


def test_the_new_chain_has_a_length_of_the_range_and_total(whole):
    with (whole / "outputs" / "designs.csv").open(newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert [row["file"] for row in rows] == ["design_1.cif", "design_2.cif"]
    for row in rows:
        made = gemmi.read_structure(str(whole / "outputs" / row["file"]))
        sizes = {chain.name: len(chain) for chain in made[0]}
        assert 9 <= sizes["A"] <= 11
        assert (sizes["B"], sizes["C"], sizes["Z"]) == (26, 6, 1)
        assert row["contig"] == f"{sizes['A']},/0,A5-30,/0,B3-8"
        assert [len(each) for each in row["sequence"].split("/")] == [sizes["A"], 26]


def test_the_figures_of_a_run_are_means_of_its_designs(whole):
    score = json.loads((whole / "score.json").read_text())
    with (whole / "outputs" / "designs.csv").open(newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert score["designs"] == 2
    assert score["radius_of_gyration"] == pytest.approx(
        numpy.mean([float(row["radius_of_gyration"]) for row in rows])
    )


def test_a_run_with_stand_ins_shows_no_scores_and_says_so(run):
    assert sorted(path.name for path in run.iterdir()) == [
        "design.json",
        "design_stand_in_1.cif",
        "design_stand_in_2.cif",
        "designs.csv",
        "input.pdb.gz",
    ]
    block = gemmi.cif.read(str(run / "design_stand_in_1.cif")).sole_block()
    assert set(block.find_values("_atom_site.B_iso_or_equiv")) == {"0.00"}
    assert (run / "designs.csv").read_text().splitlines()[0] == "file,contig,sequence"
    assert "stand-in" in json.dumps(read_manifest(run)).lower()
    assert not (run.parent / "score.json").exists()


def test_the_record_names_no_path_of_the_machine(whole):
    for path in (whole / "outputs").glob("*.json"):
        assert str(whole) not in path.read_text()
        assert "ckpt" not in path.read_text()


def test_hotspots_choose_the_origin_and_ligands_are_reported(whole):
    assert json.loads((whole / "used.json").read_text())["settings"] == {"origin": "hotspots"}
    assert json.loads((whole / "notes.json").read_text()) == ["In the designs NA C12 is chain Z."]


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"contig": ""}, "contig is empty"),
        ({"contig": "5,/0"}, "a chain without parts"),
        ({"contig": "0"}, "designs nothing"),
        ({"contig": "20-10"}, "ends before it begins"),
        ({"contig": "5000"}, "up to 5000 residues; this engine takes 1000 at most"),
        ({"contig": "10,Q1-5"}, "no chain Q of protein, DNA or RNA. It has B, C, A"),
        ({"contig": "10,A45-60"}, "has no A52-60. Chain A has A1-51"),
        ({"contig": "10,A5-12,A10-14"}, "names residue A10 twice"),
        ({"contig": "10,A5A-9"}, "insertion code"),
        ({"contig": "10,A-3-9"}, "negative number"),
        ({"contig": "10,AA:3-9"}, "not a single letter"),
        ({"contig": "10D,/0,A5-9"}, "designs proteins"),
        ({"contig": "10,A5;A9"}, "'A5;A9' is neither a length"),
        ({"contig": "10"}, "nothing of it is used"),
        ({"hotspots": {"A": "50"}}, "In hotspots, A50 takes no part in the design"),
        ({"hotspots": {"A": "70"}}, "In hotspots, the structure has no A70"),
        ({"hotspotAtoms": {"A7": "XX"}}, "TYR A7 has no atom XX. It has N, CA"),
        ({"ligands": ["HEM"]}, "no ligand 'HEM'. It has NA C12"),
        ({"fixedAtoms": {"HEM": "FE"}}, "'HEM' is not a ligand of this job"),
        ({"unindexed": "A6"}, "both in the contig and in unindexed"),
        ({"totalLength": "90"}, "totalLength is 90, and the contig makes 20-25 residues"),
        ({"origin": "hotspots"}, "the job names none"),
        ({"guidanceScale": 2}, "none of these is set"),
        ({"partialNoise": 5}, "keeps its length"),
        ({"partialNoise": 5, "contig": "A1-30"}, "Of 3 steps none is left"),
        ({"contig": "A5-19"}, "Nothing is left to design"),
        ({"contig": "1,/0,B1-4"}, "2 amino acids at least"),
        ({"symmetry": "C2"}, "a protein in each of the copies"),
        ({"designs": 3, "batchSize": 2}, "not a multiple of batchSize"),
        ({"unsymmetricParts": ["A5-9"]}, "no symmetry is set"),
        ({"symmetry": "C2", "churn": 0.2}, "above 0.5"),
    ],
)
def test_what_could_not_be_designed_is_refused_with_the_reason(tmp_path, settings, told):
    outcome, _ = design(tmp_path, **{"contig": "5-10,A5-19", **settings})
    assert outcome.state == "failed"
    assert told in outcome.error


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"contig": "10,/0,10"}, "designs one chain"),
        ({"contig": "10", "hotspots": {"A": "3"}}, "hotspots is about a structure"),
        ({"contig": "400", "symmetry": "D2"}, "4 copies of 400"),
        ({"contig": "6", "symmetry": "D2"}, "40 residues at least"),
        ({"contig": "1"}, "2 amino acids at least"),
    ],
)
def test_what_needs_a_structure_is_refused_without_one(tmp_path, settings, told):
    outcome, _ = design(tmp_path, None, **settings)
    assert outcome.state == "failed"
    assert told in outcome.error


def rewrite(change):
    return "\n".join(
        change(line) if line[:4] in ("ATOM", "HETA") else line for line in DNA_COMPLEX.splitlines()
    )


def test_a_gap_and_an_insertion_code_are_reported_where_the_contig_meets_them(tmp_path):
    gap = "\n".join(line for line in DNA_COMPLEX.splitlines() if line[21:26] not in ("A   9", "A  10"))
    outcome, _ = design(tmp_path / "gap", gap, contig="5,A5-19")
    assert "has no A9-10. Chain A has A1-8, A11-51" in outcome.error
    inserted = rewrite(lambda line: f"{line[:22]}   8A{line[27:]}" if line[21:26] == "A   9" else line)
    outcome, _ = design(tmp_path / "inserted", inserted, contig="5,A5-8")
    assert "several residues of the structure have the number of A8" in outcome.error


def test_an_mmcif_file_counts_by_the_chains_and_numbers_that_a_person_sees(tmp_path):
    """By the file's internal names chain A is another one, and its residue 105 is number 5."""
    structure = gemmi.read_pdb_string(DNA_COMPLEX)
    for residue in structure[0]["A"]:
        residue.seqid.num += 100
    structure.setup_entities()
    structure.assign_label_seq_id()
    text = structure.make_mmcif_document().as_string()
    outcome, outputs = design(tmp_path, text, contig="6,A105-109", designs=1)
    assert outcome.state == "succeeded", outcome.error
    made = gemmi.read_structure(str(outputs / "design_stand_in_1.cif"))
    assert [residue.name for residue in made[0]["A"]][6:] == ["THR", "LEU", "TYR", "ASP", "VAL"]


@pytest.mark.parametrize(
    ("settings", "structure", "chains"),
    [
        ({"contig": "2"}, None, {"A": 2}),
        ({"contig": "6", "symmetry": "C3"}, None, {"A": 6, "B": 6, "C": 6}),
        ({"contig": "12", "unindexed": "A17-18 A22", "fixedAtoms": {"A22": "TIP"}}, DNA_COMPLEX, {"A": 12}),
        ({"contig": "8", "ligands": ["C:12"], "buriedAtoms": {"NA": "ALL"}, "guidanceScale": 2}, DNA_COMPLEX, {"A": 8, "Z": 1}),
        ({"contig": "A1-30,/0,B1-11,/0,C1-11", "partialNoise": 5, "redesignedResidues": "A31-51", "steps": 9}, DNA_COMPLEX, {"A": 51, "B": 11, "C": 11}),
        ({"contig": "A5-12", "redesignSideChains": True}, DNA_COMPLEX, {"A": 8}),
        ({"contig": "8,/0,B1-4", "hydrogenBondAcceptors": {"B2": "N7"}, "lowMemory": True, "recycles": 1}, DNA_COMPLEX, {"A": 8, "B": 4}),
    ],
)  # fmt: skip
def test_other_kinds_of_design_are_made(tmp_path, settings, structure, chains):
    outcome, outputs = design(tmp_path, structure, designs=1, **settings)
    assert outcome.state == "succeeded", outcome.error
    made = gemmi.read_structure(str(outputs / "design_stand_in_1.cif"))
    assert {chain.name: len(chain) for chain in made[0]} == chains
