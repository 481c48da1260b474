"""The webhook of a job, a batch and an account, set with both APIs of the client and on the command line."""

import warnings

import httpx
import pytest
from fastapi.testclient import TestClient
from job_settings import TOOLS
from probe_engine import write_probe_engine

from foldnote import catalog
from foldnote.client import AsyncClient, Client, Stage
from foldnote.errors import BadRequestError, FoldnoteError, NotSentWarning, SettingsError
from foldnote.service.config import ServiceConfig
from foldnote.service.http.app import create_app

START = "https://hooks.example.invalid/foldnote/"
URL = f"{START}me"


@pytest.fixture(scope="module")
def calling(tmp_path_factory):
    """Start a service that allows addresses, all of whose jobs wait, so that it calls none."""
    folder = tmp_path_factory.mktemp("calling")
    config = ServiceConfig(
        data_dir=folder / "data",
        rate_limit=False,
        engine_paths=(write_probe_engine(folder / "engines", tools=TOOLS, memory_mb=16),),
        has_dispatcher=False,
        webhooks={"allow": [START]},
    )
    with TestClient(create_app(config)) as http:
        yield http


@pytest.fixture(params=["at once", "awaited"])
async def own(request, calling, name):
    """Return a client of an account without a secret, with either API."""
    key = calling.app.state.service.issue_key(f"{name}@lab.example")
    if request.param == "at once":
        yield Client(base_url="http://testserver", api_key=key, http_client=calling)
        return
    transport = httpx.ASGITransport(app=calling.app)
    async with httpx.AsyncClient(transport=transport, base_url="http://testserver") as http:
        yield AsyncClient(base_url="http://testserver", api_key=key, http_client=http)


async def test_an_account_makes_a_secret_and_sets_an_address(own, settle, settings, name):
    with pytest.raises(BadRequestError, match="has no secret yet.*renew_secret"):
        await settle(own.webhook.set(URL))
    secret = await settle(own.webhook.renew_secret())
    assert secret.get_secret_value().startswith("whsec_")
    assert secret.get_secret_value() not in repr(secret)
    found = await settle(own.webhook.set(URL))
    assert (found.url, found.has_secret, found.allowed) == (URL, True, (START,))
    assert f"addresses may begin with: {START}" in str(found)
    job = await settle(own.jobs.submit("anarci", settings, job_name=name))
    assert (await settle(own.jobs.get(name))).webhook == "Waiting for the end of the job."
    assert (await settle(own.webhook.set(None))).url is None
    assert job.job_name == name


async def test_a_job_and_a_batch_have_one_of_their_own(own, settle, settings, name):
    await settle(own.webhook.renew_secret())
    await settle(own.jobs.submit("anarci", settings, job_name=name, webhook=URL))
    await settle(own.batches.submit("anarci", [settings | {"scheme": "kabat"}], f"{name}b", webhook=URL))
    for each in (name, f"{name}b"):
        assert (await settle(own.jobs.get(each))).webhook == "Waiting for the end of the job."
    (row,) = await settle(own.jobs.list(batch=f"{name}b"))
    assert row.webhook is None


async def test_the_run_of_a_pipeline_has_one_of_its_own(own, settle, settings, name):
    saved = await settle(own.pipelines.submit(name, [Stage("number", "anarci", settings)]))
    await settle(own.webhook.renew_secret())
    run = await settle(own.pipelines.run(saved, webhook=URL))
    assert (await settle(own.jobs.get(run.job_name))).webhook == "Waiting for the end of the job."
    (stage,) = await settle(run.stages())
    assert stage.webhook is None
    plain = await settle(own.pipelines.run(saved, {"number": {"scheme": "kabat"}}))
    with pytest.warns(NotSentWarning, match="without a webhook"):
        again = await settle(own.pipelines.run(saved, {"number": {"scheme": "kabat"}}, webhook=URL))
    assert again.job_name == plain.job_name


async def test_an_address_that_is_not_allowed_is_refused_with_the_rule(own, settle, settings, name):
    with pytest.raises(BadRequestError, match=f"begin with {START}") as refused:
        await settle(own.jobs.submit("anarci", settings, job_name=name, webhook="https://example.org/"))
    assert refused.value.field == "foldnote.webhook"


async def test_the_same_submission_with_a_webhook_finds_the_job_and_says_that_it_has_none(
    own, settle, settings, name
):
    await settle(own.webhook.renew_secret())
    await settle(own.jobs.submit("anarci", settings, job_name=name))
    with pytest.warns(NotSentWarning, match="without a webhook"):
        again = await settle(own.jobs.submit("anarci", settings, job_name=name, webhook=URL))
    assert again.job_name == name


async def test_a_service_without_webhooks_is_sent_nothing(api, settle, settings, name):
    plain = catalog.tool("anarci")
    for submit in (
        lambda: api.jobs.submit(plain, settings, job_name=name, webhook=URL),
        lambda: api.batches.submit(plain, [settings], name, webhook=URL),
        lambda: api.pipelines.run("absent", webhook=URL),
    ):
        with pytest.raises(
            SettingsError, match="calls no webhooks.*foldnote watch JOB --mail.*--then"
        ) as refused:
            await settle(submit())
        assert refused.value.problems[0].field == "foldnote.webhook"
    with pytest.raises(FoldnoteError, match="calls no webhooks"):
        await settle(api.webhook.get())


async def test_an_empty_webhook_address_needs_no_support_by_the_service(api, settle, settings, name):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        job = await settle(api.jobs.submit("anarci", settings, job_name=name, webhook=""))
    assert job.webhook is None
