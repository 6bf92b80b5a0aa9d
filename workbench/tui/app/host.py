"""The app as its areas and dialogs know it: the open store, what is said, and what waits for other writers."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from types import MappingProxyType
from typing import Any
from weakref import WeakKeyDictionary

from textual import events
from textual.app import App
from textual.filter import LineFilter
from textual.message import Message
from textual.message_pump import MessagePump
from textual.screen import Screen
from textual.theme import Theme
from textual.timer import Timer
from textual.widgets import Input, TextArea

from workbench.config import drafts
from workbench.config.drafts import Draft, Item
from workbench.core.files.locks import waiting
from workbench.core.record import WorkbenchError
from workbench.core.text import printable
from workbench.services.open import Workbench
from workbench.streams import takes_marks
from workbench.tui.app.actions import GLOBAL, remapped
from workbench.tui.app.surviving import survives
from workbench.tui.app.waiting import Change, ThreadWaits, Waits
from workbench.tui.widgets.dialog import KeysLine
from workbench.tui.widgets.figures import absolute
from workbench.tui.widgets.footer import KeyBar
from workbench.tui.widgets.lists.in_order import InOrder
from workbench.tui.widgets.lists.line_list import LineList
from workbench.tui.widgets.texts.safe_input import FilterInput, SafeInput

# The draft of one text that is edited: kept while somebody types, offered again after the app was stopped.


NO_FIELDS: Mapping[str, tuple[str, str]] = MappingProxyType({})

SECONDS = 1.0
"""How long typed text is in danger at most."""


@dataclass(frozen=True, slots=True)
class Drafting:
    """Keeps the draft of one item in a folder; without a folder (`None`) there are no drafts at all."""

    folder: Path | None
    item: Item
    clock: Callable[[], datetime]

    @property
    def wanted(self) -> bool:
        return self.folder is not None

    def find(self) -> Draft | None:
        """Return what was typed before the app was stopped, if anything was."""
        return None if self.folder is None else drafts.find(self.folder, self.item)

    def keep(self, text: str, base: str, fields: Mapping[str, tuple[str, str]] = NO_FIELDS) -> str:
        """Keep what is typed in place of the text with the digest `base`; return why that failed, or nothing.

        `fields` is what is typed into others beside it; see `Draft`.
        """
        if self.folder is None:
            return ""
        return drafts.keep(self.folder, self.item, Draft(text, base, self.clock(), fields))

    def drop(self) -> None:
        """Let go of the draft."""
        if self.folder is not None:
            drafts.drop(self.folder, self.item)


class Keeping:
    """Keeps the draft of what is typed in a dialog: a moment after the first key, and again while more is typed.

    `keep` does it. Nothing is kept where there is no draft to keep.
    """

    def __init__(self, dialog: MessagePump, draft: Drafting | None, keep: Callable[[], None]) -> None:
        self._dialog, self._draft, self._keep = dialog, draft, keep
        self._due: Timer | None = None

    def soon(self) -> None:
        if self._draft is not None and self._draft.wanted and self._due is None:
            self._due = self._dialog.set_timer(SECONDS, self._now)

    def at_the_end(self) -> None:
        """Keep at once what waits to be kept: the app ends in mid-edit."""
        if self._due is not None:
            self._now()

    def let_go(self) -> None:
        """Drop the draft: it has done its duty."""
        if self._due is not None:
            self._due.stop()
            self._due = None
        if self._draft is not None:
            self._draft.drop()

    def _now(self) -> None:
        self._due = None
        self._keep()


@dataclass(frozen=True, slots=True)
class AppOptions:
    """What the app is started with.

    `title` names the store, `why` says why it is the open one; `config` is the settings' file that a dialog may write
    to; `seen` is the revision at the last look (`None`: never looked);
    `problems` are sentences to show at the start, `faults` those about the person's settings, which stay until they are
    mended; `given_theme` is the theme that the settings name (`None`: they name none);
    `review_at` is the id that Review showed last;
    `drafts` is the folder for what is being typed (`None`: it is not kept); for `alone` seconds after the last key the
    first screen has the machine to itself, before all else is loaded. `begin` is the id of the action that it begins
    with (empty: none). `returns` says that leaving goes back to the store as it is now; `scratch`, that the folder it
    works in goes when it ends.
    """

    title: str
    theme: str = ""
    themes: tuple[Theme, ...] = ()
    keymap: tuple[tuple[str, str], ...] = ()
    seen: int | None = None
    problems: tuple[str, ...] = ()
    faults: tuple[str, ...] = ()
    given_theme: str | None = None
    recent: tuple[Path, ...] = ()
    editor: str = ""
    config: Path | None = None
    review_at: str = ""
    drafts: Path | None = None
    why: str = ""
    alone: float = 0.0
    begin: str = ""
    returns: bool = False
    scratch: bool = False


class LookBack(Message):
    """Somebody wants to look at the whole store as it was right after a revision."""

    def __init__(self, rev: int) -> None:
        super().__init__()
        self.rev = rev


FIELD_MOVES = frozenset(("part", "next_part", "app.focus_next", "app.focus_previous"))
"""Actions of keys that go from field to field, and do nothing else."""

FIELD_OPENERS = frozenset(("search", "query", "find", "task"))
"""Actions of keys that go from a list into a field, and do nothing else."""


@survives
class Host(App[Path | None]):
    """What an area or a dialog may ask of the app, which knows them all; they know this only.

    `news` is what an agent does, in several wordings, the longest first; `paused` whether what others write waits.
    `loading` is how many of the texts are ready to search while that takes long, `writes_much` whether a dialog writes
    so much that areas wait, `review_at` the id that Review showed last, `store_is_gone` whether the store was missed,
    `next_at` the revision at which the store that comes next is to be shown (`None`: as it is then).
    """

    def __init__(self, bench: Workbench, options: AppOptions) -> None:
        self.waits = Waits(self, self.say, self.show_urgent)
        super().__init__()
        self.bench = bench
        self.options = options
        self._in_order = [InOrder()] if takes_marks() else []
        self.loading: tuple[int, int] | None = None
        self.writes_much = False
        self.news: tuple[str, ...] = ()
        self.paused = False
        self.review_at = options.review_at
        self.store_is_gone = False
        self.next_at: int | None = None
        self._entered: SafeInput | None = None
        self._ahead: list[events.Key] = []
        self._opening: Screen[Any] | None = None
        self._given: WeakKeyDictionary[events.Key, Screen[Any]] = WeakKeyDictionary()

    def get_line_filters(self) -> Sequence[LineFilter]:
        """Return what drawn lines pass through."""
        return [*super().get_line_filters(), *self._in_order]

    @property
    def title_shown(self) -> str:
        """Name the store, and say so while it is not trusted or can only be read."""
        return f"{self._state} · {self.options.title}" if self._state else self.options.title

    @property
    def alarms(self) -> bool:
        """Whether what is said beside the store's name has to be seen first."""
        return self._state != ""

    @property
    def _state(self) -> str:
        if not self.bench.trust.standing.trusted:
            return "NOT TRUSTED"
        return "READ-ONLY" if self.bench.library.standpoint is None and self.bench.library.is_closed else ""

    @property
    def looks_back(self) -> str:
        """Where one stands who looks at the store as it was, and the way out; empty in the present."""
        standpoint = self.bench.library.standpoint
        if standpoint is None:
            return ""
        when = "" if standpoint.at is None else f" · {absolute(standpoint.at)}"
        keys = {action.id: action.shown_key for action in remapped(GLOBAL, dict(self.options.keymap))}
        way = (
            f"{keys['app.quit']} goes back to now" if self.options.returns else f"{keys['app.stores']} opens it as now"
        )
        return f"Revision {standpoint.rev:,} of {standpoint.latest:,}{when} · read-only · {way}"

    @property
    def urgent(self) -> str:
        """What everything else waits for, in words; mostly nothing."""
        gone = f"the store is gone · nothing is stored until {self.bench.library.folder} is there again"
        return self.waits.sentence or (gone if self.store_is_gone else "")

    def draft(self, record: str, use: str = "text") -> Drafting:
        """Return what keeps the draft of a text: of a record (`table/key`), or another `use` of it."""
        return Drafting(self.options.drafts, Item(record, use), self.bench.context.now)

    async def go(self, area: str, place: str) -> None:
        """Go to an area, and there to a place that it has a name for."""
        await self.switch_mode(area)
        show = getattr(self.screen, "show_place", None)
        if show is not None:
            show(place)

    def marked(self, area: str) -> list[Any]:
        """Return the rows that are marked in an area, in sight or not."""
        opened = (screen for stack in self._screen_stacks.values() for screen in stack if screen.is_mounted)
        screens = (screen for screen in opened if getattr(screen, "AREA", "") == area)
        return [row for screen in screens for rows in screen.query(LineList) for row in rows.marked_rows]

    # Saying things

    def say(self, sentence: str, severity: str = "information") -> None:
        """Show a toast; its text may hold stored text, whose secrets are masked."""
        if severity not in ("information", "warning", "error"):
            raise ValueError(severity)
        shown = printable(self.bench.safety.masked(sentence), keep_newlines=True)
        self.notify(shown, severity=severity, markup=False)  # type: ignore[arg-type]

    @contextmanager
    def reporting(self) -> Iterator[None]:
        """Turn an error a person may see into a toast; the app goes on."""
        try:
            yield
        except WorkbenchError as error:
            self.say(str(error), "error")

    # Waiting for other writers

    @contextmanager
    def _context(self) -> Iterator[None]:
        """Let every write of the app's tasks and threads wait as the app wants it."""
        with super()._context(), waiting(self.waits.patience):
            yield

    async def on_event(self, event: events.Event) -> None:
        """Let esc give up what waits for another process; what is typed behind a key goes where that one leads."""
        if isinstance(event, events.Key) and self._is_for_another(event):
            event = events.Key(event.key, event.character)
        if isinstance(event, events.Key) and not event.is_forwarded:
            if event.key == "escape" and self.waits.give_up():
                return
            if self._is_ahead(event):
                return
            self._given[event] = self.screen
            if self._goes_into_a_field(event.key) and await self._check_bindings(event.key):
                return
            if event.key == "enter" and (field := self._entered_field()) is not None:
                self._entered = field
                field.submit_in_turn()
                return
        await super().on_event(event)

    def _is_for_another(self, key: events.Key) -> bool:
        """Tell whether a key comes back unused from a screen above which the key before it has opened another one.

        Esc leaves that one at once: what is typed behind it is not for a field of it.
        """
        given = self._given.pop(key, None) if key.is_forwarded else None
        return given not in (None, self.screen) and given in self.screen_stack and key.key != "escape"

    def _is_ahead(self, key: events.Key) -> bool:
        """Keep a key while enter is being done in a field, or a screen opened; esc forgets those, and is never kept."""
        if self._entered is None and not self._is_opening():
            return False
        if key.key == "escape":
            self._entered, self._ahead = None, []
            return False
        self._ahead.append(key)
        return True

    def _is_opening(self) -> bool:
        """Tell whether the screen is being opened, or keys that were typed meanwhile are still to be handed on."""
        if self._opening is None and not self.screen.is_mounted:
            self._opening = self.screen
            self.screen.call_later(self.call_later, self._opened)
        if self._opening is not None and self._opening not in self.screen_stack:
            self._opening, self._ahead = None, []
        return self._opening is not None

    async def _opened(self) -> None:
        self._opening = None
        await self._hand_on()

    def _entered_field(self) -> SafeInput | None:
        """Return the field in which enter takes what is written, unless it keeps keys itself."""
        field = self.focused
        if not isinstance(field, SafeInput) or isinstance(field, FilterInput):
            return None
        return field if self._bound("enter") == "submit" else None

    async def on_safe_input_settled(self, event: SafeInput.Settled) -> None:
        """Let what has the focus now have the keys that were typed right behind enter."""
        if event.field is not self._entered:
            return
        self._entered = None
        await self._hand_on()

    async def _hand_on(self) -> None:
        ahead, self._ahead = self._ahead, []
        for key in ahead:
            await self.on_event(key)  # behind another enter they are kept again

    def _goes_into_a_field(self, key: str) -> bool:
        """Tell whether a key only moves into a field: done at once, what is typed behind it goes there.

        Otherwise it would go up through all that the focus is in, while the keys behind it still fall into that.
        """
        field = self.focused
        if not isinstance(field, Input | TextArea):
            return self._bound(key) in FIELD_OPENERS
        if isinstance(field, TextArea) and field.tab_behavior == "indent":
            return False
        return self._bound(key) in FIELD_MOVES

    def _bound(self, key: str) -> str:
        """Return the action that a key has where the focus is; empty without one."""
        chain = self.screen._modal_binding_chain
        return next((b.action for _, bindings in chain for b in bindings.key_to_bindings.get(key, ())), "")

    def on_thread_waits(self, event: ThreadWaits) -> None:
        """Show that work in the background waits for another process."""
        self.waits.thread_waits(event.holder)

    def change(self, step: Callable[[], None]) -> None:
        """Make what an area changes of the store, at once or as soon as others let go of it (see `tui.waiting`)."""
        self.waits.change(Change(step))

    async def take_back(self, told: Callable[[str], None], since: int | None = None) -> None:
        """Take back the latest change from a dialog, and tell it what that was; what was done elsewhere after a yes.

        With `since`, the revision at which the dialog opened, all before that was done elsewhere; without, as in the
        area below it.
        """
        raise NotImplementedError

    def show_urgent(self) -> None:
        """Show in every key line of what is open what everything else waits for, if there is anything."""
        for screen in self.screen_stack:
            for bar in screen.query(KeyBar):
                bar.urgent = self.urgent
            for line in screen.query(KeysLine):
                line.urgent = self.urgent
