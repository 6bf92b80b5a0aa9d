"""What a person does to memories and bullets, wherever they are listed."""

import inspect
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from textual.screen import Screen

from workbench.core.runtime import implementation
from workbench.core.stream.memory import Verdict
from workbench.services.open import Workbench
from workbench.services.safety.masking import masked_name
from workbench.tui.app.area import AreaScreen
from workbench.tui.app.waiting import started
from workbench.tui.widgets.bars import Slider
from workbench.tui.widgets.content import BLANK, undo
from workbench.tui.widgets.reading_pane import ReadingPane

if TYPE_CHECKING:
    from workbench.services.forms import Form
    from workbench.services.stream.votes import VoteResult

# What the usual keys do to the record of the row under the cursor, whichever list the row is in.


Place = tuple[str, str]
"""Where a record is: its table and its key there."""

Here = Callable[[], Place | None]
"""Returns where the record of the row under the cursor is, or `None` where that has none."""

ACTIONS = {
    "memories": "workbench.tui.records.actions:MemoryActions",
    "bullets": "workbench.tui.records.actions:BulletActions",
}
"""What carries the acts out, by the table of the record; a method is named after the act that it
does.
"""

OPENS = "workbench.tui.records.record:open_over"
"""What opens a record or a document over the present place; its text has links, too."""

VOTES, READING = ("helpful", "harmful"), ("copy", "history")
"""The acts that are none while a slider has the keys, and those that change nothing and so hold
there, too.
"""

TO_THE_ROWS = "That key acts on a list row: press tab to go there."

NO_RECORD = "That key acts on a memory or a bullet; this row is neither."


def only_record(places: Iterable[Place]) -> Place | None:
    """Return the memory or bullet that is the only one among the places of a change, or `None`."""
    found = {place for place in places if place[0] in ACTIONS}
    return found.pop() if len(found) == 1 else None


class Acts:
    """Brings the keys `e E + - p P d y h` to the record of the row under the cursor of a list.

    A screen, a dialog or a list of its own keeps one as its `acts`; actions of its table that run
    `act('edit')` and the like come here (`on_row` are those that all dialogs share). Where `here`
    finds no record `missing` is said; `then` is called when an act is over, for what does not
    follow the store by itself.
    """

    def __init__(
        self,
        screen: Screen[Any],
        here: Here,
        *,
        missing: str = NO_RECORD,
        then: Callable[[], object] = lambda: None,
    ) -> None:
        self._screen = screen
        self._here = here
        self._missing = missing
        self._then = then

    async def __call__(self, what: str) -> None:
        """Do something to the record, so that keys typed ahead reach the dialog it may open."""
        screen, place = self._screen, self._here()
        area = area_below(screen)
        if place is None or place[0] not in ACTIONS:
            area.workbench_app.say(self._missing)
        else:
            await started(screen, self._do(area, place, what))

    def open(self) -> None:
        """Open the record over the present place; where there is none, nothing happens."""
        if (place := self._here()) is not None:
            implementation(OPENS)(self._screen, area_below(self._screen), place, ())

    async def _do(self, area: AreaScreen, place: Place, what: str) -> None:
        with area.workbench_app.reporting():
            done = getattr(implementation(ACTIONS[place[0]])(area, lambda: [place[1]]), what)()
            if inspect.isawaitable(done):
                await done
        self._then()


class ActsBesideSliders(Acts):
    """Those of a place with a slider: while that has the keys a vote is none, and records are only
    read.
    """

    async def __call__(self, what: str) -> None:
        """Do something to the record, where the list has the keys or nothing would be changed."""
        if not isinstance(self._screen.focused, Slider) or what in READING:
            await super().__call__(what)
        elif what not in VOTES:
            area_below(self._screen).workbench_app.say(TO_THE_ROWS)


def area_below(screen: Screen[Any]) -> AreaScreen:
    """Return the area that a screen is, or that a dialog is open over."""
    return next(one for one in reversed(screen.app.screen_stack) if isinstance(one, AreaScreen))


FILE = "documents"
"""Where what a file's name names is, in place of a table."""

_NAME = re.compile(r"[\w~.][\w./:@+~-]*\w|\w")
_FILE = re.compile(r"\.(md|mdc|markdown|txt|json|jsonl|ya?ml|toml)$", re.IGNORECASE)
_LINK, _HERE = "underline", "reverse underline"


@dataclass(frozen=True, slots=True)
class Link:
    """Where a text names a record or a file, and which."""

    start: int
    end: int
    place: Place


def links_in(text: str, bench: Workbench, own: Place | None = None) -> list[Link]:
    """Return the records and files that a text names, without the one it is about (`own`)."""
    return [
        Link(match.start(), match.end(), place)
        for match in _NAME.finditer(text)
        if (place := _named(match.group(), bench)) is not None and place != own
    ]


def _named(name: str, bench: Workbench) -> Place | None:
    """Return what a word names; a word without a digit is a word, whatever some record is called."""
    if _FILE.search(name):
        return (FILE, name)
    if not any(letter.isdigit() for letter in name):
        return None
    if bench.library.memories.find(name) is not None:
        return ("memories", name)
    if name in bench.library.bullets:
        return ("bullets", name)
    keys = (f"{line.book.id}/{name}" for line in bench.playbooks.books())
    found = next((key for key in keys if key in bench.library.bullets), None)
    return None if found is None else ("bullets", found)


class Links:
    """The links of one pane: tab goes from one to the next, enter opens one over the present place.

    `own` is the record that the pane shows, `path` how one came there, as the title of what is
    opened says. With `endless` the first follows the last, where the key means nothing else around
    the text.
    """

    def __init__(
        self,
        page: ReadingPane,
        bench: Workbench,
        own: Callable[[], Place | None],
        path: Callable[[], tuple[str, ...]],
        *,
        endless: bool = False,
    ) -> None:
        self._page, self._bench = page, bench
        self._own, self._path = own, path
        self._endless = endless
        self._plain = BLANK
        self._found: list[Link] = []
        self._at = -1

    def go(self, step: int) -> bool:
        """Go to the next link, or the one before; False where there is none any more."""
        self._look()
        count = len(self._found)
        at = self._at + step if self._at >= 0 or step > 0 else count - 1
        if self._endless and count:
            at %= count
        if not 0 <= at < count:
            self._leave()
            return False
        self._at = at
        self.draw()
        self._page.reveal(self._found[at].end)
        return True

    def step(self, step: int) -> bool:
        """Go to the next link or the one before, but not beyond the last or the first; False there."""
        self._look()
        return 0 <= self._at + step < len(self._found) and self.go(step)

    @property
    def is_on_one(self) -> bool:
        """Whether the cursor is on a link; where it was on none, the text is not looked through."""
        return self._at >= 0 and self.current is not None

    @property
    def current(self) -> Place | None:
        """What the link under the cursor names."""
        self._look()
        return self._found[self._at].place if self._at >= 0 else None

    def follow(self) -> bool:
        """Open what the link under the cursor names; False where the cursor is on none."""
        self._look()
        if self._at < 0:
            return False
        screen = self._page.screen
        implementation(OPENS)(screen, area_below(screen), self._found[self._at].place, self._path())
        return True

    def _look(self) -> None:
        """Find the links, unless they are those of the text that is shown."""
        text = self._page.text
        if text.plain != self._plain.plain:
            here = self._found[self._at].place if self._at >= 0 else None
            self._plain, self._found = text, links_in(text.plain, self._bench, self._own())
            self._at = next((n for n, link in enumerate(self._found) if link.place == here), -1)

    def _leave(self) -> None:
        if self._at >= 0:
            self._at = -1
            self.draw()

    def draw(self) -> None:
        """Draw the links in the page, where others may have been drawn before."""
        text = self._plain
        for place, link in enumerate(self._found):
            text = text.stylize(_HERE if place == self._at else _LINK, link.start, link.end)
        self._page.draw_anew(text)


def links_of(area: AreaScreen, page: ReadingPane, own: Callable[[], Place | None]) -> Links:
    """Return the links of a pane of an area: what is opened names the area, then the record they
    were found in.
    """
    mask = area.bench.safety.masked

    def path() -> tuple[str, ...]:
        place = own()
        return (area.area.title, *([] if place is None else [masked_name(place[1], mask)]))

    return Links(page, area.bench, own, path)


def linked_pane(id: str, bench: Workbench, path: Callable[[], tuple[str, ...]]) -> ReadingPane:
    """Return a pane for a text that is no record's own, with links to what it names."""
    pane = ReadingPane(id=id, title="Text")
    pane.links = Links(pane, bench, lambda: None, path)
    return pane


NOT_PROMOTED = "Bullets are served with their playbook: X in the Playbook exports it to a file."


class RecordActions:
    """Changes the records that are picked, after asking where that is due, and says what was done.

    `picked` returns the keys of all that are meant, `here` that of the one under the cursor; `done`
    lets go of them once something was done to them. A method is named after what its key does
    (`records.links.Acts`).
    """

    table: ClassVar[str]
    many: ClassVar[str]

    def __init__(
        self,
        area: AreaScreen,
        picked: Callable[[], Sequence[str]],
        here: Callable[[], str | None] | None = None,
        done: Callable[[], None] = lambda: None,
    ) -> None:
        self.area, self.app, self.bench = area, area.workbench_app, area.bench
        self.picked, self.done = picked, done
        self._here = here or (lambda: next(iter(picked()), None))

    def helpful(self) -> None:
        """Vote helpful, or take that vote back."""
        self._vote("helpful")

    def harmful(self) -> None:
        """Vote harmful, or take that vote back."""
        self._vote("harmful")

    def pin(self) -> None:
        self.change(
            lambda keys: f"{'Pinned' if self.turn_pin(keys) else 'Unpinned'} {self.named(keys)}."
        )

    async def edit(self) -> None:
        """Edit in a form, which stays open when it cannot be saved; of several only what is touched
        is set.
        """
        from workbench.tui.forms import FormSaving, fill_in

        if keys := self.picked():
            saving = FormSaving(self.app, self.form(keys))
            draft = self.app.draft(f"{self.table}/{keys[0]}") if len(keys) == 1 else None
            saved = await fill_in(self.area, saving, draft)
            if saved and len(keys) > 1:
                left = len(keys) - saving.form.changed
                others = (
                    f" The other {left} already had that." if left and saving.form.changed else ""
                )
                back = f" {undo()} takes it back." if saving.form.changed else ""
                self.said(
                    f"Set {', '.join(saved)} of {saving.form.changed} {self.many}.{others}{back}"
                )
            elif saved:
                self._say_saved(keys[0], saving.copies.told)

    async def external(self, line: int = 0) -> None:
        """Edit what is under the cursor in $EDITOR, from a line of its text on; what cannot be
        saved is a form.
        """
        from workbench.tui.forms import FormSaving, fill_in_elsewhere

        if (key := self._here()) is not None:
            saving = FormSaving(self.app, self.form([key]))
            if await fill_in_elsewhere(
                self.area, saving, self.app.draft(f"{self.table}/{key}"), line
            ):
                self._say_saved(key, saving.copies.told)

    async def forget(self) -> None:
        """Archive or delete, several after a yes; archived memories are restored instead."""
        from workbench.tui.widgets.dialog import sure

        keys = self.picked()
        if not keys:
            return
        verb, meant, step = self.removal(keys)

        def remove(_: Sequence[str]) -> str:
            step(meant)
            return f"{verb}d {self.named(meant)}. {undo()} takes it back."

        if len(meant) > 1:
            detail = f"Undo ({undo()}) takes it back; nothing is erased."
            if not await sure(self.app, f"{verb} {self.named(meant)}?", detail, verb.lower()):
                return
        self.change(remove, meant)

    def copy(self) -> None:
        if keys := self.picked():
            self.area.copy(*map(self.text, keys))
            self.done()

    def history(self) -> None:
        """Show who changed what."""
        if (key := self._here()) is not None:
            self.area.show_history(key)

    def promote(self) -> None:
        """Write it where agents read it, after a look at the text."""
        raise NotImplementedError

    def change(
        self, step: Callable[[Sequence[str]], str], keys: Sequence[str] | None = None
    ) -> None:
        """Change what is picked by a step that returns what is to be said then."""
        meant = self.picked() if keys is None else keys
        if meant:
            self.app.change(lambda: self.said(step(meant)))

    def said(self, sentence: str) -> None:
        """Say what was done, and let go of what it was done to."""
        self.done()
        self.app.say(sentence)

    def named(self, keys: Sequence[str]) -> str:
        """Return what one is called, or how many there are."""
        return (
            f"{len(keys)} {self.many}"
            if len(keys) > 1
            else masked_name(self.id(keys[0]), self.bench.safety.masked)
        )

    def _vote(self, verdict: Verdict) -> None:
        def vote(keys: Sequence[str]) -> str:
            result = self.cast(keys, verdict)
            return (
                result.told(self.named(keys))
                if len(keys) == 1
                else f"Voted {verdict} on {self.named(keys)}."
            )

        self.change(vote)

    def _say_saved(self, key: str, copies: str) -> None:
        note = self.area.flagged_note(self.text(key))
        self.done()
        severity = "warning" if note else "information"
        self.app.say(f"Saved {self.named([key])}.{copies} {undo()} takes it back.{note}", severity)

    # What differs from table to table

    def id(self, key: str) -> str:
        return key

    def text(self, key: str) -> str:
        raise NotImplementedError

    def form(self, keys: Sequence[str]) -> "Form":
        raise NotImplementedError

    def cast(self, keys: Sequence[str], verdict: Verdict) -> "VoteResult":
        """Vote on records; the same vote again on a single one takes it back."""
        raise NotImplementedError

    def turn_pin(self, keys: Sequence[str]) -> bool:
        """Pin or unpin, and return which."""
        raise NotImplementedError

    def removal(
        self, keys: Sequence[str]
    ) -> tuple[str, Sequence[str], Callable[[Sequence[str]], object]]:
        """Return what removing records is called, for which of them it is, and what does it."""
        raise NotImplementedError


class MemoryActions(RecordActions):
    """What is done to memories."""

    table, many = "memories", "memories"

    def confirm(self) -> None:
        """Confirm signals: the person approves of them."""

        def confirm(keys: Sequence[str]) -> str:
            confirmed = self.bench.stream.confirm(keys)
            others = len(keys) - len(confirmed)
            rest = (
                f" {others} {'was no signal' if others == 1 else 'were no signals'}."
                if others
                else ""
            )
            return f"Confirmed {self.named(confirmed)}. {undo()} takes it back.{rest}"

        self.change(confirm)

    def promote(self) -> None:
        if keys := self.picked():
            from workbench.tui.promotion import open_promote

            open_promote(self.area, list(keys), then=self.done)

    def text(self, key: str) -> str:
        return self.bench.stream.get(key).content

    def form(self, keys: Sequence[str]) -> "Form":
        from workbench.services.forms import MemoryForm

        return MemoryForm(self.bench, *keys)

    def cast(self, keys: Sequence[str], verdict: Verdict) -> "VoteResult":
        return self.bench.stream.vote(keys, verdict)

    def turn_pin(self, keys: Sequence[str]) -> bool:
        return self.bench.stream.pin(keys)

    def removal(
        self, keys: Sequence[str]
    ) -> tuple[str, Sequence[str], Callable[[Sequence[str]], object]]:
        stream = self.bench.stream
        archived = [key for key in keys if stream.get(key).status == "archived"]
        return (
            ("Restore", archived, stream.restore) if archived else ("Archive", keys, stream.forget)
        )


class BulletActions(RecordActions):
    """What is done to bullets of one playbook; a key is `BOOK/ID`."""

    table, many = "bullets", "bullets"

    def promote(self) -> None:
        """Say how bullets reach agents."""
        self.app.say(NOT_PROMOTED)

    def id(self, key: str) -> str:
        return key.rpartition("/")[2]

    def text(self, key: str) -> str:
        book, ids = _parts([key])
        return self.bench.playbooks.bullet(book, ids[0]).content

    def form(self, keys: Sequence[str]) -> "Form":
        from workbench.services.forms import BulletForm

        book, ids = _parts(keys)
        return BulletForm(self.bench, book, *ids)

    def cast(self, keys: Sequence[str], verdict: Verdict) -> "VoteResult":
        return self.bench.playbooks.vote(*_parts(keys), verdict)

    def turn_pin(self, keys: Sequence[str]) -> bool:
        return self.bench.playbooks.pin(*_parts(keys))

    def removal(
        self, keys: Sequence[str]
    ) -> tuple[str, Sequence[str], Callable[[Sequence[str]], object]]:
        return "Delete", keys, lambda keys: self.bench.playbooks.delete(*_parts(keys))


def _parts(keys: Sequence[str]) -> tuple[str, list[str]]:
    """Return the playbook that bullets are of, and their ids."""
    return keys[0].rpartition("/")[0], [key.rpartition("/")[2] for key in keys]
