"""Instruction files are documents: nothing of one is a record, and what is asked for can be
understood alone.
"""

import random

import pytest

from tests.formats.broken import broken
from tests.formats.samples import context
from workbench.core.files.format import Parsed, ReadContext
from workbench.core.files.formats import detect
from workbench.formats import instructions
from workbench.formats.instructions import statements

TEXT = """---
name: team
---
# The shop

This is what agents read first in this folder.

## Commands

| Task | Command |
|------|---------|
| build | `make all` |

Run the tests with:

```sh
make test
```

- Build: `make all` builds every package
- wip

## Deployment

### Do not

- Run make deploy without asking
- Push to main on Fridays

### Steps

Before a release:

1. Stop the server first
2. Run the migration
   - with a backup
3. Start it again

## Commit messages

**Good:**

- feat: add the retry budget

**BAD:**

- fixed some stuff in the code

Don't forget to:
- run the linter before a commit

- [ ] check this list item off
- Don't:
  - use any in TypeScript
  - disable lint rules

Formatting
----------

Use tabs for indentation everywhere.

This keeps the diff small for everybody.

<!-- tool:begin -->
- an item that another program wrote
<!-- tool:end -->

## Dos and Don'ts

- use the cache for reads
"""


def asked(file: str = "CLAUDE.md") -> ReadContext:
    """Return a context in which the statements of a document are wanted."""
    found = context(file)
    return ReadContext(now=found.now, file=file, importance=found.importance, as_candidates=True)


@pytest.mark.slow
@pytest.mark.parametrize(
    "path",
    ["AGENTS.md", "x/CLAUDE.md", "CLAUDE.local.md", "GEMINI.md", ".github/copilot-instructions.md", ".cursorrules",
     ".windsurfrules", ".cursor/rules/style.mdc", "skills/pdf/SKILL.md", ".windsurf/rules/a.md"],
)  # fmt: skip
def test_they_are_known_by_name_and_bring_no_records(path: str) -> None:
    assert detect(path, TEXT)[0].format == "instructions"
    parsed = instructions.read(TEXT, context(path))
    assert (parsed.memories, parsed.records_in, parsed.offered) == ((), 0, 9)
    assert [issue.records for issue in parsed.issues] == [0]
    assert "no record is made of it" in str(parsed.issues[0])


def test_statements_carry_what_they_stand_under() -> None:
    assert [(one.line, one.forbids, one.text) for one in statements(TEXT)] == [
        (20, False, "Commands: Build: `make all` builds every package"),
        (27, True, "Warning, under “Deployment › Do not”: Run make deploy without asking"),
        (28, True, "Warning, under “Deployment › Do not”: Push to main on Fridays"),
        (34, False, "Deployment › Steps, Before a release: 1. Stop the server first\n"
                    "2. Run the migration\n   - with a backup\n3. Start it again"),
        (43, False, "Commit messages, Good: feat: add the retry budget"),
        (47, True, "Warning, under “Commit messages, BAD”: fixed some stuff in the code"),
        (50, False, "Commit messages, Don't forget to: run the linter before a commit"),
        (53, True, "Warning, under “Commit messages, Don't forget to”: Don't:\n"
                   "- use any in TypeScript\n- disable lint rules"),
        (60, False, "Formatting: Use tabs for indentation everywhere."),
    ]  # fmt: skip


REAL = {
    "the last sentence leads": (
        "## Build\n\nRun `just fmt` at the end; do not ask first. Then run the tests:\n\n1. Test the crate first\n",
        ["Build, Run `just fmt` at the end; do not ask first. Then run the tests: Test the crate first"],
    ),
    "a condition forbids nothing": (
        "## Build\n\nIf you don't have the tool:\n\n- install it with `cargo install just`\n",
        ["Build, If you don't have the tool: install it with `cargo install just`"],
    ),
    "what to do instead": (
        "## Anti-patterns\n\n**Do this instead:** Filter in the query\n",
        ["Anti-patterns: **Do this instead:** Filter in the query"],
    ),
    "both under one prohibition": (
        "## Out\n\nNever round a number. Concretely:\n- DO: write the float as it is\n- DO NOT: call `round(x, 2)`\n",
        ["Out, Never round a number. Concretely:\n- DO: write the float as it is\n- DO NOT: call `round(x, 2)`"],
    ),
    "what explains a prohibition stays": (
        "## Pitfalls\n\n### Don't open the database in widgets\n\nThe repository opens it once for all.\n", [],
    ),
    "what leads back stays": (
        "## Never do\n\nThat would hide the difference between:\n\n- what is proven here\n- what is not yet so\n", [],
    ),
    "a bold line is a heading": (
        "# A\n\n**Agent (`core.agent`)**\n\n- Runs the tasks of a session\n- Entry point: `core.agent.run`\n",
        ["A, Agent (`core.agent`):\n- Runs the tasks of a session\n- Entry point: `core.agent.run`"],
    ),
    "items that are titles": (
        "# Rules\n\n1. Packages\n   - Only use uv here\n   - Add: `uv add NAME`\n"
        "2. Tests\n   - Each fix has a test of its own that fails without it\n",
        ["Rules, Packages:\n- Only use uv here\n- Add: `uv add NAME`",
         "Rules, Tests: Each fix has a test of its own that fails without it"],
    ),
    "a prohibition is no title": (
        "# Rules\n\n- Avoid shell commands\n  - use the `glob` of the library for that\n",
        ["Rules: Avoid shell commands\n- use the `glob` of the library for that"],
    ),
    "what says nothing alone stays": (
        "# Words\n\n- Use single quotes otherwise\n- See `styles.md`\n- [Other rules](docs/AGENTS.md)\n- `a.b.c`\n", [],
    ),
    "front matter within a file": (
        "# A\n\ntext of it is here\n\n---\nid: a/b.md\ncreated: 2026-01-02\n---\n", ["A: text of it is here"],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", REAL)
def test_what_real_files_do(name: str) -> None:
    text, said = REAL[name]
    assert [(one.text, one.forbids) for one in statements(text)] == [(one, False) for one in said]


def test_what_is_taken_is_a_candidate() -> None:
    parsed = instructions.read(TEXT, asked())
    assert {memory.status for memory in parsed.memories} == {"candidate"}
    assert [memory.category for memory in parsed.memories].count("warning") == 4
    assert {memory.observation_type for memory in parsed.memories} == {"instruction", "gotcha"}
    assert (parsed.records_in, parsed.issues) == (9, ())
    assert [memory.id for memory in instructions.read(TEXT, asked()).memories] == [
        m.id for m in parsed.memories
    ]


@pytest.mark.parametrize(
    ("above", "item", "warns"),
    [
        ("## Avoid", "- global state between the requests", True),
        ("## Anti-patterns", "- one class for everything there is", True),
        ("## Anti-patterns\n\n### Instead", "- one class for each thing", False),
        ("## Rules\n\nNever do this:\n", "- commit keys to the repository", True),
        ("## Rules\n\n❌ Bad:\n", "- catch all errors and go on", True),
        ("## Rules\n\nTo avoid conflicts:\n", "- pull before every push", False),
        ("## Never skip these", "- run the tests before a commit", False),
        ("## Rules", "- ❌ catch all errors and go on", True),
        ("## Rules", "- BAD: catch all errors and go on", True),
        ("## Rules", "- Never push to main", False),
        ("## Common mistakes to avoid\n\n❌ **Don't**:", "- use one cache for all the users", True),
        ("## Common mistakes to avoid\n\n❌ **Don't**:\n\n✅ **Do**:", "- use a cache for each user", False),
        ("## How to avoid conflicts", "- pull before every push", False),
        ("## Things to avoid", "- one class for everything there is", True),
        ("## What NOT to do", "- Don't guess what was never verified", True),
        ("## Common mistakes to avoid", "1. Not closing: files stay open\n2. Closing twice: it fails", True),
        ("## Do", "- ask before a deploy happens", False),
    ],
)  # fmt: skip
def test_what_is_not_to_be_done_is_a_warning(above: str, item: str, warns: bool) -> None:
    (one,) = statements(f"{above}\n{item}\n")
    assert one.forbids is warns
    assert one.text.startswith("Warning") is warns
    assert item.removeprefix("- ") in one.text


@pytest.mark.parametrize(
    "text",
    ["## Good and bad\n- catch all errors\n", "- It does that for everything\n", "- [x] all of this is done\n", "",
     "- run this:\n  ```\n  make all of it\n  ```\n", "@docs/other-rules-for-all.md\n", "Look at this list:\n",
     "<!-- START doctoc generated -->\n- one two three four\n<!-- END doctoc -->\n"],
)  # fmt: skip
def test_what_cannot_be_understood_alone_stays(text: str) -> None:
    assert list(statements(text)) == []


def test_of_a_mixed_list_of_pitfalls_only_those_are_taken_that_say_so() -> None:
    text = "## Pitfalls\n- Avoid clones in hot loops\n- Do not block the runtime\n- Run the linter in CI\n"
    assert [one.text for one in statements(text)] == [
        "Warning, under “Pitfalls”: Avoid clones in hot loops", "Warning, under “Pitfalls”: Do not block the runtime",
    ]  # fmt: skip
    assert (
        len(list(statements("## Pitfalls\n- Blocking the runtime\n- Cloning in hot loops\n"))) == 2
    )


def test_scripts_without_spaces_and_quotes() -> None:
    found = list(
        statements(
            "## ❌ 不做什么\n- 不自动猜测提醒时间\n- 短\n\n> Ours is one store\n> for all apps.\n"
        )
    )
    assert [(one.text, one.forbids) for one in found][:1] == [
        ("Warning, under “❌ 不做什么”: 不自动猜测提醒时间", True)
    ]
    (quoted,) = statements("# Shop\n\n> Ours is one store\n> for all apps.\n")
    assert quoted.text == "Shop: Ours is one store\nfor all apps."


@pytest.mark.parametrize(
    "text",
    ["# rules of ours\n\nrules:\n  # 1. Stack\n  - id: stack\n    prompt: |\n      Use what is there already.\n",
     "0. Component files structure\n\n```\nButton\n```\n"],
)  # fmt: skip
def test_files_without_statements(text: str) -> None:
    assert list(statements(text)) == []


@pytest.mark.slow
def test_any_text_is_read() -> None:
    dice = random.Random(5)
    for _ in range(500):
        for newline in ("\n", "\r\n"):
            parsed = instructions.read(broken(TEXT, dice).replace("\n", newline), asked())
            assert isinstance(parsed, Parsed)
            assert all(memory.content.strip() for memory in parsed.memories)


def test_what_a_skill_says_stands_under_its_title() -> None:
    text = "---\nname: todo\n---\n# Todo Manager\n\n## Clean up\n\n- Delete what was done over thirty days ago.\n"
    (of_skill,) = instructions.read(text, asked("skills/todo/SKILL.md")).memories
    (of_project,) = instructions.read(text, asked("AGENTS.md")).memories
    assert of_skill.content == "Todo Manager › Clean up: Delete what was done over thirty days ago."
    assert of_project.content == "Clean up: Delete what was done over thirty days ago."


def test_a_heading_with_a_colon_has_one() -> None:
    text = "## Setup\n### Known issues:\n- Snapshots need an update\n\nWhen you change code:\n1. Lint it\n2. Try it\n"
    assert [said.text for said in statements(text)] == [
        "Setup › Known issues: Snapshots need an update",
        "Setup › Known issues, When you change code: 1. Lint it\n2. Try it",
    ]


def test_steps_that_go_on_behind_code_keep_their_numbers() -> None:
    text = "## Run\n\n1. Stop it first\n2. Write this file:\n\n```sh\nmake\n```\n\n3. Start it\n4. Look at it\n"
    assert [said.text for said in statements(text)][-1] == "Run: 3. Start it\n4. Look at it"
