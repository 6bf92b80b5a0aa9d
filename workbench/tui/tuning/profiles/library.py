"""Snapshots and profiles: where each comes from, what it changes, how its ranking differs; save, use, compare."""

import time
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, cast

from textual import on
from textual.binding import BindingType
from textual.containers import Container
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Static

from workbench.core.errors import WorkbenchError
from workbench.core.tuning.profile import Profile
from workbench.services.tuning.profiles import to_toml
from workbench.services.tuning.provenance import ProfileProvenance
from workbench.services.tuning.session import TuningSession
from workbench.services.tuning.snapshots import Snapshots
from workbench.tui.app.actions import bindings
from workbench.tui.app.asking import asking
from workbench.tui.app.host import Host
from workbench.tui.tuning.actions import LIBRARY
from workbench.tui.tuning.profiles.certificate import certificate_text
from workbench.tui.tuning.profiles.saving import name_prompt, sentence_of, use
from workbench.tui.tuning.profiles.sides import SLIDERS, Side, compare, sides
from workbench.tui.widgets.confirm import Confirm
from workbench.tui.widgets.content import MUTED, line
from workbench.tui.widgets.dialog import Dialog
from workbench.tui.widgets.figures import ago
from workbench.tui.widgets.keys import key_of, keyed
from workbench.tui.widgets.lists.line_view import LineView
from workbench.tui.widgets.lists.reading_pane import ReadingPane
from workbench.tui.widgets.lists.row import Cell
from workbench.tui.widgets.texts.prompt import Prompt

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
        """The app, by its own type."""
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
        """The list."""
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
        detail = Content("They are in no profile and no snapshot yet.")
        question = f"Go to {side.title} and drop the changed settings?"
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
        detail = Content(keyed("Nothing takes that back; {library.save} saves it as a profile first."))
        confirm = Confirm(f"Drop {side.title}?", clock=time.monotonic, detail=detail, yes="drop", guard=0.0)
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

    def action_read_on(self) -> None:
        """Half a page on."""
        self.query_one(ReadingPane).read(1)

    def action_read_back(self) -> None:
        """Half a page back."""
        self.query_one(ReadingPane).read(-1)
