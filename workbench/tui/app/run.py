"""Starts the app over a store: the composition root of the terminal door."""

import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from signal import Signals
from typing import NamedTuple

from workbench.config import drafts, loading, paths, recent
from workbench.core.agents.actors import agent_in
from workbench.core.files.locks import Holder, Patience, waiting, who
from workbench.core.record import StoreProblem
from workbench.core.runtime import share_memory
from workbench.core.team import hidden_store, shown
from workbench.services.context import PERSON, DocumentPlaces
from workbench.services.folder import holds_store
from workbench.services.open import Workbench, open_workbench
from workbench.tui.app.app import WorkbenchApp
from workbench.tui.app.areas import check_keymap
from workbench.tui.app.host import AppOptions
from workbench.tui.app.themes import load_themes, unknown_theme
from workbench.tui.app.waiting import run_in_order

PROFILES = "profiles"
THEMES = "themes"

ALONE = 0.15
"""Seconds that the first screen has the machine to itself, and again after each key that comes
before they are over.
"""

TURN = 0.001
"""Seconds after which another thread lets the screen's go on; Python's own is five times that,
several times a key.
"""

CLOSING = 5.0
"""Seconds that closing waits for another process to let go of the store."""


class Next(NamedTuple):
    """A store to open next: in the present, or as it was right after revision `at`."""

    store: Path
    at: int | None = None


class View(NamedTuple):
    """A store to show: what it is called, why it is the open one, and whether it is remembered that
    it was open.

    With `at` it is the store as it was right after that revision; `begin` is the id of the action
    that it begins with.
    """

    store: Path
    title: str
    why: str
    remember: bool = True
    at: int | None = None
    begin: str = ""


def run(
    store: Path,
    *,
    origin: str = "option",
    demo: bool = False,
    begin: str = "",
    at: int | None = None,
) -> int:
    """Open the app on a store, and on the next one whenever the person switches; return the exit
    code.

    `begin` is the id of the action that it begins with; with `at` it is the store as it was right
    after that revision.
    """
    share_memory()
    title, why = (
        "demo" if demo else title_of(store, origin),
        _WHY.get("demo" if demo else origin, ""),
    )
    views: tuple[View, ...] = (View(store, title, why, not demo, at, begin),)
    while views:
        chosen, code = _run_once(views[-1], returns=len(views) > 1)
        if code:
            return code
        views = after(views, chosen)
    return 0


def after(views: tuple[View, ...], chosen: Next | None) -> tuple[View, ...]:
    """Return the views when one was left for what was chosen there: the last is shown next, none
    ends the app.

    Whoever looked back comes back to the store as it is now.
    """
    here = views[-1]._replace(begin="")
    if chosen is None:
        return tuple(view._replace(begin="") for view in views[:-1])
    if chosen.store != here.store:
        return (View(chosen.store, title_of(chosen.store, "option"), _CHOSEN),)
    now = tuple(view._replace(begin="") for view in views if view.at is None)
    if chosen.at is None:
        return now or (here._replace(at=None),)
    return (*now, here._replace(at=chosen.at))


_WHY = {
    "demo": "nothing is kept; files go to a scratch project",
    "project": "this project's",
    "global": "no project here",
    "option": "by --store",
    "recent": "chosen here",
}
"""Why a store is the open one, by the way it was found."""

_CHOSEN = _WHY["recent"]


def title_of(store: Path, origin: str) -> str:
    """Name a store: a project's by its folder, the global one as such, another by its path."""
    if origin == "global" or store == paths.data_dir() / "store":
        return "global"
    if address := paths.team_address(store):
        return f"team · {shown(address)}"
    return store.parent.name if store.name == paths.PROJECT_STORE else store.name


def _run_once(view: View, *, returns: bool) -> tuple[Next | None, int]:
    """Open one store; return what to open next, and the exit code (not 0 when the app broke off).

    Where one looks back nothing is remembered but the theme; `returns` says that leaving goes back
    to the present.
    """
    loaded = loading.load(paths.config_dir() / loading.FILE_NAME)
    state, store, remember = paths.state_dir(), view.store, view.remember and view.at is None
    options = _options(view, loaded, remember=remember, returns=returns)
    bench = _opened(view, loaded)
    bench.library.follow()
    app = WorkbenchApp(bench, options)
    sys.setswitchinterval(TURN)
    try:
        chosen = run_in_order(app)
        return None if chosen is None else Next(chosen, app.next_at), app.return_code or 0
    finally:
        _tell(app.last_words or _ended_by(app.return_code or 0))
        if app.theme != app.theme_at_start:
            recent.remember_theme(state, app.theme)
        if app.panes != options.panes:
            recent.remember_panes(state, app.panes)
        if remember:
            recent.remember(
                state, store, bench.library.revision, bench.context.now(), app.review_at
            )
        _close(bench)


def _options(view: View, loaded: loading.Loaded, *, remember: bool, returns: bool) -> AppOptions:
    folder, state, store = paths.config_dir(), paths.state_dir(), view.store
    themes = load_themes((paths.shipped("themes"), folder / THEMES))
    keymap = check_keymap(loaded.settings.keys)
    look = recent.last_look(state, store)
    typed = drafts.folder_of(state, store)
    left = () if view.at is not None else _left(typed, look)
    theme = (
        loaded.settings.theme
        if "theme" in loaded.given
        else recent.last_theme(state) or loaded.settings.theme
    )
    missing, given = unknown_theme(theme, themes.themes), "theme" in loaded.given
    return AppOptions(
        title=view.title,
        why=view.why,
        theme=theme,
        themes=themes.themes,
        keymap=tuple(keymap.keys.items()),
        seen=look.rev if look and view.at is None else None,
        given_theme=theme if given else None,
        faults=(*loaded.problems, *themes.problems, *keymap.problems, *(missing if given else ())),
        problems=(*_absent(view), *_agent(), *left, *(() if given else missing)),
        recent=(*recent.recent(state), paths.data_dir() / "store"),
        editor=loaded.settings.editor,
        config=folder / loading.FILE_NAME if view.remember else None,
        demo_config=None if view.remember else _copied_config(view.store.parent),
        review_at=recent.last_item(state, store),
        drafts=typed if remember else None,
        alone=ALONE,
        begin=view.begin,
        returns=returns,
        scratch=not view.remember,
        panes=recent.last_panes(state),
    )


def _copied_config(folder: Path) -> Path:
    """Copy the settings into the folder of a demo, where they can be changed for the sitting."""
    copy = folder / loading.FILE_NAME
    with suppress(OSError):  # there are none yet
        copy.write_bytes((paths.config_dir() / loading.FILE_NAME).read_bytes())
    return copy


def _absent(view: View) -> list[str]:
    """Say that the store that was named is none yet, which may be a typo; and which one is hidden."""
    if view.at is not None:
        return []
    with suppress(StoreProblem):
        if view.why == _WHY["project"]:
            hidden = paths.find_store(Path.cwd()).hidden
            return [] if hidden is None else [hidden_store(hidden)]
        if view.why != _WHY["option"]:
            return []
        if not holds_store(view.store):
            return [f"There is no store in {view.store} yet. It is created with the first memory."]
    return []


def _close(bench: Workbench) -> None:
    """Write the checkpoint, if the store lets us within a few seconds; what was done is safe in the
    journal anyway.
    """

    def tell(holder: Holder | None) -> None:
        said = f"waiting up to {CLOSING:.0f} seconds to write a checkpoint. Your changes are already stored."
        _tell(f"workbench: {who(holder)} is writing to the store; {said}\n")

    with waiting(Patience(CLOSING, waits_for=tell)):
        bench.close()


def _ended_by(code: int) -> str:
    """Say which signal the app was ended by, if it was one."""
    return (
        f"workbench: ended by {Signals(code - 128).name}. Stored data is safe.\n"
        if code > 128
        else ""
    )


def _tell(text: str) -> None:
    """Write to the terminal, which may be closed: then nobody is there to be told."""
    with suppress(OSError):
        sys.stderr.write(text)


def _opened(view: View, loaded: loading.Loaded) -> Workbench:
    if paths.team_address(view.store) and not (view.store / "journal.jsonl").exists():
        _tell("workbench: copying the team's store to this machine; this is done once.\n")
    return open_workbench(
        view.store,
        profiles=profiles_of(view),
        replaced=paths.replaced_dir(),
        cache=paths.cache_dir(),
        settings=loaded.settings,
        given=loaded.given,
        actor=f"agent:{agent}" if (agent := agent_in(os.environ)) else PERSON,
        heads=paths.heads_dir(),
        believed=paths.is_believed(view.store),
        documents=DocumentPlaces(paths.documents_dir(), None, paths.sessions_dir()),
        at=view.at,
    )


def profiles_of(view: View) -> Path:
    """Return the folder of a person's own profiles; a demo has copies of them, to which it adds its
    own.

    Those go with the demo, beside whose store they are.
    """
    own = paths.config_dir() / PROFILES
    if view.remember:
        return own
    copies = view.store.parent / PROFILES
    if own.is_dir() and not copies.exists():
        with suppress(OSError, shutil.Error):
            shutil.copytree(own, copies)
    return copies


def _agent() -> Iterator[str]:
    """Say that an agent started the app: it can reach the keys as well as a person."""
    if agent := agent_in(os.environ):
        yield f"This runs inside {agent}: what you do here counts as its work, not as your approval."


def _left(folder: Path, look: recent.Look | None) -> Iterator[str]:
    """Say what was being typed when the app was stopped, once."""
    records = [record.partition("/") for record in drafts.since(folder, look.at if look else None)]
    names = [key if table in ("memories", "bullets") else "a text" for table, _, key in records]
    if names:
        more = f" and {len(names) - 1} more" if len(names) > 1 else ""
        yield f"You were editing {names[0]}{more} when the app was stopped: e there brings back what you typed."
