"""`--at WHEN`: list, search, context and stats as the store was, and what cannot look back."""

import json
from datetime import timedelta

import pytest

from tests.cli.conftest import NOW, Cli
from tests.cli.test_opening import at_a_terminal
from workbench.core.record import parse_time
from workbench.core.stream.memory import Memory
from workbench.store.library import Library

FIRST, SECOND = "Deploys need AUTH_SECRET in CI.", "Tests use a real Postgres, never a mock."


@pytest.fixture
def told(cli: Cli) -> Cli:
    """A store of two memories, of which the first was corrected at the end."""
    for text in (FIRST, SECOND):
        assert cli("append", text, "--type", "convention").code == 0
    (first,) = [row["id"] for row in rows(cli) if row["content"] == FIRST]
    assert cli("edit", first, FIRST.replace("CI", "production")).code == 0
    return cli


def rows(cli: Cli, *args: str) -> list[dict[str, str]]:
    found: list[dict[str, str]] = cli.told("list", *args)
    return found


def revisions(cli: Cli) -> list[int]:
    return [event["rev"] for event in cli.told("history")][::-1]


def test_a_list_is_what_it_was_after_each_change(told: Cli) -> None:
    first, second, third = revisions(told)
    held = [
        {row["content"] for row in rows(told, "--at", str(rev))}
        for rev in (0, first, second, third)
    ]
    assert held == [set(), {FIRST}, {FIRST, SECOND}, {FIRST.replace("CI", "production"), SECOND}]
    assert held[-1] == {row["content"] for row in rows(told)}


def test_it_says_beside_the_answer_when_that_was(told: Cli) -> None:
    rev = revisions(told)[1]
    result = told("list", "--at", str(rev))
    assert (
        result.err.splitlines()[0]
        == f"As it was right after revision {rev} of {told_of(told)}, 2026-03-20 18:00."
    )
    before = told("--at", str(rev), "list")
    assert (before.code, before.out) == (0, result.out)


def told_of(cli: Cli) -> int:
    return revisions(cli)[-1]


@pytest.mark.slow
def test_a_search_and_a_context_know_nothing_of_what_came_later(told: Cli) -> None:
    first, second, _ = (str(rev) for rev in revisions(told))
    found = told.told("search", "which database do tests use", "--at", first)
    assert all(row["content"] != SECOND for row in found)
    found = told.told("search", "which database do tests use", "--at", second)
    assert SECOND in [row["content"] for row in found]
    assert "Postgres" not in told("context", "write tests for the database", "--at", first).out


def test_stats_count_what_there_was(told: Cli) -> None:
    first = revisions(told)[0]
    stats = told.told("stats", "--at", str(first))
    assert (stats["memories"], stats["revision"]) == (1, first)


def test_looking_back_writes_nothing(told: Cli) -> None:
    first, before = str(revisions(told)[0]), told.files()
    for command in (("list",), ("search", "deploys"), ("context", "deploy it"), ("stats",)):
        assert told(*command, "--at", first).code == 0
    assert told.files() == before


def test_a_revision_that_is_not_there_is_named(told: Cli) -> None:
    err = told.refused("list", "--at", "99")
    assert (
        err
        == f"workbench: There is no revision 99. The latest is {told_of(told)}; nothing was opened.\n"
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    "command",
    [
        ("pin", "mem-1"),
        ("status",),
        ("undo",),
        ("search", "x", "--for-agent", "a"),
        ("review", "list"),
    ],
)
def test_what_changes_or_serves_cannot_look_back(told: Cli, command: tuple[str, ...]) -> None:
    err = told.refused("--at", "1", *command)
    assert "revision" in err or "--at only looks" in err


def test_the_app_is_opened_at_a_revision(told: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    at_a_terminal(monkeypatch)
    asked: list[object] = []
    opened = Cli._open

    def open_there(
        self: Cli, store: object, *, origin: str, demo: bool = False, **more: object
    ) -> int:
        asked.append(more.get("at"))
        return opened(self, store, origin=origin, demo=demo)  # type: ignore[arg-type]

    monkeypatch.setattr(Cli, "_open", open_there)
    assert told("--at", "2").code == 0
    assert asked == [2]
    result = told.bare("--at", "2")
    assert (result.code, result.err.startswith("workbench: There is no store in ")) == (2, True)


def test_the_moment_of_a_revision_is_the_present_there(told: Cli) -> None:
    (row, *_) = rows(told, "since:1d", "--at", str(revisions(told)[0]))
    assert parse_time(row["created_at"] if "created_at" in row else row["timestamp"]).year == 2026


@pytest.fixture
def aged(cli: Cli) -> Cli:
    """A store to which something was added on four days; the last time one hour ago."""
    for day, text in enumerate(
        (FIRST, SECOND, "Lint runs in CI.", "Ports are in compose.yaml."), 1
    ):
        at = NOW - timedelta(days=4 - day, hours=1)
        with Library(cli.store, lambda at=at: at).transaction("cli", "add") as tx:  # type: ignore[misc]
            tx.put(Memory(f"m{day}", text, at, at))
    return cli


@pytest.mark.parametrize(
    ("when", "count"),
    [
        ("36h", 2), ("now", 4), ("yesterday", 3), ("2026-03-18", 2), ("2026-03-18T16:00", 1), ("thursday", 3),
        ("wednesday", 2), ("2026-02", 0), ("2026-03", 4), ("3mo", 0), ("2", 2),
    ],
)  # fmt: skip
def test_at_takes_times_and_a_date_means_the_end_of_that_day(
    aged: Cli, when: str, count: int
) -> None:
    assert len(rows(aged, "--at", when)) == count
    stats = aged.told("stats", "--at", when)
    assert (stats["memories"], stats["revision"]) == (count, count)


def test_show_and_the_app_take_times_too(aged: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    assert aged("edit", "m1", "Nothing of it holds.").code == 0
    assert FIRST in aged("show", "m1", "--at", "yesterday").out
    at_a_terminal(monkeypatch)
    opened: list[object] = []

    def open_there(self: Cli, store: object, **more: object) -> int:
        opened.append(more["at"])
        return 0

    monkeypatch.setattr(Cli, "_open", open_there)
    assert aged("--at", "yesterday").code == 0
    assert opened == [3]


def test_a_day_is_one_of_where_the_person_is(aged: Cli, tokyo: None) -> None:
    # 17:00 UTC is two in the morning of the next day in Tokyo.
    assert len(rows(aged, "--at", "2026-03-18")) == 1
    assert "2026-03-19 02:00" in aged("list", "since:2026-03-19", "until:2026-03-19").out
    (row,) = rows(aged, "since:2026-03-19", "until:2026-03-19")
    assert row["created_at"] == "2026-03-18T17:00:00Z"
    result = aged("archive", "--before", "2026-03-19", "--status", "signal", "--dry-run", "--json")
    plan = json.loads(result.out)
    assert (plan["ids"], plan["before"]) == (["m1"], "2026-03-18T15:00:00Z")


@pytest.mark.parametrize("when", ["soon", "-1", "2026-13-01"])
def test_what_is_neither_a_revision_nor_a_time_is_refused_with_what_is(
    aged: Cli, when: str
) -> None:
    result = aged("list", f"--at={when}")
    assert result.code == 2
    assert f"“{when}” is neither a revision nor a time. Write 42, 36h, 7d" in result.err


def test_an_agent_is_told_the_offset_of_a_time(
    aged: Cli, tokyo: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    query = ("search", "deploys need a secret")
    assert "2026-03-18 02:00 " in aged(*query).out
    assert "2026-03-18 02:00+09:00" in aged(*query, "--for-agent", "claude").out
    monkeypatch.setenv("CLAUDECODE", "1")
    assert "2026-03-18 02:00+09:00" in aged("list").out
