"""`workbench episode`: from a file into the store, listed, shown, found, corrected, given to an
agent, written.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Cli

KEY = "AKIAZ7QWERTYUI5PLMNB"
FULL: dict[str, Any] = {
    "episode_id": "run-1", "timestamp": "2026-03-01T09:00:00Z", "session_id": "s-1",
    "task": {"original_input": "Move the build to the new runner", "parsed_goals": ["green build"]},
    "execution": {"trace": [{"tool": "make", "status": "failed", "stderr": "make: *** No rule to make target 'x'"}]},
    "outcome": {"status": "SUCCESS", "primary_output": {"summary": "it builds"}},
    "reflection": {"insights": ["Look for the rule first"]},
    "metadata": {"domain": "ci", "task_type": "move", "tools_used": ["make"], "tags": ["build"]},
    "embeddings": {"task_embedding": [0.5, 1]},
}  # fmt: skip


def add(cli: Cli, doc: object = FULL, name: str = "run.json") -> str:
    cli.write(name, json.dumps(doc))
    return cli.ok("episode", "add", name)


def test_it_is_kept_listed_shown_and_written_as_it_was(cli: Cli) -> None:
    assert add(cli) == "Stored as run-1 (success).\n"
    assert add(cli) == "Already stored, word for word: run-1 (success).\n"
    listed = cli.ok("episode")
    assert (
        "run-1" in listed,
        "Move the build" in listed,
        "ci/move" in listed,
        "#build" in listed,
    ) == (True,) * 4
    shown = cli.ok("episode", "show", "run-1")
    assert all(
        part in shown
        for part in ("green build", "No rule to make target", "Look for the rule first", "active")
    )
    whole = cli.json("episode", "show", "run-1")
    assert {name: whole[name] for name in FULL} == FULL
    assert (whole["phase"], whole["notes"], whole["lifecycle"]["archival_status"]) == (
        "active",
        [],
        "active",
    )
    assert cli.ok("episode", "export", "out") == f"Wrote 1 episode to {cli.cwd / 'out'}.\n"
    written = json.loads((cli.cwd / "out" / "run-1.json").read_text())
    assert {name: written[name] for name in FULL} == FULL
    again = cli("episode", "export", "out")
    assert (again.code, "already exists" in again.err) == (2, True)


def test_json_says_what_became_of_each(cli: Cli) -> None:
    cli.write(
        "two.json",
        json.dumps([FULL, {**FULL, "episode_id": None, "task": {"original_input": f"Use {KEY}"}}]),
    )
    answer = cli.json("episode", "add", "two.json")
    assert [row["is_new"] for row in answer["stored"]] == [True, True]
    assert answer["stored"][1]["masked"]
    assert KEY not in cli.ok("episode", "list", "--json") + cli.ok(
        "episode", "show", answer["stored"][1]["id"]
    )
    cli.ok("undo")
    assert cli.told("episode", "list") == []


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{}", "bad.json: This is not an episode: task: is missing."),
        ("nothing", "bad.json is no JSON"),
        (
            '{"task": {"original_input": "x"}, "outcome": {"status": "FINE"}}',
            "outcome.status: is not one of SUCCESS, PARTIAL, FAILURE.",
        ),
    ],
)
def test_bad_input_is_named_and_nothing_is_stored(cli: Cli, text: str, said: str) -> None:
    cli.write("bad.json", text)
    result = cli("episode", "add", "bad.json")
    assert (result.code, said in result.err, "Nothing was stored." in result.err) == (2, True, True)
    assert cli("episode").out == ""
    for args in (
        ("add", "none.json"),
        ("show", "nope"),
        ("note", "nope", "x"),
        ("find", "", "--strategy", "semantic"),
    ):
        assert cli("episode", *args).code == 2


def test_a_person_corrects_it_and_a_deletion_has_a_way_back(cli: Cli) -> None:
    add(cli)
    assert cli.ok("episode", "tag", "run-1", "--add", "seen") == "Tags of run-1: build, seen.\n"
    cli.ok("episode", "note", "run-1", "It was the cache.")
    assert "It was the cache." in cli.ok("episode", "show", "run-1")
    cli.ok("episode", "delete", "run-1")
    assert (cli("episode").out, cli("episode", "find", "build runner").out) == ("", "")
    assert "run-1" in cli.ok("episode", "list", "--phase", "deleted")
    cli.ok("episode", "restore", "run-1")
    assert "run-1" in cli.ok("episode")


def test_the_trace_of_an_old_one_stays_closed_until_it_is_asked_for(cli: Cli) -> None:
    add(cli, {**FULL, "timestamp": "2025-08-01T09:00:00Z"})
    closed = cli("episode", "show", "run-1")
    assert ("No rule" in closed.out, "--trace shows it" in closed.err) == (False, True)
    assert "No rule" in cli("episode", "show", "run-1", "--trace").out
    assert "run-1" in cli.ok("episode", "find", "No rule to make target", "--strategy", "failure")


def test_it_is_found_by_five_strategies_and_says_why(cli: Cli) -> None:
    add(cli)
    for args in (
        ("move the build to another runner",),
        ("build runner", "--strategy", "hybrid", "--domain", "ci"),
        ("--strategy", "structured", "--tool", "make"),
        ("--strategy", "temporal", "--since", "30d"),
        ("make: *** No rule to make target 'y'", "--strategy", "failure"),
    ):
        assert "run-1" in cli.ok("episode", "find", *args), args
    explained = cli.ok("episode", "find", "move the build", "--explain")
    assert all(term in explained for term in ("similarity", "recency", "success", "use", "domain"))
    (row,) = cli.json("episode", "find", "move the build")["episodes"]
    assert row["score"] == pytest.approx(sum(part["weighted"] for part in row["score_parts"]))
    nothing = cli("episode", "find", "who won the chess olympiad of 1980")
    assert (nothing.code, nothing.out, nothing.err) == (0, "", "No matching episode.\n")


def test_an_agent_is_given_it_in_a_block_and_what_it_read_is_counted(cli: Cli) -> None:
    add(cli)
    given = cli.ok("episode", "find", "move the build", "--for-agent", "claude")
    assert ("[unreviewed" in given, "imported from a file" in given) == (True, True)
    assert cli.json("episode", "list")[0]["access_count"] == 1
    added = cli("episode", "add", "run.json", "--actor", "codex")
    assert "Already stored" in added.out
    assert cli("episode", "find", "x", "--for-agent", "c", "--show-secrets").code == 2


def test_a_lost_file_leaves_the_head_and_is_named(cli: Cli) -> None:
    add(cli)
    for path in (cli.store / "blobs").rglob("*.gz"):
        path.unlink()
    listed = cli("episode")
    assert ("run-1" in listed.out, "cannot be read" in listed.out, "doctor" in listed.err) == (
        True,
        True,
        True,
    )
    shown = cli("episode", "show", "run-1")
    assert (shown.code, "is missing" in shown.err) == (2, True)
    found = cli("doctor")
    assert (found.code, "The file of run-1 is missing" in found.out) == (1, True)
    assert cli.told("doctor")["blobs"][0]["key"] == "run-1"
    add(cli)
    assert cli("episode", "show", "run-1").code == 0


def test_a_backup_brings_it_back(cli: Cli, tmp_path: Path) -> None:
    add(cli)
    cli.ok("backup", "store.backup")
    assert cli.bare("restore", "store.backup", "again").code == 0
    assert "No rule" in cli.bare("--store", str(cli.cwd / "again"), "episode", "show", "run-1").out


def test_an_episode_is_learned_from(cli: Cli) -> None:
    about = {"name": "Rule first", "category": "strategy", "summary": "Look for the rule."}
    named = {**FULL, "reflection": {"patterns_discovered": [about, {"name": "Nameless"}]}}
    cli.write("run.json", json.dumps(named))
    done = cli("episode", "learn", "run.json", "--insight", "look", "--insight", "twice")
    assert "Stored as run-1 (success, 2 insights)." in done.out
    assert "new candidate, 1 of 1 application succeeded: too few applications" in done.out
    assert "“Nameless” was not made a pattern" in done.err
    again = cli.json("episode", "learn", "run.json", "--insight", "look", "--insight", "twice")
    assert (again["stored"], again["episode"], [row["is_new"] for row in again["patterns"]]) == (
        False,
        "run-1",
        [False],
    )
    cli.write("two.json", json.dumps([FULL, FULL]))
    two = cli("episode", "learn", "two.json")
    assert (two.code, "one at a time" in two.err) == (2, True)
    cli.ok("undo")
    assert cli.told("episode", "list") == []
    assert cli.told("pattern", "list") == []
    add(cli, {**FULL, "outcome": {"status": "FAILURE"}})
    context = cli.json("context", "build", "--error", "make: *** No rule to make target 'x'")
    assert [row["ids"] for row in context["layers"] if row["layer"] == "failures"] == [["run-1"]]


def test_a_folder_of_episodes_is_imported_with_its_notes_and_undone(cli: Cli) -> None:
    cli.ok("init")
    doc = {"task": {"original_input": "Deploy the API"}, "outcome": {"status": "SUCCESS"}}
    theirs = {
        "id": "ep-own-1",
        "timestamp": "2026-01-02",
        "situation": "The build fails",
        "solution": "Pin the runner",
    }
    (cli.cwd / "kept" / "episodic" / "2026").mkdir(parents=True)
    (cli.cwd / "kept" / ".git").mkdir()
    cli.write("kept/run.json", json.dumps({**doc, "episode_id": "ep-own-2"}))
    cli.write("kept/episodic/2026/one.json", json.dumps(theirs))
    cli.write("kept/.git/three.json", json.dumps(doc))
    cli.write("kept/package.json", json.dumps({"name": "not one of them"}))
    assert cli.ok("import", "kept", "--dry-run").splitlines() == [
        "kept: episodes (JSON)", "  + ep-own-1 success The build fails", "  + ep-own-2 success Deploy the API",
        "  would be new: 2 episodes", "  skipped, hidden: 1 (.git)", "  skipped, .json files: 1 (package.json)",
    ]  # fmt: skip
    (row,) = cli.json("import", "kept")
    assert (row["new"], row["episodes"]) == ({"episodes": 2}, ["ep-own-1", "ep-own-2"])
    assert "nothing new, 2 already present" in cli.ok("import", "kept")
    cli.ok("undo")
    assert cli.told("episode", "list") == []
    cli.write("kept/note.md", "# Runner\n\nPin the runner in CI.\n")
    said = cli.ok("import", "kept")
    assert "new: 2 episodes" in said
    assert "a folder of 1 file" in said


def test_a_file_in_a_folder_that_cannot_be_an_episode_is_named_and_nothing_is_stored(
    cli: Cli,
) -> None:
    cli.ok("init")
    (cli.cwd / "kept").mkdir()
    cli.write(
        "kept/a.json",
        json.dumps({"task": {"original_input": "x"}, "outcome": {"status": "SUCCESS"}}),
    )
    cli.write(
        "kept/b.json", json.dumps({"task": {"original_input": "x"}, "outcome": {"status": "MAYBE"}})
    )
    assert "b.json: This is not an episode: outcome.status" in cli("import", "kept").err
    cli.write("kept/b.json", '{"situation": 3')
    assert "b.json is no JSON" in cli("import", "kept").err
    assert cli.told("episode", "list") == []
