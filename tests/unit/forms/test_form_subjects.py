"""Arguments of ``fn.form``: a tool, a job, a schema as a mapping or a file."""

import json
import sys
import types

import pytest
from engine_folder import write_probe_engine
from starlette.testclient import TestClient

from foldnote.client import Client
from foldnote.errors import FoldnoteError
from foldnote.forms import SchemaForm
from foldnote.notebook import connection, forms
from foldnote.service.config import ServiceConfig
from foldnote.service.http.app import create_app

URL = "http://service.test"
ABB = {"heavy": "EVQLVESGGGLVQPGG", "light": "DIQMTQSPSSLSASVG"}
SCHEMA = {"type": "object", "properties": {"a": {"type": "integer", "default": 1}, "b": {"type": "string"}}}


@pytest.fixture
def client(tmp_path, monkeypatch):
    """Return a client, used by ``fn.form``, of a service whose jobs stay in its queue."""
    engines = write_probe_engine(tmp_path / "engines", ("abodybuilder",))
    config = ServiceConfig(
        tmp_path / "data", rate_limit=False, engine_paths=(engines,), has_dispatcher=False, public_url=URL
    )
    app = create_app(config)
    with TestClient(app, base_url=URL) as http_client:
        key = app.state.service.local_key
        with Client(base_url=URL, api_key=key, http_client=http_client) as made:
            monkeypatch.setattr(connection, "find_client", lambda _profile: made)
            yield made


def test_an_old_job_opens_with_its_settings_and_values_beside_it_win(client):
    job = client.jobs.submit("abodybuilder", ABB)
    form = forms.form(job, light="DIQ")
    assert form.value == ABB | {"light": "DIQ"}
    assert f"These are the settings of {job.job_name}." in form.frame.message.value


def test_settings_that_the_tool_does_not_have_any_more_are_named(client, monkeypatch):
    job = client.jobs.submit("abodybuilder", ABB)
    old = job.record.model_copy(update={"settings": {**ABB, "gone": 1}})
    monkeypatch.setattr(type(job), "record", old)
    form = forms.form(job)
    assert "gone was omitted" in form.frame.message.value
    assert form.value == ABB


def test_a_jobs_name_is_taken_under_both_words(client):
    assert forms.form("abodybuilder", name="fv-1", **ABB).job_name == "fv-1"
    assert forms.form("abodybuilder", job_name="fv-2", **ABB).submit().job_name == "fv-2"


def test_a_batch_does_not_give_settings_of_one_job(client):
    batch = client.batches.submit("abodybuilder", [ABB, ABB | {"light": "DIQ"}])
    with pytest.raises(FoldnoteError, match="is a batch"):
        forms.form(client.jobs.get(batch.job_name))


def test_a_schema_opens_from_a_mapping_or_a_file_with_its_defaults(tmp_path):
    path = tmp_path / "settings.json"
    path.write_text(json.dumps(SCHEMA))
    for subject in (SCHEMA, path, str(path)):
        form = forms.form(subject, b="x")
        assert isinstance(form, SchemaForm)
        assert form.value == {"a": 1, "b": "x"}


def test_a_file_that_holds_no_schema_is_named(tmp_path):
    path = tmp_path / "settings.json"
    with pytest.raises(FoldnoteError, match="could not be read"):
        forms.form(path)
    path.write_text("[1]")
    with pytest.raises(FoldnoteError, match="is not a JSON Schema"):
        forms.form(path)


def test_a_form_in_marimo_says_that_it_needs_a_jupyter_kernel(monkeypatch):
    marimo = types.ModuleType("marimo")
    marimo.running_in_notebook = lambda: True
    monkeypatch.setitem(sys.modules, "marimo", marimo)
    with pytest.raises(FoldnoteError, match="which marimo does not have"):
        forms.form("anarci")
