"""What an agent did a moment ago, in words."""

from datetime import UTC, datetime, timedelta

from workbench.services.context import Touched
from workbench.store.entry import Kind
from workbench.tui.app.app import RECENT, Doing, heard, latest

NOON = datetime(2026, 11, 24, 12, tzinfo=UTC)


def touched(actor: str, kind: Kind = "edit", *keys: tuple[str, str]) -> Touched:
    return Touched(1, actor, "x", kind, frozenset(keys))


READ = touched("agent:claude", "access", ("reads", "r1"), ("reads", "r2"), ("memories", "m1"))
WROTE = touched("agent:claude", "edit", ("memories", "m2"))


def test_reads_and_writes_add_up_until_a_long_pause() -> None:
    doings = heard({}, READ, NOON)
    doings = heard(doings, WROTE, NOON + timedelta(minutes=1))
    doings = heard(doings, READ, NOON + timedelta(minutes=2))
    assert doings["claude"] == Doing("claude", NOON + timedelta(minutes=2), 4, 1)
    later = NOON + timedelta(minutes=2) + RECENT
    assert heard(doings, WROTE, later)["claude"] == Doing("claude", later, 0, 1)


def test_what_a_person_does_is_no_news() -> None:
    assert heard({}, touched("human", "edit", ("memories", "m1")), NOON) == {}
    assert heard({}, touched("agent:claude", "undo"), NOON) == {}


def test_the_agent_that_was_last_is_told_of_while_that_is_recent() -> None:
    doings = heard(heard({}, READ, NOON), touched("agent:codex"), NOON + timedelta(seconds=5))
    now = NOON + timedelta(seconds=17)
    doing = latest(doings, now)
    assert doing is not None
    assert [text.replace("\u00a0", " ") for text in doing.wordings(now)] == [
        "codex · 1 write, 10s ago",
        "codex · 1 write",
        "codex · 10s ago",
        "codex",
    ]
    assert latest(doings, now + RECENT) is None


def test_a_hostile_name_is_one_short_line() -> None:
    doing = latest(heard({}, touched("agent:\x1b[2J\nevil\u202e" + "x" * 500), NOON), NOON)
    assert doing is not None
    assert all(len(text) < 60 and text.isprintable() for text in doing.wordings(NOON))
