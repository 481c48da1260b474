"""Commands about the account: its data, and requesting a trial key.

A key is never printed. The claim link is printed, for the person who runs the command.
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from foldnote.cli.connection import add_connection, connect
from foldnote.cli.printing import name_commands, report
from foldnote.errors import ArgumentError

if TYPE_CHECKING:
    from foldnote.models import Account


def run_account(options: argparse.Namespace) -> int:
    """Print the account's data, as far as it is known."""
    return _print_account(connect(options).account.get(), options)


def run_provision(options: argparse.Namespace) -> int:
    """Request a trial key, once, and print how to claim it."""
    return _print_account(connect(options).account.provision(), options)


def add_webhook(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``webhook``."""
    parser.add_argument("--url", metavar="URL", help="call this address at the end of every job from now on")
    parser.add_argument(
        "--no-url", action="store_true", help="call no address, except for jobs that have their own"
    )
    parser.add_argument("--new-secret", action="store_true",
                        help="create a new secret for signing requests, and print it once")  # fmt: skip
    add_connection(parser)


def run_webhook(options: argparse.Namespace) -> int:
    """Show or set the account's webhook.

    Raises:
        ArgumentError: an address is to be both set and removed; nothing was changed.
    """
    if options.url and options.no_url:
        raise ArgumentError("Give either --url or --no-url.")
    webhook = connect(options).webhook
    secret = webhook.renew_secret().get_secret_value() if options.new_secret else None
    settings = webhook.set(options.url) if options.url or options.no_url else webhook.get()
    content = {
        "url": settings.url,
        "hasSecret": settings.has_secret,
        "secretCreated": None if settings.secret_created is None else settings.secret_created.isoformat(),
        "allowed": list(settings.allowed),
        **({"secret": secret} if secret else {}),
    }
    secret_line = f"\nthe secret, which is shown only once: {secret}" if secret else ""
    return report(options, content, f"{name_commands(str(settings))}{secret_line}")


def _print_account(account: Account, options: argparse.Namespace) -> int:
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
    fields = {
        "service": account.service,
        "profile": account.profile,
        "key": "stored" if account.has_key else "none; `foldnote provision` requests a trial key",
        "account": account.email,
        "trial": account.tier,
        "key expires": f"{account.expires_at:%Y-%m-%d}, unless claimed" if account.expires_at else None,
        "claim it at": None if account.is_claimed else account.claim_url,
        "jobs left": None if account.jobs_left is None else f"{account.jobs_left} of {account.jobs_allowed}",
    }
    text = "\n".join(f"{name}: {value}" for name, value in fields.items() if value is not None)
    return report(options, content, text)
