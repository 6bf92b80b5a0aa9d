"""`workbench context`, `reads` and `index`: what an agent is given for a task, what agents asked
and were given, and what the store holds in one page.
"""

import sys
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.cli.export import told_of
from workbench.cli.output import cut, moment, table, warn
from workbench.cli.parsing import add_at, revision
from workbench.cli.session import Session, actor_of
from workbench.cli.verbs import Answer, Call, Option, Verb, flag, reading, text, value
from workbench.config import paths
from workbench.core.agents.actors import stands_by
from workbench.core.agents.layers import USUAL
from workbench.core.agents.read import AgentRead
from workbench.core.record import InvalidQuery, UnknownRecord
from workbench.core.text import counted, one_line

if TYPE_CHECKING:
    from workbench.services.agents.serving import AgentContext, Why
    from workbench.services.open import Workbench


_DETAILS = """Prints what memory_context serves over MCP: pinned memories, the playbook, confirmed memories,
search results, and patterns and episodes that fit the task. Each layer has a budget of
(estimated) tokens; what one layer leaves over, the next ones may use. Read-only, unless
--for-agent is given. What is left out, and why, goes to stderr.

  workbench context "fix the token refresh" --budget 4000"""

_WHY: "dict[Why, str]" = {
    "budget": "over the budget",
    "harmful": "voted harmful",
    "replaced": "replaced by a later decision",
    "held": "held back because of the text",
    "unapproved": "not approved",
    "weak": "below the floor",
    "given": "served by an earlier layer",
    "placed": "in a file that agents load",
    "untrusted": "in documents that were not reviewed",
}


def _open(session: Session) -> "AbstractContextManager[Workbench]":
    """Raise for what does not go together, and open the store; the demo's own tasks are judged in a
    demo store.
    """
    args = session.args
    if args.judged is None:
        if not args.task.strip():
            raise InvalidQuery("The task is empty.", "Give the agent's task.")
        if args.actor is not None and args.at is not None:
            raise InvalidQuery(
                "--at only looks, so nothing is served to an agent.",
                "Leave out --at or --for-agent.",
            )
    if args.judged == "":
        return _demo(session)
    if args.judged is not None or args.actor is None:
        return session.reading(at=session.at(), whole=True)
    return session.changing(actor_of(args), trusted=False)


@contextmanager
def _demo(session: Session) -> "Iterator[Workbench]":
    from workbench.cli.opening import demo_store

    with demo_store(session) as (store, _):
        yield session.open(store, remarks=False)


def context(call: Call) -> Answer:
    from workbench.services.agents.context import gathered, kept
    from workbench.services.agents.serving import Answering, text_of

    args, bench = call.args, call.bench
    if args.judged is not None:
        return _evaluate(call)
    given = args.actor is not None or not stands_by(bench.context.actor)
    asker = bench.context if given else replace(bench.context, actor="agent:preview")
    if given and not bench.trust.standing.trusted:
        return Answer({})
    found = gathered(asker, bench.tuning, bench.playbooks, args.task, error=args.error)
    made = found.cut(USUAL if args.budget is None else args.budget)
    if args.actor is not None:
        kept(asker, made, bench.safety.masked(args.task), args.session)
    call.shown.leave()
    return Answer(
        lambda: Answering(asker, bench.safety).context(made),
        lambda: [text_of(made) or "Nothing is served for this task."],
        _remarks(made),
    )


def _remarks(made: "AgentContext") -> Iterator[str]:
    """Say what it costs and what is left out, layer by layer."""
    for layer in made.layers:
        why, out = [left.why for left in layer.left_out], []
        for one in dict.fromkeys(why):
            count = why.count(one)
            out.append(f"{count} {_WHY[one]}")
        rest = f"; left out: {', '.join(out)}" if out else ""
        cost = f"{layer.tokens:,} of {layer.budget:,} tokens"
        yield f"{layer.kind.title}: {counted(len(layer.items), 'text')}, {cost}{rest}"
    together = f"{counted(len(made.given), 'text')}, {made.tokens:,} of {made.budget:,} tokens"
    yield f"Together: {together}; unused tokens go to the next layer."
    yield f"Memories are ranked under {made.profile}."
    if made.is_empty:
        yield "Nothing in this store is relevant to the task."


def _evaluate(call: Call) -> Answer:
    """Judge the contexts of the tasks of a file in the store, or of the demo's in a demo store."""
    from workbench.services.agents.context import BUDGETS, TASKS, judged, read_tasks, summed

    args, bench = call.args, call.bench
    file = call.path(Path(args.judged)) if args.judged else paths.shipped("fixtures/demo") / TASKS
    tasks, budgets = read_tasks(file), BUDGETS if args.budget is None else (args.budget,)
    asker = replace(bench.context, actor="agent:preview")
    done = list(judged(asker, bench.tuning, bench.playbooks, tasks, budgets))
    sums, rows = [], [("budget", "tasks", "helpful", "misleading", "tokens", "frames")]
    for budget in budgets:
        for name, kinds in (("all", (False, True)), ("held out", (True,))):
            one = summed(
                [each for each in done if each.budget == budget and each.task.held_out in kinds]
            )
            sums.append({"budget": budget, "set": name, **one})
            helpful = f"{one['helpful']} of {one['helps']}"
            misleading = f"{one['misleading']} of {one['misleads']}"
            costs = (f"{one['tokens']:,}", f"{one['frames']:.0%}")
            rows.append((f"{budget:,}", name, helpful, misleading, *costs))
    return Answer({"sums": sums, "contexts": done}, table(rows, right=(0, 2, 3, 4, 5)))


# `workbench reads`: what agents asked and were given; `workbench index`: what the store holds, in
# one page.


_READS = """Newest first: which agent asked what, in which session, and how many memories it was served. With
an ID, that request in full: each memory with its relevance, and what was left out. The newest
2,000 are kept.

  workbench reads --agent claude -n 5"""

_INDEX = """Counts by status, type and category, recent confirmations and the top patterns, as Markdown.
Secrets are masked; what is held back from agents is only counted.

With FILE the overview is written there, and later calls update it. A file that somebody else
wrote or changed is left alone, unless --force replaces it (a copy is kept). Set reflection.index
in the config file to have it written after each reflection.

  workbench index memory-index.md"""


def reads(call: Call) -> Answer:
    """Print readings, or one in full."""
    args, masked, table_of = call.args, call.bench.safety.masked, call.bench.library.table
    if args.id is not None:
        return _one_read(call)
    newest = sorted(table_of(AgentRead).all(), key=lambda read: (read.at, read.id), reverse=True)
    found = [
        read
        for read in newest
        if args.agent in (None, read.agent) and args.session in (None, read.session)
    ]
    listed = cut(found, args.limit)
    rows = [
        (
            moment(read.at),
            one_line(masked(read.agent), 20),
            one_line(masked(read.session), 16),
            _given(read),
            one_line(masked(_query(read)), 80),
            read.id,
        )
        for read in listed
    ]
    asked = found or args.agent or args.session
    none = "None matches." if asked else "No agent has read from this store yet."
    return Answer(listed, table(rows), [] if listed else [none])


def _one_read(call: Call) -> Answer:
    id, memories = call.args.id, call.bench.library.memories
    read, masked = call.bench.library.table(AgentRead).find(id), call.bench.safety.masked
    if read is None:
        raise UnknownRecord(
            f"There is no request {id}, or it is no longer kept.",
            "`workbench reads -n 0` lists those still kept.",
        )
    agent, door, profile = (one_line(masked(t), 60) for t in (read.agent, read.door, read.profile))
    by = f", profile {profile}" if profile else ""
    rows = []
    relevances = read.relevances[: len(read.memories)]
    for place, (id, relevance) in enumerate(zip_longest(read.memories, relevances), 1):
        memory, sure = memories.find(id), "" if relevance is None else f"{relevance:.4f}"
        line = "(purged)" if memory is None else one_line(masked(memory.line), 100)
        rows.append((str(place), sure, one_line(masked(id), 60), line))
    for cited in (*read.documents, *read.episodes):
        rows.append(("", "", one_line(masked(cited), 100), ""))
    lines = [f"{moment(read.at)}  {agent}  by {door}{by}", masked(_query(read))]
    lines += table(rows, right=(0, 1))
    if read.is_empty:
        lines.append("Nothing in the store was relevant; nothing was served.")
    out = ((read.held, "held back"), (read.unapproved, "not approved"), (read.weak, "weak"))
    if left := ", ".join(f"{count:,} {why}" for count, why in out if count):
        lines.append(f"left out: {left}")
    return Answer(read, lines)


def _query(read: AgentRead) -> str:
    """Return the question, or what was looked up without one."""
    if read.is_question:
        return read.query
    return f"(read the {read.query})" if read.query else "(looked up by id)"


def _given(read: AgentRead) -> str:
    """Say how many memories were given; of what was read as a whole there is nothing to say."""
    if read.is_empty:
        return "nothing relevant"
    given = len(read.memories) + len(read.documents) + len(read.episodes)
    return f"{given:,} served" if given or read.is_question else ""


def _is_printed(session: Session) -> bool:
    return session.args.file is None or str(session.args.file) == "-"


def _opened_for_index(session: Session) -> "AbstractContextManager[Workbench]":
    return reading(session) if _is_printed(session) else session.changing()


def index(call: Call) -> Answer:
    """Print the overview, or write it to a file."""
    from workbench.services.files.overwriting import NotReplaced

    args, overview = call.args, call.bench.index_file
    json: object
    lines: list[str] = []
    if _is_printed(call.session):
        made = json = overview.made()
        if not call.wants_json:
            sys.stdout.write(made.text)
    else:
        path = call.path(args.file)
        try:
            written = overview.write(path, force=args.force)
        except NotReplaced as refused:
            raise NotReplaced(
                refused.obstacle, "--force replaces it and keeps a copy, or name another file."
            ) from None
        made = overview.made()
        about = {"file": path, "bytes": written.size}
        json = {**about, "withheld": made.withheld, "copy": written.copy}
        lines = [f"{path} is up to date.", *told_of(written)]
    if made.withheld:
        held = counted(made.withheld, "memory", "memories")
        warn(f"{held} held back from agents: only counted.")
    return Answer(json, lines)


OPTIONS: Mapping[str, Option] = {
    "task?": {"default": "", "help": "the agent's task"},
    "--budget": value("N", f"tokens of all layers together (default: {USUAL:,})", type=revision),
    "--error": text("an error message: adds what helped against it before"),
    "--eval": value(
        "FILE",
        "measure helpful and misleading items for judged tasks (without FILE: the demo's)",
        nargs="?",
        const="",
        dest="judged",
    ),
    "--at": lambda parser: add_at(
        parser,
        "the store as it was at this revision or time; documents on disk are as they are now",
    ),
    "id": {"help": "one request, in full"},
    "--agent": value("NAME", "only this agent's"),
    "--session": value("S", "only this session's"),
    "file": {"type": Path, "help": "write this file (otherwise: to stdout)"},
    "--force": flag("replace the file whatever it contains; a copy is kept"),
}

VERBS = (
    Verb("context", context, "print what an agent is served for a task",
         "task? --budget --error --for-agent --session:agent --eval --at --json", _DETAILS, None, _open),
    Verb("reads", reads, "list what agents asked and were served", "id? --agent --session limit=20 --json", _READS,
         None),
    Verb("index", index, "write an overview of the store as Markdown", "file? --force --json", _INDEX, None,
         _opened_for_index),
)  # fmt: skip
