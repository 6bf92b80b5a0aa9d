"""`workbench undo`, `redo` and `history`."""

from tests.cli.conftest import Cli, files_of


def test_undo_takes_everything_back_step_by_step_and_redo_returns_it(demo: Cli) -> None:
    export = ("export", "--format", "ace")
    states = [demo.ok(*export)]
    for name in ("shr-00001", "shr-00002"):
        demo.ok("vote", name, "helpful")
        states.append(demo.ok(*export))
    for verb, order in (("undo", (1, 0)), ("redo", (1, 2))):
        for state in order:
            assert demo.ok(verb).startswith(("Undone: vote", "Redone: vote"))
            assert demo.ok(*export) == states[state]


def test_a_later_change_by_another_stands_in_the_way(demo: Cli) -> None:
    demo.ok("import", demo.write("one.txt", "## A\n[a-00001] helpful=0 harmful=0 :: One.\n"))
    demo.ok("vote", "a-00001", "helpful", "--actor", "claude")
    before = files_of(demo.store)
    err = demo.refused("undo")
    first, second = err.splitlines()
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
    votes = [demo.json("show", id)["helpful_votes"] for id in ("shr-00001", "shr-00002")]
    assert votes == [0, 1]
    assert demo.json("show", "shr-00001")["harmful_votes"] == 0
    assert "is already undone. Nothing was changed." in demo.refused("undo", "--rev", rev)


def test_history_lists_the_newest_first(demo: Cli) -> None:
    demo.ok("vote", "shr-00001", "helpful")
    demo.ok("undo")
    label = "vote helpful on playbook/shr-00001"
    lines = demo.ok("history", "-n", "2").splitlines()
    assert [line.split("  ")[-1] for line in lines] == [f"undo: {label}", label]
    assert "playbook/shr-00001 helpful_votes: -1" in demo.ok("history", "-n", "1", "--values")
    (_, step, *_) = demo.json("history", "shr-00001")
    assert {field["key"] for field in step["fields"]} == {"playbook/shr-00001"}


def test_everything_by_an_agent_since_a_time_goes_with_one_undo(demo: Cli) -> None:
    before = demo.ok("export", "--format", "ace")
    for name in ("shr-00001", "shr-00002"):
        demo.ok("vote", name, "harmful", "--actor", "zed")
    assert "2 changes by zed" in demo.ok("undo", "--by", "zed", "--since", "1h")
    assert demo.ok("export", "--format", "ace") == before
    demo.ok("undo")
    assert demo.json("undo", "--by", "zed", "--since", "1h")["changes"] == 2
    assert "--since" in demo.refused("undo", "--by", "zed")
