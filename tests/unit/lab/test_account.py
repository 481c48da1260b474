"""What a page gets of the account: its figures, but never the link that claims it."""

from lab_fixtures import TOKEN, URL

from foldnote.lab.account import AccountCache
from foldnote.models.account import Account

LOGIN = {"Authorization": f"token {TOKEN}"}


async def test_the_account_of_a_trial_key_is_reported_without_its_claim_link(jupyter, trial):
    answer = await jupyter.get("account?profile=hosted", headers=LOGIN)
    account = answer.json()
    assert (account["tier"], account["jobsLeft"], account["canClaim"]) == ("agent-trial", 10, True)
    assert account["expiresAt"] is not None
    assert trial.claim_url not in answer.text
    assert trial.claim_url.rpartition("=")[2] not in answer.text


async def test_a_person_who_follows_the_claim_is_sent_on_to_the_services_page(jupyter, trial):
    answer = await jupyter.get("account/claim?profile=hosted", headers=LOGIN)
    assert (answer.status_code, answer.headers["Location"]) == (302, trial.claim_url)
    assert answer.headers["Referrer-Policy"] == "no-referrer"
    assert answer.headers["Cache-Control"] == "no-store"


async def test_another_site_cannot_redirect_a_user_to_the_claim(jupyter, trial):
    answer = await jupyter.get(
        "account/claim?profile=hosted", headers=LOGIN | {"Sec-Fetch-Site": "cross-site"}
    )
    assert answer.status_code == 403
    assert "Location" not in answer.headers


async def test_many_pages_ask_the_service_once_and_a_wish_asks_again(jupyter, trial, service):
    first = await jupyter.get("account?profile=hosted", headers=LOGIN)
    before = service.requests
    again = await jupyter.get("account?profile=hosted", headers=LOGIN)
    assert (again.json(), service.requests) == (first.json(), before)
    await jupyter.get("account?profile=hosted&fresh=1", headers=LOGIN)
    assert service.requests > before


async def test_wishes_of_several_pages_for_the_same_news_are_one_question():
    asked, now = [], [0.0]

    async def ask():
        asked.append(now[0])
        return Account(service=URL, profile="hosted", tier="free")

    session = AccountCache(ask, lambda: now[0])
    for moment in (0.0, 1.0, 2.0, 10.0, 11.0):
        now[0] = moment
        await session.read(is_fresh=True)
    assert asked == [0.0, 10.0]


async def test_this_computers_own_service_has_no_account_and_is_not_asked(jupyter, service):
    assert (await jupyter.get("account", headers=LOGIN)).json()["isOwnService"]
    assert service.requests == 0
    assert (await jupyter.get("account/claim", headers=LOGIN)).status_code == 404
