"""`workbench list`, `show`, `stats`, `status` and `views`: what the store holds and held, in the orders and
saved views of the app.
"""

import json
from datetime import timedelta

import pytest

from tests.cli.conftest import NOW, Cli
from tests.cli.shared import at_a_terminal, configure, memory
from tests.demo import MEMORIES
from tests.safety.samples import keys
from workbench.config import paths, recent
from workbench.core.health import sparkline
from workbench.store.library import Library


def test_a_list_is_filtered_and_cut(demo: Cli) -> None:
    result = demo("list", "type:error", "-n", "3")
    assert [line.split()[3] for line in result.out.splitlines()] == ["error"] * 3
    every = demo.json("list", "type:error", "--limit", "0")
    assert result.err.endswith(f"3 of {len(every)}; --limit 0 lists all.\n")


def test_stats_tell_day_by_day_and_week_by_week_how_the_store_goes(cli: Cli) -> None:
    cli.ok("ingest", "Deploys need a review")
    cli.ok("vote", "mem-20260320-0000001", "helpful")
    stats = cli.json("stats", "--days", "14")
    assert stats["memories"] == 1
    assert len(stats["trends"]["days"]) == 14
    assert sum(stats["trends"]["made"]) == 1
    assert sparkline(stats["trends"]["made"]) in cli.ok("stats", "--days", "14")
    weeks = stats["weeks"]
    names = ("ends", "answered", "ndcg", "harmful", "used", "age", "debt")
    assert [len(weeks[name]) for name in names] == [2] * 7
    assert weeks["harmful"] == [None, {"value": 0.0, "of": 1}]
    assert weeks["known_since"], "the store was made a moment ago"
    assert "Harmful votes: 0% of 1 vote" in cli.ok("stats")
    then = json.loads(cli("stats", "--at", "1", "--json").out)
    assert not any(then["weeks"]["harmful"])


def test_the_status_counts_what_is_new_since_the_last_look(demo: Cli) -> None:
    said = demo.ok("status")
    assert said[:13] == "14 pending · "
    assert said.endswith(f"{MEMORIES} unseen\n")
    recent.remember(paths.state_dir(), demo.store, demo.json("history", "-n", "1")[0]["rev"], NOW)
    assert demo.ok("status").endswith(" · 0 unseen\n")
    demo.ok("ingest", "An agent saw something quite unheard of", "--actor", "claude")
    assert demo.ok("status").endswith(" · 1 unseen\n")


@pytest.mark.parametrize("command", ["list", "show", "history"])
def test_hostile_text_is_printed_inert_and_true_in_json(cli: Cli, command: str) -> None:
    text = "\x1b]0;title\x07 [red]\u202eevil\u202c \x9b2J \u200b end"
    cli.ok("ingest", text)
    arguments = () if command == "list" else ("mem-20260320-0000001",)
    out = cli.ok(command, *arguments)
    assert not set(out) & set("\x1b\x07\x9b\u202e\u202c\u200b")
    assert "[red]" in out
    true = cli.ok(command, *arguments, "--json")
    assert true.isascii()
    assert text in _strings(json.loads(true))


def _strings(value: object) -> list[str]:
    if isinstance(value, dict):
        return [text for item in value.values() for text in _strings(item)]
    if isinstance(value, list):
        return [text for item in value for text in _strings(item)]
    return [value] if isinstance(value, str) else []


def test_metadata_is_shown_but_not_how_a_record_was_written(cli: Cli) -> None:
    entry = {"id": "a", "context": "text", "type": "error", "meta": {"origin": {"team": "x"}}}
    cli("import", cli.write("one.jsonl", json.dumps(entry) + "\n"))
    shown = cli.ok("show", "a")
    assert "team: x" in shown
    assert "_file" not in shown + cli.ok("history", "a")
    assert "_file" in cli.json("show", "a")["metadata"]


def test_a_short_id_is_understood_and_one_that_stands_for_several_is_asked_about(demo: Cli) -> None:
    whole = demo.ok("show", "mem-20260320-0000257")
    for short in ("0000257", "257", "mem-257"):
        assert demo.ok("show", short) == whole
    rev = demo.json("history", "-n", "1")[0]["rev"]
    assert demo("show", "257", "--at", str(rev)).out == whole


def test_an_agent_names_ids_in_full(demo: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLAUDECODE", "1")
    assert "There is no memory or bullet 257" in demo("show", "257").err


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


@pytest.mark.slow
def test_a_search_and_a_context_know_nothing_of_what_came_later(told: Cli) -> None:
    first, second, _ = (str(rev) for rev in revisions(told))
    found = told.told("search", "which database do tests use", "--at", first)
    assert all(row["content"] != SECOND for row in found)
    found = told.told("search", "which database do tests use", "--at", second)
    assert SECOND in [row["content"] for row in found]
    assert "Postgres" not in told("context", "write tests for the database", "--at", first).out


def test_the_app_is_opened_at_a_revision(aged: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    assert aged("edit", "m1", "Nothing of it holds.").code == 0
    assert FIRST in aged("show", "m1", "--at", "yesterday").out
    at_a_terminal(monkeypatch)
    opened: list[object] = []

    def open_there(self: Cli, store: object, **more: object) -> int:
        opened.append(more["at"])
        return 0

    monkeypatch.setattr(Cli, "_open", open_there)
    for when in ("2", "yesterday"):
        assert aged("--at", when).code == 0
    assert opened == [2, 3]
    assert "There is no store in " in aged.bare("--at", "2").err


@pytest.fixture
def aged(cli: Cli) -> Cli:
    """A store to which something was added on four days; the last time one hour ago."""
    for day, text in enumerate(
        (FIRST, SECOND, "Lint runs in CI.", "Ports are in compose.yaml."), 1
    ):
        at = NOW - timedelta(days=4 - day, hours=1)
        with Library(cli.store, lambda at=at: at).transaction("cli", "add") as tx:  # type: ignore[misc]
            tx.put(memory(f"m{day}", text, at))
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
    assert stats["memories"] == count
    assert stats["revision"] == count


def test_a_day_is_one_of_where_the_person_is(aged: Cli, tokyo: None) -> None:
    # 17:00 UTC is two in the morning of the next day in Tokyo.
    assert len(rows(aged, "--at", "2026-03-18")) == 1
    assert "2026-03-19 02:00" in aged("list", "since:2026-03-19", "until:2026-03-19").out
    (row,) = rows(aged, "since:2026-03-19", "until:2026-03-19")
    assert row["created_at"] == "2026-03-18T17:00:00Z"
    result = aged("archive", "--before", "2026-03-19", "--status", "signal", "--dry-run", "--json")
    plan = json.loads(result.out)
    assert plan["ids"] == ["m1"]
    assert plan["before"] == "2026-03-18T15:00:00Z"


def test_an_agent_is_told_the_offset_of_a_time(
    aged: Cli, tokyo: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    query = ("search", "deploys need a secret")
    assert "2026-03-18 02:00 " in aged(*query).out
    assert "2026-03-18 02:00+09:00" in aged(*query, "--for-agent", "claude").out
    monkeypatch.setenv("CLAUDECODE", "1")
    assert "2026-03-18 02:00+09:00" in aged("list").out


CONFIG = """
[views."wrong lately"]
filter = "type:error,failure"
order = "votes"

[views."the oldest"]
filter = ""
order = "-made"
dates = "absolute"

[views.broken]
filter = "since:never"
"""


@pytest.fixture
def views(demo: Cli) -> Cli:
    """The demo store, and three saved views."""
    configure(CONFIG)
    return demo


def listed(cli: Cli, *args: str) -> list[dict[str, object]]:
    result = cli("list", "--json", *args, "-n", "0")
    assert result.code == 0, result.err
    found: list[dict[str, object]] = json.loads(result.out)
    return found


def ids(rows: list[dict[str, object]]) -> list[object]:
    return [row["id"] for row in rows]


def test_views_are_listed_with_what_they_show(views: Cli) -> None:
    lines = [line.split("  ") for line in views.ok("views").splitlines()]
    assert [line[0] for line in lines] == ["wrong lately", "the oldest", "broken"]
    assert views.json("views")[1] == {
        "name": "the oldest", "filter": "", "order": "-made", "dates": "absolute",
    }  # fmt: skip


@pytest.mark.slow
def test_a_view_lists_what_its_filter_finds_in_its_order(views: Cli) -> None:
    found = listed(views, "--view", "wrong lately")
    plain = listed(views, "type:error,failure")
    assert {*ids(found)} == {*ids(plain)}
    votes = [int(str(row["helpful_count"])) - int(str(row["harmful_count"])) for row in found]
    assert votes == sorted(votes, reverse=True)
    assert ids(listed(views, "--view", "the oldest")) == ids(listed(views))[::-1]


@pytest.mark.slow
def test_by_score_the_best_for_the_words_comes_first(views: Cli) -> None:
    found = ids(listed(views, "deploy", "--sort", "score"))
    searched = [row["id"] for row in views.told("search", "deploy", "-k", "50")]
    known = [id for id in searched if id in found]
    assert len(known) > 3
    assert found[: len(known)] == known
    narrowed = listed(views, "--view", "wrong lately", "AUTH_SECRET", "--sort", "made")
    assert {row["observation_type"] for row in narrowed} <= {"error", "failure"}


def test_a_view_that_cannot_be_shown_is_said(views: Cli) -> None:
    assert "The view “broken” cannot be shown: “never”" in views.refused("list", "--view", "broken")


def test_a_secret_in_the_config_file_is_printed_nowhere(demo: Cli) -> None:
    _, key = keys()["github"]
    word = "".join(("Xk29vLq88", "zzTT01"))
    one = f'[views."{key}"]\nfilter = "password={word}"\n'
    other = f'[views."login {key}"]\nfilter = "since:password={word}"\nodd = 1\n'
    configure(f'{one}{other}[keys]\n"{key}" = "j"\n')
    for command in ("views", "views --json", "config show", "config show --json"):
        result = demo(*command.split())
        assert "[secret: GitHub token]" in result.out
        assert key not in result.out + result.err
        assert word not in result.out + result.err
    err = demo.refused("list", "--view", f"login {key}")
    assert key not in err
    assert word not in err
