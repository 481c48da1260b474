"""Options, profiles and keys are found in the right order, and keys are never shown."""

import stat

import pytest
from pydantic import SecretStr

from foldnote import settings
from foldnote.errors import ConfigurationError


def write_config(text):
    (settings.config_dir() / "config.toml").write_text(text)


def test_the_embedded_service_is_the_default():
    assert settings.active_profile().is_embedded


def test_the_environment_wins_over_the_file(monkeypatch):
    write_config('profile = "lab"\n[profiles.lab]\nbase_url = "https://lab.example/v1/"\n')
    assert settings.active_profile().base_url == "https://lab.example/v1"
    monkeypatch.setenv("FOLDNOTE_BASE_URL", "https://other.example")
    monkeypatch.setenv("FOLDNOTE_API_KEY", "sentinel")
    profile = settings.active_profile()
    key = settings.api_key(profile)
    assert profile.base_url == "https://other.example"
    assert key is not None
    assert "sentinel" not in repr(key)


def test_the_environments_key_goes_to_no_other_service(monkeypatch):
    write_config('[profiles.lab]\nbase_url = "https://lab.example"\n')
    monkeypatch.setenv("FOLDNOTE_API_KEY", "sentinel")
    assert settings.api_key(settings.active_profile("lab")) is None
    assert "FOLDNOTE_API_KEY" not in settings.process_environment()


def test_an_unknown_profile_lists_the_known():
    with pytest.raises(ConfigurationError, match="Known: embedded"):
        settings.active_profile("nowhere")


@pytest.mark.parametrize("text", ["[", "[profiles.lab]\n", '[profiles.lab]\nbase_url = "ftp://x"\n'])
def test_a_bad_file_is_named(text):
    write_config(text)
    with pytest.raises(ConfigurationError, match="config.toml"):
        settings.active_profile("lab")


def test_a_stored_key_is_private_and_comes_back(home):
    where = settings.store_api_key("lab", SecretStr("sentinel"))
    path = home / "config" / "keys.json"
    assert where == str(path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    stored = settings.api_key(settings.Profile("lab", "https://lab.example"))
    assert stored is not None
    assert stored.get_secret_value() == "sentinel"


def test_a_key_goes_to_the_keyring_where_a_backend_works(monkeypatch):
    import keyring
    from keyring.backend import KeyringBackend

    class Memory(KeyringBackend):
        priority = 1

        def __init__(self):
            self.kept = {}

        def get_password(self, service, username):
            return self.kept.get((service, username))

        def set_password(self, service, username, password):
            self.kept[service, username] = password

    before = keyring.get_keyring()
    keyring.set_keyring(Memory())
    try:
        assert settings.store_api_key("lab", SecretStr("sentinel")) == "keyring"
        assert not (settings.config_dir() / "keys.json").exists()
        assert settings.api_key(settings.Profile("lab", "https://lab.example")) == SecretStr("sentinel")
    finally:
        keyring.set_keyring(before)


def test_saving_a_profile_keeps_the_rest_of_the_file():
    write_config(
        '[options]\nrequest_timeout_s = 5\n[profiles.lab]\nbase_url = "https://old.example"\n[profiles.b]\nbase_url = "https://b.example"\n'
    )
    settings.save_profile("lab", "https://new.example/")
    assert {p.name: p.base_url for p in settings.profiles()} == {
        "embedded": None, "lab": "https://new.example", "b": "https://b.example"}  # fmt: skip
    assert settings.option("request_timeout_s") == 5.0


def test_an_unreadable_option_says_which(monkeypatch):
    monkeypatch.setenv("FOLDNOTE_REQUEST_TIMEOUT_S", "soon")
    with pytest.raises(ConfigurationError, match="FOLDNOTE_REQUEST_TIMEOUT_S is 'soon'"):
        settings.option("request_timeout_s")


def test_every_option_has_a_sentence_and_its_own_variable():
    assert all(row.help.endswith(".") for row in settings.OPTIONS)
    assert len({row.environment for row in settings.OPTIONS}) == len(settings.OPTIONS)


def test_an_edit_keeps_comments_order_and_inline_tables():
    path = settings.config_dir() / "config.toml"
    path.write_text(
        '# ours\nprofile = "lab"\n\n[profiles]\nlab = { base_url = "https://lab.example" } # the cluster\n'
        'old = { base_url = "https://old.example" }\n'
    )
    settings.save_profile("lab", "https://new.example")
    settings.use_profile("old")
    settings.remove_profile("old")
    text = path.read_text()
    assert text.startswith("# ours\nprofile = ")
    assert "# the cluster" in text
    assert [(each.name, each.base_url) for each in settings.profiles()][1:] == [
        ("lab", "https://new.example")
    ]
