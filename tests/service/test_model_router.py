"""POST /model-router over HTTP."""

import time

import pytest
from starlette.testclient import TestClient

from foldnote.catalog.json_values import MAX_TEXT_LENGTH
from foldnote.service.config import ServiceConfig
from foldnote.service.http.app import create_app

PROTEIN = "MKTAYIAKQRQISFVKSHFSRQLEERLGLIEVQAPILSRVGDGTQDNLSGAEKAVQVKVK"


@pytest.fixture(scope="module")
def local(tmp_path_factory):
    config = ServiceConfig(tmp_path_factory.mktemp("router"), rate_limit=False, has_dispatcher=False)
    with TestClient(create_app(config)) as client:
        client.headers["x-api-key"] = client.app.state.service.local_key
        yield client


def ask(client, prompt, **more):
    return client.post("/model-router", json={"prompt": prompt} | more)


def test_the_answer_has_the_shape_of_the_interface(local):
    answer = ask(local, f"Predict the structure of {PROTEIN}")
    assert answer.status_code == 200
    body = answer.json()
    assert set(body) >= {"tools", "abstain", "summary"}
    assert body["abstain"] is False
    assert [set(row) for row in body["tools"]] == [{"toolId", "reason"}] * len(body["tools"])
    assert body["detected"] == [{"kind": "protein", "form": "sequence", "length": 60}]


@pytest.mark.parametrize(
    ("prompt", "tool", "function"),
    [
        ("Humanize my nanobody", "abnativ", "humanization"),
        ("Design a peptide that is a binder of my protein", "afcycdesign", "binder-design"),
    ],
    ids=["humanization", "binders"],
)
def test_a_tool_is_not_offered_for_what_its_engine_refuses(local, prompt, tool, function):
    assert tool not in [row["toolId"] for row in ask(local, prompt).json()["tools"]]
    (row,) = [row for row in local.get("/tools").json() if row["type"] == tool]
    assert row["functions"]
    assert function not in row["functions"]


def test_a_task_that_no_tool_here_performs_is_named(local):
    assert (
        "No tool here does humanization for what you describe."
        in ask(local, "Humanize my nanobody").json()["summary"]
    )
    both = ask(local, "Humanize my antibody and predict its structure").json()
    assert both["tools"]
    assert both["summary"].endswith(" No tool here does humanization.")


def test_it_abstains_with_200(local):
    body = ask(local, "hello").json()
    assert (body["tools"], body["abstain"]) == ([], True)


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({}, "inputs.0"),
        ({"sequence": PROTEIN, "smiles": "CCO"}, "inputs.0"),
        ({"sequence": "not one!"}, "inputs.0.sequence"),
        ({"sequence": " "}, "inputs.0.sequence"),
        ({"smiles": ""}, "inputs.0.smiles"),
        ({"smiles": "ethanol"}, "inputs.0.smiles"),
        ({"ccd": "\n"}, "inputs.0.ccd"),
        ({"ccd": "TOOLONG"}, "inputs.0.ccd"),
        ({"sequence": PROTEIN, "role": "friend"}, "inputs.0.role"),
        (7, "inputs.0"),
    ],
)
def test_an_input_is_exactly_one_molecule(local, given, field):
    answer = ask(local, "predict the structure", inputs=[given])
    assert (answer.status_code, answer.json()["field"]) == (400, field)


@pytest.mark.parametrize(
    "given", [{"smiles": "CCO"}, {"ccd": "atp"}, {"sequence": PROTEIN, "role": "target"}]
)
def test_each_kind_of_input_is_used(local, given):
    assert len(ask(local, "predict", inputs=[given]).json()["detected"]) == 1


def test_the_longest_prompt_takes_no_long_time(local):
    prompt = ("predict the structure " * 5_000)[:MAX_TEXT_LENGTH]
    began = time.process_time()
    assert ask(local, prompt).status_code == 200
    assert time.process_time() - began < 2


def test_a_longer_prompt_is_refused(local):
    answer = ask(local, "A" * (MAX_TEXT_LENGTH + 1))
    assert (answer.status_code, answer.json()["field"]) == (400, "prompt")
    assert str(MAX_TEXT_LENGTH) in answer.json()["error"].replace(",", "")


def test_it_can_be_disabled(tmp_path):
    config = ServiceConfig(tmp_path, has_dispatcher=False, has_router=False)
    with TestClient(create_app(config)) as client:
        answer = client.post(
            "/model-router", headers={"x-api-key": client.app.state.service.local_key}, json={}
        )
        assert (answer.status_code, answer.json()["code"]) == (403, "router_disabled")
