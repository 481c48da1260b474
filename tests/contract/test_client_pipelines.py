"""Pipelines, screenings and models beyond the catalog, with both APIs, at our service and at others."""

import json
import re

import pytest
from fastapi.testclient import TestClient
from job_settings import PDB, SETTINGS
from scripted_service import answers, breaks

from foldnote.client import Client, Stage, inline, uploaded
from foldnote.client.core.progress import JobGroupProgress
from foldnote.client.inputs.file_values import StageFile, job_file
from foldnote.client.resources.pipeline_plan import describe_plan, plan_stages, read_pipeline
from foldnote.errors import (
    ArgumentError,
    BadRequestError,
    FoldnoteError,
    ForbiddenError,
    JobFailedError,
    JobNameTakenError,
    JobStoppedError,
    NotFoundError,
    RestrictedRouteError,
    SettingsError,
    UnknownToolError,
)
from foldnote.models import Tool
from foldnote.models.job import read_job
from foldnote.models.tool import ToolEngine
from foldnote.service.config import ServiceConfig
from foldnote.service.http.app import create_app

SEQUENCE = SETTINGS["sequence"]
LIGHT = "DIQMTQSPSSLSASVGDRVTITCRASQDVNTAVAWYQQKPGKAPKLLIYSASFLYSGVPSRFSGSRSGTDFTLTISSLQPEDFATYYCQQHYTTPPTFGQGTKVEIK"
FOLD = Stage("fold.output-2", "abodybuilder", {"heavy": SEQUENCE, "light": LIGHT})
ALIGN = Stage("align", "align-pdbs", {"pdbFiles": [FOLD.file("file-1.txt"), inline(PDB)]})


@pytest.fixture
def stages():
    return [FOLD, ALIGN]


async def test_a_pipeline_is_saved_and_its_stages_run_one_after_another(api, settle, name, stages):
    saved = await settle(api.pipelines.submit(name, stages))
    assert repr(saved) == f"<pipeline {name}: fold.output-2 (abodybuilder) → align (align-pdbs)>"
    run = await settle(api.pipelines.run(saved, again=True))
    assert run.status == "In Queue"
    await settle(run.finish(60))
    first, second = await settle(run.stages())
    assert (first.type, second.type) == ("abodybuilder", "align-pdbs")
    assert first.completed <= second.started
    frame = await settle(run.to_frame())
    assert list(frame["status"]) == ["Complete", "Complete"]
    assert (await settle(run.download())).suffix == ".zip"


def test_the_same_run_again_is_the_same_job_and_other_inputs_are_another(client, name, stages):
    saved = client.pipelines.submit(name, stages)
    first = client.pipelines.run(saved)
    again = client.pipelines.run(saved)
    other = client.pipelines.run(saved, {"fold.output-2": {"heavy": SEQUENCE[:-1]}})
    assert first.job_name == again.job_name != other.job_name
    assert client.pipelines.get(other.job_name).settings["inputs"] == {
        "fold.output-2": {"heavy": SEQUENCE[:-1]}
    }


def test_a_changed_pipeline_of_the_same_name_makes_another_run(client, name, stages):
    first = client.pipelines.run(client.pipelines.submit(name, stages))
    changed = Stage(FOLD.name, FOLD.tool, dict(FOLD.settings, heavy=SEQUENCE[:-2]))
    second = client.pipelines.run(client.pipelines.submit(name, [changed, ALIGN]))
    assert first.job_name != second.job_name


async def test_a_changed_pipeline_says_which_stage_it_reused_and_again_computes_all(
    api, settle, name, settings
):
    fold = Stage("fold.output-2", "abodybuilder", {"heavy": settings["sequence"], "light": LIGHT})
    changed = Stage(
        "align", "align-pdbs", {"pdbFiles": [fold.file("file-0.txt"), inline(f"REMARK {name}\n{PDB}")]}
    )
    first = await settle(api.pipelines.run(await settle(api.pipelines.submit(name, [fold, ALIGN]))))
    await settle(first.finish(60))
    saved = await settle(api.pipelines.submit(name, [fold, changed]))
    second = await settle(api.pipelines.run(saved))
    await settle(second.finish(60))
    rows = await settle(second.list_rows())
    assert [row.job.reused_from for row in rows] == [f"{first.job_name}-fold.output-2", None]
    third = await settle(api.pipelines.run(saved, again=True))
    await settle(third.finish(60))
    assert [row.job.reused_from for row in await settle(third.list_rows())] == [None, None]


def test_a_taken_name_of_a_run_shows_the_difference(client, name, stages):
    saved = client.pipelines.submit(name, stages)
    client.pipelines.run(saved, job_name=f"{name}-run")
    with pytest.raises(JobNameTakenError, match="its inputs differ"):
        client.pipelines.run(saved, {"align": {"alignChain": "H"}}, job_name=f"{name}-run")


@pytest.mark.parametrize(
    ("stages", "place", "field", "message"),
    [
        ([], "stages", "stages", "at least one"),
        ([FOLD, FOLD], "stage 2, name", "stages[1].name", "Two stages"),
        ([Stage("no name", "anarci", {})], "stage 1, name", "stages[0].name", "not one of"),
        (
            [Stage("a", "anarci", {"sequence": "123"})],
            *("stage 1, sequence", "stages[0].settings.sequence", "is a digit"),
        ),
        (
            [Stage("a", "anarci", {"sequnce": "A"})],
            *("stage 1, sequnce", "stages[0].settings.sequnce", "Did you mean sequence"),
        ),
        ([ALIGN, FOLD], "stage 1, pdbFiles", "stages[0].settings.pdbFiles", "does not come before"),
    ],
)
def test_a_pipeline_that_cannot_run_is_refused_before_it_is_sent(client, name, stages, place, field, message):
    """The message counts stages from 1, like rows; the problem's field is the path on the wire."""
    with pytest.raises(SettingsError, match=f"{place}: .*{message}") as refused:
        client.pipelines.submit(name, stages)
    assert refused.value.problems[0].field == field


def test_an_unknown_stage_of_the_inputs_and_an_unknown_pipeline(client, name, stages):
    saved = client.pipelines.submit(name, stages)
    with pytest.raises(SettingsError, match="no stage fold"):
        client.pipelines.run(saved, {"fold": {"heavy": "A"}})
    with pytest.raises(NotFoundError, match="no pipeline"):
        client.pipelines.run("nowhere")
    with pytest.raises(UnknownToolError):
        client.pipelines.submit(name, [Stage("a", "no-such-tool")])


@pytest.mark.parametrize("path", ["/etc/passwd", "../x", "a/../../b", "a\nb"])
def test_a_reference_out_of_a_result_is_ignored(path):
    with pytest.raises(FoldnoteError, match="not a path inside"):
        FOLD.file(path)


@pytest.fixture
def foreign(scripted, connect):
    scripted.on("GET", "/tools", answers([{"name": "anarci"}]))
    scripted.on("GET", "/jobs", answers({"error": "none"}, 404))
    return connect()


ONE = [Stage("number", "anarci", SETTINGS)]


@pytest.mark.parametrize(
    "said",
    [
        "p is saved.",
        {"PipelineName": "p", "Stages": ["number"]},
        {"stages": [{"name": "number"}]},
        json.dumps({"x": 1}),
    ],
)
def test_a_saved_pipeline_in_each_shape(scripted, foreign, said):
    scripted.on("POST", "/submit-pipeline", answers(said))
    assert foreign.pipelines.submit("p", ONE).name == "p"
    body = json.loads(scripted.asked[-1].body)
    assert body == {
        "pipelineName": "p",
        "stages": [{"name": "number", "type": "anarci", "settings": SETTINGS}],
    }


@pytest.mark.parametrize("said", ["ok", {"JobName": "r", "JobNames": ["r-number"]}, {"message": None}])
def test_a_run_in_each_shape(scripted, foreign, said):
    scripted.on("POST", "/run-pipeline", answers(said))
    assert foreign.pipelines.run("p", job_name="r").job_name == "r"


def test_a_lost_answer_to_a_run_is_looked_up_before_it_is_repeated(scripted, foreign):
    run = {"jobName": "r", "type": "batch", "tool": "pipeline", "status": "Running", "batchStatus": "Running"}
    scripted.on("GET", "/jobs", answers({"error": "none"}, 404), answers(run))
    scripted.on("POST", "/run-pipeline", breaks())
    assert foreign.pipelines.run("p", job_name="r").status == "Running"
    assert scripted.count("POST", "/run-pipeline") == 1


def test_an_unclaimed_key_is_reported_as_the_reason(scripted, foreign):
    scripted.on("POST", "/submit-pipeline", answers({"error": "Not open."}, 403))
    scripted.on("POST", "/virtual-screening", answers({"error": "Not open."}, 403))
    with pytest.raises(RestrictedRouteError):
        foreign.pipelines.submit("p", ONE)
    with pytest.raises(RestrictedRouteError):
        foreign.screenings.submit("r.pdb", ["a.sdf"])


def test_a_screening_is_a_batch_that_is_found_again(scripted, foreign):
    scripted.on(
        "POST", "/virtual-screening", answers({"batchName": "s", "type": "af2dock", "jobNames": ["s-1"]})
    )
    batch = foreign.screenings.submit("r.pdb", ["a.sdf", "b.sdf"], settings={"numSamples": 3}, batch_name="s")
    assert (batch.job_name, batch.record.tool, batch.record.batch_size) == ("s", "af2dock", 2)
    body = json.loads(scripted.asked[-1].body)
    assert (body["receptor"], body["ligands"], body["rankBy"]) == ("r.pdb", ["a.sdf", "b.sdf"], "affinity")
    parent = {"jobName": "s", "type": "batch", "tool": "af2dock", "status": "Running", "batchSize": 2}
    rows = [{"jobName": f"s-{each}", "type": "af2dock", "status": "Running",
             "settings": {"numSamples": 3, "receptorFile": "r.pdb", "ligandFile": f"{each}.sdf"}} for each in "ba"]  # fmt: skip
    scripted.on(
        "GET", "/jobs", answers(parent), answers({"jobs": rows}), answers(parent), answers({"jobs": rows})
    )
    again = foreign.screenings.submit("r.pdb", ["a.sdf", "b.sdf"], settings={"numSamples": 3}, batch_name="s")
    assert again.status == "Running"
    with pytest.raises(JobNameTakenError, match="s-b: ligandFile differ"):
        foreign.screenings.submit("r.pdb", ["a.sdf", "c.sdf"], settings={"numSamples": 3}, batch_name="s")
    assert scripted.count("POST", "/virtual-screening") == 1


def test_a_screening_of_bare_smiles_is_found_again_at_a_service_that_ends_their_lines(scripted, foreign):
    kept = {"receptorFile": "r.pdb", "ligandFile": "c1ccccc1\n"}
    rows = [{"jobName": "s-1", "type": "vina", "status": "Complete", "settings": kept}]
    parent = {"jobName": "s", "type": "batch", "tool": "vina", "status": "Complete", "batchSize": 1}
    scripted.on("GET", "/jobs", answers(parent), answers({"jobs": rows}), answers(parent), answers({"jobs": rows}))  # fmt: skip
    assert foreign.screenings.submit("r.pdb", ["c1ccccc1"], batch_name="s").status == "Complete"
    with pytest.raises(JobNameTakenError, match="s-1: ligandFile differ"):
        foreign.screenings.submit("r.pdb", ["c1ccccc1C"], batch_name="s")


def test_a_screening_names_itself_by_its_content(scripted, foreign):
    scripted.on("POST", "/virtual-screening", answers("ok"))
    names = {
        foreign.screenings.submit("r.pdb", ligands).job_name for ligands in (["a.sdf"], ["a.sdf"], ["b.sdf"])
    }
    assert len(names) == 2


def test_a_screening_without_ligands_or_with_a_doubtful_file_is_refused(scripted, foreign, tmp_path):
    here = tmp_path / "r.pdb"
    here.write_text("ATOM")
    with pytest.raises(SettingsError, match="at least one ligand"):
        foreign.screenings.submit("r.pdb", [])
    with pytest.raises(SettingsError, match="fn.upload"):
        foreign.screenings.submit(str(here), ["a.sdf"])
    assert scripted.count("POST", "/virtual-screening") == 0


async def test_our_service_screens_with_docking_tools_only(api, settle, name):
    with pytest.raises(BadRequestError, match="anarci does not have the settings receptorFile"):
        await settle(api.screenings.submit(inline(PDB), [inline("C")], tool="anarci", batch_name=name))


async def test_no_model_is_finetuned_yet(api, settle):
    assert await settle(api.models.list()) == ()


@pytest.mark.parametrize(
    "said",
    [
        {"models": [{"modelName": "m", "type": "t"}]},
        {"Models": [{"ModelName": "m"}]},
        [{"jobName": "m"}],
        ["m"],
        json.dumps({"models": ["m"]}),
        {"models": json.dumps(["m"])},
    ],
)
def test_finetuned_models_in_each_shape(scripted, foreign, said):
    scripted.on("GET", "/finetuned-models", answers(said))
    assert [model.model_name for model in foreign.models.list()] == ["m"]


SCHEMA = {
    "type": "object",
    "properties": {"pdb": {"type": "string", "format": "binary"}},
    "required": ["pdb"],
}


@pytest.mark.parametrize("said", ["done", {"Type": "my-tool"}, {"message": "ok", "available": True}])
def test_a_deployed_tool_in_each_shape(scripted, foreign, said):
    scripted.on("POST", "/deploy-model", answers(said))
    assert foreign.models.deploy("my-tool", SCHEMA, command=["run"], cores=2).type == "my-tool"
    body = json.loads(scripted.asked[-1].body)
    assert body == {"type": "my-tool", "schema": SCHEMA, "command": ["run"], "cores": 2}


def test_a_deployment_needs_a_command_or_an_image_and_an_administrator(scripted, foreign):
    with pytest.raises(SettingsError, match="either command or image"):
        foreign.models.deploy("my-tool", SCHEMA)
    scripted.on("POST", "/deploy-model", answers({"error": "no", "code": "admin_required"}, 403))
    with pytest.raises(ForbiddenError):
        foreign.models.deploy("my-tool", SCHEMA, image="x/y")


@pytest.mark.parametrize(
    "said",
    [
        {"models": [{"type": "my-tool"}]},
        {"Models": [{"Type": "my-tool"}]},
        [{"name": "my-tool"}],
        ["my-tool"],
    ],
)
def test_registered_tools_in_each_shape(scripted, foreign, said):
    scripted.on("GET", "/deployed-models", answers(said))
    assert [tool.type for tool in foreign.models.registered()] == ["my-tool"]


def test_a_registered_tool_is_listed_runs_and_is_deleted(tmp_path):
    config = ServiceConfig(data_dir=tmp_path, rate_limit=False, allows_deployment=True)
    with TestClient(create_app(config)) as http:
        key = http.app.state.service.local_key
        client = Client(base_url="http://testserver", api_key=key, http_client=http)
        client.models.deploy("my-tool", SCHEMA, command=["/bin/cp", "job.json", "outputs/"])
        (tool,) = client.models.registered()
        assert (tool.type, tool.command, tool.image) == ("my-tool", ("/bin/cp", "job.json", "outputs/"), None)
        job = client.jobs.submit("my-tool", {"pdb": inline(PDB)}, job_name="mine").wait(60)
        assert "job.json" in {file.name for file in job.result().files}
        client.models.delete("my-tool")
        assert client.models.registered() == ()
        with pytest.raises(BadRequestError, match="No tool of type 'my-tool' is registered"):
            client.models.delete("my-tool")


async def test_again_makes_another_run_and_without_it_the_same_is_found(api, settle, name, stages):
    saved = await settle(api.pipelines.submit(name, stages))
    first = await settle(api.pipelines.run(saved))
    second = await settle(api.pipelines.run(saved, again=True))
    assert second.job_name == f"{first.job_name}-2"
    assert (await settle(api.pipelines.run(saved))).job_name == first.job_name


def test_again_without_an_earlier_run_takes_the_plain_name(client, name, stages):
    saved = client.pipelines.submit(name, stages)
    assert client.pipelines.run(saved, again=True, job_name=f"{name}-run").job_name == f"{name}-run"
    assert client.pipelines.run(saved, again=True, job_name=f"{name}-run").job_name == f"{name}-run-2"


def test_again_screens_once_more_under_a_free_name(scripted, foreign):
    parent = {
        "jobName": "s",
        "type": "batch",
        "tool": "dock",
        "status": "Complete",
        "batchStatus": "Complete",
    }
    scripted.on("GET", "/jobs", answers(parent), answers({"error": "unknown"}, 404))
    scripted.on("POST", "/virtual-screening", answers({"batchName": "s-2"}))
    batch = foreign.screenings.submit(inline(PDB), [inline(PDB)], batch_name="s", again=True)
    assert batch.job_name == "s-2"
    assert json.loads(scripted.asked[-1].body)["batchName"] == "s-2"


@pytest.mark.parametrize("file", [uploaded("fold/x.pdb"), job_file("fold", "x.pdb")])
def test_a_file_that_the_service_would_take_for_a_stages_is_refused(client, name, file):
    stages = [
        Stage("fold", FOLD.tool, FOLD.settings),
        Stage("align", "align-pdbs", {"pdbFiles": [file, file]}),
    ]
    with pytest.raises(SettingsError, match="stage 2, pdbFiles: .* as a file of the stage fold"):
        client.pipelines.submit(name, stages)


@pytest.mark.parametrize("is_nested", [True, False])
def test_a_doubtful_file_in_a_runs_inputs_must_be_confirmed(client, name, tmp_path, monkeypatch, is_nested):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "x.pdb").write_text(PDB)
    saved = client.pipelines.submit(name, [Stage("align", "align-pdbs", {})])
    inputs = {"pdbFiles": [inline(PDB), "x.pdb"]}
    with pytest.raises(SettingsError, match="fn.upload"):
        client.pipelines.run(saved, {"align": inputs} if is_nested else inputs)


@pytest.fixture
def failing(settings):
    """Return three stages, of which the second fails unless its name is changed."""

    def make(second="scan.fail"):
        fold = Stage("fold.output-2", "abodybuilder", {"heavy": settings["sequence"], "light": LIGHT})
        files = [fold.file("file-0.txt"), inline(PDB)]
        scan = Stage(second, "align-pdbs", {"pdbFiles": files})
        return [fold, scan, Stage("last", "align-pdbs", {"pdbFiles": [scan.file("file-0.txt"), inline(PDB)]})]

    return make


async def _fail(api, settle, name, stages, **more):
    run = await settle(api.pipelines.run(await settle(api.pipelines.submit(name, stages)), **more))
    with pytest.raises(JobFailedError, match="The stage scan.fail failed"):
        await settle(run.finish(60))
    return await settle(run.refresh())


async def test_a_failed_run_reports_what_it_would_reuse_and_continues_from_the_failed_stage(
    api, settle, name, failing
):
    run = await _fail(api, settle, name, failing())
    plan = await settle(run.plan_again())
    assert [(stage.name, stage.is_reused, stage.reason) for stage in plan] == [
        ("fold.output-2", True, ""),
        ("scan.fail", False, "since it failed"),
        ("last", False, "since it did not run"),
    ]
    assert describe_plan(plan) == (
        "Run again continues from scan.fail: fold.output-2 is reused, scan.fail and last run."
    )
    again = await settle(run.run_again())
    assert again.job_name == f"{run.job_name}-2"
    with pytest.raises(JobFailedError):
        await settle(again.finish(60))
    jobs = await settle(again.stages())
    assert [job.reused_from for job in jobs] == [f"{run.job_name}-fold.output-2", None, None]
    first, second = [(await settle(each.stages()))[0] for each in (run, again)]
    origins = [(await settle(job.result())).manifest.job_name for job in (first, second)]
    assert origins == [first.job_name] * 2


async def test_every_view_of_a_failed_run_tells_the_stage_that_did_not_run_from_the_failed_one(
    api, settle, name, failing
):
    run = await _fail(api, settle, name, failing())
    stages = await settle(run.stages())
    last = stages[2]
    words = ["Complete", "Failed", "Not run"]
    assert [job.record.word for job in stages] == words
    assert list((await settle(run.to_frame()))["status"]) == words
    assert list(stages.to_frame()["status"]) == words
    assert "Not run" in repr(last)
    assert "Not run" in last._repr_html_()
    assert (last.is_failed, last.is_not_run, str(last.record.status)) == (False, True, "Stopped")
    assert (
        JobGroupProgress([job.job_name for job in stages]).update(last.record)[1] == "0 complete, 1 not run"
    )
    with pytest.raises(JobFailedError, match=r"last' did not run\. The stage scan\.fail failed: "):
        await settle(last.result())


async def test_stages_behind_one_that_was_stopped_did_not_run(api, settle, name, failing):
    fold, scan, last = failing("scan")
    fold = Stage("fold.sleep-30", fold.tool, fold.settings)
    scan = Stage("scan", "align-pdbs", {"pdbFiles": [fold.file("file-0.txt"), inline(PDB)]})
    last = Stage("last", "align-pdbs", {"pdbFiles": [scan.file("file-0.txt"), inline(PDB)]})
    run = await settle(api.pipelines.run(await settle(api.pipelines.submit(name, [fold, scan, last]))))
    first, *_ = await settle(run.stages())
    await settle(first.stop())
    with pytest.raises((JobFailedError, JobStoppedError)):
        await settle(run.finish(60))
    stages = await settle(run.stages())
    assert [job.record.word for job in stages] == ["Stopped", "Not run", "Not run"]
    assert stages[2].error == "The stage fold.sleep-30 was stopped."


async def test_the_code_of_a_run_finds_the_run_that_went_on_from_it(api, settle, name, failing):
    run = await _fail(api, settle, name, failing())
    again = await settle(run.run_again())
    saved = await settle(api.pipelines.submit(name, failing()))
    assert (await settle(api.pipelines.run(saved))).job_name == again.job_name


async def test_going_on_leaves_a_pipeline_that_was_changed_meanwhile(api, settle, name, failing):
    run = await _fail(api, settle, name, failing())
    await settle(api.pipelines.submit(name, failing()[:1]))
    again = await settle(run.run_again())
    with pytest.raises(JobFailedError):
        await settle(again.finish(60))
    assert len(await settle(again.stages())) == 3
    changed = await settle(api.pipelines.run(name, again=True))
    await settle(changed.finish(60))
    assert len(await settle(changed.stages())) == 1


async def test_a_stage_whose_result_was_deleted_runs_again_and_this_is_reported(api, settle, name, failing):
    run = await _fail(api, settle, name, failing())
    (first, *_) = await settle(run.stages())
    await settle(first.delete())
    plan = await settle(run.plan_again())
    assert describe_plan(plan) == (
        "Run again runs all stages: fold.output-2, scan.fail and last."
        " fold.output-2 runs again, since its result was deleted."
    )
    again = await settle(run.run_again())
    with pytest.raises(JobFailedError):
        await settle(again.finish(60))
    assert [job.reused_from for job in await settle(again.stages())] == [None, None, None]


async def test_a_run_again_from_the_start_reuses_nothing(api, settle, name, failing):
    run = await _fail(api, settle, name, failing())
    again = await settle(run.run_again(reuse=False))
    with pytest.raises(JobFailedError):
        await settle(again.finish(60))
    assert [job.reused_from for job in await settle(again.stages())] == [None, None, None]


async def test_a_stage_runs_again_by_itself_with_the_files_of_earlier_stages(api, settle, name, failing):
    fold = Stage("fold.atom", FOLD.tool, failing()[0].settings)
    scan = Stage("scan.fail", "align-pdbs", {"pdbFiles": [fold.file("model.pdb"), inline(PDB)]})
    last = Stage("last", "align-pdbs", {"pdbFiles": [scan.file("model.pdb"), inline(PDB)]})
    run = await _fail(api, settle, name, [fold, scan, last])
    first, second, third = await settle(run.stages())
    again = await settle(second.run_again())
    assert again.job_name == f"{second.job_name}-2"
    with pytest.raises(JobFailedError, match="The probe was asked to fail"):
        await settle(again.finish(60))
    settings = (await settle(again.refresh())).settings
    assert settings["pdbFiles"][0] == f"{first.job_name}/model.pdb"
    assert await settle(second.own_settings()) == settings
    with pytest.raises(FoldnoteError, match=rf"{second.job_name}' has no file 'model.pdb'"):
        await settle(third.run_again())


async def test_a_stage_whose_files_the_pipeline_chooses_refers_to_its_pipeline(api, settle, name, failing):
    fold, scan, _ = failing()
    scan = Stage(scan.name, scan.tool, {"pdbFiles": [StageFile(f"{fold.name}/"), inline(PDB)]})
    run = await _fail(api, settle, name, [fold, scan])
    with pytest.raises(ArgumentError, match=re.escape(f"fn.job('{run.job_name}').run_again()")):
        await settle((await settle(run.stages()))[1].run_again())


async def test_the_pipeline_of_a_run_has_its_inputs_and_its_references(api, settle, name, failing):
    stages = failing()
    lacking = Stage(stages[0].name, stages[0].tool, {"heavy": stages[0].settings["heavy"]})
    run = await _fail(api, settle, name, [lacking, *stages[1:]], inputs={"light": LIGHT})
    found = await settle(run.pipeline())
    assert (found.name, found.stages) == (name, tuple(stages))
    assert isinstance(found.stages[1].settings["pdbFiles"][0], StageFile)


async def test_a_run_that_has_not_ended_is_not_run_again(api, settle, name, failing):
    slow = Stage("slow.sleep-30", FOLD.tool, failing()[0].settings)
    run = await settle(api.pipelines.run(await settle(api.pipelines.submit(name, [slow]))))
    with pytest.raises(FoldnoteError, match="has not ended"):
        await settle(run.run_again())
    await settle(run.stop())


async def test_the_run_of_a_pipeline_is_not_an_ordinary_batch(api, settle, name, settings):
    batch = await settle(api.batches.submit("anarci", [settings], name))
    with pytest.raises(ArgumentError, match="is a batch of anarci, not the run of a pipeline"):
        await settle(api.pipelines.get(batch.job_name))


def _stage_job(name, status="Complete", **more):
    row = {"jobName": name, "type": "abodybuilder", "status": status, "started": "2026-11-01T10:00:00Z"}
    return read_job(
        {**row, "settings": {"heavy": SEQUENCE, "light": LIGHT}, "engineVersion": "probe 1", **more}
    )


def _plan(*jobs, version="probe 1", extensions=("reuse",), stages=("a", "b")):
    tool = Tool(
        type="abodybuilder",
        engine=ToolEngine(name="probe", method="Probe", full_version=version),
        extensions=extensions,
    )
    run = read_job({"jobName": "r", "type": "batch", "tool": "pipeline", "status": "Stopped"})
    rows = [Stage(name, "abodybuilder", {}) for name in stages]
    return describe_plan(plan_stages(run, rows, jobs, {tool.type: tool}))


def test_stages_that_are_not_reused_are_reported_with_the_reason():
    done, failed = _stage_job("r-a"), _stage_job("r-b", "Stopped", error="No memory.")
    assert _plan(done, failed) == "Run again continues from b: a is reused, b runs."
    assert _plan(done, failed, version="probe 2") == (
        "Run again runs all stages: a and b."
        " a runs again, since it ran with probe 1, and the service now has probe 2."
    )
    unknown = _stage_job("r-a", engineVersion=None)
    assert "a runs again, since the version of its engine was not recorded." in _plan(unknown, failed)
    assert _plan(done, failed, extensions=()) == (
        "Run again runs all stages: a and b, since this service does not reuse results."
    )


def test_a_stage_of_several_jobs_is_reused_as_far_as_they_are_complete():
    jobs = [
        _stage_job("r-a"),
        _stage_job("r-b"),
        _stage_job("r-b-2", "Stopped", error="No."),
        _stage_job("r-b-3"),
    ]
    tool = Tool(
        type="abodybuilder",
        engine=ToolEngine(name="p", method="P", full_version="probe 1"),
        extensions=("reuse",),
    )
    run = read_job({"jobName": "r", "type": "batch", "tool": "pipeline", "status": "Stopped"})
    plan = plan_stages(run, [Stage("a", tool.type), Stage("b", tool.type)], jobs, {tool.type: tool})
    assert plan[1].reason == "since 1 of its 3 jobs did not complete; the others are reused"


def test_a_service_that_keeps_no_stages_has_them_in_its_jobs():
    run = read_job({"jobName": "r", "type": "batch", "status": "Stopped", "settings": {"pipelineName": "p"}})
    jobs = [_stage_job("r-a"), _stage_job("r-b")]
    found = read_pipeline(run, jobs, {})
    assert (found.name, [stage.name for stage in found.stages]) == ("p", ["a", "b"])
    counted = run.model_copy(update={"batch_size": 2})
    with pytest.raises(FoldnoteError, match="Jobs of 'r' were deleted"):
        read_pipeline(counted, jobs[:1], {})
