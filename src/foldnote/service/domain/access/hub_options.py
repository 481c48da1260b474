"""The section ``[jupyterhub]`` of ``config.toml``: which users may use the service, and as which accounts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Self

from foldnote import settings
from foldnote.errors import ConfigurationError

EXAMPLE = "http://127.0.0.1:8081/hub/api"
_WHERE = "The section [jupyterhub] of config.toml"
_NAME = "{name}"
_LEAST_S, _MOST_S = 2, 86_400


@dataclass(frozen=True)
class HubOptions:
    """A JupyterHub whose users need no key of their own.

    Attributes:
        api_url: address of the hub's API, without a trailing slash.
        email: address of a user's account, in which ``{name}`` stands for the user's name at the hub.
        service: name of the service at the hub, which is part of the required scope.
        creates_accounts: whether users get an account at their first request.
        admin_groups: groups of the hub whose members may administer the service.
        organizations: organization by group of the hub; the first group that a user is in counts.
        key_lifetime_s: maximum lifetime of a key, and thus the time for which a user who was removed from
            the hub keeps access.
    """

    api_url: str
    email: str
    service: str = "foldnote"
    creates_accounts: bool = True
    admin_groups: tuple[str, ...] = ()
    organizations: Mapping[str, str] = field(default_factory=dict)
    key_lifetime_s: int = 900

    @property
    def scopes(self) -> frozenset[str]:
        """Scopes of a token, any of which permits use of the service."""
        return frozenset({"access:services", f"access:services!service={self.service}"})

    def address_of(self, name: str) -> str:
        """Return the address of the account of the user with this name at the hub."""
        return self.email.replace(_NAME, name)

    @classmethod
    def read(cls, section: Mapping[str, Any]) -> Self | None:
        """Check the section ``[jupyterhub]``; return None if there is none.

        Raises:
            ConfigurationError: an option is missing, unknown or wrong.
        """
        if not section:
            return None
        settings.require_known_options(_WHERE, section, cls.__dataclass_fields__)
        options = dict(section)
        for name, problem in _find_problems(options):
            raise ConfigurationError(f"{_WHERE} sets {name} to {options.get(name)!r}; it must be {problem}.")
        options["api_url"] = options["api_url"].rstrip("/")
        options["admin_groups"] = tuple(options.get("admin_groups", ()))
        return cls(**options)


def _find_problems(options: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return the names of options with invalid values, and the rule for each."""
    api_url, email, lifetime_s = (options.get(name) for name in ("api_url", "email", "key_lifetime_s"))
    groups, organizations = options.get("admin_groups", []), options.get("organizations", {})
    is_number = isinstance(lifetime_s, int) and not isinstance(lifetime_s, bool)
    checks = {
        "api_url": (
            isinstance(api_url, str) and api_url.startswith(("http://", "https://")) and "@" not in api_url,
            f"the address of the hub's API, such as {EXAMPLE}",
        ),
        "email": (
            isinstance(email, str) and email.count(_NAME) == 1 and email.strip() == email,
            "the address of a user's account, such as '{name}@lab.org', or '{name}' if names are addresses",
        ),
        "service": (
            isinstance(options.get("service", "foldnote"), str) and options.get("service", "-").isprintable(),
            "the service's name at the hub",
        ),
        "creates_accounts": (isinstance(options.get("creates_accounts", True), bool), "true or false"),
        "admin_groups": (_is_words(groups), "a list of names of groups"),
        "organizations": (
            isinstance(organizations, Mapping) and _is_words(list(organizations.values())),
            "a table of organizations by group, such as { structures = 'Structural Biology' }",
        ),
        "key_lifetime_s": (
            lifetime_s is None or (is_number and _LEAST_S <= lifetime_s <= _MOST_S),
            f"a number of seconds from {_LEAST_S} to {_MOST_S}",
        ),
    }
    return [(name, right) for name, (is_right, right) in checks.items() if not is_right]


def _is_words(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) and item.strip() for item in value)
