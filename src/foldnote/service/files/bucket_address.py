"""Location of a service's bucket: the section ``[objects]`` of ``config.toml``.

The section contains no credentials: the object store's library reads them from the provider's own variables
and files.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Self
from urllib.parse import urlsplit

from foldnote import settings
from foldnote.errors import ConfigurationError

_WHERE = "The section [objects] of config.toml"
_SCHEMES = ("s3", "gs", "az")
_KINDS = {"str": "a text", "bool": "true or false", "int": "a number"}


@dataclass(frozen=True)
class BucketAddress:
    """A bucket, or a folder in one, that holds the contents of a service.

    Attributes:
        url: ``s3://BUCKET/PREFIX``, ``gs://BUCKET/PREFIX`` or ``az://CONTAINER/PREFIX``.
        endpoint: address of another provider's S3-compatible server, or of an emulator; empty for the
            provider's own.
        region: region of the bucket (S3); empty for the environment's.
        account: storage account (Azure); empty for the environment's.
        profile: profile of the AWS files with the credentials (S3, needs boto3); empty for the environment's.
        virtual_hosted: whether the endpoint's host name includes the bucket's name (S3).
        has_links: whether users' programs can reach the object store, with links that it signs.
        cache_mb: size of the cache of contents in the data folder (MB).
    """

    url: str
    endpoint: str = ""
    region: str = ""
    account: str = ""
    profile: str = ""
    virtual_hosted: bool = False
    has_links: bool = True
    cache_mb: int = 10_240

    @classmethod
    def read(cls, section: Mapping[str, Any]) -> Self | None:
        """Check the section ``[objects]``; return None if it is empty.

        Raises:
            ConfigurationError: a value is wrong.
        """
        if not section:
            return None
        kinds = {each.name: str(each.type) for each in fields(cls)}
        advice = "Credentials are taken from the provider's environment variables and files."
        settings.require_known_options(_WHERE, section, kinds, advice)
        for name, value in section.items():
            if type(value).__name__ != kinds[name]:
                kind = _KINDS[kinds[name]]
                raise ConfigurationError(f"{_WHERE} sets {name} to {value!r}; it must be {kind}.")
        own = cls(**{"url": "", **section})
        _require_url(own.url)
        if own.endpoint and urlsplit(own.endpoint).scheme not in ("http", "https"):
            raise ConfigurationError(f"{_WHERE} sets endpoint to {own.endpoint!r}; it begins with https://.")
        if own.cache_mb < 0:
            raise ConfigurationError(f"{_WHERE} sets cache_mb to {own.cache_mb}; it must not be negative.")
        return own

    @property
    def takes_uploads(self) -> bool:
        """Whether users' programs can upload with a link; Azure requires a header that they do not send."""
        return self.has_links and self.scheme != "az"

    @property
    def scheme(self) -> str:
        """``s3``, ``gs`` or ``az``."""
        return urlsplit(self.url).scheme


def _require_url(url: str) -> None:
    try:
        parts = urlsplit(url)
        is_good = parts.scheme in _SCHEMES and bool(parts.netloc) and not parts.query and not parts.fragment
        is_good = is_good and "@" not in parts.netloc
    except ValueError:
        is_good = False
    if not is_good:
        raise ConfigurationError(
            f"{_WHERE} needs a url such as s3://BUCKET/PREFIX, gs://BUCKET/PREFIX or az://CONTAINER/PREFIX,"
            " without credentials."
        )
