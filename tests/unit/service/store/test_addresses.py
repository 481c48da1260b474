"""An email address identifies one account regardless of case."""

import pytest
import sqlalchemy as sa

from foldnote.service.store import clock
from foldnote.service.store.schema import accounts
from foldnote.service.store.store import Store


@pytest.fixture
def store(tmp_path):
    store = Store(tmp_path / "service.sqlite3")
    yield store
    store.close()


def test_upper_and_lower_case_are_one_account(store):
    assert store.accounts.ensure_account("ADA@lab.org") == store.accounts.ensure_account("ada@Lab.org")


def test_two_accounts_of_an_earlier_version_are_each_found_by_their_spelling(store):
    old = {"tier": "full", "created": clock.now()}
    with store.database.write() as connection:
        for email in ("ADA@lab.org", "ada@lab.org"):
            connection.execute(sa.insert(accounts).values(old | {"email": email}))
    upper, lower = (store.accounts.ensure_account(email) for email in ("ADA@lab.org", "ada@lab.org"))
    assert upper != lower
    assert store.trials.merge("ADA@lab.org", "ada@lab.org") is not None


def test_keys_and_membership_are_found_by_either_spelling(store):
    account = store.accounts.ensure_account("Ada@lab.org")
    store.accounts.add_key(account, "hash")
    store.organizations.add("lab")
    assert store.organizations.add_member("lab", "ADA@LAB.ORG")
    assert store.organizations.remove_member("ada@lab.org")
    assert store.accounts.revoke(email="ada@LAB.org") == 1


def test_a_file_that_was_replaced_keeps_its_name_when_accounts_are_merged(store):
    trial, own = (store.accounts.ensure_account(f"{name}@lab.org") for name in ("trial", "ada"))
    for content in ("first", "second"):
        store.files.put(trial, "", "a.pdb", 1, content)
    store.trials.merge("trial@lab.org", "ada@lab.org")
    merged = store.files.page(own, "", offset=0, limit=10)[0]
    assert [(each.name, each.sha256) for each in merged] == [("a.pdb", "second")]


def test_an_unknown_address_has_no_account(store):
    assert store.accounts.revoke(email="x@lab.org") == 0
