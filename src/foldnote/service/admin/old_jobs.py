"""Delete ended jobs that are old or large, after showing them."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace

from foldnote.errors import ConfigurationError
from foldnote.service.admin.opening import Report
from foldnote.service.config import MB
from foldnote.service.domain.retention import Removal, RetentionTerms, plan_removals
from foldnote.service.store.store import Store
from foldnote.text import count, format_size

_SHOWN = 20
"""Maximum number of an account's jobs listed in the text."""


def purge(store: Store, options: argparse.Namespace) -> Report:
    """Show the ended jobs that meet the conditions; with `--apply`, delete them with their results.

    Raises:
        ConfigurationError: there is no condition.
    """
    terms = RetentionTerms(
        options.older_than_days,
        None if options.larger_than_mb is None else int(options.larger_than_mb * MB),
        None if options.keep_mb is None else int(options.keep_mb * MB),
        options.account,
    )
    if terms == RetentionTerms(email=options.account):
        raise ConfigurationError(
            "Say which jobs: --older-than-days, --larger-than-mb, --keep-mb, or several of them."
        )
    removals = plan_removals(store, terms)
    is_done = bool(options.apply)
    if is_done:
        removals = [
            replace(each, jobs=tuple(job for job in each.jobs if store.jobs.delete_ended(job.job_id)))
            for each in removals
        ]
    return {
        "message": _format_removals(removals, is_done=is_done),
        "deleted": is_done,
        "accounts": [
            {
                "email": each.email,
                "usedBytes": each.used_bytes,
                "freedBytes": each.freed_bytes,
                "jobs": [
                    {"jobName": job.name, "type": job.tool, "ended": job.ended, "bytes": job.size_bytes}
                    for job in each.jobs
                ],
            }
            for each in removals
        ],
    }


def _format_removals(removals: Sequence[Removal], *, is_done: bool) -> str:
    number = sum(len(each.jobs) for each in removals)
    if not number:
        return "No ended job meets the conditions."
    lines = []
    for each in removals:
        left = format_size(each.used_bytes - each.freed_bytes)
        lines.append(
            f"{each.email}: {count(len(each.jobs), 'job')}, {format_size(each.freed_bytes)};"
            f" stores {format_size(each.used_bytes)} now, {left} afterwards"
        )
        lines += [
            f"  {job.ended[:10]}  {job.name} ({job.tool}), {format_size(job.size_bytes)}"
            for job in each.jobs[:_SHOWN]
        ]
        if len(each.jobs) > _SHOWN:
            lines.append(f"  … and {count(len(each.jobs) - _SHOWN, 'more job')}; --json lists all")
    size = format_size(sum(each.freed_bytes for each in removals))
    lines.append(
        f"{count(number, 'job')} deleted with results; the running service frees {size} within minutes."
        if is_done
        else f"{count(number, 'job')}, {size}. Nothing was deleted; add --apply to delete them."
    )
    return "\n".join(lines)
