"""`workbench show`, `list`, `stats` and `status`."""

import json

import pytest

from tests.cli.conftest import NOW, Cli, files_of
from tests.demo import JUDGMENTS, MEMORIES, QUERIES
from workbench.config import paths, recent
from workbench.core.document import field_names
from workbench.core.health import sparkline
from workbench.core.stream.memory import Memory


def test_a_memory_is_shown_in_full(demo: Cli) -> None:
    lines = demo.ok("show", "mem-20260206-0000002").splitlines()
    assert lines[0].split() == ["id", "mem-20260206-0000002"]
    assert "status       promoted · pinned" in lines
    assert lines[-2] == ""
    assert lines[-1].startswith("Ines: do not run anything that writes to production")


def test_the_json_of_a_memory_has_every_field(demo: Cli) -> None:
    memory = demo.json("show", "mem-20260206-0000001")
    assert set(memory) == field_names(Memory) | {
        "helpful_count",
        "harmful_count",
        "confidence_scored",
    }
    assert memory["helpful_count"] == 4
    assert memory["created_at"] == "2026-02-06T09:06:33Z"
    assert memory["source"] == {"hook": "PostToolUse", "turn": 2, "file": None}


def test_a_bullet_is_shown_too(demo: Cli) -> None:
    lines = demo.ok("show", "shr-00001").splitlines()
    assert "votes     +9 −0" in lines
    assert demo.json("show", "playbook/shr-00001")["helpful_imported"] == 9


def test_what_nobody_voted_on_shows_no_vote(cli: Cli) -> None:
    cli.ok("ingest", "Deploys need AUTH_SECRET in CI")
    (memory,) = cli.json("list")
    votes = next(
        line for line in cli.ok("show", memory["id"]).splitlines() if line.startswith("votes")
    )
    assert votes.split(None, 1)[1] == "+0 −0 · counts +1 from the start"
    cli.ok("vote", memory["id"], "helpful")
    votes = next(
        line for line in cli.ok("show", memory["id"]).splitlines() if line.startswith("votes")
    )
    assert votes.split(None, 1)[1] == "+1 −0 · counts +1 from the start"


def test_a_list_is_filtered_and_cut(demo: Cli) -> None:
    result = demo("list", "type:error", "-n", "3")
    assert result.code == 0
    assert [line.split()[3] for line in result.out.splitlines()] == ["error"] * 3
    every = demo.json("list", "type:error", "--limit", "0")
    assert result.err.endswith(f"3 of {len(every)}; --limit 0 lists all.\n")
    listed = demo.json("list", "type:error", "since:2026-03-01")
    assert listed
    assert all(m["observation_type"] == "error" and m["created_at"] >= "2026-03-01" for m in listed)
    assert [m["created_at"] for m in listed] == sorted(
        (m["created_at"] for m in listed), reverse=True
    )


def test_a_filter_that_cannot_be_read_is_one_sentence(demo: Cli) -> None:
    err = demo.refused("list", "since:never")
    assert err.startswith("workbench: ")
    assert err.count("\n") == 1


def test_stats_count_everything(demo: Cli) -> None:
    stats = demo.json("stats")
    assert (stats["memories"], stats["bullets"], stats["books"]) == (MEMORIES, 43, 1)
    assert (stats["queries"], stats["judgments"], stats["votes"]) == (QUERIES, JUDGMENTS, 0)
    assert sum(stats["by_status"].values()) == sum(stats["by_type"].values()) == MEMORIES
    assert stats["pending"] == stats["by_status"]["candidate"]
    assert stats["store"] == str(demo.store)
    assert set(stats["reflection"]) == {"importance", "observations", "hours"}
    assert stats["unfinished"] == []
    assert f"memories     {MEMORIES}" in demo.ok("stats").splitlines()


def test_stats_tell_how_the_store_goes(demo: Cli) -> None:
    trends = demo.json("stats", "--days", "60")["trends"]
    assert len(trends["days"]) == len(trends["made"]) == 60
    assert trends["days"][-1] == NOW.astimezone().date().isoformat()
    assert sum(trends["made"]) == MEMORIES
    assert [sum(map(sum, trends[names].values())) for names in ("types", "categories")] == [
        MEMORIES,
        MEMORIES,
    ]
    assert sum(trends["statuses"].values()) == sum(trends["sources"].values()) == MEMORIES
    lines = demo.ok("stats", "--days", "60").splitlines()
    made = next(line for line in lines if line.startswith("  memories"))
    assert made.split()[1:] == [sparkline(trends["made"]), str(MEMORIES)]
    assert len(lines) < 40


@pytest.mark.slow
def test_what_is_decided_is_in_the_trends(demo: Cli) -> None:
    ids = [memory["id"] for memory in demo.json("list", "status:candidate")]
    demo.ok("review", "approve", *ids[:3])
    demo.ok("review", "reject", ids[3])
    demo.ok("vote", ids[0], "helpful")
    assert "4: 3 approved, 1 rejected (75% approved)" in demo.ok("stats")
    trends = demo.json("stats", "--days", "1")["trends"]
    assert (trends["approved"], trends["rejected"], trends["approval"], trends["helpful"]) == (
        [3],
        [1],
        0.75,
        [1],
    )


def test_the_status_is_one_line(demo: Cli) -> None:
    assert demo.ok("status").startswith("14 pending · ")
    assert demo.ok("status").endswith(f"{MEMORIES} unseen\n")
    assert demo.ok("status").count("\n") == 1


def test_the_status_counts_what_is_new_since_the_last_look(demo: Cli) -> None:
    revision = demo.json("stats")["revision"]
    recent.remember(paths.state_dir(), demo.store, revision, NOW)
    assert demo.ok("status").endswith(" · 0 unseen\n")
    demo.ok("ingest", "An agent saw something quite unheard of", "--actor", "claude")
    assert demo.ok("status").endswith(" · 1 unseen\n")


@pytest.mark.slow
@pytest.mark.parametrize("command", ["status", "stats", "list", "show", "history", "search"])
def test_reading_leaves_the_store_as_it_is(demo: Cli, command: str) -> None:
    before = files_of(demo.store)
    arguments = {"show": ("shr-00001",), "search": ("deploy",)}.get(command, ())
    assert demo(command, *arguments).code == 0
    assert files_of(demo.store) == before


@pytest.mark.parametrize("command", ["status", "stats", "list"])
def test_a_store_that_is_not_there_reads_as_an_empty_one(cli: Cli, command: str) -> None:
    result = cli.bare(command)
    assert result.code == 0
    assert not paths.data_dir().exists()
    if command == "status":
        assert (result.out, result.err) == ("0 pending · 0 unseen\n", "")


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
    name = cli.write("one.jsonl", json.dumps(entry) + "\n")
    cli("import", name)
    lines = cli.ok("show", "a").splitlines()
    assert any(line.split() == ["origin", '{"team":', '"x"}'] for line in lines)
    assert "_file" not in cli.ok("show", "a") + cli.ok("history", "a")
    assert "_file" in cli.json("show", "a")["metadata"]


def test_a_short_id_is_understood_and_one_that_stands_for_several_is_asked_about(demo: Cli) -> None:
    whole = demo.ok("show", "mem-20260320-0000257")
    for short in ("0000257", "257", "mem-257"):
        assert demo.ok("show", short) == whole
    assert (
        demo("show", "257", "--at", "1").out
        == demo("show", "mem-20260320-0000257", "--at", "1").out
    )
    bullets = demo.json("bullet", "list")
    assert "stands for several: " in demo("show", "1").err
    assert demo.json("show", bullets[0]["id"])["id"] == bullets[0]["id"]
    assert "There is no memory or bullet 9999999" in demo("show", "9999999").err


def test_an_agent_names_ids_in_full(demo: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLAUDECODE", "1")
    assert "There is no memory or bullet 257" in demo("show", "257").err


def test_a_vote_that_other_programs_have_gets_a_hint(demo: Cli) -> None:
    for word, meant in (("up", "helpful"), ("down", "harmful"), ("helpfull", "helpful")):
        assert f"Did you mean {meant}?" in demo("vote", "mem-20260320-0000257", word).err
