"""`workbench plan` and `working`: made, shown, changed, checked and decided upon, and stored as one change each."""

import json

import pytest

from tests.cli.conftest import Cli

LIST = "Fix the login\n- [ ] Reproduce it (15 min)\n- [ ] Fix it (30 min)\n  - [ ] Write the test (10 min)\n"


@pytest.fixture
def store(cli: Cli) -> Cli:
    cli.write("plan.md", LIST)
    cli.ok("plan", "make", "--file", "plan.md")
    return cli


def plan(store: Cli) -> dict[str, object]:
    found: dict[str, object] = store.json("plan", "show")
    return found


def test_a_plan_goes_from_a_check_list_to_one(store: Cli) -> None:
    made = plan(store)
    assert made["goal"] == "Fix the login"
    assert made["minutes"] == 25
    assert made["settled"] == 0
    assert made["of"] == 2
    assert made["current"] == "1"
    store.ok("plan", "step", "done")
    store.ok("plan", "step", "skip", "2.1")
    assert "[x] Reproduce it" in store.ok("plan", "export", "--plan", str(made["id"]))
    store.refused("plan", "show")
    store.ok("undo")
    store.ok("plan", "export", "out.md")
    (store.cwd / "out.md").write_text((store.cwd / "out.md").read_text() + "- [ ] Ship (5 min)\n")
    store.ok("plan", "edit", "out.md")
    assert plan(store)["minutes"] == 30
    assert plan(store)["of"] == 3
    assert "1 of 3" in store.ok("plan", "list")


def test_a_goal_is_parted_and_a_dry_run_stores_nothing(cli: Cli) -> None:
    cli.ok("append", "x")
    assert cli.ok("plan", "make", "Fix it", "--minutes", "60", "--dry-run").count("- [ ]") == 4
    assert cli("plan", "list").err.startswith("No plans yet")
    made = cli.json("plan", "make", "Fix it", "--step", "Look (5 min)", "--step", "Do")
    assert [(one["text"], one["minutes"]) for one in made["steps"]] == [("Look", 5), ("Do", 0)]
    many = "Goal\n" + "- [ ] a step\n" * 10_000
    cli.write("many.md", many)
    assert "at most 200 steps" in cli.refused("plan", "make", "--file", "many.md")


def test_a_check_says_which_rule_fired_and_by_its_exit_code(store: Cli) -> None:
    assert store("plan", "check").code == 0
    store.ok("append", "Error: Module not found", "--type", "error")
    result = store("plan", "check", "--json")
    found = json.loads(result.out)
    assert result.code == 1
    assert found["deviates"] is True
    assert [one["rule"] for one in found["found"]] == ["error_detected"]
    again = store("plan", "check", "Already implemented in branch X")
    assert again.code == 0
    assert "goal_satisfied" in again.out
    assert "within 5 minutes" in again.out


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
        err = cli.refused("working", *words)
        assert part in err, err
