"""A secret in each text of every record and of files of every format: no command prints one, plain or as JSON."""

import contextlib
import gzip
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import pytest

from tests.cli.conftest import NOW, Cli
from tests.cli.sessions import session
from tests.cli.shared import memory, names
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
)
from tests.formats.samples import COUNTS, GENAGENTS, NODES
from tests.safety.fresh import fresh
from tests.services.conftest import ungated
from workbench.cli.main import build_parser
from workbench.core.agents.episodes.episode import Episode
from workbench.core.agents.patterns.pattern import Pattern
from workbench.core.agents.read import AgentRead
from workbench.core.document import field_names, from_doc, to_doc
from workbench.core.record import InvalidRecord
from workbench.services.open import Workbench, open_workbench
from workbench.services.safety.secret_filter import KEPT
from workbench.store.records import RECORDS, kind_in

pytestmark = pytest.mark.slow


PREFIX = 14
"""Characters of a secret that nothing may print."""


MOST = 12
"""Records of a kind that hold secrets."""


STANDS = KEPT - {"query"} | {
    "key", "sha256", "format", "door", "type", "pattern", "episode", "episodes", "outcome", "category", "body.type",
    "book", "members", "representative", "supporting_episodes", "counter_episodes", "complements", "depends_on",
    "referenced_by", "archived_reason", "scope", "phase", "text.id",
}  # fmt: skip
"""Fields that name a record, a kind or a state."""


REFERS = {
    "bullets": {"section"},
    "judgments": {"query"},
    "placements": {"text"},
    "files": {"origin"},
}
"""More of them by table; a placement is what stands in a file, byte for byte."""


class Planted:
    """Draws a secret for each place, but for fields that stand for something, and remembers which."""

    def __init__(self, stands: frozenset[str] = STANDS, *, fills: bool = True) -> None:
        self._drawn: dict[str, str] = {}
        self._stands, self._fills = stands, fills

    def at(self, place: str) -> str:
        """Return the secret of a place."""
        if place not in self._drawn:
            self._drawn[place] = fresh(f"walk {place}")["github"].secret
        return self._drawn[place]

    def inside(self, text: str) -> list[str]:
        """Return the places whose secret, or how it begins, stands in a text."""
        return [place for place, secret in self._drawn.items() if secret[:PREFIX] in text]

    def salted(self, value: Any, place: str) -> Any:
        """Return a JSON value with the secret of its place at the end of each text within; of empty
        ones, too, where they are to be filled.
        """
        if place.rpartition(".")[2] in self._stands:
            return value
        if isinstance(value, Mapping):
            return {name: self.salted(item, f"{place}.{name}") for name, item in value.items()}
        if isinstance(value, list):
            return [self.salted(item, place) for item in value]
        is_free = isinstance(value, str) and not re.match(r"\d{4}-\d\d-\d\d", value)
        return f"{value} {self.at(place)}".strip() if is_free and (value or self._fills) else value

    def record(self, kind: type, table: str, record: object, *, fits: bool) -> object:
        """Return a record with a secret in each text that may be any, in those that were empty,
        too.

        One that is to fit a task keeps what says for which ones it is.
        """
        doc = to_doc(record)
        for name in sorted(
            field_names(kind) - REFERS.get(table, set()) - ({"applicability"} if fits else set())
        ):
            new = self.salted(doc.get(name, ""), f"{table}.{name}")
            tried = doc if new == doc.get(name, "") else {**doc, name: new}
            with contextlib.suppress(InvalidRecord):
                from_doc(kind, tried)
                doc = tried
        return from_doc(kind, doc)


def plant(bench: Workbench, planted: Planted) -> None:
    """Put secrets into the texts of some records of every kind, as files that are imported bring
    them.
    """
    library = bench.library
    with (
        ungated(bench),
        library.transaction(f"import:{planted.at('actor')}", planted.at("label")) as tx,
    ):
        for entry in RECORDS:
            kind: type[Any] = kind_in(entry.table)
            for place, record in enumerate(list(library.table(kind).all())[:MOST]):
                put = planted.record(kind, entry.table, record, fits=bool(place % 2))
                if isinstance(put, Episode):
                    body = planted.salted(json.loads(library.blobs.read(put.hash)), "body")
                    put = replace(put, hash=library.blobs.put_all([json.dumps(body).encode()])[0])
                tx.put(put)
        steps = f"Ship {planted.at('goal')}\n- [ ] Use {planted.at('step')}"
        tx.put(memory("plan-1", steps, observation_type="plan"))
        tx.put(memory(planted.at("id"), "A name that is a secret"))


READING = """
list -n 0 | list deploy | list --at {rev} | list --sort=-made | stats | status | doctor | history -n 999 | views
watch | history -n 999 --values | history {memory} | history {bullet} --values | history {read} | scan | trust --show
model show
search deploy | search deploy --for-agent x | search deploy --explain | search deploy --at {rev} | show {memory}
show {bullet} | show {proposal} | show nobody | show {memory} --at {rev} | stores | config show | context deploy
context deploy --for-agent x | context deploy --error {key} | reads | reads --agent claude | reads {read} | index
bullet list | bullet list --book playbook | review | review list | review list --found | review show {proposal}
queries list | queries export made-queries.jsonl | eval queries.jsonl | tune queries.jsonl | check expect.toml
documents | documents {folder} | recall deploy | recall deploy --all-sessions | recall deploy --for-agent x
replay {session} | episode list | episode list --outcome FAILURE | episode show {episode} | episode find deploy
episode find deploy --explain | episode find deploy --for-agent x | episode export made.json
episode compare {episode} {episode} | pattern list
pattern show {pattern} | pattern find deploy
pattern find deploy --for-agent x | pattern find deploy --explain | pattern similar {pattern}
pattern fill {template} table=x column=y | pattern tree | pattern validate | pattern export out.json
pattern prune
plan list | plan show {plan} | plan check --plan {plan} | plan export --plan {plan} | plan decide deploy
plan decide --preview | plan make {key} --dry-run
consolidate --dry-run | still-true --tree . --dry-run | upkeep --dry-run | dedup --dry-run
reflect --preview | curate --preview | import --dry-run list.jsonl | lint list.jsonl | convert list.jsonl list.yaml
compact | hooks status | capture status | export --format block | export --format ace | export --format skillbook
export --format cass | export --format prompt | export --format prompt-counts
export --format markdown --memories --mask | export --format csv --memories --mask
export --format json --memories --mask | export --format yaml --memories --mask | export --format lifecycle --mask
export --format learnings --memories --mask | export --format letta --memories --mask
export --format mcp-memory --memories --mask | export --format semantic-patterns --memories --mask
export --format external-overview --memories --mask | export --format external-messages --memories --mask
"""
"""Commands that look, parted by bars; in braces stands what a record of the store is called."""


CHANGING = """
vote {memory} helpful --reason {key} | vote {memory} harmful | append {key} | ingest {key} | pin {memory}
edit {memory} --add-tag x | edit {second} other --keep | forget {memory} | unforget {memory} | undo | redo
replace deploy release --yes | archive --status signal --before 2027-01-01 | bullet add {section} {key}
bullet edit {bullet} other | bullet move {bullet} {section} | review approve {proposal} | review later {other}
review reject {other} --reason {key} | review keep-old {other} | review merge {memory} {second}
review promote {second} --to CLAUDE.md --outside | allow {memory} --reason {key} | allow {memory} --withdraw
episode note {episode} {key} | episode tag {episode} --add x | episode approve {episode} | episode add {file}
episode learn {file} | episode delete {episode} | episode restore {episode}
episode archive {episode} | episode purge
pattern approve {pattern} | pattern edit {pattern} pattern.json | pattern add pattern.json
pattern apply {pattern} {episode} --outcome success --note {key} | pattern refine {pattern}
pattern deprecate {pattern} --reason {key} | pattern restore {pattern} | pattern supersede {pattern} {brother}
pattern merge {pattern} {brother} | pattern relate {pattern} complements {brother} | pattern prune --deprecate
pattern import patterns.json | plan make {key} --step {key} | plan step done | plan edit plan.md | plan check {key}
consolidate | upkeep | dedup | still-true --tree . | reflect --force | undo | undo
working init {key} | working load-context {key} | working set {key} {key} | working set name {key} | working get name
working push-state {{"current_phase":"x"}} | working add-intermediate st_1 {key} | working retrieve deploy
working prune | working snapshot | working rollback | working | working show | working clear --output {key}
import list.jsonl | history -n 999 --values | doctor --accept | purge {second} --yes-erase {second} | scan --mask
backup made.zip --mask | trust | model use bundled
"""
"""Commands that change something, in their order."""


ELSEWHERE = {"completion", "demo", "help", "init", "mcp", "migrate", "restore", "store"}
"""Commands that print nothing of a store, or that have proofs of their own; `store` needs a database."""


@pytest.fixture
def salted(cli: Cli) -> tuple[Cli, Planted, dict[str, str]]:
    """The demo store with secrets in it, and what stands for the braces."""
    planted = Planted()
    assert cli.bare("demo", "--into", str(cli.store)).code == 0
    bench = open_workbench(cli.store, profiles=cli.cwd / "none", clock=lambda: NOW)
    plant(bench, planted)
    library = bench.library
    memories, patterns = library.memories.all(), library.table(Pattern).all()
    ids = {
        "memory": memories[0].id, "second": memories[1].id, "bullet": library.bullets.all()[0].id,
        "read": library.table(AgentRead).all()[0].id,
        "episode": library.table(Episode).all()[0].id, "pattern": patterns[0].id, "brother": patterns[1].id,
        "plan": "plan-1", "rev": str(library.revision), "key": planted.at("typed"),
        "session": str(session(cli.cwd, "2026-03-20T19:00:00Z")),
        "file": "list.jsonl", "folder": str(cli.store / "documents"), "section": library.sections.all()[0].id,
        "template": next(one.id for one in patterns if one.body and one.body.type == "template"),
    }  # fmt: skip
    bench.close()
    waiting = [row["id"] for row in cli.told("review", "list")]
    ids |= {"proposal": waiting[0], "other": waiting[1]}
    cli("queries", "export", "queries.jsonl")
    cli.write(
        "expect.toml",
        f'[[expect]]\nquery = "{planted.at("expected")}"\nfinds = ["{ids["memory"]}"]\n',
    )
    entry = {
        "id": "mem-9",
        "context": planted.at("line"),
        "type": "gotcha",
        "session_id": planted.at("line session"),
    }
    cli.write("list.jsonl", json.dumps(entry) + "\n")
    cli.write(
        "pattern.json",
        json.dumps(
            {"name": planted.at("name"), "description": planted.at("said"), "category": "strategy"}
        ),
    )
    cli.write("plan.md", f"Ship it\n- [ ] Use {planted.at('edited')}")
    cli.write(
        "patterns.json",
        json.dumps({"patterns": {"a": {"id": "pat-9", "pattern": planted.at("given")}}}),
    )
    return cli, planted, ids


def test_no_command_prints_a_secret(salted: tuple[Cli, Planted, dict[str, str]]) -> None:
    cli, planted, ids = salted
    found: dict[str, object] = {}
    for line in (*READING.replace("\n", "|").split("|"), *CHANGING.replace("\n", "|").split("|")):
        command = line.format(**ids).split()
        for args in ([*command], [*command, "--json"]) if command else ():
            result = cli(*args)
            if shown := planted.inside(result.out + result.err):
                found[f"{line.strip()} {'--json' * (args != command)}"] = shown[:6]
            if result.code > 3:
                found[f"{line.strip()}: code"] = (result.code, result.err[-500:])
    assert found == {}
    # What was masked for good just now stands in no file any more.
    files = [path.read_bytes() for path in cli.store.rglob("*") if path.is_file()]
    texts = [
        (gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data).decode(errors="replace")
        for data in files
    ]
    assert planted.inside("\n".join(texts)) == []


def test_every_command_is_walked() -> None:
    walked = [line.strip() for line in (READING + CHANGING).replace("\n", "|").split("|")]
    missing = [
        name for name in names(build_parser())
        if name.partition(" ")[0] not in ELSEWHERE and not any(f"{line} ".startswith(f"{name} ") for line in walked)
    ]  # fmt: skip
    assert missing == []


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


def salted_file(name: str, text: str, planted: Planted) -> str:
    """Return a sample with secrets in its texts, still of its format."""
    if not name.endswith("l"):
        with contextlib.suppress(ValueError):
            return json.dumps(planted.salted(json.loads(text), name), indent=1) + "\n"
    lines = []
    for number, line in enumerate(text.split("\n")):
        with contextlib.suppress(ValueError):
            lines.append(json.dumps(planted.salted(json.loads(line), f"{name} {number}")))
            continue
        few = 2 if name.endswith(".md") and not line.startswith("#") else 3
        words = len(line.split()) > few and not line.rstrip().endswith(
            (",", "|", '"', ":", "---", "-->")
        )
        lines.append(f"{line} {planted.at(f'{name} {number}')}" if words else line)
    return "\n".join(lines)


@pytest.fixture(params=SAMPLES)
def salted_store(request: pytest.FixtureRequest, cli: Cli) -> tuple[Cli, Planted, str]:
    """A store into which one salted file was imported."""
    planted = Planted(NAMES, fills=False)
    name = cli.write(request.param, salted_file(request.param, SAMPLES[request.param], planted))
    assert cli("import", name).code in (0, 1)
    return cli, planted, name


def _commands(cli: Cli, name: str) -> Iterator[tuple[str, ...]]:
    """What reads the file, and what shows the records that came of it."""
    both: list[tuple[str, ...]] = [
        ("import", "--dry-run", name), ("import", name), ("lint", name), ("lint", name, "--fix", "all", "--dry-run"),
        ("scan", name), ("scan",), ("list", "-n", "0"), ("history", "-n", "0", "--values"), ("review", "list"),
        ("search", "deploy"), ("search", "deploy", "--for-agent", "x"), ("bullet", "list"),
    ]  # fmt: skip
    if name == "queries.jsonl":
        both += [("eval", name), ("tune", name)]
    listed = json.loads(cli("list", "-n", "0", "--json").out or "[]")
    for row in listed[:4]:
        both += [("show", row["id"]), ("history", row["id"])]
    for command in both:
        yield command
        yield (*command, "--json")
    for format in ("markdown", "csv", "json", "yaml", "prompt", "ace", "skillbook", "cass"):
        yield ("export", "--format", format, "--memories")
        yield ("export", "--format", format)
    yield ("export", "--format", "lifecycle", "--mask")


def test_no_command_prints_the_secret_of_a_field(salted_store: tuple[Cli, Planted, str]) -> None:
    cli, planted, name = salted_store
    assert planted.inside((cli.cwd / name).read_text())
    found: dict[str, list[str]] = {}
    for command in _commands(cli, name):
        result = cli(*command)
        if shown := planted.inside(result.out + result.err):
            found[" ".join(command)] = shown[:3]
    assert found == {}
