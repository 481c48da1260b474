"""The choice of an alignment beside the settings, and consent for one job only."""

import pytest
from engine_folder import write_probe_engine
from form_builders import make_tool
from starlette.testclient import TestClient

from foldnote import catalog, settings
from foldnote.client import Client
from foldnote.forms import Form
from foldnote.service.config import ServiceConfig
from foldnote.service.http.app import create_app

URL = "http://service.test"
A3M = ">query\nMKTAYIAKQR\n>other\nMKTAYLAKQR\n"
LABELS = {
    "databases": "The service's own databases",
    "own": "My own file",
    "none": "None",
    "server": "Public ColabFold server — your sequence leaves",
}
DECLARED = """
extensions = ["alignment", "external:msa-server"]
[[refusals]]
settings = { useMSA = true }
unless = ["alignment", "external:msa-server"]
unless_configured = ["uniref"]
field = "useMSA"
sentence = "Choose where the alignment comes from."
[[options]]
name = "uniref"
kind = "database"
is_needed = false
help = "a copy of UniRef30"
"""


@pytest.fixture
def client(tmp_path):
    """Return a client of a service whose engine for alphafold would request its alignment from a server."""
    engines = write_probe_engine(tmp_path / "engines", ("alphafold",))
    (declared,) = engines.glob("*/engine.toml")
    declared.write_text(declared.read_text().replace("[environment]", f"{DECLARED}[environment]", 1))
    config = ServiceConfig(
        tmp_path / "data", rate_limit=False, engine_paths=(engines,), has_dispatcher=False, public_url=URL
    )
    app = create_app(config)
    with (
        TestClient(app, base_url=URL) as http,
        Client(base_url=URL, api_key=app.state.service.local_key, http_client=http) as made,
    ):
        yield made


@pytest.fixture
def form(client):
    return Form(client.tools.get("alphafold"), client, values={"sequence": "MKTAYIAKQR"})


def choose(form, source):
    """Choose an alignment as a user does."""
    control = next(
        each for each in walk(form.widget) if "Public ColabFold" in str(getattr(each, "options", ""))
    )
    (value,) = [value for label, value in control.options if label.startswith(LABELS[source])]
    control.value = value


def file_box(form):
    """Return the box for the alignment's file."""
    return next(
        each for each in walk(form.widget) if "Alignment file" in str(getattr(each, "description", ""))
    )


def walk(widget):
    yield widget
    for child in getattr(widget, "children", ()):
        yield from walk(child)


def said(form):
    return " ".join(str(getattr(each, "description", "")) for each in walk(form.widget))


def test_a_form_has_the_choice_only_where_the_service_takes_it(client):
    assert "Public ColabFold" not in str(
        [getattr(w, "options", "") for w in walk(Form(make_tool({}), None).widget)]
    )
    assert Form(catalog.tool("alphafold"), None, values={"sequence": "MKV"}).extensions == {}


def test_nothing_is_chosen_at_first_and_the_service_refuses_at_its_field(form):
    assert "own databases" not in str([getattr(each, "options", "") for each in walk(form.widget)])
    assert form.extensions == {}
    assert "this job only" in said(form)
    assert form.submit() is None
    assert form.fields["useMSA"].error_text == "Choose where the alignment comes from."


def test_the_public_server_says_that_the_sequence_leaves_and_consent_is_for_one_job(form, client):
    choose(form, "server")
    assert form.extensions == {"external": ["msa-server"]}
    assert "extensions={'external': ['msa-server']}," in form.code()
    assert '"external": [' in form.json()
    job = form.submit()
    assert job.job_name != form.job_name
    assert client.jobs.get(job.job_name).record.extensions == {"external": ["msa-server"]}
    assert form.extensions == {}
    assert form.submit() is None


@pytest.fixture
def databases(tmp_path):
    """Configure a database before the service starts, as an administrator does."""
    (tmp_path / "uniref30_2302_db.dbtype").write_bytes(b"")
    config = settings.config_dir() / "config.toml"
    config.write_text(f'[engines.probe]\nuniref = "{tmp_path}/uniref30_2302_db"\n')


def test_databases_of_the_service_are_offered_where_it_has_some_and_send_nothing(databases, client):
    form = Form(client.tools.get("alphafold"), client, values={"sequence": "MKTAYIAKQR", "useMSA": False})
    assert "Those of this service are uniref30_2302_db." in said(form)
    choose(form, "databases")
    assert (form.extensions, form.value["useMSA"]) == ({}, True)
    assert client.jobs.get(form.submit().job_name).record.extensions in (None, {})


def test_no_alignment_is_a_setting_and_can_be_taken_back(form):
    choose(form, "none")
    assert (form.extensions, form.value["useMSA"]) == ({}, False)
    choose(form, "server")
    assert form.value["useMSA"] is True
    choose(form, "none")
    assert form.submit().settings["useMSA"] is False


def test_a_users_own_file_is_requested_uploaded_and_sent(form, client, tmp_path):
    choose(form, "own")
    assert [problem.field for problem in form.problems] == ["foldnote.alignment"]
    assert form.submit() is None
    path = tmp_path / "own.a3m"
    path.write_text(A3M)
    file_box(form).value = str(path)
    assert not form.problems
    assert f"fn.upload('{path}')" in form.code()
    proposed = form.job_name
    job = form.submit()
    assert job.job_name == proposed
    sent = client.jobs.get(job.job_name).record.extensions["alignment"]
    assert sent.startswith("foldnote-")
    assert sent.endswith("/own.a3m")


def test_the_services_message_about_the_alignment_is_shown_at_its_file(form):
    choose(form, "own")
    file_box(form).value = "absent.a3m"
    assert form.submit() is None
    assert "neither an upload nor a file" in said(form)


def test_a_batch_of_the_form_sends_it_with_every_row(form, client):
    choose(form, "server")
    form.batch_table.add_current()
    form.batch_table.press()
    form.batch_table.press()
    assert client.jobs.get(form.batch.job_name).record.extensions == {"external": ["msa-server"]}
    assert form.extensions == {}


def test_the_cell_of_a_job_with_consent_does_not_consent_again(form, client):
    choose(form, "server")
    job = form.submit()
    again = Form(client.tools.get("alphafold"), client, values=job.settings)
    assert again.extensions == {}
