"""Options and profiles: what users can configure, and where it is stored.

Only this module reads ``os.environ``. The value of an option is taken from the environment, else from the
user's ``config.toml``, else from that of the administrator, else from the table below. A profile names a
service; the default is the embedded service. Keys are stored by ``keyring`` if a backend works, else in a
file that only the user can read; they are returned as ``SecretStr``, whose repr does not show them.
"""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from foldnote.errors import ConfigurationError
from foldnote.folders import site_folder, user_folder
from foldnote.ownership import check_way, make_own

if TYPE_CHECKING:
    from pydantic import SecretStr
    from tomlkit import TOMLDocument

ADDRESS = re.compile(r"https?://[^\s/?#@]+([/?#][^\s]*)?$")
"""Pattern of a service's address. An address with a password is refused: addresses are shown and saved."""
ADDRESS_RULE = "begins with https:// or http://, with a host and without a user name or password"
EMBEDDED = "embedded"
_FRONT_END = "FOLDNOTE_FRONT_END"
ENVIRONMENT = "environment"
"""Name of the profile defined by ``FOLDNOTE_BASE_URL`` and ``FOLDNOTE_API_KEY``."""
HUB = "jupyterhub"
"""Name of the profile defined by ``FOLDNOTE_JUPYTERHUB_SERVICE``, and of its way of signing in."""
_HUB_VARIABLE = "FOLDNOTE_JUPYTERHUB_SERVICE"
_KEYRING_SERVICE = "foldnote"


class Option(NamedTuple):
    """One row of the options table.

    Attributes:
        name: the Python and TOML name; the unit is its last part.
        default: the value when nothing is set.
        unit: name of the unit, or an empty string.
        environment: name of the environment variable that sets it.
        help: one sentence for the docs.
        parse: converts the text of the environment variable to the value.
    """

    name: str
    default: Any
    unit: str
    environment: str
    help: str
    parse: Callable[[str], Any] = str


OPTIONS: tuple[Option, ...] = (
    Option("request_timeout_s", 30.0, "seconds", "FOLDNOTE_REQUEST_TIMEOUT_S",
           "Timeout of a request.", float),
    Option("largest_answer_mb", 64.0, "MB", "FOLDNOTE_LARGEST_ANSWER_MB",
           "Maximum size of a service's response, to protect the memory.", float),
    Option("largest_download_gb", 10.0, "GB", "FOLDNOTE_LARGEST_DOWNLOAD_GB",
           "Maximum size of a download.", float),
    Option("requests_per_second", 9.0, "1/s", "FOLDNOTE_REQUESTS_PER_SECOND",
           "Maximum rate of the client's requests; the service allows 10.", float),
    Option("service_start_timeout_s", 30.0, "seconds", "FOLDNOTE_SERVICE_START_TIMEOUT_S",
           "Maximum time to wait for the embedded service to start.", float),
    Option("service_idle_stop_s", 1800.0, "seconds", "FOLDNOTE_SERVICE_IDLE_STOP_S",
           "The embedded service stops after this time without requests or jobs.", float),
    Option("result_cache_gb", 20.0, "GB", "FOLDNOTE_RESULT_CACHE_GB",
           "Maximum size of the cache of results; the least recently used are removed first.", float),
    Option("ask_from_jobs", 50, "jobs", "FOLDNOTE_ASK_FROM_JOBS",
           "A batch of at least this many jobs must be confirmed before it is submitted.", int),
    Option("view_colors", "", "coloring", "FOLDNOTE_VIEW_COLORS",
           "Initial colouring of structures, for example chain; empty for the best one of each structure."),
    Option("rcsb_url", "https://files.rcsb.org", "address", "FOLDNOTE_RCSB_URL",
           "Where fn.view fetches structures of the Protein Data Bank from."),
    Option("alphafold_db_url", "https://alphafold.ebi.ac.uk", "address", "FOLDNOTE_ALPHAFOLD_DB_URL",
           "Where fn.view fetches structures of the AlphaFold Database from."),
    Option("engines_dir", "", "folder", "FOLDNOTE_ENGINES_DIR",
           "Folder of the engines' environments; empty for 'engines' in the data folder."),
    Option("weights_dir", "", "folder", "FOLDNOTE_WEIGHTS_DIR",
           "Folder of the weights shared by all engines; empty for '.weights' in the engines' folder."),
    Option("node_dir", "", "folder", "FOLDNOTE_NODE_DIR",
           "Folder of the jobs on a node of a cluster; empty for one in the folder for temporary files."),
    Option("engine_path", "", "folders", "FOLDNOTE_ENGINE_PATH",
           "Additional folders of engines, separated as in PATH."),
)  # fmt: skip
_BY_NAME = {row.name: row for row in OPTIONS}
_HUB_TOKENS = ("JUPYTERHUB_API_TOKEN", "JPY_API_TOKEN")
MAIL_PASSWORD = "FOLDNOTE_SMTP_PASSWORD"  # noqa: S105  the name of a variable
_SECRETS = frozenset(
    {"FOLDNOTE_API_KEY", "FOLDNOTE_STORE_URL", MAIL_PASSWORD, "PGPASSWORD", "PGPASSFILE", *_HUB_TOKENS}
)
_PROVIDERS = ("AWS_", "AZURE_", "GOOGLE_")
"""Prefixes of the environment variables that configure object stores, including their credentials."""


class Profile(NamedTuple):
    """A service that can be used.

    Attributes:
        name: name of the profile in ``config.toml``, ``embedded`` or ``environment``.
        base_url: address of the service without a trailing slash; None for the embedded service.
        is_of_hub: whether this service takes the token of a JupyterHub user's server in exchange for a key.
            Only an administrator's configuration says so, and the token is sent to this address only.
        is_own: whether the profile is the user's, who may change it.
    """

    name: str
    base_url: str | None = None
    is_of_hub: bool = False
    is_own: bool = True

    @property
    def is_embedded(self) -> bool:
        """Whether this is the embedded service."""
        return self.base_url is None


def _folder(kind: str, standard: Callable[[], Path]) -> Path:
    home = os.environ.get("FOLDNOTE_HOME")
    path = Path(home).expanduser() / kind if home else standard()
    try:
        return make_own(path, below=path.parent if home else None)
    except OSError as exc:
        raise OSError(
            exc.errno, f"{exc.strerror} (set FOLDNOTE_HOME to use another folder)", str(path)
        ) from exc


def config_dir() -> Path:
    """Return the folder of ``config.toml`` and of stored keys; created if absent."""
    return _folder("config", lambda: user_folder("config", os.environ))


def data_dir() -> Path:
    """Return the folder of jobs, uploads, the ledger and engine environments; created if absent."""
    return _folder("data", lambda: user_folder("data", os.environ))


def cache_dir() -> Path:
    """Return the folder of downloaded results, which may be deleted at any time; created if absent."""
    return _folder("cache", lambda: user_folder("cache", os.environ))


def runtime_dir() -> Path:
    """Return the folder of the file with the embedded service's address; created if absent."""
    return _folder("run", lambda: user_folder("data", os.environ) / "run")


def engines_dir() -> Path:
    """Return the folder of the engines' environments; created if absent."""
    chosen = option("engines_dir")
    path = Path(chosen).expanduser() if chosen else data_dir() / "engines"
    check_way(path, "Set FOLDNOTE_ENGINES_DIR to another folder")
    path.mkdir(mode=0o700, parents=True, exist_ok=True)
    return path


def weights_dir() -> Path:
    """Return the folder of the engines' weights; it need not exist."""
    chosen = option("weights_dir")
    path = Path(chosen).expanduser() if chosen else engines_dir() / ".weights"
    check_way(path, "Set FOLDNOTE_WEIGHTS_DIR to another folder")
    return path


def option(name: str) -> Any:
    """Return the value of the option ``name``: from the environment, else ``config.toml``, else the default.

    Raises:
        ConfigurationError: the configured value is invalid.
        KeyError: there is no such option.
    """
    row = _BY_NAME[name]
    text = os.environ.get(row.environment)
    if text is not None:
        return _parse(row, text, row.environment)
    for path in (config_dir() / "config.toml", *_site_files()):
        configured = _read_config(path).get("options", {}).get(name)
        if configured is not None:
            return _parse(row, str(configured), f"{name} in {path}")
    return row.default


def engine_options(engine: str) -> dict[str, Any]:
    """Return the options of the engine ``engine``: the section ``[engines.NAME]`` of ``config.toml``.

    Raises:
        ConfigurationError: the file cannot be read, or ``engines.NAME`` is not a section.
    """
    section = _config().get("engines", {})
    options = section.get(engine, {}) if isinstance(section, dict) else section
    if not isinstance(options, dict):
        where = config_dir() / "config.toml"
        raise ConfigurationError(f"{where} sets engines.{engine} to a value; make it a section of options.")
    return options


def config_section(name: str) -> dict[str, Any]:
    """Return a section of ``config.toml`` that one command reads.

    ``foldnote watch`` reads ``mail``; ``foldnote serve`` reads ``executors``, ``store``, ``objects``,
    ``jupyterhub`` and ``webhooks``.

    Raises:
        ConfigurationError: the file cannot be read, or the name is not that of a section.
    """
    section = _config().get(name, {})
    if not isinstance(section, dict):
        where = config_dir() / "config.toml"
        raise ConfigurationError(f"{where} sets {name} to a value; make it a section: [{name}].")
    return section


def require_known_options(where: str, given: Iterable[str], known: Iterable[str], advice: str = "") -> None:
    """Check the names of the options in a section.

    Args:
        where: the section, as the subject of the message.
        given: the options in it.
        known: the options that it may have.
        advice: a further sentence of the message.

    Raises:
        ConfigurationError: one is unknown.
    """
    allowed = sorted(known)
    if unknown := set(given).difference(allowed):
        sentence = f"{where} has the unknown option {min(unknown)!r}. Options: {', '.join(allowed)}."
        raise ConfigurationError(f"{sentence} {advice}".rstrip())


def mail_password() -> SecretStr | None:
    """Return the mail server's password, from ``FOLDNOTE_SMTP_PASSWORD``; None if it is not set."""
    return _wrap_secret(os.environ.get(MAIL_PASSWORD))


def store_url() -> str | None:
    """Return the address in ``FOLDNOTE_STORE_URL``, which may have a password; None if it is not set."""
    return os.environ.get("FOLDNOTE_STORE_URL") or None


def _parse(row: Option, text: str, where: str) -> Any:
    try:
        return row.parse(text)
    except ValueError as exc:
        raise ConfigurationError(
            f"{where} is {text!r}, which is not a {row.parse.__name__}. {row.help}"
        ) from exc


def hub_token() -> SecretStr | None:
    """Return the token of this JupyterHub user's server; None outside of one."""
    token = os.environ.get(_HUB_TOKENS[0])
    return _wrap_secret(token)


def _config() -> dict[str, Any]:
    return _read_config(config_dir() / "config.toml")


def _site_files() -> tuple[Path, ...]:
    """Return the paths of the administrator's configuration files, which need not exist."""
    chosen = os.environ.get("FOLDNOTE_SITE_CONFIG")
    if chosen is not None:
        return (Path(chosen),) if chosen else ()
    own = Path(sys.prefix) / "etc" / "foldnote"
    return own / "config.toml", site_folder(os.environ) / "config.toml"


def _read_config(path: Path) -> dict[str, Any]:
    try:
        text = path.read_text("utf-8")
    except FileNotFoundError:
        return {}
    except PermissionError as exc:
        advice = "Let this user read it, or set FOLDNOTE_HOME to another folder"
        raise ConfigurationError(f"{path} cannot be read: {exc.strerror}. {advice}.") from exc
    except (OSError, UnicodeDecodeError) as exc:
        raise ConfigurationError(f"{path} cannot be read: {exc}. Correct or remove it.") from exc
    import tomllib  # deferred: most users have no such file

    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as exc:
        raise ConfigurationError(f"{path} cannot be read: {exc}. Correct or remove it.") from exc


def profiles() -> tuple[Profile, ...]:
    """Return all profiles: the embedded one, those of the administrator, and the user's.

    A profile of the administrator is not replaced by one of the user with the same name.

    Raises:
        ConfigurationError: a ``config.toml`` cannot be read or a profile has no address.
    """
    found = {profile.name: profile for profile in reversed(_site_profiles())}
    for name, row in _config().get("profiles", {}).items():
        if name not in (EMBEDDED, ENVIRONMENT, HUB) and name not in found:
            found[name] = _read_profile(name, row, config_dir() / "config.toml")
    return (Profile(EMBEDDED), *found.values())


def _site_profiles() -> list[Profile]:
    """Return the administrator's profiles, in order of decreasing precedence."""
    found = []
    address = os.environ.get(_HUB_VARIABLE)
    if address:
        found.append(_read_profile(HUB, {"base_url": address, "sign_in": HUB}, _HUB_VARIABLE, is_own=False))
    for path in _site_files():
        rows = _read_config(path).get("profiles", {})
        found += [
            _read_profile(name, row, path, is_own=False)
            for name, row in rows.items()
            if name not in (EMBEDDED, ENVIRONMENT)
        ]
    return found


def _read_profile(name: str, row: Any, where: Path | str, *, is_own: bool = True) -> Profile:
    fields = row if isinstance(row, dict) else {}
    address, sign_in = fields.get("base_url"), fields.get("sign_in")
    if not isinstance(address, str) or not ADDRESS.match(address):
        raise ConfigurationError(f"Profile {name!r} in {where} needs a base_url that {ADDRESS_RULE}.")
    if sign_in is not None and is_own:
        raise ConfigurationError(
            f"Profile {name!r} in {where} sets sign_in, which only an administrator's configuration may do."
            " Remove the line, and store a key with `foldnote profile key`."
        )
    if sign_in not in (None, HUB):
        raise ConfigurationError(f"Profile {name!r} in {where} sets sign_in to {sign_in!r}; known: {HUB!r}.")
    return Profile(name, address.rstrip("/"), is_of_hub=sign_in == HUB, is_own=is_own)


def _default_profile() -> str:
    """Return the default profile: the one that the user's ``config.toml`` names, else an administrator's."""
    chosen = _config().get("profile")
    if not chosen and os.environ.get(_HUB_VARIABLE):
        return HUB
    named = (_read_config(path).get("profile") for path in _site_files())
    return chosen or next(filter(None, named), EMBEDDED)


def active_profile(name: str | None = None) -> Profile:
    """Return the profile to use.

    In order of precedence: ``name``, where ``environment`` is the service of ``FOLDNOTE_BASE_URL``;
    ``FOLDNOTE_BASE_URL``; ``FOLDNOTE_PROFILE``; ``profile`` in the user's ``config.toml``; the service of
    ``FOLDNOTE_JUPYTERHUB_SERVICE``; ``profile`` in that of the administrator; the embedded service.

    Raises:
        ConfigurationError: no profile has this name.
    """
    address = os.environ.get("FOLDNOTE_BASE_URL")
    if address and name in (None, ENVIRONMENT):
        return _read_profile(ENVIRONMENT, {"base_url": address}, "FOLDNOTE_BASE_URL")
    if name == ENVIRONMENT:
        raise ConfigurationError(
            "This service was set by FOLDNOTE_BASE_URL, which is no longer set."
            " Set it again, or choose a profile."
        )
    wanted = name or os.environ.get("FOLDNOTE_PROFILE") or _default_profile()
    for profile in profiles():
        if profile.name == wanted:
            return profile
    known = ", ".join(profile.name for profile in profiles())
    raise ConfigurationError(
        f"There is no profile {wanted!r}. Known: {known}. Profiles are kept in config.toml."
    )


def save_profile(name: str, base_url: str) -> Profile:
    """Add a profile to ``config.toml``, or replace its address.

    Raises:
        ConfigurationError: the address or the file cannot be used.
    """
    _refuse_environment(name)
    _refuse_site_profile(name)
    profile = _read_profile(name, {"base_url": base_url}, config_dir() / "config.toml")
    if not name.replace("-", "").replace("_", "").isalnum():
        raise ConfigurationError(f"{name!r} cannot name a profile: use letters, digits, - and _.")
    document = _config_document()
    table = document.setdefault("profiles", {}).setdefault(name, {})
    table["base_url"] = profile.base_url
    _write_config(document)
    return profile


def _refuse_environment(name: str) -> None:
    if name == ENVIRONMENT:
        raise ConfigurationError(
            "The profile 'environment' is what FOLDNOTE_BASE_URL and FOLDNOTE_API_KEY say:"
            " set these variables, or choose another name."
        )


def _refuse_site_profile(name: str) -> None:
    if name == HUB or any(profile.name == name for profile in _site_profiles()):
        raise ConfigurationError(
            f"The profile {name!r} is set by the administrator of this computer. Choose another name."
        )


def use_profile(name: str) -> Profile:
    """Make a profile the default.

    Raises:
        ConfigurationError: there is no such profile, or the file cannot be used.
    """
    _refuse_environment(name)
    profile = active_profile(name)
    document = _config_document()
    document["profile"] = name
    _write_config(document)
    return profile


def remove_profile(name: str) -> None:
    """Remove a profile and its stored key; if it was the default, the embedded service becomes the default.

    Raises:
        ConfigurationError: there is no such profile, it is the embedded one, or the file cannot be written.
    """
    _refuse_environment(name)
    if active_profile(name).is_embedded:
        raise ConfigurationError("The profile of this computer's own service cannot be removed.")
    _refuse_site_profile(name)
    if _config().get("profile") == name:
        use_profile(EMBEDDED)
    document = _config_document()
    del document["profiles"][name]
    _write_config(document)
    _keyring_delete(name)
    keys = {known: key for known, key in _key_file().items() if known != name}
    if (config_dir() / "keys.json").exists():
        _write_keys(keys, name)


def _config_document() -> TOMLDocument:
    """``config.toml`` for editing, which preserves comments and order."""
    import tomlkit

    path = config_dir() / "config.toml"
    return tomlkit.parse(path.read_text("utf-8")) if path.exists() else tomlkit.document()


def _write_config(document: TOMLDocument) -> None:
    import tomlkit

    from foldnote.io import write_atomically

    path = config_dir() / "config.toml"
    try:
        write_atomically(path, tomlkit.dumps(document))
    except OSError as exc:
        raise ConfigurationError(f"{path} cannot be written: {exc}.") from exc


def api_key(profile: Profile) -> SecretStr | None:
    """Return the key for ``profile``, or None if none is stored.

    ``FOLDNOTE_API_KEY`` belongs to ``FOLDNOTE_BASE_URL``; it is not sent to any other service. The key of a
    JupyterHub profile is not stored: the client requests it from the service.

    Raises:
        ConfigurationError: a profile of this name now has another address, to which its key belongs.
    """
    if profile.is_of_hub:
        return None
    if profile.name == ENVIRONMENT:
        return _wrap_secret(os.environ.get("FOLDNOTE_API_KEY"))
    for present in profiles():
        if present.name == profile.name and present.base_url != profile.base_url:
            raise ConfigurationError(
                f"The profile {profile.name!r} has another address now, {present.base_url}. Its key is not"
                f" sent to {profile.base_url}. Connect again: fn.connect({profile.name!r})."
            )
    return _wrap_secret(_keyring_get(profile.name) or _key_file().get(profile.name))


def _wrap_secret(secret: str | None) -> SecretStr | None:
    """Wrap a secret in ``SecretStr``, whose repr does not show it; None stays None."""
    from pydantic import SecretStr  # deferred: a form is shown before a key is needed

    return SecretStr(secret) if secret else None


def store_api_key(profile_name: str, key: SecretStr) -> str:
    """Store ``key`` for the profile and return where: ``keyring`` or the path of the private file.

    Raises:
        ConfigurationError: it cannot be stored.
    """
    _refuse_environment(profile_name)
    if any(profile.name == profile_name and profile.is_of_hub for profile in _site_profiles()):
        raise ConfigurationError(
            f"The profile {profile_name!r} gets its key from JupyterHub; none needs to be stored."
        )
    if _keyring_set(profile_name, key.get_secret_value()):
        return "keyring"
    return _write_keys(_key_file() | {profile_name: key.get_secret_value()}, profile_name)


def _write_keys(keys: dict[str, str], profile_name: str) -> str:
    from foldnote.io import write_atomically

    path = config_dir() / "keys.json"
    try:
        write_atomically(path, json.dumps(keys), is_private=True)
    except OSError as exc:
        raise ConfigurationError(
            f"The key of profile {profile_name!r} cannot be stored in {path}: {exc}."
        ) from exc
    return str(path)


def _key_file() -> dict[str, str]:
    path = config_dir() / "keys.json"
    try:
        if path.stat().st_mode & 0o077:
            path.chmod(0o600)
        keys = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    return keys if isinstance(keys, dict) else {}


def _keyring_get(name: str) -> str | None:
    try:
        import keyring

        return keyring.get_password(_KEYRING_SERVICE, name)
    except Exception:  # noqa: BLE001  any backend may fail in its own way; the private file is next
        return None


def _keyring_set(name: str, key: str) -> bool:
    try:
        import keyring

        keyring.set_password(_KEYRING_SERVICE, name, key)
        return keyring.get_password(_KEYRING_SERVICE, name) == key
    except Exception:  # noqa: BLE001  any backend may fail in its own way; the private file is next
        return False


def _keyring_delete(name: str) -> None:
    try:
        import keyring

        keyring.delete_password(_KEYRING_SERVICE, name)
    except Exception:  # noqa: BLE001  any backend may fail in its own way, or have no such key
        return


def is_completing() -> bool:
    """Return whether a shell requests completions of a command line."""
    return "_ARGCOMPLETE" in os.environ


def notebook_path() -> str:
    """Return the path of this kernel's notebook when the kernel started; empty outside of notebooks."""
    return os.environ.get("JPY_SESSION_NAME", "")


def announce_front_end() -> None:
    """Set a variable that tells the kernels started by this server that the lab extension is installed."""
    os.environ[_FRONT_END] = "1"


def has_front_end() -> bool:
    """Return whether the server of this kernel has the lab extension."""
    return os.environ.get(_FRONT_END) == "1"


def serves_voila() -> bool:
    """Return whether this kernel runs a notebook for a visitor of Voilà."""
    return any(name.startswith("VOILA_") for name in os.environ)


def process_environment(**options: str) -> dict[str, str]:
    """Return a copy of the environment without keys of services, databases or object stores.

    A relative home is made absolute, since the child may run in another folder. ``options`` that are not
    empty override the values set here.
    """
    copy = {
        name: value
        for name, value in os.environ.items()
        if name not in _SECRETS and not name.upper().startswith(_PROVIDERS)
    }
    if copy.get("FOLDNOTE_HOME"):
        copy["FOLDNOTE_HOME"] = str(Path(copy["FOLDNOTE_HOME"]).expanduser().absolute())
    return copy | {_BY_NAME[name].environment: value for name, value in options.items() if value}
