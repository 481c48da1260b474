"""Organizations, their members and budgets, and the keys of accounts."""

from __future__ import annotations

import argparse
from dataclasses import asdict
from datetime import UTC, datetime, timedelta

from foldnote.errors import ConfigurationError
from foldnote.service.admin.opening import Report
from foldnote.service.domain.access.keys import hash_key, make_key
from foldnote.service.store import clock
from foldnote.service.store.store import Store
from foldnote.text import count


def add_organization(store: Store, options: argparse.Namespace) -> Report:
    """Create an organization.

    Raises:
        ConfigurationError: the name is taken.
    """
    if not store.organizations.add(options.name):
        raise ConfigurationError(f"The organization {options.name!r} already exists.")
    return {"message": f"The organization {options.name} was created.", "name": options.name}


def list_organizations(store: Store, _: argparse.Namespace) -> Report:
    """List organizations with members, budget and the weighted hours used this month."""
    rows = store.organizations.list()
    lines = [
        f"{row.name}: {count(len(row.members), 'member')}, {row.spent:g} of"
        f" {'unlimited' if row.budget is None else f'{row.budget:g}'} weighted hours this month"
        + "".join(f"\n  {email}" for email in row.members)
        for row in rows
    ]
    message = "\n".join(lines) or "There are no organizations."
    return {"message": message, "organizations": [asdict(row) for row in rows]}


def set_budget(store: Store, options: argparse.Namespace) -> Report:
    """Set the weighted hours that an organization's members may use in a calendar month.

    Raises:
        ConfigurationError: there is no such organization.
    """
    if not store.organizations.set_budget(options.name, options.hours):
        raise ConfigurationError(f"There is no organization {options.name!r}.")
    shown = "no budget" if options.hours is None else f"{options.hours:g} weighted hours a month"
    return {"message": f"{options.name} now has {shown}.", "name": options.name, "budget": options.hours}


def add_member(store: Store, options: argparse.Namespace) -> Report:
    """Add an account to an organization, creating the account if needed.

    Raises:
        ConfigurationError: there is no such organization.
    """
    store.accounts.ensure_account(options.email)
    if not store.organizations.add_member(options.name, options.email):
        raise ConfigurationError(f"There is no organization {options.name!r}.")
    return {"message": f"{options.email} is now a member of {options.name}.", "email": options.email}


def remove_member(store: Store, options: argparse.Namespace) -> Report:
    """Remove an account from its organization.

    Raises:
        ConfigurationError: the account is in no organization.
    """
    if not store.organizations.remove_member(options.email):
        raise ConfigurationError(f"{options.email} is in no organization.")
    return {"message": f"{options.email} was removed from its organization.", "email": options.email}


def issue_key(store: Store, options: argparse.Namespace) -> Report:
    """Issue a key for an account, creating the account if needed. The key is shown only once."""
    expires = None
    if options.days is not None:
        expires = clock.stamp(datetime.now(UTC) + timedelta(days=options.days))
    key = make_key()
    account = store.accounts.ensure_account(options.email)
    store.accounts.add_key(account, hash_key(key), is_admin=options.admin, expires=expires)
    return {"message": key, "key": key, "email": options.email, "expires": expires}


def revoke_keys(store: Store, options: argparse.Namespace) -> Report:
    """Revoke one key, or every key of an account.

    Raises:
        ConfigurationError: there is no such key.
    """
    number = store.accounts.revoke(email=options.which) if "@" in options.which else 0
    number = number or store.accounts.revoke(sha256=hash_key(options.which))
    if not number:
        raise ConfigurationError("There is no such valid key, or no valid key of that address.")
    return {"message": f"Revoked: {count(number, 'key')}.", "revoked": number}


def move_account(store: Store, options: argparse.Namespace) -> Report:
    """Move jobs, files, pipelines and keys of one account to another.

    Raises:
        ConfigurationError: one of them does not exist, or they are the same.
    """
    moved = store.trials.merge(options.email, options.target)
    if moved is None:
        raise ConfigurationError(
            f"{options.email} and {options.target} must be two accounts of this service."
        )
    message = f"Moved from {options.email} to {options.target}: {count(moved, 'job')}."
    return {"message": message, "moved": moved}
