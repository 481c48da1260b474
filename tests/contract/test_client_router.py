"""Recommendations through the client: of our service, and in the shapes of others' responses."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scripted_service import answers

from foldnote.errors import GatewayForbiddenError, ProtocolError, RouterDisabledError, SettingsError
from foldnote.models import Recommendation, read_recommendation

HEAVY = "EVQLVESGGGLVQPGGSLRLSCAASGFNIKDTYIHWVRQAPGKGLEWVARIYPTNGYTRYADSVKGRFTISADTSKNTAYLQMNSLRAEDTAVYYCSRWGGDGFYAMDYWGQGTLVTVSS"


async def test_a_described_task_gives_tools_with_reasons_best_first(api, settle):
    found = await settle(api.router.ask("Predict the structure of an antibody from its two chains"))
    assert "abodybuilder" in [row.tool_id for row in found.tools]
    assert all(row.reason for row in found.tools)
    assert not found.abstain
    frame = found.to_frame()
    assert (frame.index.name, list(frame.columns)) == ("rank", ["tool", "reason"])


def test_a_sequence_in_the_words_and_one_beside_them_are_seen(client):
    asked = client.router.ask(f"Number this: {HEAVY}", inputs=[{"smiles": "CCO", "role": "target"}])
    assert {molecule.form for molecule in asked.detected} == {"sequence", "SMILES"}
    assert "sequence, 120 long" in repr(asked)


def test_an_unclear_task_gets_no_recommendation_but_what_is_missing(client):
    found = client.router.ask("Book me a table for two")
    assert found.abstain
    assert found.tools == ()
    assert found.summary
    assert repr(found).startswith("Nothing is recommended.")
    assert found.to_frame().empty


@pytest.mark.parametrize(
    ("prompt", "inputs", "field"),
    [
        (" ", [], "prompt"),
        ("x", [{"sequence": "A", "smiles": "C"}], "input 1: "),
        ("x", [{"sequence": "A"}, {"role": "heavy"}], "input 2: "),
        ("x", [{"sequence": "A", "role": "hero"}], "input 1, role: "),
        ("x", [{"sequence": "A", "name": "n"}], "input 1: "),
    ],
)
def test_a_wrong_input_is_refused_before_anything_is_sent(scripted, connect, prompt, inputs, field):
    with pytest.raises(SettingsError, match=field):
        connect().router.ask(prompt, inputs)
    assert scripted.asked == []


@pytest.mark.parametrize(
    ("said", "kind"),
    [({"error": "Not for you."}, RouterDisabledError), ({"message": "Forbidden"}, GatewayForbiddenError)],
)
def test_a_router_that_is_off_is_distinguished_from_a_gateway(scripted, connect, said, kind):
    scripted.on("POST", "/model-router", answers(said, 403))
    with pytest.raises(kind):
        connect().router.ask("dock")


ROW = {"toolId": "anarci", "reason": "It numbers."}


@pytest.mark.parametrize(
    "said",
    [
        {"tools": [ROW], "abstain": False, "summary": "s"},
        {"Tools": [{"ToolId": "anarci", "Reason": "It numbers."}]},
        {"recommendations": [{"tool": "anarci", "reason": "It numbers."}]},
        [ROW],
        json.dumps({"tools": [ROW]}),
        json.dumps(json.dumps([ROW])),
    ],
)
def test_an_answer_in_each_shape(scripted, connect, said):
    scripted.on("POST", "/model-router", answers(said))
    found = connect().router.ask("number")
    assert [(row.tool_id, row.reason) for row in found.tools] == [("anarci", "It numbers.")]
    assert not found.abstain


def test_bare_names_and_unknown_fields(scripted, connect):
    scripted.on("POST", "/model-router", answers({"tools": ["anarci"], "cost": [1]}))
    found = connect().router.ask("number")
    assert found.tools[0].tool_id == "anarci"
    assert found.model_extra["cost"] == [1]


def test_a_cell_shows_a_table_with_everything_escaped():
    row = {"toolId": "a", "reason": "<b>bold</b>"}
    html = Recommendation.model_validate({"tools": [row], "summary": "<i>"})._repr_html_()
    assert "<b>bold" not in html
    assert "&lt;b&gt;bold" in html
    assert "<i>" not in html


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=8,
)
KEYS = st.sampled_from(["tools", "Tools", "abstain", "summary", "detected", "toolId", "reason", "x"])


@given(
    st.dictionaries(KEYS, JSON | st.lists(st.dictionaries(KEYS, JSON, max_size=3), max_size=2), max_size=4)
    | JSON
)
def test_any_json_is_a_recommendation_or_a_protocol_error(answer):
    try:
        assert repr(read_recommendation(answer)) is not None
    except ProtocolError as exc:
        assert exc.message
