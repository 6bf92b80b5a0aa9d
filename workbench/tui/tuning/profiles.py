"""Snapshots and profiles: where each comes from, what it changes, how its ranking differs; save,
use, compare.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any, Literal, cast

from textual import on
from textual.containers import Container
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Static
from textual.worker import get_current_worker

from workbench.config.writing import set_values
from workbench.core.limits import Thresholds
from workbench.core.record import InvalidQuery, WorkbenchError, WorkStopped
from workbench.core.stream.memory import Memory, hidden_because
from workbench.core.text import counted, printable
from workbench.core.tuning.autotune import signed
from workbench.core.tuning.judgment import SavedQuery
from workbench.core.tuning.profile import (
    FEEDBACK_HALF_LIFE,
    LITERAL_FEEDBACK_HALF_LIFE,
    FrozenBounds,
    Profile,
    candidate_filter,
)
from workbench.services.files.overwriting import why_said
from workbench.services.open import Workbench
from workbench.services.tuning.evaluation import model_at, try_model
from workbench.services.tuning.profiles import ProfileProvenance, Profiles, Value, changes, to_toml
from workbench.services.tuning.queries import KINDS, run
from workbench.services.tuning.session import (
    BEYOND,
    Standing,
    TuningSession,
    left_out_because,
    standings_of,
)
from workbench.tui.actions import COMPARE, LIBRARY
from workbench.tui.app.actions import bindings, footer_entries
from workbench.tui.app.host import Host
from workbench.tui.app.waiting import asking
from workbench.tui.files.exports import written_said
from workbench.tui.records.actions import Acts, Place
from workbench.tui.tuning.ranking import WORSE, movement
from workbench.tui.widgets.content import (
    BLANK,
    MUTED,
    assemble,
    joined,
    key_of,
    keyed,
    line,
    muted,
    undo,
)
from workbench.tui.widgets.dialog import Choice, Choose, Dialog, Prompt, path_to_write, sure
from workbench.tui.widgets.figures import absolute, ago, amount, day, days
from workbench.tui.widgets.line_list import Cell, LineView, lay_out
from workbench.tui.widgets.reading_pane import ReadingPane

# What can be looked at side by side: the current sliders, snapshots, and saved profiles.


@dataclass(frozen=True, slots=True)
class Side:
    """One set of parameters; without `profile`, `problem` says why its file cannot be used.

    `at` is when a snapshot was taken, `birth` what a saved profile was measured on.
    """

    kind: Literal["sliders", "snapshot", "built in", "yours"]
    name: str
    profile: Profile | None
    at: datetime | None = None
    birth: ProfileProvenance | None = None
    problem: str = ""

    @property
    def id(self) -> str:
        """What names it among all sides."""
        return "sliders" if self.kind == "sliders" else f"{self.kind}:{self.name}"

    @property
    def is_profile(self) -> bool:
        """Whether it is a saved profile: built in, or a person's own."""
        return self.kind not in ("sliders", "snapshot")

    @property
    def title(self) -> str:
        """How it is called over a ranking."""
        return f"snapshot {self.name}" if self.kind == "snapshot" else self.name


def sides(bench: Workbench, session: TuningSession) -> tuple[Side, ...]:
    """Return everything that can be compared: the sliders, the snapshots, the profiles."""
    now = Side(
        "sliders", f"{session.saved.name}{' • changed' if session.changed else ''}", session.profile
    )
    kept = (
        Side("snapshot", s.name, s.profile, s.at, problem=s.problem)
        for s in bench.tuning.snapshots.all()
    )
    return now, *kept, *saved_sides(bench.tuning.profiles)


def saved_sides(profiles: Profiles) -> tuple[Side, ...]:
    """Return the profiles, the built-in ones first."""
    return tuple(_saved(profiles, name) for name in profiles.names())


def _saved(profiles: Profiles, name: str) -> Side:
    side = Side("built in" if profiles.is_built_in(name) else "yours", name, None)
    try:
        side = replace(side, profile=profiles.get(name))
        return replace(side, birth=profiles.birth(name))
    except WorkbenchError as error:
        # The settings may hold where only what they were measured on cannot be read.
        return replace(side, problem=str(error))


def remark(side: Side) -> str:
    """Return what a list says beside a name."""
    if side.problem:
        return "cannot be read"
    birth = side.birth
    if birth is not None:
        gain = f"Δ {signed(birth.delta)} [{signed(birth.low)}, {signed(birth.high)}] over {birth.parent}"
        return f"{gain} · {counted(birth.judgments, 'judgment')} · set {birth.query_set[:7]} · {day(birth.at)}"
    about = side.profile.about if side.profile and side.is_profile else ""
    return about or ("the sliders now" if side.kind == "sliders" else side.kind)


async def choose_side(app: Host, title: str, found: Sequence[Side], current: str) -> Side | None:
    """Ask for one of them; one that cannot be read is a toast."""
    choices = [Choice(side.id, side.title, remark(side)) for side in found]
    chosen = await app.push_screen_wait(Choose(title, choices, current))
    side = next((side for side in found if side.id == chosen), None)
    if side is not None and side.profile is None:
        app.say(side.problem, "error")
        return None
    return side


# Two rankings of one query side by side.


@dataclass(frozen=True, slots=True)
class Beside:
    """One place of both rankings."""

    place: int
    left: Standing | None
    right: Standing | None


async def compare(
    app: Host, session: TuningSession, found: Sequence[Side], left: Side, right: Side
) -> None:
    """Show two rankings side by side, and others in their place for as long as a person asks for
    them.
    """
    while session.question is not None and left.profile is not None and right.profile is not None:
        wanted = await app.push_screen_wait(CompareDialog(app.bench, session, left, right))
        if wanted is None:
            return
        current = left if wanted == "left" else right
        other = await choose_side(app, f"On the {wanted}", found, current.id)
        if other is None:
            return
        left, right = (other, right) if wanted == "left" else (left, other)


class CompareDialog(Dialog[Literal["left", "right"] | None]):
    """Place by place; marks say where each memory stands in the other one; the result is the side
    to be another one.
    """

    BINDINGS = bindings(COMPARE)
    DEFAULT_CSS = """
    CompareDialog {
        & > .dialog { width: 96%; max-width: 170; height: 94%; }
        &.-narrow > .dialog { width: 100%; height: 100%; }
        & .dialog--title, & .dialog--keys { margin: 0; }
        & .dialog--state { height: 1; margin-bottom: 1; }
        & #compare-head { height: 1; padding-left: 2; }
        & LineView { background: $surface; }
    }
    """

    def __init__(self, bench: Workbench, session: TuningSession, left: Side, right: Side) -> None:
        super().__init__("Compare two rankings", COMPARE)
        self._shown = bench.safety.shown
        self._session = session
        self._sides = (left, right)
        self._record = Acts(self, self._record_here)

    def contents(self) -> Iterable[Widget]:
        """Return what they have in common, both names, and the places."""
        yield self.state
        yield Static(BLANK, id="compare-head")
        yield LineView(self._draw, lambda row: row.place, empty=Content("Neither serves anything."))

    def on_mount(self) -> None:
        """Show the places."""
        self._show()
        self.rows.focus()

    def on_resize(self) -> None:
        """Lay the names out as the rows are."""
        self.call_after_refresh(self._head)

    def _head(self) -> None:
        width = self.rows.scrollable_content_region.width - 2
        cells = [Cell("", 3), *(Cell(side.title, 0, "bold") for side in self._sides)]
        self.query_one("#compare-head", Static).update(lay_out(cells, width, gap=1))

    def _show(self) -> None:
        question, now = self._session.question, self._session.now
        one, other = (side.profile for side in self._sides)
        if question is None or one is None or other is None:
            return
        self._k = max(one.k, other.k)
        theirs, mine = (question.rank(profile, now, self._k + BEYOND) for profile in (one, other))
        left = standings_of(theirs, mine)
        right = standings_of(mine, theirs)
        places = range(max(len(left), len(right)))
        rows = [
            Beside(i + 1, *(each[i] if i < len(each) else None for each in (left, right)))
            for i in places
        ]
        self.tell(Content(in_common(self._session, one, other)))
        self.rows.set_rows(rows, cursor=0)
        self.call_after_refresh(self._head)

    def _draw(self, row: Beside, width: int) -> Content:
        style, texts = "" if row.place <= self._k else MUTED, []
        for standing, move in ((row.left, self._went), (row.right, self._came)):
            text = BLANK
            if standing is not None:
                mark, mark_style = move(standing)
                title = line(self._shown(standing.memory).line, max(0, width // 2)).rstrip()
                text = assemble([(f"{mark:<4} ", mark_style)]) + title
            texts.append(Cell(text, 0, style))
        return lay_out([Cell(str(row.place), 3, style, "right"), *texts], width, gap=1)

    def _went(self, standing: Standing) -> tuple[str, str]:
        """Say where a memory of the left ranking stands in the right one."""
        place, there = standing.place, standing.before
        out = there is None or (place is not None and place <= self._k < there)
        return ("out", WORSE) if out else (f"→{there}", MUTED)

    def _came(self, standing: Standing) -> tuple[str, str]:
        return movement(standing, self._k)

    @on(LineView.Opened)
    def _open(self) -> None:
        """Open the memory of the left ranking, or the right one's where the left has none at this
        place.
        """
        self._record.open()

    def _record_here(self) -> Place | None:
        row = self.rows.current
        standing = None if row is None else row.left or row.right
        return None if standing is None else ("memories", standing.memory.id)

    def action_swap(self) -> None:
        """Let them change sides."""
        self._sides = (self._sides[1], self._sides[0])
        self._show()


def in_common(session: TuningSession, left: Profile, right: Profile) -> str:
    """Say how many of the best two settings have in common."""
    assert session.question is not None
    theirs, mine = (session.question.rank(profile, session.now).ids for profile in (left, right))
    one, two = set(theirs), set(mine)
    same = sum(a == b for a, b in zip(theirs, mine, strict=False))
    state = f"{len(one & two)} of the top {left.k} are in both, {same} at the same place"
    return f"{state} · {len(two - one)} new, {len(one - two)} out"


# What is said about one set of parameters: its birth certificate, what it changes, how its ranking
# differs.


def certificate_text(side: Side, against: Side, session: TuningSession, file: str) -> Content:
    """Return everything that is known about a side, compared with another one."""
    lines, birth, profile = [(printable(side.title), "bold")], side.birth, side.profile
    if profile is not None and side.is_profile:
        lines.append((printable(profile.about), MUTED))
    if side.problem:
        lines += [("", ""), (f"✗ {printable(side.problem)}", "$text-error")]
    if side.at is not None and profile is not None:
        lines.append((f"taken {absolute(side.at)}, from {printable(profile.name)}", MUTED))
    rows = [("file", file)] if file else []
    if birth is not None:
        verdict = "inconclusive" if birth.verdict == "unclear" else birth.verdict
        gain = f"{signed(birth.delta)} [{signed(birth.low)}, {signed(birth.high)}] · {verdict}"
        rows += [
            ("", ""),
            ("saved", f"{absolute(birth.at)}, from {birth.parent}"),
            (f"Δ {birth.metric}", gain),
            ("measured on", f"{birth.queries:,} queries with {birth.judgments:,} judgments"),
            ("query set", birth.query_set),
            ("how", birth.how),
        ]
    elif side.kind == "yours" and not side.problem:
        rows += [("", "No provenance: it was saved without judged queries.")]
    lines += [("", ""), *((f"{printable(label):<14}{printable(text)}", "") for label, text in rows)]
    if profile is not None and against.profile is not None and side.id != against.id:
        lines += [("", ""), (f"against {printable(against.title)}", "bold")]
        changed = changes(against.profile, profile)
        for one in changed:
            before, after = (_shown(one.parameter, value) for value in (one.before, one.after))
            lines.append((f"  {one.parameter:<20} {before:>8} → {after}", ""))
        if not changed:
            lines.append(("  The same settings.", ""))
        elif session.question is not None:
            lines += [("", ""), (in_common(session, against.profile, profile), "")]
            lines.append((keyed("{tune.compare} shows both rankings, place by place"), MUTED))
    return joined(*(Content.styled(text, style) for text, style in lines))


def _shown(parameter: str, value: Value) -> str:
    if parameter.startswith(("half_lives.", "feedback_half_life")):
        return days(value if isinstance(value, float | int) else None)
    if value is None or value == "":
        return "none"
    return f"{value:.4g}" if isinstance(value, float) else printable(str(value))


# Saving a profile under a name, where whatever goes wrong is said in the box, and putting one to
# use.


async def save_profile(
    app: Host, profile: Profile, parent: str, birth: ProfileProvenance | None, offered: str = ""
) -> str | None:
    """Ask for a name and save settings that come from `parent` under it, with their birth
    certificate; return the name.
    """
    tuning = app.bench.tuning

    def check(name: str) -> None:
        tuning.profiles.check_name(name, offered)

    def save(name: str) -> Profile:
        return tuning.save(profile, name, parent, birth)

    title, hint = "Save these settings as", "a name for the profile"
    return await app.push_screen_wait(
        Prompt(title, offered, placeholder=hint, check=sentence_of(check), take=save)
    )


async def may_discard(app: Host, session: TuningSession, title: str) -> bool:
    """Ask whether settings that are changed and kept nowhere may go for others."""
    kept = any(one.profile == session.profile for one in app.bench.tuning.snapshots.all())
    if kept or not session.changed:
        return True
    detail = keyed("They are in no profile or snapshot; {tune.save} saves them.")
    question = f"Load {title} and discard the changed settings?"
    return await sure(app, question, detail, "load", guard=0.0)


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
    """Let the store be ranked under a profile, for agents too, and say so; tell whether it was
    done.
    """
    with app.reporting():
        before, used = app.bench.tuning.used, app.bench.tuning.use(name)
        if used.origin != "store":
            app.say(f"The store uses {name}, but {used} overrides it here.")
        elif used == before:
            app.say(f"{used} is already in use.")
        else:
            app.say(f"{used} is in use from now on, for agents too; {undo()} undoes it.")
        return True
    return False


_SYMBOLS = {"sliders": "●", "snapshot": "◇", "built in": "▪", "yours": "▫"}


class LibraryDialog(Dialog[Side | None]):
    """The sliders, the snapshots and the profiles; the result is the one that the sliders are to
    take.

    `birth` measures settings when they are saved.
    """

    BINDINGS = bindings(LIBRARY)
    DEFAULT_CSS = """
    LibraryDialog {
        & > .dialog { width: 94%; max-width: 150; height: 94%; }
        &.-narrow > .dialog { width: 100%; height: 100%; }
        & .dialog--title, & .dialog--keys { margin: 0; }
        & .dialog--state { height: 1; margin-bottom: 1; }
        & #library-panes { layout: horizontal; height: 1fr; }
        & LineView { width: 48; background: $surface; }
        & #library-text { width: 1fr; height: 1fr; border-left: solid $panel; }
        &.-narrow .dialog--state { margin-bottom: 0; }
        &.-narrow #library-panes { layout: vertical; }
        &.-narrow LineView { width: 1fr; height: 9; }
        &.-narrow #library-text { border-left: none; border-top: solid $panel; }
    }
    """

    def __init__(
        self,
        bench: Workbench,
        session: TuningSession,
        birth: Callable[[Profile], Awaitable[ProfileProvenance | None]],
    ) -> None:
        super().__init__("Snapshots and profiles", footer_entries(LIBRARY))
        self._bench, self._session, self._birth = bench, session, birth
        self._shelf = bench.tuning.snapshots
        self._against = "sliders"
        self._sides: Sequence[Side] = ()

    @property
    def workbench_app(self) -> Host:
        return cast(Host, self.app)

    def contents(self) -> Iterable[Widget]:
        """Return the remark, the list and what is said about the row under the cursor."""
        yield self.state
        rows: LineView[Side] = LineView(
            self._draw, lambda side: side.id, title="Profiles", id="sides"
        )
        yield Container(rows, ReadingPane(id="library-text"), id="library-panes")

    def on_mount(self) -> None:
        """List everything; the cursor goes to the latest snapshot."""
        self.query_one(ReadingPane).can_focus = False
        self._list()
        self.rows.cursor = len(self._shelf.all())
        self.rows.focus()

    @property
    def against(self) -> Side:
        """What everything is compared with."""
        return next((side for side in self._sides if side.id == self._against), self._sides[0])

    def _list(self) -> None:
        self._sides = sides(self._bench, self._session)
        self.rows.set_rows(self._sides)
        count = sum(side.kind == "snapshot" for side in self._sides)
        kept = f"{counted(count, 'snapshot')}, kept until dropped; {{library.save}} saves one as a profile."
        state = keyed(
            kept if count else "No snapshot yet: {tune.snapshot} on the Tune screen takes one."
        )
        self.tell(muted(state))
        self._show()

    def _draw(self, side: Side, width: int) -> list[Cell]:
        used = self._bench.tuning.used
        note = ago(side.at, self._bench.context.now()) if side.at else side.kind
        if side.profile is None:
            note = "cannot be read"
        elif side.is_profile and side.name == used.name:
            note = f"{note} · in use ({used.origin})"
        name = line(
            side.name, max(1, width - len(note) - 8), "" if side.profile else "$text-error"
        ).rstrip()
        mark = Cell("◆" if side.id == self.against.id else " ", 1, "bold $text-accent")
        symbol = Cell(_SYMBOLS[side.kind], 1)
        return [mark, symbol, Cell(name, name="profile"), Cell(note, len(note), MUTED, name="made")]

    @on(LineView.Highlighted, "#sides")
    def _show(self) -> None:
        side, file = self.rows.current, ""
        if side is not None:
            if side.kind == "snapshot":
                file = str(self._shelf.path(side.name))
            elif side.kind == "yours":
                file = str(self._bench.tuning.profiles.path(side.name))
            self.query_one(ReadingPane).show(
                certificate_text(side, self.against, self._session, file)
            )

    def _here(self) -> tuple[Side, Profile] | None:
        """Return the row under the cursor with its settings; rings where they cannot be read."""
        side = self.rows.current
        if side is None or side.profile is None:
            self.app.bell()
            return None
        return side, side.profile

    # Comparing

    def action_mark(self) -> None:
        """Compare everything with the row under the cursor."""
        if here := self._here():
            self._against = here[0].id
            self._list()

    @asking
    async def action_compare(self) -> None:
        """Show both rankings side by side; with itself, the sliders stand in."""
        side, against = self.rows.current, self.against
        if self._session.question is None:
            self.workbench_app.say("There is no query to rank. / on the Tune screen writes one.")
        elif side is None or side.profile is None or side.id == against.id:
            self.workbench_app.hint(
                "Go to another row, or mark one with {library.mark}: {library.compare} compares the row with ◆."
            )
        else:
            await compare(self.workbench_app, self._session, self._sides, against, side)

    # Using and keeping

    @on(LineView.Opened, "#sides")
    @asking
    async def action_use(self) -> None:
        """Put the sliders where the settings are; changed ones go only after a yes."""
        here = self._here()
        if here is None or here[0].kind == "sliders":
            return
        if await may_discard(self.workbench_app, self._session, here[0].title):
            self.dismiss(here[0])

    def action_agents(self) -> None:
        """Let the store be ranked with the profile under the cursor, for agents too."""
        if (here := self._here()) is None:
            return
        if not here[0].is_profile:
            self.workbench_app.hint("Agents need a profile: {library.save} saves this as one.")
        elif use(self.workbench_app, here[0].name):
            self._list()

    @asking
    async def action_save(self) -> None:
        """Save the settings as a profile, measured against the profile they come from."""
        if (here := self._here()) is None:
            return
        side, profile = here
        birth = None if side.is_profile else await self._birth(profile)
        name = await save_profile(self.workbench_app, profile, profile.name, birth)
        if name is not None:
            self._list()
            key, path = key_of("library.agents"), self._bench.tuning.profiles.path(name)
            self.workbench_app.say(f"Saved {name} in {path}. {key} on it: Use for agents.")

    def _snapshot(self) -> Side | None:
        side: Side | None = self.rows.current
        if side is None or side.kind != "snapshot":
            self.workbench_app.say("Only snapshots can be renamed or deleted; profiles are files.")
            return None
        return side

    @asking
    async def action_name(self) -> None:
        """Call a snapshot something else."""
        if (side := self._snapshot()) is None:
            return
        check = sentence_of(lambda name: self._shelf.check_name(side.name, name))
        name = await self.app.push_screen_wait(
            Prompt(f"New name of snapshot {side.name}", side.name, check=check)
        )
        if name is not None:
            with self.workbench_app.reporting():
                self._shelf.rename(side.name, name)
                if self._against == side.id:
                    self._against = replace(side, name=name).id
            self._list()

    @asking
    async def action_drop(self) -> None:
        """Let a snapshot go, after a yes."""
        if (side := self._snapshot()) is None:
            return
        detail = keyed("This cannot be undone; {library.save} saves it as a profile first.")
        if await sure(self, f"Delete {side.title}?", detail, "drop", guard=0.0):
            with self.workbench_app.reporting():
                self._shelf.drop(side.name)
            self._list()

    def action_copy(self) -> None:
        """Copy the settings as the text of a profile's file."""
        if (here := self._here()) is None:
            return
        side, profile = here
        with self.workbench_app.reporting():
            saved = self._bench.tuning.profiles.text(side.name) if side.kind == "yours" else ""
            text = saved or to_toml(profile, self._bench.context.now(), profile.name, side.birth)
            self.app.copy_to_clipboard(text)
            self.workbench_app.say(f"Copied {side.title} as TOML, {len(text):,} characters.")


# What Tune asks in dialogs: queries, profiles, options, memories, grades, and files of queries.


# What a ranking has besides numbers: how recency counts, whose minimum and maximum normalise, who
# takes part.


CANDIDATES = "candidates"
"""The option that sets a filter."""

_OPTIONS: dict[str, tuple[str, dict[str, Any]]] = {
    "hours": ("Recency by the hours since the last access", {"mode": "hours"}),
    "days": ("Recency by the days since it was made, exp(−age / τ)", {"mode": "days"}),
    "rank": ("Recency by rank, newest first", {"mode": "rank", "rank_order": "newest"}),
    "rank-oldest": ("Recency by rank, oldest first", {"mode": "rank", "rank_order": "oldest"}),
    "off": ("Recency off", {"mode": "off"}),
    "pinned-fresh": ("Pinned memories stay fresh", {"pinned": "fresh"}),
    "pinned-fades": ("Pinned memories fade as the others do", {"pinned": "fades"}),
    "votes-slow": (
        "Votes fade slower than recency, by half in 29 d",
        {"feedback_half_life": FEEDBACK_HALF_LIFE},
    ),
    "votes-literal": (
        "Votes fade as ENGRAM prints it, × 0.99 an hour",
        {"feedback_half_life": LITERAL_FEEDBACK_HALF_LIFE},
    ),
    "lexical-bm25": ("Full text as BM25, against the mean length", {"lexical": "bm25"}),
    "lexical-absolute": ("Full text word by word, with words around", {"lexical": "absolute"}),
    "pool": ("0 to 1 over all served memories", {"scope": "pool"}),
    **{
        f"top-{n}": (f"0 to 1 over the {n} most relevant", {"scope": "top", "top_n": n})
        for n in (20, 50, 100, 200)
    },
}


def options(profile: Profile, bounds: FrozenBounds | None) -> list[tuple[Choice, Profile]]:
    """Return every option with the settings that it makes; `bounds` are those of the present
    ranking.
    """
    every = dict(_OPTIONS)
    if profile.frozen is not None:
        every["frozen"] = ("0 to 1 by the frozen bounds", {"scope": "frozen"})
    if bounds is not None:
        how = "anew" if profile.frozen is not None else "for every query and moment"
        every["freeze"] = (
            f"Freeze the bounds of this ranking {how}",
            {"scope": "frozen", "frozen": bounds},
        )
    found = []
    for id, (label, values) in every.items():
        made, said = replace(profile, **values), ""
        if id.startswith("pinned-") and not profile.fades:
            said = "recency does not fade with time"
        elif profile.scorer == "episodic" and ("scope" in values or id.startswith("votes-")):
            said = "episodes have neither votes nor a scale"
        elif made == profile:
            said = "now"
        found.append((Choice(id, label, said), made))
    only = (
        f"Candidates: only {profile.candidates}"
        if profile.candidates
        else "Candidates: all that may be served"
    )
    return [
        *found,
        (Choice(CANDIDATES, only, keyed("{tune.candidates} sets a filter")), profile),
    ]


async def choose_option(app: Host, session: TuningSession) -> Profile | None:
    """Ask how recency counts, what normalises and who takes part."""
    every = options(session.profile, session.bounds())
    chosen = await app.push_screen_wait(
        Choose("How the ranking works", [choice for choice, _ in every])
    )
    if chosen == CANDIDATES:
        return await choose_candidates(app, session)
    return next((made for choice, made in every if choice.id == chosen), None)


async def choose_candidates(app: Host, session: TuningSession) -> Profile | None:
    """Ask for the candidate filter; return the settings with it, whose candidates are known then."""
    title, hint = (
        "Candidates filter (empty: all that may be served)",
        "type:error,failure  -tag:wip  since:30d",
    )
    check = sentence_of(lambda text: candidate_filter(text, session.now))
    text = await app.push_screen_wait(
        Prompt(title, session.profile.candidates, placeholder=hint, check=check)
    )
    if text is None:
        return None
    if text and session.question is not None:
        # Every memory is looked at once, which takes a moment in a large store.
        await asyncio.to_thread(session.question.ranker.pool.matching, text, session.now)
    return replace(session.profile, candidates=text)


# Which query, which profile, which memory.


async def choose_query(
    app: Host, title: str, queries: Sequence[SavedQuery], current: SavedQuery | None
) -> SavedQuery | None:
    """Ask for a saved query; of those with the same words the moment tells them apart."""
    same, shown = len({query.text for query in queries}) < len(queries) > 1, app.bench.safety.shown

    def label(query: SavedQuery) -> str:
        at = "asked now" if query.now is None else f"asked at {absolute(query.now)}"
        return f"{query.text} · {at}" if same else query.text

    found = [Choice(q.id, label(shown(q)), ", ".join(shown(q).tags)) for q in queries]
    chosen = await app.push_screen_wait(Choose(title, found, current.id if current else ""))
    return next((query for query in queries if query.id == chosen), None)


async def choose_profile(app: Host, session: TuningSession) -> Profile | None:
    """Ask which profile to load, and whether unsaved settings may go."""
    found = saved_sides(app.bench.tuning.profiles)
    current = next((side.id for side in found if side.name == session.saved.name), "")
    side = await choose_side(app, "Load a profile", found, current)
    if side is None or not await may_discard(app, session, side.title):
        return None
    return side.profile


async def choose_memory(app: Host, session: TuningSession) -> str | None:
    """Ask for any memory of the store, by the filter language of the Stream; return its id."""

    def search(text: str) -> Sequence[Choice] | str:
        try:
            found = app.bench.stream.view(text).memories[:500]
        except InvalidQuery as error:
            return str(error)
        return [Choice(memory.id, memory.line, _place(session, memory)) for memory in found]

    return await app.push_screen_wait(
        Choose("Why not this one?", search=search, shown=app.bench.safety.masked)
    )


def _place(session: TuningSession, memory: Memory) -> str:
    if session.ranking is None or memory.id not in session.ranking.pool.row_of:
        return hidden_because(memory, session.now) or "not ranked yet"
    return left_out_because(memory, session.ranking) or f"#{session.ranking.place_of(memory.id)}"


# Keeping settings.


def keep_thresholds(app: Host, after: Thresholds) -> bool:
    """Write the thresholds of duplicates to the settings, and hold to them from now on; tell
    whether it worked.
    """
    path, retriever = app.options.config, app.bench.retriever
    if path is None:
        app.say("The demo writes no settings.")
        return False
    with app.reporting():
        before = retriever.thresholds()
        set_values(path, {"thresholds.duplicate": after.flag, "thresholds.review": after.review})
        retriever.use_thresholds(after)
        pairs = (("duplicate", before.flag, after.flag), ("review", before.review, after.review))
        changed = ", ".join(
            f"thresholds.{name} {old:g} → {new:g}" for name, old, new in pairs if old != new
        )
        app.say(f"{changed}, in {path}. It applies from now on; save the old value to revert it.")
        return True
    return False


# Saved queries to a file.


FILES = {
    "jsonl": ("JSON lines", "queries with grades and moments", "queries.jsonl"),
    "qrels": ("TREC qrels", "the grades alone, by query id", "judgments.qrels"),
    "run": ("TREC run", "a profile ranks every query", "ranking.run"),
    "judgments": ("judgments", "every grade, by whom and when", "judgments.jsonl"),
}


async def export_queries(app: Host, current: str) -> None:
    """Write the saved queries, their judgments, or a profile's ranking of them to a file; replaced
    only after a yes.
    """
    bench = app.bench
    choices = [Choice(kind, label, about) for kind, (label, about, _) in FILES.items()]
    kind = await app.push_screen_wait(Choose("Export queries as", choices))
    if kind is None:
        return
    write = KINDS[kind].write
    if write is None:
        sides = saved_sides(bench.tuning.profiles)
        here = next((side.id for side in sides if side.name == current), "")
        side = await choose_side(app, "A run of which profile?", sides, here)
        if side is None or side.profile is None:
            return
        write = partial(run, tuning=bench.tuning, profile=side.profile)
    name = await app.push_screen_wait(
        Prompt("File to write", FILES[kind][2], check=sentence_of(_path))
    )
    if not name:
        return
    with app.reporting():
        text = await asyncio.to_thread(write, bench.context)
        preview = bench.exporter.preview(_path(name), text, kind=KINDS[kind].export_format)
        if not preview.changed:
            app.say(f"{preview.path} already has exactly that.")
            return
        lines = amount(text.count("\n"), "line")
        if preview.present is not None:
            obstacle = preview.obstacle
            kept = (
                "The store wrote it."
                if obstacle is None
                else f"{why_said(obstacle)} A copy of it is kept."
            )
            question = f"Replace {preview.path} by {lines}?"
            if not await sure(app, question, kept, "replace", guard=0.0):
                return

        def written() -> None:
            app.say(written_said(bench.exporter.write(preview, force=True)))

        app.change(written)


def _path(name: str) -> Path:
    """Return the file to write. Raises `WorkbenchError`."""
    path = path_to_write(name)
    if path.is_dir() or not path.absolute().parent.is_dir():
        raise WorkbenchError(
            f"{path} is a folder." if path.is_dir() else f"The folder of {path} does not exist."
        )
    return path


# Using another embedding model from the next start on: its vectors are made behind the screen.


TITLE = "Folder of a model2vec embedding model; empty: the bundled one"


async def use_model(app: Host, config: Path) -> None:
    """Ask for a folder and write it into the settings; say what that will change in the judged
    queries.
    """
    present = app.bench.context.settings.model
    chosen = await app.push_screen_wait(
        Prompt(TITLE, str(present or ""), placeholder="~/models/multilingual")
    )
    if chosen is None:
        return
    folder = Path(chosen).expanduser().absolute() if chosen else None
    with app.reporting():
        await asyncio.to_thread(model_at, folder)
        set_values(config, {"model": str(folder or "")})
        name = str(folder or "the bundled one")
        if folder == present:
            app.say(f"The embedding model is {name}.")
            return
        app.say(f"From the next start on the embedding model is {name}. Embedding the memories.")
        await _try(app, folder)


async def _try(app: Host, folder: Path | None) -> None:
    worker, tuning = get_current_worker(), app.bench.tuning
    try:
        change = await asyncio.to_thread(
            lambda: try_model(
                app.bench.context, app.bench.retriever, tuning.profiles, tuning.default(), folder,
                cancelled=lambda: worker.is_cancelled,
            )
        )  # fmt: skip
    except WorkStopped:
        return
    if change is None:
        app.say("The memories are embedded. No judged queries yet to compare the models.")
        return
    before, now = (result.mean["ndcg@10"] for result in (change.base, change.new))
    app.say(
        f"The memories are embedded. The judged queries: nDCG@10 {before:.3f} → {now:.3f}; {change.verdict.sentence}."
    )
