"""A person's own profiles: saved, read back, and refused when a file is broken."""

from dataclasses import replace
from pathlib import Path

import pytest

from tests.bench.conftest import NOON
from workbench.bench.tuning.profiles import Profiles, read_profile, to_toml
from workbench.bench.tuning.provenance import Birth
from workbench.core.errors import InvalidRecord, StoreProblem, UnknownRecord
from workbench.core.tuning.profile import BUILT_IN, WORKBENCH, WORKBENCH_1, FrozenBounds, HalfLives, Profile

MINE = replace(
    WORKBENCH, name="my profile 1.0", recency=0.25, half_lives=HalfLives(1.0, 2.5, None, 90.0), k=7, scope="top"
)

FROZEN = replace(MINE, name="frozen", scope="frozen", frozen=FrozenBounds((0.0, 1.0), (0.25, 0.9), (-0.1, 0.731)))

CHOSEN = replace(MINE, mode="days", pinned="fades", candidates='type:error -tag:"two words" "quoted phrase"')


@pytest.fixture
def profiles(tmp_path: Path) -> Profiles:
    return Profiles(tmp_path / "profiles")


@pytest.mark.parametrize("profile", [MINE, FROZEN, CHOSEN, *(replace(p, name=f"my {p.name}") for p in BUILT_IN)])
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


BIRTH = Birth(NOON, "workbench", "abc", 14, 60, "ndcg@10", 0.1, 0.0, 0.2, "better")
BEFORE = """# Saved 2026-03-01T12:00:00.000000Z from workbench.
name = "old"
recency = 0.05
importance = 0.05
relevance = 0.9
about = "tuned from workbench"
mode = "hours"
rank_decay = 0.99
rank_order = "newest"
feedback = 0.5
feedback_half_life = 29.0
blend = 0.5
contiguity = 0.5
scope = "pool"
top_n = 100
k = 10
scorer = "factors"
pinned = "fresh"
candidates = ""

[half_lives]  # days; 0 means no decay
working = 1.0
episodic = 5.761773874419202
semantic = 0
procedural = 0
"""
"""A profile as the version wrote it whose default is `workbench-1` now."""


def settings(profile: Profile) -> Profile:
    return replace(profile, name="", about="")


def test_a_file_from_before_ranks_as_it_did_and_comes_from_the_default_of_then(profiles: Profiles) -> None:
    old = read_profile("old", BEFORE)
    assert settings(old) == settings(replace(WORKBENCH_1, half_lives=old.half_lives))
    assert old.half_lives.episodic == pytest.approx(WORKBENCH_1.half_lives.episodic)
    assert old.about == "tuned from workbench-1"
    on = read_profile("old", BEFORE.replace('"tuned from workbench"', '"tuned from workbench on demo"'))
    assert on.about == "tuned from workbench-1 on demo"
    folder = profiles.path("old").parent
    folder.mkdir()
    lines = "\n".join(
        f'{name} = "{value}"' if isinstance(value, str) else f"{name} = {value}" for name, value in BIRTH.lines
    )
    profiles.path("old").write_text(f"{BEFORE}\n[birth]\n{lines}\n")
    assert profiles.birth("old") == replace(BIRTH, parent="workbench-1")


@pytest.mark.parametrize("profile", [WORKBENCH, replace(WORKBENCH, lexical="bm25", others=())])
def test_what_comes_from_the_present_default_says_so(profiles: Profiles, profile: Profile) -> None:
    mine = replace(profile, name="mine", about="tuned from workbench")
    profiles.save(mine, NOON, "workbench", BIRTH)
    assert profiles.get("mine") == mine
    assert profiles.birth("mine") == BIRTH


def test_a_version_that_knows_one_kind_of_full_text_reads_what_uses_it() -> None:
    assert "lexical" not in to_toml(replace(WORKBENCH_1, name="mine"), NOON, "workbench-1")
    assert 'lexical = "absolute"' in to_toml(replace(WORKBENCH, name="mine"), NOON, "engram")


def test_a_profile_that_was_called_so_before_it_was_built_in_wins(profiles: Profiles) -> None:
    assert profiles.is_built_in("Workbench-1")
    mine = replace(MINE, name="workbench-1")
    with pytest.raises(InvalidRecord, match="built-in"):
        profiles.save(mine, NOON, "workbench-1")
    profiles.path("workbench-1").parent.mkdir()
    profiles.path("workbench-1").write_text(to_toml(mine, NOON, "engram"))
    assert profiles.get("workbench-1") == mine
    assert not profiles.is_built_in("workbench-1")
    assert profiles.birth("workbench-1") is None
    assert sorted(profiles.names()) == sorted(p.name for p in BUILT_IN)
    profiles.save(replace(mine, k=3), NOON, "workbench-1")
    assert profiles.get("workbench-1").k == 3
