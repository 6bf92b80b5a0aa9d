"""`workbench undo`, `redo` and `history`."""

import json

from tests.cli.conftest import Cli, files_of


def test_undo_takes_everything_back_step_by_step_and_redo_returns_it(demo: Cli) -> None:
    start = demo.ok("export", "--format", "ace")
    demo.ok("vote", "shr-00001", "helpful")
    after_one = demo.ok("export", "--format", "ace")
    demo.ok("vote", "shr-00002", "harmful")
    after_two = demo.ok("export", "--format", "ace")
    assert demo.ok("undo") == "Undone: vote harmful on playbook/shr-00002.\n"
    assert demo.ok("export", "--format", "ace") == after_one
    assert demo.ok("undo") == "Undone: vote helpful on playbook/shr-00001.\n"
    assert demo.ok("export", "--format", "ace") == start
    assert demo.ok("redo") == "Done again: vote helpful on playbook/shr-00001.\n"
    assert demo.ok("redo") == "Done again: vote harmful on playbook/shr-00002.\n"
    assert demo.ok("export", "--format", "ace") == after_two


def test_nothing_to_undo_or_redo_is_a_sentence(cli: Cli) -> None:
    for command in ("undo", "redo"):
        result = cli(command)
        assert (result.code, result.out, result.err) == (2, "", f"workbench: There is nothing to {command}.\n")
    assert not cli.store.exists()


def test_a_later_change_by_another_stands_in_the_way(demo: Cli) -> None:
    demo.ok("import", demo.write("one.txt", "## A\n[a-00001] helpful=0 harmful=0 :: One.\n"))
    demo.ok("vote", "a-00001", "helpful", "--actor", "claude")
    before = files_of(demo.store)
    result = demo("undo")
    assert result.code == 2
    assert result.err.startswith("workbench: Cannot undo “import one.txt”: ")
    assert result.err.count("\n") == 1
    assert files_of(demo.store) == before


def test_history_lists_the_newest_first(demo: Cli) -> None:
    demo.ok("vote", "shr-00001", "helpful")
    demo.ok("undo")
    lines = demo.ok("history", "-n", "2").splitlines()
    assert [line.split("  ")[-1] for line in lines] == [
        "undo: vote helpful on playbook/shr-00001",
        "vote helpful on playbook/shr-00001",
    ]
    steps = json.loads(demo.ok("history", "--json", "-n", "3"))
    assert [step["kind"] for step in steps] == ["undo", "edit", "edit"]
    assert {"rev", "at", "actor", "label", "kind", "records"} == set(steps[0])


def test_the_history_of_one_record_shows_its_fields(demo: Cli) -> None:
    demo.ok("vote", "shr-00001", "helpful")
    lines = demo.ok("history", "shr-00001", "-n", "1").splitlines()
    assert lines[0].endswith("cli  vote helpful on playbook/shr-00001")
    assert "      helpful_votes: +1" in lines
    (step,) = json.loads(demo.ok("history", "shr-00001", "-n", "1", "--json"))
    assert {"key": "playbook/shr-00001", "field": "helpful_votes", "before": None, "after": "+1"} in step["fields"]
    assert {field["key"] for field in step["fields"]} == {"playbook/shr-00001"}


def test_a_record_that_was_undone_keeps_its_history(cli: Cli) -> None:
    cli.ok("ingest", "something to forget")
    cli.ok("undo")
    assert cli("show", "mem-20260320-0000001").code == 2
    lines = cli.ok("history", "mem-20260320-0000001").splitlines()
    labels = [line.rpartition("  ")[2] for line in lines if not line.startswith("      ")]
    assert labels == ["undo: ingest general", "ingest general"]


def test_an_unknown_record_has_no_history(demo: Cli) -> None:
    result = demo("history", "mem-none")
    assert (result.code, result.out) == (2, "")
    assert result.err == "workbench: Nothing called mem-none was ever in this store.\n"


def test_a_new_store_has_no_history(cli: Cli) -> None:
    result = cli("history")
    assert (result.code, result.out, result.err) == (0, "", "Nothing was done in this store yet.\n")
    assert json.loads(cli.ok("history", "--json")) == []
