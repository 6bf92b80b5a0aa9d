"""`workbench` itself, and `workbench demo`: opening the app."""

import sys
import tempfile
from pathlib import Path

from workbench import paths
from workbench.cli.output import say
from workbench.cli.parsing import Commands, add_command
from workbench.cli.session import Session
from workbench.core.errors import StoreProblem, WorkbenchError

_DEMO = """Opens a hand-written store of a software project in a temporary copy: try everything, nothing is kept.
With --into the store is made in a folder of yours and stays there; the app is not opened."""


def add_commands(commands: Commands) -> None:
    """Add `demo`."""
    parser = add_command(commands, "demo", open_demo, "open a demo store to try things out", _DEMO)
    parser.add_argument("--into", metavar="DIR", type=Path, help="make the demo store in this empty or new folder")


def open_store(session: Session) -> int:
    """Open the app on the store."""
    _require_terminal()
    choice = session.choice()
    return session.open_app(choice.folder, origin=choice.origin)


def open_demo(session: Session) -> int:
    """Open the app on a temporary demo store, or make a lasting one."""
    if session.args.store is not None:
        raise WorkbenchError("The demo makes a store of its own.", "Use --into DIR to choose its folder.")
    if session.args.into is not None:
        return _make_demo(session, session.args.into)
    _require_terminal()
    with tempfile.TemporaryDirectory(prefix="workbench-demo-", ignore_cleanup_errors=True) as folder:
        _fill(session, Path(folder) / "demo")
        return session.open_app(Path(folder) / "demo", origin="demo", demo=True)


def _make_demo(session: Session, into: Path) -> int:
    folder = paths.find_store(session.cwd, into).folder
    try:
        taken = folder.exists() and any(folder.iterdir())
    except OSError as error:
        raise StoreProblem(f"{folder} cannot be looked into: {error.strerror}.", "Nothing was changed.") from error
    if taken:
        raise StoreProblem(f"{folder} is not empty.", "Nothing was changed; name a new or empty folder.")
    _fill(session, folder)
    say(f"The demo store is in {folder}.")
    say(f"Open it with: workbench --store {folder}")
    return 0


def _fill(session: Session, folder: Path) -> None:
    from workbench.bench.demo import fill

    bench = session.open(folder)
    fill(bench, paths.shipped("fixtures/demo"))
    bench.close()


def _require_terminal() -> None:
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        hint = "Run it in one, or use a command: see “workbench --help”."
        raise WorkbenchError("The app needs a terminal.", hint)
