"""`workbench working`: each command loads a session, applies one operation, and stores it."""

from tests.cli.conftest import Cli


def test_each_operation_is_one_change_that_undo_takes_back(cli: Cli) -> None:
    cli.ok("working", "init", "Fix the token refresh. Tests must pass.")
    cli.ok("working", "set", "files", "a.py", "--scope", "accumulator")
    cli.ok("working", "set", "files", '["b.py"]', "--scope", "accumulator")
    assert cli.ok("working", "get", "files") == '["a.py", "b.py"]\n'
    cli.ok("working", "push-state", '{"current_phase": "testing"}')
    for n in range(8):
        cli.ok("working", "add-intermediate", f"st_{n}", f'{{"n": {n}}}')
    cli.ok("working", "load-context", '{"plan": ["read"]}')
    cli.ok("working", "retrieve", "token refresh")
    assert cli.json("working", "prune")["moved"] == [
        "intermediate.st_1",
        "intermediate.st_0",
    ]
    cli.ok("working", "snapshot")
    shown = cli.json("working", "show")
    assert shown["task_scope"]["constraints"] == ["Tests must pass."]
    assert "intermediate.st_0" in shown["cold"]
    cli.ok("working", "rollback")
    assert "st_0" in cli.json("working", "show")["intermediate_values"]
    assert "of 8,000 tokens" in cli.ok("working", "show")
    cli.ok("working", "set", "goal", "another")
    cli.ok("undo")
    assert cli.ok("working", "get", "goal") == "null\n"
    done = cli.json("working", "clear", "--outcome", "SUCCESS")
    assert "Fix the token refresh" in cli.ok("episode", "show", done["episode"])
    assert "cli  " in cli.ok("working")


def test_what_cannot_be_done_is_said(cli: Cli) -> None:
    cli.ok("working", "init", "A task.")
    for words, part in (
        (("push-state", "{"), "JSON object"),
        (("set", "k", "x" * 10_001), "10,001 characters"),
        (("set", "k", "v", "--scope", "nowhere"), "scope “"),
        (("get", "k", "--session", "a/b"), "is not a valid session name"),
    ):
        done = cli("working", *words)
        assert (done.code, part in done.err) == (2, True), done.err
