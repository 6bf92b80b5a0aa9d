"""`workbench append`: one observation for a hook, without the store."""

import io
import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import NOW, Cli
from workbench.config.paths import heads_dir
from workbench.core.stream.memory import Memory
from workbench.services.stream import observation
from workbench.store import append as store_archived
from workbench.store.library import Library

ROOT = Path(__file__).parents[2]


@pytest.mark.slow
def test_an_appended_observation_is_a_memory_like_any_other(demo: Cli) -> None:
    before = demo.json("stats")
    out = demo.ok(
        "append",
        "Critical: the cache was stale",
        "--type",
        "error",
        "--session",
        "s1",
        "--tag",
        "ci",
        "--actor",
        "claude",
    )
    id = out.split()[2].rstrip(",")
    assert out == f"Stored as {id}, importance 10.\n"
    found = demo.json("show", id)
    assert (found["content"], found["session_id"], found["tags"]) == (
        "Critical: the cache was stale",
        "s1",
        ["ci"],
    )
    assert (found["observation_type"], found["helpful_created"], found["importance_score"]) == (
        "error",
        1,
        10.0,
    )
    (event,) = demo.json("history", "-n", "1")
    assert (event["actor"], event["label"]) == ("agent:claude", f"ingest error {id}")
    after = demo.json("stats")
    assert after["memories"] == before["memories"] + 1
    assert (
        after["reflection"]["importance"]["value"]
        == before["reflection"]["importance"]["value"] + 10
    )


def test_the_first_one_starts_a_store_and_the_gauge(cli: Cli) -> None:
    assert cli.ok("append", "the first thing") == "Stored as mem-20260320-0000001, importance 5.\n"
    assert cli.ok("append", "the second thing") == "Stored as mem-20260320-0000002, importance 5.\n"
    reflection = cli.json("stats")["reflection"]
    assert (reflection["importance"]["value"], reflection["observations"]["value"]) == (10.0, 2)
    cli.ok("ingest", "the third and last of them")
    assert cli.json("stats")["reflection"]["observations"]["value"] == 3


def test_appended_observations_can_be_undone_in_any_order(cli: Cli) -> None:
    for text in ("one thing happened", "another thing followed", "a third one ended it"):
        cli.ok("append", text)
    for rev in ("1", "3", "2"):
        cli.ok("undo", "--rev", rev)
    stats = cli.json("stats")
    assert (stats["memories"], stats["reflection"]["importance"]["value"]) == (0, 0.0)


def test_what_one_of_the_last_ten_says_is_skipped(cli: Cli) -> None:
    cli.ok("append", "Deploys need AUTH_SECRET in CI")
    assert (
        cli.ok("append", "deploys need AUTH_SECRET")
        == "Skipped: mem-20260320-0000001 says it already.\n"
    )
    assert cli.json("stats")["revision"] == 1


@pytest.mark.parametrize("text", ["", " \n", "x" * 10_001])
def test_what_is_no_text_is_refused(cli: Cli, text: str) -> None:
    result = cli("append", text)
    assert (result.code, result.out, result.err.count("\n")) == (2, "", 1)
    assert not cli.store.exists()


def test_a_hook_loads_next_to_nothing(demo: Cli) -> None:
    heavy = (
        "textual",
        "numpy",
        "tinydb",
        "rapidfuzz",
        "sqlite3",
        "platformdirs",
        "difflib",
        "workbench.config.loading",
        "workbench.store.library",
        "workbench.services.context",
    )
    demo.ok("append", "the first one reads which texts are archived")
    code = (
        "import sys\nfrom workbench.__main__ import main\n"
        f"code = main(['--store', {str(demo.store)!r}, 'append', 'seen by a hook'])\n"
        f"print([m for m in {heavy!r} if m in sys.modules], code, file=sys.stderr)\n"
    )
    run = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert run.stderr == "[] 0\n"


@pytest.mark.slow
def test_who_only_adds_leaves_a_checkpoint_now_and_then(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(observation, "TIDIED_EVERY", 205)
    library = Library(cli.store, lambda: NOW, heads=heads_dir())
    for number in range(203):
        with library.transaction("agent:a", "count") as tx:
            tx.put(Memory(f"m{number}", f"the number {number}", NOW, NOW))
    cli.ok("append", "the last but one of them all")
    assert not (cli.store / "memory.json").exists()
    out = cli.ok("append", "this one fills the measure")
    assert out.startswith("Stored as ")
    assert b"fills the measure" in (cli.store / "memory.json").read_bytes()
    assert len(Library(cli.store, lambda: NOW).memories) == 205


@pytest.mark.slow
def test_who_said_it_is_kept_shown_and_found(demo: Cli) -> None:
    id = demo.ok("append", "We ship on Fridays", "--speaker", " Ann Lee ").split()[2].rstrip(",")
    other = demo.ok("ingest", "Nobody ships on Mondays", "--speaker", "assistant").split()
    assert demo.json("show", id)["source"] == {
        "hook": None, "turn": None, "file": None, "speaker": "Ann Lee",
    }  # fmt: skip
    assert [
        line.split(None, 2) for line in demo.ok("show", id).splitlines() if line.startswith("said")
    ] == [["said", "by", "Ann Lee"]]
    (found,) = demo.json("list", 'speaker:"ann lee"')
    assert (found["id"], found["source"]["speaker"]) == (id, "Ann Lee")
    (found,) = demo.json("list", "speaker:ASSISTANT")
    assert found["id"] in " ".join(other)
    assert id not in demo.ok("list", "--limit", "0", "--", "-speaker:*")
    exported = [json.loads(row) for row in demo.ok("export", "--format", "lifecycle").splitlines()]
    assert [row["source"]["speaker"] for row in exported if "speaker" in row["source"]] == [
        "Ann Lee",
        "assistant",
    ]
    (event,) = demo.json("history", id)
    assert "Ann Lee" in json.dumps(event)


@pytest.mark.parametrize("way", ["append", "ingest"])
@pytest.mark.parametrize("others", [0, 12])
def test_a_person_is_told_what_they_forgot(cli: Cli, way: str, others: int) -> None:
    text = "Deploys need AUTH_SECRET in CI"
    id = cli.ok("append", text).split()[2].rstrip(",")
    cli.ok("append", "The first of the others")
    cli.ok("forget", id)
    for number in range(others):
        cli.ok("append", f"Note {number} about {'abcdefghijkl'[number] * 9}")
    said = cli.ok(way, text)
    assert said.startswith("Not stored: you archived this on 2026-03-20")
    assert f"`workbench unforget {id}`" in said
    assert "--again" in said
    assert cli.json(way, text)["outcome"] == "forgotten"
    assert cli.ok(way, text, "--again").startswith("Stored as ")
    assert cli.ok(way, text).startswith(("Skipped: ", "Counted on "))


def test_what_an_agent_appends_of_what_was_forgotten_is_counted_and_asked_about(cli: Cli) -> None:
    text = "Deploys need AUTH_SECRET in CI"
    id = cli.ok("append", text).split()[2].rstrip(",")
    cli.ok("append", "Something else entirely")
    cli.ok("forget", id)
    for session in ("s1", "s2"):
        assert "Counted as seen again" in cli.ok(
            "append", text, "--actor", "claude", "--session", session
        )
    (waiting,) = cli.json("review", "list")
    assert (waiting["kind"], waiting["evidence"]) == ("return", [id])
    cli.ok("review", "approve", waiting["id"])
    assert cli.json("show", id)["status"] == "signal"
    assert cli.ok("append", text).startswith("Skipped: ")


def test_what_another_process_archived_since_is_known(cli: Cli) -> None:
    for number, text in enumerate(
        ("One rule of the house", "Another rule of the house", "A third rule of it"), 1
    ):
        id = cli.ok("append", text).split()[2].rstrip(",")
        cli.ok("append", f"Something in between, the {number}. time")
        cli.ok("forget", id)
        assert cli.ok("append", text).startswith("Not stored: ")
        cli.ok("unforget", id)
        assert cli.ok("append", f"{text}, said otherwise").startswith("Stored as ")
        assert cli.ok("append", text).startswith("Skipped: ")
        cli.ok("forget", id)


@pytest.mark.parametrize("found", [b"", b"what is this?\n", b"1 2 3 4\n", b"0 -1 0\n"])
def test_a_damaged_file_of_marks_is_made_anew(cli: Cli, found: bytes) -> None:
    text = "One rule of the house"
    cli.ok("forget", cli.ok("append", text).split()[2].rstrip(","))
    cli.ok("append", text)
    heads = heads_dir()
    assert heads is not None
    (marks,) = heads.rglob("*.archived")
    marks.write_bytes(found)
    assert cli.ok("append", text).startswith("Not stored: ")


def test_a_store_is_not_read_whole_again_and_again_where_nothing_can_be_kept_of_it(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    cli.ok("append", "the store is there")
    cli.write("file", "")
    monkeypatch.setattr(store_archived, "_read_anew", lambda *_: pytest.fail("the store was read"))
    heads = cli.cwd / "file" / "heads"
    assert not store_archived.may_hold(cli.store, heads, "a text")


def test_a_purged_text_is_said_and_not_stored(cli: Cli) -> None:
    text = "The vault opens on Tuesdays only"
    id = cli.ok("append", text).split()[2].rstrip(",")
    cli.ok("append", "Something else entirely")
    cli.ok("purge", id, "--yes-erase", id)
    for way in ("append", "ingest"):
        assert cli.ok(way, text).startswith(f"Not stored: {id} was purged on 2026-03-20")
    path = cli.write("notes.jsonl", json.dumps({"id": "n1", "content": text}) + "\n")
    assert "left out, since they were purged: n1; --again takes them" in cli.ok("import", path)
    assert cli.json("import", path)[0]["purged"] == ["n1"]
    assert cli.ok("append", text, "--again").startswith("Stored as ")


@pytest.mark.parametrize("command", ["append", "ingest"])
def test_an_unknown_type_of_an_agent_is_kept_and_a_persons_is_asked_about(
    cli: Cli, command: str
) -> None:
    result = cli(command, "It rained on Friday", "--type", "weather", "--actor", "claude", "--json")
    found = cli.json("show", json.loads(result.out)["id"])
    assert (found["observation_type"], found["metadata"]) == ("general", {"type": "weather"})
    for kind, hint in (
        ("eror", "Did you mean error?"),
        ("weather", "Types are: instruction, error, "),
    ):
        result = cli(command, "It rained on Sunday", "--type", kind)
        assert (result.code, result.out) == (2, "")
        assert result.err.startswith(f"workbench: There is no observation type “{kind}”. {hint}")


def test_what_was_forgotten_is_recognised_from_stdin_too(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "Deploys need AUTH_SECRET in CI"
    id = cli.ok("append", text).split()[2].rstrip(",")
    cli.ok("append", "Something else entirely")
    cli.ok("forget", id)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
    assert cli.ok("append", "-").startswith("Not stored: you archived this")
