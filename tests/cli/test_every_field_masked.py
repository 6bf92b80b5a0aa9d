"""Files of every format with a secret in every text of theirs: no command prints one, plain or as
JSON.
"""

import contextlib
import json
import re
from collections.abc import Iterator
from typing import Any

import pytest

from tests.cli.conftest import Cli
from tests.formats.others import (
    BEADS,
    CASS,
    CLAUDE_MD,
    CLAUDE_MEM,
    DETAIL,
    LEARNINGS,
    LETTA,
    MCP,
    MEMORY_MD,
    MESSAGES,
    OVERVIEW,
    PATTERNS,
    SKILLBOOK,
    TOPIC_MD,
)  # fmt: skip
from tests.formats.samples import COUNTS, GENAGENTS, NODES
from tests.safety.fresh import fresh

pytestmark = pytest.mark.slow

PREFIX = 14
"""Characters of a secret that nothing may print."""

ENTRY = json.dumps(
    {
        "id": "mem-20260301-0000001", "type": "error", "content": "Deploys fail on Friday", "summary": "In short",
        "timestamp": "2026-03-01T10:00:00Z", "tags": ["deploy"], "category": "ops", "section": "Ops",
        "session_id": "session", "user_id": "user", "metadata": {"note": "x", "deep": {"more": "y"}},
        "source": {"hook": "Stop"}, "extra": "field",
    }
)  # fmt: skip
QUERIES = json.dumps(
    {"query": "how to deploy", "relevant": {"mem-20260301-0000001": 2}, "tags": ["ops"]}
)

SAMPLES = {
    "entries.jsonl": ENTRY + "\n", "queries.jsonl": QUERIES + "\n", "book.txt": COUNTS, "skills.json": SKILLBOOK,
    "cass.yaml": CASS, "patterns.json": PATTERNS, "LEARNINGS.md": LEARNINGS, "beads.jsonl": BEADS, "mcp.jsonl": MCP,
    "agent.af": LETTA, "MEMORY.md": MEMORY_MD, "CLAUDE.md": CLAUDE_MD, "topic.md": TOPIC_MD, "mem.json": CLAUDE_MEM,
    "working.md": OVERVIEW, "auth.md": DETAIL, "messages.json": MESSAGES, "gen.json": GENAGENTS,
    "nodes.json": NODES,
}  # fmt: skip

NAMES = frozenset(
    {
        "type", "observation_type", "memory_type", "status", "state", "kind", "role", "timestamp", "created",
        "created_at", "updated_at", "at", "date", "format", "relevant", "priority", "severity", "level", "scope",
        "maturity", "stage", "entityType", "relationType",
    }
)  # fmt: skip
"""Fields whose words a format knows; with another text in one of them a file would be another's."""


class Secrets:
    """Draws a secret for each place and remembers where it went."""

    def __init__(self) -> None:
        self.drawn: dict[str, str] = {}

    def __call__(self, where: str) -> str:
        where = f"{where} {len(self.drawn)}"
        self.drawn[where] = fresh(f"cli {where}")["github"].secret
        return self.drawn[where]

    def inside(self, text: str) -> list[str]:
        """Return the places whose secret, or how it begins, stands in a text."""
        return [where for where, secret in self.drawn.items() if secret[:PREFIX] in text]


def _salted(value: Any, place: str, secret: Secrets) -> Any:
    """Return a JSON value with a secret at the end of every text that is free."""
    if isinstance(value, dict):
        return {name: _salted(item, f"{place}.{name}", secret) for name, item in value.items()}
    if isinstance(value, list):
        return [_salted(item, place, secret) for item in value]
    name = place.rpartition(".")[2]
    is_free = (
        isinstance(value, str)
        and value
        and name not in NAMES
        and not re.match(r"\d{4}-\d\d-\d\d", value)
    )
    return f"{value} {secret(place)}" if is_free else value


def salted(name: str, text: str, secret: Secrets) -> str:
    """Return a sample with secrets in its texts, still of its format."""
    if not name.endswith("l"):
        with contextlib.suppress(ValueError):
            return json.dumps(_salted(json.loads(text), name, secret), indent=1) + "\n"
    lines = []
    for line in text.split("\n"):
        with contextlib.suppress(ValueError):
            lines.append(json.dumps(_salted(json.loads(line), name, secret)))
            continue
        few = 2 if name.endswith(".md") and not line.startswith("#") else 3
        words = len(line.split()) > few and not line.rstrip().endswith(
            (",", "|", '"', ":", "---", "-->")
        )
        lines.append(f"{line} {secret(name)}" if words else line)
    return "\n".join(lines)


@pytest.fixture(params=SAMPLES)
def salted_store(request: pytest.FixtureRequest, cli: Cli) -> tuple[Cli, Secrets, str]:
    """A store into which one salted file was imported."""
    secret = Secrets()
    name = cli.write(request.param, salted(request.param, SAMPLES[request.param], secret))
    assert cli("import", name).code in (0, 1)
    return cli, secret, name


def _commands(cli: Cli, name: str) -> Iterator[tuple[str, ...]]:
    both: list[tuple[str, ...]] = [
        ("list", "-n", "0"), ("list", "deploys"), ("stats",), ("doctor",), ("history", "-n", "0"),
        ("history", "-n", "0", "--values"), ("search", "deploy"), ("search", "deploy", "--for-agent", "x"),
        ("review",), ("review", "list"), ("scan",), ("upkeep",), ("dedup", "--dry-run"), ("queries", "list"),
        ("import", "--dry-run", name), ("import", name), ("lint", name), ("lint", name, "--fix", "all", "--dry-run"),
        ("scan", name), ("stores",),
        ("reflect", "--preview"), ("curate", "--preview"), ("context", "deploy"),
        ("context", "deploy", "--for-agent", "x"), ("reads",), ("index",), ("bullet", "list"),
    ]  # fmt: skip
    if name == "queries.jsonl":
        both += [("eval", name), ("tune", name)]
    listed = json.loads(cli("list", "-n", "0", "--json").out or "[]")
    for row in listed[:4]:
        both += [
            ("show", row["id"]),
            ("history", row["id"]),
            ("search", "deploy", "--why", row["id"]),
        ]
    waiting = json.loads(cli("review", "list", "--json").out or "[]")
    both += [("review", "show", row["id"]) for row in waiting[:3]]
    both += [("vote", "nobody-there", "helpful"), ("show", "nobody-there"), ("list", "tag:")]
    for command in both:
        yield command
        yield (*command, "--json")
    yield ("status",)
    yield ("trust", "--show")
    for format in (
        "markdown",
        "csv",
        "json",
        "yaml",
        "prompt",
        "prompt-counts",
        "block",
        "ace",
        "skillbook",
        "cass",
    ):
        yield ("export", "--format", format, "--memories")
        yield ("export", "--format", format)
    yield ("export", "--format", "lifecycle", "--mask")


def test_no_command_prints_the_secret_of_a_field(salted_store: tuple[Cli, Secrets, str]) -> None:
    cli, secret, name = salted_store
    assert secret.drawn
    found: dict[str, list[str]] = {}
    for command in _commands(cli, name):
        result = cli(*command)
        if shown := secret.inside(result.out + result.err):
            found[" ".join(command)] = shown[:3]
    assert found == {}
