"""Trial keys: issued within caps, valid for ten jobs and thirty days, claimed once by a person."""

import re
import time
from datetime import UTC, datetime, timedelta

import pytest
from chosen_store import store_place
from probe_engine import write_probe_engine
from service_process import PDB, SETTINGS
from starlette.testclient import TestClient

from foldnote.service.config import ServiceConfig, TrialTerms
from foldnote.service.domain.access.allowance import count_ligands, estimate_hours
from foldnote.service.domain.access.keys import hash_key
from foldnote.service.http.app import create_app

LIGAND = "benzene\n  x\n\n  0  0  0     0  0            999 V2000\nM  END\n$$$$\n"
FREE_ENERGY = {"proteinPDB": PDB, "ligandsSDF": LIGAND}
SMALL = FREE_ENERGY | {"protocolRepeats": 2, "equilLength": 100, "prodLength": 500}


@pytest.fixture(scope="module")
def make(tmp_path_factory):
    """Return a function that starts services in this process that run nothing."""
    opened = []

    def start(**terms):
        folder = tmp_path_factory.mktemp("trials")
        engines = write_probe_engine(folder / "engines", tools=("anarci", "abfe"))
        more = {"embedded": terms.pop("embedded", False)}
        config = ServiceConfig(
            folder / "data", rate_limit=False, has_dispatcher=False, engine_paths=(engines,),
            trials=TrialTerms(**terms), store=store_place(folder / "data"), **more,
        )  # fmt: skip
        client = TestClient(create_app(config))
        opened.append(client)
        return client.__enter__()

    yield start
    for client in opened:
        client.__exit__(None, None, None)


@pytest.fixture(scope="module")
def client(make):
    return make(hourly_per_source=1000, hourly=1000)


@pytest.fixture
def trial(client):
    """Return a new credential, and headers that use it."""
    credential = client.post("/agent/provision").json()
    return credential, {"x-api-key": credential["apiKey"]}


def submit(client, headers, name, **more):
    body = {"jobName": name, "type": "anarci", "settings": SETTINGS} | more
    return client.post("/submit-job", headers=headers, json=body)


def claim(client, credential, email="person@lab.org", **more):
    return client.post(credential["claimUrl"], json={"email": email} | more)


def test_a_credential_has_the_shape_of_the_interface(client):
    answer = client.post("/agent/provision")
    assert answer.status_code == 201
    body = answer.json()
    assert set(body) == {"apiKey", "email", "tier", "expiresAt", "limits", "claimUrl"}
    assert body["tier"] == "agent-trial"
    assert body["limits"] == {
        "jobs": 10,
        "allowedTools": "all",
        "maxRuntimeSeconds": None,
        "expiresInDays": 30,
    }
    days = datetime.fromisoformat(body["expiresAt"]) - datetime.now(UTC)
    assert timedelta(days=29, hours=23) < days < timedelta(days=30, seconds=1)
    assert re.fullmatch(r"[^@]+@[^@]+", body["email"])


def test_a_source_is_given_so_many_keys_an_hour(make):
    client = make(hourly_per_source=2)
    assert [client.post("/v1/agent/provision").status_code for _ in range(2)] == [201, 201]
    answer = client.post("/agent/provision")
    assert (answer.status_code, answer.json()["code"]) == (429, "provisioning_capped")
    assert 3500 < answer.json()["retryAfterSeconds"] <= 3600
    assert answer.headers["retry-after"] == str(answer.json()["retryAfterSeconds"])


def test_setting_back_the_clock_delays_keys_by_at_most_an_hour(make, monkeypatch):
    client = make(hourly_per_source=2)
    assert [client.post("/agent/provision").status_code for _ in range(2)] == [201, 201]
    real = time.time
    monkeypatch.setattr(time, "time", lambda: real() - 40 * 86_400)
    answer = client.post("/agent/provision")
    assert answer.status_code == 429
    assert 3500 < answer.json()["retryAfterSeconds"] <= 3600
    monkeypatch.setattr(time, "time", lambda: real() - 40 * 86_400 + 3601)
    assert client.post("/agent/provision").status_code == 201


def test_all_together_are_given_so_many(make):
    client = make(hourly=0)
    answer = client.post("/agent/provision")
    assert (answer.status_code, answer.json()["retryAfterSeconds"]) == (429, 3600)


@pytest.mark.parametrize("terms", [{"is_open": False}, {"embedded": True}])
def test_a_closed_service_says_when_to_ask_again(make, terms):
    answer = make(**terms).post("http://localhost/agent/provision")
    assert (answer.status_code, answer.json()["code"]) == (503, "provisioning_unavailable")
    assert answer.headers["retry-after"] == str(answer.json()["retryAfterSeconds"])


def test_an_unclaimed_key_has_ten_jobs_in_all(client, trial):
    _, headers = trial
    batch = {"batchName": "b", "type": "anarci", "settings": [SETTINGS] * 8}
    assert client.post("/submit-batch", headers=headers, json=batch).status_code == 200
    assert submit(client, headers, "nine").status_code == 200
    assert submit(client, headers, "nine").status_code == 400
    too_many = {"batchName": "c", "type": "anarci", "settings": [SETTINGS] * 2}
    refused = client.post("/submit-batch", headers=headers, json=too_many)
    assert (refused.status_code, refused.json()["code"]) == (403, "job_limit_reached")
    assert (refused.json()["jobsUsed"], refused.json()["jobsAllowed"]) == (9, 10)
    assert client.get("/jobs", headers=headers, params={"jobName": "c"}).status_code == 404
    client.request("DELETE", "/delete-job", headers=headers, json={"jobName": "b"})
    assert [submit(client, headers, name).status_code for name in ("ten", "eleven")] == [200, 403]
    assert client.post(
        "/validate-job", headers=headers, json={"type": "anarci", "settings": SETTINGS}
    ).json()["valid"]


def test_an_expired_key_is_not_accepted(client):
    key = client.app.state.service.issue_key("late@lab.org", "trial", expires="2026-01-01T00:00:00.000Z")
    answer = client.get("/tools", headers={"x-api-key": key})
    assert (answer.status_code, answer.json()["code"]) == (401, "invalid_api_key")


def test_a_claim_lifts_the_limits(client, trial):
    credential, headers = trial
    for number in range(10):
        submit(client, headers, f"t{number}")
    assert submit(client, headers, "more").status_code == 403
    assert claim(client, credential).status_code == 200
    assert client.get("/jobs", headers=headers).json()["statuses"]["In Queue"] == 10
    assert submit(client, headers, "more", type="abfe", settings=FREE_ENERGY).status_code == 200
    answers = [submit(client, headers, f"m{number}").status_code for number in range(10)]
    assert answers == [200] * 9 + [403]


def test_a_claim_is_made_once(client, trial):
    credential, _ = trial
    assert [claim(client, credential).status_code for _ in range(2)] == [200, 200]
    assert claim(client, credential, "other@lab.org").json()["code"] == "already_claimed"


def test_the_claim_page_is_a_form_for_a_person(client, trial):
    credential, _ = trial
    page = client.get(credential["claimUrl"])
    assert (page.status_code, page.headers["content-type"]) == (200, "text/html; charset=utf-8")
    assert credential["email"] in page.text
    assert 'method="post"' in page.text
    assert "http" not in page.text
    done = client.post(credential["claimUrl"], data={"email": "person@lab.org"})
    assert (done.status_code, "is claimed" in done.text) == (200, True)


class TestMoving:
    """A claim by a person with an account here moves everything of the trial account to it."""

    @pytest.fixture
    def person(self, client, tmp_path):
        """Return address, key and headers of an account that has a job, a batch and a file."""
        email = f"{tmp_path.name[-40:]}@lab.org"
        key = client.app.state.service.issue_key(email)
        headers = {"x-api-key": key}
        submit(client, headers, "same")
        client.put("/upload/same.pdb", headers=headers, content=b"mine")
        return email, key, headers

    @pytest.fixture
    def filled(self, client, trial):
        """Return a trial account with a job, a batch, a deleted job and two files."""
        credential, headers = trial
        for name in ("same", "other", "gone"):
            submit(client, headers, name)
        client.request("DELETE", "/delete-job", headers=headers, json={"jobName": "gone"})
        batch = {"batchName": "many", "type": "anarci", "settings": [SETTINGS] * 2}
        client.post("/submit-batch", headers=headers, json=batch)
        for name in ("same.pdb", "new.pdb"):
            client.put(f"/upload/{name}", headers=headers, content=b"theirs")
        return credential, headers

    def test_jobs_batches_and_files_are_the_persons_and_both_keys_see_them(self, client, person, filled):
        email, key, own = person
        credential, headers = filled
        assert claim(client, credential, email, apiKey=key).status_code == 200
        for each in (own, headers):
            page = client.get("/jobs", headers=each).json()
            assert {job["jobName"] for job in page["jobs"]} == {"same", "same-2", "other", "many"}
            assert page["statuses"]["In Queue"] == 4
            assert {job["email"] for job in page["jobs"]} == {email}
            rows = client.get("/jobs", headers=each, params={"batch": "many"}).json()
            assert ([job["batch"] for job in rows["jobs"]], rows["statuses"]["In Queue"]) == (["many"] * 2, 2)
            everything = client.get("/jobs", headers=each, params={"includeSubjobs": "true"}).json()
            assert (len(everything["jobs"]), everything["statuses"]["In Queue"]) == (6, 6)
            files = client.get("/files", headers=each).json()
            assert {row["name"] for row in files["files"]} == {"same.pdb", "same-2.pdb", "new.pdb"}
        assert client.get("/files/same.pdb", headers=headers).content == b"mine"
        assert client.get("/files/same-2.pdb", headers=own).content == b"theirs"

    def test_the_key_has_the_persons_limits_and_does_not_expire(self, client, person, filled):
        email, key, _ = person
        credential, headers = filled
        claim(client, credential, email, apiKey=key)
        assert [submit(client, headers, f"n{number}").status_code for number in range(12)] == [200] * 12
        service = client.app.state.service
        caller = service.store.accounts.find_caller(hash_key(credential["apiKey"]))
        assert (caller.email, caller.tier, caller.expires, caller.is_admin) == (email, "full", None, False)

    def test_what_was_claimed_before_moves_later(self, client, person, filled):
        email, key, own = person
        credential, _ = filled
        assert claim(client, credential, email).status_code == 200
        assert len(client.get("/jobs", headers=own).json()["jobs"]) == 1
        assert [claim(client, credential, email, apiKey=key).status_code for _ in range(2)] == [200, 200]
        assert len(client.get("/jobs", headers=own).json()["jobs"]) == 4

    def test_a_moved_batch_whose_name_is_taken_keeps_its_rows_together(self, client, person, filled):
        email, key, own = person
        batch = {"batchName": "many", "type": "anarci", "settings": [SETTINGS]}
        client.post("/submit-batch", headers=own, json=batch)
        claim(client, filled[0], email, apiKey=key)  # its rows are many-1 and many-2, so it becomes many-3
        rows = client.get("/jobs", headers=own, params={"batch": "many-3"}).json()["jobs"]
        assert {row["batch"] for row in rows} == {"many-3"}
        assert len(rows) == 2
        stopped = client.post("/stop-job", headers=own, json={"jobName": "many-3"})
        assert stopped.status_code == 200
        left = client.get("/jobs", headers=own, params={"batch": "many-3"}).json()["statuses"]
        assert (left["Stopped"], left["In Queue"]) == (2, 0)

    @pytest.mark.parametrize("which", ["none", "other", "trial"])
    def test_a_key_that_is_not_the_persons_moves_nothing(self, client, person, filled, which):
        email, _, own = person
        credential, headers = filled
        other = client.app.state.service.issue_key("somebody@lab.org")
        key = {"none": "fn_x", "other": other, "trial": credential["apiKey"]}[which]
        answer = claim(client, credential, email, apiKey=key)
        assert (answer.status_code, answer.json()["code"]) == (403, "sign_in_failed")
        assert len(client.get("/jobs", headers=own).json()["jobs"]) == 1
        assert submit(client, headers, "still-a-trial").status_code == 200
        assert client.post("/run-pipeline", headers=headers).json()["code"] == "route_restricted"

    def test_the_page_moves_too(self, client, person, filled):
        email, key, own = person
        page = client.get(filled[0]["claimUrl"])
        assert 'type="password"' in page.text
        done = client.post(filled[0]["claimUrl"], data={"email": email, "apiKey": key})
        assert (done.status_code, "is claimed" in done.text, key in done.text) == (200, True, False)
        assert len(client.get("/jobs", headers=own).json()["jobs"]) == 4


@pytest.mark.parametrize("email", ["", "nobody", "a@b c", "<b>@x"])
def test_a_claim_needs_an_address(client, trial, email):
    answer = claim(client, trial[0], email)
    assert (answer.status_code, answer.json()["field"]) == (400, "email")


def test_a_refusal_of_the_claim_page_is_a_page(client, trial):
    for data, status in (
        ({"email": "no-address"}, 400),
        ({"email": "a@b.org", "apiKey": "<b>"}, 403),
        ({}, 400),
    ):
        answer = client.post(trial[0]["claimUrl"], data=data or {"other": "x"})
        assert (answer.status_code, answer.headers["content-type"]) == (status, "text/html; charset=utf-8")
        assert 'role="alert"' in answer.text
        assert "<b>" not in answer.text


@pytest.mark.parametrize("method", ["GET", "POST"])
def test_an_unknown_claim_link_is_not_found(client, method):
    answer = client.request(method, "/claim?token=x", json={"email": "a@b.org"})
    assert (answer.status_code, answer.json()["code"]) == (404, "claim_not_found")


class TestAllowance:
    """The free-energy allowance of an unclaimed key."""

    def test_a_default_run_is_refused_with_both_figures(self, client, trial):
        answer = submit(client, trial[1], "fe", type="abfe", settings=FREE_ENERGY)
        assert (answer.status_code, answer.json()["code"]) == (403, "allowance_exceeded")
        assert answer.json()["estimatedWeightedHours"] == pytest.approx(144.72)
        assert answer.json()["allowanceWeightedHours"] == 48

    def test_a_small_run_is_accepted(self, client, trial):
        assert submit(client, trial[1], "fe", type="abfe", settings=SMALL).status_code == 200

    def test_the_rows_of_a_batch_are_one_spending(self, client, trial):
        rows = {"batchName": "b", "type": "abfe", "settings": [SMALL] * 6}
        assert (
            client.post("/submit-batch", headers=trial[1], json=rows).json()["code"] == "allowance_exceeded"
        )

    def test_every_ligand_counts(self, client, trial):
        answer = submit(client, trial[1], "fe", type="abfe", settings=SMALL | {"ligandsSDF": LIGAND * 6})
        assert answer.status_code == 403

    def test_a_name_that_is_taken_comes_first(self, client, trial):
        submit(client, trial[1], "taken")
        answer = submit(client, trial[1], "taken", type="abfe", settings=FREE_ENERGY)
        assert (answer.status_code, answer.json()["code"]) == (400, "job_name_taken")
        rows = {"batchName": "b", "type": "abfe", "settings": [FREE_ENERGY] * 2, "jobNames": ["new", "taken"]}
        answer = client.post("/submit-batch", headers=trial[1], json=rows)
        assert (answer.status_code, answer.json()["code"], answer.json()["row"]) == (400, "job_name_taken", 1)

    def test_a_wrong_setting_comes_first(self, client, trial):
        answer = submit(client, trial[1], "fe", type="abfe", settings=FREE_ENERGY | {"protocolRepeats": 9})
        assert (answer.status_code, answer.json()["field"]) == (400, "protocolRepeats")

    def test_the_estimate_is_the_documented_formula(self):
        settings = {"equilLength": 1000, "prodLength": 4000, "protocolRepeats": 2, "timestep": 2}
        assert estimate_hours(settings, 3) == pytest.approx(3 * 2 * 5 * 2 * 24 * (30 / 100 + 14 / 400))

    def test_a_hydration_counts_its_windows_in_water_only(self):
        settings = {"equilLength": 50, "prodLength": 250, "protocolRepeats": 2, "timestep": 4}
        windows = {"electrostaticWindows": 5, "stericWindows": 10}
        assert estimate_hours(settings | windows, 3) == pytest.approx(3 * 2 * 0.3 * 24 * 15 / 400)

    def test_a_tool_with_a_restraint_counts_its_windows_in_the_complex_too(self):
        settings = {"equilLength": 50, "prodLength": 250, "protocolRepeats": 2, "timestep": 4}
        windows = {"electrostaticWindows": 5, "stericWindows": 10, "restraintWindows": 5}
        expected = 3 * 2 * 0.3 * 24 * (15 / 400 + 20 / 100)
        assert estimate_hours(settings | windows, 3) == pytest.approx(expected)

    @pytest.mark.parametrize(
        ("text", "count"),
        [(LIGAND, 1), (LIGAND * 3, 3), (LIGAND + "x\n", 2), ("", 1), ("CCO\n\nCO methanol\n", 2)],
        ids=["one", "three", "unterminated", "empty", "smiles"],
    )
    def test_ligands_are_records(self, tmp_path, text, count):
        path = tmp_path / "x.sdf"
        path.write_text(text)
        assert count_ligands(path) == count


class TestRestrictedRoutes:
    """Requests that an unclaimed key may not make at all."""

    PATHS = ("/submit-pipeline", "/run-pipeline", "/deploy-model", "/virtual-screening")

    @pytest.mark.parametrize("path", PATHS)
    @pytest.mark.parametrize("body", [b"", b"not json", b"{}", b" " * 5_000_000])
    def test_the_refusal_comes_before_the_body(self, client, trial, path, body):
        answer = client.post(path, headers=trial[1], content=body)
        assert (answer.status_code, answer.json()["code"]) == (403, "route_restricted")

    @pytest.mark.parametrize("path", PATHS)
    def test_a_claim_opens_them(self, client, trial, path):
        claim(client, trial[0])
        answer = client.post(path, headers=trial[1], json={})
        code = "admin_required" if path == "/deploy-model" else "missing_field"
        assert answer.json()["code"] == code

    @pytest.mark.parametrize("path", PATHS)
    def test_a_bad_key_comes_first(self, client, path):
        assert client.post(path, headers={"x-api-key": "x"}, content=b"").status_code == 401
