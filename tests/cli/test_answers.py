"""What commands answer a program: simple JSON objects, and nothing written for nothing."""

import json

from tests.cli.conftest import Cli, files_of


def test_what_changes_something_answers_as_json(cli: Cli) -> None:
    first = cli.json("append", "use pnpm here")
    second = cli.json("ingest", "never force-push to main")
    assert (first["outcome"], second["outcome"], second["other"]) == ("created", "created", None)
    assert cli.json("append", "use pnpm here") == {
        **first,
        "outcome": "skipped",
    }
    assert cli.json("vote", first["id"], "helpful")["id"] == first["id"]
    undone = cli.json("undo")
    assert undone["undone"] == f"vote helpful on {first['id']}"
    assert cli.json("redo")["revision"] == undone["revision"] + 1
    assert cli.json("status")["revision"] == undone["revision"] + 1


def test_where_things_are_as_json(cli: Cli) -> None:
    assert cli.json("stores")[0]["here"] is True
    assert "claude" in cli.json("config", "show")["settings"]
    assert cli.json("config", "path")["path"].endswith(".toml")


def test_the_same_vote_again_writes_nothing(cli: Cli) -> None:
    id = cli.json("append", "use pnpm here")["id"]
    cli.ok("vote", id, "helpful", "--reason", "it helped")
    before = files_of(cli.store)
    assert "already voted" in cli.ok("vote", id, "helpful", "--reason", "it helped")
    assert files_of(cli.store) == before


def test_several_records_are_shown(cli: Cli) -> None:
    ids = [cli.json("append", text)["id"] for text in ("use pnpm here", "never force-push")]
    shown = cli.ok("show", *ids)
    assert shown.index("use pnpm here") < shown.index("never force-push")
    assert [doc["id"] for doc in cli.json("show", *ids)] == ids
    assert f"ingest general {ids[1]}" in cli.ok("history", "-n", "1")


def test_an_import_names_the_new_ids(cli: Cli) -> None:
    line = {
        "id": "s1",
        "type": "gotcha",
        "content": "The cache is cleared after the commit",
        "importance_score": 5,
    }
    name = cli.write("m.jsonl", json.dumps({"format": "x", **line}) + "\n")
    (dry,) = cli.told("import", name, "--dry-run")
    (done,) = cli.told("import", name)
    assert (dry["dry_run"], done["dry_run"]) == (True, False)
    assert done["memories"] == dry["memories"]
    assert len(cli.json("list")) == len(done["memories"]) == done["new"]["memories"]
