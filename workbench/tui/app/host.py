"""The app as its areas and dialogs know it: the open store, what is said, and what waits for other
writers.
"""

import signal
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from rich.segment import Segment
from textual import events
from textual.color import Color
from textual.filter import LineFilter
from textual.message import Message
from textual.screen import Screen
from textual.theme import Theme
from textual.timer import Timer
from textual.widget import Widget

from workbench.config import drafts
from workbench.config.drafts import Draft, Item
from workbench.core.files.locks import be_patient
from workbench.core.record import WorkbenchError
from workbench.core.text import LRM, direction_marks, printable
from workbench.services.open import Workbench
from workbench.streams import takes_marks
from workbench.tui.app.actions import GLOBAL, remapped
from workbench.tui.app.private_names import GuardedApp
from workbench.tui.app.waiting import Change, ThreadWaits, Waits
from workbench.tui.widgets.content import keyed
from workbench.tui.widgets.figures import absolute
from workbench.tui.widgets.header import KeyBar
from workbench.tui.widgets.line_list import LineList

# The draft of one text that is edited: kept while somebody types, offered again after the app was
# stopped.


NO_FIELDS: Mapping[str, tuple[str, str]] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Drafting:
    """Keeps the draft of one item in a folder; without a folder (`None`) there are no drafts at
    all.
    """

    folder: Path | None
    item: Item
    clock: Callable[[], datetime]

    def find(self) -> Draft | None:
        """Return what was typed before the app was stopped, if anything was."""
        return None if self.folder is None else drafts.find(self.folder, self.item)

    def keep(self, text: str, base: str, fields: Mapping[str, tuple[str, str]] = NO_FIELDS) -> str:
        """Keep what is typed in place of the text with the digest `base`; return why that failed,
        or nothing.

        `fields` is what is typed into others beside it; see `Draft`.
        """
        if self.folder is None:
            return ""
        return drafts.keep(self.folder, self.item, Draft(text, base, self.clock(), fields))

    def drop(self) -> None:
        """Let go of the draft."""
        if self.folder is not None:
            drafts.drop(self.folder, self.item)


@dataclass(frozen=True, slots=True)
class AppOptions:
    """What the app is started with.

    `title` names the store, `why` says why it is the open one; `config` is the settings' file that
    a dialog may write to, `demo_config` a copy of it in the demo's folder; `seen` is the revision at
    the last look (`None`: never looked);
    `problems` are sentences to show at the start, `faults` those about the person's settings, which
    stay until they are mended; `given_theme` is the theme that the settings name (`None`: they name
    none); `review_at` is the id that Review showed last; `drafts` is the folder for what is being
    typed (`None`: it is not kept); for `alone` seconds after the last key the first screen has the
    machine to itself, before all else is loaded. `begin` is the id of the action that it begins
    with (empty: none). `returns` says that leaving goes back to the store as it is now; `scratch`,
    that the folder it works in goes when it ends. `panes` is how wide a person made the list of an
    area, in percent.
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
    demo_config: Path | None = None
    review_at: str = ""
    drafts: Path | None = None
    why: str = ""
    alone: float = 0.0
    begin: str = ""
    returns: bool = False
    scratch: bool = False
    panes: Mapping[str, int] = field(default_factory=dict)


class Command(NamedTuple):
    """One row of the palette: what it is called, what it does, and the key that does it here."""

    title: str
    help: str
    run: Callable[[], object]
    key: str = ""


class LookBack(Message):
    """Somebody wants to look at the whole store as it was right after a revision."""

    def __init__(self, rev: int) -> None:
        super().__init__()
        self.rev = rev


class TryDemo(Message):
    """Somebody wants to try the demo, and to come back here after it."""


ENDED = 0.3
"""Seconds between two looks whether what a key waits for has ended with its screen."""


class TerminalGone(Message):
    """There is nothing to read from the keyboard any more."""


class KeyDone(Message):
    """A key has gone its way from where the focus was, up to the app; `again`: what that brought
    about has, too.
    """

    def __init__(self, target: Widget, *, again: bool) -> None:
        super().__init__()
        self.target = target
        self.again = again


class Host(GuardedApp[Path | None]):
    """What an area or a dialog may ask of the app, which knows them all; they know this only.

    `news` is what an agent does, in several wordings, the longest first; `paused` whether what
    others write waits. `loading` is how many of the texts are ready to search while that takes
    long, `writes_much` whether a dialog writes so much that areas wait, `review_at` the id that
    Review showed last, `store_is_gone` whether the store was missed, `next_at` the revision at
    which the store that comes next is to be shown (`None`: as it is then).
    """

    def __init__(self, bench: Workbench, options: AppOptions) -> None:
        self.waits = Waits(self, self.say, self.show_urgent)
        super().__init__()
        self.bench = bench
        self.options = options
        self._in_order = [InOrder()] if takes_marks() else []
        self.opened: list[Any] = []
        """The areas that were visited."""
        self.loading: tuple[int, int] | None = None
        self.writes_much = False
        self.news: tuple[str, ...] = ()
        self.paused = False
        self.review_at = options.review_at
        self.panes = dict(options.panes)
        self.store_is_gone = False
        self.next_at: int | None = None
        self._keys: deque[events.Key] = deque()
        self._keys_on: Screen[Any] | None = None
        self._settling: Widget | None = None
        self._looks_again: Timer | None = None

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
        if self.bench.library.away is not None:
            return "TEAM AWAY"
        return (
            "READ-ONLY"
            if self.bench.library.standpoint is None and self.bench.library.is_closed
            else ""
        )

    @property
    def looks_back(self) -> str:
        """Where one stands who looks at the store as it was, and the way out; empty in the present."""
        standpoint = self.bench.library.standpoint
        if standpoint is None:
            return ""
        when = "" if standpoint.at is None else f" · {absolute(standpoint.at)}"
        keys = {
            action.id: action.shown_key for action in remapped(GLOBAL, dict(self.options.keymap))
        }
        way = (
            f"{keys['app.quit']} returns to the present"
            if self.options.returns
            else f"{keys['app.stores']} opens the present"
        )
        return f"Revision {standpoint.rev:,} of {standpoint.latest:,}{when} · read-only · {way}"

    @property
    def urgent(self) -> str:
        """What everything else waits for, in words; mostly nothing."""
        gone = f"the store is missing · nothing is stored until {self.bench.library.folder} is back"
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
        screens = (screen for screen in self.opened if getattr(screen, "AREA", "") == area)
        return [
            row for screen in screens for rows in screen.query(LineList) for row in rows.marked_rows
        ]

    # Saying things

    def say(self, sentence: str, severity: str = "information") -> None:
        """Show a toast; its text may hold stored text, whose secrets are masked."""
        if severity not in ("information", "warning", "error"):
            raise ValueError(severity)
        shown = printable(self.bench.safety.masked(sentence), keep_newlines=True)
        self.notify(shown, severity=severity, markup=False)  # type: ignore[arg-type]

    def hint(self, sentence: str) -> None:
        """Say a constant sentence that names keys (see `keyed`)."""
        self.say(keyed(sentence))

    @contextmanager
    def reporting(self) -> Iterator[None]:
        """Turn an error a person may see into a toast; the app goes on."""
        try:
            yield
        except WorkbenchError as error:
            self.say(str(error), "error")

    def on_load(self) -> None:
        """Let every write of the app's tasks and threads wait as the app wants it."""
        be_patient(self.waits.patience)

    # Keys, each done before the next: words typed at once behind one that opens something are for
    # that

    async def on_event(self, event: events.Event) -> None:
        """Do keys in their order; esc gives up what waits for another process."""
        if not isinstance(event, events.Key) or event.is_forwarded:
            await super().on_event(event)
        elif event.key != "escape" or not self.waits.give_up():
            self._keys.append(event)
            await self._take_keys()

    async def on_key_done(self, event: KeyDone) -> None:
        if event.target is not self._settling:
            return  # by now the keys wait for something else
        self._settling = None
        if not event.again and event.target is self.focused:
            self._settle(event.target, again=True)
        await self._take_keys()

    async def _take_keys(self) -> None:
        """Do the keys that wait, until one has to wait for what the one before it brought about."""
        while self._keys:
            if self.screen is not self._keys_on:
                self._keys_on = self.screen
                self._settle(self.screen)  # it has the focus where it belongs then
            if self._settling is not None and self._settling.is_attached:
                self._looks_again = self._looks_again or self.set_timer(ENDED, self._look_again)
                return
            key, target = self._keys.popleft(), self.focused or self.screen
            await super().on_event(key)
            # Enter in a field says so to who has the field, who goes elsewhere then.
            self._settle(target, again=key.key != "enter")

    async def _look_again(self) -> None:
        """Wait no longer for what went with its screen, and says nothing any more."""
        self._looks_again = None
        await self._take_keys()

    def _settle(self, target: Widget, *, again: bool = False) -> None:
        self._settling = target if target.post_message(KeyDone(target, again=again)) else None

    def on_terminal_gone(self) -> None:
        """End as at a hang-up, which whoever started the app may have had ignored: nobody can see
        or type any more.
        """
        self.exit(None, 128 + signal.SIGHUP)

    def on_thread_waits(self, event: ThreadWaits) -> None:
        """Show that work in the background waits for another process."""
        self.waits.thread_waits(event.holder)

    def change(self, step: Callable[[], None]) -> None:
        """Make what an area changes of the store, at once or as soon as others let go of it (see
        `tui.waiting`).
        """
        self.waits.change(Change(step))

    def commands(self, screen: Screen[Any]) -> Iterable[Command]:
        """Return what the palette lists, in its order."""
        raise NotImplementedError

    def take_keys(self, keymap: Mapping[str, str]) -> None:
        """Let a checked keymap hold from now on."""
        raise NotImplementedError

    def take_theme(self, theme: str) -> None:
        """Show a theme that the settings name now."""
        self.options = replace(self.options, given_theme=theme)
        self.theme = theme

    async def take_back(self, told: Callable[[str], None], since: int | None = None) -> None:
        """Take back the latest change from a dialog, and tell it what that was; what was done
        elsewhere after a yes.

        With `since`, the revision at which the dialog opened, all before that was done elsewhere;
        without, as in the area below it.
        """
        raise NotImplementedError

    def show_urgent(self) -> None:
        """Show in every key line of what is open what everything else waits for, if there is
        anything.
        """
        for screen in self.screen_stack:
            for bar in screen.query(KeyBar):
                bar.urgent = self.urgent


# Columns that stay in their places beside text that is written from right to left.


class InOrder(LineFilter):
    """Puts the marks of direction into each drawn line that needs some; a terminal that knows of
    none ignores them.
    """

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:  # noqa: ARG002 - as Textual calls it
        """Return the pieces of a line with their marks."""
        marks = direction_marks("".join(segment.text for segment in segments))
        return list(_marked(segments, marks)) if marks else segments


def _marked(segments: list[Segment], marks: list[int]) -> Iterator[Segment]:
    begin = 0
    for text, style, control in segments:
        end = begin + len(text)
        inside = [mark - begin for mark in marks if begin < mark <= end or mark == begin == 0]
        pieces = (text[at:to] for at, to in zip([0, *inside], [*inside, None], strict=True))
        yield Segment(LRM.join(pieces), style, control)
        begin = end
