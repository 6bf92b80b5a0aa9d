"""`--at REV`: list, search, context and stats as the store was, and what cannot look back."""

import json

import pytest

from tests.cli.conftest import Cli
from tests.cli.test_opening import at_a_terminal
from workbench.core.record import parse_time

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
    found: list[dict[str, str]] = json.loads(cli("list", "--json", *args).out)
    return found


def revisions(cli: Cli) -> list[int]:
    return [event["rev"] for event in json.loads(cli("history", "--json").out)][::-1]


def test_a_list_is_what_it_was_after_each_change(told: Cli) -> None:
    first, second, third = revisions(told)
    held = [{row["content"] for row in rows(told, "--at", str(rev))} for rev in (0, first, second, third)]
    assert held == [set(), {FIRST}, {FIRST, SECOND}, {FIRST.replace("CI", "production"), SECOND}]
    assert held[-1] == {row["content"] for row in rows(told)}


def test_it_says_beside_the_answer_when_that_was(told: Cli) -> None:
    rev = revisions(told)[1]
    result = told("list", "--at", str(rev))
    assert result.err.splitlines()[0] == f"As it was right after revision {rev} of {told_of(told)}, 2026-03-20 18:00."
    before = told("--at", str(rev), "list")
    assert (before.code, before.out) == (0, result.out)


def told_of(cli: Cli) -> int:
    return revisions(cli)[-1]


@pytest.mark.slow
def test_a_search_and_a_context_know_nothing_of_what_came_later(told: Cli) -> None:
    first, second, _ = (str(rev) for rev in revisions(told))
    found = json.loads(told("search", "which database do tests use", "--at", first, "--json").out)
    assert all(row["content"] != SECOND for row in found)
    found = json.loads(told("search", "which database do tests use", "--at", second, "--json").out)
    assert SECOND in [row["content"] for row in found]
    assert "Postgres" not in told("context", "write tests for the database", "--at", first).out


def test_stats_count_what_there_was(told: Cli) -> None:
    first = revisions(told)[0]
    stats = json.loads(told("stats", "--at", str(first), "--json").out)
    assert (stats["memories"], stats["revision"]) == (1, first)


def test_looking_back_writes_nothing(told: Cli) -> None:
    first, before = str(revisions(told)[0]), told.files()
    for command in (("list",), ("search", "deploys"), ("context", "deploy it"), ("stats",)):
        assert told(*command, "--at", first).code == 0
    assert told.files() == before


def test_a_revision_that_is_not_there_is_named(told: Cli) -> None:
    result = told("list", "--at", "99")
    assert (result.code, result.out) == (2, "")
    assert result.err == f"workbench: There is no revision 99. The latest is {told_of(told)}; nothing was opened.\n"


@pytest.mark.slow
@pytest.mark.parametrize(
    "command", [("pin", "mem-1"), ("status",), ("undo",), ("search", "x", "--for-agent", "a"), ("review", "list")]
)
def test_what_changes_or_serves_cannot_look_back(told: Cli, command: tuple[str, ...]) -> None:
    result = told("--at", "1", *command)
    assert (result.code, result.out) == (2, "")
    assert "revision" in result.err or "--at only looks" in result.err


def test_the_app_is_opened_at_a_revision(told: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    at_a_terminal(monkeypatch)
    asked: list[object] = []
    opened = Cli._open

    def open_there(self: Cli, store: object, *, origin: str, demo: bool = False, **more: object) -> int:
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
