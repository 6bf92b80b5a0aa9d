"""A person's own profiles and snapshots of settings: saved, read back, told apart, and refused when a
file is broken.
"""

import json
import tomllib
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.services.conftest import NOON
from workbench.core.record import InvalidRecord, StoreProblem, UnknownRecord
from workbench.core.tuning.profile import (
    BUILT_IN,
    CONVERSATION,
    WORKBENCH,
    FrozenBounds,
    HalfLives,
    Profile,
)
from workbench.services.tuning.profiles import (
    LONGEST,
    Changed,
    ProfileProvenance,
    Profiles,
    Snapshots,
    changes,
)

MINE = replace(
    WORKBENCH, name="my profile 1.0", recency=0.1 + 0.2, half_lives=HalfLives(1.0, 2.5, None, 90.0), k=7,
    scope="top", mode="days", pinned="fades", candidates='type:error -tag:"two words" "quoted phrase"',
)  # fmt: skip
FROZEN = replace(
    MINE, name="frozen", scope="frozen", frozen=FrozenBounds((0.0, 1.0), (0.25, 0.9), (-0.1, 0.731))
)
PLAIN: dict[str, Any] = {**dict.fromkeys(CONVERSATION, 0.0), "length": 1.0}
ODD = replace(WORKBENCH, name="odd", about='"\t\x1b\\ ü', lexical="bm25", **PLAIN)
BIRTH = ProfileProvenance(
    NOON, 'a "parent"\n\x7f\\', "h", 14, 60, "ndcg@10", 0.1, 0.0, 0.2, "better"
)


@pytest.fixture
def profiles(tmp_path: Path) -> Profiles:
    return Profiles(tmp_path / "profiles")


@pytest.mark.parametrize(
    "profile", [MINE, FROZEN, ODD, *(replace(p, name=f"my {p.name}") for p in BUILT_IN)]
)
def test_a_saved_profile_is_read_back_the_same(profiles: Profiles, profile: Profile) -> None:
    assert profiles.names() == tuple(p.name for p in BUILT_IN)
    assert all(profiles.get(p.name) == p for p in BUILT_IN)
    profiles.save(profile, NOON, "workbench", BIRTH if profile is ODD else None)
    assert profiles.get(profile.name) == profile
    assert profiles.names() == (*(p.name for p in BUILT_IN), profile.name)
    assert profiles.birth(profile.name) == (BIRTH if profile is ODD else None)
    assert profiles.birth("engram") is None


@pytest.mark.parametrize("name", ["", "../up", "a/b", ".hidden", "x" * 61, "nul\x00"])
def test_a_name_that_is_no_file_name_is_refused(profiles: Profiles, name: str) -> None:
    with pytest.raises(InvalidRecord):
        profiles.save(replace(MINE, name=name), NOON, "workbench")
    with pytest.raises((InvalidRecord, UnknownRecord)):
        profiles.get(name)


def test_a_name_that_is_taken_or_unknown_is_refused(profiles: Profiles, tmp_path: Path) -> None:
    with pytest.raises(InvalidRecord, match="built-in"):
        profiles.save(replace(MINE, name="engram"), NOON, "workbench")
    profiles.save(MINE, NOON, "workbench")
    with pytest.raises(UnknownRecord) as caught:
        profiles.get("engarm")
    assert "engram" in caught.value.hint
    assert MINE.name in caught.value.hint
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreProblem, match="cannot be written"):
        Profiles(tmp_path / "file" / "profiles").save(MINE, NOON, "workbench")


@pytest.mark.parametrize(
    "text",
    [
        "recency = ", "recency = 'much'", "recency = true", "speed = 3", "mode = 'weeks'", "pinned = 'yes'",
        "candidates = 'tokn'", "candidates = 'since:sometime'", "k = 2.5",
        "recency = 0\nimportance = 0\nrelevance = 0", "half_lives = 3", "[half_lives]\nlong = 3", "recency = nan",
        "scope = 'frozen'", "frozen = 3", "[frozen]\nrecency = [0, 1]\nimportance = [0, 1]", "blend = 2",
        "[frozen]\nrecency = [0, 1]\nimportance = [0, 1]\nrelevance = [0, 'one']",
        "[frozen]\nrecency = [0, 1]\nimportance = [0, 1, 2]\nrelevance = [0, 1]",
        "[frozen]\nrecency = [1, 0]\nimportance = [0, 1]\nrelevance = [0, 1]",
    ],
)  # fmt: skip
def test_a_broken_file_is_one_sentence(profiles: Profiles, tmp_path: Path, text: str) -> None:
    (tmp_path / "profiles").mkdir()
    (tmp_path / "profiles" / "mine.toml").write_text(text)
    with pytest.raises(InvalidRecord, match="mine"):
        profiles.get("mine")


def test_a_broken_certificate_is_said_and_does_not_make_the_profile_unusable(
    profiles: Profiles,
) -> None:
    path = profiles.save(replace(WORKBENCH, name="mine"), NOON, "workbench")
    good = {name: json.dumps(value) for name, value in BIRTH.lines}
    broken = {"delta": '"much"', "queries": "1.5", "at": '"soon"', "parent": "3", "more": "1"}
    tables = ["\n".join(f"{k} = {v}" for k, v in {**good, f: x}.items()) for f, x in broken.items()]
    for text in (*(f"relevance = 1.0\n[birth]\n{table}\n" for table in tables), "birth = 3\n"):
        path.write_text(text)
        with pytest.raises(InvalidRecord, match="provenance"):
            profiles.birth("mine")
    path.write_text(f"relevance = 1.0\n[birth]\n{tables[0]}\n")
    assert profiles.get("mine").relevance == 1.0


# What tells two apart


def test_the_changed_parameters_stand_in_order_with_both_values() -> None:
    lives = HalfLives(working=1.0, semantic=9.0)
    other = replace(WORKBENCH, name="x", about="y", recency=0.5, k=3, half_lives=lives)
    assert changes(WORKBENCH, other) == (
        Changed("recency", 0.05, 0.5),
        Changed("half_lives.episodic", WORKBENCH.half_lives.episodic, None),
        Changed("half_lives.semantic", None, 9.0),
        Changed("k", 10, 3),
    )
    frozen = replace(WORKBENCH, scope="frozen", frozen=FROZEN.frozen)
    assert changes(WORKBENCH, frozen) == (
        Changed("scope", "pool", "frozen"),
        Changed("frozen.recency", None, "0 … 1"),
        Changed("frozen.importance", None, "0.25 … 0.9"),
        Changed("frozen.relevance", None, "-0.1 … 0.731"),
    )


# Snapshots


def names(made: Snapshots) -> list[str]:
    return [s.name for s in made.all()]


def test_a_snapshot_is_there_again_exactly_and_is_a_profile_to_read(profiles: Profiles) -> None:
    taken = Snapshots(profiles.snapshots).take(FROZEN, NOON)
    (again,) = Snapshots(profiles.snapshots).all()
    assert again == taken
    assert again.profile == FROZEN
    assert profiles.names() == tuple(p.name for p in BUILT_IN)
    text = Snapshots(profiles.snapshots).path("A").read_text()
    assert tomllib.loads(text)["recency"] == FROZEN.recency
    (profiles.snapshots.parent / "mine.toml").write_text(text)
    assert profiles.get("mine") == replace(FROZEN, name="mine")


def test_letters_go_on_behind_z_and_free_ones_are_used_again(tmp_path: Path) -> None:
    made = Snapshots(tmp_path)
    for _ in range(28):
        made.take(WORKBENCH, NOON)
    assert names(made)[:3] == ["A", "B", "C"]
    assert names(made)[25:] == ["Z", "A2", "B2"]
    made.drop("C")
    assert made.take(WORKBENCH, NOON).name == "C"


def test_a_name_is_a_file_name_unique_in_any_case_and_not_too_long(tmp_path: Path) -> None:
    made = Snapshots(tmp_path / "snapshots")
    made.take(WORKBENCH, NOON)
    made.take(WORKBENCH, NOON)
    made.rename("A", "a")
    wrong = ("b", "", "x" * (LONGEST + 1), "../b", ".hidden", "a/b", "nul\x00", "\x1b[31m", "ends ")
    for name in wrong:
        with pytest.raises(InvalidRecord):
            made.rename("a", name)
    made.rename("a", "x" * LONGEST)
    assert names(made) == ["x" * LONGEST, "B"]
    assert [p.name for p in tmp_path.rglob("*") if p.is_file() and p.name.startswith(".")] == []


def test_a_broken_snapshot_says_so_and_can_be_dropped(tmp_path: Path) -> None:
    made = Snapshots(tmp_path)
    (tmp_path / "odd.toml").write_text("recency = nan")
    (tmp_path / "worse.toml").write_bytes(b"\xff")
    assert [(s.name, s.profile, bool(s.problem)) for s in made.all()] == [
        ("odd", None, True), ("worse", None, True),
    ]  # fmt: skip
    made.take(WORKBENCH, NOON)
    made.drop("odd")
    made.drop("worse")
    assert names(made) == ["A"]
    with pytest.raises(StoreProblem, match="snapshot cannot be written"):
        Snapshots(tmp_path / "A.toml").take(WORKBENCH, NOON)
    assert Snapshots(tmp_path / "A.toml").all() == ()
