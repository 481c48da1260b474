"""Parsers of fields accept any typed, pasted or given value or say why not; their output parses to itself."""

import gemmi
from form_builders import make_form
from hypothesis import given, settings
from hypothesis import strategies as st

from foldnote.client.inputs.plain_values import make_plain
from foldnote.forms.biology.residue_text import read_residues
from foldnote.forms.files.structure_outline import find_outline
from foldnote.forms.schema.spec import MISSING

TEXTS = st.text(st.sampled_from("0123456789 -–.,;:AaZz[]()+eE\t\n²１"), max_size=24) | st.text(max_size=24)
NUMBERS = st.integers(-9999, 9999)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda items: st.lists(items) | st.dictionaries(st.text(), items),
    max_leaves=20,
)
CHAIN_NAMES = st.sampled_from([*"AaZ19", " "])
POINT = {"type": "array", "items": {"type": "number"}, "minItems": 3, "maxItems": 3}
BOX = make_form({"size": POINT | {"x-foldnote": {"role": "box-size"}}})
FILE = {"type": "string", "x-foldnote": {"role": "file", "extensions": ["pdb"]}}
CHAINS = {"type": "array", "items": {"type": "string"}, "x-foldnote": {"role": "chains", "of": "target"}}
STRUCTURE = make_form({"target": FILE, "chains": CHAINS})


@given(TEXTS)
def test_residues_are_read_or_refused_and_read_again_as_they_are(text):
    read = read_residues(text)
    assert not (read.fault and read.residues)
    again = read_residues(" ".join(read.residues))
    assert again.residues == read.residues


@given(st.lists(st.tuples(NUMBERS, st.sampled_from(["", "A", "b"])), unique=True, max_size=6))
def test_residues_are_separated_by_any_of_the_usual_signs(numbers):
    written = [f"{number}{code}" for number, code in numbers]
    for sign in (" ", ",", ", ", ";", "\n"):
        assert list(read_residues(sign.join(written)).residues) == written


@given(st.lists(TEXTS, min_size=3, max_size=3))
def test_numbers_of_a_box_are_read_or_refused(texts):
    field = BOX.fields["size"]
    for box, text in zip(field.boxes, texts, strict=True):
        box.value = text
    read = field.read()
    assert read.errors or read.value is field.blank or len(read.value) == 3


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=3, max_size=3))
def test_three_numbers_pasted_in_any_notation_are_these_numbers(numbers):
    field = BOX.fields["size"]
    for text in (
        repr(numbers),
        repr(tuple(numbers)),
        " ".join(map(repr, numbers)),
        ";".join(map(repr, numbers)),
    ):
        field.clear()
        field.boxes[1].value = text
        assert field.read().value == numbers


@settings(max_examples=40)
@given(st.lists(st.tuples(CHAIN_NAMES, NUMBERS), min_size=1, max_size=8), TEXTS)
def test_chains_of_any_file_are_offered_or_reported_and_any_text_about_them_is_read(residues, typed):
    pdb = "".join(
        f"ATOM  {i:5d}  CA  ALA {chain}{number:4d}    {i:8.3f}{0:8.3f}{0:8.3f}  1.00 50.00           C  \n"
        for i, (chain, number) in enumerate(residues, 1)
    )
    outline = find_outline(pdb)
    names = {chain for chain, _ in residues}
    assert {chain.name for chain in outline.chains} == names - {" "}
    assert outline.unnamed == (" " in names)
    mmcif = gemmi.read_pdb_string(pdb).make_mmcif_document().as_string()
    if " " not in names:
        assert {chain.name for chain in find_outline(f"# a comment\n{mmcif}").chains} == names
    STRUCTURE.set(target=pdb)
    STRUCTURE.fields["chains"].control.value = typed
    read = STRUCTURE.fields["chains"].read()
    assert read.errors or read.readout or read.value is MISSING or not outline.chains


@given(JSON)
def test_plain_values_are_returned_themselves(value):
    assert make_plain(value) is value
