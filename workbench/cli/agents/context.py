"""`workbench context`: what an agent is given for a task, before it is given."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.cli.output import say, table, warn, write_json
from workbench.cli.parsing import Commands, add_at, add_command, add_json, revision, wants_json
from workbench.cli.session import Session, actor_of
from workbench.config import paths
from workbench.core.agents.actors import stands_by
from workbench.core.agents.layers import USUAL
from workbench.core.record import InvalidQuery
from workbench.core.text import counted

if TYPE_CHECKING:
    from workbench.services.agents.context.values import AgentContext, Why
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
    """Add `context`."""
    parser = add_command(commands, "context", context, "print what an agent is served for a task", _DETAILS)
    parser.add_argument("task", metavar="TASK", nargs="?", default="", help="what the agent is about to do")
    about = f"tokens of all layers together (default: {USUAL:,})"
    parser.add_argument("--budget", metavar="N", type=revision, help=about)
    parser.add_argument("--error", metavar="TEXT", default="", help="what just failed: what helped then comes with it")
    about = "serve it to this agent: what it is served counts as read by it now"
    parser.add_argument("--for-agent", metavar="NAME", dest="actor", help=about)
    parser.add_argument("--session", metavar="S", default="", help="with --for-agent: the agent's session")
    about = "what helps and what misleads of what is served for judged tasks (without FILE: the demo's own)"
    parser.add_argument("--eval", metavar="FILE", nargs="?", const="", dest="judged", help=about)
    add_at(parser, "the store as it was at this revision or time; documents on disk are as they are now")
    add_json(parser)


def context(session: Session) -> int:
    args = session.args
    if args.judged is not None:
        return _evaluate(session)
    if not args.task.strip():
        raise InvalidQuery("The task is empty.", "Say what the agent is about to do.")
    if args.actor is not None and args.at is not None:
        raise InvalidQuery("--at only looks, so nothing is served to an agent.", "Leave out --at or --for-agent.")
    looks = args.actor is None
    store = session.reading(at=session.at(), whole=True) if looks else session.changing(actor_of(args), trusted=False)
    with store as bench:
        from workbench.services.agents.answers import Answering, text_of
        from workbench.services.agents.context.making import gathered, kept

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
    from workbench.services.agents.context.judged import BUDGETS, TASKS, judged, read_tasks, summed

    args = session.args
    file = session.cwd / Path(args.judged).expanduser() if args.judged else paths.shipped("fixtures/demo") / TASKS
    tasks = read_tasks(file)
    budgets = BUDGETS if args.budget is None else (args.budget,)
    with session.reading(at=session.at(), whole=True) if args.judged else _demo(session) as bench:
        done = list(judged(bench, replace(bench.context, actor="agent:preview"), tasks, budgets))
    sets = {
        (budget, name): summed([one for one in done if one.budget == budget and one.task.held_out in kinds])
        for budget in budgets
        for name, kinds in (("all", (False, True)), ("held out", (True,)))
    }
    if wants_json(args):
        sums = [{"budget": budget, "set": name, **one} for (budget, name), one in sets.items()]
        write_json({"sums": sums, "contexts": done})
        return 0
    rows = [("budget", "tasks", "helpful", "misleading", "tokens", "frames")]
    for (budget, name), one in sets.items():
        helpful, misleading = f"{one['helpful']} of {one['helps']}", f"{one['misleading']} of {one['misleads']}"
        rows.append((f"{budget:,}", name, helpful, misleading, f"{one['tokens']:,}", f"{one['frames']:.0%}"))
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
