"""`workbench reflect`: from the latest memories to candidates that wait in Review."""

import contextlib
import sys
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from workbench.cli.describe import memory_json
from workbench.cli.output import fail, moment, picked, table, warn
from workbench.cli.progress import ProgressLine, progressing, waits_said
from workbench.cli.session import DONE, INTERRUPTED, PROBLEM
from workbench.cli.verbs import Answer, Call, Option, Verb, changing, flag, text, value
from workbench.core.record import WorkbenchError
from workbench.core.reflection.llm import STAGES
from workbench.core.text import counted, one_line

if TYPE_CHECKING:
    from collections.abc import Sequence

    from workbench.core.reflection.llm import UnreadReply
    from workbench.core.reflection.reflector import Preview, Step, Tell
    from workbench.core.stream.memory import Memory
    from workbench.services.open import Workbench
    from workbench.services.reflection.reflection import Outcome, Plan, Waiting


CITED = 72
"""Cells of a cited memory's line."""

_REFLECT = """Reads the latest memories and proposes insights; you decide in Review. Runs only when a reflection
is due, unless --force is given. With an API key in the environment it asks Claude, and what is
sent counts towards claude.monthly_tokens. Without one the extractive reflector proposes recurring
sentences and users' standing instructions word for word, and nothing leaves this machine. Ctrl+c
stops it and keeps what was found."""


def reflect(call: Call) -> Answer:
    """Reflect when it is due and print the candidates."""
    args, reflecting = call.args, call.bench.reflecting
    if args.unread:
        return unread_answer(reflecting.runs.waiting())
    if args.preview:
        plan = reflecting.plan(args.reflector, args.focus)
        return preview_answer(plan.preview, plan.preview.remark or _reading(plan))
    if not (args.force or reflecting.gauge().due):
        return _not_due(call.bench)
    if not args.dry_run:
        # A reflection does without, and the next run goes on there.
        with contextlib.suppress(WorkbenchError):
            call.bench.catch_up.run()
    plan = reflecting.plan(args.reflector, args.focus)
    warn(_reading(plan))
    line = ProgressLine()
    with progressing(line) as cancelled, waits_said():
        made = reflecting.dry_run if args.dry_run else reflecting.reflect
        outcome = made(plan, told_on(line), cancelled)
        stopped = cancelled()
    for problem in filter(None, (outcome.problem, outcome.afterwards)):
        fail(problem)
    if outcome.unread and not call.wants_json:
        replies = counted(len(outcome.unread), "part of a reply", "parts of replies")
        warn(f"Unreadable and kept: {replies}. --unread shows them.")
    if stopped:
        warn("Stopped by ctrl+c; what was found so far is kept.")
    complete = outcome.reflection.complete and outcome.problem is None
    code = INTERRUPTED if stopped else DONE if complete else PROBLEM
    return Answer(lambda: _json(call, plan, outcome), _lines(call, plan, outcome), code=code)


def told_on(line: ProgressLine) -> "Tell":
    """Return what says on stderr how far a reflection is: on one line of a terminal, else a line
    for each stage.
    """

    def tell(step: "Step") -> None:
        stage = STAGES.get(step.stage, step.stage)
        if line.go_on(stage) and not (sys.stderr.isatty() and step.total):
            warn(f"{stage} …")
        line(step.done, step.total)

    return tell


def _not_due(bench: "Workbench") -> Answer:
    conditions = bench.reflecting.gauge().conditions
    stands = ", ".join(
        f"{c.value:.{1 if c.name == 'hours' else 0}f} of {c.limit:g} {c.name}" for c in conditions
    )
    none_counts = len(bench.library.memories) and not any(c.value for c in conditions)
    imported = " Imported memories count only with --as-new." if none_counts else ""
    gauge = {c.name: picked(c, "value", "limit") for c in conditions}
    said = f"No reflection is due: {stands}.{imported} --force reflects anyway."
    return Answer({"due": False, "gauge": gauge}, [said])


def _reading(plan: "Plan") -> str:
    count = counted(len(plan.request.memories), "memory", "memories")
    since = f" since {moment(plan.since)}" if plan.since else ""
    if not plan.preview.texts:
        return f"Reading {count}{since}; nothing leaves this machine."
    cost = f"about {plan.preview.estimate.total:,} tokens in and out"
    return (
        f"Sending {count}{since} to Claude, {cost}{of_month(plan.spent, plan.limit, ' are used')}."
    )


def of_month(spent: int, limit: int, are: str = "") -> str:
    """Return how many of the month's tokens are spent, as the end of a sentence."""
    return f"; {spent:,} of {limit:,}{are} this month" if limit else ""


def preview_answer(preview: "Preview", remark: str) -> Answer:
    """Answer exactly what would be sent."""
    lines = [line for text in preview.texts for line in (text, "")]
    return Answer(picked(preview, "texts", "remark", "estimate"), lines, [remark])


def unread_answer(waiting: "Sequence[Waiting]") -> Answer:
    """Answer the replies that nobody could read."""
    replies = [one.reply for one in waiting]
    remarks = [] if replies else ["Every reply was readable."]
    return Answer(replies, _reply_lines(replies), remarks)


def _reply_lines(replies: "Sequence[UnreadReply]") -> Iterator[str]:
    for reply in replies:
        yield f"── {reply.stage}: {reply.reason}"
        yield reply.reply
        yield ""


def _lines(call: Call, plan: "Plan", outcome: "Outcome") -> Iterator[str]:
    bench, usage = call.bench, outcome.reflection.usage
    for memory in outcome.candidates:
        yield from _candidate_lines(call, memory)
    for memory in outcome.again:
        rejected = memory.status == "archived"
        turned = "rejected before, without new evidence" if rejected else f"{memory.status} already"
        yield f"{call.shown.name(memory.id)}  {turned}: {one_line(bench.safety.masked(memory.content), CITED)}"
    yield _sum(call, plan, outcome)
    if usage.total:
        month = of_month(bench.reflecting.runs.spent(), plan.limit)
        yield f"Used {usage.input:,} tokens in and {usage.output:,} out{month}."
    if call.args.dry_run:
        yield from _reply_lines(outcome.reflection.unread)


def _candidate_lines(call: Call, memory: "Memory") -> Iterator[str]:
    notes = memory.metadata
    text = call.shown(memory.content)
    yield f"{memory.id}  {text}" if memory.id else text
    depth = notes.get("depth", 1)
    facts = [
        notes.get("label", ""), notes.get("why", "") or "no evidence", f"depth {depth}" if depth != 1 else "",
        "pinned once approved" if memory.pinned else "",
    ]  # fmt: skip
    yield "    " + " · ".join(str(fact) for fact in facts if fact)
    cited = filter(None, map(call.bench.library.memories.find, memory.citations))
    yield from table(
        [
            (
                "    ",
                call.shown.name(m.id),
                moment(m.created_at),
                one_line(call.shown(m.content), CITED),
            )
            for m in cited
        ]
    )
    unresolved = notes.get("unresolved")
    if isinstance(unresolved, list):
        yield f"    cites memories that were not sent: {', '.join(call.shown.name(str(id)) for id in unresolved)}"
    yield ""


def _sum(call: Call, plan: "Plan", outcome: "Outcome") -> str:
    found, reflection = len(outcome.candidates), outcome.reflection
    stopped = "" if reflection.complete else f"{reflection.stopped or 'It was stopped.'} "
    if found:
        waits = f" {'waits' if found == 1 else 'wait'} in Review"
        done = "; nothing was stored" if call.args.dry_run else waits
        return f"{stopped}{counted(found, 'candidate')}{done}."
    if plan.preview.texts:
        return f"{stopped}No candidates."
    near = f" about “{plan.request.focus}”" if plan.request.focus else ""
    return f"{stopped}Nothing{near} recurs often enough to be proposed."


def _json(call: Call, plan: "Plan", outcome: "Outcome") -> dict[str, object]:
    reflection = outcome.reflection
    spent = {"month": call.bench.reflecting.runs.spent(), "limit": plan.limit}
    return {
        "reflector": plan.reflector,
        "read": len(plan.request.memories),
        "since": plan.since,
        "focus": plan.request.focus,
        "dry_run": call.args.dry_run,
        **picked(reflection, "complete", "stopped", "questions"),
        "candidates": [memory_json(memory) for memory in outcome.candidates],
        "said_before": [memory.id for memory in outcome.again],
        "unread": [one.reply for one in outcome.unread] or reflection.unread,
        "usage": {**picked(reflection.usage, "input", "output"), **spent},
    }


_REFLECTORS = ("claude", "extractive")

OPTIONS: Mapping[str, Option] = {
    "--force": flag("reflect even if none is due"),
    "--focus": text("a topic to focus on"),
    "--dry-run": flag("show the candidates without storing them"),
    "--reflector": value(
        "NAME",
        f"the reflector (default: claude if there is a key): {' or '.join(_REFLECTORS)}",
        choices=_REFLECTORS,
        default="",
    ),
    "--preview": flag("print exactly what would be sent, without sending it"),
    "--unread": flag("print unreadable replies"),
}

VERBS = (
    Verb("reflect", reflect, "propose insights from the latest memories",
         "--force --focus --dry-run --reflector --preview --unread --json", _REFLECT, '--focus "deploys" --dry-run',
         changing),
)  # fmt: skip
