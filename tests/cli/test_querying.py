"""`workbench queries`: listed, exported, measured; a file that is there stays unless told
otherwise.
"""

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Cli, files_of
from tests.demo import ANSWERED, QUERIES


def test_the_list_has_every_query_with_its_grades(demo: Cli) -> None:
    rows = demo.json("queries", "list")
    assert len(rows) == QUERIES
    assert {"id", "query", "now", "tags", "judgments", "created_at"} == set(rows[0])
    lines = demo.ok("queries", "list").splitlines()
    assert lines[0].split() == ["id", "graded", "asked", "at", "query"]
    assert [line.split()[0] for line in lines[1:]] == [row["id"] for row in rows]
    assert [int(line.split()[1]) for line in lines[1:]] == [row["judgments"] for row in rows]


@pytest.mark.slow
def test_an_export_is_a_query_set_that_eval_reads(demo: Cli) -> None:
    assert demo.ok("queries", "export", "mine.jsonl").endswith(
        f"mine.jsonl has {QUERIES} lines now.\n"
    )
    measured = demo("eval", str(demo.cwd / "mine.jsonl"), "--profile", "workbench", "--json")
    assert (
        measured.err
        == f"{QUERIES - ANSWERED} queries have no relevant memory in this store and are left out.\n"
    )
    assert len(json.loads(measured.out)["profiles"]["workbench"]["queries"]) == ANSWERED
    err = demo.refused("queries", "export", "mine.jsonl", "--format", "qrels")
    assert "already exists. Nothing was written; --force replaces it." in err
    demo.ok("queries", "export", "mine.jsonl", "--format", "qrels", "--force")
    assert (
        demo.ok("queries", "export", "-", "--format", "qrels")
        == (demo.cwd / "mine.jsonl").read_text()
    )
    assert "is already up to date" in demo.ok(
        "queries", "export", "mine.jsonl", "--format", "qrels", "--force"
    )


@pytest.mark.slow
def test_a_run_of_a_profile_is_measured_as_the_profile_is(demo: Cli) -> None:
    assert demo("queries", "export", "a.run", "--format", "run", "--profile", "engram").code == 0
    demo.ok("queries", "export", "set.jsonl")
    before = files_of(demo.store)
    found = demo.json("queries", "measure", "a.run")
    means = demo.told("eval", str(demo.cwd / "set.jsonl"), "--profile", "engram")
    assert found["mean"] == pytest.approx(means["profiles"]["engram"]["mean"])
    assert demo.ok("queries", "measure", "a.run").startswith("Run “engram”: ndcg@10 ")
    assert files_of(demo.store) == before


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("export",), "`queries export` needs a FILE"),
        (("measure",), "`queries measure` needs a FILE"),
        (("list", "x"), "takes no file"),
        (("list", "--format", "run"), "go with `queries export`"),
        (("export", "x", "--profile", "engram"), "--profile goes with --format run"),
        (("export", "x", "--json"), "--json does not go"),
        (("export", "x", "--format", "run", "--profile", "mine"), "Unknown profile “mine”"),
        (("export", "no/such/folder/x"), "does not exist"),
        (("measure", "nowhere.run"), "File not found"),
    ],
)
def test_wrong_arguments_are_one_sentence(
    demo: Cli, arguments: tuple[str, ...], message: str
) -> None:
    err = demo.refused("queries", *arguments)
    assert message in err
    assert err.count("\n") == 1
    assert [p for p in demo.cwd.iterdir() if p.is_file()] == []


def test_a_store_without_queries(cli: Cli) -> None:
    cli.ok("init")
    before = cli.files()
    assert cli("queries", "list").err.startswith("No queries are saved yet")
    assert cli.json("queries", "list") == []
    for kind in ("jsonl", "qrels", "run"):
        result = cli("queries", "export", "x", "--format", kind)
        assert result.code == 2
        assert "queries yet" in result.err
    assert cli.files() == before
    assert not (Path(cli.cwd) / "x").exists()
