"""Commands about the account: its data, and requesting a trial key.

A key is never printed. The claim link is printed, for the person who runs the command.
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from foldnote.cli.connection import connect
from foldnote.cli.printing import report

if TYPE_CHECKING:
    from foldnote.models import Account


def run_account(options: argparse.Namespace) -> int:
    """Print the account's data, as far as it is known."""
    return _print(connect(options).account.get(), options)


def run_provision(options: argparse.Namespace) -> int:
    """Request a trial key, once, and print how to claim it."""
    return _print(connect(options).account.provision(), options)


def _print(account: Account, options: argparse.Namespace) -> int:
    content = {
        "service": account.service,
        "profile": account.profile,
        "hasKey": account.has_key,
        "email": account.email,
        "tier": account.tier,
        "isClaimed": account.is_claimed,
        "expiresAt": account.expires_at.isoformat() if account.expires_at else None,
        "claimUrl": account.claim_url,
        "jobsAllowed": account.jobs_allowed,
        "jobsUsed": account.jobs_used,
        "jobsLeft": account.jobs_left,
        "weightedHours": account.weighted_hours,
        "allowanceWeightedHours": account.allowance_weighted_hours,
    }
    words = {
        "service": account.service,
        "profile": account.profile,
        "key": "stored" if account.has_key else "none; `foldnote provision` requests a trial key",
        "account": account.email,
        "trial": account.tier,
        "key expires": f"{account.expires_at:%Y-%m-%d}, unless claimed" if account.expires_at else None,
        "claim it at": None if account.is_claimed else account.claim_url,
        "jobs left": None if account.jobs_left is None else f"{account.jobs_left} of {account.jobs_allowed}",
    }
    text = "\n".join(f"{name}: {value}" for name, value in words.items() if value is not None)
    return report(options, content, text)
