"""Working out what waits without being stored, on a thread: when Review comes into sight, and when a person asks."""

import threading
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial

from textual.content import Content
from textual.message import Message
from textual.screen import Screen
from textual.widgets import Static
from textual.worker import get_current_worker

from workbench.core.review.kinds import GROUPS, IMPORTANT, LATER, OTHER, Group, group_of, kind_of
from workbench.core.review.proposal import Proposal
from workbench.services.open import Workbench
from workbench.services.review.review import is_put_off
from workbench.services.review.suggestion_finder import WorkedOut
from workbench.tui.app.surviving import survives
from workbench.tui.widgets.content import MUTED, assemble
from workbench.tui.widgets.figures import number

# The line beside the filter of Review: how the sitting goes, in as many words as there is room for.


Say = Callable[[int | None], Content]
"""Given the cells there are, or `None` before anybody knows, returns what is said."""


@survives
class Count(Static):
    """Says the same in fewer words where there is less room, and never half a number."""

    _say: Say | None = None

    def show(self, say: Say) -> None:
        self._say = say
        self._fit()

    def on_resize(self) -> None:
        """Say it in the room there is now."""
        self._fit()

    def _fit(self) -> None:
        if self._say is not None:
            self.update(self._say(self.content_size.width or None), layout=False)


# What Review lists, by group: a heading with its count above each, and which of them are folded.


FOLDED_FROM = 6
"""From so many on that nobody stored, or that were put off, a group is a line until it is opened."""

ASK = Group(
    "ask", "Not searched yet", "Searches that compare all memories run only on request, because the store is large."
)
"""Stands for what is worked out only when a person asks for it."""


@dataclass(frozen=True, slots=True)
class Heading:
    """The line above a group, or in its place while that is `folded`; `text` takes the place of its title."""

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
    listed: Sequence[Proposal], now: datetime, found: Collection[str], turned: Collection[str], done: str
) -> list[Item]:
    """Return the rows of what is listed, the groups in their order and each in the order of the queue.

    One group alone has no heading. `found` are the ids of what is stored nowhere; the groups of `turned` were folded
    or opened by hand. `done` says what was decided, and is said where nothing is left but what was put off.
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


def about(heading: Heading, keys: dict[str, str]) -> Content:
    """Return what a group is, what its kinds ask, and what the keys do with all of it."""
    parts = [assemble([(heading.text or heading.group.title, "bold")]), Content.styled(heading.group.about, MUTED)]
    for id, count in Counter(one.kind for one in heading.members).items():
        kind = kind_of(id)
        parts += [
            Content(""),
            assemble([(f"{number(count)} × {kind.label}  ", "bold"), (kind.question, "")]),
            assemble([("Approve: ", "bold"), (f"{kind.yes}\n", MUTED), ("Reject:  ", "bold"), (kind.no, MUTED)]),
        ]
    if not heading.members:
        return Content("\n").join([*parts, Content(""), _key(keys["list.open"], "searches now, in the background")])
    all_of = "it" if len(heading.members) == 1 else f"all {number(len(heading.members))}"
    turn = "lists them" if heading.folded else "folds them"
    parts += [Content(""), _key(keys["list.open"], turn)]
    for id, what in (("approve", "approves"), ("reject", "rejects"), ("later", "puts off")):
        look = ", after showing those you have not read" if id != "later" and len(heading.members) > 1 else ""
        parts.append(_key(keys[f"review.{id}"], f"{what} {all_of}{look}"))
    return Content("\n").join(parts)


def _key(key: str, text: str) -> Content:
    return assemble([(f"{key:<6}", "bold $text-accent"), (text, "")])


# How a sitting in Review goes: what was decided and how, how fast, and what is left.


PACE_OF = 12
"""Over how many of the latest decisions the pace is taken."""

PAUSE = 120.0
"""Seconds without a decision after which the pace starts anew."""


Part = tuple[int, str]
"""How much a part of the sentence matters, and what it says."""


def _joined(parts: list[Part]) -> str:
    return " · ".join(text for _, text in parts)


@dataclass(frozen=True, slots=True)
class Progress:
    """The ids decided in this sitting with the time of each and what was done, in order."""

    decided: tuple[tuple[str, datetime, str], ...] = ()

    def with_decided(self, ids: list[str], at: datetime, done: str = "decided") -> "Progress":
        """Count decisions; `done` is the word for what they were."""
        kept = tuple(d for d in self.decided if d[0] not in ids)
        return replace(self, decided=(*kept, *((id, at, done) for id in ids)))

    def without(self, waiting: frozenset[str]) -> "Progress":
        """Take back those that wait again, as after an undo."""
        if not any(id in waiting for id, _, _ in self.decided):
            return self
        return replace(self, decided=tuple(d for d in self.decided if d[0] not in waiting))

    @property
    def pace(self) -> float | None:
        """Decisions a minute since the last pause; `None` before the third one."""
        times = [at for _, at, _ in self.decided[-PACE_OF:]]
        since = 0
        for i in range(1, len(times)):
            if (times[i] - times[i - 1]).total_seconds() > PAUSE:
                since = i
        run = times[since:]
        seconds = (run[-1] - run[0]).total_seconds() if len(run) >= 3 else 0.0
        return (len(run) - 1) * 60 / seconds if seconds >= 1 else None

    def sentence(self, left: int, put_off: int, listed: int | None = None, room: int | None = None) -> str:
        """Return "12 decided · 8 left · 2 put off · 9 a minute", as much of it as there is `room` for, in cells.

        What nobody stored is left, too. The least that it says is what is left, and before that goes how many a
        filter lists.
        """
        parts = [(3, f"{listed} listed")] if listed is not None else []
        parts += [(2, f"{len(self.decided)} decided")] if self.decided else []
        parts.append((4, f"{left} {'left' if self.decided else 'to decide'}"))
        parts += [(1, f"{put_off} put off")] if put_off else []
        parts += [(0, f"{self.pace:.0f} a minute")] if self.pace is not None else []
        while room is not None and len(parts) > 1 and len(_joined(parts)) > room:
            parts.remove(min(parts))
        return _joined(parts)

    def done(self, put_off: int) -> str:
        """Return "All done: 12 approved, 3 rejected · 2 left for later"; empty while nothing was done."""
        counted = ", ".join(f"{count} {word}" for word, count in Counter(d[2] for d in self.decided).items())
        later = f"{put_off} left for later" if put_off else ""
        said = " · ".join(part for part in (counted, later) if part)
        return f"All done: {said}" if said else ""


@dataclass(frozen=True, slots=True)
class Look:
    """What is looked for: some kinds (all when empty), also in a large store when `asked`, or only what is `quick`."""

    only: frozenset[str] = frozenset()
    asked: bool = False
    quick: bool = False

    def and_then(self, other: "Look | None") -> "Look":
        """Return what is looked for when both are."""
        if other is None:
            return self
        only = self.only | other.only if self.only and other.only else frozenset[str]()
        return Look(only, self.asked or other.asked, self.quick and other.quick)


class Looked(Message):
    """A look is over, or was `stopped`; Review knows what was found."""

    def __init__(self, look: Look, out: WorkedOut, *, stopped: bool = False) -> None:
        super().__init__()
        self.look = look
        self.out = out
        self.stopped = stopped


class SuggestionSearch:
    """One look at a time for a screen, which is told of each by a `Looked` and calls `took`.

    `unasked` are the kinds that wait until a person asks, since the store is large; `is_asked` tells that one did, and
    that this goes on.
    """

    def __init__(self, screen: Screen[object], bench: Workbench) -> None:
        self._screen = screen
        self._bench = bench
        self._revision = -1
        self._unready: frozenset[str] = frozenset()
        self._next: Look | None = None
        self._stop = threading.Event()
        self.is_looking = self.is_asked = False
        self.unasked: tuple[str, ...] = ()

    def come(self) -> None:
        """Look when the queue comes into sight, first around the store, then at every memory if anything changed."""
        revision = self._bench.library.revision
        self._look(Look(quick=True))
        if revision != self._revision:
            self._look(Look())
        self._revision = revision

    def saw(self) -> None:
        """Note that what changed was in sight: only what changes elsewhere is looked for when one comes back."""
        if self._revision >= 0:
            self._revision = self._bench.library.revision

    def ready(self) -> None:
        """Look for what needed the model, now that it is loaded."""
        if self._unready:
            self._look(Look(self._unready))

    def again(self) -> None:
        """Look at what lies around the store once more."""
        self._look(Look(quick=True))

    def all(self) -> None:
        """Look for everything, in a large store, too."""
        self._look(Look(asked=True))

    def stop(self) -> bool:
        """Stop what a person asked for; tell whether there was anything."""
        if self.is_asked:
            self._stop.set()
        return self.is_asked

    def took(self, event: Looked) -> None:
        """Note what came of a look, and begin the next one that was asked for."""
        self.is_looking = self.is_asked = False
        if event.stopped:
            self._next = None
        elif not event.look.quick:
            self._unready, self.unasked = frozenset(event.out.unready), event.out.unasked
        if (following := self._next) is not None:
            self._next = None
            self._look(following)

    def _look(self, look: Look) -> None:
        if self.is_looking:
            self._next = look.and_then(self._next)
            return
        self.is_looking, self.is_asked = True, look.asked
        self._stop.clear()
        self._screen.run_worker(partial(self._run, look), thread=True, group="found", exit_on_error=False)

    def _run(self, look: Look) -> None:
        worker, stop, only = get_current_worker(), self._stop, look.only

        def cancelled() -> bool:
            return worker.is_cancelled or stop.is_set()

        out = self._bench.working_out.run(cancelled, only=only, asked=look.asked, quick=look.quick)
        if not worker.is_cancelled:
            self._screen.post_message(Looked(look, out, stopped=stop.is_set()))
