"""The section ``[webhooks]`` of ``config.toml``: which URLs the service may call, and how often.

A URL is allowed if it begins with one of the entries; the last path segment of the entry must match
completely. Host names are resolved when the URL is called. The IP address must be public, unless the entry
names its network.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self
from urllib.parse import SplitResult, urlsplit

from foldnote import settings
from foldnote.errors import ConfigurationError

Network = ipaddress.IPv4Network | ipaddress.IPv6Network
EXAMPLE = "https://hooks.example.org/foldnote/"
MAX_URL_LENGTH = 2000
_WHERE = "The section [webhooks] of config.toml"
_PORTS = {"http": 80, "https": 443}
_CHARACTERS = re.compile(r"[!-~]+")
_HIDDEN_PARTS = re.compile(r"%(?:2e|2f|5c)|\\", re.IGNORECASE)
_NOT_PUBLIC = tuple(
    map(
        ipaddress.ip_network,
        ("::/96", "::ffff:0:0:0/96", "64:ff9b::/96", "64:ff9b:1::/48", "2002::/16", "2001::/32", "fec0::/10"),
    )
)
"""IPv6 networks that embed IPv4 addresses, which may be private, and the network of site-local addresses."""
_MAX_DELAY_S, _MAX_ATTEMPTS, _MAX_TIMEOUT_S = 86_400, 20, 60


@dataclass(frozen=True)
class WebhookAddress:
    """The parts of a URL; `target` is the path with the query."""

    scheme: str
    host: str
    port: int
    path: str
    target: str

    @classmethod
    def read(cls, text: str) -> Self:
        """Split a URL into its parts.

        Raises:
            ValueError: says what is wrong with it, as a clause.
        """
        if len(text) > MAX_URL_LENGTH:
            raise ValueError(f"it has more than {MAX_URL_LENGTH:,} characters")
        if not _CHARACTERS.fullmatch(text):
            raise ValueError("it has a space, a control character or a letter outside of ASCII")
        try:
            parts = urlsplit(text)
            port = parts.port
        except ValueError as exc:
            raise ValueError("its host or port cannot be read") from exc
        if fault := _find_fault(parts):
            raise ValueError(fault)
        path = parts.path or "/"
        target = f"{path}?{parts.query}" if parts.query else path
        host = str(parts.hostname).rstrip(".")
        return cls(parts.scheme, host, port or _PORTS[parts.scheme], path, target)


def _find_fault(parts: SplitResult) -> str | None:
    if parts.scheme not in _PORTS or not parts.hostname:
        return f"it is not like {EXAMPLE}"
    if "@" in parts.netloc:
        return "it has a user name or password"
    if parts.fragment:
        return "it has a part after #"
    if _HIDDEN_PARTS.search(parts.path) or {".", ".."} & set(parts.path.split("/")):
        return r"its path has . or .. as a part, \ or an encoded separator"
    return None


@dataclass(frozen=True)
class AllowedAddress:
    """An entry of the list.

    Attributes:
        text: prefix of allowed URLs, as the administrator wrote it.
        start: the parts of that prefix.
        networks: non-public networks in which the host may be.
    """

    text: str
    start: WebhookAddress
    networks: tuple[Network, ...] = ()

    def covers(self, address: WebhookAddress) -> bool:
        """Return whether the URL begins with this entry."""
        start, requested = self.start, address
        if (requested.scheme, requested.host, requested.port) != (start.scheme, start.host, start.port):
            return False
        return requested.path == start.path or requested.path.startswith(f"{start.path.rstrip('/')}/")

    def permits(self, ip_address: str) -> bool:
        """Return whether its host may have this IP address: a public one, or one in its networks."""
        ip = ipaddress.ip_address(ip_address.partition("%")[0])
        ip = getattr(ip, "ipv4_mapped", None) or ip
        if any(ip.version == network.version and ip in network for network in self.networks):
            return True
        is_private = ip.version == 6 and any(ip in network for network in _NOT_PUBLIC)
        return ip.is_global and not ip.is_multicast and not is_private


@dataclass(frozen=True)
class WebhookOptions:
    """The URLs that may be called, and how.

    Attributes:
        allow: prefixes of allowed URLs.
        certificates: file of certificates (PEM) to trust in addition to the system's; None for none.
        per_account: maximum number of an account's undelivered webhooks.
        retry_after_s: seconds between a failed attempt and the next; their number limits the attempts.
        timeout_s: maximum time of an attempt.
    """

    allow: tuple[AllowedAddress, ...]
    certificates: Path | None = None
    per_account: int = 1000
    retry_after_s: tuple[float, ...] = (10, 60, 300, 1800, 7200, 21_600)
    timeout_s: float = 10.0

    @property
    def starts(self) -> list[str]:
        """The prefixes of allowed URLs, as the administrator wrote them."""
        return [entry.text for entry in self.allow]

    def find(self, address: WebhookAddress) -> AllowedAddress | None:
        """Return the entry with which the URL begins; None if it is not allowed."""
        return next((entry for entry in self.allow if entry.covers(address)), None)

    @classmethod
    def read(cls, section: Mapping[str, Any]) -> Self | None:
        """Check the section ``[webhooks]``; return None if there is none, or it allows nothing.

        Raises:
            ConfigurationError: an option is unknown or wrong.
        """
        settings.require_known_options(_WHERE, section, cls.__dataclass_fields__)
        options = dict(section)
        _require(
            options, "allow", isinstance(options.get("allow", []), list), f'a list such as ["{EXAMPLE}"]'
        )
        allow = tuple(_read_entry(entry) for entry in options.get("allow", []))
        if not allow:
            return None
        _check_numbers(options)
        if (file := options.get("certificates")) is not None:
            _require(options, "certificates", isinstance(file, str) and Path(file).is_file(), "a file")
            options["certificates"] = Path(file)
        if "retry_after_s" in options:
            options["retry_after_s"] = tuple(options["retry_after_s"])
        return cls(**options | {"allow": allow})


def _read_entry(entry: object) -> AllowedAddress:
    fields = {"address": entry} if isinstance(entry, str) else entry
    if not isinstance(fields, dict) or fields.keys() - {"address", "networks"}:
        raise ConfigurationError(
            f'{_WHERE} has {entry!r} in allow; write "{EXAMPLE}", or for an address that is not public'
            ' {address = "https://hooks.lab.internal/", networks = ["10.0.0.0/8"]}.'
        )
    text = fields.get("address")
    try:
        start = WebhookAddress.read(str(text))
        if start.target != start.path:
            raise ValueError("it has a part after ?")
        networks = tuple(ipaddress.ip_network(network) for network in fields.get("networks", ()))
    except (ValueError, TypeError) as exc:
        raise ConfigurationError(f"{_WHERE} allows {text!r}, which cannot be used: {exc}.") from exc
    return AllowedAddress(str(text), start, (*networks, *_own_network(start.host)))


def _own_network(host: str) -> tuple[Network, ...]:
    """Return the network of an entry whose host is an IP address."""
    try:
        return (ipaddress.ip_network(host),)
    except ValueError:
        return ()


def _check_numbers(options: Mapping[str, Any]) -> None:
    if "per_account" in options:
        is_good = _is_number(options["per_account"], int) and options["per_account"] >= 1
        _require(options, "per_account", is_good, "a whole number from 1")
    if "timeout_s" in options:
        is_good = _is_number(options["timeout_s"]) and 0 < options["timeout_s"] <= _MAX_TIMEOUT_S
        _require(options, "timeout_s", is_good, f"a number of seconds up to {_MAX_TIMEOUT_S}")
    delays = options.get("retry_after_s", ())
    is_list = isinstance(delays, Sequence) and not isinstance(delays, str) and len(delays) <= _MAX_ATTEMPTS
    is_good = is_list and all(_is_number(delay) and 0 < delay <= _MAX_DELAY_S for delay in delays)
    requirement = f"a list of at most {_MAX_ATTEMPTS} numbers of seconds up to {_MAX_DELAY_S:,}"
    _require(options, "retry_after_s", is_good, requirement)


def _is_number(value: object, kind: type | tuple[type, ...] = (int, float)) -> bool:
    return isinstance(value, kind) and not isinstance(value, bool)


def _require(options: Mapping[str, Any], name: str, is_good: bool, rule: str) -> None:
    if not is_good:
        raise ConfigurationError(f"{_WHERE} sets {name} to {options.get(name)!r}; it must be {rule}.")
