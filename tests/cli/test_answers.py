"""What commands answer a program: simple JSON objects, and nothing written for nothing."""

import json

from tests.cli.conftest import Cli, files_of


def test_what_changes_something_answers_as_json(cli: Cli) -> None:
    first = json.loads(cli.ok("append", "use pnpm here", "--json"))
    second = json.loads(cli.ok("ingest", "never force-push to main", "--json"))
    assert (first["outcome"], second["outcome"], second["other"]) == ("created", "created", None)
    assert json.loads(cli.ok("append", "use pnpm here", "--json")) == {
        **first,
        "outcome": "skipped",
    }
    assert json.loads(cli.ok("vote", first["id"], "helpful", "--json"))["id"] == first["id"]
    undone = json.loads(cli.ok("undo", "--json"))
    assert undone["undone"] == f"vote helpful on {first['id']}"
    assert json.loads(cli.ok("redo", "--json"))["revision"] == undone["revision"] + 1
    assert json.loads(cli.ok("status", "--json"))["revision"] == undone["revision"] + 1


def test_where_things_are_as_json(cli: Cli) -> None:
    assert json.loads(cli.ok("stores", "--json"))[0]["here"] is True
    assert "claude" in json.loads(cli.ok("config", "show", "--json"))["settings"]
    assert json.loads(cli.ok("config", "path", "--json"))["path"].endswith(".toml")


def test_the_same_vote_again_writes_nothing(cli: Cli) -> None:
    id = json.loads(cli.ok("append", "use pnpm here", "--json"))["id"]
    cli.ok("vote", id, "helpful", "--reason", "it helped")
    before = files_of(cli.store)
    assert "already voted" in cli.ok("vote", id, "helpful", "--reason", "it helped")
    assert files_of(cli.store) == before


def test_several_records_are_shown(cli: Cli) -> None:
    ids = [
        json.loads(cli.ok("append", text, "--json"))["id"]
        for text in ("use pnpm here", "never force-push")
    ]
    shown = cli.ok("show", *ids)
    assert shown.index("use pnpm here") < shown.index("never force-push")
    assert [doc["id"] for doc in json.loads(cli.ok("show", *ids, "--json"))] == ids
    assert f"ingest general {ids[1]}" in cli.ok("history", "-n", "1")


def test_an_import_names_the_new_ids(cli: Cli) -> None:
    line = {
        "id": "s1",
        "type": "gotcha",
        "content": "The cache is cleared after the commit",
        "importance_score": 5,
    }
    name = cli.write("m.jsonl", json.dumps({"format": "x", **line}) + "\n")
    (dry,) = json.loads(cli("import", name, "--dry-run", "--json").out)
    (done,) = json.loads(cli("import", name, "--json").out)
    assert (dry["dry_run"], done["dry_run"]) == (True, False)
    assert done["memories"] == dry["memories"]
    assert (
        len(json.loads(cli.ok("list", "--json")))
        == len(done["memories"])
        == done["new"]["memories"]
    )
