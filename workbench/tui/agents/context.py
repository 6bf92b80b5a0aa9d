"""What an agent would be given for a task: layer by layer, with what is left out and why, before
any agent sees it.
"""

import asyncio
import json
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Static

from workbench.core.agents.layers import USUAL
from workbench.core.files.replacing import replace_file
from workbench.core.record import WorkbenchError
from workbench.core.stream.memory import Memory
from workbench.core.text import one_line, printable
from workbench.core.tuning.profile import Profile, ProfileInUse
from workbench.services.agents.context import Material, gathered
from workbench.services.agents.serving import AgentContext, Answering, Item, Layer, LeftOut, text_of
from workbench.services.context import Context
from workbench.services.open import Workbench
from workbench.services.safety.provenance import learn_all
from workbench.tui.actions import CONTEXT
from workbench.tui.app.actions import bindings
from workbench.tui.app.area import AreaScreen
from workbench.tui.app.private_names import Guarded
from workbench.tui.safety import FLAGGED
from workbench.tui.safety import STYLE as FLAG_STYLE
from workbench.tui.stream.memory_view import SYMBOLS, marks_of
from workbench.tui.widgets.bars import CHANGED
from workbench.tui.widgets.content import BLANK, MUTED, assemble, body, joined, muted
from workbench.tui.widgets.dialog import Choice, Choose, Prompt, SafeInput, path_to_write
from workbench.tui.widgets.figures import number
from workbench.tui.widgets.line_list import Cell, LineView

# The rows of a context: all of it, each layer's budget, then what each gives, and what it leaves
# out and why.


NAMED = 5
"""What is left out of a layer is named one by one up to so many, until the row that counts the rest
is opened.
"""

_BAR, _SHORT_BAR, _NARROW = 16, 8, 64
_LONGEST = 400


@dataclass(frozen=True, slots=True)
class Whole:
    made: AgentContext


@dataclass(frozen=True, slots=True)
class Head:
    """The row of a layer with its budget as a bar; `moved` says that a key moved it."""

    layer: Layer
    moved: bool


@dataclass(frozen=True, slots=True)
class Section:
    """The row that heads what a layer gives and leaves out."""

    layer: Layer


@dataclass(frozen=True, slots=True)
class Given:
    """The row of something that is given."""

    layer: Layer
    item: Item


@dataclass(frozen=True, slots=True)
class Out:
    """The row of something that is left out."""

    layer: Layer
    left: LeftOut


@dataclass(frozen=True, slots=True)
class More:
    """The row that counts what else a layer leaves out."""

    layer: Layer
    count: int


Row = Whole | Head | Section | Given | Out | More


def rows_of(made: AgentContext, moved: Collection[str], unfolded: Collection[str]) -> list[Row]:
    """Return the rows of a context; of the layers that are `unfolded` everything that is left out
    has one.
    """
    rows: list[Row] = [Whole(made), *(Head(layer, layer.kind.id in moved) for layer in made.layers)]
    for layer in made.layers:
        if layer.items or layer.left_out:
            rows += [Section(layer), *(Given(layer, item) for item in layer.items)]
            rows += _left_out(layer, layer.kind.id in unfolded)
    return rows


def _left_out(layer: Layer, unfolded: bool) -> Iterator[Row]:
    few = len(layer.left_out) if unfolded else NAMED
    yield from (Out(layer, left) for left in layer.left_out[:few])
    if len(layer.left_out) > few:
        yield More(layer, len(layer.left_out) - few)


def key_of(row: Row) -> tuple[str, str]:
    """Name a row, so that the cursor stays on it while budgets move; what falls out of a layer
    keeps its name.
    """
    match row:
        case Whole():
            return ("Whole", "")
        case Head(layer) | Section(layer) | More(layer):
            return (type(row).__name__, layer.kind.id)
        case Given(layer, item):
            return (layer.kind.id, item.id)
        case Out(layer, left):
            return (layer.kind.id, left.id)


def is_heading(row: Row) -> bool:
    """Tell whether a row heads those below it."""
    return isinstance(row, Whole | Section)


def id_of(row: Row | None) -> str:
    """Return the id of what a row gives or leaves out; empty for the others."""
    return row.item.id if isinstance(row, Given) else row.left.id if isinstance(row, Out) else ""


def place_of(row: Row | None, bench: Workbench) -> tuple[str, str] | None:
    """Return table and key of the memory or bullet that a row is about; `None` for none."""
    id, library = id_of(row), bench.library
    if not id:
        return None
    return (
        ("memories", id)
        if id in library.memories
        else ("bullets", id)
        if id in library.bullets
        else None
    )


def draw(row: Row, width: int, bench: Workbench) -> list[Cell] | Content:
    match row:
        case Whole(made):
            used = f"{number(made.tokens)} of {number(made.budget)} tokens"
            weak = f" · {number(made.weak)} weak matches not served" if made.weak else ""
            return assemble(
                [(f"{'all':<16} {used}", ""), (f" · {number(len(made.given))} served{weak}", MUTED)]
            )
        case Head(layer, moved):
            return _head(layer, moved, width)
        case Section(layer):
            return Content.styled(layer.kind.title, "$text-accent")
        case Given(_, item):
            shown = item.score if item.relevance is None else item.relevance
            score = "" if shown is None else f"{shown:.3f}"
            return [
                Cell(number(item.tokens), 6, MUTED, "right", "tokens"),
                Cell(score, 5, MUTED, "right", "match"),
                Cell(_said(item, bench), name="served"),
            ]
        case Out(_, left):
            said, about = (
                f"✗ {why(left)}",
                BLANK if left.why == "held" else _about(left.id, bench),
            )
            return [
                Cell(said, min(len(said), max(12, width * 3 // 5)), "$text-warning"),
                Cell(about),
            ]
        case More(_, count):
            return muted(f"✗ … and {number(count)} more left out, enter shows them")


def _head(layer: Layer, moved: bool, width: int) -> Content:
    share = layer.tokens / layer.budget if layer.budget else 0.0
    cells = _SHORT_BAR if width < _NARROW else _BAR
    figures = f" {number(layer.tokens)} of {number(layer.budget)}"
    told = layer.items and (width >= _NARROW or not layer.left_out)
    given = f" · {number(len(layer.items))} served" if told else ""
    out = f" · {number(len(layer.left_out))} left out" if layer.left_out else ""
    title = f"{layer.kind.title:<16}{CHANGED if moved else ' '}"
    return (
        assemble([(title, "")])
        + bar(share, cells)
        + assemble([(figures, ""), (given + out, MUTED)])
    )


def _said(item: Item, bench: Workbench) -> Content:
    """Return what is given in one line: a memory as everywhere, of another text its first line."""
    memory = bench.library.memories.find(item.id)
    if memory is not None:
        return memory_line(memory, bench)
    lines = (line for line in item.text.split("\n") if line.strip())
    return Content(printable(next(lines, "")[:_LONGEST]))


def _about(id: str, bench: Workbench) -> Content:
    memory = bench.library.memories.find(id)
    if memory is not None:
        return memory_line(memory, bench)
    bullet = bench.library.bullets.find(id)
    text = id if bullet is None else bullet.content
    return Content(printable(bench.safety.masked(text[:_LONGEST])))


def bar(share: float, cells: int) -> Content:
    """Return a bar that is full at 1; what is above 0 shows at least one cell."""
    filled = 0 if share <= 0 else max(1, round(share * cells))
    return assemble([("▓" * filled, "$accent"), ("░" * (cells - filled), MUTED)])


def memory_line(memory: Memory, bench: Workbench) -> Content:
    """Return a memory in one line: whether it is flagged, its status and marks, and its text
    without secrets.
    """
    signs = (SYMBOLS.get(memory.status, ""), marks_of(memory))
    mark = "".join(f"{sign} " for sign in signs if sign)
    flagged = (f"{FLAGGED} ", FLAG_STYLE) if bench.safety.flags(memory) else ("", "")
    return assemble(
        [flagged, (mark, MUTED), (printable(bench.safety.shown(memory).line[:_LONGEST]), "")]
    )


def told(row: Row, bench: Workbench) -> Content:
    """Return what a row stands for besides the memory it is about: all texts as the agent gets
    them, or why not.
    """
    match row:
        case Whole(made):
            return Content("\n\n").join(
                [body(_ALL, MUTED), body(text_of(made) or "Nothing is served.")]
            )
        case Head(layer) | Section(layer):
            return Content("\n\n").join([body(_sum(layer), "bold"), body(layer.text)])
        case Given(layer, item):
            return joined(*_given(layer, item, bench), BLANK)
        case Out(layer, left):
            said = body(f"Left out of “{layer.kind.title}”: {why(left)}", "bold $text-warning")
            return joined(said, body(bench.safety.masked(left.id), MUTED), BLANK)
        case More(layer, count):
            return body(
                f"{number(count)} more are left out of “{layer.kind.title}”; enter lists them."
            )


def _given(layer: Layer, item: Item, bench: Workbench) -> Iterator[Content]:
    score = "" if item.score is None else f" · score {item.score:.4f}"
    score = score if item.relevance is None else f" · match {item.relevance:.3f}"
    yield body(f"Given in “{layer.kind.title}” · {number(item.tokens)} tokens{score}", "bold")
    yield body(item.id, MUTED)
    if item.id not in bench.library.memories:
        yield body(f"\n{item.alone}")


_ALL = "Each layer passes its unused tokens on to the layers below."


def _sum(layer: Layer) -> str:
    return f"{layer.kind.title} · {number(layer.tokens)} of {number(layer.budget)} tokens"


def why(left: LeftOut) -> str:
    return {
        "budget": f"over budget by {number(left.over)} tokens"
        if left.over
        else "net harmful: better ones do not fit",
        "harmful": "more votes as harmful than as helpful",
        "replaced": "replaced by a later decision",
        "held": "held back: instructions to agents or hidden characters",
        "unapproved": "not approved by you",
        "weak": "below the floor",
        "given": "served by a layer above",
        "placed": "in a file that agents load",
        "untrusted": "not reviewed yet: workbench documents DIR --trust",
    }[left.why]


STEP = 1_000
"""Tokens by which a key moves the budget."""

LOOKING = "Looking …"
TASK = "Task (empty: always-on context)"
NOTHING = "nothing is relevant to the task itself"
NOT_TRUSTED = (
    "This store is not trusted, so agents are served nothing. `workbench trust` shows what came in."
)

_ON_RECORD = frozenset({"preview.profile", "preview.copy"})
"""What a key of this does to all of it means the record itself on a row that has one: p pins, y
copies.
"""


class ContextPane(Guarded, Vertical):
    """Whose context it is, the task, and the rows; its keys are done by the `preview` of its screen."""

    BINDINGS = bindings(CONTEXT[:-1])
    DEFAULT_CSS = """
    ContextPane {
        & > #context-said { height: 1; padding: 0 1; color: $text-muted; }
        & > SafeInput { padding: 0 1; background: $panel; }
        & > SafeInput:focus { background: $boost; }
    }
    """


class ContextPreview:
    """A task, the budget of each layer as a bar, and below each what it gives and leaves out. It
    counts no read. `changed` is called when it was made anew.
    """

    def __init__(self, screen: AreaScreen, changed: Callable[[], None]) -> None:
        self._screen, self._bench, self._changed = screen, screen.bench, changed
        self._agent = ""
        self._budget = USUAL
        self._budgets: dict[str, int] = {}
        self._unfolded: set[str] = set()
        self._profile: Profile | None = None
        self._wanted = ""
        self._working = self._again = self._is_ready = False
        self._material: Material | None = None
        self.made: AgentContext | None = None
        self._said = Static(id="context-said")
        self.box = SafeInput(placeholder=TASK, id="context-task")
        self.rows: LineView[Row] = LineView(
            lambda row, width: draw(row, width, self._bench),
            key_of,
            is_heading=is_heading,
            empty=Content(LOOKING),
            title="Context",
            id="context-rows",
        )
        self.pane = ContextPane(self._said, self.box, self.rows, id="context")
        self._say_whose()

    @property
    def row(self) -> Row | None:
        """The row under the cursor."""
        return self.rows.current

    @property
    def _asker(self) -> Context:
        return replace(self._bench.context, actor=f"agent:{self._agent or 'preview'}")

    # Finding it

    def ask_as(self, agent: str) -> None:
        """Show what this agent would be given (empty: any)."""
        if agent != self._agent:
            self._agent = agent
            self._say_whose()
            if self._material is not None:
                self.ask()

    def ask(self) -> None:
        """Have it found for the task as it stands; what changes meanwhile is asked once after that."""
        if not self._bench.trust.standing.trusted:
            self._show_problem(NOT_TRUSTED)
            return
        self._again = True
        if not self._working:
            self._screen.run_worker(self._gather())

    def ask_for(self, task: str) -> None:
        """Have it found for a task, unless it is that one's already."""
        if task.strip() != self._wanted:
            self._wanted = task.strip()
            self.ask()

    async def _gather(self) -> None:
        self._working = True
        while self._again:
            self._again = False
            try:
                material = await asyncio.to_thread(
                    self._find, self._wanted, self._asker, self._profile
                )
            except WorkbenchError as error:
                self._show_problem(str(error))
                continue
            if not self._again:
                self._material = material
                self._cut()
        self._working = False

    def _find(self, task: str, asker: Context, profile: Profile | None) -> Material:
        bench = self._bench
        if not self._is_ready:
            learn_all(
                bench.context
            )  # once for all tasks: to look it up for what one of them finds takes as long
            self._is_ready = True
        return gathered(asker, bench.tuning, bench.playbooks, task, profile=profile)

    def _show_problem(self, sentence: str) -> None:
        self._material = self.made = None
        self.rows.set_empty(Content.styled(one_line(sentence, 300), "$text-warning"))
        self.rows.set_rows([])
        self._say_whose()
        self._changed()

    # Showing it

    def _cut(self) -> None:
        """Show it under the budget; nothing is asked anew for that."""
        if self._material is None:
            return
        self.made = self._material.cut(self._budget, self._budgets)
        self.rows.set_rows(rows_of(self.made, self._budgets.keys(), self._unfolded))
        self._say_whose()
        self._changed()

    def _say_whose(self) -> None:
        profile = (
            self._bench.context.profile
            if self._profile is None
            else ProfileInUse(self._profile.name, "flag")
        )
        who = one_line(self._bench.safety.masked(self._agent), 30) or "an agent"
        parts = [(f"Context for {who}", ""), (f" · ranked under {profile}", MUTED)]
        if self.made is not None and self.made.is_empty:
            parts.append((f" · {NOTHING}", "$text-warning"))
        self._said.update(assemble(parts))

    # Keys

    def holds(self, path: str) -> bool:
        """Tell whether a key is this one's: on the row of a record some are those of every list, and
        tab leads from the task to the rows, then on.
        """
        if path in _ON_RECORD:
            return self.box.has_focus or not isinstance(self.row, Given | Out)
        return self.box.has_focus or path != "preview.rows.focus"

    def less(self) -> None:
        """Give it, or the layer under the cursor, fewer tokens."""
        self.more(-STEP)

    def more(self, step: int = STEP) -> None:
        row = self.row
        if self.made is None:
            return
        if row is not None and not isinstance(row, Whole) and self.rows.has_focus:
            kind = row.layer.kind.id
            own = next(layer.budget for layer in self.made.layers if layer.kind.id == kind)
            self._budgets[kind] = max(0, self._budgets.get(kind, own) + step)
        else:
            self._budget = max(0, self._budget + step)
        self._cut()

    def reset(self) -> None:
        """Take the budgets as they are set."""
        self._budget, self._budgets = USUAL, {}
        self._cut()

    def open_row(self) -> bool:
        """Go from a layer to what it gives, or list what else it leaves out; say whether the row
        leads there.
        """
        row = self.row
        if isinstance(row, More):
            self._unfolded.add(row.layer.kind.id)
            self._cut()
        elif isinstance(row, Head):
            self.rows.cursor = (
                self.rows.index_of(("Section", row.layer.kind.id)) or self.rows.cursor
            )
        return isinstance(row, More | Head)

    async def profile(self) -> None:
        """Rank under another profile."""
        profiles = self._bench.tuning.profiles
        now = self._profile.name if self._profile is not None else self._bench.context.profile.name
        choices = [Choice(name, name) for name in profiles.names()]
        chosen = await self._screen.app.push_screen_wait(
            Choose("Rank what is found under", choices, now)
        )
        if chosen is not None:
            try:
                self._profile = profiles.get(chosen)
            except WorkbenchError as error:
                self._screen.say(str(error))
            else:
                self.ask()

    def copy(self) -> None:
        """Copy what is given, as the agent gets it: Markdown."""
        if self.made is not None:
            self._screen.copy(text_of(self.made))

    def copy_row(self) -> None:
        """Copy the text of the row under the cursor as the agent gets it; all of it where the row
        is none.
        """
        if isinstance(row := self.row, Given):
            self._screen.copy(row.item.alone)
        else:
            self.copy()

    def copy_json(self) -> None:
        """Copy it as JSON, with what is left out, as an agent's door gives it."""
        if self.made is not None:
            self._screen.copy(self._as_json(self.made))

    async def export(self) -> None:
        """Write it to a new file, as JSON where the name says so, else as Markdown."""
        made = self.made
        if made is None:
            return

        def write(name: str) -> None:
            file = Path.cwd() / path_to_write(name)
            replace_file(
                file, self._as_json(made) if file.suffix == ".json" else f"{text_of(made)}\n", None
            )

        ask = Prompt(
            "Write it to a new file",
            "context.md",
            placeholder="context.md or context.json",
            take=write,
        )
        written = await self._screen.app.push_screen_wait(ask)
        if written:
            self._screen.say(f"Wrote {Path.cwd() / path_to_write(written)}.")

    def _as_json(self, made: AgentContext) -> str:
        answer = Answering(self._asker, self._bench.safety).context(made)
        return json.dumps(answer, ensure_ascii=False, indent=2) + "\n"
