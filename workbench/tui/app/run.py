"""Starts the app over a store: the composition root of the terminal door."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path

from workbench.bench.agents.documents.places import DocumentPlaces
from workbench.bench.context import PERSON
from workbench.bench.open import Workbench, open_workbench
from workbench.config import drafts, loading, paths, recent, told
from workbench.core.agents.actors import agent_in
from workbench.core.waiting import Holder, Patience, waiting, who
from workbench.tui.app.app import WorkbenchApp
from workbench.tui.app.host import AppOptions
from workbench.tui.app.keymap import check_keymap
from workbench.tui.app.themes import load_themes

PROFILES = "profiles"
THEMES = "themes"

ALONE = 0.15
"""Seconds that the first screen has the machine to itself, and again after each key that comes before they are over."""

TURN = 0.001
"""Seconds after which another thread lets the screen's go on; Python's own is five times that, several times a key."""

CLOSING = 5.0
"""Seconds that closing waits for another process to let go of the store."""


def run(store: Path, *, origin: str = "option", demo: bool = False, begin: str = "") -> int:
    """Open the app on a store, and on the next one whenever the person switches; return the exit code.

    `begin` is the id of the action that it begins with.
    """
    title = "demo" if demo else title_of(store, origin)
    chosen, code = _run_once(store, title, _WHY.get("demo" if demo else origin, ""), remember=not demo, begin=begin)
    while chosen is not None and not code:
        chosen, code = _run_once(chosen, title_of(chosen, "option"), _CHOSEN, remember=True)
    return code


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
    return store.parent.name if store.name == paths.PROJECT_STORE else store.name


def _run_once(store: Path, title: str, why: str, *, remember: bool, begin: str = "") -> tuple[Path | None, int]:
    """Open one store; return the one to open next, and the exit code (not 0 when the app broke off)."""
    folder = paths.config_dir()
    loaded = loading.load(folder / loading.FILE_NAME)
    themes = load_themes((paths.shipped("themes"), folder / THEMES))
    keymap = check_keymap(loaded.settings.keys)
    state = paths.state_dir()
    look = recent.last_look(state, store)
    typed = drafts.folder_of(state, store)
    bench = _opened(store, loaded)
    new = [said] if remember and (said := told.new_default(loaded, state)) else []
    options = AppOptions(
        title=title,
        why=why,
        theme=loaded.settings.theme if "theme" in loaded.given else recent.last_theme(state) or loaded.settings.theme,
        themes=themes.themes,
        keymap=tuple(keymap.keys.items()),
        seen=look.rev if look else None,
        problems=(*loaded.problems, *themes.problems, *keymap.problems, *_agent(), *_left(typed, look), *new),
        recent=(*recent.recent(state), paths.data_dir() / "store"),
        editor=loaded.settings.editor,
        config=folder / loading.FILE_NAME if remember else None,
        review_at=recent.last_item(state, store),
        drafts=typed if remember else None,
        alone=ALONE,
        begin=begin,
    )
    app = WorkbenchApp(bench, options)
    sys.setswitchinterval(TURN)
    try:
        return app.run(), app.return_code or 0
    finally:
        sys.stderr.write(app.last_words)
        if app.theme != app.theme_at_start:
            recent.remember_theme(state, app.theme)
        if remember:
            recent.remember(state, store, bench.library.revision, bench.context.now(), app.review_at)
        _close(bench)


def _close(bench: Workbench) -> None:
    """Write the checkpoint, if the store lets us within a few seconds; what was done is safe in the journal anyway."""

    def tell(holder: Holder | None) -> None:
        said = f"waiting up to {CLOSING:.0f} seconds to write a checkpoint. What you did is stored already."
        sys.stderr.write(f"workbench: {who(holder)} is writing to the store; {said}\n")

    with waiting(Patience(CLOSING, waits_for=tell)):
        bench.close()


def _opened(store: Path, loaded: loading.Loaded) -> Workbench:
    return open_workbench(
        store,
        profiles=paths.config_dir() / PROFILES,
        replaced=paths.replaced_dir(),
        cache=paths.cache_dir(),
        settings=loaded.settings,
        given=loaded.given,
        actor=f"agent:{agent}" if (agent := agent_in(os.environ)) else PERSON,
        heads=paths.heads_dir(),
        believed=paths.is_believed(store),
        documents=DocumentPlaces(paths.documents_dir(), None, paths.sessions_dir()),
    )


def _agent() -> Iterator[str]:
    """Say that an agent started the app: it can reach the keys as well as a person."""
    if agent := agent_in(os.environ):
        yield f"This runs inside {agent}: what is done here counts as its work, and is nobody's approval."


def _left(folder: Path, look: recent.Look | None) -> Iterator[str]:
    """Say what was being typed when the app was stopped, once."""
    records = [record.partition("/") for record in drafts.since(folder, look.at if look else None)]
    names = [key if table in ("memories", "bullets") else "a text" for table, _, key in records]
    if names:
        more = f" and {len(names) - 1} more" if len(names) > 1 else ""
        yield f"You were editing {names[0]}{more} when the app was stopped: e there brings back what you typed."
