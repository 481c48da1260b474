"""AlphaCutter's algorithm on a model of the AlphaFold database, compared with the authors' program, and on odd files."""

import gemmi
import pytest
from engine_contract import EngineContract
from protein_inputs import (
    TRP_CAGE,
    join,
    read_atoms,
    read_notes,
    read_packed,
    read_score,
    read_table,
    renumber,
    set_b_factors,
    shift,
)
from real_engine import load_engines, run_engine

from foldnote import catalog

MODEL = read_packed("af-a0a0a2jw93-f1-model_v4.pdb.gz")
ATOMS = read_atoms(MODEL)
CAGE = read_atoms(TRP_CAGE)

pytestmark = [
    pytest.mark.engine,
    pytest.mark.extra_engine,
    pytest.mark.skipif(
        not load_engines()["alphacutter"].state().installed,
        reason="needs: foldnote engines install alphacutter",
    ),
]


def cut(folder, text, **settings):
    given = catalog.default_settings(catalog.tool("alphacutter")) | settings
    return run_engine("alphacutter", folder, given, texts={"pdbFile": text})


def cut_well(folder, text, **settings):
    outcome, outputs = cut(folder, text, **settings)
    assert outcome.state == "succeeded", outcome.error
    return outputs


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return cut_well(tmp_path_factory.mktemp("model"), MODEL, domain_out=True, single_out=True)


class TestContract(EngineContract):
    engine = "alphacutter"
    needs_seed = False
    long_setting = "pdbFile"


THEIRS = [
    ("domain", 1, 317),
    ("loop", 318, 338),
    ("domain", 339, 343),
    ("loop", 344, 414),
    ("domain", 415, 953),
]
"""AlphaCutter 1.11 with its defaults, on mkdssp 4.2.2 with polyproline helices as loops, as DSSP 3.0 has them."""


def read_regions(outputs):
    return read_table(outputs / "regions.csv")


def test_regions_are_those_of_the_authors_program(run):
    """Except for residues at which the program counts local contacts on one side only: see the engine's note."""
    rows = read_regions(run)
    assert [row["kind"].replace("fragment", "domain") for row in rows] == [kind for kind, _, _ in THEIRS]
    for row, (_, start, end) in zip(rows, THEIRS, strict=True):
        assert abs(int(row["start"]) - start) <= 5
        assert abs(int(row["end"]) - end) <= 5
    assert [row["domain"] for row in rows] == ["1", "", "2", "", "3"]
    assert [float(row["mean_plddt"]) for row in rows[::4]] == pytest.approx([90.49, 87.11], abs=0.5)


def test_regions_cover_every_residue_once_and_say_why_they_were_removed(run):
    rows, details = read_regions(run), read_table(run / "residues.csv")
    assert sum(int(row["residues"]) for row in rows) == len(details) == 953
    assert [int(row["start"]) for row in rows[1:]] == [int(row["end"]) + 1 for row in rows[:-1]]
    assert {row["kept"]: bool(row["reason"]) for row in rows} == {"yes": False, "no": True}
    assert rows[1]["reason"] == "non-globular loop: 20 residues without a non-local contact"
    removed = [row for row in details if not row["domain"]]
    assert {(row["secondary"], row["far_contacts"]) for row in removed} == {("-", "0")}


def test_files_of_domains_have_their_residues_and_the_given_plddt(run):
    names = sorted(path.name for path in run.glob("domain_*.pdb"))
    assert [name.split("_")[1] for name in names] == ["1", "2", "3"]
    given = {str(residue.seqid): residue["CA"][0].b_iso for residue in gemmi.read_pdb_string(MODEL)[0]["A"]}
    kept = []
    for name in names:
        (chain,) = gemmi.read_pdb(str(run / name))[0]
        kept += [str(residue.seqid) for residue in chain]
        assert all(residue["CA"][0].b_iso == given[str(residue.seqid)] for residue in chain)
        assert name.endswith(f"_A{chain[0].seqid}-{chain[-1].seqid}.pdb")
    (merged,) = gemmi.read_pdb(str(run / "merged.pdb"))[0]
    assert [str(residue.seqid) for residue in merged] == kept
    assert len(kept) == read_score(run)["keptResidues"]


def test_the_b_factor_of_the_coloured_structure_is_the_domain(run):
    text = (run / "domains.pdb").read_text()
    domains = {row["number"]: float(row["domain"] or 0) for row in read_table(run / "residues.csv")}
    assert "B-FACTOR COLUMN: NUMBER OF THE DOMAIN" in text
    assert "ALPHAFOLD" not in text
    for residue in gemmi.read_pdb_string(text)[0]["A"]:
        assert {atom.b_iso for atom in residue} == {domains[str(residue.seqid)]}


def test_without_domain_out_and_single_out_there_are_no_such_files(tmp_path):
    outputs = cut_well(tmp_path, TRP_CAGE)
    assert not [*outputs.glob("domain_*"), *outputs.glob("merged*")]
    assert (outputs / "domains.pdb").exists()


def test_minima_drop_fragments_domains_and_low_plddt_with_the_reason(tmp_path):
    def list_reasons(name, **settings):
        rows = read_regions(cut_well(tmp_path / name, MODEL, **settings))
        return [row["reason"] for row in rows if row["kind"] == "fragment" and row["reason"]]

    assert list_reasons("fragment", fragment_min=6) == ["fragment of fewer than 6 residues"]
    assert list_reasons("domain", domain_min=6) == ["domain of 5 residues, fewer than 6"]
    assert list_reasons("plddt", pLDDT_min=50) == ["domain with a mean pLDDT of 27.1, below 50"]


def test_longer_minima_cut_less_and_shorter_ones_more(tmp_path):
    def count(name, **settings):
        return read_score(cut_well(tmp_path / name, MODEL, **settings))

    assert count("long", loop_min=75)["removedLoops"] == 0
    assert count("short", loop_min=1, fragment_min=0)["removedLoops"] > 20
    assert count("zero", loop_min=0, fragment_min=0) == count("one", loop_min=1, fragment_min=0)
    assert count("wide", local_contact_range=2000)["removedHelices"] == 1
    assert count("helices", local_contact_range=2000, helix_min=10)["removedHelices"] > 10


def test_a_chain_that_touches_another_is_kept_where_it_is_removed_alone(tmp_path):
    """A helix of 30 residues has no non-local contact until another one is beside it."""
    helix = make_helix(32)
    alone = cut_well(tmp_path / "alone", join(helix))
    assert read_score(alone)["removedHelices"] == 1
    assert read_regions(alone)[-1]["reason"] or read_regions(alone)[1]["reason"]
    pair = cut_well(tmp_path / "pair", join(helix, shift(helix, "B", 8.0)))
    assert read_score(pair)["removedHelices"] == 0
    rows = read_regions(pair)
    assert [(row["chain"], row["domain"]) for row in rows] == [("A", "1"), ("B", "1")]
    apart = cut_well(tmp_path / "apart", join(helix, shift(helix, "B", 60.0)))
    assert read_score(apart)["removedHelices"] == 2


def make_helix(length):
    """Return an ideal α-helix of alanines along z, with the coordinates of Arnott and Dover's poly-L-alanine."""
    import math

    atoms = {"N": (1.55, 27.5, -0.89), "CA": (2.29, 0.0, 0.0), "C": (1.68, -26.5, 1.11)}
    atoms |= {"O": (2.03, -29.8, 2.30), "CB": (3.30, 20.6, 0.95)}
    lines = []
    for index in range(length):
        for name, (radius, angle, height) in atoms.items():
            turn = math.radians(100.0 * index - angle)
            x, y, z = radius * math.cos(turn), radius * math.sin(turn), height + 1.5 * index
            place = f"{x:8.3f}{y:8.3f}{z:8.3f}"
            plddt = 60.0 + index
            lines.append(
                f"ATOM  {len(lines) + 1:5}  {name:<3} ALA A{index + 1:4}    {place}  1.00{plddt:6.2f}          {name[0]:>2}"
            )
    return lines


def test_breaks_and_insertion_codes_are_taken(tmp_path):
    kept = [line for line in ATOMS if not 100 <= int(line[22:26]) <= 140]
    outputs = cut_well(tmp_path, join(renumber(kept, {"12": "11A", "13": "11B"})))
    rows = read_regions(outputs)
    assert [(row["start"], row["end"]) for row in rows[:2]] == [("1", "99"), ("141", rows[1]["end"])]
    assert rows[0]["domain"] == rows[1]["domain"] == "1"
    numbers = [row["number"] for row in read_table(outputs / "residues.csv")]
    assert numbers[9:15] == ["10", "11", "11A", "11B", "14", "15"]


def test_of_several_models_the_first_is_used_and_other_residues_are_named(tmp_path):
    ligand = [f"HETATM{line[6:17]}LIG{line[20:]}" for line in CAGE if line[22:26].strip() == "7"]
    models = ["MODEL        1", *CAGE, *ligand, "ENDMDL", "MODEL        2", *shift(CAGE, "A", 5), "ENDMDL"]
    outputs = cut_well(tmp_path, join(models))
    assert "The file has 2 models; the first was used." in read_notes(outputs)
    assert "not standard amino acids of a chain: 1 LIG" in read_notes(outputs)
    assert read_score(outputs)["residues"] == 20


def test_an_experiment_has_no_plddt_and_shares_are_taken_for_it(tmp_path):
    experiment = "EXPDTA    X-RAY DIFFRACTION\n" + MODEL[MODEL.index("ATOM") :]
    outcome, _ = cut(tmp_path / "refused", experiment, pLDDT_min=50)
    assert outcome.state == "failed"
    assert "the file names an experiment" in outcome.error
    outputs = cut_well(tmp_path / "told", experiment, single_out=True)
    assert "The file names an experiment" in read_notes(outputs)
    assert "PLDDT" not in (outputs / "merged.pdb").read_text()
    shares = [f"{line[:60]}{float(line[60:66]) / 100:6.2f}{line[66:]}" for line in ATOMS]
    outputs = cut_well(tmp_path / "shares", join(shares), pLDDT_min=50)
    assert "taken for pLDDT divided by 100" in read_notes(outputs)
    assert read_score(outputs)["givenMeanPlddt"] == pytest.approx(81.66, abs=0.3)


def test_windows_line_ends_change_nothing(tmp_path, run):
    outputs = cut_well(tmp_path, MODEL.replace("\n", "\r\n"))
    assert (outputs / "regions.csv").read_text() == (run / "regions.csv").read_text()


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "The file is empty"),
        ("END\n", "has no atoms"),
        (join([line for line in ATOMS if line[12:16].strip() == "CA"]), "lack atoms of the backbone"),
        (join([f"HETATM{line[6:17]}HOH{line[20:]}" for line in CAGE]), "has no protein"),
    ],
    ids=["empty", "no-atoms", "c-alpha", "waters"],
)
def test_what_cannot_be_cut_is_a_plain_sentence(tmp_path, text, sentence):
    outcome, _ = cut(tmp_path, text)
    assert outcome.state == "failed"
    assert sentence in outcome.error


def test_a_constant_value_is_not_a_plddt(tmp_path):
    outcome, _ = cut(tmp_path, join(set_b_factors(CAGE, 0.0)), pLDDT_min=1)
    assert outcome.state == "failed"
    assert "has one value throughout" in outcome.error
