"""`workbench plan`: goals in steps, what takes one off them, and what to do next."""

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from workbench.cli.agents.patterns import read_text
from workbench.cli.output import moment, say, table, warn, write_json
from workbench.cli.parsing import Commands, Parser, add_command, add_json, count, file_or_stdin, wants_json
from workbench.cli.safety.flags import Shown, review_json, unreviewed
from workbench.cli.session import CLI_ACTOR, FOUND, PROBLEM, Session, actor_of
from workbench.core.agents import plan as rules
from workbench.core.agents.episodes.episode import OUTCOMES
from workbench.core.agents.patterns.pattern import Pattern
from workbench.core.record import InvalidRecord
from workbench.core.text import one_line
from workbench.services.agents.working import OPERATIONS, WorkingSession, sessions, view_of

if TYPE_CHECKING:
    from workbench.core.stream.memory import Memory
    from workbench.services.agents.plans import Decision
    from workbench.services.open import Workbench


_STATES: dict[str, rules.State] = {"done": "done", "skip": "skipped", "open": "open"}
_DONE = "`workbench undo` takes that back."


def list_plans(session: Session) -> int:
    """Print plans, a line each."""
    with session.reading() as bench:
        shown, rows = _shown(bench), list[Sequence[str]]()
        every = bench.plans.all()
        if wants_json(session.args):
            write_json([shown(_brief(one)) | review_json(bench, one) for one in every])
            return 0
        for one in every:
            doc = _brief(one)
            rows.append((one.id, f"{doc['settled']} of {doc['of']}", unreviewed(bench, one) + shown(str(doc["goal"]))))
        for line in table(rows) if rows else ():
            say(line)
        if not rows:
            warn("There are no plans yet; `workbench plan make GOAL` makes one.")
        shown.remark()
    return 0


def _brief(plan: "Memory") -> dict[str, object]:
    from workbench.services.agents.plans import plan_json

    try:
        return {name: value for name, value in plan_json(plan).items() if name != "steps"}
    except InvalidRecord as error:
        return {"id": plan.id, "goal": plan.line, "settled": 0, "of": 0, "problem": error.message}


def make_plan(session: Session) -> int:
    """Part a goal into steps and store the plan."""
    args = session.args
    given = rules.read_plan(read_text(session, args.file)) if args.file else None
    goal = rules.step_of(" ".join(args.goal)) if given is None else given
    goal = rules.timed(goal, args.minutes if args.minutes is not None else goal.minutes or 60)
    steps = tuple(rules.step_of(text) for text in args.step)
    with session.reading(planning=True) if args.dry_run else session.changing(makes=True) as bench:
        plan = given or (replace(goal, steps=steps) if steps else bench.plans.planned(goal, args.chunk))
        if args.dry_run:
            say(bench.safety.masked(rules.plan_text(plan)))
            return 0
        return _print(session, bench, bench.plans.make(plan, args.session))


def show_plan(session: Session) -> int:
    with session.reading() as bench:
        return _print(session, bench, bench.plans.get(session.args.id or ""))


def _print(session: Session, bench: "Workbench", plan: "Memory") -> int:
    from workbench.services.agents.plans import plan_json

    shown = _shown(bench)
    doc = plan_json(plan)
    if wants_json(session.args):
        write_json(shown(doc) | review_json(bench, plan))
        return 0
    say(f"{plan.id}  {unreviewed(bench, plan)}{shown(str(doc['goal']))} ({doc['minutes']} min)")
    for path, step in rules.walk(rules.read_plan(plan.content)):
        if path:
            sign = {"open": " ", "done": "✓", "skipped": "-"}[rules.state_of(step)]
            here = ">" if rules.named(path) == doc["current"] else " "
            time = f" ({step.total} min)" if step.total else ""
            say(f"{here} {sign} {'  ' * (len(path) - 1)}{rules.named(path)}  {shown(step.text)}{time}")
    say(f"{doc['settled']} of {doc['of']} settled.")
    shown.remark()
    return 0


def mark_step(session: Session) -> int:
    args = session.args
    with session.changing() as bench:
        plan = bench.plans.mark(bench.plans.get(args.plan).id, args.number, _STATES[args.state])
        return _told(session, plan)


def edit_plan(session: Session) -> int:
    """Replace a plan by a check list."""
    after = rules.read_plan(read_text(session, session.args.file))
    with session.changing() as bench:
        return _told(session, bench.plans.change(bench.plans.get(session.args.plan).id, lambda _: after, "edit"))


def _told(session: Session, plan: "Memory") -> int:
    doc = _brief(plan)
    if wants_json(session.args):
        write_json({name: value for name, value in doc.items() if name != "goal"})
    else:
        say(f"{plan.id}: {doc['settled']} of {doc['of']} settled, next is {doc['current'] or 'none'}. {_DONE}")
    return 0


def check_plan(session: Session) -> int:
    """Say what takes one off the current step; exit code 1 when something does."""
    args = session.args
    with session.changing() if args.text else session.reading() as bench:
        plan = bench.plans.get(args.plan)
        one = bench.plans.check(plan, args.text) if args.text else None
        found = bench.plans.deviations(plan) if not args.text else () if one is None else (one,)
        shown = _shown(bench)
        if wants_json(args):
            rows = [{"rule": f.rule, "memory": f.memory, "text": f.text, "at": f.at, "debounced": f.debounced}
                    for f in found]  # fmt: skip
            write_json(shown({"plan": plan.id, "deviates": any(not f.debounced for f in found), "found": rows}))
        else:
            for f in found:
                late = "  (within 5 minutes of another)" if f.debounced else ""
                say(f"{moment(f.at)}  {f.rule}  {f.memory}  {shown(f.text)[:200]}{late}")
            if not found:
                say("Go on: nothing takes one off the current step.")
    return FOUND if any(not f.debounced for f in found) else 0


def export_plan(session: Session) -> int:
    """Write a plan as a Markdown check list."""
    args = session.args
    with session.reading(approved=True) as bench:
        plan = bench.plans.get(args.plan)
        text = bench.safety.masked(plan.content) + "\n"
        for remark in bench.safety.require_outgoing([plan]):
            warn(remark)
    if args.file == "-":
        say(text.rstrip())
        return 0
    from workbench.core.files.replacing import replace_file
    from workbench.services.files.paths import as_named

    replace_file(as_named(args.file, session.cwd), text)
    say(f"Wrote {args.file}.")
    return 0


def decide(session: Session) -> int:
    """Propose what to do next, value it, and show why."""
    args = session.args
    task = " ".join(args.task)
    with session.changing() if args.claude else session.reading() as bench:
        if args.preview:
            preview = bench.plans.preview(task, args.session, args.known)
            say(preview.texts[0])
            warn(f"{preview.remark} About {preview.estimate.total:,} tokens in and out.")
            return 0
        if args.claude:
            from workbench.cli.progress import interruptible
            from workbench.cli.reflection import Told

            if bench.plans.missing:
                warn(f"workbench: {bench.plans.missing}")
                return PROBLEM
            cost = bench.plans.preview(task, args.session, args.known)
            warn(f"{cost.remark} About {cost.estimate.total:,} tokens in and out.")
            with interruptible() as cancelled:
                told = Told()
                found = bench.plans.ask(told, cancelled, task, args.session, args.known)
                told.clear()
        else:
            found = bench.plans.decide(task, args.session, args.known, args.actions)
        return _print_decision(session, bench, found)


def _print_decision(session: Session, bench: "Workbench", found: "Decision") -> int:
    shown = _shown(bench)
    if wants_json(session.args):
        write_json(shown({"plan": found.plan, "candidates": found.candidates, "unread": found.unread}))
        return 0
    tables = (bench.library.table(Pattern), bench.library.memories)
    records = [next((r for t in tables if (r := t.find(one.source))), None) for one in found.candidates]
    signs = ["" if one is None else unreviewed(bench, one) for one in records]
    for place, one in enumerate(found.candidates):
        say(f"{'>' if place == 0 else ' '} {one.value:.2f}  {one.type:<9}  {signs[place]}{shown(one.action)}")
        by = f", by {one.source}" if one.source else ""
        say(f"            {one.reason}{by}" + (f" (confidence {one.confidence:.2f})" if one.confidence else ""))
    for line in found.unread:
        warn(f"Left out of Claude's reply: {shown(line)}")
    if found.usage is not None:
        warn(f"Used {found.usage.input:,} tokens in and {found.usage.output:,} out.")
    return 0


def _shown(bench: "Workbench") -> Shown:
    return Shown(bench, how="`workbench show ID --show-secrets` shows them")


_PLAN = """A plan is a goal in steps, kept in the stream as a memory of the type `plan`. Without an ID a command means
the current plan: the newest with an open step.

  workbench plan make "Move the job to the new queue" --minutes 120"""

_MAKE = """A goal shorter than two chunks is one step; a longer one is parted as a pattern in use says, or else into
equal parts to rename, down to three levels. Durations add up. --step gives the steps, --file a check list."""

_EDIT = """FILE holds a check list as `export` writes it (- reads stdin); what is indented is part of what stands above.

  workbench plan export plan.md && $EDITOR plan.md && workbench plan edit plan.md"""

_CHECK = """An observation takes one off the current step when it tells of an error, an instruction of the user, the
goal being reached, or a block, in this order; “no error” does not. Without TEXT, what was stored since the plan was
last changed is checked. What comes within 5 minutes of another asks for no new plan."""

_DECIDE = """Proposes at most five actions from the plan, patterns, episodes and the task, and values each: retrieval by
what working memory lacks, grounding by the goals that are open, learning by the actions since the last lesson,
reasoning 0.5. With --claude Claude proposes; the values are the same."""


def add_commands(commands: Commands) -> None:
    plan = add_command(commands, "plan", list_plans, "part goals into steps and decide what is next", _PLAN)
    plan.set_defaults(json=False)
    verbs = plan.add_subparsers(title="what to do", metavar="VERB", prog=plan.prog, parser_class=Parser)
    listing = add_command(verbs, "list", list_plans, "list plans, the newest first", example="")
    making = add_command(verbs, "make", make_plan, "make a plan", _MAKE, example='"Fix the login" --minutes 60')
    making.add_argument("goal", nargs="*")
    making.add_argument("--minutes", metavar="N", type=int, help="how long the goal takes (default: 60)")
    about = f"minutes of the shortest step: {', '.join(map(str, rules.CHUNKS))} (default: 15)"
    making.add_argument("--chunk", metavar="N", type=int, choices=rules.CHUNKS, default=15, help=about)
    making.add_argument("--step", metavar="TEXT", action="append", default=[], help="a step; several times")
    making.add_argument("--file", type=file_or_stdin, default="", help="a check list (- reads stdin)")
    making.add_argument("--dry-run", action="store_true", help="print the plan and store nothing")
    showing = add_command(verbs, "show", show_plan, "show a plan with its current step", example="")
    showing.add_argument("id", nargs="?")
    marking = add_command(verbs, "step", mark_step, "mark a step done, skipped or open", example="done 1.2")
    marking.add_argument("state", metavar="STATE", choices=tuple(_STATES), help=", ".join(_STATES))
    marking.add_argument("number", nargs="?", default="", help="which (default: the current one)")
    editing = add_command(verbs, "edit", edit_plan, "replace the steps of a plan", _EDIT, example="plan.md")
    editing.add_argument("file", type=file_or_stdin)
    checking = add_command(verbs, "check", check_plan, "say what takes one off the plan", _CHECK, example="")
    checking.add_argument("text", nargs="?", default="", help="an observation that is not stored")
    exporting = add_command(verbs, "export", export_plan, "write a plan as a check list", example="plan.md")
    exporting.add_argument("file", type=file_or_stdin, nargs="?", default="-")
    deciding = add_command(verbs, "decide", decide, "propose what to do next", _DECIDE, example='"fix the login"')
    deciding.add_argument("task", nargs="*", help="what is to be done (default: the current step)")
    deciding.add_argument("--known", metavar="TEXT", default="", help="what is in working memory")
    deciding.add_argument("--actions", metavar="N", type=int, help="actions since the last lesson (default: counted)")
    deciding.add_argument("--claude", action="store_true", help="let Claude propose the candidates")
    deciding.add_argument("--preview", action="store_true", help="print what would be sent to Claude, and send nothing")
    for parser in (marking, editing, checking, exporting):
        parser.add_argument("--plan", metavar="ID", default="", help="which plan (default: the current one)")
    for parser in (making, deciding):
        parser.add_argument("--session", metavar="ID", default="", help="the agent session it belongs to")
    for parser in (listing, making, showing, marking, editing, checking, deciding):
        add_json(parser)
    add_working(commands)


# `workbench working`: the working memory of an agent session, for agents that use commands.


_WORKING = """What an agent keeps in mind for one task: five layers of 20,000 tokens. Each command loads the session,
applies one operation, and stores it as one change, which `workbench undo` takes back. Without a verb: the sessions.

  workbench working init "Add JWT authentication to auth.py. Tests must pass." --session s1
  workbench working set files_modified auth.py --scope accumulator --session s1
  workbench working show --session s1"""

_SET = """VALUE is JSON, or else a text. Scopes: global, task, execution, intermediate, metadata. In scope accumulator a
value is appended to a list, in scope control it ends with the next push-state."""

_CLEAR = "Keeps the task as an episode, and of the working memory only its metadata."

_OPTIONS: dict[str, dict[str, Any]] = {
    "scope": {"default": "task", "help": "which one (default: task)"},
    "type": {"default": "", "help": "what kind of output it is"},
    "trace": {"metavar": "TEXT", "default": "", "help": "how it came about"},
    "outcome": {"metavar": None, "choices": OUTCOMES, "default": "PARTIAL", "help": "how it ended (default: PARTIAL)"},
    "output": {"metavar": "TEXT", "default": "", "help": "what came of the task"},
    "actor": {"metavar": "NAME", "help": "the agent that does it (otherwise: you)"},
}


def add_working(commands: Commands) -> None:
    """Add `working` and its verbs."""
    top = add_command(commands, "working", list_sessions, "keep the working memory of an agent session", _WORKING)
    verbs = top.add_subparsers(title="what to do", metavar="VERB", prog=top.prog, parser_class=Parser)
    made = [add_command(verbs, "show", show, "show the layers and variables", example="--session s1")]
    details = {"set": _SET, "clear": _CLEAR}
    for name, (about, example, words, _) in OPERATIONS.items():
        parser = add_command(verbs, name, work, about, details.get(name, ""), example=example)
        parser.set_defaults(verb=name)
        for word in ("--actor", *words):
            bare = word.strip("[]-")
            if word.startswith("--"):
                parser.add_argument(word, **{"metavar": bare.upper(), **_OPTIONS[bare]})
            else:
                kind = count if bare == "revision" else str
                many, default = None if word == bare else "?", 0 if kind is count else ""
                parser.add_argument(bare, metavar=bare.upper(), nargs=many, type=kind, default=default)
        made.append(parser)
    for parser in made:
        parser.add_argument("--session", metavar="S", default="cli", help="the agent session (default: cli)")
    for parser in (top, *made):
        add_json(parser)


def work(session: Session) -> int:
    """Load, apply and store."""
    from workbench.services.agents.api import working_session
    from workbench.services.agents.reading_log import ReadingLog

    args = session.args
    with session.changing(makes=args.verb == "init") as bench:
        log = ReadingLog(bench.follow)
        agent = actor_of(args).removeprefix("agent:") if actor_of(args) != CLI_ACTOR else "cli"
        memory = working_session(bench, args.session, agent, "cli", log)
        words = {name: str(getattr(args, name)) for one in OPERATIONS[args.verb].words for name in [one.strip("[]-")]}
        answer = {**OPERATIONS[args.verb].do(memory, **words), **memory.snapshot(args.verb)}
        log.flush()
    answer.pop("note", None)
    if wants_json(args):
        write_json(answer)
    elif args.verb == "get":
        say(str(answer["value"]) if isinstance(answer["value"], str) else json.dumps(answer["value"]))
    else:
        for name, value in answer.items():
            say(f"{name}: {', '.join(map(str, value)) if isinstance(value, list | tuple) else value}")
    return 0


def show(session: Session) -> int:
    """Show the working memory of a session."""
    with session.reading(whole=True) as bench:
        view = WorkingSession(bench.context, session.args.session).show()
    if wants_json(session.args):
        write_json(view)
        return 0
    rows = [(row["layer"], f"{row['tokens']:,}", f"of {row['budget']:,} tokens") for row in view["layers"]]
    rows += [("total", f"{view['tokens']:,}", f"of {view['limit']:,}")]
    for line in table(rows, right=(1,)):
        say(line)
    for warmth in ("hot", "warm", "cold"):
        say(f"{warmth}: {', '.join(view[warmth]) or 'nothing'}")
    return 0


def list_sessions(session: Session) -> int:
    """List the sessions that have a working memory."""
    with session.reading(whole=True) as bench:
        views = [view_of(memory) for memory in sessions(bench.library).values()]
    if wants_json(session.args):
        write_json([{name: view[name] for name in ("session", "tokens", "limit")} for view in views])
        return 0
    for view in views:
        task = one_line(str(view["task_scope"].get("description", "")), 80)
        say(f"{view['session']}  {view['tokens']:,} of {view['limit']:,}  {task}")
    if not views:
        say("No session has a working memory. `workbench working init TASK` begins one.")
    return 0
