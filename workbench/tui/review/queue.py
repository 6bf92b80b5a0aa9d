"""What waits in Review, as it is listed: the filter, the rows, where the cursor goes, how the sitting goes."""

from collections.abc import Collection, Iterable, Mapping

from textual.cache import LRUCache
from textual.content import Content

from workbench.core.errors import InvalidQuery
from workbench.core.review.proposal import Proposal
from workbench.services.context import Touched
from workbench.services.open import Workbench
from workbench.services.review.review import is_put_off
from workbench.tui.app.area import AreaScreen
from workbench.tui.review.inbox.count import Count
from workbench.tui.review.inbox.grouping import ASK, Heading, Item, grouped, heading_line
from workbench.tui.review.inbox.progress import Progress
from workbench.tui.review.rows import row
from workbench.tui.review.seen import Seen
from workbench.tui.widgets.figures import number
from workbench.tui.widgets.keys import key_of, keyed
from workbench.tui.widgets.lists.line_list import LineList
from workbench.tui.widgets.lists.row import lay_out
from workbench.tui.widgets.texts.safe_input import FilterInput

NOTHING_NEW = (
    "No candidates, and no memories to find any in. `workbench import FILE` or `workbench ingest` brings some in, "
    "{app.import} imports a file."
)
LOOKING = "Looking … esc stops it"
NO_MATCH = "Nothing matches. Esc clears the filter, {app.help} explains it."


class Queue:
    """The filter's `box`, the `rows`, and the `count` beside the filter.

    `go_to` is where the cursor goes when the queue is listed next: at first to the item that was shown last time.
    `awaited` is an item that a dialog opened from here may decide. `unasked` tells that some of what waits without
    being stored is looked for only when a person asks, `looking` that one did. `wanted` is the heading that somebody
    came for, until it is there or is known not to be. `keys` has the key of each action as a person has it.
    """

    def __init__(self, bench: Workbench, seen: Seen, go_to: str, keys: Mapping[str, str]) -> None:
        self._bench = bench
        self._seen = seen
        self._drawn: LRUCache[tuple[object, ...], Content] = LRUCache(512)
        self._progress = Progress()
        self.box = FilterInput(placeholder="/ filter: tag:ci since:7d words", id="filter")
        self.count = Count(id="count")
        # A decision moves every row below it by a line, and none of them is drawn anew.
        self.rows: LineList[Item] = LineList(
            self._draw, lambda p: p.id, is_heading=lambda p: isinstance(p, Heading), kept=1024, id="queue"
        )
        self.go_to: str | None = go_to
        self.awaited = ""
        self.unasked = self.looking = False
        self.wanted = ""
        self._turned: set[str] = set()
        self._open_key = keys["list.open"]

    @property
    def current(self) -> Proposal | None:
        """The proposal under the cursor; `None` on a heading."""
        row = self.rows.current
        return None if isinstance(row, Heading) else row

    @property
    def heading(self) -> Heading | None:
        """The heading under the cursor."""
        row = self.rows.current
        return row if isinstance(row, Heading) else None

    @property
    def listed(self) -> list[Proposal]:
        """The proposals that stand in the list."""
        return [row for row in self.rows.rows if not isinstance(row, Heading)]

    def targets(self, area: AreaScreen) -> list[Proposal]:
        """Return what the next decision is for: the marked rows, or all of the group whose heading is under the
        cursor, or else the row there.
        """
        found: list[Proposal] = []
        for one in area.take_targets(self.rows):
            found += one.members if isinstance(one, Heading) else [one]
        return found

    def want_no_longer(self) -> None:
        """Let the cursor stay where it is: nothing was found of what somebody came for."""
        self.wanted = ""

    def turn(self) -> None:
        """Fold the group under the cursor, or list what is folded."""
        if (heading := self.heading) is not None:
            self._turned ^= {heading.group.id}
            self.go_to = heading.id

    # Listing

    def list_anew(self) -> bool:
        """List what waits now; the cursor goes where the last decision or undo sends it, or stays.

        Returns whether the filter could be read; the count says why not.
        """
        review, filter = self._bench.review, self.box.value
        every, found = review.queue(), review.found()
        try:
            listed = review.matching((*every, *found), filter)
        except InvalidQuery as error:
            problem = Content.styled(f"✗ {error}", "$text-error")
            self.count.show(lambda _: problem)
            return False
        now = self._bench.context.now()
        waiting = frozenset(p.id for p in every if not is_put_off(p, now))
        found_ids = frozenset(p.id for p in found)
        self._progress = self._progress.without(waiting | found_ids)
        put_off = len(every) - len(waiting)
        self.rows.set_empty(Content(keyed(NO_MATCH) if every or found else self._nothing()))
        done = "" if filter.strip() else self._progress.done(put_off)
        rows = grouped(listed, now, found_ids, self._turned, done)
        if (self.unasked or self.looking) and not filter.strip():
            rows.append(Heading(ASK, text=LOOKING if self.looking else ""))
        self._set_rows(rows)
        left = review.waiting() + self._bench.worked_out
        shown = len(listed) if filter.strip() else None
        self.count.show(lambda room: Content(self._progress.sentence(left, put_off, shown, room)))
        return True

    def _set_rows(self, rows: list[Item]) -> None:
        """List rows; the cursor goes where it is wanted, else it stays, at first on the first proposal."""
        place = next((i for i, row in enumerate(rows) if row.id == (self.wanted or self.go_to)), None)
        self.go_to = None
        if place is not None:
            self.wanted = ""
        if place is None and not self.rows.rows:
            place = next((i for i, row in enumerate(rows) if not isinstance(row, Heading)), None)
        self.rows.set_rows(rows, cursor=place)

    def _nothing(self) -> str:
        """Say what was done, and what to do, when the queue is empty."""
        done = self._progress.done(0)
        return f"{done}. {self._next()}" if done else self._next()

    def _next(self) -> str:
        conditions = self._bench.overview.gauge().conditions
        count = int(next(c.value for c in conditions if c.name == "observations"))
        if count:
            return (
                f"No candidates. {key_of('app.reflect')} reflects on {count} observation{'s' if count > 1 else ''} now."
            )
        read = self._bench.reflecting.readable()
        if not read:
            return keyed(NOTHING_NEW)
        return (
            f"No candidates. {key_of('app.reflect')} reflects: it would read {number(read)} "
            f"{'memory' if read == 1 else 'memories'}."
        )

    def _draw(self, proposal: Item, width: int) -> Content:
        """Draw a row, or take it as drawn before: a decision moves the rows below it, but they look the same."""
        if isinstance(proposal, Heading):
            return heading_line(proposal, self._open_key)
        memory, now = self._bench.review.memory(proposal), self._bench.context.now()
        folded = self._seen.is_folded(proposal)
        cells = row(proposal, memory, width, now, folded=folded, mask=self._bench.safety.masked)
        looks = (width, *((str(cell.text), cell.style) for cell in cells))
        drawn = self._drawn.get(looks)
        if drawn is None:
            drawn = self._drawn[looks] = lay_out(cells, width)
        return drawn

    # Deciding

    def decided(self, ids: list[str], following: str | None, done: str = "approved") -> None:
        """Count decisions and send the cursor on at once, so that a key typed ahead is for the next item.

        `done` is the word for what was decided. The rest of the list follows when the store says what changed.
        """
        self.go_to = following
        self._note_decided(ids, done)
        left = [p for p in self.rows.rows if p.id not in ids]
        self.rows.set_rows(left, cursor=next((at for at, p in enumerate(left) if p.id == following), None))

    def expect(self, touched: Touched, ids: Collection[str]) -> bool:
        """Say where the cursor goes after a transaction that touched these; return whether it is wanted there.

        An undone decision of this person brings its item and the cursor back.
        """
        mine = touched.actor == self._bench.context.actor
        if touched.kind == "undo" and mine:
            self.go_to = next((p.id for p in self._waiting() if p.id in ids), None)
        elif touched.kind == "redo" and mine:
            self.go_to = self.after(ids)
            self._note_decided([p.id for p in self.listed if p.id in set(ids) - self._waiting_ids()])
        awaited = mine and self.awaited in ids
        if awaited and self.awaited not in self._waiting_ids():
            self._note_decided([self.awaited], "promoted")
            self.awaited = ""
        return self.go_to is not None or awaited

    def _waiting(self) -> tuple[Proposal, ...]:
        return (*self._bench.review.queue(), *self._bench.review.found())

    def _waiting_ids(self) -> set[str]:
        return {p.id for p in self._waiting()}

    def _note_decided(self, ids: list[str], done: str = "decided") -> None:
        self._progress = self._progress.with_decided(ids, self._bench.context.now(), done)

    def after(self, ids: Iterable[str]) -> str | None:
        """Return the id that the cursor goes to when these leave: the next one below, else the last above."""
        leaving, cursor = set(ids), self.rows.cursor
        below = (p.id for p in self.rows.rows[cursor:] if p.id not in leaving and not isinstance(p, Heading))
        above = (p.id for p in reversed(self.rows.rows[:cursor]) if p.id not in leaving and not isinstance(p, Heading))
        return next(below, None) or next(above, None)

    def go_round(self, step: int) -> None:
        """To the next or previous listed item, round the end."""
        places = [at for at, row in enumerate(self.rows.rows) if not isinstance(row, Heading)]
        ahead = [at for at in places if (at > self.rows.cursor if step > 0 else at < self.rows.cursor)]
        if places:
            self.rows.cursor = (ahead or places)[0 if step > 0 else -1]
