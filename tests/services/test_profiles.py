"""A person's own profiles: saved, read back, and refused when a file is broken."""

from dataclasses import replace
from pathlib import Path

import pytest

from tests.services.conftest import NOON
from workbench.core.record import InvalidRecord, StoreProblem, UnknownRecord
from workbench.core.tuning.profile import BUILT_IN, WORKBENCH, FrozenBounds, HalfLives, Profile
from workbench.services.tuning.profiles import ProfileProvenance, Profiles

MINE = replace(
    WORKBENCH,
    name="my profile 1.0",
    recency=0.25,
    half_lives=HalfLives(1.0, 2.5, None, 90.0),
    k=7,
    scope="top",
)

FROZEN = replace(
    MINE, name="frozen", scope="frozen", frozen=FrozenBounds((0.0, 1.0), (0.25, 0.9), (-0.1, 0.731))
)

CHOSEN = replace(
    MINE, mode="days", pinned="fades", candidates='type:error -tag:"two words" "quoted phrase"'
)


@pytest.fixture
def profiles(tmp_path: Path) -> Profiles:
    return Profiles(tmp_path / "profiles")


@pytest.mark.parametrize(
    "profile", [MINE, FROZEN, CHOSEN, *(replace(p, name=f"my {p.name}") for p in BUILT_IN)]
)
def test_a_saved_profile_is_read_back_the_same(profiles: Profiles, profile: object) -> None:
    assert isinstance(profile, type(WORKBENCH))
    profiles.save(profile, NOON, "workbench")
    assert profiles.get(profile.name) == profile
    assert profiles.names() == (*(p.name for p in BUILT_IN), profile.name)


def test_built_in_profiles_need_no_folder(profiles: Profiles) -> None:
    assert profiles.names() == tuple(p.name for p in BUILT_IN)
    assert all(profiles.get(p.name) == p for p in BUILT_IN)


def test_a_built_in_name_cannot_be_taken(profiles: Profiles) -> None:
    with pytest.raises(InvalidRecord, match="built-in"):
        profiles.save(replace(MINE, name="engram"), NOON, "workbench")


@pytest.mark.parametrize("name", ["", "../up", "a/b", ".hidden", "x" * 61, "nul\x00"])
def test_a_name_that_is_no_file_name_is_refused(profiles: Profiles, name: str) -> None:
    with pytest.raises(InvalidRecord):
        profiles.save(replace(MINE, name=name), NOON, "workbench")
    with pytest.raises((InvalidRecord, UnknownRecord)):
        profiles.get(name)


def test_an_unknown_name_lists_the_known_ones(profiles: Profiles) -> None:
    profiles.save(MINE, NOON, "workbench")
    with pytest.raises(UnknownRecord) as caught:
        profiles.get("engarm")
    assert "engram" in caught.value.hint
    assert MINE.name in caught.value.hint


@pytest.mark.parametrize(
    "text",
    [
        "recency = ",
        "recency = 'much'",
        "recency = true",
        "speed = 3",
        "mode = 'weeks'",
        "pinned = 'yes'",
        "candidates = 'tokn'",
        "candidates = 'since:sometime'",
        "k = 2.5",
        "recency = 0\nimportance = 0\nrelevance = 0",
        "half_lives = 3",
        "[half_lives]\nlong = 3",
        "recency = nan",
        "scope = 'frozen'",
        "frozen = 3",
        "[frozen]\nrecency = [0, 1]\nimportance = [0, 1]",
        "[frozen]\nrecency = [0, 1]\nimportance = [0, 1]\nrelevance = [0, 'one']",
        "[frozen]\nrecency = [0, 1]\nimportance = [0, 1, 2]\nrelevance = [0, 1]",
        "[frozen]\nrecency = [1, 0]\nimportance = [0, 1]\nrelevance = [0, 1]",
        "blend = 2",
    ],
)
def test_a_broken_file_is_one_sentence(profiles: Profiles, tmp_path: Path, text: str) -> None:
    (tmp_path / "profiles").mkdir()
    (tmp_path / "profiles" / "mine.toml").write_text(text)
    with pytest.raises(InvalidRecord, match="mine"):
        profiles.get("mine")


def test_a_folder_that_cannot_be_made_is_a_problem_of_the_store(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreProblem, match="cannot be written"):
        Profiles(tmp_path / "file" / "profiles").save(MINE, NOON, "workbench")


BIRTH = ProfileProvenance(NOON, "workbench", "abc", 14, 60, "ndcg@10", 0.1, 0.0, 0.2, "better")


@pytest.mark.parametrize("profile", [WORKBENCH, replace(WORKBENCH, lexical="bm25", others=())])
def test_a_profile_keeps_where_its_settings_come_from(profiles: Profiles, profile: Profile) -> None:
    mine = replace(profile, name="mine", about="tuned from workbench")
    profiles.save(mine, NOON, "workbench", BIRTH)
    assert profiles.get("mine") == mine
    assert profiles.birth("mine") == BIRTH
