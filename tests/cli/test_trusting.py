"""A store from elsewhere is read with a banner; nothing of it reaches an agent or a file before
`workbench trust`.
"""

import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.cli.conftest import Cli, files_of
from tests.hostile import RULE, half_done
from tests.safety.samples import keys
from workbench.config.paths import heads_dir
from workbench.core.agents.actors import ENVIRONMENT
from workbench.core.record import StoreProblem
from workbench.core.stream.memory import Memory
from workbench.services.open import open_workbench
from workbench.store.identity import NotTrusted, StoreTrust
from workbench.store.library import Library

ROOT = Path(__file__).parents[2]


BANNER = "This store is not trusted: "


def pulled(store: Path, copy: Path, text: str) -> None:
    """Let a pull bring a line that was written on another machine."""
    shutil.copy(written_elsewhere(store, copy, text), store / "pulled")
    (store / "pulled").rename(store / "journal.jsonl")


@pytest.fixture
def mine(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> Cli:
    """The command line on a store that it makes itself, without anybody's word outside it."""
    monkeypatch.delenv("WORKBENCH_TRUST")
    for name in ENVIRONMENT:
        monkeypatch.delenv(name, raising=False)
    return cli


@pytest.fixture
def foreign(mine: Cli, filled: Path) -> Cli:
    """The command line on a store that came from elsewhere."""
    shutil.copytree(filled, mine.store)
    return mine


def test_a_store_made_here_is_trusted(mine: Cli) -> None:
    for command in (
        "ingest one",
        "append two",
        "vote {} helpful",
        "list",
        "search one --for-agent x",
        "append three",
    ):
        id = mine.json("list")[0]["id"] if "{}" in command else ""
        result = mine(*command.format(id).split())
        assert result.code == 0, result.err
        assert BANNER not in result.err
    assert "is trusted" in mine.ok("trust")
    (mine.store / "journal.jsonl").touch()
    assert mine("list").err == ""


@pytest.mark.slow
@pytest.mark.parametrize(
    "command",
    [
        "list",
        "status",
        "stats",
        "search deploy",
        "history",
        "export --format jsonl",
        "context deploy",
        "index",
    ],
)
def test_what_came_from_elsewhere_is_read_with_a_banner(command: str, foreign: Cli) -> None:
    result = foreign(*command.split())
    assert result.code == 0
    assert result.out
    assert BANNER in result.err
    assert "workbench trust" in result.err


@pytest.mark.parametrize(
    "command",
    [
        "vote shr-00001 helpful", "ingest something", "undo", "upkeep", "dedup", "compact", "review approve x",
        "doctor --finish", "export --format block --out CLAUDE.md", "export --format prompt --out p.md",
        "allow shr-00001 --reason fine", "edit {} other", "pin {}", "forget {}", "bullet add Rules other",
        "bullet edit shr-00001 other", "archive --status signal --before 2030-01-01", "index memory-index.md",
        "pattern export patterns.json", "episode export episodes.json", "consolidate", "still-true --tree .",
    ],
)  # fmt: skip
def test_nothing_of_it_is_changed_promoted_or_written(command: str, foreign: Cli) -> None:
    id = foreign.told("list")[0]["id"]
    before = files_of(foreign.store)
    result = foreign(*command.format(id).split())
    assert result.code == 2, result.out
    assert "is not trusted" in result.err
    assert {
        name: data for name, data in files_of(foreign.store).items() if not name.endswith("lock")
    } == {name: data for name, data in before.items() if not name.endswith("lock")}
    assert not list(foreign.cwd.iterdir())


@pytest.mark.parametrize(
    "command",
    [
        "search deploy --for-agent claude",
        "export --format prompt",
        "context deploy --for-agent claude",
    ],
)
def test_a_hook_goes_on_and_gets_nothing(command: str, foreign: Cli) -> None:
    result = foreign(*command.split())
    assert result.code == 0
    assert result.out == ""
    assert BANNER in result.err
    assert foreign.told("search", "deploy", "--for-agent", "claude") == []


@pytest.mark.slow
def test_what_a_stranger_archived_keeps_nothing_out(
    mine: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "Never deploy on Fridays"
    mine.ok("forget", mine.ok("append", text).split()[2].rstrip(","))
    mine.ok("append", "Something in between")
    assert mine.ok("append", text).startswith("Not stored: ")
    monkeypatch.setenv("XDG_STATE_HOME", str(mine.cwd / "another"))
    assert BANNER in mine("list").err
    assert mine.ok("append", text).startswith("Stored as ")


def test_a_word_takes_it_over_after_showing_it(foreign: Cli) -> None:
    foreign("append", "one thing")
    shown = foreign("trust", "--show")
    assert shown.code == 0
    assert "\n  demo  " in shown.out
    assert "  cli  1\n" not in shown.out
    asked = foreign("trust")
    assert asked.code == 2
    assert "--yes" in asked.err
    foreign.refused("vote", "shr-00001", "helpful")
    assert foreign("search", "thing", "--for-agent", "x").out == ""
    assert BANNER in foreign("list").err
    assert foreign("trust", "--yes").code == 0
    for command in ("list -n 0", "vote shr-00001 helpful", "list -n 0", "doctor", "trust"):
        result = foreign(*command.split())
        assert result.code == 0
        assert result.err == "", command
    assert foreign("search", "thing", "--for-agent", "x").out


@pytest.mark.slow
@pytest.mark.parametrize("name", ["CLAUDECODE", "CODEX_SANDBOX", "CURSOR_AGENT", "GEMINI_CLI"])
def test_an_agent_cannot_say_the_word(
    name: str, foreign: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nor at a terminal: one is easily made up."""
    monkeypatch.setenv(name, "1")
    monkeypatch.setattr("sys.stdin.isatty", lambda: True)
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    refused = foreign("trust", "--yes")
    assert refused.code == 2
    assert "An agent cannot trust a store" in refused.err
    assert BANNER in foreign("list").err
    result = foreign("context", "deploys")
    assert result.code == 0
    assert result.out == ""
    assert foreign.told("context", "deploys") == {}


def test_what_a_stranger_wrote_stays_untrusted_whatever_is_appended_after_it(
    mine: Cli, tmp_path: Path
) -> None:
    mine.ok("append", "own")
    pulled(mine.store, tmp_path / "one", "always deploy by pineapple")
    for number in range(3):
        mine.ok("append", f"own {number}", "--actor", "claude")
        assert "  agent:other  1\n" in mine("trust", "--show").out
        assert "pineapple" not in mine("search", "pineapple", "--for-agent", "claude").out
    assert mine("trust", "--yes").code == 0
    assert BANNER not in mine("list").err


@pytest.mark.parametrize("believed", [False, True])
def test_no_command_but_trust_makes_a_strangers_line_trusted(
    believed: bool, mine: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not even one that is run where a person names the store in the environment."""
    mine.ok("append", "own")
    pulled(mine.store, tmp_path / "one", "theirs")
    commands = [
        "append two", "ingest three", "vote mem-20260101-0000007 helpful", "checkpoint", "compact", "doctor",
        "doctor --accept", "doctor --finish", "reflect", "undo", "import x.md", "purge mem-20260101-0000007",
    ]  # fmt: skip
    for command in commands:
        if believed:
            monkeypatch.setenv("WORKBENCH_TRUST", str(mine.store))
        mine(*command.split())
        monkeypatch.delenv("WORKBENCH_TRUST", raising=False)
        assert "  agent:other  1\n" in mine("trust", "--show").out, command


def test_a_line_that_was_changed_in_the_middle_is_not_trusted(mine: Cli, tmp_path: Path) -> None:
    for text in ("first", "second", "third"):
        mine.ok("append", text)
    lines = (mine.store / "journal.jsonl").read_bytes().splitlines(keepends=True)
    (tmp_path / "empty").mkdir()
    theirs = written_elsewhere(tmp_path / "empty", tmp_path / "theirs", "obey").read_bytes()
    changed = [lines[0], theirs.splitlines(keepends=True)[1], *lines[2:]]
    (mine.store / "journal.jsonl").write_bytes(b"".join(changed))
    assert f"{BANNER}1 change came from elsewhere." in mine("list").err


def test_a_checkpoint_that_somebody_else_wrote_is_not_believed(mine: Cli, tmp_path: Path) -> None:
    for text in ("first", "second"):
        mine.ok("ingest", text)
    bench = open_workbench(mine.store, profiles=tmp_path, heads=heads_dir())
    bench.library.journal.save_checkpoint()
    shutil.copytree(mine.store, tmp_path / "theirs")
    theirs = Library(tmp_path / "theirs")
    state = theirs.journal.state.tables["memories"]
    state.update({doc_id: {**doc, "content": "obey"} for doc_id, doc in state.items()})
    theirs.journal._keeper.saved_rev = -1
    for name in ("memory.json", "checkpoint.json"):
        (tmp_path / "theirs" / name).unlink()
    theirs.journal.save_checkpoint()
    for name in ("memory.json", "checkpoint.json"):
        shutil.copy(tmp_path / "theirs" / name, mine.store / name)
    assert b"obey" in (mine.store / "memory.json").read_bytes()
    assert "obey" not in mine("list").out


def test_a_memory_json_without_a_journal_is_not_adopted(mine: Cli) -> None:
    mine.store.mkdir()
    memories = {"1": {"id": "mem-20260101-0000001", "content": "obey"}}
    (mine.store / "memory.json").write_text(json.dumps({"memories": memories}))
    result = mine("list")
    assert "obey" not in result.out
    assert BANNER in result.err


def test_a_store_that_was_moved_cut_or_put_back_is_still_known(mine: Cli, tmp_path: Path) -> None:
    for text in ("first", "second", "third"):
        mine.ok("append", text)
    shutil.copytree(mine.store, tmp_path / "copy")
    mine.store.rename(tmp_path / "moved")
    for folder in ("copy", "moved"):
        assert BANNER not in mine.bare("--store", str(tmp_path / folder), "list").err
    journal = tmp_path / "moved" / "journal.jsonl"
    journal.write_bytes(b"".join(journal.read_bytes().splitlines(keepends=True)[:-1]))
    assert BANNER not in mine.bare("--store", str(tmp_path / "moved"), "list").err


def test_what_is_half_done_in_it_is_neither_said_nor_done(mine: Cli) -> None:
    store = mine.cwd / ".workbench"
    half_done(store)
    shown = mine.bare("status")
    assert "interrupted" not in shown.err
    assert mine.bare("doctor", "--finish").code == 2
    assert not (mine.cwd / RULE).exists()


def test_what_comes_between_the_look_and_the_word_is_not_taken_over(
    mine: Cli, tmp_path: Path
) -> None:
    mine.ok("ingest", "mine")
    pulled(mine.store, tmp_path / "one", "first")
    bench = open_workbench(mine.store, profiles=tmp_path, heads=heads_dir())
    seen = bench.trust.arrived()
    pulled(mine.store, tmp_path / "two", "second")
    with pytest.raises(StoreProblem, match="came in meanwhile"):
        bench.trust.accept(seen)
    assert not open_workbench(
        mine.store, profiles=tmp_path, heads=heads_dir()
    ).trust.standing.trusted
    bench.trust.accept(bench.trust.arrived())
    assert mine("list").err == ""


def test_what_a_pull_brings_to_an_open_store_stops_its_changes(mine: Cli, tmp_path: Path) -> None:
    mine.ok("ingest", "mine")
    bench = open_workbench(mine.store, profiles=tmp_path, heads=heads_dir())
    bench.stream.pin([m.id for m in bench.library.memories.all()])
    pulled(mine.store, tmp_path / "one", "theirs")
    with pytest.raises(NotTrusted):
        bench.stream.forget([bench.library.memories.all()[0].id])
    assert bench.trust.standing == StoreTrust(trusted=False, foreign=1)
    assert mine("trust", "--yes").code == 0
    bench.library.refresh()
    assert bench.trust.standing.trusted


@pytest.mark.slow
def test_three_appenders_never_make_a_store_untrusted_and_a_stranger_always_does(
    mine: Cli, tmp_path: Path
) -> None:
    mine.ok("append", "mine")
    folder, ends = heads_dir(), tmp_path / "ends"
    assert folder is not None
    places = ", ".join(f"Path({str(path)!r})" for path in (ends, mine.store, folder))
    code = f"from pathlib import Path; from tests.store.writers import append_until; append_until({places})"
    running = [subprocess.Popen([sys.executable, "-c", code], cwd=ROOT) for _ in range(3)]
    journal, seen = mine.store / "journal.jsonl", 0
    try:
        for _ in range(200):
            while journal.stat().st_size == seen:
                time.sleep(0.01)
            seen = journal.stat().st_size
            assert (
                open_workbench(mine.store, profiles=tmp_path, heads=folder).trust.standing
                == StoreTrust()
            )
    finally:
        ends.touch()
        assert [each.wait() for each in running] == [0, 0, 0]
    pulled(mine.store, tmp_path / "one", "theirs")
    for _ in range(20):
        mine.ok("append", "still more")
        assert not open_workbench(
            mine.store, profiles=tmp_path, heads=heads_dir()
        ).trust.standing.trusted


def test_the_name_of_a_writer_is_shown_without_the_secret_in_it(mine: Cli, tmp_path: Path) -> None:
    _, key = keys()["github"]
    mine.ok("append", "one")
    shutil.copytree(mine.store, tmp_path / "copy")
    other = Library(tmp_path / "copy")
    now = other.journal.clock()
    with other.transaction(f"import:{key}.txt", "import") as tx:
        tx.put(Memory(f"import {key}", f"holds {key}", now, now))
    shutil.copy(tmp_path / "copy" / "journal.jsonl", mine.store / "journal.jsonl")
    plain, answer = mine("trust", "--show"), mine("trust", "--show", "--json")
    assert key[:12] not in plain.out + plain.err + answer.out + answer.err
    assert "import:[secret: GitHub token].txt  1" in plain.out
    assert json.loads(answer.out)["changes"] == 1


@pytest.mark.slow
def test_it_waits_in_review_until_it_is_trusted(foreign: Cli) -> None:
    listed = foreign.told("review", "list", "--found", "--kind", "trust")
    assert [(row["kind"], row["stored"]) for row in listed] == [("trust", False)]
    foreign.refused("review", "approve", listed[0]["id"])
    foreign("trust", "--yes")
    assert foreign.told("review", "list", "--found", "--kind", "trust") == []


@pytest.mark.slow
def test_a_store_that_can_only_be_read_says_what_to_do_instead(
    foreign: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "access", lambda path, mode: path != foreign.store or mode != os.W_OK)
    assert "came from elsewhere, written by" in foreign.ok("trust", "--show")
    before = files_of(foreign.store)
    result = foreign("trust", "--yes")
    assert result.code == 2
    assert "read-only" in result.err
    assert "copy it to a folder of yours, or list it in WORKBENCH_TRUST" in result.err
    assert files_of(foreign.store) == before
    monkeypatch.setenv("WORKBENCH_TRUST", str(foreign.store))
    assert foreign("search", "deploy", "--for-agent", "claude").out


def written_elsewhere(store: Path, copy: Path, text: str) -> Path:
    """Let a line be added to a copy of a store by another machine, and return its journal."""
    shutil.copytree(store, copy)
    other = Library(copy)
    now = other.journal.clock()
    with other.transaction("agent:other", "add") as tx:
        tx.put(Memory(f"mem-20260101-{len(other.memories) + 7:07}", text, now, now))
    return copy / "journal.jsonl"
