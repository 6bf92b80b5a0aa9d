"""`workbench plan`: goals in steps, what takes one off them, and what to do next."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from workbench.cli.agents.patterns import read_text
from workbench.cli.output import moment, picked, table, warn
from workbench.cli.parsing import file_or_stdin
from workbench.cli.progress import ProgressLine, progressing
from workbench.cli.session import DONE, FOUND, PROBLEM
from workbench.cli.verbs import (
    Answer,
    Call,
    Option,
    Verb,
    changing,
    exporting,
    flag,
    making_unless_dry,
    review_json,
    several,
    text,
    unreviewed,
)
from workbench.core.agents import plan as rules
from workbench.core.agents.patterns.pattern import Pattern
from workbench.core.record import InvalidRecord, without

if TYPE_CHECKING:
    from workbench.core.stream.memory import Memory
    from workbench.services.agents.plans import Decision


_STATES: dict[str, rules.State] = {"done": "done", "skip": "skipped", "open": "open"}
_SIGNS: Mapping[rules.State, str] = {"open": " ", "done": "✓", "skipped": "-"}


def list_plans(call: Call) -> Answer:
    every = [(one, _brief(one)) for one in call.bench.plans.all()]

    def lines() -> list[str]:
        rows = [
            (
                one.id,
                f"{doc['settled']} of {doc['of']}",
                unreviewed(call.bench, one) + call.shown(str(doc["goal"])),
            )
            for one, doc in every
        ]
        return table(rows)

    none = "No plans yet; `workbench plan make GOAL` creates one."
    rows = [doc | review_json(call.bench, one) for one, doc in every]
    return Answer(rows, lines, [] if every else [none])


def _brief(plan: "Memory") -> dict[str, object]:
    from workbench.services.agents.plans import plan_json

    try:
        return without(plan_json(plan), "steps")
    except InvalidRecord as error:
        return {"id": plan.id, "goal": plan.line, "settled": 0, "of": 0, "problem": error.message}


def make_plan(call: Call) -> Answer:
    """Part a goal into steps and store the plan."""
    args, plans = call.args, call.bench.plans
    given = rules.read_plan(read_text(call.session, args.file)) if args.file else None
    goal = rules.step_of(" ".join(args.goal)) if given is None else given
    goal = rules.timed(goal, args.minutes if args.minutes is not None else goal.minutes or 60)
    steps = tuple(rules.step_of(text) for text in args.step)
    plan = given or (replace(goal, steps=steps) if steps else plans.planned(goal, args.chunk))
    if args.dry_run:
        said = call.shown(rules.plan_text(plan))
        return Answer(said, [said])
    return _whole(call, plans.make(plan, args.session))


def show_plan(call: Call) -> Answer:
    return _whole(call, call.bench.plans.get(call.args.id or ""))


def _whole(call: Call, plan: "Memory") -> Answer:
    from workbench.services.agents.plans import plan_json

    doc, shown = plan_json(plan), call.shown

    def lines() -> Iterator[str]:
        yield f"{plan.id}  {unreviewed(call.bench, plan)}{shown(str(doc['goal']))} ({doc['minutes']} min)"
        for path, step in rules.walk(rules.read_plan(plan.content)):
            if path:
                number = rules.named(path)
                here = ">" if number == doc["current"] else " "
                time = f" ({step.total} min)" if step.total else ""
                indent = "  " * (len(path) - 1)
                yield f"{here} {_SIGNS[rules.state_of(step)]} {indent}{number}  {shown(step.text)}{time}"
        yield f"{doc['settled']} of {doc['of']} settled."

    return Answer(doc | review_json(call.bench, plan), lines)


def mark_step(call: Call) -> Answer:
    args, plans = call.args, call.bench.plans
    return _told(plans.mark(plans.get(args.plan).id, args.number, _STATES[args.state]))


def edit_plan(call: Call) -> Answer:
    """Replace a plan by a check list."""
    after, plans = rules.read_plan(read_text(call.session, call.args.file)), call.bench.plans
    return _told(plans.change(plans.get(call.args.plan).id, lambda _: after, "edit"))


def _told(plan: "Memory") -> Answer:
    doc = _brief(plan)
    said = (
        f"{plan.id}: {doc['settled']} of {doc['of']} settled, next is {doc['current'] or 'none'}."
    )
    del doc["goal"]
    return Answer(doc, [f"{said} `workbench undo` takes that back."])


def check_plan(call: Call) -> Answer:
    """Say what takes one off the current step; exit code 1 when something does."""
    plans, text = call.bench.plans, call.args.text
    plan = plans.get(call.args.plan)
    one = plans.check(plan, text) if text else None
    found = plans.deviations(plan) if not text else () if one is None else (one,)
    deviates = any(not each.debounced for each in found)
    rows = [picked(each, "rule", "memory", "text", "at", "debounced") for each in found]
    lines = [
        f"{moment(each.at)}  {each.rule}  {each.memory}  {call.shown(each.text)[:200]}"
        + ("  (within 5 minutes of another)" if each.debounced else "")
        for each in found
    ]
    return Answer(
        {"plan": plan.id, "deviates": deviates, "found": rows},
        lines or ["No deviation from the current step."],
        (),
        FOUND if deviates else DONE,
    )


def export_plan(call: Call) -> Answer:
    """Write a plan as a Markdown check list."""
    from workbench.core.files.replacing import replace_file
    from workbench.services.files.paths import as_named

    args = call.args
    plan = call.bench.plans.get(args.plan)
    text = call.bench.safety.masked(plan.content) + "\n"
    for remark in call.bench.safety.require_outgoing([plan]):
        warn(remark)
    if args.file == "-":
        return Answer(lines=[text.rstrip()])
    replace_file(as_named(args.file, call.session.cwd), text)
    return Answer(lines=[f"Wrote {args.file}."])


def decide(call: Call) -> Answer:
    """Propose what to do next, value it, and show why."""
    args, plans = call.args, call.bench.plans
    task = " ".join(args.task)
    if args.claude and plans.missing and not args.preview:
        warn(f"workbench: {plans.missing}")
        return Answer(code=PROBLEM)
    if args.preview or args.claude:
        preview = plans.preview(task, args.session, args.known)
        cost = f"{preview.remark} About {preview.estimate.total:,} tokens in and out."
        if args.preview:
            return Answer(preview.texts[0], [preview.texts[0]], [cost])
        from workbench.cli.reflection import told_on

        warn(cost)
        line = ProgressLine()
        with progressing(line) as cancelled:
            found = plans.ask(told_on(line), cancelled, task, args.session, args.known)
        return _decided(call, found)
    return _decided(call, plans.decide(task, args.session, args.known, args.actions))


def _decided(call: Call, found: "Decision") -> Answer:
    library = call.bench.library

    def lines() -> Iterator[str]:
        for place, one in enumerate(found.candidates):
            source = library.table(Pattern).find(one.source) or library.memories.find(one.source)
            sign = "" if source is None else unreviewed(call.bench, source)
            yield f"{'>' if place == 0 else ' '} {one.value:.2f}  {one.type:<9}  {sign}{call.shown(one.action)}"
            by = f", by {one.source}" if one.source else ""
            yield f"            {one.reason}{by}" + (
                f" (confidence {one.confidence:.2f})" if one.confidence else ""
            )

    remarks = [f"Left out of Claude's reply: {call.shown(line)}" for line in found.unread]
    if found.usage is not None:
        remarks.append(f"Used {found.usage.input:,} tokens in and {found.usage.output:,} out.")
    return Answer(
        {"plan": found.plan, "candidates": found.candidates, "unread": found.unread}, lines, remarks
    )


_PLAN = """A plan is a goal divided into steps, stored as a memory of type `plan`. Without an ID, commands
use the current plan: the newest one with an open step.

  workbench plan make "Move the job to the new queue" --minutes 120"""

_MAKE = """A goal shorter than two chunks is one step. A longer one is divided as a pattern in use suggests,
otherwise into equal parts for you to rename, down to three levels. Durations add up. --step gives
the steps, --file a check list."""

_EDIT = """FILE is a check list as written by `export` (- reads stdin); an indented line is part of the step
above it.

  workbench plan export plan.md && $EDITOR plan.md && workbench plan edit plan.md"""

_CHECK = """An observation is a deviation from the current step when it reports an error, an instruction of
the user, that the goal is reached, or a block, in this order; “no error” is none. Without TEXT,
everything stored since the plan last changed is checked. Deviations within 5 minutes of each
other count as one."""

_DECIDE = """Proposes up to five next actions from the plan, patterns, episodes and the task, with a value for
each: retrieval by what working memory lacks, grounding by open goals, learning by the actions
since the last lesson, reasoning 0.5. With --claude the proposals come from Claude; the values are
computed the same way."""

_CHUNKS = f"minutes of the shortest step: {', '.join(map(str, rules.CHUNKS))} (default: 15)"

OPTIONS: Mapping[str, Option] = {
    "--minutes": {"metavar": "N", "type": int, "help": "time for the goal (default: 60)"},
    "--chunk": {
        "metavar": "N",
        "type": int,
        "choices": rules.CHUNKS,
        "default": 15,
        "help": _CHUNKS,
    },
    "--step": several("TEXT", "a step; repeatable"),
    "--file": {"type": file_or_stdin, "default": "", "help": "a check list (- reads stdin)"},
    "--dry-run": flag("print the plan without storing it"),
    "state": {"metavar": "STATE", "choices": tuple(_STATES), "help": ", ".join(_STATES)},
    "number": {"default": "", "help": "which plan (default: the current one)"},
    "file": {"type": file_or_stdin},
    "file:out": {"type": file_or_stdin, "nargs": "?", "default": "-"},
    "text": {"default": "", "help": "an observation to check"},
    "task": {"help": "the task (default: the current step)"},
    "--known": text("what is in working memory"),
    "--actions": {
        "metavar": "N",
        "type": int,
        "help": "actions since the last lesson (default: counted)",
    },
    "--claude": flag("let Claude propose the actions"),
    "--preview": flag("print what would be sent to Claude, and send nothing"),
    "--plan": text("which plan (default: the current one)", "ID"),
    "--session": text("the agent session it belongs to", "ID"),
}

_VERBS = (
    Verb("list", list_plans, "list plans, newest first", "--json"),
    Verb("make", make_plan, "make a plan", "goal* --minutes --chunk --step --file --dry-run --session --json", _MAKE,
         '"Fix the login" --minutes 60', making_unless_dry),
    Verb("show", show_plan, "show a plan with its current step", "id? --json"),
    Verb("step", mark_step, "mark a step done, skipped or open", "state number? --plan --json", "", "done 1.2",
         changing),
    Verb("edit", edit_plan, "replace the steps of a plan", "file --plan --json", _EDIT, "plan.md", changing),
    Verb("check", check_plan, "check for deviations from the plan", "text? --plan --json", _CHECK, "",
         lambda session: session.changing() if session.args.text else session.reading()),
    Verb("export", export_plan, "write a plan as a check list", "file:out --plan", "", "plan.md",
         exporting),
    Verb("decide", decide, "propose what to do next",
         "task* --known --actions --claude --preview --session --json", _DECIDE, '"fix the login"',
         lambda session: session.changing() if session.args.claude else session.reading()),
)  # fmt: skip

VERBS = (
    Verb(
        "plan",
        list_plans,
        "divide goals into steps and choose what is next",
        "",
        _PLAN,
        None,
        below=_VERBS,
    ),
)
