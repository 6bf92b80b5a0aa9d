"""Starts the app over a store: the composition root of the terminal door."""

import os
import selectors
import shutil
import signal
import sys
from codecs import getincrementaldecoder
from collections.abc import Iterable, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from signal import Signals
from typing import IO, Any, NamedTuple, cast

from textual._parser import ParseError
from textual._xterm_parser import XTermParser
from textual.drivers.linux_driver import LinuxDriver
from textual.events import Paste
from textual.message import Message

from workbench.config import drafts, loading, paths, recent
from workbench.core.agents.actors import agent_in
from workbench.core.files.locks import Holder, Patience, waiting, who
from workbench.core.record import StoreProblem
from workbench.core.runtime import share_memory
from workbench.services.agents.documents.places import DocumentPlaces
from workbench.services.context import PERSON
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
"""Seconds that the first screen has the machine to itself, and again after each key that comes before they are over."""

TURN = 0.001
"""Seconds after which another thread lets the screen's go on; Python's own is five times that, several times a key."""

CLOSING = 5.0
"""Seconds that closing waits for another process to let go of the store."""


class Next(NamedTuple):
    """A store to open next: in the present, or as it was right after revision `at`."""

    store: Path
    at: int | None = None


class View(NamedTuple):
    """A store to show: what it is called, why it is the open one, and whether it is remembered that it was open.

    With `at` it is the store as it was right after that revision; `begin` is the id of the action that it begins with.
    """

    store: Path
    title: str
    why: str
    remember: bool = True
    at: int | None = None
    begin: str = ""


def run(store: Path, *, origin: str = "option", demo: bool = False, begin: str = "", at: int | None = None) -> int:
    """Open the app on a store, and on the next one whenever the person switches; return the exit code.

    `begin` is the id of the action that it begins with; with `at` it is the store as it was right after that revision.
    """
    share_memory()
    title, why = "demo" if demo else title_of(store, origin), _WHY.get("demo" if demo else origin, "")
    views: tuple[View, ...] = (View(store, title, why, not demo, at, begin),)
    while views:
        chosen, code = _run_once(views[-1], returns=len(views) > 1)
        if code:
            return code
        views = after(views, chosen)
    return 0


def after(views: tuple[View, ...], chosen: Next | None) -> tuple[View, ...]:
    """Return the views when one was left for what was chosen there: the last is shown next, none ends the app.

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
    return store.parent.name if store.name == paths.PROJECT_STORE else store.name


def _run_once(view: View, *, returns: bool) -> tuple[Next | None, int]:
    """Open one store; return what to open next, and the exit code (not 0 when the app broke off).

    Where one looks back nothing is remembered but the theme; `returns` says that leaving goes back to the present.
    """
    loaded = loading.load(paths.config_dir() / loading.FILE_NAME)
    state, store, remember = paths.state_dir(), view.store, view.remember and view.at is None
    options = _options(view, loaded, remember=remember, returns=returns)
    bench = _opened(view, loaded)
    app = WorkbenchApp(bench, options)
    sys.setswitchinterval(TURN)
    try:
        chosen = run_in_order(app)
        return None if chosen is None else Next(chosen, app.next_at), app.return_code or 0
    finally:
        _tell(app.last_words or _ended_by(app.return_code or 0))
        if app.theme != app.theme_at_start:
            recent.remember_theme(state, app.theme)
        if remember:
            recent.remember(state, store, bench.library.revision, bench.context.now(), app.review_at)
        _close(bench)


def _options(view: View, loaded: loading.Loaded, *, remember: bool, returns: bool) -> AppOptions:
    folder, state, store = paths.config_dir(), paths.state_dir(), view.store
    themes = load_themes((paths.shipped("themes"), folder / THEMES))
    keymap = check_keymap(loaded.settings.keys)
    look = recent.last_look(state, store)
    typed = drafts.folder_of(state, store)
    left = () if view.at is not None else _left(typed, look)
    theme = loaded.settings.theme if "theme" in loaded.given else recent.last_theme(state) or loaded.settings.theme
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
        review_at=recent.last_item(state, store),
        drafts=typed if remember else None,
        alone=ALONE,
        begin=view.begin,
        returns=returns,
        scratch=not view.remember,
    )


def _absent(view: View) -> list[str]:
    """Say that the store that was named is none yet: it may be a typo."""
    if view.why != _WHY["option"] or view.at is not None:
        return []
    with suppress(StoreProblem):
        if not holds_store(view.store):
            return [f"There is no store in {view.store} yet. It is created with the first memory."]
    return []


def _close(bench: Workbench) -> None:
    """Write the checkpoint, if the store lets us within a few seconds; what was done is safe in the journal anyway."""

    def tell(holder: Holder | None) -> None:
        said = f"waiting up to {CLOSING:.0f} seconds to write a checkpoint. What you did is stored already."
        _tell(f"workbench: {who(holder)} is writing to the store; {said}\n")

    with waiting(Patience(CLOSING, waits_for=tell)):
        bench.close()


def _ended_by(code: int) -> str:
    """Say which signal the app was ended by, if it was one."""
    return f"workbench: ended by {Signals(code - 128).name}. What was stored is safe.\n" if code > 128 else ""


def _tell(text: str) -> None:
    """Write to the terminal, which may be closed: then nobody is there to be told."""
    with suppress(OSError):
        sys.stderr.write(text)


def _opened(view: View, loaded: loading.Loaded) -> Workbench:
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
    """Return the folder of a person's own profiles; a demo has copies of them, to which it adds its own.

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
        yield f"This runs inside {agent}: what is done here counts as its work, not as your approval."


def _left(folder: Path, look: recent.Look | None) -> Iterator[str]:
    """Say what was being typed when the app was stopped, once."""
    records = [record.partition("/") for record in drafts.since(folder, look.at if look else None)]
    names = [key if table in ("memories", "bullets") else "a text" for table, _, key in records]
    if names:
        more = f" and {len(names) - 1} more" if len(names) > 1 else ""
        yield f"You were editing {names[0]}{more} when the app was stopped: e there brings back what you typed."


# Reading the keyboard: whatever a paste holds, it is one paste, and never ends the app.


MOST = 4096
"""Bytes that are read at once."""

WAIT_S = 0.1
"""Seconds between two looks at whether the app ends, and after which a lone escape counts as a key."""

BEGIN, END = "\x1b[200~", "\x1b[201~"
"""The marks of a bracketed paste."""

_CUT = ("\x1b[2", "\x1b[20", "\x1b[200")
"""Beginnings of a mark that are no sequence by themselves, so that they can wait for the rest."""


class Pastes:
    """Parts what a terminal sends into pastes, and the rest, which is keys, the mouse and answers."""

    def __init__(self) -> None:
        self._held = ""
        self._pasting = False

    def feed(self, text: str) -> Iterator[str | Paste]:
        """Yield the parts of a text in order; what may belong to a mark waits for the next text."""
        text, self._held = self._held + text, ""
        while text:
            before, mark, after = text.partition(END if self._pasting else BEGIN)
            if not mark:
                yield from self._rest(text)
                return
            if self._pasting:
                yield Paste(before.replace("\x00", ""))
            elif before:
                yield before
            self._pasting, text = not self._pasting, after

    def _rest(self, text: str) -> Iterator[str]:
        """Keep an open paste, or the beginning of a mark; yield everything else."""
        cut = next((start for start in _CUT if text.endswith(start)), "")
        self._held = text if self._pasting else cut
        ready = "" if self._pasting else text.removesuffix(cut)
        if ready:
            yield ready


class ForgivingOutput:
    """The terminal as a file, which may be closed: what is painted then goes nowhere, and hinders nobody.

    An error here would end the thread that writes, and whoever paints would wait for it for ever.
    """

    def __init__(self, file: IO[str]) -> None:
        self._file = file

    def write(self, text: str) -> int:
        with suppress(OSError, ValueError):  # the latter: it is closed on this side
            return self._file.write(text)
        return len(text)

    def flush(self) -> None:
        """Send what was written, if somebody is there."""
        with suppress(OSError, ValueError):
            self._file.flush()

    def fileno(self) -> int:
        return self._file.fileno()


class ForgivingDriver(LinuxDriver):
    """The driver of Linux and macOS, which takes any bytes, and goes on when the terminal is gone."""

    def start_application_mode(self) -> None:
        """Take the terminal over."""
        self._file = cast("Any", ForgivingOutput(sys.__stderr__ or sys.stderr))
        super().start_application_mode()  # type: ignore[no-untyped-call]

    def run_input_thread(self) -> None:
        """Hand on keys, pastes and the mouse until the app ends."""
        parser, pastes = XTermParser(self._debug), Pastes()
        decode = getincrementaldecoder("utf-8")("replace").decode
        with selectors.SelectSelector() as selector:
            selector.register(self.fileno, selectors.EVENT_READ)
            while not self.exit_event.is_set():
                if selector.select(WAIT_S):
                    if (data := self._typed()) is None:
                        self._leave()
                        break
                    self._hand_on(message for part in pastes.feed(decode(data)) for message in _messages(parser, part))
                self._hand_on(parser.tick())
        with suppress(EOFError, ParseError):
            self._hand_on(parser.feed(""))

    def _typed(self) -> bytes | None:
        """Return what there is to read; `None` when the terminal is gone, which says so in one of two ways."""
        try:
            return os.read(self.fileno, MOST) or None
        except BlockingIOError:
            return b""
        except OSError:
            return None

    def _leave(self) -> None:
        """End as at a hang-up, which whoever started the app may have had ignored: nobody can see or type any more."""
        self._loop.call_soon_threadsafe(partial(self._app.exit, None, 128 + signal.SIGHUP))

    def _hand_on(self, messages: Iterable[Message]) -> None:
        for message in messages:
            self.process_message(message)


def _messages(parser: XTermParser, part: str | Paste) -> Iterator[Message]:
    if isinstance(part, Paste):
        yield part
    else:
        yield from parser.feed(part)
