"""The options of `foldnote serve` for limits: one row per limit, read into the configuration.

Limits are the fields of `Limits` and `TrialTerms`; a test checks that each has a row here.
"""

from __future__ import annotations

import argparse
import ipaddress
from collections.abc import Callable
from dataclasses import dataclass
from urllib.parse import urlsplit

from foldnote.number_arguments import (
    MAX_DAYS,
    MAX_NUMBER,
    read_amount,
    read_count,
    read_positive,
    read_rate,
    read_up_to,
)
from foldnote.service.config import MB, Limits, TrialTerms

Number = int | float
BAD_INPUT, BROKEN = 2, 6
"""Exit codes of a service or an administrator's command that fails, as in the command line's table: an option
or the configuration is wrong; a folder, file or engine cannot be used."""


def read_address(text: str) -> str:
    """Parse a URL that begins with http:// or https:// and has a host.

    Raises:
        ArgumentTypeError: the text is not such a URL.
    """
    parts = urlsplit(text)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise argparse.ArgumentTypeError(f"{text!r} is not an address such as https://lab.example.org")
    return text


def read_proxy(text: str) -> str:
    """Parse the address of a machine or network; ``*`` for any.

    Raises:
        ArgumentTypeError: the text is not an address. Host names are not resolved.
    """
    try:
        return (
            text if text == "*" else str(ipaddress.ip_network(text)).removesuffix("/32").removesuffix("/128")
        )
    except ValueError:
        sentence = f"{text!r} is not an address of a machine or network, such as 127.0.0.1 or 10.0.0.0/24"
        raise argparse.ArgumentTypeError(sentence) from None


@dataclass(frozen=True)
class LimitOption:
    """One row: `--flag NUMBER` sets `field` of `Limits` or `TrialTerms`."""

    flag: str
    field: str
    read: Callable[[str], Number]
    help: str
    scale: int = 1
    """Factor from the unit of the option to the unit of the field."""
    most: int = MAX_NUMBER


LIMIT_OPTIONS: tuple[LimitOption, ...] = (
    LimitOption("requests-per-second", "requests_per_second", read_rate, "requests per second and key"),
    LimitOption("burst", "burst", read_positive, "burst of requests per key"),
    LimitOption("upload-mb", "upload_bytes", read_positive, "largest upload in MB (2**20 bytes)", MB),
    LimitOption("validation-bytes", "validation_bytes", read_positive, "largest body of /validate-job"),
    LimitOption("submission-mb", "submission_bytes", read_positive,
                "largest body of a submission in MB, including inline files", MB),
    LimitOption("small-body-mb", "small_body_bytes", read_positive,
                "largest body of every other route in MB", MB),
    LimitOption("held-mb", "held_bytes", read_positive,
                "total MB of bodies that are processed at the same time", MB),
    LimitOption("batch-rows", "batch_rows", read_positive, "maximum rows of a batch"),
    LimitOption("validation-rows", "validation_rows", read_positive, "maximum rows of one validation"),
    LimitOption("page-rows", "page_rows", read_positive, "maximum jobs of a page of GET /jobs"),
    LimitOption("file-rows", "file_rows", read_positive, "maximum files of a page of GET /files"),
    LimitOption("inline-wait-s", "inline_wait_s", read_amount,
                "seconds that POST /result is held open while an archive is built"),
    LimitOption("link-s", "link_s", read_positive, "lifetime of a signed link in seconds"),
    LimitOption("output-mb", "output_bytes", read_positive, "largest outputs of a run in MB", MB),
    LimitOption("free-disk-mb", "free_disk_bytes", read_count,
                "MB that must be free for anything new to be accepted", MB),
    LimitOption("ballast-mb", "ballast_bytes", read_count,
                "MB reserved for essential writes when the disk is full", MB),
    LimitOption("storage-mb", "storage_bytes", read_count,
                "MB of files, settings and results per account, 0 for no limit", MB),
    LimitOption("trial-storage-mb", "trial_storage_bytes", read_count,
                "MB of files, settings and results per unclaimed account, 0 for no limit", MB),
    LimitOption("trial-jobs", "jobs", read_count, "total jobs of an unclaimed key"),
    LimitOption("monthly-jobs", "monthly_jobs", read_count, "jobs of a claimed account per calendar month"),
    LimitOption("trial-days", "days", read_positive, "lifetime of an unclaimed key in days",
                most=MAX_DAYS),
    LimitOption("provisions-per-source", "hourly_per_source", read_count,
                "trial keys per hour and client address"),
    LimitOption("provisions", "hourly", read_count, "trial keys per hour for all client addresses"),
    LimitOption("allowance-hours", "allowance_weighted_hours", read_amount,
                "largest estimate of a free-energy submission with an unclaimed key, in weighted hours"),
)  # fmt: skip


def add_limit_arguments(parser: argparse.ArgumentParser) -> None:
    """Add an option for every limit, with its default."""
    group = parser.add_argument_group("limits")
    defaults = vars(Limits()) | vars(TrialTerms())
    for row in LIMIT_OPTIONS:
        default = defaults[row.field] / row.scale
        group.add_argument(
            f"--{row.flag}",
            type=read_up_to(row.read, row.most),
            metavar="NUMBER",
            help=f"{row.help} (default: {default:.10g})",
        )


def read_limits(options: argparse.Namespace) -> tuple[Limits, TrialTerms]:
    """Return the limits as set by the options."""
    given = {row.field: getattr(options, row.flag.replace("-", "_")) for row in LIMIT_OPTIONS}
    scales = {row.field: row.scale for row in LIMIT_OPTIONS}
    changed = {field: value * scales[field] for field, value in given.items() if value is not None}
    limits = {field: value for field, value in changed.items() if field in vars(Limits())}
    terms = {field: value for field, value in changed.items() if field not in limits}
    return Limits(**limits), TrialTerms(is_open=not options.no_provisioning, **terms)
