"""The command line as a whole: all commands, and the way from arguments to an exit code."""

import sys
from argparse import SUPPRESS
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from workbench import __version__, streams
from workbench.cli import session as exit_codes
from workbench.cli.output import fail, warn
from workbench.cli.parsing import COMMAND, Parser, add_store, revision_or_time
from workbench.cli.session import (
    DONE,
    INTERRUPTED,
    PROBLEM,
    Clock,
    OpenApp,
    ServeAgents,
    Session,
    Welcome,
    require_secrets_for_people,
)
from workbench.cli.verbs import add_verb
from workbench.config import paths
from workbench.core.record import WorkbenchError, WorkStopped, why_failed

if TYPE_CHECKING:
    from argparse import Namespace

    from workbench.config import loading

_USAGE = "[-h] [--version] [--store DIR] [--at WHEN] COMMAND ..."

_ABOUT = """Curate what an AI agent remembers. Without a command the app opens.

The store is found from the working directory (.workbench/ in it or above); otherwise it is your
global one. `workbench demo` opens a store to try things out, `workbench help` the manual."""


_GROUPS: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "curate": {
        "review": ("review",),
        "reading": ("list", "show", "stats", "views", "history", "undo", "redo"),
        "editing": (
            "ingest", "vote", "edit", "pin", "forget", "unforget", "archive", "replace",
        ),
        "append": ("append",),
        "playbook": ("bullet", "curate"),
        "reflection": ("reflect",),
        "upkeep": ("upkeep", "dedup", "still-true"),
    },
    "search and tune": {
        "search": ("search",),
        "tuning": ("eval", "tune", "queries", "check", "model"),
    },
    "agents": {
        "agents.hooks": ("hooks", "mcp"),
        "agents.context": ("context", "reads", "index"),
        "agents.capture": ("capture", "replay"),
        "agents.documents": ("documents", "recall"),
        "agents.episodes": ("episode", "consolidate"),
        "agents.patterns": ("pattern",),
        "agents.plan": ("plan",),
        "agents.working": ("working",),
    },
    "files": {
        "importing": ("import",),
        "export": ("export",),
        "files": ("convert", "lint", "watch"),
    },
    "store": {
        "opening": ("demo", "init"),
        "status": ("status",),
        "health": ("doctor", "compact", "backup", "restore", "migrate", "purge"),
        "safety": ("scan", "allow", "trust"),
        "team": ("store",),
        "places": ("config", "stores"),
        "manual": ("completion", "help"),
    },
}  # fmt: skip
"""The modules of commands by the task they are for, and the commands of each: a known one is all
that is imported.
"""

_FAMILIES = {module: names for group in _GROUPS.values() for module, names in group.items()}

_MOST_USED = (
    "review", "list", "show", "search", "ingest", "vote", "edit", "undo", "import", "export",
)  # fmt: skip

_UNSETTLED = frozenset({"append", "capture", "help"})
"""Commands that need no settings and are not to wait for them."""


def utc_now() -> datetime:
    """Return the present moment in UTC."""
    return datetime.now(UTC)


def build_parser(command: str = "", *, opening: bool = False, listed: bool = False) -> Parser:
    """Return the parser of one command, or else of all; building it imports nothing heavy.

    With `opening` it knows no command: the app that is to open does not wait for them. Its help
    names the commands by the task they are for, unless they are to be `listed` one by one.
    """
    parser = Parser(prog="workbench", description=_ABOUT, usage=f"%(prog)s {_USAGE}")
    parser.add_argument("--version", action="version", version=f"workbench {__version__}")
    add_store(parser)
    about = "the store as it was at this revision or time (42, 36h, 2026-11-21): read-only"
    parser.add_argument("--at", metavar="WHEN", type=revision_or_time, help=about)
    commands = parser.add_subparsers(
        metavar=COMMAND,
        prog=parser.prog,
        parser_class=Parser,
        help=None if listed else SUPPRESS,
    )
    chosen = [family for family, names in _FAMILIES.items() if command in names]
    abouts: dict[str, str] = {}
    for family in chosen or (() if opening else _FAMILIES):
        module = import_module(f"workbench.cli.{family}")
        for verb in module.VERBS:
            add_verb(commands, verb, module.OPTIONS)
            abouts[verb.name] = verb.about
    if not chosen:
        parser.set_defaults(handler=import_module("workbench.cli.opening").open_store)
        parser.epilog = _overview(abouts)
    return parser


def _overview(abouts: Mapping[str, str]) -> str:
    """Return the commands that are used most, all of them by task, and the exit codes."""
    most = [f"  {name:<8}{abouts.get(name, '')}" for name in _MOST_USED]
    every = [
        f"  {title:<17}{', '.join(name for names in modules.values() for name in names)}"
        for title, modules in _GROUPS.items()
    ]
    explained = "  `workbench help commands` explains all, `workbench COMMAND --help` one."
    tables = (["commands used most:", *most], ["all commands, by task:", *every, explained])
    return "\n\n".join([*("\n".join(lines) for lines in tables), exit_codes.exit_code_table()])


def run(
    argv: Sequence[str] | None,
    *,
    open_app: OpenApp,
    cwd: Path | None = None,
    clock: Clock = utc_now,
    serve_agents: ServeAgents | None = None,
    welcome: Welcome | None = None,
) -> int:
    """Run one command and return its exit code (`exit_codes.MEANINGS`).

    `open_app` runs the app, `serve_agents` a server for agents, `welcome` asks who has no store
    yet. Raises `SystemExit` for `--help`, `--version` and wrong arguments.
    """
    argv = sys.argv[1:] if argv is None else list(argv)
    command = _command(argv)
    parser = build_parser(command, opening=not command and not {"-h", "--help"} & set(argv))
    args, unknown = parser.parse_known_args(argv)
    if unknown:
        parser.prog = getattr(args, "prog", parser.prog)
        parser.error(f"unrecognized arguments: {' '.join(unknown)}")
    try:
        known, here = cache(_settings), cwd or _here()
        session = Session(args, here, clock, open_app, known, serve_agents, welcome)
        require_secrets_for_people(args)
        _require_present(args, command)
        if command not in _UNSETTLED:
            session.settings()
        code: int = _handled(session)
    except WorkbenchError as error:
        fail(error)
        return INTERRUPTED if isinstance(error, WorkStopped) else PROBLEM
    return code


def _handled(session: Session) -> int:
    """Let the command do its work; what is stored is done, also where that cannot be printed."""
    try:
        code: int = session.args.handler(session)
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        if error.filename != "stdout" or not getattr(session.args, "stored", False):
            raise
        streams.let_go()
        warn(f"stdout cannot be written: {why_failed(error)}. The change is stored.")
        return DONE
    return code


def _require_present(args: "Namespace", command: str) -> None:
    """Raise `WorkbenchError` when a command that cannot look back is told to."""
    if command and args.at is not None and not getattr(args, "looks_back", False):
        hint = "Nothing was done. --at works with context, list, replay, search, show and stats."
        raise WorkbenchError(f"`workbench {command}` does not take --at.", hint)


def is_hook(argv: Sequence[str]) -> bool:
    """Tell whether these arguments are those of a hook of an agent, which is to fail for nothing."""
    return _command(argv) == "capture" and not {
        "transcript",
        "status",
        "brief",
        "-h",
        "--help",
    } & set(argv)


def _command(argv: Sequence[str]) -> str:
    """Return the first word that is neither an option nor the value of `--store` or `--at`."""
    words = iter(argv)
    for word in words:
        if word in ("--store", "--at"):
            next(words, None)
        elif not word.startswith("-"):
            return word
    return ""


def _settings() -> "loading.Loaded":
    """Read the settings, and say what is wrong with them."""
    from workbench.config import loading

    loaded = loading.load(paths.config_dir() / loading.FILE_NAME)
    if loaded.problems:
        from workbench.services.safety.masking import masked_text

        for problem in loaded.problems:
            warn(masked_text(problem))
    return loaded


def _here() -> Path:
    try:
        return Path.cwd()
    except OSError as error:
        raise WorkbenchError(
            "The working directory no longer exists.", "Change to one that exists."
        ) from error
