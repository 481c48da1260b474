"""Readers parse any bytes or say which file cannot be read, and never fail otherwise."""

import io
import json
import random
import zipfile

import numpy as np
import pytest
from foreign_archives import CIF_HEAD, npz
from hypothesis import given, settings
from hypothesis import strategies as st
from result_archives import DATA, FV, RECEPTOR, write_zip

from foldnote.errors import UnreadableFileError
from foldnote.results import open_result
from foldnote.results.docking.contacts import CONTACT_A, measure_contacts, read_pocket
from foldnote.results.molecules.molecule_files import read_molecules
from foldnote.results.prediction.score_files import read_score_file
from foldnote.results.sequences.alignment import read_alignment
from foldnote.results.structure.confidence import StatedPlddt, find_confidence
from foldnote.results.structure.formats import find_format, read_structure_text
from foldnote.results.structure.structure import Structure
from foldnote.results.tables.tabular import read_json, read_table


def data(name):
    return (DATA / name).read_bytes()


def read_structure(content, name):
    structure = Structure(name, find_format(name), read_structure_text(content, name), lambda: [CLAIM])
    frame = structure.to_frame()
    assert len(frame) > 0
    assert all(len(chain.sequence) == len(chain) for chain in structure.chains)
    assert structure.mean_plddt is None or 0 <= structure.mean_plddt <= 100
    assert len(structure.ligands) >= 0


def read_receptor(content, name):
    text = read_structure_text(content, name)
    frame = Structure(name, find_format(name, content[:4000]), text).to_frame()
    assert len(frame) > 0


ABL = Structure.open(DATA / "abl_pocket.pdb")
POCKET = read_pocket(ABL)


def read_contacts(content, name):
    """Read contacts and text of the molecules that are left."""
    for molecule in read_molecules(content, name).molecules[:3]:
        contacts = measure_contacts(POCKET, molecule)
        assert contacts["distance"].le(CONTACT_A).all()


CLAIM = StatedPlddt(np.linspace(0, 1, 20), "scores.json")
SCORES = json.dumps(
    {"plddt": [50.5, 60], "pae": [[0.5, 1], [2, 3]], "iptm": 0.5, "chain_pair_iptm": [[1, None]]}
)
MODEL_CIF = CIF_HEAD + (
    "loop_\n_ma_qa_metric_local.label_asym_id\n_ma_qa_metric_local.label_seq_id\n_ma_qa_metric_local.metric_id\n"
    "_ma_qa_metric_local.metric_value\nA 22 1 0.9\n"
)
CASES = {
    "tyr.sdf": (read_molecules, data("tyr.sdf") + b"> <QED>\n0.5\n\n$$$$\n"),
    "tyr_v3000.sdf": (read_molecules, data("tyr_v3000.sdf")),
    "table.sdf": (read_molecules, data("tyr.sdf").replace(b"$$$$", b"> <QED>\n0.5\n\n$$$$")),
    "benzene.mol2": (read_molecules, data("benzene.mol2")),
    "vina_poses.pdbqt": (read_molecules, b"\n".join(data("vina_poses.pdbqt").splitlines()[:40])),
    "receptor.pdbqt": (read_receptor, RECEPTOR.encode()),
    "ligand.sdf": (read_contacts, data("imatinib.sdf")),
    "x.bcif": (read_structure, data("trp_cage_two_models.bcif")),
    "altloc.cif": (read_structure, data("altloc.cif") + b"\n" + MODEL_CIF.encode()),
    "glycan.pdb": (read_structure, data("glycan_insertion_codes.pdb")[: 81 * 60]),
    "clustal.aln": (read_alignment, data("clustal.aln")),
    "x.a3m": (read_alignment, b"#3,2\t2,1\n>query the one\nACDEFGHI\n>near\nACDklEFGH-\n"),
    "x.sto": (read_alignment, b"# STOCKHOLM 1.0\n#=GS a DE first\na ACD\nb A-D\n//\n"),
    "scores.json": (read_score_file, SCORES.encode()),
    "old.json": (read_score_file, b'[{"residue1":[1,1,2,2],"residue2":[1,2,1,2],"distance":[0,1,2,3]}]'),
    "scores.npz": (read_score_file, npz(plddt=np.ones(5), pae=np.ones((2, 2)), ptm=np.array([0.5]))),
    "pae.npy": (read_score_file, npz(pae=np.ones((2, 2)))[40:]),
    "lines.jsonl": (read_table, b'{"a": {"b": 1}}\n{"a": 2}\n'),
    "table.csv": (read_table, b'name,iptm\n"a,b",0.5\nc,0.25\n'),
    "table.tsv": (read_table, b"name\tiptm\na\t0.5\n"),
}
HOSTILE = (
    b"",
    b"\x00" * 4000,
    b"\xff" * 4000,
    b"<script>alert(1)</script>",
    b"999999999 999999999",
    b"-1",
    b"1e400",
    b"NaN",
    b"[" * 3000,
    "\u202e𝔞\ud7ff".encode(),
    b"999999  0  0  0  0  0            999 V2000\n",
    b"\xdf\xff\xff\xff\xff",
    b"\xc6\xff\xff\xff\xff",
)


def attempt(name, content):
    reader = CASES[name][0]
    try:
        reader(content, name)
    except UnreadableFileError as exc:
        assert name in exc.message or "scores" in exc.message
        assert len(exc.message) < 1500
        return False
    return True


@pytest.mark.parametrize("name", CASES)
@settings(max_examples=40, deadline=None)
@given(
    place=st.integers(0, 20_000),
    noise=st.one_of(st.sampled_from(HOSTILE), st.binary(max_size=12)),
    is_cut=st.booleans(),
)
def test_a_file_with_any_bytes_in_it_is_read_or_refused(name, place, noise, is_cut):
    content = CASES[name][1]
    place %= len(content) + 1
    changed = content[:place] + noise + (b"" if is_cut else content[place + len(noise) :])
    assert attempt(name, changed) in (True, False), "only refusals may be raised"


@pytest.mark.parametrize("name", CASES)
def test_shuffled_doubled_and_reversed_lines_are_read_or_refused(name):
    lines = CASES[name][1].splitlines(keepends=True)
    shuffled = random.Random(1).sample(lines, len(lines))

    for content in (shuffled, lines[::-1], lines * 2, lines[1:], lines[:1] * 50):
        assert attempt(name, b"".join(content)) in (True, False), "only refusals may be raised"


@pytest.mark.parametrize("name", CASES)
def test_the_original_files_are_read(name):
    assert attempt(name, CASES[name][1]) is (name != "pae.npy"), "pae.npy starts in the middle of a file"


@settings(max_examples=60, deadline=None)
@given(st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=4)
    | st.dictionaries(
        st.sampled_from(["pae", "plddt", "order", "chain_iptm", "distance", "residue1", "residue2", "iptm", "0", "x"]),
        inner,
        max_size=5,
    ),
    max_leaves=25,
))  # fmt: skip
def test_score_files_of_any_shape_leave_a_model_that_can_be_asked(tmp_path_factory, content):
    folder = tmp_path_factory.mktemp("json")
    members = {
        "x_rank_1.pdb": FV,
        "x_scores_rank_1.json": json.dumps(content),
        "ranking_debug.json": json.dumps(content),
    }
    result = open_result(write_zip(folder / "r.zip", members))

    (model,) = result.models
    assert model.pae is None or model.pae.matrix.ndim == 2
    assert model.confidence is None or 0 <= model.confidence.mean <= 100
    assert isinstance(dict(model.chain_scores), dict)
    assert len(result.model_table) == 1


@settings(deadline=None)
@given(st.lists(st.floats(), max_size=40))
def test_claims_of_any_values_are_weighed(values):
    structure = Structure("x.pdb", "pdb", FV).to_gemmi()
    claim = StatedPlddt(np.array(values * 6)[:227], "x.json")

    found = find_confidence(structure, FV, "pdb", lambda: [claim])

    assert found is None or 0 <= found.mean <= 100


def test_a_small_file_cannot_ask_for_much_memory():
    import tracemalloc

    huge_npy = (
        b"\x93NUMPY\x01\x00v\x00{'descr': '<f8', 'fortran_order': False, 'shape': (100000000000,), }".ljust(
            128
        )
    )
    tracemalloc.start()
    with pytest.raises(UnreadableFileError):
        read_score_file(huge_npy + b"\n", "pae.npy")
    with pytest.raises(UnreadableFileError):
        read_molecules(b"\n\n\n999999  0  0  0  0  0            999 V2000\n", "x.sdf")
    with pytest.raises(UnreadableFileError):
        read_structure_text(b"\x81\xaadataBlocks\xdd\x7f\xff\xff\xff", "x.bcif")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()

    assert peak < 10 * 1024**2


def test_an_npz_of_many_arrays_that_pack_well_is_refused():
    bomb = io.BytesIO()
    with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as archive:
        for number in range(12):
            archive.writestr(f"a{number}.npy", bytes(8 * 1024**2))
    with pytest.raises(UnreadableFileError, match=r"s\.npz.*expand to 100,663,296"):
        read_score_file(bomb.getvalue(), "s.npz")


@pytest.mark.parametrize("text", [b"[" + b"{}," * 5_000_000 + b"1]", b"[" + b"1," * 50_000_001 + b"1]"])
def test_json_that_takes_far_more_memory_than_bytes_is_refused(text):
    with pytest.raises(UnreadableFileError, match=r"pae\.json has too many values"):
        read_json(text, "pae.json")
