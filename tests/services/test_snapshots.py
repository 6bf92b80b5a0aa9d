"""Snapshots of settings: letters that are free, names that are checked, files that outlive the app."""

import tomllib
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.services.conftest import NOON
from workbench.core.record import InvalidRecord, StoreProblem
from workbench.core.tuning.profile import WORKBENCH, FrozenBounds
from workbench.services.tuning.profiles import LONGEST, Profiles, Snapshots

MOVED = replace(
    WORKBENCH,
    recency=0.1 + 0.2,
    mode="days",
    scope="frozen",
    frozen=FrozenBounds((0, 1), (0.2, 0.9), (-0.1, 1)),
)


def names(made: Snapshots) -> list[str]:
    return [s.name for s in made.all()]


def test_they_are_there_again_exactly_and_each_is_a_profile_to_read(tmp_path: Path) -> None:
    profiles = Profiles(tmp_path / "profiles")
    taken = Snapshots(profiles.snapshots).take(MOVED, NOON)
    (again,) = Snapshots(profiles.snapshots).all()
    assert again == taken
    assert again.profile == MOVED
    assert profiles.names() == Profiles(tmp_path / "none").names()
    text = Snapshots(profiles.snapshots).path("A").read_text()
    assert tomllib.loads(text)["recency"] == MOVED.recency
    (tmp_path / "profiles" / "mine.toml").write_text(text)
    assert profiles.get("mine") == replace(MOVED, name="mine")


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
    for name in (
        "b",
        "",
        "x" * (LONGEST + 1),
        "../b",
        ".hidden",
        "a/b",
        "nul\x00",
        "\x1b[31m",
        "ends ",
    ):
        with pytest.raises(InvalidRecord):
            made.rename("a", name)
    made.rename("a", "x" * LONGEST)
    assert names(made) == ["x" * LONGEST, "B"]
    assert [p.name for p in tmp_path.rglob("*") if p.is_file() and p.name.startswith(".")] == []


def test_a_broken_file_says_so_and_can_be_dropped(tmp_path: Path) -> None:
    made = Snapshots(tmp_path)
    (tmp_path / "odd.toml").write_text("recency = nan")
    (tmp_path / "worse.toml").write_bytes(b"\xff")
    assert [(s.name, s.profile, bool(s.problem)) for s in made.all()] == [
        ("odd", None, True),
        ("worse", None, True),
    ]
    made.take(WORKBENCH, NOON)
    made.drop("odd")
    made.drop("worse")
    assert names(made) == ["A"]


def test_a_folder_that_cannot_be_written_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreProblem, match="snapshot cannot be written"):
        Snapshots(tmp_path / "file").take(WORKBENCH, NOON)
    assert Snapshots(tmp_path / "file").all() == ()


@pytest.mark.slow
@settings(max_examples=30, deadline=None)
@given(
    steps=st.lists(st.sampled_from(["take", "drop A", "drop B", "name A", "name B"]), max_size=12)
)
def test_names_stay_distinct_whatever_is_done(
    tmp_path_factory: pytest.TempPathFactory, steps: list[str]
) -> None:
    made = Snapshots(tmp_path_factory.mktemp("snapshots"))
    for step in steps:
        what, _, name = step.partition(" ")
        if what == "take":
            made.take(WORKBENCH, NOON)
        elif what == "drop":
            made.drop(name)
        elif name in names(made) and "mine" not in names(made):
            made.rename(name, "mine")
        assert len({name.casefold() for name in names(made)}) == len(names(made))
