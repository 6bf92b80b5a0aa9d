"""Whether there is a key: what the SDK itself would find, seen without loading it."""

from pathlib import Path

import pytest

from workbench.reflect.claude.keys import has_key

PROFILE = '{"authentication": {"type": "user_oauth"}}'


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give a home of its own and an environment without a word about Anthropic."""
    import os

    for name in [n for n in os.environ if n.startswith("ANTHROPIC_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path


def sdk_finds_one() -> bool:
    """Return whether a client of the SDK holds any credentials."""
    import anthropic  # takes seconds, which only those who run this wait for

    with anthropic.Anthropic() as client:
        return any((client.api_key, client.auth_token, client.credentials))


def test_without_anything_there_is_none(home: Path) -> None:
    assert not has_key()
    assert not sdk_finds_one()


@pytest.mark.parametrize("name", ["ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"])
@pytest.mark.parametrize("value", ["secret", ""])
def test_a_key_in_the_environment(
    home: Path, monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    monkeypatch.setenv(name, value)
    assert has_key() == sdk_finds_one() == bool(value)


def test_a_profile_in_the_config_folder(home: Path) -> None:
    configs = home / ".config" / "anthropic" / "configs"
    configs.mkdir(parents=True)
    (configs / "work.json").write_text(PROFILE)
    assert has_key() == sdk_finds_one() is False
    (configs.parent / "active_config").write_text("work\n")
    assert has_key() == sdk_finds_one() is True


def test_a_profile_named_by_the_environment(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (home / "configs").mkdir()
    (home / "configs" / "mine.json").write_text(PROFILE)
    monkeypatch.setenv("ANTHROPIC_CONFIG_DIR", str(home))
    monkeypatch.setenv("ANTHROPIC_PROFILE", "mine")
    assert has_key()
    assert sdk_finds_one()
    monkeypatch.setenv("ANTHROPIC_PROFILE", "../configs/mine")
    assert not has_key()


def test_workload_identity_needs_all_its_parts() -> None:
    parts = {
        "ANTHROPIC_FEDERATION_RULE_ID": "r",
        "ANTHROPIC_ORGANIZATION_ID": "o",
        "ANTHROPIC_IDENTITY_TOKEN": "t",
    }
    nowhere = {"HOME": "/nonexistent"}
    assert has_key({**parts, **nowhere})
    for name in parts:
        assert not has_key({**parts, name: "", **nowhere})
