"""`workbench working`: the working memory of an agent session, for agents that use commands."""

import json
from collections.abc import Mapping

from workbench.cli.output import table
from workbench.cli.parsing import count
from workbench.cli.session import CLI_ACTOR, actor_of
from workbench.cli.verbs import Answer, Call, Option, Verb, reading_whole, text
from workbench.core.agents.episodes.episode import OUTCOMES
from workbench.core.text import one_line
from workbench.services.agents.working import OPERATIONS, WorkingSession, sessions, view_of

_WORKING = """The working memory of an agent session: five layers of 20,000 tokens for one task. Each command
loads the session, applies one operation and stores it as one change, which `workbench undo` takes
back. Without a verb: the sessions.

  workbench working init "Add JWT authentication to auth.py. Tests must pass." --session s1
  workbench working set files_modified auth.py --scope accumulator --session s1
  workbench working show --session s1"""

_SET = """VALUE is JSON, or plain text. Scopes: global, task, execution, intermediate, metadata. In scope
accumulator the value is appended to a list; in scope control it lasts until the next push-state."""

_DETAILS = {
    "set": _SET,
    "clear": "Keeps the task as an episode, and of the working memory only its metadata.",
}

OPTIONS: Mapping[str, Option] = {
    "--scope": {"metavar": "SCOPE", "default": "task", "help": "which one (default: task)"},
    "--type": text("what kind of output it is", "TYPE"),
    "--trace": text("its source"),
    "--outcome": {"choices": OUTCOMES, "default": "PARTIAL", "help": "the outcome (default: PARTIAL)"},
    "--output": text("the result of the task"),
    "--actor": {"metavar": "NAME", "help": "the agent (default: you)"},
    "--session": {"metavar": "S", "default": "cli", "help": "the agent session (default: cli)"},
    "task?": {"default": ""}, "revision?": {"type": count, "default": 0},
}  # fmt: skip


def work(call: Call) -> Answer:
    """Load, apply and store."""
    from workbench.services.agents.api import operate

    args = call.args
    agent = actor_of(args).removeprefix("agent:") if actor_of(args) != CLI_ACTOR else "cli"
    names = [one.strip("?-") for one in OPERATIONS[args.verb].words]
    words = {name: str(getattr(args, name)) for name in names}
    answer = operate(call.bench, args.session, agent, "cli", args.verb, words)
    answer.pop("note", None)
    if args.verb == "get":
        value = answer["value"]
        return Answer(answer, [value if isinstance(value, str) else json.dumps(value)])
    rows = {
        name: map(str, value) if isinstance(value, list | tuple) else [str(value)]
        for name, value in answer.items()
    }
    return Answer(answer, [f"{name}: {', '.join(values)}" for name, values in rows.items()])


def show(call: Call) -> Answer:
    """Show the working memory of a session."""
    view = WorkingSession(call.bench.context, call.args.session).show()
    rows = [
        (row["layer"], f"{row['tokens']:,}", f"of {row['budget']:,} tokens")
        for row in view["layers"]
    ]
    rows += [("total", f"{view['tokens']:,}", f"of {view['limit']:,}")]
    warmth = [f"{name}: {', '.join(view[name]) or 'nothing'}" for name in ("hot", "warm", "cold")]
    return Answer(view, [*table(rows, right=(1,)), *warmth])


def list_sessions(call: Call) -> Answer:
    """List the sessions that have a working memory."""
    views = [view_of(memory) for memory in sessions(call.bench.library).values()]
    lines = [
        f"{view['session']}  {view['tokens']:,} of {view['limit']:,}  "
        + one_line(str(view["task_scope"].get("description", "")), 80)
        for view in views
    ]
    none = "No working memory yet. `workbench working init TASK` starts one."
    return Answer(
        [{name: view[name] for name in ("session", "tokens", "limit")} for view in views],
        lines or [none],
    )


_VERBS = (
    Verb("show", show, "show the layers and variables", "--session --json", "", "--session s1", reading_whole),
    *(
        Verb(name, work, about, f"--actor {' '.join(words)} --session --json", _DETAILS.get(name, ""), example,
             lambda session: session.changing(makes=session.args.verb == "init"))
        for name, (about, example, words, _) in OPERATIONS.items()
    ),
)  # fmt: skip

VERBS = (
    Verb("working", list_sessions, "manage the working memory of an agent session", "--json", _WORKING, None,
         reading_whole, _VERBS),
)  # fmt: skip
