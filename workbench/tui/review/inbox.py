"""What waits in Review, as it is listed: the filter, the rows by group, how the sitting goes, and
looking for more.
"""

import asyncio
import re
import threading
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from rapidfuzz.distance import Indel
from textual.content import Content
from textual.screen import Screen
from textual.widgets import Static
from textual.worker import get_current_worker

from workbench.core.record import InvalidQuery, moved
from workbench.core.review.describe import describe
from workbench.core.review.kinds import (
    GROUPS,
    IMPORTANT,
    KINDS,
    LATER,
    OTHER,
    Group,
    group_of,
    is_noise,
    kind_of,
)
from workbench.core.review.proposal import Proposal
from workbench.core.stream.memory import Memory
from workbench.core.text import one_line
from workbench.core.words import words
from workbench.services.context import Touched
from workbench.services.open import Workbench
from workbench.services.review.finders import WorkedOut
from workbench.services.review.queue import is_put_off
from workbench.tui.widgets.content import (
    BLANK,
    MAX_DIFF,
    MUTED,
    assemble,
    body,
    highlight,
    key_line,
    key_of,
    keyed,
    muted,
    word_diff,
)
from workbench.tui.widgets.dialog import SafeInput
from workbench.tui.widgets.figures import AGE, amount, brief, number
from workbench.tui.widgets.line_list import Cell, LineList

if TYPE_CHECKING:
    from workbench.tui.app.area import AreaScreen

_BESIDE = 40
"""So many words and spaces of shared text stand before and behind a change."""

ALIKE = 0.45
"""From which share of common words (in order) a word diff reads well; below it the shared words are
underlined.
"""

SHARED = "underline"
_WORD = re.compile(r"\w{5,}")
_COMMON = frozenset({
    "about", "above", "after", "again", "against", "because", "before", "being", "below", "between", "could",
    "doing", "during", "every", "first", "having", "itself", "might", "never", "other", "others", "please",
    "should", "since", "still", "their", "there", "these", "thing", "things", "those", "through", "under",
    "until", "where", "whether", "which", "while", "whose", "within", "without", "would",
})  # fmt: skip
"""English words that say nothing about what two texts share."""


def name(text: str) -> str:
    """Return a stored name (an id, a tag, an actor) as safe text for a line of facts."""
    return one_line(text, 60)


def facts(names: Iterable[str]) -> Content:
    """Return facts in one muted line; each is made safe."""
    return muted(" · ".join(name(n) for n in names if n))


def heading(text: str, more: Content | None = None) -> Content:
    """Return the heading of a part, with a muted remark behind it."""
    title = Content.styled(text, "bold $text-accent")
    return title if more is None else title + Content("  ") + more


def diff_legend() -> Content:
    """Return how a word diff is marked."""
    return assemble([("[-removed-]", "$text-error"), (" ", ""), ("{+added+}", "$text-success")])


def fold(reasons: Iterable[str], key: str) -> Content:
    """Return what stands for a text that is folded away: why, and the key that opens it."""
    pieces = [("Folded: this text is not shown until you open it.\n", "bold $text-warning")]
    pieces += [(f"  ! {one_line(reason, 200)}\n", "$text-warning") for reason in reasons]
    return assemble(
        [*pieces, (key, "bold $text-accent"), (" opens it. Rejecting works without.", MUTED)]
    )


def overlap(one: str, two: str) -> float:
    """Return which share of the words two texts have in common in the same order, from 0 to 1."""
    return Indel.normalized_similarity(words(one[:MAX_DIFF]), words(two[:MAX_DIFF]))


def told_apart(title: str, older: str, newer: str) -> list[Content]:
    """Return the word diff of two texts below its heading."""
    if older == newer:
        return [heading(title, muted("the same text"))]
    return [heading(title, diff_legend()), word_diff(older, newer, _BESIDE)]


def compared(existing: str, text: str) -> Content:
    """Return an existing text compared with another: as a word diff, or with the words they share.

    A text that is folded away is empty here, and the other one stands alone.
    """
    if not text:
        return body(existing)
    if overlap(existing, text) >= ALIKE:
        return word_diff(existing, text)
    shared = set(words(text[:MAX_DIFF])) - _COMMON
    found = (
        match.span()
        for match in _WORD.finditer(existing[:MAX_DIFF])
        if match.group().lower() in shared
    )
    return highlight(existing, found, SHARED)


# One line of the queue: flags, importance, what it is about, and how long it waits.


MARK = "!"
"""Before what has a flag; which one the row says in words where there is room, and the text always."""

FLAG = "$text-warning"
FOLDED = "! folded: {list.open} or {review.unfold} opens it"

_WORDS_FROM = 72
"""From this width on, the flags stand in words too."""


def title(proposal: Proposal, memory: Memory | None) -> str:
    """Return what a proposal is about, in stored words (not yet safe to draw)."""
    kind = kind_of(proposal.kind)
    if kind.is_candidate or memory is None:
        return proposal.title
    label = kind.sign or f"{describe(proposal).label}:".replace("?:", "?")
    return f"{label} {memory.line}"


def flags_in_words(flags: tuple[str, ...]) -> Content:
    """Return the flags with their signs, on one wrapping line."""
    return Content.styled("   ".join(f"{MARK} {one_line(flag, 200)}" for flag in flags), FLAG)


def legend(width: int) -> Content:
    """Return what the signs of the list stand for, as many as fit whole into `width` cells."""
    signed = ((kind.sign, kind.label) for kind in KINDS.values() if kind.sign)
    signs = [*signed, (MARK, "flagged")]
    while sum(len(sign) + len(words) + 2 for sign, words in signs) > width and signs:
        signs.pop()
    return assemble(
        [piece for sign, words in signs for piece in ((f"{sign} ", FLAG), (f"{words} ", MUTED))]
    )


# The rows by group: a heading with its count above each, and which of them are folded.


FOLDED_FROM = 6
"""From so many on that nobody stored, or that were put off, a group is a line until it is opened."""

ASK = Group(
    "ask",
    "Not searched yet",
    "Searches that compare all memories run only on request, because the store is large.",
)
"""Stands for what is worked out only when a person asks for it."""


@dataclass(frozen=True, slots=True)
class Heading:
    """The line above a group, or in its place while that is `folded`; `text` takes the place of its
    title.
    """

    group: Group
    members: tuple[Proposal, ...] = ()
    folded: bool = False
    text: str = ""

    @property
    def id(self) -> str:
        """What it is known by among the rows; no proposal is called so."""
        return heading_id(self.group.id)


Item = Proposal | Heading


def heading_id(group: str) -> str:
    """Return what the heading of a group is known by."""
    return f"group {group}"


def grouped(
    listed: Sequence[Proposal],
    now: datetime,
    found: Collection[str],
    turned: Collection[str],
    done: str,
) -> list[Item]:
    """Return the rows of what is listed, the groups in their order and each in the order of the
    queue.

    One group alone has no heading. `found` are the ids of what is stored nowhere; the groups of
    `turned` were folded or opened by hand. `done` says what was decided, and is said where nothing
    is left but what was put off.
    """
    parted: dict[str, list[Proposal]] = {}
    known = frozenset(group.id for group in GROUPS)
    for proposal in listed:
        place = LATER.id if is_put_off(proposal, now) else group_of(proposal)
        parted.setdefault(place if place in known else OTHER, []).append(proposal)
    if len(parted) == 1 and LATER.id not in parted and not found:
        return list(listed)
    rows: list[Item] = []
    for group in GROUPS:
        members = parted.get(group.id)
        if members is None:
            continue
        is_aside = group is LATER or all(one.id in found for one in members)
        many = is_aside and len(members) >= FOLDED_FROM
        folded = (many or group is IMPORTANT) != (group.id in turned)
        text = done if group is LATER and len(parted) == 1 else ""
        rows.append(Heading(group, tuple(members), folded, text))
        rows += [] if folded else members
    return rows


def heading_line(heading: Heading, key: str) -> Content:
    """Return the line of a heading; `key` opens and folds it."""
    title = heading.text or heading.group.title
    if not heading.members:
        more = "" if heading.text else f"  {key} searches"
        return assemble([(title, "bold $text-accent"), (more, MUTED)])
    more = f"  {key} lists them" if heading.folded else ""
    count = "" if heading.text else f"  {number(len(heading.members))}"
    return assemble([(title, "bold $text-accent"), (count, "bold"), (more, MUTED)])


def about(heading: Heading) -> Content:
    """Return what a group is, what its kinds ask, and what the keys do with all of it."""
    parts = [
        assemble([(heading.text or heading.group.title, "bold")]),
        muted(heading.group.about),
    ]
    for id, count in Counter(one.kind for one in heading.members).items():
        kind = kind_of(id)
        parts += [
            BLANK,
            assemble([(f"{number(count)} × {kind.label}  ", "bold"), (kind.question, "")]),
            answers(kind.yes, kind.no),
        ]
    if not heading.members:
        return Content("\n").join(
            [*parts, Content(""), key_line("list.open", "searches now, in the background")]
        )
    all_of = "it" if len(heading.members) == 1 else f"all {number(len(heading.members))}"
    turn = "lists them" if heading.folded else "folds them"
    parts += [Content(""), key_line("list.open", turn)]
    for id, what in (("approve", "approves"), ("reject", "rejects"), ("later", "postpones")):
        look = (
            ", after showing those you have not read"
            if id != "later" and len(heading.members) > 1
            else ""
        )
        parts.append(key_line(f"review.{id}", f"{what} {all_of}{look}"))
    return Content("\n").join(parts)


def answers(yes: str, no: str) -> Content:
    """Return what approving and rejecting do."""
    return assemble(
        [("Approve: ", "bold"), (f"{yes}\n", MUTED), ("Reject:  ", "bold"), (no, MUTED)]
    )


# How a sitting in Review goes: what was decided and how, and what is left.


class Progress(dict[str, str]):
    """The ids decided in this sitting with what was done, in order."""

    def note(self, ids: Iterable[str], done: str) -> None:
        """Count decisions; `done` is the word for what they were."""
        for id in ids:
            self.pop(id, None)
            self[id] = done

    def sentence(self, left: int, put_off: int, suggested: int, listed: int | None = None) -> str:
        """Return "12 decided · 8 left · 2 put off · 5 suggested"."""
        parts = [f"{listed} listed"] if listed is not None else []
        parts += [f"{len(self)} decided", f"{left} left"] if self else [f"{left} to decide"]
        parts += [f"{put_off} put off"] if put_off else []
        return " · ".join([*parts, *([f"{suggested} suggested"] if suggested else [])])

    def done(self, put_off: int) -> str:
        """Return "All done: 12 approved, 3 rejected · 2 left for later"; empty while nothing was
        done.
        """
        counted = ", ".join(f"{count} {word}" for word, count in Counter(self.values()).items())
        later = f"{put_off} left for later" if put_off else ""
        said = " · ".join(part for part in (counted, later) if part)
        return f"All done: {said}" if said else ""


# Working out what waits without being stored, on a thread: when Review comes into sight, and when a
# person asks.


@dataclass(frozen=True, slots=True)
class Look:
    """What is looked for: some kinds (all when empty), also in a large store when `asked`, or only
    what is `quick`.
    """

    only: frozenset[str] = frozenset()
    asked: bool = False
    quick: bool = False

    def and_then(self, other: "Look | None") -> "Look":
        """Return what is looked for when both are."""
        if other is None:
            return self
        only = self.only | other.only if self.only and other.only else frozenset[str]()
        return Look(only, self.asked or other.asked, self.quick and other.quick)


class SuggestionSearch:
    """One look at a time for a screen, which is told of each by `looked` (and whether it was
    stopped) and calls `took`.

    `unasked` are the kinds that wait until a person asks, since the store is large; `is_asked`
    tells that one did, and that this goes on.
    """

    def __init__(
        self,
        screen: Screen[object],
        bench: Workbench,
        looked: Callable[[Look, WorkedOut, bool], None],
    ) -> None:
        self._screen, self._bench, self._looked = screen, bench, looked
        self._revision = -1
        self._unready: frozenset[str] = frozenset()
        self._next: Look | None = None
        self._stop = threading.Event()
        self.is_looking = self.is_asked = False
        self.unasked: tuple[str, ...] = ()

    def come(self) -> None:
        """Look when the queue comes into sight, first around the store, then at every memory if
        anything changed.
        """
        revision = self._bench.library.revision
        self.look(Look(quick=True))
        if revision != self._revision:
            self.look(Look())
        self._revision = revision

    def saw(self) -> None:
        """Note that what changed was in sight: only what changes elsewhere is looked for when one
        comes back.
        """
        if self._revision >= 0:
            self._revision = self._bench.library.revision

    def ready(self) -> None:
        """Look for what needed the model, now that it is loaded."""
        if self._unready:
            self.look(Look(self._unready))

    def stop(self) -> bool:
        """Stop what a person asked for; tell whether there was anything."""
        if self.is_asked:
            self._stop.set()
        return self.is_asked

    def took(self, look: Look, out: WorkedOut, stopped: bool) -> None:
        """Note what came of a look, and begin the next one that was asked for."""
        self.is_looking = self.is_asked = False
        if stopped:
            self._next = None
        elif not look.quick:
            self._unready, self.unasked = frozenset(out.unready), out.unasked
        if (following := self._next) is not None:
            self._next = None
            self.look(following)

    def look(self, look: Look) -> None:
        """Begin a look, or have it follow the one that goes on."""
        if self.is_looking:
            self._next = look.and_then(self._next)
            return
        self.is_looking, self.is_asked = True, look.asked
        self._stop.clear()
        self._screen.run_worker(self._run(look), group="found", exit_on_error=False)

    async def _run(self, look: Look) -> None:
        worker, stop = get_current_worker(), self._stop

        def cancelled() -> bool:
            return worker.is_cancelled or stop.is_set()

        out = await asyncio.to_thread(
            self._bench.working_out.run,
            cancelled,
            only=look.only,
            asked=look.asked,
            quick=look.quick,
        )
        self._looked(look, out, stop.is_set())


# The filter, the rows, where the cursor goes, and how the sitting goes.


class Queue:
    """The filter's `box`, the `rows`, and the `count` beside the filter.

    `go_to` is where the cursor goes when the queue is listed next: at first to the item that was
    shown last time. `awaited` is an item that a dialog opened from here may decide. `wanted` is the
    heading that somebody came for, until it is there or is known not to be.
    """

    def __init__(
        self,
        bench: Workbench,
        search: SuggestionSearch,
        is_folded: Callable[[Proposal], bool],
        go_to: str,
    ) -> None:
        self._bench, self._search, self._is_folded = bench, search, is_folded
        self._progress = Progress()
        self.box = SafeInput(placeholder="/ filter: tag:ci since:7d words", id="filter")
        self.count = Static(id="count")
        # A decision moves every row below it by a line, and none of them is drawn anew.
        self.rows: LineList[Item] = LineList(
            self._draw,
            lambda p: p.id,
            is_heading=lambda p: isinstance(p, Heading),
            title="To decide",
            id="queue",
        )
        self.go_to: str | None = go_to
        self.awaited = self.wanted = ""
        self._turned: set[str] = set()

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
        return [row for row in self.rows.rows if not isinstance(row, Heading)]

    def targets(self, area: "AreaScreen") -> list[Proposal]:
        """Return what the next decision is for: the marked rows, or all of the group whose heading
        is under the cursor, or else the row there.
        """
        found: list[Proposal] = []
        for one in area.take_targets(self.rows):
            found += one.members if isinstance(one, Heading) else [one]
        return found

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
        review, filter = self._bench.review, self.box.value.strip()
        every, found = review.queue(), review.found()
        try:
            listed = review.matching((*every, *found), filter)
        except InvalidQuery as error:
            self.count.update(Content.styled(f"✗ {error}", "$text-error"), layout=False)
            return False
        now = self._bench.context.now()
        waiting = frozenset(p.id for p in every if not is_put_off(p, now))
        found_ids = frozenset(p.id for p in found)
        for id in (waiting | found_ids).intersection(self._progress):
            del self._progress[id]  # it waits again, as after an undo
        put_off = len(every) - len(waiting)
        no_match = keyed("Nothing matches. Esc clears the filter, {app.help} explains it.")
        self.rows.set_empty(Content(no_match if every or found else self._nothing()))
        rows = grouped(
            listed, now, found_ids, self._turned, "" if filter else self._progress.done(put_off)
        )
        if (self._search.unasked or self._search.is_asked) and not filter:
            rows.append(
                Heading(ASK, text="Looking … esc stops it" if self._search.is_asked else "")
            )
        self._set_rows(rows)
        suggested = sum(not is_noise(p.kind) for p in found)
        shown = len(listed) if filter else None
        said = self._progress.sentence(review.waiting(), put_off, suggested, shown)
        self.count.update(Content(said), layout=False)
        return True

    def _set_rows(self, rows: list[Item]) -> None:
        """List rows; the cursor goes where it is wanted, else it stays, at first on the first
        proposal.
        """
        place = next(
            (i for i, row in enumerate(rows) if row.id == (self.wanted or self.go_to)), None
        )
        self.go_to = None
        if place is not None:
            self.wanted = ""
        elif not self.rows.rows:
            place = next((i for i, row in enumerate(rows) if not isinstance(row, Heading)), None)
        self.rows.set_rows(rows, cursor=place)

    def _nothing(self) -> str:
        """Say what was done, and what to do, when the queue is empty."""
        done = self._progress.done(0)
        count = int(
            next(
                c.value for c in self._bench.overview.gauge().conditions if c.name == "observations"
            )
        )
        if count:
            what = f"No candidates. {key_of('app.reflect')} reflects on {amount(count, 'observation')} now."
        elif read := self._bench.reflecting.readable():
            memories = amount(read, "memory", "memories")
            what = f"No candidates. {key_of('app.reflect')} reflects: it would read {memories}."
        else:
            what = keyed(
                "No candidates and no memories yet. Import some with `workbench import FILE` or `workbench ingest`, or "
                "press {app.import}."
            )
        return f"{done}. {what}" if done else what

    def _draw(self, proposal: Item, width: int) -> Content | list[Cell]:
        if isinstance(proposal, Heading):
            return heading_line(proposal, key_of("list.open"))
        memory, now, mask = (
            self._bench.review.memory(proposal),
            self._bench.context.now(),
            self._bench.safety.masked,
        )
        rests, at = is_put_off(proposal, now), proposal.created_at
        if rests and proposal.review_after:  # half a day rounds "in 6 days and 23 hours" to a week
            at = moved(proposal.review_after, timedelta(hours=12))
        style = MUTED if rests else ""
        weight = assemble(
            [(MARK if proposal.flags else " ", FLAG), (f"{proposal.importance:3.0f}", style)]
        )
        text = mask(title(proposal, memory))
        cells = [Cell(weight, 4, name=" imp"), Cell(text, 0, style, name="proposal")]
        if self._is_folded(proposal):
            cells[1] = replace(cells[1], text=keyed(FOLDED), style=FLAG)
        if width >= _WORDS_FROM and proposal.flags:
            said = mask(", ".join(proposal.flags))
            cells.append(Cell(said, min(20, len(said)), FLAG))
        return [*cells, Cell(brief(at, now), AGE, MUTED, "right", "age")]

    # Deciding

    def decided(self, ids: list[str], following: str | None, done: str = "approved") -> None:
        """Count decisions and send the cursor on at once, so that a key typed ahead is for the next
        item.

        `done` is the word for what was decided. The rest of the list follows when the store says
        what changed.
        """
        self.go_to = following
        self._progress.note(ids, done)
        left = [p for p in self.rows.rows if p.id not in ids]
        self.rows.set_rows(
            left, cursor=next((at for at, p in enumerate(left) if p.id == following), None)
        )

    def expect(self, touched: Touched, ids: Collection[str]) -> bool:
        """Say where the cursor goes after a transaction that touched these; return whether it is
        wanted there.

        An undone decision of this person brings its item and the cursor back.
        """
        mine = touched.actor == self._bench.context.actor
        waiting = [p.id for p in (*self._bench.review.queue(), *self._bench.review.found())]
        if touched.kind == "undo" and mine:
            self.go_to = next((id for id in waiting if id in ids), None)
        elif touched.kind == "redo" and mine:
            self.go_to = self.after(ids)
            self._progress.note(
                [p.id for p in self.listed if p.id in set(ids).difference(waiting)], "decided"
            )
        awaited = mine and self.awaited in ids
        if awaited and self.awaited not in waiting:
            self._progress.note([self.awaited], "promoted")
            self.awaited = ""
        return self.go_to is not None or awaited

    def after(self, ids: Iterable[str]) -> str | None:
        """Return the id that the cursor goes to when these leave: the next one below, else the last
        above.
        """
        leaving, cursor, rows = set(ids), self.rows.cursor, self.rows.rows
        stays = (
            p.id for p in (*rows[cursor:], *reversed(rows[:cursor])) if not isinstance(p, Heading)
        )
        return next((id for id in stays if id not in leaving), None)

    def go_round(self, step: int) -> None:
        """To the next or previous listed item, round the end."""
        places = [at for at, row in enumerate(self.rows.rows) if not isinstance(row, Heading)]
        ahead = [
            at for at in places if (at > self.rows.cursor if step > 0 else at < self.rows.cursor)
        ]
        if places:
            self.rows.cursor = (ahead or places)[0 if step > 0 else -1]
