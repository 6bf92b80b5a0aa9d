"""`workbench context`: what an agent is given for a task, before it is given."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.cli.files.export import report_written
from workbench.cli.output import cut, moment, plain, say, table, warn, write_json
from workbench.cli.parsing import (
    Commands,
    add_at,
    add_command,
    add_json,
    add_limit,
    revision,
    wants_json,
)
from workbench.cli.session import Session, actor_of
from workbench.config import paths
from workbench.core.agents.actors import stands_by
from workbench.core.agents.layers import USUAL
from workbench.core.record import InvalidQuery, UnknownRecord
from workbench.core.text import counted, one_line

if TYPE_CHECKING:
    from workbench.core.agents.read import AgentRead
    from workbench.services.agents.serving import AgentContext, Why
    from workbench.services.open import Workbench


_DETAILS = """Prints what memory_context serves over MCP: pinned memories, the playbook, what is confirmed and what the
ranking finds, and where there are patterns and episodes, those that fit; each layer under its budget of tokens
(an estimate); what a layer does not use, the later ones may.
It only looks, unless an agent asks with --for-agent. What is left out, and why, goes to stderr.

  workbench context "fix the token refresh" --budget 4000"""

_WHY: "dict[Why, str]" = {
    "budget": "over the budget",
    "harmful": "voted harmful",
    "held": "held back for what {it} say{s}",
    "unapproved": "not approved",
    "weak": "below the floor",
    "given": "served by a layer before",
    "placed": "in a file that agents load",
    "untrusted": "in documents that nobody has looked at",
}


def add_commands(commands: Commands) -> None:
    parser = add_command(
        commands, "context", context, "print what an agent is served for a task", _DETAILS
    )
    parser.add_argument("task", nargs="?", default="", help="what the agent is about to do")
    about = f"tokens of all layers together (default: {USUAL:,})"
    parser.add_argument("--budget", metavar="N", type=revision, help=about)
    parser.add_argument(
        "--error",
        metavar="TEXT",
        default="",
        help="what just failed: what helped then comes with it",
    )
    about = "serve it to this agent: what it is served counts as read by it now"
    parser.add_argument("--for-agent", metavar="NAME", dest="actor", help=about)
    parser.add_argument(
        "--session", metavar="S", default="", help="with --for-agent: the agent's session"
    )
    about = "what helps and what misleads of what is served for judged tasks (without FILE: the demo's own)"
    parser.add_argument("--eval", metavar="FILE", nargs="?", const="", dest="judged", help=about)
    add_at(
        parser,
        "the store as it was at this revision or time; documents on disk are as they are now",
    )
    add_json(parser)
    add_reads(commands)


def context(session: Session) -> int:
    args = session.args
    if args.judged is not None:
        return _evaluate(session)
    if not args.task.strip():
        raise InvalidQuery("The task is empty.", "Say what the agent is about to do.")
    if args.actor is not None and args.at is not None:
        raise InvalidQuery(
            "--at only looks, so nothing is served to an agent.", "Leave out --at or --for-agent."
        )
    looks = args.actor is None
    store = (
        session.reading(at=session.at(), whole=True)
        if looks
        else session.changing(actor_of(args), trusted=False)
    )
    with store as bench:
        from workbench.services.agents.context import gathered, kept
        from workbench.services.agents.serving import Answering, text_of

        given = args.actor is not None or not stands_by(bench.context.actor)
        asker = bench.context if given else replace(bench.context, actor="agent:preview")
        if given and not bench.trust.standing.trusted:
            if wants_json(args):
                write_json({})
            return 0
        found = gathered(asker, bench.tuning, bench.playbooks, args.task, error=args.error)
        made = found.cut(USUAL if args.budget is None else args.budget)
        if args.actor is not None:
            kept(asker, made, bench.safety.masked(args.task), args.session)
        if wants_json(args):
            write_json(Answering(asker, bench.safety).context(made))
            return 0
        say(text_of(made) or "Nothing is served for this task.")
        _remark(made)
    return 0


def _evaluate(session: Session) -> int:
    """Judge the contexts of the tasks of a file in the store, or of the demo's in a demo store."""
    from workbench.services.agents.context import BUDGETS, TASKS, judged, read_tasks, summed

    args = session.args
    file = (
        session.cwd / Path(args.judged).expanduser()
        if args.judged
        else paths.shipped("fixtures/demo") / TASKS
    )
    tasks = read_tasks(file)
    budgets = BUDGETS if args.budget is None else (args.budget,)
    with session.reading(at=session.at(), whole=True) if args.judged else _demo(session) as bench:
        asker = replace(bench.context, actor="agent:preview")
        done = list(judged(asker, bench.tuning, bench.playbooks, tasks, budgets))
    sets = {
        (budget, name): summed(
            [one for one in done if one.budget == budget and one.task.held_out in kinds]
        )
        for budget in budgets
        for name, kinds in (("all", (False, True)), ("held out", (True,)))
    }
    if wants_json(args):
        sums = [{"budget": budget, "set": name, **one} for (budget, name), one in sets.items()]
        write_json({"sums": sums, "contexts": done})
        return 0
    rows = [("budget", "tasks", "helpful", "misleading", "tokens", "frames")]
    for (budget, name), one in sets.items():
        helpful, misleading = (
            f"{one['helpful']} of {one['helps']}",
            f"{one['misleading']} of {one['misleads']}",
        )
        rows.append(
            (f"{budget:,}", name, helpful, misleading, f"{one['tokens']:,}", f"{one['frames']:.0%}")
        )
    for line in table(rows, right=(0, 2, 3, 4, 5)):
        say(line)
    return 0


@contextmanager
def _demo(session: Session) -> "Iterator[Workbench]":
    from workbench.cli.opening import demo_store

    with demo_store(session) as (store, _):
        bench = session.open(store, remarks=False)
        yield bench


def _remark(made: "AgentContext") -> None:
    """Say what it costs and what is left out, layer by layer."""
    for layer in made.layers:
        why = [left.why for left in layer.left_out]
        out = [f"{why.count(one)} {_reason(one, why.count(one))}" for one in dict.fromkeys(why)]
        rest = f"; left out: {', '.join(out)}" if out else ""
        cost = f"{layer.tokens:,} of {layer.budget:,} tokens"
        warn(f"{layer.kind.title}: {counted(len(layer.items), 'text')}, {cost}{rest}")
    together = f"{counted(len(made.given), 'text')}, {made.tokens:,} of {made.budget:,} tokens"
    warn(f"Together: {together}; what a layer leaves goes on to the next.")
    warn(f"Memories are ranked under {made.profile}.")
    if made.is_empty:
        warn("Nothing in this store is relevant to the task.")


def _reason(why: "Why", count: int) -> str:
    return _WHY[why].format(it="it" if count == 1 else "they", s="s" if count == 1 else "")


# `workbench reads`: what agents asked and were given; `workbench index`: what the store holds, in
# one page.


_READS = """Newest first: which agent asked what, in which session, and how many memories it was served. With an ID,
that reading in full: each memory with the relevance it had, and what was left out. The newest 2,000 are kept.

  workbench reads --agent claude -n 5"""

_INDEX = """Counts by status, type and category, what was confirmed lately and the top patterns, as Markdown. Secrets
are masked, and what is held back from agents is counted and not told.

With FILE it is written there. The file belongs to the store then: written anew as often as you like, and a
file that somebody else wrote or changed is left alone, unless --force replaces it (a copy is kept). reflection.index in
the config file names one that is written after each reflection.

  workbench index memory-index.md"""


def add_reads(commands: Commands) -> None:
    """Add `reads` and `index`."""
    parser = add_command(commands, "reads", reads, "list what agents asked and were served", _READS)
    parser.add_argument("id", nargs="?", help="one reading, in full")
    parser.add_argument("--agent", metavar="NAME", help="only this agent's")
    parser.add_argument("--session", metavar="S", help="only this session's")
    add_limit(parser, 20)
    add_json(parser)
    parser = add_command(
        commands, "index", index, "print or write an overview of the store as Markdown", _INDEX
    )
    parser.add_argument("file", type=Path, nargs="?", help="write this file (otherwise: to stdout)")
    parser.add_argument(
        "--force", action="store_true", help="replace the file whatever it contains; a copy is kept"
    )
    add_json(parser)


def reads(session: Session) -> int:
    """Print readings, or one in full."""
    args = session.args
    with session.reading() as bench:
        if args.id is not None:
            return _one(session, bench)
        found = [read for read in _newest(bench) if _wanted(read, args.agent, args.session)]
        listed = cut(found, args.limit)
        if wants_json(args):
            write_json([_json(bench, read) for read in listed])
            return 0
        masked = bench.safety.masked
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
        for line in table(rows):
            say(line)
        if not listed:
            warn(
                "No agent has read here."
                if not found and not args.agent and not args.session
                else "None matches."
            )
    return 0


def _one(session: Session, bench: "Workbench") -> int:
    from workbench.core.agents.read import AgentRead

    read = bench.library.table(AgentRead).find(session.args.id)
    if read is None:
        message = f"There is no reading {session.args.id}, or not any more."
        raise UnknownRecord(message, "`workbench reads -n 0` lists those that are kept.")
    if wants_json(session.args):
        write_json(_json(bench, read))
        return 0
    masked = bench.safety.masked
    by = f", profile {one_line(masked(read.profile), 60)}" if read.profile else ""
    say(
        f"{moment(read.at)}  {one_line(masked(read.agent), 60)}  by {one_line(masked(read.door), 60)}{by}"
    )
    say(masked(_query(read)))
    rows = []
    for place, (id, relevance) in enumerate(
        zip_longest(read.memories, read.relevances[: len(read.memories)]), 1
    ):
        memory = bench.library.memories.find(id)
        line = "(purged)" if memory is None else one_line(masked(memory.line), 100)
        rows.append(
            (
                str(place),
                "" if relevance is None else f"{relevance:.4f}",
                one_line(masked(id), 60),
                line,
            )
        )
    rows += [
        ("", "", one_line(masked(cited), 100), "") for cited in (*read.documents, *read.episodes)
    ]
    for line in table(rows, right=(0, 1)):
        say(line)
    if read.is_empty:
        say("Nothing in the store was relevant; nothing was served.")
    out = [(read.held, "held back"), (read.unapproved, "not approved"), (read.weak, "weak")]
    if any(count for count, _ in out):
        say("left out: " + ", ".join(f"{count:,} {why}" for count, why in out if count))
    return 0


def _query(read: "AgentRead") -> str:
    """Return the question, or what was looked up without one."""
    if read.is_question:
        return read.query
    return f"(read the {read.query})" if read.query else "(looked up by id)"


def _given(read: "AgentRead") -> str:
    """Say how many memories were given; of what was read as a whole there is nothing to say."""
    if read.is_empty:
        return "nothing relevant"
    given = len(read.memories) + len(read.documents) + len(read.episodes)
    return f"{given:,} served" if given or read.is_question else ""


def index(session: Session) -> int:
    """Print the overview, or write it to a file."""
    args = session.args
    if args.file is None or str(args.file) == "-":
        with session.reading() as bench:
            made = bench.index_file.made()
            if wants_json(args):
                write_json(made)
            else:
                sys.stdout.write(made.text)
        _withheld(made.withheld)
        return 0
    path = session.cwd / args.file.expanduser()
    from workbench.services.files.overwriting import NotReplaced

    with session.changing() as bench:
        try:
            written = bench.index_file.write(path, force=args.force)
        except NotReplaced as refused:
            raise NotReplaced(
                refused.obstacle, "--force replaces it and keeps a copy, or name another file."
            ) from None
        withheld = bench.index_file.made().withheld
    if wants_json(args):
        write_json(
            {"file": path, "bytes": written.size, "withheld": withheld, "copy": written.copy}
        )
    else:
        say(f"{path} is up to date.")
        report_written(written)
    _withheld(withheld)
    return 0


def _withheld(number: int) -> None:
    if number:
        warn(
            f"{counted(number, 'memory', 'memories')} held back from agents: counted, and not told."
        )


def _newest(bench: "Workbench") -> "list[AgentRead]":
    from workbench.core.agents.read import AgentRead

    return sorted(
        bench.library.table(AgentRead).all(), key=lambda read: (read.at, read.id), reverse=True
    )


def _wanted(read: "AgentRead", agent: str | None, session: str | None) -> bool:
    return agent in (None, read.agent) and session in (None, read.session)


def _json(bench: "Workbench", read: "AgentRead") -> object:
    from workbench.services.safety.masking import masked

    return plain(masked(read, bench.safety.masked))
