"""`workbench working`: the working memory of an agent session, for agents that use commands."""

import json
from typing import Any

from workbench.cli.output import say, table, write_json
from workbench.cli.parsing import Commands, Parser, add_command, add_json, count, wants_json
from workbench.cli.session import CLI_ACTOR, Session, actor_of
from workbench.core.agents.episodes.episode import OUTCOMES
from workbench.core.text import one_line
from workbench.services.agents.working import OPERATIONS, WorkingSession, sessions, view_of

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


def add_commands(commands: Commands) -> None:
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
