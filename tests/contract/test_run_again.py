"""The advice for a job without a result is code that works with the real service."""

import re

import pytest
from job_settings import PDB

import foldnote as fn
from foldnote.client import FileValue
from foldnote.client.resources.job_handle import next_action
from foldnote.viewers.card.card_html import describe_rerun


@pytest.fixture
def here(client, monkeypatch):
    monkeypatch.setattr("foldnote.notebook.connection.find_client", lambda profile: client)
    return client


@pytest.mark.parametrize("outcome", ["fail", "stop"])
def test_the_line_on_the_card_runs_the_job_again(here, name, settings, outcome):
    job = fn.submit("anarci", job_name=f"{name}.{'fail' if outcome == 'fail' else 'sleep-30'}", **settings)
    job = job.stop() if outcome == "stop" else here.jobs.wait([job.job_name])[job.job_name]
    line = re.search(r"`(.+)`", describe_rerun(job.record))[1]
    assert line in next_action(job.record)
    again = eval(line, {"fn": fn})
    assert again.job_name != job.job_name
    assert again.settings == job.settings
    again.stop()


def test_the_files_of_a_job_are_those_of_the_service_when_it_is_run_again(here, name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    stored = fn.upload(PDB.encode(), f"{name}.pdb")
    (tmp_path / f"{name}.pdb").write_text(PDB)
    job = fn.submit("align-pdbs", pdbFiles=[stored, stored])
    assert all(isinstance(file, FileValue) for file in fn.job(job.job_name).settings["pdbFiles"])
    again = fn.submit("align-pdbs", **fn.job(job.job_name).settings, again=True)
    assert again.settings == job.settings
