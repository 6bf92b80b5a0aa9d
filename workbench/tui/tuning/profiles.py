"""Snapshots and profiles: where each comes from, what it changes, how its ranking differs; save, use, compare."""

import time
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import ClassVar, Literal, cast

from textual import on
from textual.binding import BindingType
from textual.containers import Container
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Static

from workbench.core.record import WorkbenchError
from workbench.core.text import counted, printable
from workbench.core.tuning.profile import Profile
from workbench.core.tuning.verdict import signed
from workbench.services.tuning.profile_diff import Changed, Value, changes
from workbench.services.tuning.profiles import ProfileProvenance, Profiles, Snapshots, to_toml
from workbench.services.tuning.session import BEYOND, Question, Standing, TuningSession
from workbench.tui.app.actions import bindings
from workbench.tui.app.host import Host
from workbench.tui.app.waiting import asking
from workbench.tui.records.links import Acts, Place
from workbench.tui.tuning.actions import COMPARE, LIBRARY
from workbench.tui.tuning.parameters import Move, movement
from workbench.tui.widgets.content import MUTED, assemble, key_of, keyed, line, undo
from workbench.tui.widgets.dialog import Choice, Choose, Confirm, Dialog
from workbench.tui.widgets.figures import absolute, ago, day, days
from workbench.tui.widgets.lists.line_list import LineView
from workbench.tui.widgets.lists.reading_pane import ReadingPane
from workbench.tui.widgets.lists.row import Cell, lay_out
from workbench.tui.widgets.texts.prompt import Prompt

# Two rankings of one query side by side: the sliders', a snapshot's or a profile's.


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


# What is said about one set of parameters: its birth certificate, what it changes, how its ranking differs.


_LABEL = 20
_DAYS = ("half_lives.", "feedback_half_life")


def certificate_text(side: Side, against: Side, session: TuningSession, file: str) -> Content:
    """Return everything that is known about a side, compared with another one."""
    lines = [Content.styled(printable(side.title), "bold")]
    if side.profile is not None and side.profile.about and side.is_profile:
        lines.append(Content.styled(printable(side.profile.about), MUTED))
    if side.problem:
        lines += [Content(""), Content.styled(f"✗ {printable(side.problem)}", "$text-error")]
    if side.kind == "snapshot" and side.at is not None and side.profile is not None:
        lines.append(Content.styled(f"taken {absolute(side.at)}, from {printable(side.profile.name)}", MUTED))
    if file:
        lines += [Content(""), _row("file", printable(file))]
    if side.birth is not None:
        lines += [Content(""), *_certificate(side.birth)]
    elif side.kind == "yours" and not side.problem:
        lines += [Content(""), Content.styled("No provenance: it was saved without judged queries.", MUTED)]
    if side.profile is not None and against.profile is not None and side.id != against.id:
        lines += [Content(""), *_compared(side.profile, against.profile, against.title, session)]
    return Content("\n").join(lines)


def _certificate(birth: ProfileProvenance) -> Sequence[Content]:
    band = f"[{signed(birth.low)}, {signed(birth.high)}]"
    conclusion = "inconclusive" if birth.verdict == "unclear" else birth.verdict
    rows = [
        _row("saved", f"{absolute(birth.at)}, from {printable(birth.parent)}"),
        _row(f"Δ {printable(birth.metric)}", f"{signed(birth.delta)} {band} · {printable(conclusion)}"),
        _row("measured on", f"{birth.queries:,} queries with {birth.judgments:,} judgments"),
        _row("query set", printable(birth.query_set)),
    ]
    return [*rows, *([_row("how", printable(birth.how))] if birth.how else [])]


def _compared(profile: Profile, other: Profile, other_title: str, session: TuningSession) -> Sequence[Content]:
    found = changes(other, profile)
    head = assemble([("against ", MUTED), (printable(other_title), "bold")])
    lines = [head] if found else [head, Content("  The same settings.")]
    lines += [_changed(change) for change in found]
    if found and session.question is not None:
        lines += [Content(""), Content.styled(in_common(session.question, session.now, other, profile), "")]
        lines.append(Content.styled(keyed("{tune.compare} shows both rankings, place by place"), MUTED))
    return lines


def _changed(change: Changed) -> Content:
    before, after = (_shown(change.parameter, value) for value in (change.before, change.after))
    label = f"  {change.parameter:<{_LABEL}} "
    return assemble([(label, ""), (f"{before:>8}", MUTED), (" → ", MUTED), (after, "bold")])


def _shown(parameter: str, value: Value) -> str:
    if parameter.startswith(_DAYS):
        return days(value if isinstance(value, float | int) else None)
    if value is None or value == "":
        return "none"
    return f"{value:.4g}" if isinstance(value, float) else printable(str(value))


def _row(label: str, text: str) -> Content:
    return assemble([(f"{label:<14}", MUTED), (text, "")])


# Saving a profile under a name, where whatever goes wrong is said in the box, and putting one to use.


def name_prompt(name: str, check: Callable[[str], None], save: Callable[[str], Profile]) -> Prompt:
    """Return a prompt for a name that saves under it; its result is the name, or None.

    `check` raises `InvalidRecord` for a name that will not do; `save` raises whatever saving raises.
    """
    hint = "a name for the profile"
    return Prompt("Save these settings as", name, placeholder=hint, check=sentence_of(check), take=save)


def sentence_of(act: Callable[[str], object]) -> Callable[[str], str | None]:
    """Return what a prompt checks with: the sentence of the error that `act` raises, or `None`."""

    def tried(name: str) -> str | None:
        try:
            act(name)
        except WorkbenchError as error:
            return str(error)
        return None

    return tried


def use(app: Host, name: str) -> bool:
    """Let the store be ranked under a profile, for agents too, and say so; tell whether it was done."""
    with app.reporting():
        before, used = app.bench.tuning.used, app.bench.tuning.use(name)
        if used.origin != "store":
            app.say(f"The store uses {name}; here {used} goes before it.")
        elif used == before:
            app.say(f"{used} is in use already.")
        else:
            app.say(f"{used} ranks from now on, for agents too; {undo()} undoes it.")
        return True
    return False


_SYMBOLS = {"sliders": "●", "snapshot": "◇", "built in": "▪", "yours": "▫"}
_AGAINST = "◆"


@dataclass(frozen=True, slots=True)
class Library:
    """What the list works on; `birth` measures settings when they are saved."""

    session: TuningSession
    shelf: Snapshots
    birth: Callable[[Profile], Awaitable[ProfileProvenance | None]]


class LibraryDialog(Dialog[Side | None]):
    """The sliders, the snapshots and the profiles; the result is the one that the sliders are to take."""

    BINDINGS: ClassVar[list[BindingType]] = bindings(LIBRARY)
    DEFAULT_CSS = """
    LibraryDialog {
        & > .dialog { width: 94%; max-width: 150; height: 94%; }
        &.-narrow > .dialog { width: 100%; height: 100%; }
        & .dialog--title, & .dialog--keys { margin: 0; }
        & #library-state { height: 1; margin-bottom: 1; }
        & #library-panes { layout: horizontal; height: 1fr; }
        & LineView { width: 48; background: $surface; }
        & #library-text { width: 1fr; height: 1fr; border-left: solid $panel; }
        &.-narrow #library-state { margin-bottom: 0; }
        &.-narrow #library-panes { layout: vertical; }
        &.-narrow LineView { width: 1fr; height: 9; }
        &.-narrow #library-text { border-left: none; border-top: solid $panel; }
    }
    """

    def __init__(self, library: Library) -> None:
        super().__init__("Snapshots and profiles", [a for a in LIBRARY if a.show])
        self._library = library
        self._against = SLIDERS
        self._sides: Sequence[Side] = ()

    @property
    def workbench_app(self) -> Host:
        return cast(Host, self.app)

    def contents(self) -> Iterable[Widget]:
        """Return the remark, the list and what is said about the row under the cursor."""
        yield Static(Content(""), id="library-state")
        rows: LineView[Side] = LineView(self._draw, lambda side: side.id, id="sides")
        yield Container(rows, ReadingPane(id="library-text"), id="library-panes")

    def on_mount(self) -> None:
        """List everything; the cursor goes to the latest snapshot."""
        self.query_one(ReadingPane).can_focus = False
        self._list()
        self.rows.cursor = len(self._library.shelf.all())
        self.rows.focus()

    @property
    def rows(self) -> LineView[Side]:
        return self.query_one("#sides", LineView)

    @property
    def against(self) -> Side:
        """What everything is compared with."""
        return next((side for side in self._sides if side.id == self._against), self._sides[0])

    def _list(self) -> None:
        profiles = self.workbench_app.bench.tuning.profiles
        self._sides = sides(self._library.session, self._library.shelf, profiles)
        self.rows.set_rows(self._sides)
        count = sum(side.kind == "snapshot" for side in self._sides)
        kept = "No snapshot yet: n on the Tune screen takes one."
        if count:
            which = "1 snapshot" if count == 1 else f"{count} snapshots"
            kept = (
                f"{which}, kept until you drop {'it' if count == 1 else 'them'}; "
                f"{key_of('library.save')} saves one as a profile."
            )
        self.query_one("#library-state", Static).update(Content.styled(kept, MUTED))
        self._show()

    def _draw(self, side: Side, width: int) -> list[Cell]:
        mark = _AGAINST if side.id == self.against.id else " "
        style = "$text-error" if side.profile is None else ""
        note = ago(side.at, self.workbench_app.bench.context.now()) if side.at else side.kind
        used = self.workbench_app.bench.tuning.used
        note = f"{note} · in use ({used.origin})" if side.is_profile and side.name == used.name else note
        note = "cannot be read" if side.profile is None else note
        name = line(side.name, max(1, width - len(note) - 8), style).rstrip()
        return [
            Cell(mark, 1, "bold $text-accent"),
            Cell(_SYMBOLS[side.kind], 1),
            Cell(name),
            Cell(note, len(note), MUTED),
        ]

    @on(LineView.Highlighted, "#sides")
    def _show(self) -> None:
        side = self.rows.current
        if side is not None:
            text = certificate_text(side, self.against, self._library.session, self._file(side))
            self.query_one(ReadingPane).show(text)

    def _file(self, side: Side) -> str:
        if side.kind == "snapshot":
            return str(self._library.shelf.path(side.name))
        return str(self.workbench_app.bench.tuning.profiles.path(side.name)) if side.kind == "yours" else ""

    # Comparing

    def action_mark(self) -> None:
        """Compare everything with the row under the cursor."""
        side = self.rows.current
        if side is None or side.profile is None:
            self.app.bell()
            return
        self._against = side.id
        self._list()

    @asking
    async def action_compare(self) -> None:
        """Show both rankings side by side; with itself, the sliders stand in."""
        side, against = self.rows.current, self.against
        if self._library.session.question is None:
            self.workbench_app.say("There is no query to rank. / on the Tune screen writes one.")
        elif side is None or side.profile is None or side.id == against.id:
            self.workbench_app.say(
                keyed("Go to another row, or mark one with {library.mark}: {library.compare} compares the row with ◆.")
            )
        else:
            await compare(self.workbench_app, self._library.session, self._sides, against, side)

    # Using and keeping

    @on(LineView.Opened, "#sides")
    @asking
    async def action_use(self) -> None:
        """Put the sliders where the settings are; changed ones go only after a yes."""
        side, session = self.rows.current, self._library.session
        if side is None or side.profile is None or side.kind == "sliders":
            self.app.bell()
            return
        kept = any(snapshot.profile == session.profile for snapshot in self._library.shelf.all())
        detail = Content("They are in no profile or snapshot.")
        question = f"Load {side.title} and discard the changed settings?"
        confirm = Confirm(question, clock=time.monotonic, detail=detail, yes="go", guard=0.0)
        if not session.changed or kept or await self.app.push_screen_wait(confirm):
            self.dismiss(side)

    def action_agents(self) -> None:
        """Let the store be ranked with the profile under the cursor, for agents too."""
        side = self.rows.current
        if side is None or side.profile is None:
            self.app.bell()
        elif not side.is_profile:
            self.workbench_app.say(keyed("Only a profile ranks for agents: {library.save} saves this as one."))
        elif use(self.workbench_app, side.name):
            self._list()

    @asking
    async def action_save(self) -> None:
        """Save the settings as a profile, measured against the profile they come from."""
        side, tuning = self.rows.current, self.workbench_app.bench.tuning
        if side is None or side.profile is None:
            self.app.bell()
            return
        profile, parent = side.profile, side.profile.name
        birth = None if side.is_profile else await self._library.birth(profile)
        name = await self.app.push_screen_wait(
            name_prompt(
                "",
                tuning.profiles.check_name,
                lambda name: tuning.save(profile, name, parent, birth),
            )
        )
        if name is not None:
            self._list()
            self.workbench_app.say(
                f"Saved {name} in {tuning.profiles.path(name)}. {key_of('library.agents')} on it: Use for agents."
            )

    @asking
    async def action_name(self) -> None:
        """Call a snapshot something else."""
        side, shelf = self._snapshot(), self._library.shelf
        if side is None:
            return
        check = sentence_of(lambda name: shelf.check_name(side.name, name))
        name = await self.app.push_screen_wait(Prompt(f"Call snapshot {side.name}", side.name, check=check))
        if name is not None:
            with self.workbench_app.reporting():
                shelf.rename(side.name, name)
                if self._against == side.id:
                    self._against = replace(side, name=name).id
            self._list()

    @asking
    async def action_drop(self) -> None:
        """Let a snapshot go, after a yes."""
        side = self._snapshot()
        if side is None:
            return
        detail = Content(keyed("This cannot be undone; {library.save} saves it as a profile first."))
        confirm = Confirm(f"Delete {side.title}?", clock=time.monotonic, detail=detail, yes="drop", guard=0.0)
        if await self.app.push_screen_wait(confirm):
            with self.workbench_app.reporting():
                self._library.shelf.drop(side.name)
            self._list()

    def _snapshot(self) -> Side | None:
        side = self.rows.current
        if side is None or side.kind != "snapshot":
            self.workbench_app.say("Only a snapshot has a name to change and can be dropped; profiles are files.")
            return None
        return side

    def action_copy(self) -> None:
        """Copy the settings as the text of a profile's file."""
        side, bench = self.rows.current, self.workbench_app.bench
        if side is None or side.profile is None:
            self.app.bell()
            return
        try:
            saved = bench.tuning.profiles.text(side.name) if side.kind == "yours" else ""
        except WorkbenchError as error:
            self.workbench_app.say(str(error), "error")
            return
        text = saved or to_toml(side.profile, bench.context.now(), side.profile.name, side.birth)
        self.app.copy_to_clipboard(text)
        self.workbench_app.say(f"Copied {side.title} as TOML, {len(text):,} characters.")
