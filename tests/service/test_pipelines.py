"""Pipelines: saved, run stage by stage on the results of earlier stages, stopped completely when one fails."""

import re

import httpx
import pytest
from service_process import PDB, SEQUENCE

HEAVY = SEQUENCE
LIGHT = "DIQMTQSPSSLSASVGDRVTITCRASQDVNTAVAWYQQKPGKAPKLLIYSASFLYSGVPSRFSGSRSGTDFTLTISSLQPEDFATYYCQQHYTTPPTFGQGTKVEIK"


def fold(name="fold.output-2", **more):
    return {
        "name": name,
        "type": "abodybuilder",
        "settings": {"heavy": HEAVY, "light": LIGHT} | more,
    }


def bind(value, name="bind", **more):
    return {"name": name, "type": "af2bind", "settings": {"pdbFile": value, "chain": "H"} | more}


def save(service, name, *stages):
    return service.client.post("/submit-pipeline", json={"pipelineName": name, "stages": list(stages)})


def run(service, name, **more):
    body = {"pipelineName": name, "jobName": f"{name}r", "inputs": {}} | more
    return service.client.post("/run-pipeline", json=body)


def test_stages_run_one_after_another(service, name):
    saved = save(service, name, fold(), bind("fold.output-2/file-1.txt"))
    assert saved.json() == {
        "message": f"The pipeline {name} is saved.",
        "pipelineName": name,
        "stages": ["fold.output-2", "bind"],
    }
    answer = run(service, name)
    assert answer.status_code == 200, answer.text
    names = [f"{name}r-fold.output-2", f"{name}r-bind"]
    assert (answer.json()["jobNames"], answer.json()["status"]) == (names, "In Queue")
    parent = service.wait(f"{name}r")
    assert (parent["status"], parent["tool"], parent["batchSize"]) == ("Complete", "pipeline", 2)
    first, second = (service.job(each) for each in names)
    assert first["completed"] <= second["started"]
    assert second["settings"]["pdbFile"] == "fold.output-2/file-1.txt"
    assert httpx.get(parent["resultUrl"]).status_code == 200


def test_a_failed_stage_stops_the_rest_and_is_named(service, name):
    save(service, name, fold("fold.fail"), bind("fold.fail/", "a"), bind(PDB, "b", chain="A"))
    run(service, name)
    parent = service.wait(f"{name}r")
    assert parent["status"] == "Stopped"
    assert parent["error"].startswith("The stage fold.fail failed: The probe was asked to fail")
    rest = [service.job(f"{name}r-{stage}") for stage in ("a", "b")]
    assert [job["status"] for job in rest] == ["Stopped", "Stopped"]
    assert all(job["error"].startswith("The stage fold.fail failed: ") for job in rest)
    assert all(job["started"] is None for job in rest)


def test_a_missing_path_reports_what_exists(service, name):
    save(service, name, fold(), bind("fold.output-2/nothing.txt"))
    run(service, name)
    assert service.wait(f"{name}r")["status"] == "Stopped"
    error = service.job(f"{name}r-bind")["error"]
    assert "pdbFile takes a file of the stage fold.output-2" in error
    assert "file-0.txt" in error


def test_stopping_a_run_stops_what_waits(service, name):
    save(service, name, fold("fold.sleep-30"), bind("fold.sleep-30/"))
    run(service, name)
    service.wait(f"{name}r-fold.sleep-30", ("Running",))
    assert service.job(f"{name}r-bind")["message"] == "Waits for the stage fold.sleep-30."
    service.client.post("/stop-job", json={"jobName": f"{name}r"})
    stages = [service.wait(f"{name}r-{stage}")["status"] for stage in ("fold.sleep-30", "bind")]
    assert stages == ["Stopped", "Stopped"]


def test_inputs_fill_what_a_stage_lacks(service, name):
    lacking = {"name": "fold.output-1", "type": "abodybuilder", "settings": {"heavy": HEAVY}}
    assert save(service, name, lacking, bind("fold.output-1/file-0.txt")).status_code == 200
    refused = run(service, name)
    assert (refused.status_code, refused.json()["field"]) == (400, "stages.0.settings.light")
    answer = run(service, name, inputs={"light": LIGHT, "bind": {"chain": "L"}})
    assert answer.status_code == 200, answer.text
    assert service.wait(f"{name}r")["status"] == "Complete"
    assert service.job(f"{name}r-bind")["settings"]["chain"] == "L"


def test_a_run_is_resumed_after_a_crash(make_service):
    service = make_service("--no-rate-limit")
    save(service, "p", fold("fold.hold.output-1"), bind("fold.hold.output-1/file-0.txt"))
    run(service, "p")
    service.wait("pr-fold.hold.output-1", ("Running",))
    service.kill()
    service.start()
    service.release("pr-fold.hold.output-1")
    assert service.wait("pr")["status"] == "Complete"


@pytest.mark.parametrize(
    ("stages", "field"),
    [
        ([], "stages"),
        ([fold("a b")], "stages.0.name"),
        ([fold("a"), fold("a")], "stages.1.name"),
        ([fold("a") | {"type": "nope"}], "stages.0.type"),
        ([fold("a", colour=1)], "stages.0.settings.colour"),
        ([fold("a", heavy=1)], "stages.0.settings.heavy"),
        ([bind("b/x.pdb", "a"), bind(PDB, "b")], "stages.0.settings.pdbFile"),
        ([bind("a/x.pdb", "a")], "stages.0.settings.pdbFile"),
        ([{"name": "a"}], "stages.0.type"),
    ],
)
def test_a_wrong_pipeline_is_refused(service, name, stages, field):
    answer = save(service, name, *stages)
    assert (answer.status_code, answer.json()["field"]) == (400, field)
    assert run(service, name).status_code == 404


@pytest.mark.parametrize(
    ("more", "field"),
    [
        ({"jobName": "a/b"}, "jobName"),
        ({"jobName": "a" * 100}, "jobName"),
        ({"inputs": {"bind": 1}}, "inputs.bind"),
        ({"inputs": {"bind": {"pdbFile": "nowhere.pdb"}}}, "stages.1.settings.pdbFile"),
        ({"inputs": {"x": 1}}, "stages.0.settings.x"),
        ({"pipelineName": "nothing"}, "pipelineName"),
    ],
)
def test_a_wrong_run_keeps_nothing(service, name, more, field):
    save(service, name, fold("fold"), bind("fold/x.pdb"))
    answer = run(service, name, **more)
    assert (answer.status_code, answer.json()["field"]) == (404 if field == "pipelineName" else 400, field)
    assert service.client.get("/jobs", params={"jobName": f"{name}r"}).status_code == 404


def test_a_name_that_is_taken_is_refused(service, name):
    save(service, name, fold("fold"))
    assert [run(service, name).status_code for _ in range(2)] == [200, 400]


REUSE = {"foldnote": {"reuse": True}}


def reused_from(service, *names):
    return [service.job(each)["reusedFrom"] for each in names]


def test_a_changed_pipeline_reuses_its_unchanged_stages(service, name):
    stages = (fold(heavy=HEAVY[1:]), bind("fold.output-2/file-1.txt"))
    save(service, name, *stages)
    run(service, name)
    service.wait(f"{name}r")
    save(service, name, stages[0], bind("fold.output-2/file-0.txt"))
    assert run(service, name, jobName=f"{name}s", **REUSE).status_code == 200
    assert service.wait(f"{name}s")["status"] == "Complete"
    assert reused_from(service, f"{name}s-fold.output-2", f"{name}s-bind") == [f"{name}r-fold.output-2", None]
    first, second = (service.job(f"{name}{run}-fold.output-2") for run in "rs")
    assert (second["status"], second["started"], second["weightedHours"]) == ("Complete", None, None)
    hashes = [httpx.get(service.result(job["jobName"]).json()).content for job in (first, second)]
    assert hashes[0] == hashes[1]


def test_a_stage_after_a_changed_one_is_reused_if_its_files_are_the_same(service, name):
    save(service, name, fold(heavy=HEAVY[2:]), bind("fold.output-2/file-1.txt"))
    run(service, name)
    service.wait(f"{name}r")
    run(service, name, jobName=f"{name}s", inputs={"heavy": HEAVY[3:]}, **REUSE)
    service.wait(f"{name}s")
    names = [f"{name}s-{stage}" for stage in ("fold.output-2", "bind")]
    assert reused_from(service, *names) == [None, f"{name}r-bind"]


def test_without_being_asked_every_stage_runs(service, name):
    save(service, name, fold(heavy=HEAVY[4:]))
    for job in (f"{name}r", f"{name}s"):
        run(service, name, jobName=job)
        service.wait(job)
    assert reused_from(service, f"{name}s-fold.output-2") == [None]


def test_a_deleted_result_is_not_reused_and_a_reused_one_outlives_its_origin(service, name):
    save(service, name, fold(heavy=HEAVY[5:]))
    run(service, name)
    service.wait(f"{name}r")
    run(service, name, jobName=f"{name}s", **REUSE)
    service.wait(f"{name}s")
    service.client.request("DELETE", "/delete-job", json={"jobName": f"{name}r"})
    assert httpx.get(service.result(f"{name}s-fold.output-2").json()).status_code == 200
    service.client.request("DELETE", "/delete-job", json={"jobName": f"{name}s"})
    run(service, name, jobName=f"{name}t", **REUSE)
    service.wait(f"{name}t")
    assert reused_from(service, f"{name}t-fold.output-2") == [None]


def test_a_failed_stage_is_not_reused(service, name):
    save(service, name, fold("fold.fail", heavy=HEAVY[6:]))
    for job in (f"{name}r", f"{name}s"):
        run(service, name, jobName=job, **REUSE)
        service.wait(job)
    assert service.job(f"{name}s-fold.fail")["status"] == "Stopped"
    assert reused_from(service, f"{name}s-fold.fail") == [None]


def test_reuse_belongs_to_runs_only(service, name):
    wrong = service.submit(name, foldnote={"reuse": True})
    assert (wrong.status_code, wrong.json()["field"]) == (400, "foldnote.reuse")
    save(service, name, fold())
    wrong = run(service, name, foldnote={"retries": 1})
    assert (wrong.status_code, wrong.json()["field"]) == (400, "foldnote.retries")


def test_a_run_that_reuses_results_continues_after_a_crash(make_service):
    service = make_service("--no-rate-limit")
    save(service, "p", fold("fold.output-2"), bind("fold.output-2/file-1.txt", "slow.sleep-2"))
    run(service, "p")
    service.wait("pr")
    save(service, "p", fold("fold.output-2"), bind("fold.output-2/file-0.txt", "slow.sleep-2"))
    run(service, "p", jobName="ps", **REUSE)
    service.kill()
    service.start()
    assert service.wait("ps")["status"] == "Complete"
    assert reused_from(service, "ps-fold.output-2", "ps-slow.sleep-2") == ["pr-fold.output-2", None]


def test_a_run_keeps_its_stages_whatever_is_saved_later(service, name):
    stages = [fold("fold.output-2"), bind("fold.output-2/file-1.txt")]
    save(service, name, *stages)
    run(service, name, inputs={"bind": {"chain": "L"}})
    save(service, name, fold("other"))
    kept = service.wait(f"{name}r")["settings"]
    assert kept == {"pipelineName": name, "inputs": {"bind": {"chain": "L"}}, "stages": stages}


def test_a_run_continues_from_the_stopped_stage(service, name):
    stages = (fold(heavy=HEAVY[7:]), bind("fold.output-2/file-1.txt", "slow.sleep-30", chain="Q"))
    save(service, name, *stages, bind("slow.sleep-30/", "last"))
    run(service, name)
    service.wait(f"{name}r-slow.sleep-30", ("Running",))
    service.client.post("/stop-job", json={"jobName": f"{name}r"})
    assert service.wait(f"{name}r")["status"] == "Stopped"
    save(
        service,
        name,
        stages[0],
        bind("fold.output-2/file-1.txt", "slow.output-1", chain="Q"),
        bind("slow.output-1/file-0.txt", "last", chain="Q"),
    )
    run(service, name, jobName=f"{name}s", **REUSE)
    assert service.wait(f"{name}s")["status"] == "Complete"
    names = [f"{name}s-{stage}" for stage in ("fold.output-2", "slow.output-1", "last")]
    assert reused_from(service, *names) == [f"{name}r-fold.output-2", None, None]


@pytest.mark.parametrize(
    ("stage", "reason"),
    [
        ("big.memory-400.sleep-30", r"used \d+ MB of memory; it may use 200 MB. Try a smaller input."),
        ("slow.sleep-30", "was ended at its time limit of 3 s."),
    ],
)
def test_a_run_continues_from_the_stage_that_reached_a_limit(make_service, stage, reason):
    service = make_service("--no-rate-limit")
    recipe = service.engines / "probe" / "engine.toml"
    plain = recipe.read_text()
    service.end()
    limited = plain.replace("memory_limit_mb = 0", "memory_limit_mb = 200")
    recipe.write_text(
        re.sub("time_limit_s = .+", "time_limit_s = 3", limited) if "slow" in stage else limited
    )
    service.start()
    save(service, "p", fold(), bind("fold.output-2/file-1.txt", stage), bind(PDB, "last", chain="A"))
    run(service, "p")
    parent = service.wait("pr")
    assert (parent["status"], parent["error"].partition(":")[0]) == ("Stopped", f"The stage {stage} failed")
    assert re.search(reason, parent["error"])
    assert re.search(reason, service.job(f"pr-{stage}")["error"])
    assert service.job("pr-last")["error"].startswith(f"The stage {stage} failed: ")
    service.end()
    recipe.write_text(plain)
    service.start()
    run(service, "p", jobName="ps", **REUSE)
    service.wait(f"ps-{stage}", ("Running",))
    assert reused_from(service, "ps-fold.output-2") == ["pr-fold.output-2"]


def test_a_result_of_another_engine_version_is_not_reused(make_service):
    service = make_service("--no-rate-limit")
    save(service, "p", fold(), bind("fold.output-2/file-1.txt"))
    run(service, "p")
    service.wait("pr")
    assert [service.job(f"pr-{stage}")["engineVersion"] for stage in ("fold.output-2", "bind")] == [
        "probe 1"
    ] * 2
    service.end()
    recipe = service.engines / "probe" / "engine.toml"
    recipe.write_text(recipe.read_text().replace('version = "1"', 'version = "2"'))
    service.start()
    run(service, "p", jobName="ps", **REUSE)
    assert service.wait("ps")["status"] == "Complete"
    assert reused_from(service, "ps-fold.output-2", "ps-bind") == [None, None]
    run(service, "p", jobName="pt", **REUSE)
    service.wait("pt")
    assert reused_from(service, "pt-fold.output-2", "pt-bind") == ["ps-fold.output-2", "ps-bind"]
    assert service.job("pt-bind")["engineVersion"] == "probe 2"
