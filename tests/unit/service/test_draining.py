"""What `foldnote admin drain --wait` reports."""

import json

from foldnote.service.admin import main
from foldnote.service.draining import Draining
from foldnote.service.layout import DATABASE
from foldnote.service.store.store import Store


def test_a_drain_that_was_ended_meanwhile_says_that_the_service_takes_jobs(tmp_path, monkeypatch, capsys):
    Store(tmp_path / DATABASE).close()
    monkeypatch.setattr("time.sleep", lambda _: Draining(tmp_path).end())
    assert main(["--data-dir", str(tmp_path), "--json", "drain", "--wait"]) == 0
    assert json.loads(capsys.readouterr().out) == {
        "message": "Draining was ended meanwhile: the service takes jobs.",
        "draining": False,
        "running": 0,
    }
