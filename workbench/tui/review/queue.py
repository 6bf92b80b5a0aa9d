"""What waits in Review, as it is listed: the filter, the rows, where the cursor goes, how the sitting goes."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from datetime import datetime

from textual.cache import LRUCache
from textual.content import Content
from textual.widgets import Static

from workbench.bench.context import Touched
from workbench.bench.open import Workbench
from workbench.bench.review.review import is_put_off
from workbench.core.errors import InvalidQuery
from workbench.core.review.proposal import Proposal
from workbench.tui.review.rows import row
from workbench.tui.review.seen import Seen
from workbench.tui.widgets.figures import number
from workbench.tui.widgets.lists.line_list import LineList
from workbench.tui.widgets.lists.row import lay_out
from workbench.tui.widgets.texts.safe_input import FilterInput

PACE_OF = 12
"""Over how many of the latest decisions the pace is taken."""

PAUSE = 120.0
"""Seconds without a decision after which the pace starts anew."""


@dataclass(frozen=True, slots=True)
class Progress:
    """The ids decided in this sitting with the time of each, in order."""

    decided: tuple[tuple[str, datetime], ...] = ()

    def with_decided(self, ids: list[str], at: datetime) -> "Progress":
        """Count decisions."""
        kept = tuple(d for d in self.decided if d[0] not in ids)
        return replace(self, decided=(*kept, *((id, at) for id in ids)))

    def without(self, waiting: frozenset[str]) -> "Progress":
        """Take back those that wait again, as after an undo."""
        if not any(id in waiting for id, _ in self.decided):
            return self
        return replace(self, decided=tuple(d for d in self.decided if d[0] not in waiting))

    @property
    def pace(self) -> float | None:
        """Decisions a minute since the last pause; `None` before the third one."""
        times = [at for _, at in self.decided[-PACE_OF:]]
        since = 0
        for i in range(1, len(times)):
            if (times[i] - times[i - 1]).total_seconds() > PAUSE:
                since = i
        run = times[since:]
        seconds = (run[-1] - run[0]).total_seconds() if len(run) >= 3 else 0.0
        return (len(run) - 1) * 60 / seconds if seconds >= 1 else None

    def sentence(self, left: int, put_off: int) -> str:
        """Return "12 decided · 5 left · 2 put off · 9 a minute"."""
        parts = [f"{len(self.decided)} decided", f"{left} left"] if self.decided else [f"{left} to decide"]
        if put_off:
            parts.append(f"{put_off} put off")
        if self.pace is not None:
            parts.append(f"{self.pace:.0f} a minute")
        return " · ".join(parts)


NOTHING_NEW = (
    "No candidates, and no memories to find any in. `workbench import FILE` or `workbench ingest` brings some in, "
    "F imports a file."
)
NO_MATCH = "Nothing matches. Esc clears the filter, ? explains it."


class Queue:
    """The filter's `box`, the `rows`, and the `count` beside the filter.

    `go_to` is where the cursor goes when the queue is listed next: at first to the item that was shown last time.
    `awaited` is an item that a dialog opened from here may decide.
    """

    def __init__(self, bench: Workbench, seen: Seen, go_to: str) -> None:
        self._bench = bench
        self._seen = seen
        self._drawn: LRUCache[tuple[object, ...], Content] = LRUCache(512)
        self._progress = Progress()
        self._kinds = bench.context.kinds
        self.box = FilterInput(placeholder="/ filter: tag:ci since:7d words", id="filter")
        self.count = Static(id="count")
        # A decision moves every row below it by a line, and none of them is drawn anew.
        self.rows: LineList[Proposal] = LineList(self._draw, lambda p: p.id, kept=1024, id="queue")
        self.go_to: str | None = go_to
        self.awaited = ""

    # Listing

    def list_anew(self) -> bool:
        """List what waits now; the cursor goes where the last decision or undo sends it, or stays.

        Returns whether the filter could be read; the count says why not.
        """
        every, filter = self._bench.review.queue(), self.box.value
        try:
            listed = self._bench.review.matching(every, filter)
        except InvalidQuery as error:
            self._count(Content.styled(f"✗ {error}", "$text-error"))
            return False
        now = self._bench.context.now()
        waiting = frozenset(p.id for p in every if not is_put_off(p, now))
        self._progress = self._progress.without(waiting)
        self.rows.set_empty(Content(NO_MATCH if every else self._nothing()))
        place = next((i for i, p in enumerate(listed) if p.id == self.go_to), None)
        self.go_to = None
        self.rows.set_rows(listed, cursor=place)
        sentence = self._progress.sentence(len(waiting), len(every) - len(waiting))
        self._count(Content(f"{len(listed)} listed · {sentence}" if filter.strip() else sentence))
        return True

    def _count(self, content: Content) -> None:
        self.count.update(content, layout=False)

    def _nothing(self) -> str:
        """Say what to do when the queue is empty."""
        conditions = self._bench.overview.gauge().conditions
        count = int(next(c.value for c in conditions if c.name == "observations"))
        if count:
            return f"No candidates. R reflects on {count} observation{'s' if count > 1 else ''} now."
        read = self._bench.reflecting.readable()
        if not read:
            return NOTHING_NEW
        return f"No candidates. R reflects: it would read {number(read)} {'memory' if read == 1 else 'memories'}."

    def _draw(self, proposal: Proposal, width: int) -> Content:
        """Draw a row, or take it as drawn before: a decision moves the rows below it, but they look the same."""
        memory, now = self._bench.review.memory(proposal), self._bench.context.now()
        folded = self._seen.is_folded(proposal)
        cells = row(proposal, memory, width, now, folded=folded, mask=self._bench.safety.masked, kinds=self._kinds)
        looks = (width, *((str(cell.text), cell.style) for cell in cells))
        drawn = self._drawn.get(looks)
        if drawn is None:
            drawn = self._drawn[looks] = lay_out(cells, width)
        return drawn

    # Deciding

    def decided(self, ids: list[str], following: str | None) -> None:
        """Count decisions and send the cursor on at once, so that a key typed ahead is for the next item.

        The rest of the list follows when the store says what changed.
        """
        self.go_to = following
        self._note_decided(ids)
        left = [p for p in self.rows.rows if p.id not in ids]
        self.rows.set_rows(left, cursor=next((at for at, p in enumerate(left) if p.id == following), None))

    def expect(self, touched: Touched, ids: Collection[str]) -> bool:
        """Say where the cursor goes after a transaction that touched these; return whether it is wanted there.

        An undone decision of this person brings its item and the cursor back.
        """
        mine = touched.actor == self._bench.context.actor
        if touched.kind == "undo" and mine:
            self.go_to = next((p.id for p in self._bench.review.queue() if p.id in ids), None)
        elif touched.kind == "redo" and mine:
            self.go_to = self.after(ids)
            self._note_decided([p.id for p in self.rows.rows if p.id in set(ids) - self._waiting()])
        awaited = mine and self.awaited in ids
        if awaited and self.awaited not in self._waiting():
            self._note_decided([self.awaited])
            self.awaited = ""
        return self.go_to is not None or awaited

    def _waiting(self) -> set[str]:
        return {p.id for p in self._bench.review.queue()}

    def _note_decided(self, ids: list[str]) -> None:
        self._progress = self._progress.with_decided(ids, self._bench.context.now())

    def after(self, ids: Iterable[str]) -> str | None:
        """Return the id that the cursor goes to when these leave: the next one below, else the last above."""
        leaving, cursor = set(ids), self.rows.cursor
        below = (p.id for p in self.rows.rows[cursor:] if p.id not in leaving)
        above = (p.id for p in reversed(self.rows.rows[:cursor]) if p.id not in leaving)
        return next(below, None) or next(above, None)

    def go_round(self, step: int) -> None:
        """To the next or previous listed item, round the end."""
        if self.rows.rows:
            self.rows.cursor = (self.rows.cursor + step) % len(self.rows.rows)
