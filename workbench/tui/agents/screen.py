"""Agents: what one would be given, and each agent's sessions: what it asked, was given and wrote.

The usual keys work on every memory and bullet.
"""

import asyncio
from collections.abc import Hashable, Iterable, Iterator, Sequence
from datetime import datetime
from typing import NamedTuple

from textual import events, on, work
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Input, Static

from workbench.core.agents.read import AgentRead
from workbench.core.record import WorkbenchError, clock_time
from workbench.core.runtime import implementation
from workbench.core.stream.memory import Memory, Vote
from workbench.core.text import cell_width, one_line, printable
from workbench.core.tuning.judgment import MAX_GRADE
from workbench.services.agents.sessions import AgentSession, Write
from workbench.services.context import Touched
from workbench.services.open import Workbench
from workbench.tui.actions import AGENTS, CONTEXT
from workbench.tui.agents import context
from workbench.tui.agents.context import ContextPreview, bar, memory_line
from workbench.tui.app.actions import Action, bindings
from workbench.tui.app.area import AreaScreen
from workbench.tui.app.waiting import asking
from workbench.tui.records.actions import Acts, Place, links_of
from workbench.tui.safety import FlaggedMemories
from workbench.tui.stream.memory_view import detail
from workbench.tui.widgets.content import BLANK, MUTED, assemble, body, joined, keyed, muted, undo
from workbench.tui.widgets.dialog import Choice, Choose
from workbench.tui.widgets.figures import AGE, absolute, amount, brief, number, since
from workbench.tui.widgets.header import KeyBar
from workbench.tui.widgets.line_list import Cell, LineView
from workbench.tui.widgets.reading_pane import ReadingPane

EMPTY = (
    "No agent has read or written here yet. {agents.connect} connects one; "
    "its questions, what it was served and what it wrote appear here while it works."
)
TO_A_MEMORY = (
    "Go to a memory first: enter opens a session, {list.down} and {list.up} go to its rows."
)
LOOKING = "Looking …"

_OF_CONTEXT = tuple(
    action for action in CONTEXT if action.id not in ("context.layers", "dialog.cancel")
)
"""What the keys do to a context, without those that are the area's wherever one is: to the next
pane, and back.
"""

HELP = """A session
  with an id       what one agent did under one id of its own
  without one      split where the agent paused for half an hour
A question
  3 served         memories the agent got, best first, with their match at that time
  held back        better ones with orders to agents or hidden characters
  not approved     better ones that you neither wrote nor approved
  too weak         weak matches, not served to agents
  nothing relevant the whole answer was empty"""


class Line(NamedTuple):
    """What an agent did. What was served for a question has a `place`, from 0; `memory` is the one
    it is about.
    """

    act: AgentRead | Write | Vote
    memory: str = ""
    place: int = -1

    @property
    def is_question(self) -> bool:
        return isinstance(self.act, AgentRead) and self.place < 0

    @property
    def relevance(self) -> float | None:
        """The relevance it had then, up to 1; `None` where it was not kept."""
        kept = self.act.relevances if isinstance(self.act, AgentRead) else ()
        return kept[self.place] if 0 <= self.place < len(kept) else None


class AgentsScreen(AreaScreen):
    """The sessions over what was done in one, a row's text, and what an agent would be given.

    Where there is room for less, the context stands below the sessions, and what is opened takes
    the room of all.
    """

    AREA = "agents"
    PANES = ("#doings", "#context")
    BINDINGS = bindings(AGENTS)
    help_text = HELP
    DEFAULT_CSS = """
    AgentsScreen {
        #agents-line { height: 1; padding: 0 1; color: $text-muted; }
        #work { height: 1fr; }
        #context { width: 1fr; height: 1fr; border-left: solid $panel; }
        #doings { width: 1fr; height: 1fr; }
        #sessions { height: 1fr; }
        #list { height: 2fr; }
        #side { width: 1fr; display: none; }
        &.-wide #context { width: 2fr; }
        &.-wide #doings { width: 3fr; }
        &.-wide #side { display: block; width: 2fr; }
        &.-normal.-open #side { display: block; }
        &.-normal.-open #context { display: none; }
        &.-normal.-open.-given #context { display: block; }
        &.-normal.-open.-given #doings { display: none; }
        &.-narrow #work { layout: vertical; }
        &.-narrow #context { height: 12; border-left: none; }
        &.-narrow.-given #context { height: 2fr; }
        &.-narrow #list, &.-narrow #side { display: none; }
        &.-narrow.-within #list { display: block; }
        &.-narrow.-within #sessions, &.-narrow.-within #context { display: none; }
        &.-narrow.-open #side { display: block; height: 1fr; }
        &.-narrow.-open #doings, &.-narrow.-open #context { display: none; }
    }
    """

    def __init__(self) -> None:
        super().__init__()
        self._every: Sequence[AgentSession] = ()
        self._only = ""
        self._agent_cells = 5
        self._known = self._looking = self._again = False
        self._shown: object = None
        self._read: object = None
        self.sessions: LineView[AgentSession] = LineView(
            self._draw_session,
            lambda s: s.key,
            empty=Content(LOOKING),
            title="Sessions",
            id="sessions",
        )
        self.rows: LineView[Line] = LineView(
            self._draw_line,
            key_of,
            is_heading=lambda line: line.is_question,
            title="What it did",
            id="list",
        )
        self.side = ReadingPane(id="side", title="Text")
        self.side.links = links_of(self, self.side, lambda: place_of(self.rows.current))
        self.preview = ContextPreview(self, self._show_side)
        self.flagged = FlaggedMemories(self)
        self.acts = Acts(self, self._row_for, missing=keyed(TO_A_MEMORY))

    def contents(self) -> Iterable[Widget]:
        """Return what would be given, the sessions with the line about all, what was done, and the
        text.
        """
        doings = Vertical(Static(id="agents-line"), self.sessions, self.rows, id="doings")
        yield Horizontal(doings, self.side, self.preview.pane, id="work")

    def on_mount(self) -> None:
        """Start in the sessions."""
        self.sessions.focus()

    @property
    def memory(self) -> Memory | None:
        """The memory of the row under the cursor, as it is now; `None` while the keys are among the
        sessions.
        """
        place = self._row_for()
        return (
            self.bench.library.memories.find(place[1]) if place and place[0] == "memories" else None
        )

    @property
    def _is_in_context(self) -> bool:
        """Whether the keys are in the task of the context, or in its rows."""
        return self.focused in (self.preview.rows, self.preview.box)

    @property
    def _is_given(self) -> bool:
        """Whether what would be given has the keys, or is what is read."""
        return self.has_class("-given")

    def _row_for(self) -> Place | None:
        """Return where the record of the row under the cursor is, unless the keys are among the
        sessions.
        """
        if self._is_given:
            return context.place_of(self.preview.row, self.bench)
        return None if self.focused is self.sessions else place_of(self.rows.current)

    # Following the store

    def show_store(self) -> None:
        """Look up what agents did, away from the keyboard; what comes meanwhile is looked up once
        after that.
        """
        self._again = True
        if not self._looking:
            self._look()

    def show_changes(self, touched: Touched) -> None:
        """Look again where an agent did something; else only draw what a memory looks like now."""
        if touched.actor.startswith("agent:") or touched.kind != "edit":
            self.show_store()
        else:
            self.rows.set_rows(self.rows.rows)
            self.preview.ask()
            self._show_side()

    @work(description="load agent activity")
    async def _look(self) -> None:
        """Show what was found; the cursor stays on its session and its row."""
        sessions, shown = self.bench.agent_sessions, self.bench.safety.shown

        def look(journal: bool) -> list[AgentSession]:
            return [shown(one) for one in sessions.look(journal=journal)]

        self._looking = True
        while self._again:
            self._again = False
            try:
                for journal in (True,) if sessions.has_looked else (False, True):
                    self._every = await asyncio.to_thread(look, journal)
                    self._known = True
                    self._show()
            except WorkbenchError as error:
                self.say(str(error), "error")
            self.preview.ask()
        self._looking = False

    def _show(self) -> None:
        shown = [s for s in self._every if not self._only or s.agent == self._only]
        who = one_line(self._only, 30) or "all agents"
        self.sessions.set_empty(
            Content(
                f"Nothing of {who} is kept any longer. Esc shows all agents."
                if self._only
                else keyed(EMPTY)
            )
        )
        widest = max((cell_width(printable(session.agent)) for session in shown), default=5)
        self._agent_cells = min(12, max(5, widest))
        self.sessions.set_rows(shown)
        self._show_session()
        latest = f" · latest {since(shown[0].end, self.bench.context.now())}" if shown else ""
        parts = [(f"{who} · {amount(len(shown), 'session')}", ""), (latest, MUTED)]
        for line in self.query("#agents-line").results(Static):  # none once the app ends
            line.update(assemble(parts))

    @on(LineView.Highlighted, "#sessions")
    def _show_session(self) -> None:
        """Show what was done in the session under the cursor."""
        session = self.sessions.current
        named = None if session is None else session.key
        same = named == self._shown
        self._shown = named
        self.rows.set_rows(list(lines_of(session)), cursor=None if same else 0)
        self.preview.ask_as(self._only or (session.agent if session is not None else ""))
        self._show_side()

    @on(LineView.Highlighted, "#list")
    @on(LineView.Highlighted, "#context-rows")
    def _show_side(self) -> None:
        """Show the row under the cursor in full, with the memory it is about, where there is room
        for that.
        """
        if not self.side.display:
            return
        parts, named = self._reading()
        text = joined(*parts)
        if text.plain != self.side.plain:
            self.side.show(text, keep_place=named == self._read)
        self._read = named

    def _reading(self) -> tuple[list[Content], Hashable]:
        """Return what the row under the cursor says, with the memory it is about, and the name of
        the row.
        """
        named: Hashable
        if self._is_given:
            row = self.preview.row
            parts = [] if row is None else [context.told(row, self.bench)]
            id, named = context.id_of(row), None if row is None else context.key_of(row)
        else:
            line = self.rows.current
            parts = [] if line is None else [told(line, self.bench.context.now())]
            id, named = "" if line is None else line.memory, None if line is None else key_of(line)
            read = read_of(line)
            grade = self.bench.judging.grade(read.query, id) if read and id else None
            if grade is not None:
                parts.append(Content(f"Judged {grade} of {MAX_GRADE} for this question."))
        memory = self.bench.library.memories.find(id) if id else None
        if memory is not None:
            width = self.side.scrollable_content_region.width or 60
            parts.append(detail(self.bench, memory, self.flagged.flags_of(memory), width))
        return parts, named

    def _draw_session(self, session: AgentSession, width: int) -> list[Cell]:
        """Return age, agent, what was done, and what was asked last, where there is room."""
        is_wide = width >= _WITH_QUESTION
        asked = next((read.query for read in session.reads if read.is_question), "")
        return [
            Cell(brief(session.end, self.bench.context.now()), AGE, MUTED, "right", "age"),
            Cell(session.agent, self._agent_cells, "bold", name="agent"),
            Cell(counts(session), 26 if is_wide else 0, name="did"),
            *([Cell(asked, 0, MUTED, name="asked last")] if is_wide else []),
        ]

    def _draw_line(self, line: Line, width: int) -> list[Cell]:
        return draw(line, width, self.bench)

    def on_resize(self) -> None:
        """Show the text for the width there is."""
        self.call_after_refresh(self._show_side)

    # Going about

    @on(LineView.Opened, "#sessions")
    def _open_session(self) -> None:
        self.add_class("-within")
        self.rows.focus()

    @on(LineView.Opened, "#list")
    def _open(self) -> None:
        self.action_unfold()
        self._enter_text()

    @on(LineView.Opened, "#context-rows")
    def _open_given(self) -> None:
        if not self.preview.open_row():
            self._open()

    @on(Input.Changed, "#context-task")
    def _typed(self, event: Input.Changed) -> None:
        self.preview.ask_for(event.value)

    @on(Input.Submitted, "#context-task")
    def _entered(self) -> None:
        self.preview.rows.focus()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Leave the keys that are every list's to those, where the preview does not hold them."""
        return action != "do" or self.preview.holds(str(parameters[0]))

    def _enter_text(self) -> None:
        self.add_class("-open")
        self.side.focus()
        self.call_after_refresh(self._show_side)

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:
        """Remember which pane has the keys, for where there is room for one only; the keys that
        hold there show.
        """
        if event.widget is not self.side:
            self.set_class(self._is_in_context, "-given")
            self.remove_class("-open")
            self._show_side()
        self.set_class(
            event.widget is self.rows or (event.widget is self.side and not self._is_given),
            "-within",
        )
        self.query_one(KeyBar).actions = self.shown_actions()

    def shown_actions(self) -> tuple[Action, ...]:
        """Return the actions of the key bar: those of the context while it has the keys."""
        return (
            *self.as_mapped(_OF_CONTEXT if self._is_in_context else ()),
            *super().shown_actions(),
        )

    def held_actions(self) -> tuple[Action, ...]:
        """Return what has a key here; in the context, its own first."""
        return (*(_OF_CONTEXT if self._is_in_context else ()), *super().held_actions())

    def action_turn(self, step: int) -> None:
        text = [self.side] if self.has_class("-wide") or self.has_class("-open") else []
        panes: list[Widget] = [self.sessions, self.rows, *text, self.preview.rows]
        focused = self.preview.rows if self.focused is self.preview.box else self.focused
        here = next((n for n, pane in enumerate(panes) if pane is focused), 0)
        self._enter(panes[(here + step) % len(panes)])

    def _enter(self, pane: Widget) -> None:
        """Bring a pane into sight, where there is no room for all, and give it the keys."""
        if pane is self.side:
            self._enter_text()
            return
        self.set_class(pane is self.rows, "-within")
        self.set_class(pane is self.preview.rows, "-given")
        self.remove_class("-open")
        pane.focus()

    def go_back(self) -> None:
        """Close the text, leave the session or the context, or show all agents again."""
        if self.focused is self.preview.box:
            self.preview.rows.focus()
        elif self.has_class("-open") or self.focused is self.side:
            self._enter(self.preview.rows if self._is_given else self.rows)
        elif self.focused is self.rows or self._is_given:
            self._enter(self.sessions)
        elif self._only:
            self._only = ""
            self._show()

    @asking
    async def action_connect(self) -> None:
        """Connect an agent (hooks, MCP), or undo that."""
        if self.workbench_app.options.scratch:
            self.say("The demo is not kept. Connect agents in a store of your own.")
            return
        from workbench.tui.agents.connect import connect

        await connect(self.app, self.bench.library.folder)

    @asking
    async def action_agent(self) -> None:
        """Choose whose sessions are listed."""
        agents = list(dict.fromkeys(session.agent for session in self._every))
        if not agents:
            self.say("No agent activity yet.")
            return
        choices = [Choice("", "All agents", counts_of(self._every))]
        choices += [
            Choice(a, a, counts_of([s for s in self._every if s.agent == a])) for a in agents
        ]
        chosen = await self.app.push_screen_wait(Choose("Show sessions of", choices, self._only))
        if chosen is not None:
            self._only = chosen
            self._show()

    def action_open(self, dialog: str) -> None:
        """Open a dialog of this folder, such as `experience:EpisodesDialog`."""
        self.app.push_screen(implementation(f"workbench.tui.agents.{dialog}")(self.bench))

    @work
    async def action_judge(self) -> None:
        """Ask the question of this row, or the last one of the session, in Tune."""
        read = read_of(self.rows.current) if self.focused is not self.sessions else None
        session = self.sessions.current
        if read is None and session is not None and self.focused is self.sessions:
            read = next((one for one in session.reads if one.is_question), None)
        if read is None or not read.is_question:
            self.hint(
                "Go to a question, or to what was served for it: {agents.judge} asks it again in Tune."
            )
            return
        from workbench.tui.tuning.screen import TuneScreen

        await self.app.switch_mode("tune")
        if isinstance(tune := self.app.screen, TuneScreen):
            tune.call_after_refresh(tune.ask, read.query)

    # Changing

    def action_bad(self) -> None:
        """Judge the memory under the cursor as no answer to the question it was served for."""
        line, memory = self.rows.current, self.memory
        read = None if self._is_given else read_of(line)
        if read is None or not read.is_question or memory is None:
            self.hint(
                "Go to a memory that was served for a question: {agents.bad} judges it as no answer to that."
            )
            return

        def judge() -> None:
            self.bench.judging.judge(read.query, None, memory.id, 0)
            query = one_line(read.query, 40)
            self.say(
                f"Judged as no answer to “{query}”. {undo()} takes it back; Tune measures by it."
            )

        self.workbench_app.change(judge)

    def action_unfold(self) -> None:
        """Show the text of a flagged memory, until another one was opened."""
        if (memory := self.memory) is not None and self.flagged.unfold(memory):
            self._show_side()

    def action_copy(self) -> None:
        """Copy the text of the memory, or the question."""
        read = None if self._is_given else read_of(self.rows.current)
        if (memory := self.memory) is not None:
            self.copy(memory.content)
        elif self._is_given:
            self.preview.copy_row()
        elif read is not None and self.focused is not self.sessions:
            self.copy(read.query)


def counts_of(sessions: Sequence[AgentSession]) -> str:
    """Say how many sessions there are, and what was done in them."""
    many = amount(len(sessions), "session")
    if len(sessions) == 1:
        return f"{many}: {counts(sessions[0])}"
    reads, writes = sum(len(s.reads) for s in sessions), sum(s.written for s in sessions)
    return f"{many}: {number(reads)} reads, {number(writes)} writes"


# What an agent did in a session, as lines: a question above what was served for it, what it wrote,
# how it voted.


def lines_of(session: AgentSession | None) -> Iterator[Line]:
    """Yield the lines of a session, the latest act first."""
    for act in session.acts if session is not None else ():
        match act:
            case AgentRead():
                yield Line(act)
                yield from (Line(act, id, place) for place, id in enumerate(act.memories))
            case Write():
                yield from (Line(act, id) for id in act.memories or ("",))
            case Vote():
                yield Line(act, act.target if act.table == "memories" else "")


def place_of(line: Line | None) -> tuple[str, str] | None:
    """Return table and key of the record a line is about; `None` for none."""
    if line is not None and isinstance(line.act, Vote):
        return (line.act.table, line.act.target)
    return ("memories", line.memory) if line is not None and line.memory else None


def read_of(line: Line | None) -> AgentRead | None:
    """Return the question that a line is, or belongs to."""
    return line.act if line is not None and isinstance(line.act, AgentRead) else None


def key_of(line: Line) -> Hashable:
    """Name a line, so that the cursor stays on it while others come."""
    act = line.act
    return (act.rev, line.memory or act.label) if isinstance(act, Write) else (act.id, line.place)


def is_heading(line: Line) -> bool:
    return line.is_question


_WITH_QUESTION, _WITH_BAR = 64, 44
"""Columns from which a session has room for what was asked last, and a memory for a bar."""

GONE = "no longer in the store"
_LONGEST = 400


def counts(session: AgentSession) -> str:
    """Say in few words what was done in a session: "3 reads, 1 write, 1 vote"."""
    found = ((len(session.reads), "read"), (session.written, "write"), (session.votes, "vote"))
    return ", ".join(amount(n, what) for n, what in found if n)


def outcome(read: AgentRead) -> str:
    """Say what became of a question: how many were given, and what was left out for which reason."""
    if read.is_empty:
        return "nothing relevant, nothing served"
    if not read.is_question and not read.memories:
        return ""
    left = ((read.held, "held back"), (read.unapproved, "unapproved"), (read.weak, "too weak"))
    parts = [f"{number(len(read.memories))} served" if read.memories else "nothing served"]
    return ", ".join([*parts, *(f"{number(n)} {what}" for n, what in left if n)])


def draw(line: Line, width: int, bench: Workbench) -> list[Cell]:
    act, at = line.act, Cell(clock_time(line.act.at).strftime("%H:%M"), 5, MUTED, name="time")
    if line.is_question and isinstance(act, AgentRead):
        said = outcome(act)
        style = "$text-warning" if act.is_question and not act.memories else MUTED
        return [
            at,
            Cell(_query(act), 0, name="question"),
            Cell(said, max(12, min(len(said), width * 3 // 5)), style, "right", "outcome"),
        ]
    if isinstance(act, AgentRead):
        share = line.relevance
        cells = [
            Cell(str(line.place + 1), 5, MUTED, "right", "place"),
            Cell("" if share is None else f"{share:.3f}", 5, name="match"),
        ]
        cells += [Cell("" if share is None else bar(share, 8), 8)] if width >= _WITH_BAR else []
        return [*cells, Cell(_text(line, bench), name="memory")]
    what = f"voted {act.verdict}" if isinstance(act, Vote) else "wrote" if line.memory else "did"
    return [
        at,
        Cell(what, min(13, max(5, width // 4)), "bold $text-accent", name="did"),
        Cell(_text(line, bench), name="memory"),
    ]


def _query(read: AgentRead) -> str:
    """Return the question, or what was looked up without one."""
    query = read.query[:_LONGEST]
    if read.is_question:
        return f"“{query}”"
    return f"read the {query}" if query else "looked up by id"


def _text(line: Line, bench: Workbench) -> Content:
    """Return the text of the memory a line is about, as it is now, or what else there is to say."""
    memory = bench.library.memories.find(line.memory) if line.memory else None
    if memory is not None:
        return memory_line(memory, bench)
    if isinstance(line.act, Write) and not line.memory:
        return Content(printable(line.act.label[:_LONGEST]))
    if isinstance(line.act, Vote) and not line.memory:
        bullet = bench.library.bullets.find(line.act.target)
        text = GONE if bullet is None else bench.safety.shown(bullet).content[:_LONGEST]
        return assemble(
            [
                (f"[{printable(line.act.target.rpartition('/')[2][:40])}] ", MUTED),
                (printable(text), ""),
            ]
        )
    return muted(f"{one_line(line.memory, 40)} {GONE}")


def told(line: Line, now: datetime) -> Content:
    """Return what a line says besides the memory it is about: who did what, when, and what came of
    it.
    """
    act, more = line.act, list[Content]()
    if isinstance(act, Vote):
        head = f"Voted {act.verdict} by {act.actor.removeprefix('agent:')}"
        more = [body(f"because {act.reason[:_LONGEST]}", MUTED)] if act.reason else []
    elif isinstance(act, Write):
        head = (
            f"Written by {act.agent}" if act.rev else f"Captured from this session of {act.agent}"
        )
        head = head if line.memory else f"Done by {act.agent}: {act.label[:_LONGEST]}"
    elif line.is_question:
        session = f"session {act.session}" if act.session else "no session named"
        facts = [
            f"by {act.agent}",
            f"through {act.door}",
            session,
            *([f"profile {act.profile}"] * bool(act.profile)),
        ]
        head, more = _query(act), [body(" · ".join(facts), MUTED)]
    else:
        relevance = "" if line.relevance is None else f", match {line.relevance:.3f}"
        by = f" by profile {act.profile}" if act.profile else ""
        head = f"Served as {line.place + 1} of {len(act.memories)}{relevance}{by}"
        more = [body(("for " if act.is_question else "") + _query(act), MUTED)]
    when = muted(f"{since(act.at, now)} · {absolute(act.at)}")
    came = _outcome_sentences(act) if line.is_question and isinstance(act, AgentRead) else []
    return joined(body(head, "bold"), *more, when, BLANK, *map(Content, came))


def _outcome_sentences(read: AgentRead) -> list[str]:
    if read.is_empty:
        return ["Nothing was relevant, so nothing was served."]
    many = len(read.memories)
    if not read.is_question and not many:
        return ["It read the whole; no single memory was served."]
    told = [f"{amount(many, 'memory was', 'memories were')} served."]
    if read.held:
        told.append(
            f"{number(read.held)} higher-ranked held back: instructions to agents or hidden characters."
        )
    if read.unapproved:
        told.append(
            f"{number(read.unapproved)} higher-ranked not served: not written or approved by you."
        )
    if read.weak:
        told.append(f"{number(read.weak)} weak matches were not served.")
    return told
