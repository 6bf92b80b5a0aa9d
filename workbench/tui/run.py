"""Starts the app over a store: the composition root of the terminal door."""

from collections.abc import Iterator
from pathlib import Path

from workbench import config, drafts, paths, recent
from workbench.bench.workbench import open_workbench
from workbench.store.journal import utc_now
from workbench.tui.app import AppOptions, WorkbenchApp
from workbench.tui.keymap import check_keymap
from workbench.tui.themes import load_themes

PROFILES = "profiles"
THEMES = "themes"


def run(store: Path, *, origin: str = "option", demo: bool = False) -> int:
    """Open the app on a store, and on the next one whenever the person switches; return the exit code."""
    title = "demo" if demo else title_of(store, origin)
    chosen, code = _run_once(store, title, remember=not demo)
    while chosen is not None and not code:
        chosen, code = _run_once(chosen, title_of(chosen, "option"), remember=True)
    return code


def title_of(store: Path, origin: str) -> str:
    """Name a store: a project's by its folder, the global one as such, another by its path."""
    if origin == "global" or store == paths.data_dir() / "store":
        return "global"
    return store.parent.name if store.name == paths.PROJECT_STORE else store.name


def _run_once(store: Path, title: str, *, remember: bool) -> tuple[Path | None, int]:
    """Open one store; return the one to open next, and the exit code (not 0 when the app broke off)."""
    folder = paths.config_dir()
    loaded = config.load(folder / config.FILE_NAME)
    themes = load_themes((paths.shipped("themes"), folder / THEMES))
    keymap = check_keymap(loaded.settings.keys)
    state = paths.state_dir()
    look = recent.last_look(state, store)
    typed = drafts.folder_of(state, store)
    bench = open_workbench(store, profiles=folder / PROFILES, settings=loaded.settings, given=loaded.given)
    options = AppOptions(
        title=title,
        theme=loaded.settings.theme if "theme" in loaded.given else recent.last_theme(state) or loaded.settings.theme,
        themes=themes.themes,
        keymap=tuple(keymap.keys.items()),
        seen=look.rev if look else None,
        problems=(*loaded.problems, *themes.problems, *keymap.problems, *_left(typed, look)),
        recent=(*recent.recent(state), paths.data_dir() / "store"),
        editor=loaded.settings.editor,
        config=folder / config.FILE_NAME if remember else None,
        review_at=recent.last_item(state, store),
        drafts=typed if remember else None,
    )
    app = WorkbenchApp(bench, options)
    try:
        return app.run(), app.return_code or 0
    finally:
        if app.theme != options.theme:
            recent.remember_theme(state, app.theme)
        if remember:
            recent.remember(state, store, bench.library.journal.rev, utc_now(), app.review_at)
        bench.close()


def _left(folder: Path, look: recent.Look | None) -> Iterator[str]:
    """Say what was being typed when the app was stopped, once."""
    records = [record.partition("/") for record in drafts.since(folder, look.at if look else None)]
    names = [key if table in ("memories", "bullets") else "a text" for table, _, key in records]
    if names:
        more = f" and {len(names) - 1} more" if len(names) > 1 else ""
        yield f"You were editing {names[0]}{more} when the app was stopped: e there brings back what you typed."
