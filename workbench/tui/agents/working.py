"""Working memories: how full their layers are, and their variables, which a person pins, drops and corrects."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import ClassVar, NamedTuple, cast

from textual import on, work
from textual.binding import BindingType
from textual.containers import Horizontal
from textual.content import Content
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Static
from textual.worker import get_current_worker

from workbench.core.agents.working import LAYERS, LIMIT, Variable, WorkingMemory, fill, temperatures
from workbench.core.record import InvalidRecord
from workbench.core.stream.memory import MAX_CONTENT
from workbench.services.agents.api import working_session
from workbench.services.agents.reading_log import ReadingLog
from workbench.services.agents.working import WorkingSession, sessions
from workbench.services.open import Workbench
from workbench.tui.agents.actions import WORKING
from workbench.tui.app.actions import bindings
from workbench.tui.app.host import Host
from workbench.tui.app.waiting import asking, change
from workbench.tui.records.links import linked_pane
from workbench.tui.widgets.content import MUTED, body
from workbench.tui.widgets.dialog import Choice, Choose, Dialog
from workbench.tui.widgets.figures import absolute, amount, number
from workbench.tui.widgets.lists.line_list import LineView
from workbench.tui.widgets.lists.reading_pane import ReadingPane
from workbench.tui.widgets.lists.row import Cell
from workbench.tui.widgets.texts.editor import TextEditor
from workbench.tui.widgets.texts.prompt import Prompt

EMPTY = (
    "No session has a working memory yet. `workbench mcp --tools few,working` lets agents keep one, `workbench working "
    "init` begins one."
)
STYLES = {"hot": "$text-error", "warm": "$text-warning", "cold": MUTED}
_BAR, _FOLLOW_S = 20, 1.0


class Row(NamedTuple):
    """A session, or one of its variables with its temperature."""

    memory: WorkingMemory
    variable: Variable | None = None
    warmth: str = ""

    @property
    def key(self) -> str:
        return self.memory.session if self.variable is None else self.variable.id


class Looked(Message):
    """A thread has looked up the working memories."""

    def __init__(self, rows: Sequence[Row]) -> None:
        super().__init__()
        self.rows = rows


class WorkingDialog(Dialog[None]):
    """The working memories as they were stored last, and what the variable under the cursor says."""

    BINDINGS: ClassVar[list[BindingType]] = bindings(WORKING)
    DEFAULT_CSS = """
    WorkingDialog {
        & > .dialog { width: 94%; height: 94%; }
        &.-narrow > .dialog { width: 100%; height: 100%; }
        & #working-body { height: 1fr; }
        & #working-list { width: 1fr; }
        & #working-text { width: 1fr; border-left: solid $panel; }
        &.-narrow #working-body { layout: vertical; }
        &.-narrow #working-list { height: 8; }
        &.-narrow #working-text { height: 1fr; border-left: none; border-top: solid $panel; }
        & #working-line { height: auto; max-height: 2; color: $text-muted; }
    }
    """

    def __init__(self, bench: Workbench) -> None:
        super().__init__("Working memory: what agents keep in mind", [one for one in WORKING if one.show])
        self._bench, self._since, self._seen = bench, bench.library.revision, -1
        self.rows: LineView[Row] = LineView(
            self._draw, lambda row: row.key, empty=Content("Looking …"), is_heading=_is_session, id="working-list"
        )

    def contents(self) -> Iterable[Widget]:
        """Return the list, the text, and a line for what was done."""
        text = linked_pane("working-text", self._bench, lambda: ("Working memory",))
        yield Horizontal(self.rows, text, id="working-body")
        yield Static(id="working-line")

    def on_mount(self) -> None:
        self.rows.focus()
        self._follow()
        self.set_interval(_FOLLOW_S, self._follow)

    def _follow(self) -> None:
        """Look again when something was stored."""
        if self._seen != self._bench.library.revision:
            self._seen = self._bench.library.revision
            self._read()

    @work(thread=True, exclusive=True, group="working", description="look up working memories")
    def _read(self) -> None:
        worker, rows = get_current_worker(), list[Row]()
        for memory in sessions(self._bench.library).values():
            rows += [Row(memory), *(Row(memory, one, warmth) for one, warmth in temperatures(memory))]
        if not worker.is_cancelled:
            self.post_message(Looked(rows))

    @on(Looked)
    def _looked(self, event: Looked) -> None:
        self.rows.set_empty(Content(EMPTY))
        self.rows.set_rows(event.rows)
        self._show()

    @on(LineView.Highlighted, "#working-list")
    def _show(self) -> None:
        row = self.rows.current
        self.query_one(ReadingPane).show(body("") if row is None else self._text(row))

    def _text(self, row: Row) -> Content:
        one, mask = row.variable, self._bench.safety.masked
        if one is None:
            return body("\n".join((row.memory.session, "", *layer_lines(row.memory))))
        facts = [row.warmth, one.kind, amount(one.tokens, "token"), absolute(one.at)]
        facts += [
            word for word, holds in (("pinned", one.pinned), ("read", one.access_count), ("pruned", one.cold)) if holds
        ]
        parts = [body(f"{mask(one.name)}\n", "bold"), body(" · ".join(filter(None, facts)), MUTED)]
        parts.append(body(f"\n\n{mask(_shown(one.value))}"))
        if one.whole is not None:
            parts += [body("\n\nbefore it was summarised\n", "bold"), body(mask(_shown(one.whole)))]
        return Content("").join(parts)

    @on(LineView.Opened, "#working-list")
    def action_pane(self) -> None:
        """To the text, and back."""
        pane = self.query_one(ReadingPane)
        (self.rows if pane.has_focus else pane).focus()

    def action_pin(self) -> None:
        """Keep the variable from being pruned, or no longer."""
        row = self.rows.current
        is_pinned = row is not None and row.variable is not None and row.variable.pinned
        self._change(
            lambda session, one: session.pin(one.key, one.scope),
            "is no longer pinned." if is_pinned else "is pinned: it is not pruned.",
        )

    def action_drop(self) -> None:
        """Remove the variable."""
        self._change(lambda session, one: session.drop(one.key, one.scope), "is dropped.")

    @asking
    async def action_correct(self) -> None:
        """Write another value."""
        row = self.rows.current
        if row is None or row.variable is None:
            self.app.bell()
            return
        is_text, text = isinstance(row.variable.full, str), _shown(row.variable.full)

        def wrong(typed: str) -> str | None:
            try:
                if not is_text:
                    json.loads(typed)
            except (ValueError, RecursionError):
                return "It is not JSON, as the value was."
            return None

        name = self._bench.safety.masked(row.variable.name)
        ask = TextEditor(f"The value of {name}", text, limit=MAX_CONTENT, check=wrong)
        typed = await self.app.push_screen_wait(ask)
        if typed is not None and typed != text:
            value = typed if is_text else json.loads(typed)
            self._change(lambda session, one: session.correct(one.key, one.scope, value), "is corrected.")

    @asking
    async def action_operate(self) -> None:
        """Carry out one of the operations that agents have, and store it."""
        choices = [Choice(id, title, about) for id, (title, about, _) in OPERATIONS.items()]
        chosen = await self.app.push_screen_wait(Choose("Operate on the working memory", choices))
        if chosen is None:
            return
        title, about, do = OPERATIONS[chosen]
        session = self.rows.current.memory.session if self.rows.current is not None and chosen != "init" else "app"
        log = ReadingLog(self._bench.follow)

        def take(words: str) -> None:
            memory = working_session(self._bench, session, "app", "app", log)
            do(memory, words)
            memory.snapshot(chosen)
            self._tell(f"{title}: done.")

        if await self.app.push_screen_wait(Prompt(f"{title}: {session}", placeholder=about, take=take)) == "":
            change(self, lambda: take(""), lambda error: self._tell(f"✗ {error}"))

    @asking
    async def action_undo(self) -> None:
        """Take back the latest change."""
        await cast(Host, self.app).take_back(self._tell, self._since)

    def _change(self, do: Callable[[WorkingSession, Variable], object], said: str) -> None:
        row = self.rows.current
        if row is None or row.variable is None:
            self.app.bell()
            return
        one = row.variable

        def step() -> None:
            do(WorkingSession(self._bench.context, one.session), one)
            self._tell(f"{one.name} {said}")

        change(self, step, lambda error: self._tell(f"✗ {error}"))

    def _tell(self, said: str) -> None:
        self.query_one("#working-line", Static).update(body(self._bench.safety.masked(said)))
        self._follow()

    def _draw(self, row: Row, width: int) -> list[Cell]:  # noqa: ARG002 - as a list asks for its cells
        one, mask = row.variable, self._bench.safety.masked
        if one is None:
            said = f"{number(sum(fill(row.memory).values()))} of {number(LIMIT)}"
            return [Cell(row.memory.session, 0, "bold"), Cell(said, 16, MUTED, "right")]
        return [
            Cell("*" if one.pinned else "", 1),
            Cell(row.warmth, 4, STYLES[row.warmth]),
            Cell(mask(one.name), 0, MUTED if row.warmth == "cold" else ""),
            Cell(number(one.tokens), 6, MUTED, "right"),
        ]


def _pair(words: str) -> tuple[str, object]:
    """Return a name and the value behind its equals sign, as JSON or as a text."""
    name, sign, said = (part.strip() for part in words.partition("="))
    if not sign:
        raise InvalidRecord("It needs an equals sign.", "Such as: task.goal = add JWT")
    try:
        return name, json.loads(said)
    except (ValueError, RecursionError):
        return name, said


def _set(memory: WorkingSession, words: str) -> object:
    name, value = _pair(words)
    scope, dot, key = name.partition(".")
    return memory.set(key, value, scope) if dot else memory.set(name, value)


def _roll_back(memory: WorkingSession, words: str) -> object:
    if words and not words.isdecimal():
        raise InvalidRecord(f"“{words[:40]}” is no revision.", "Leave it empty to go back by one change.")
    return memory.rollback(int(words or 0))


OPERATIONS: Mapping[str, tuple[str, str, Callable[[WorkingSession, str], object]]] = {
    "init": ("Begin a task", "what is to be done", lambda m, words: m.init(words)),
    "context": ("Load the context of a task", "what is to be done", lambda m, words: m.load_task_context(words)),
    "set": ("Set a variable", "task.goal = a text or JSON", _set),
    "state": ("Push a state", "current_phase = testing", lambda m, words: m.push_state(dict([_pair(words)]))),
    "result": ("Add an intermediate result", "subtask = output", lambda m, words: m.add_intermediate(*_pair(words))),
    "retrieve": ("Retrieve episodes", "a question", lambda m, words: m.retrieve_from_episodic(words)),
    "prune": ("Prune", "enter prunes", lambda m, _: m.prune()),
    "snapshot": ("Take a snapshot", "a label", lambda m, words: m.snapshot(words)),
    "rollback": ("Roll back", "a revision; empty: by one change", _roll_back),
    "clear": ("Clear", "SUCCESS, PARTIAL or FAILURE", lambda m, words: m.clear(words or "PARTIAL")),
}


def layer_lines(memory: WorkingMemory) -> Iterable[str]:
    """Yield a line for each layer: its fill as a bar and in tokens."""
    tokens = fill(memory)
    for id, (budget, _) in LAYERS.items():
        full = min(_BAR, -(-_BAR * tokens[id] // budget))
        yield f"{id:<10} {'█' * full}{'░' * (_BAR - full)} {number(tokens[id]):>6} of {number(budget)}"


def _is_session(row: Row) -> bool:
    return row.variable is None


def _shown(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, indent=2, ensure_ascii=False)
