"""A residue field of a form and an explorer's selection follow each other."""

import asyncio
from pathlib import Path

import pytest

import foldnote as fn
from foldnote.errors import ArgumentError, ResultError
from foldnote.results import Structure
from foldnote.viewers.explorer.explorer import explore
from foldnote.viewers.explorer.image_requests import ImageRequester, make_request

FV = (Path(__file__).parents[1] / "results" / "data" / "trastuzumab_fv_ca.pdb").read_text()


@pytest.fixture
def explorer():
    return explore(Structure("fv.pdb", "pdb", FV))


def make_form(**values):
    """Return a form with a field for residues of all chains, and one for those of a single chain."""
    role = {"role": "residues", "of": "structure"}
    schema = {
        "type": "object",
        "properties": {
            "designed": {
                "type": "object",
                "additionalProperties": {"type": "string"},
                "x-foldnote": role,
            },
            "chain": {"type": "string", "x-foldnote": {"role": "chain", "of": "structure"}},
            "fixed": {"type": "string", "x-foldnote": {**role, "chain": "chain"}},
            "name": {"type": "string"},
        },
    }
    return fn.form(schema, **values)


def test_chosen_residues_fill_a_field_chain_by_chain(explorer):
    form = make_form()
    explorer.fill(form, "designed")
    explorer.selection = [("L", "50"), ("H", "105"), ("H", "106")]
    assert form.value["designed"] == {"H": "105 106", "L": "50"}
    explorer.selection = []
    assert "designed" not in form.value


def test_what_a_field_holds_is_chosen_and_so_is_what_is_typed_into_it(explorer):
    form = make_form(designed={"H": "5-7"})
    explorer.fill(form, "designed")
    assert explorer.text == "H:5-7"
    form.fields["designed"].control.value = "L: 1 2"
    assert explorer.text == "L:1-2"
    form.set(designed={"H": "9", "L": "3"})
    assert explorer.selection == [("H", "9"), ("L", "3")]


def test_what_is_half_typed_changes_no_choice(explorer):
    form = make_form(designed={"H": "5"})
    explorer.fill(form, "designed")
    form.fields["designed"].control.value = "H: 5 six"
    assert explorer.text == "H:5"


def test_a_field_for_one_chain_takes_its_residues_and_names_the_chain(explorer):
    form = make_form()
    explorer.fill(form, "fixed")
    explorer.select("L", [24, 25])
    assert (form.value["chain"], form.value["fixed"]) == ("L", "24 25")
    explorer.selection = [("H", "5"), ("L", "26")]
    assert form.value["fixed"] == "26", "the chain named by the form stays"
    assert explorer.text == "L:26"


def test_what_was_chosen_before_fills_an_empty_field(explorer):
    form = make_form()
    explorer.select("H", [5])
    explorer.fill(form, "designed")
    assert form.value["designed"] == {"H": "5"}


def test_only_a_field_for_residues_is_filled(explorer):
    with pytest.raises(ArgumentError, match=r"is not a residue field. Residue fields: designed, fixed"):
        explorer.fill(make_form(), "name")
    with pytest.raises(ArgumentError, match="no field 'other'"):
        explorer.fill(make_form(), "other")


@pytest.mark.parametrize(
    "wrong", [{"width_px": 9000}, {"height_px": 2}, {"dpi": 0}, {"background": "checked"}]
)
async def test_a_picture_that_cannot_be_drawn_is_not_asked_for(explorer, wrong):
    with pytest.raises(ArgumentError):
        await explorer.picture(**wrong)


async def test_a_picture_comes_from_the_page_or_the_page_says_why_not(explorer, monkeypatch):
    sent = []
    monkeypatch.setattr(explorer, "send", sent.append)
    answers = [asyncio.create_task(explorer.picture(background="transparent")) for _ in range(2)]
    while len(sent) < 2:
        await asyncio.sleep(0)
    assert sent[0]["wish"] == {"width": 1600, "height": 1200, "dpi": 300, "ground": "none"}
    answer(explorer, {"kind": "picture", "key": sent[0]["key"]}, b"png")
    answer(explorer, {"kind": "picture", "key": sent[1]["key"], "fault": "no WebGL"})
    assert await answers[0] == b"png"
    with pytest.raises(ResultError, match="no WebGL"):
        await answers[1]


def answer(widget, content, *buffers):
    """Deliver the page's message to the widget as the kernel does."""
    data = {"method": "custom", "content": content}
    widget.comm.handle_msg({"content": {"data": data}, "buffers": [memoryview(b) for b in buffers]})


async def test_without_a_page_the_error_says_what_to_do(explorer):
    with pytest.raises(ResultError, match="Show the explorer in a cell"):
        await ImageRequester(explorer).request(make_request(800, 600, 300, "seen"), wait_s=0.05)
