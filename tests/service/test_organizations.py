"""Organizations, their members and budgets, set by the admin command and enforced by the service."""

import json
import time

import httpx
import pytest
from service_process import SETTINGS

from foldnote.cli import main


@pytest.fixture
def manage(capsys):
    """Run the admin command on a data folder; return its report, or its message if it refuses."""

    def run(folder, *arguments):
        status = main(["admin", "--data-dir", str(folder), "--json", *arguments])
        said = capsys.readouterr()
        report = json.loads(said.out)
        if status == 0:
            return report
        assert (report["error"]["exit"], report["error"]["message"]) == (status, said.err.strip())
        return said.err

    return run


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["issue-key", "a@b.org", "--days", "1e10"], "at most 365,000"),
        (["issue-key", "a@b.org", "--days", "soon"], "'soon' is not a number above 0"),
        (["purge", "--older-than-days", "1e300"], "at most 365,000"),
        (["purge", "--older-than-days", "-1"], "'-1' is not a number that is not negative"),
        (["purge", "--larger-than-mb", "1e308"], "at most 1,000,000,000,000"),
    ],
)
def test_a_number_that_cannot_be_is_refused_with_its_option(service, capsys, arguments, words):
    with pytest.raises(SystemExit) as ended:
        main(["admin", "--data-dir", str(service.folder / "data"), *arguments])
    said = capsys.readouterr().err
    assert (ended.value.code, words in said, arguments[-2] in said) == (2, True, True)


def test_names_of_others_cannot_move_the_cursor(service, capsys):
    command = ["admin", "--data-dir", str(service.folder / "data")]
    assert main([*command, "add-organization", "\x1b[2Jlab"]) == 0
    assert main([*command, "organizations"]) == 0
    said = capsys.readouterr().out
    assert ("\x1b" in said, "\\x1b[2Jlab: 0 members" in said) == (False, True)


@pytest.mark.parametrize("position", range(3))
def test_options_of_all_commands_are_accepted_before_and_after_the_command(service, capsys, position):
    words = ["add-organization", f"placed-{position}"]
    words[position:position] = ["--json", "--data-dir", str(service.folder / "data")]
    assert main(["admin", *words]) == 0
    assert json.loads(capsys.readouterr().out)["name"] == f"placed-{position}"


@pytest.fixture
def lab(make_service, manage):
    """Start a service with the organization `lab` of ada and bob, and eve outside; return their keys by name."""
    service = make_service("--no-rate-limit")
    data = service.folder / "data"
    manage(data, "add-organization", "lab")
    people = ("ada", "bob", "eve")
    keys = {each: manage(data, "issue-key", f"{each}@lab.org")["key"] for each in people}
    for each in ("ada", "bob"):
        manage(data, "add-member", "lab", f"{each}@lab.org")
    clients = {
        each: httpx.Client(base_url=service.url, headers={"x-api-key": key}, timeout=120)
        for each, key in keys.items()
    }
    yield service, clients
    for client in clients.values():
        client.close()


def submit(client, name):
    return client.post("/submit-job", json={"jobName": name, "type": "anarci", "settings": SETTINGS})


def names(client, **params):
    return {job["jobName"] for job in client.get("/jobs", params=params).json()["jobs"]}


def wait(client, name):
    while client.get("/jobs", params={"jobName": name}).json()["status"] not in ("Complete", "Stopped"):
        time.sleep(0.05)


def test_members_see_each_other_and_no_one_else_does(lab):
    _, clients = lab
    for each, client in clients.items():
        assert submit(client, f"of-{each}.output-1").status_code == 200
    ada, eve = clients["ada"], clients["eve"]
    assert names(ada) == {"of-ada.output-1"}
    assert names(ada, organization="true") == {"of-ada.output-1", "of-bob.output-1"}
    assert names(ada, jobEmail="bob@lab.org") == {"of-bob.output-1"}
    assert names(ada, jobEmail="eve@lab.org") == set()
    assert names(eve, organization="true") == {"of-eve.output-1"}
    assert names(eve, jobEmail="ada@lab.org") == set()
    wait(clients["bob"], "of-bob.output-1")
    wanted = {"jobName": "of-bob.output-1", "jobEmail": "bob@lab.org"}
    assert ada.post("/result", json=wanted).status_code == 200
    assert eve.post("/result", json=wanted).status_code == 404
    one = {"jobName": "of-bob.output-1", "jobEmail": "bob@lab.org"}
    assert ada.get("/jobs", params=one).json()["email"] == "bob@lab.org"
    assert ada.request("DELETE", "/delete-job", json={"jobName": "of-bob.output-1"}).status_code == 400


def test_a_budget_is_for_all_members(lab, manage):
    service, clients = lab
    data = service.folder / "data"
    submit(clients["ada"], "first")
    wait(clients["ada"], "first")
    manage(data, "set-budget", "lab", "0.0000001")
    answer = submit(clients["bob"], "second")
    assert (answer.status_code, answer.json()["code"]) == (403, "budget_exceeded")
    assert answer.json()["spentWeightedHours"] > answer.json()["budgetWeightedHours"]
    assert submit(clients["eve"], "second").status_code == 200
    assert submit(clients["bob"], "bad name").status_code == 400
    (row,) = manage(data, "organizations")["organizations"]
    assert (row["name"], row["members"]) == ("lab", ["ada@lab.org", "bob@lab.org"])
    assert row["spent"] > 0
    manage(data, "set-budget", "lab", "none")
    assert submit(clients["bob"], "second").status_code == 200


def test_a_revoked_key_is_dead_within_seconds(lab, manage):
    service, clients = lab
    assert clients["eve"].get("/tools").status_code == 200
    assert manage(service.folder / "data", "revoke-keys", "eve@lab.org")["revoked"] == 1
    until = time.monotonic() + 15
    while (status := clients["eve"].get("/jobs").status_code) == 200 and time.monotonic() < until:
        time.sleep(0.3)
    assert status == 401


def test_who_leaves_sees_only_its_own(lab, manage):
    service, clients = lab
    submit(clients["ada"], "private")
    manage(service.folder / "data", "remove-member", "bob@lab.org")
    assert names(clients["bob"], jobEmail="ada@lab.org") == set()


def test_an_administrator_moves_an_account_into_another(lab, manage):
    service, clients = lab
    for each in ("ada", "eve"):
        submit(clients[each], "same")
        wait(clients[each], "same")
    data = service.folder / "data"
    assert manage(data, "move-account", "eve@lab.org", "ada@lab.org")["moved"] == 1
    assert names(clients["ada"]) == {"same", "same-2"}
    assert clients["ada"].post("/result", json={"jobName": "same-2"}).status_code == 200
    until = time.monotonic() + 15
    while names(clients["eve"]) != {"same", "same-2"} and time.monotonic() < until:
        time.sleep(0.3)
    assert names(clients["eve"], organization="true") == {"same", "same-2"}


class TestRefusals:
    """The command explains in a sentence what it cannot do."""

    @pytest.fixture
    def data(self, tmp_path):
        from foldnote.service.layout import DATABASE
        from foldnote.service.store.store import Store

        Store(tmp_path / DATABASE).close()
        return tmp_path

    def test_a_folder_without_a_service_is_refused(self, manage, tmp_path):
        assert "data folder" in manage(tmp_path / "nowhere", "organizations")

    @pytest.mark.parametrize(
        "arguments",
        [
            ("set-budget", "nobody", "1"),
            ("add-member", "nobody", "a@b.org"),
            ("remove-member", "a@b.org"),
            ("revoke-keys", "a@b.org"),
            ("revoke-keys", "fn_x"),
            ("move-account", "a@b.org", "c@d.org"),
        ],
    )
    def test_what_is_not_there(self, manage, data, arguments):
        assert manage(data, *arguments).endswith(".\n")

    def test_a_name_twice(self, manage, data):
        manage(data, "add-organization", "lab")
        assert "already" in manage(data, "add-organization", "lab")

    @pytest.mark.parametrize(
        "arguments",
        [
            ("set-budget", "lab", "-1"),
            ("set-budget", "lab", "nan"),
            ("issue-key", "nobody"),
            ("issue-key", "a@lab.org", "--days", "nan"),
            ("issue-key", "a@lab.org", "--days", "0"),
            (),
        ],
    )
    def test_wrong_arguments(self, data, arguments):
        with pytest.raises(SystemExit):
            main(["admin", "--data-dir", str(data), *arguments])


def test_a_kept_page_gives_each_member_a_key_of_their_own(lab):
    _, clients = lab
    for number in range(3):
        assert submit(clients["bob"], f"paged{number}.output-1").status_code == 200
    for number in range(3):
        wait(clients["bob"], f"paged{number}.output-1")
    for who in ("bob", "ada", "bob", "ada"):
        params = {"limit": 2, "jobEmail": "bob@lab.org"}
        first = clients[who].get("/jobs", params=params).json()
        rest = clients[who].get("/jobs", params=params | {"startKey": first["startKey"]})
        assert rest.status_code == 200
        assert [job["jobName"] for job in rest.json()["jobs"]] == ["paged0.output-1"]
