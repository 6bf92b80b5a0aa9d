"""`workbench` itself, `workbench demo` and `workbench init`: opening the app, and making a store."""

import contextlib
import os
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

from workbench.cli.output import asks, say
from workbench.cli.parsing import folder
from workbench.cli.session import Session, Welcome, is_there, say_made
from workbench.cli.verbs import Answer, Call, Option, Verb, flag, unopened, value
from workbench.config import paths, recent
from workbench.core.first_run import TRY_DEMO, FirstRun
from workbench.core.record import StoreProblem, WorkbenchError
from workbench.core.runtime import asked_to_end

_DEMO = """Opens a demo store of a software project in a temporary copy: try everything, nothing is kept. A
scratch project (CLAUDE.md, AGENTS.md, rules, a skill, memory files) receives what you promote and
export. --into creates the store in a folder of yours instead, without opening the app."""

_RECENT = 3
"""Stores of other places that the first card offers at most."""

_INIT = """Creates .workbench/ in DIR (default: here), from then on the store of that project; with --store,
the store in that folder. Git ignores it. With --shared it is meant to be committed: git tracks
its journal, keeps the lines of both sides when it merges branches, and ignores caches, locks and
drafts.

  workbench init ~/shop --shared"""


def open_store(session: Session) -> int:
    """Open the app on the store; where there is none, and none was named, ask what to do first."""
    _require_terminal()
    with asked_to_end(sys.exit):
        return _open_what_is_meant(session)


def _open_what_is_meant(session: Session) -> int:
    choice = session.choice()
    if session.args.at is not None:
        return _look_back(session, choice.origin)
    if session.welcome is not None and choice.origin == "global" and not session.has_store():
        return _welcome(session, session.welcome, choice.folder)
    return _open(session, choice.folder, choice.origin)


def _look_back(session: Session, origin: str) -> int:
    """Open the app on the store as it was right after a revision; one that is not there has no
    past.
    """
    store = session.known_store()
    if not session.has_store():
        raise StoreProblem(
            f"There is no store in {store}.",
            "Nothing was created. Without --at the app creates one.",
        )
    return session.open_app(store, origin=origin, at=session.at())


def _open(session: Session, store: Path, origin: str, begin: str = "") -> int:
    """Open the app on a store; a folder that was made for nothing is taken away again."""
    was_there = is_there(store)
    while (code := session.open_app(store, origin=origin, begin=begin)) == TRY_DEMO:
        _try_demo(session)
    if not was_there:
        with contextlib.suppress(OSError):
            store.rmdir()
        if origin == "option":
            say_made(store)
    return code


def _welcome(session: Session, welcome: Welcome, store: Path) -> int:
    """Ask what to do where there is no store, and do that."""
    first = _first_run(session, store)
    step = welcome(first)
    if step is None:
        say("Nothing was written. `workbench` asks again; `workbench --help` lists the commands.")
        return 0
    if step.choice == "demo":
        return _try_demo(session)
    if step.choice == "recent" and step.folder is not None:
        return _open(session, step.folder, "recent")
    imports = "stream.begin" if _lies_beside(first.here) else "app.import"
    begin = imports if step.choice == "import" else ""
    if step.choice == "project" or (step.choice == "import" and first.is_project):
        from workbench.services.folder import make_store as make_empty

        made = first.here / paths.PROJECT_STORE
        make_empty(made, session.clock, shared=False)
        return _open(session, made, "project", begin)
    return _open(session, store, "global", begin)


def _first_run(session: Session, store: Path) -> FirstRun:
    """Look at the place that the workbench was started in; nothing is made."""
    here = session.cwd.resolve()
    closed = "" if os.access(here, os.W_OK | os.X_OK) else "it is not writable"
    others = [one for one in recent.recent(paths.state_dir()) if _holds_store(one)]
    is_home = _is_home(here)
    is_project = not (closed or is_home) and ((here / ".git").exists() or _lies_beside(here))
    return FirstRun(here, store, is_home, closed, tuple(others[:_RECENT]), is_project)


def _lies_beside(folder: Path) -> bool:
    """Tell whether files of agents lie in a folder."""
    from workbench.services.folder import beside

    return bool(beside(folder, 1))


def _holds_store(folder: Path) -> bool:
    from workbench.services.folder import holds_store

    with contextlib.suppress(StoreProblem):
        return holds_store(folder)
    return False


def _is_home(folder: Path) -> bool:
    with contextlib.suppress(RuntimeError, OSError):
        return folder == Path.home().resolve()
    return False


def open_demo(call: Call) -> Answer:
    """Open the app on a temporary demo store, or make a lasting one."""
    session, into = call.session, call.args.into
    if call.args.store is not None:
        raise WorkbenchError(
            "The demo creates its own store.", "Use --into DIR to choose the folder."
        )
    if into is not None:
        return _make_demo(session, into)
    _require_terminal()
    with asked_to_end(sys.exit):
        return Answer(code=_try_demo(session))


def _try_demo(session: Session) -> int:
    """Open the app on a temporary demo store."""
    with (
        demo_store(session) as (store, project),
        contextlib.chdir(project),
    ):  # files are named from there
        return session.open_app(store, origin="demo", demo=True)


@contextlib.contextmanager
def demo_store(session: Session) -> Iterator[tuple[Path, Path]]:
    """Make a temporary demo store; return its folder and that of its scratch project."""
    from workbench.services.demo import demo_folder

    with demo_folder() as folder:
        store = folder / "demo"
        try:
            yield store, _fill(session, store)
        finally:
            _forget(session, store)


def make_store(call: Call) -> Answer:
    """Make an empty store where none is."""
    from workbench.services.folder import make_store as make_empty

    args, session = call.args, call.session
    if args.store is not None and args.dir is not None:
        raise WorkbenchError("Name DIR or --store, not both.", "Nothing was created.")
    place = args.store or (args.dir or Path()) / paths.PROJECT_STORE
    made = paths.find_store(session.cwd, place).folder
    make_empty(made, session.clock, shared=args.shared)
    shared = "It can be committed: git tracks its journal and ignores caches, locks and drafts."
    said = shared if args.shared else "Git ignores it."
    return Answer({"store": made, "shared": args.shared}, [f"The store is in {made}.", said])


def _make_demo(session: Session, into: Path) -> Answer:
    folder = paths.find_store(session.cwd, into).folder
    try:
        taken = folder.exists() and any(folder.iterdir())
    except OSError as error:
        raise StoreProblem(
            f"{folder} cannot be read: {error.strerror}.", "Nothing was changed."
        ) from error
    if taken:
        raise StoreProblem(
            f"{folder} is not empty.", "Nothing was changed; name a new or empty folder."
        )
    project = _fill(session, folder)
    return Answer(
        lines=[
            f"The demo store is in {folder}.",
            f"Open it with: workbench --store {folder}",
            f"What you promote goes into its scratch project, {project}.",
        ]
    )


def _fill(session: Session, folder: Path) -> Path:
    """Fill a demo store and return the folder of its scratch project."""
    from workbench.services.demo import fill, lay_out, surround

    bench, shipped = session.open(folder), paths.shipped("fixtures/demo")
    fill(bench, shipped)
    surround(bench, shipped, folder / "documents")
    project = lay_out(bench, shipped)
    bench.close()
    return project


def _forget(session: Session, folder: Path) -> None:
    from workbench.services.demo import forget

    with contextlib.suppress(
        WorkbenchError
    ):  # what is left of it is a few lines about a folder that is gone
        forget(session.open(folder, remarks=False))


def _require_terminal() -> None:
    if not asks():
        hint = "Run it in a terminal, or use a command: see “workbench --help”."
        raise WorkbenchError("The app needs a terminal.", hint)


OPTIONS: Mapping[str, Option] = {
    "dir": value("DIR", "the project's folder (otherwise: here)", type=folder),
    "--shared": flag("create a store to commit with the project"),
    "--into": value("DIR", "create the demo store in this new or empty folder", type=Path),
}

VERBS = (
    Verb("init", make_store, "create a store here", "dir? --shared --json", _INIT, None, unopened),
    Verb("demo", open_demo, "open a demo store", "--into", _DEMO, "--into ~/try-it", unopened),
)  # fmt: skip
