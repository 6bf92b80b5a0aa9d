"""`workbench reflect`: from the latest memories to candidates that wait in Review."""

import contextlib
import sys
from typing import TYPE_CHECKING

from workbench.cli.describe import memory_json
from workbench.cli.output import fail, moment, say, table, warn, write_json
from workbench.cli.parsing import Commands, add_command, add_json, wants_json
from workbench.cli.progress import ProgressLine, interruptible, waits_said
from workbench.cli.session import INTERRUPTED, PROBLEM, Session
from workbench.core.record import WorkbenchError
from workbench.core.reflection.llm import STAGES
from workbench.core.text import counted, one_line

if TYPE_CHECKING:
    from collections.abc import Sequence

    from workbench.core.reflection.llm import UnreadReply
    from workbench.core.reflection.reflector import Preview, Step, Unread
    from workbench.core.stream.memory import Memory
    from workbench.services.open import Workbench
    from workbench.services.reflection.reflection import Outcome, Plan, Reflecting, Waiting


CITED = 72
"""Cells of a cited memory's line."""

_REFLECT = """Reads the latest memories and proposes what they say together; you decide in Review. It does so only when
a reflection is due, unless --force is given. With a key for Claude in the environment Claude is asked, and what is
sent counts towards claude.monthly_tokens; otherwise the extractive reflector proposes recurring sentences and what
users state for every time, word for word, and nothing leaves this machine. Ctrl+c stops and keeps what was found."""


def add_commands(commands: Commands) -> None:
    """Add `reflect`."""
    parser = add_command(
        commands, "reflect", reflect, "propose insights from the latest memories", _REFLECT,
        example='--focus "deploys" --dry-run',
    )  # fmt: skip
    parser.add_argument("--force", action="store_true", help="reflect although it is not due")
    parser.add_argument("--focus", metavar="TEXT", default="", help="what to look for")
    parser.add_argument("--dry-run", action="store_true", help="show the candidates and store none")
    names = ("claude", "extractive")
    about = "who reflects (default: claude when there is a key)"
    parser.add_argument(
        "--reflector",
        choices=names,
        default="",
        metavar="NAME",
        help=f"{about}: {' or '.join(names)}",
    )
    parser.add_argument(
        "--preview", action="store_true", help="print exactly what would be sent, and send nothing"
    )
    parser.add_argument(
        "--unread", action="store_true", help="print the replies that could not be read"
    )
    add_json(parser)


def reflect(session: Session) -> int:
    """Reflect when it is due and print the candidates."""
    args = session.args
    with session.changing() as bench:
        reflecting = bench.reflecting
        if args.unread:
            return print_unread(session, reflecting.runs.waiting())
        if args.preview:
            plan = reflecting.plan(args.reflector, args.focus)
            return print_preview(session, plan.preview, plan.preview.remark or _reading(plan))
        if not (args.force or reflecting.verdict().due):
            return _not_due(session, bench)
        if not args.dry_run:
            with contextlib.suppress(
                WorkbenchError
            ):  # a reflection does without, and the next run goes on there
                bench.catch_up.run()
        plan = reflecting.plan(args.reflector, args.focus)
        warn(_reading(plan))
        outcome, stopped = _made(reflecting, plan, dry=args.dry_run)
        if wants_json(args):
            write_json(_json(reflecting, plan, outcome, dry=args.dry_run))
        else:
            _print(bench, plan, outcome, dry=args.dry_run)
        if outcome.problem is not None:
            fail(outcome.problem)
        if outcome.afterwards is not None:
            fail(outcome.afterwards)
    if stopped:
        warn("Stopped by ctrl+c; what was found before is kept.")
        return INTERRUPTED
    return 0 if outcome.reflection.complete and outcome.problem is None else PROBLEM


def _made(reflecting: "Reflecting", plan: "Plan", *, dry: bool) -> "tuple[Outcome, bool]":
    """Reflect; the flag says whether ctrl+c was pressed."""
    told = Told()
    with interruptible() as cancelled, waits_said():
        try:
            outcome = (reflecting.dry_run if dry else reflecting.reflect)(plan, told, cancelled)
            return outcome, cancelled()
        finally:
            told.clear()


class Told:
    """Says on stderr how far a reflection is: on one line of a terminal, else a line for each
    stage.
    """

    def __init__(self) -> None:
        self._stage = ""
        self._line = ProgressLine("", 0)

    def __call__(self, step: "Step") -> None:
        if step.stage != self._stage:
            self.clear()
            self._stage = step.stage
            self._line = ProgressLine(STAGES.get(step.stage, step.stage), 0)
            if not sys.stderr.isatty() or not step.total:
                warn(f"{STAGES.get(step.stage, step.stage)} …")
        self._line(step.done, step.total)

    def clear(self) -> None:
        """Take the line away."""
        self._line.clear()


def _not_due(session: Session, bench: "Workbench") -> int:
    gauge = bench.reflecting.gauge()
    if wants_json(session.args):
        write_json(
            {
                "due": False,
                "gauge": {c.name: {"value": c.value, "limit": c.limit} for c in gauge.conditions},
            }
        )
        return 0
    stands = ", ".join(
        f"{c.value:.{1 if c.name == 'hours' else 0}f} of {c.limit:g} {c.name}"
        for c in gauge.conditions
    )
    counted_none = len(bench.library.memories) and not any(c.value for c in gauge.conditions)
    imported = " What an import brings counts only with --as-new." if counted_none else ""
    say(f"No reflection is due: {stands}.{imported} --force reflects anyway.")
    return 0


def _reading(plan: "Plan") -> str:
    count = counted(len(plan.request.memories), "memory", "memories")
    since = f" since {moment(plan.since)}" if plan.since else ""
    if not plan.preview.texts:
        return f"Reading {count}{since}; nothing leaves this machine."
    used = f"; {plan.spent:,} of {plan.limit:,} are used this month" if plan.limit else ""
    return f"Sending {count}{since} to Claude, about {plan.preview.estimate.total:,} tokens in and out{used}."


def print_preview(session: Session, preview: "Preview", remark: str) -> int:
    """Print exactly what would be sent."""
    if wants_json(session.args):
        write_json({"texts": preview.texts, "remark": preview.remark, "estimate": preview.estimate})
        return 0
    for text in preview.texts:
        say(text)
        say()
    warn(remark)
    return 0


def print_unread(session: Session, waiting: "Sequence[Waiting]") -> int:
    """Print the replies that nobody could read."""
    if wants_json(session.args):
        write_json([one.reply for one in waiting])
        return 0
    for one in waiting:
        _print_reply(one.reply)
    if not waiting:
        warn("Every reply could be read.")
    return 0


def _print_reply(reply: "UnreadReply | Unread") -> None:
    say(f"── {reply.stage}: {reply.reason}")
    say(reply.reply)
    say()


def _print(bench: "Workbench", plan: "Plan", outcome: "Outcome", *, dry: bool) -> None:
    for memory in outcome.candidates:
        _print_candidate(bench, memory)
    for memory in outcome.again:
        turned = (
            "rejected before, and no new evidence"
            if memory.status == "archived"
            else f"{memory.status} already"
        )
        say(f"{memory.id}  {turned}: {one_line(bench.safety.masked(memory.content), CITED)}")
    say(_sum(plan, outcome, dry=dry))
    usage = outcome.reflection.usage
    if usage.total:
        month = (
            f"; {bench.reflecting.runs.spent():,} of {plan.limit:,} this month"
            if plan.limit
            else ""
        )
        say(f"Used {usage.input:,} tokens in and {usage.output:,} out{month}.")
    if dry:
        for unread in outcome.reflection.unread:
            _print_reply(unread)
    if outcome.unread:
        replies = counted(len(outcome.unread), "part of a reply", "parts of replies")
        warn(
            f"{replies} could not be read and {'is' if len(outcome.unread) == 1 else 'are'} kept: --unread shows them."
        )


def _print_candidate(bench: "Workbench", memory: "Memory") -> None:
    notes = memory.metadata
    say(f"{memory.id}  {memory.content}" if memory.id else memory.content)
    depth = notes.get("depth", 1)
    facts = [
        notes.get("label", ""), notes.get("why", "") or "no evidence", f"depth {depth}" if depth != 1 else "",
        "pinned once approved" if memory.pinned else "",
    ]  # fmt: skip
    say("    " + " · ".join(str(fact) for fact in facts if fact))
    cited = [
        found for id in memory.citations if (found := bench.library.memories.find(id)) is not None
    ]
    rows = [
        ("    ", m.id, moment(m.created_at), one_line(bench.safety.masked(m.content), CITED))
        for m in cited
    ]
    for line in table(rows) if rows else []:
        say(line)
    unresolved = notes.get("unresolved")
    if isinstance(unresolved, list):
        say(f"    cites what was not sent: {', '.join(map(str, unresolved))}")
    say()


def _sum(plan: "Plan", outcome: "Outcome", *, dry: bool) -> str:
    found = len(outcome.candidates)
    stopped = (
        "" if outcome.reflection.complete else f"{outcome.reflection.stopped or 'It was stopped.'} "
    )
    if not found:
        near = f" about “{plan.request.focus}”" if plan.request.focus else ""
        return (
            f"{stopped}Nothing{near} recurs often enough to be proposed."
            if not plan.preview.texts
            else (f"{stopped}There is no candidate.")
        )
    if dry:
        return f"{stopped}{counted(found, 'candidate')}; nothing was stored."
    return f"{stopped}{counted(found, 'candidate')} {'waits' if found == 1 else 'wait'} in Review."


def _json(
    reflecting: "Reflecting", plan: "Plan", outcome: "Outcome", *, dry: bool
) -> dict[str, object]:
    reflection = outcome.reflection
    return {
        "reflector": plan.reflector,
        "read": len(plan.request.memories),
        "since": plan.since,
        "focus": plan.request.focus,
        "dry_run": dry,
        "complete": reflection.complete,
        "stopped": reflection.stopped,
        "questions": reflection.questions,
        "candidates": [memory_json(memory) for memory in outcome.candidates],
        "said_before": [memory.id for memory in outcome.again],
        "unread": [one.reply for one in outcome.unread] or list(reflection.unread),
        "usage": {
            "input": reflection.usage.input,
            "output": reflection.usage.output,
            "month": reflecting.runs.spent(),
            "limit": plan.limit,
        },
    }
