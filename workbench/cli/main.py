"""The command line as a whole: all commands, and the way from arguments to an exit code."""

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from workbench import __version__, config, paths
from workbench.cli import adding, evaluating, exporting, importing, looking, opening, places, searching, undoing
from workbench.cli.output import fail, warn
from workbench.cli.parsing import Parser, add_store
from workbench.cli.session import Clock, OpenApp, Session
from workbench.core.errors import WorkbenchError

PROBLEM = 2
"""Exit code when something could not be done; nothing was changed then."""

_ABOUT = """Curate what an AI agent remembers. Without a command the app opens.

The store is found from the working directory (.workbench/ in it or above); otherwise it is your
global one. `workbench demo` opens a store to try things out."""


def utc_now() -> datetime:
    """Return the present moment in UTC."""
    return datetime.now(UTC)


def build_parser() -> Parser:
    """Return the parser of all commands; building it imports nothing heavy."""
    parser = Parser(prog="workbench", description=_ABOUT)
    parser.add_argument("--version", action="version", version=f"workbench {__version__}")
    add_store(parser)
    parser.set_defaults(handler=opening.open_store)
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", parser_class=Parser)
    for family in (opening, importing, exporting, searching, evaluating, adding, undoing, looking, places):
        family.add_commands(commands)
    return parser


def run(argv: Sequence[str] | None, *, open_app: OpenApp, cwd: Path | None = None, clock: Clock = utc_now) -> int:
    """Run one command and return its exit code: 0, 2 for a problem, 130 for an interrupted one.

    `open_app` runs the app. Raises `SystemExit` for `--help`, `--version` and wrong arguments.
    """
    args = build_parser().parse_args(argv)
    try:
        loaded = config.load(paths.config_dir() / config.FILE_NAME)
        for problem in loaded.problems:
            warn(problem)
        code: int = args.handler(Session(args, cwd or _here(), clock, open_app, loaded))
    except WorkbenchError as error:
        fail(error)
        return PROBLEM
    return code


def _here() -> Path:
    try:
        return Path.cwd()
    except OSError as error:
        raise WorkbenchError("The working directory is gone.", "Change to one that exists.") from error
