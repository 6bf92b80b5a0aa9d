"""Two rankings of one query side by side: the sliders', a snapshot's or a profile's."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import ClassVar, Literal

from textual import on
from textual.binding import BindingType
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Static

from workbench.core.record import WorkbenchError
from workbench.core.text import counted
from workbench.core.tuning.profile import Profile
from workbench.core.tuning.verdict import signed
from workbench.services.tuning.profiles import ProfileProvenance, Profiles, Snapshots
from workbench.services.tuning.session import BEYOND, Question, Standing, TuningSession
from workbench.tui.app.actions import bindings
from workbench.tui.app.host import Host
from workbench.tui.records.links import Acts, Place
from workbench.tui.tuning.actions import COMPARE
from workbench.tui.tuning.parameters import Move, movement
from workbench.tui.widgets.content import MUTED, assemble, line
from workbench.tui.widgets.dialog import Choice, Choose, Dialog
from workbench.tui.widgets.figures import day
from workbench.tui.widgets.lists.line_list import LineView
from workbench.tui.widgets.lists.row import Cell, lay_out


@dataclass(frozen=True, slots=True)
class Beside:
    """One place of both rankings; a heading has neither."""

    place: int
    left: Standing | None
    right: Standing | None


Which = Literal["left", "right"]
Named = tuple[str, Profile]
"""What a ranking is called, and its settings."""


class CompareDialog(Dialog[Which | None]):
    """Place by place; arrows say where each memory stands in the other one.

    The result is the side that is to be another one, or `None`. `mask` takes secrets out of what is shown.
    """

    BINDINGS: ClassVar[list[BindingType]] = bindings(COMPARE)
    DEFAULT_CSS = """
    CompareDialog {
        & > .dialog { width: 96%; max-width: 170; height: 94%; }
        &.-narrow > .dialog { width: 100%; height: 100%; }
        & .dialog--title, & .dialog--keys { margin: 0; }
        & #compare-state { height: 1; margin-bottom: 1; }
        & #compare-head { height: 1; padding-left: 2; }
        & LineView { background: $surface; }
    }
    """

    def __init__(
        self, question: Question, now: datetime, left: Named, right: Named, mask: Callable[[str], str]
    ) -> None:
        super().__init__("Compare two rankings", COMPARE)
        self._question = question
        self._mask = mask
        self._now = now
        self._left = left
        self._right = right
        self._k = 0
        self._record = Acts(lambda: self, self._record_here)
        self._rows: Sequence[Beside] = ()
        self._rank()

    def contents(self) -> Iterable[Widget]:
        """Return what they have in common, both names, and the places."""
        yield Static(Content(""), id="compare-state")
        yield Static(Content(""), id="compare-head")
        yield LineView(self._draw, lambda row: row.place, empty=Content("Neither of them serves anything."))

    def on_mount(self) -> None:
        """Show the places."""
        self._show()
        self.query_one(LineView).focus()

    def on_resize(self) -> None:
        """Lay the names out as the rows are."""
        self.call_after_refresh(self._head)

    def _head(self) -> None:
        width = self.query_one(LineView).scrollable_content_region.width - 2
        cells = [Cell("", 3), Cell(self._left[0], 0, "bold"), Cell(self._right[0], 0, "bold")]
        self.query_one("#compare-head", Static).update(lay_out(cells, width, gap=1))

    def _rank(self) -> None:
        left, right = self._left[1], self._right[1]
        self._k = max(left.k, right.k)
        self._rows, self._state = _beside(self._question, self._now, left, right)

    def _show(self) -> None:
        self.query_one("#compare-state", Static).update(Content(self._state))
        self.query_one(LineView).set_rows(self._rows, cursor=0)
        self.call_after_refresh(self._head)

    def _draw(self, row: Beside, width: int) -> Content:
        style = "" if row.place <= self._k else MUTED
        cells = [Cell(str(row.place), 3, style, "right"), Cell(self._side(row.left, width, self._went), 0, style)]
        return lay_out([*cells, Cell(self._side(row.right, width, self._came), 0, style)], width, gap=1)

    def _side(self, standing: Standing | None, width: int, mark_of: Callable[[Standing], Move]) -> Content:
        if standing is None:
            return Content("")
        move = mark_of(standing)
        mark = assemble([(f"{move.text:<4} ", move.style)])
        return mark + line(self._mask(standing.memory.line), max(0, width // 2)).rstrip()

    def _went(self, standing: Standing) -> Move:
        """Say where a memory of the left ranking stands in the right one."""
        place, there = standing.place, standing.before
        if there is None or (place is not None and place <= self._k < there):
            return Move("out")
        return Move("to", there)

    def _came(self, standing: Standing) -> Move:
        return movement(standing, self._k)

    @on(LineView.Opened)
    def _open(self) -> None:
        """Open the memory of the left ranking, or the right one's where the left has none at this place."""
        self._record.open()

    def _record_here(self, _what: str) -> Place | None:
        row: Beside | None = self.query_one(LineView).current
        standing = None if row is None else row.left or row.right
        return None if standing is None else ("memories", standing.memory.id)

    def action_left(self) -> None:
        self.dismiss("left")

    def action_right(self) -> None:
        self.dismiss("right")

    def action_swap(self) -> None:
        """Let them change sides."""
        self._left, self._right = self._right, self._left
        self._rank()
        self._show()


def in_common(question: Question, now: datetime, left: Profile, right: Profile) -> str:
    """Say how many of the best two settings have in common."""
    theirs, mine = (question.rank(profile, now).ids for profile in (left, right))
    one, two = set(theirs), set(mine)
    same = sum(a == b for a, b in zip(theirs, mine, strict=False))
    state = f"{len(one & two)} of the top {left.k} are in both, {same} at the same place"
    return f"{state} · {len(two - one)} new, {len(one - two)} out"


def _beside(question: Question, now: datetime, one: Profile, other: Profile) -> tuple[Sequence[Beside], str]:
    count = max(one.k, other.k) + BEYOND
    theirs, mine = (question.rank(profile, now, count) for profile in (one, other))
    left = question.standings(theirs, question.baseline(other, now))
    right = question.standings(mine, question.baseline(one, now))
    rows = [
        Beside(i + 1, left[i] if i < len(left) else None, right[i] if i < len(right) else None)
        for i in range(max(len(left), len(right)))
    ]
    return rows, in_common(question, now, one, other)


# What can be looked at side by side: the current sliders, snapshots, and saved profiles.


Kind = Literal["sliders", "snapshot", "built in", "yours"]

SLIDERS = "sliders"
"""The id of the settings as they stand."""


@dataclass(frozen=True, slots=True)
class Side:
    """One set of parameters; without `profile`, `problem` says why its file cannot be used.

    `at` is when a snapshot was taken, `birth` what a saved profile was measured on.
    """

    kind: Kind
    name: str
    profile: Profile | None
    at: datetime | None = None
    birth: ProfileProvenance | None = None
    problem: str = ""

    @property
    def id(self) -> str:
        """What names it among all sides."""
        return SLIDERS if self.kind == "sliders" else f"{self.kind}:{self.name}"

    @property
    def is_profile(self) -> bool:
        """Whether it is a saved profile: built in, or a person's own."""
        return self.kind not in ("sliders", "snapshot")

    @property
    def title(self) -> str:
        """How it is called over a ranking."""
        return f"snapshot {self.name}" if self.kind == "snapshot" else self.name


def sides(session: TuningSession, shelf: Snapshots, profiles: Profiles) -> tuple[Side, ...]:
    """Return everything that can be compared: the sliders, the snapshots, the profiles."""
    name = f"{session.saved.name} • changed" if session.changed else session.saved.name
    now = Side("sliders", name, session.profile)
    kept = tuple(Side("snapshot", s.name, s.profile, s.at, problem=s.problem) for s in shelf.all())
    return (now, *kept, *saved_sides(profiles))


def saved_sides(profiles: Profiles) -> tuple[Side, ...]:
    """Return the profiles, the built-in ones first."""
    return tuple(_saved(profiles, name) for name in profiles.names())


def born(birth: ProfileProvenance) -> str:
    """Return a birth certificate in one line."""
    band = f"[{signed(birth.low)}, {signed(birth.high)}]"
    judgments = counted(birth.judgments, "judgment")
    made = f"set {birth.query_set[:7]} · {day(birth.at)}"
    return f"Δ {signed(birth.delta)} {band} over {birth.parent} · {judgments} · {made}"


def remark(side: Side) -> str:
    """Return what a list says beside a name."""
    if side.problem:
        return "cannot be read"
    if side.birth is not None:
        return born(side.birth)
    if side.kind == "sliders":
        return "as the sliders stand"
    if side.kind == "snapshot":
        return "snapshot"
    return side.profile.about if side.profile and side.profile.about else side.kind


def standing_in(profile: Profile, saved: Profile) -> Profile:
    """Return the settings of a snapshot as settings that come from `saved`."""
    return replace(profile, name=saved.name, about=saved.about)


async def choose_side(app: Host, title: str, found: Sequence[Side], current: str) -> Side | None:
    """Ask for one of them; one that cannot be read is a toast."""
    choices = [Choice(side.id, side.title, remark(side)) for side in found]
    chosen = await app.push_screen_wait(Choose(title, choices, current))
    side = next((side for side in found if side.id == chosen), None)
    if side is not None and side.profile is None:
        app.say(side.problem, "error")
        return None
    return side


async def compare(app: Host, session: TuningSession, found: Sequence[Side], left: Side, right: Side) -> None:
    """Show two rankings side by side, and others in their place for as long as a person asks for them."""
    while session.question is not None and left.profile is not None and right.profile is not None:
        named = ((left.title, left.profile), (right.title, right.profile))
        wanted = await app.push_screen_wait(
            CompareDialog(session.question, session.now, *named, app.bench.safety.masked)
        )
        if wanted is None:
            return
        title = "On the left" if wanted == "left" else "On the right"
        other = await choose_side(app, title, found, (left if wanted == "left" else right).id)
        if other is None:
            return
        left, right = (other, right) if wanted == "left" else (left, other)


def _saved(profiles: Profiles, name: str) -> Side:
    kind: Kind = "built in" if profiles.is_built_in(name) else "yours"
    try:
        profile = profiles.get(name)
    except WorkbenchError as error:
        return Side(kind, name, None, problem=str(error))
    try:
        return Side(kind, name, profile, birth=profiles.birth(name))
    except WorkbenchError as error:
        # The settings hold; only what they were measured on cannot be read.
        return Side(kind, name, profile, problem=str(error))
