"""A node's report of an attempt is stored as the engine wrote it."""

import json
from dataclasses import fields

import foldnote.service.http.routes.paths  # noqa: F401 - registers the routes' parameter type
from foldnote.service.http.routes.nodes import OutcomeBody
from foldnote.service.runner.attempt import Outcome
from foldnote.service.runner.publishing import read_score


def test_figures_of_a_node_are_those_of_a_run_at_the_service(tmp_path):
    """Nodes used to report ``true`` as 1."""
    figures = {"converged": True, "failed": False, "rounds": 1, "none": 0, "share": 1.0, "text": "true"}
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "score.json").write_text(json.dumps(figures))
    own = read_score(tmp_path).figures
    told = OutcomeBody.model_validate({"state": "succeeded", "nonce": "n", "score": own}).score

    assert json.dumps(told) == json.dumps(own) == json.dumps(figures)


def test_a_node_may_report_every_field_of_an_outcome():
    assert set(OutcomeBody.model_fields) == {field.name for field in fields(Outcome)}
