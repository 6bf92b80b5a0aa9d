"""`workbench undo`, `redo` and `history`."""

import pytest

from tests.cli.conftest import Cli, files_of


@pytest.mark.slow
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
    cli.ok("init")
    before = cli.files()
    for command in ("undo", "redo"):
        result = cli(command)
        assert (result.code, result.out, result.err) == (
            2,
            "",
            f"workbench: There is nothing to {command}.\n",
        )
    assert cli.files() == before


def test_a_later_change_by_another_stands_in_the_way(demo: Cli) -> None:
    demo.ok("import", demo.write("one.txt", "## A\n[a-00001] helpful=0 harmful=0 :: One.\n"))
    demo.ok("vote", "a-00001", "helpful", "--actor", "claude")
    before = files_of(demo.store)
    result = demo("undo")
    assert result.code == 2
    first, second = result.err.splitlines()
    assert first.startswith(
        "workbench: Cannot undo “import one.txt”: helpful_votes of bullets one/a-00001 was changed since "
        "(now 1, it would become gone), and 1 more fields."
    )
    assert (
        second
        == "      one/a-00001 last_feedback_at: now '2026-03-20T18:00:00Z', would become gone"
    )
    assert files_of(demo.store) == before


def test_a_change_of_anybody_is_taken_back_by_its_revision(demo: Cli) -> None:
    demo.ok("vote", "shr-00001", "harmful", "--actor", "claude")
    rev = str(demo.json("history", "-n", "1")[0]["rev"])
    demo.ok("vote", "shr-00002", "helpful")
    label = "vote harmful on playbook/shr-00001"
    assert demo.ok("undo", "--rev", rev) == f"Undone: {label}.\n"
    assert demo.json("show", "shr-00001")["harmful_votes"] == 0
    assert demo.json("show", "shr-00002")["helpful_votes"] == 1
    result = demo("undo", "--rev", rev)
    assert (result.code, result.err) == (
        2,
        f"workbench: “{label}” is undone already. Nothing was changed.\n",
    )
    undone = str(demo.json("history", "-n", "1")[0]["rev"])
    assert demo.ok("undo", "--rev", undone) == f"Undone: undo: {label}.\n"
    assert demo.json("show", "shr-00001")["harmful_votes"] == 1


def test_what_is_no_change_cannot_be_taken_back(demo: Cli) -> None:
    result = demo("undo", "--rev", "9999")
    assert (result.code, result.err) == (
        2,
        "workbench: There is no change with revision 9999. Nothing was changed.\n",
    )
    result = demo("undo", "--group", "import-none")
    assert (result.code, result.err) == (
        2,
        "workbench: There is no change called import-none. Nothing was changed.\n",
    )
    assert demo("undo", "--rev", "1", "--group", "x").code == 2


def test_a_record_is_shown_as_it_was(cli: Cli) -> None:
    cli.ok("ingest", "Deploys run at noon", "--type", "convention")
    id = "mem-20260320-0000001"
    cli.ok("vote", id, "helpful")
    cli.ok("undo")
    cli.ok("undo")
    assert cli("show", id).code == 2
    assert cli("show", id, "--at", "4").code == 2
    assert cli.json("show", id, "--at", "1")["helpful_votes"] == 0
    assert cli.json("show", id, "--at", "2")["helpful_votes"] == 1
    assert "Deploys run at noon" in cli.ok("show", id, "--at", "3")
    for rev, said in (
        ("0", f"There was no {id} at revision 0."),
        ("9", "There is no revision 9. The latest is 4."),
    ):
        err = cli.refused("show", id, "--at", rev)
        assert said in err


def test_history_lists_the_newest_first(demo: Cli) -> None:
    demo.ok("vote", "shr-00001", "helpful")
    demo.ok("undo")
    lines = demo.ok("history", "-n", "2").splitlines()
    assert [line.split("  ")[-1] for line in lines] == [
        "undo: vote helpful on playbook/shr-00001",
        "vote helpful on playbook/shr-00001",
    ]
    steps = demo.json("history", "-n", "3")
    assert [step["kind"] for step in steps] == ["undo", "edit", "edit"]
    assert {"rev", "at", "actor", "label", "kind", "group", "target", "records", "fields"} == set(
        steps[0]
    )
    lines = demo.ok("history", "-n", "1", "--values").splitlines()
    assert "      playbook/shr-00001 helpful_votes: -1" in lines


def test_the_history_of_one_record_shows_its_fields(demo: Cli) -> None:
    demo.ok("vote", "shr-00001", "helpful")
    lines = demo.ok("history", "shr-00001", "-n", "1").splitlines()
    assert lines[0].endswith("cli  vote helpful on playbook/shr-00001")
    assert "      helpful_votes: +1" in lines
    (step,) = demo.json("history", "shr-00001", "-n", "1")
    voted = next(field for field in step["fields"] if field["field"] == "helpful_votes")
    assert (voted["table"], voted["key"], voted["step"]) == ("bullets", "playbook/shr-00001", 1)
    assert {field["key"] for field in step["fields"]} == {"playbook/shr-00001"}


def test_a_record_that_was_undone_keeps_its_history(cli: Cli) -> None:
    cli.ok("ingest", "something to forget")
    cli.ok("undo")
    assert cli("show", "mem-20260320-0000001").code == 2
    lines = cli.ok("history", "mem-20260320-0000001").splitlines()
    labels = [line.rpartition("  ")[2] for line in lines if not line.startswith("      ")]
    assert labels == [f"{verb}ingest general mem-20260320-0000001" for verb in ("undo: ", "")]


def test_an_unknown_record_has_no_history(demo: Cli) -> None:
    err = demo.refused("history", "mem-none")
    assert err == "workbench: Nothing called mem-none was ever in this store.\n"


def test_a_new_store_has_no_history(cli: Cli) -> None:
    cli.ok("init")
    result = cli("history")
    assert (result.code, result.out, result.err) == (0, "", "Nothing was done in this store yet.\n")
    assert cli.json("history") == []
