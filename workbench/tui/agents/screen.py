"""Agents: each agent's sessions, what it asked and was given, what it wrote; the usual keys work on every memory."""

from collections.abc import Iterable, Sequence
from typing import ClassVar

from textual import events, on, work
from textual.binding import BindingType
from textual.containers import Horizontal
from textual.content import Content
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Static
from textual.worker import get_current_worker

from workbench.bench.agents.sessions import AgentSession
from workbench.bench.context import Touched
from workbench.core.errors import WorkbenchError
from workbench.core.stream.memory import Memory
from workbench.tui.agents.actions import AGENTS
from workbench.tui.agents.drawing import counts, draw, session_cells, told
from workbench.tui.agents.lines import Line, is_heading, key_of, lines_of, memory_id, place_of, read_of
from workbench.tui.app.actions import bindings
from workbench.tui.app.area import AreaScreen
from workbench.tui.app.asking import asking
from workbench.tui.records.acts import Acts, Place
from workbench.tui.safety.flagged import FlaggedMemories
from workbench.tui.stream.around import surroundings
from workbench.tui.stream.memory_view import detail
from workbench.tui.widgets.choose import Choice, Choose
from workbench.tui.widgets.content import MUTED, assemble, clipped
from workbench.tui.widgets.figures import number, since
from workbench.tui.widgets.lists.line_view import LineView
from workbench.tui.widgets.lists.reading_pane import ReadingPane
from workbench.tui.widgets.lists.row import Cell

EMPTY = (
    "No agent has read or written here yet. `workbench hooks install` or `workbench mcp` lets one in, or "
    "`workbench search QUERY --for-agent NAME`; what it asks, is given and writes then shows here while it works."
)
NOT_HIS = "Nothing of {} is kept any more. Esc shows all agents."
TO_A_MEMORY = "Go to a memory first: enter opens a session, j and k go to its rows."
LOOKING = "Looking …"

HELP = """A session
  with an id       what one agent did under one id of its own
  without one      parted where the agent paused for half an hour
A question
  3 given          memories that the agent got, the best first, with their scores of then
  held back        better ones whose text gives orders or hides characters
  not approved     better ones that no person wrote or approved
  too weak         below the floor: any question finds as much
  nothing relevant the whole answer was empty"""


class Looked(Message):
    """A thread has looked up what agents did, the `whole` of it or the first; or `problem` says why not."""

    def __init__(self, sessions: Sequence[AgentSession], problem: str = "", *, whole: bool = True) -> None:
        super().__init__()
        self.sessions = sessions
        self.problem = problem
        self.whole = whole


class AgentsScreen(AreaScreen):
    """The sessions on the left, what was done in the one under the cursor beside them, and the text of a row."""

    AREA = "agents"
    BINDINGS: ClassVar[list[BindingType]] = bindings(AGENTS)
    help_text = HELP
    DEFAULT_CSS = """
    AgentsScreen {
        #agents-line { height: 1; padding: 0 1; color: $text-muted; }
        #work { height: 1fr; }
        #sessions { width: 42; }
        #list { width: 1fr; border-left: solid $panel; }
        #list:focus { border-left: solid $accent; }
        #side { width: 1fr; display: none; border-left: solid $panel; }
        #side:focus { border-left: solid $accent; }
        &.-wide #sessions { width: 46; }
        &.-wide #list { width: 3fr; }
        &.-wide #side { display: block; width: 2fr; }
        &.-normal.-open #side { display: block; }
        &.-normal.-open #sessions { display: none; }
        &.-narrow #sessions { width: 1fr; }
        &.-narrow #list, &.-narrow #side { display: none; border-left: none; }
        &.-narrow.-within #list { display: block; }
        &.-narrow.-within #sessions { display: none; }
        &.-narrow.-open #side { display: block; }
        &.-narrow.-open #list, &.-narrow.-open #sessions { display: none; }
    }
    """

    def __init__(self) -> None:
        super().__init__()
        self._every: Sequence[AgentSession] = ()
        self._only = ""
        self._known = False
        self._looking = self._again = False
        self._shown: object = None
        self._read: object = None
        self.sessions: LineView[AgentSession] = LineView(
            self._draw_session, lambda s: s.key, empty=Content(LOOKING), id="sessions"
        )
        self.rows: LineView[Line] = LineView(self._draw_line, key_of, is_heading=is_heading, id="list")
        self.side = ReadingPane(id="side")
        self.flagged = FlaggedMemories(self)
        self.acts = Acts(lambda: self, self._row_for, missing=TO_A_MEMORY)

    def contents(self) -> Iterable[Widget]:
        """Return the line about all, the sessions, what was done, and the text."""
        yield Static(id="agents-line")
        yield Horizontal(self.sessions, self.rows, self.side, id="work")

    def on_mount(self) -> None:
        """Start in the sessions."""
        self.sessions.focus()

    @property
    def memory(self) -> Memory | None:
        """The memory of the row under the cursor, as it is now; `None` while the keys are among the sessions."""
        if self.focused is self.sessions:
            return None
        id = memory_id(self.rows.current)
        return self.bench.library.memories.find(id) if id else None

    def _row_for(self, _what: str) -> Place | None:
        """Return where the record of the row under the cursor is, unless the keys are among the sessions."""
        return None if self.focused is self.sessions else place_of(self.rows.current)

    # Following the store

    def show_store(self) -> None:
        """Look up what agents did, away from the keyboard; what comes meanwhile is looked up once after that."""
        self._again = self._looking
        if not self._looking:
            self._looking = True
            self._look()

    def show_changes(self, touched: Touched) -> None:
        """Look again where an agent did something; else only draw what a memory looks like now."""
        if touched.actor.startswith("agent:") or touched.kind != "edit":
            self.show_store()
        else:
            self.rows.set_rows(self.rows.rows)
            self._show_side()

    @work(thread=True, group="agents", description="look up what agents did")
    def _look(self) -> None:
        worker = get_current_worker()
        sessions: Sequence[AgentSession] = ()
        problem, look = "", self.bench.agent_sessions
        try:
            if not look.has_looked and (first := look.look(journal=False)):
                self.post_message(Looked(first, whole=False))
            sessions = look.look()
        except WorkbenchError as error:
            problem = str(error)
        if not worker.is_cancelled:
            self.post_message(Looked(sessions, problem))

    def on_looked(self, event: Looked) -> None:
        """Show what was found; the cursor stays on its session and its row."""
        if event.whole:
            self._looking = False
        if event.problem:
            self.workbench_app.say(event.problem, "error")
            return
        if event.whole and self._again:
            self.show_store()
        self._every, self._known = event.sessions, True
        self._show()

    def _show(self) -> None:
        shown = [s for s in self._every if not self._only or s.agent == self._only]
        if self._known:
            mask = self.bench.safety.masked
            empty = NOT_HIS.format(clipped(mask(self._only), 30).rstrip()) if self._only else EMPTY
            self.sessions.set_empty(Content(empty))
        self.sessions.set_rows(shown)
        self._show_session()
        self._show_line()

    def _show_line(self) -> None:
        """Say whose sessions are listed, how many, and since when."""
        shown = self.sessions.rows
        what = f"{number(len(shown))} session{'' if len(shown) == 1 else 's'}" if self._known else ""
        who = clipped(self.bench.safety.masked(self._only), 30).rstrip() if self._only else "all agents"
        parts = [(f"{who} · {what}" if what else who, "")]
        if shown:
            latest = max(session.end for session in shown)
            parts.append((f" · latest {since(latest, self.bench.context.now())}", MUTED))
        self.query_one("#agents-line", Static).update(assemble(parts))

    @on(LineView.Highlighted, "#sessions")
    def _show_session(self) -> None:
        """Show what was done in the session under the cursor."""
        session = self.sessions.current
        named = None if session is None else session.key
        same = named == self._shown
        self._shown = named
        self.rows.set_rows(lines_of(session), cursor=None if same else 0)
        self._show_side()

    @on(LineView.Highlighted, "#list")
    def _show_side(self) -> None:
        """Show the row under the cursor in full, with the memory it is about."""
        line = self.rows.current
        parts = [] if line is None else [told(line, self.bench)]
        memory = self.bench.library.memories.find(memory_id(line)) if memory_id(line) else None
        if memory is not None:
            width = self.side.scrollable_content_region.width or 60
            parts.append(detail(memory, surroundings(self.bench, memory, self.flagged.flags_of(memory), width)))
        text, named = Content("\n").join(parts), None if line is None else key_of(line)
        if text.plain != self.side.plain:
            self.side.show(text, keep_place=named == self._read)
        self._read = named

    def _draw_session(self, session: AgentSession, width: int) -> list[Cell]:
        return session_cells(session, width, self.bench)

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
        self.add_class("-open")
        self.side.focus()

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:
        """Remember which pane has the keys, for where there is room for one only."""
        self.set_class(event.widget in (self.rows, self.side), "-within")
        if event.widget is not self.side:
            self.remove_class("-open")

    def action_next_pane(self) -> None:
        """To the next pane."""
        self._go(1)

    def action_last_pane(self) -> None:
        """To the pane before."""
        self._go(-1)

    def _go(self, step: int) -> None:
        panes: tuple[Widget, ...] = (self.sessions, self.rows, self.side)
        here = next((n for n, pane in enumerate(panes) if pane is self.focused), 0)
        last = 2 if self.has_class("-wide") or self.has_class("-open") else 1
        self._enter((here + step) % (last + 1))

    def _enter(self, pane: int) -> None:
        """Bring a pane into sight, where there is no room for all, and give it the keys."""
        self.set_class(pane > 0, "-within")
        self.set_class(pane == 2, "-open")
        (self.sessions, self.rows, self.side)[pane].focus()

    def go_back(self) -> None:
        """Close the text, leave the session, or show all agents again."""
        if self.has_class("-open") or self.focused is self.side:
            self._enter(1)
        elif self.focused is self.rows:
            self._enter(0)
        elif self._only:
            self._only = ""
            self._show()

    @asking
    async def action_agent(self) -> None:
        """Choose whose sessions are listed."""
        agents = list(dict.fromkeys(session.agent for session in self._every))
        if not agents:
            self.workbench_app.say("No agent has done anything here yet.")
            return
        mask = self.bench.safety.masked
        choices = [Choice("", "All agents", counts_of(self._every))]
        choices += [Choice(a, mask(a), counts_of([s for s in self._every if s.agent == a])) for a in agents]
        chosen = await self.app.push_screen_wait(Choose("Whose sessions", choices, self._only))
        if chosen is not None:
            self._only = chosen
            self._show()

    def action_context(self) -> None:
        """Show what an agent would be given for a task: the one that is shown alone, or the session's."""
        from workbench.tui.agents.context import ContextDialog

        session = self.sessions.current
        agent = self._only or (session.agent if session is not None else "")
        self.app.push_screen(ContextDialog(self.bench, agent, self.copy, self.workbench_app.say))

    def action_documents(self) -> None:
        """Show what agents keep in documents."""
        from workbench.tui.agents.documents import DocumentsDialog

        self.app.push_screen(DocumentsDialog(self.bench))

    def action_episodes(self) -> None:
        """Show what agents did, from task to outcome."""
        from workbench.tui.agents.episodes import EpisodesDialog

        self.app.push_screen(EpisodesDialog(self.bench))

    def action_patterns(self) -> None:
        """Show what agents learned to do."""
        from workbench.tui.agents.patterns import PatternsDialog

        self.app.push_screen(PatternsDialog(self.bench, self.copy))

    @work
    async def action_judge(self) -> None:
        """Ask the question of this row, or the last one of the session, in Tune."""
        read = read_of(self.rows.current) if self.focused is not self.sessions else None
        session = self.sessions.current
        if read is None and session is not None and self.focused is self.sessions:
            read = next((one for one in session.reads if one.is_question), None)
        if read is None or not read.is_question:
            self.workbench_app.say("Go to a question, or to what was given for it: J asks it again in Tune.")
            return
        from workbench.tui.tuning.screen import TuneScreen

        await self.app.switch_mode("tune")
        if isinstance(tune := self.app.screen, TuneScreen):
            tune.call_after_refresh(tune.ask, self.bench.safety.masked(read.query))

    # Changing

    def action_unfold(self) -> None:
        """Show the text of a flagged memory, until another one was opened."""
        if (memory := self.memory) is not None and self.flagged.unfold(memory):
            self._show_side()

    def action_copy(self) -> None:
        """Copy the text of the memory, or the question."""
        read = read_of(self.rows.current)
        if (memory := self.memory) is not None:
            self.copy(memory.content)
        elif read is not None and self.focused is not self.sessions:
            self.copy(read.query)


def counts_of(sessions: Sequence[AgentSession]) -> str:
    """Say how many sessions there are, and what was done in them."""
    many = f"{number(len(sessions))} session{'' if len(sessions) == 1 else 's'}"
    if len(sessions) == 1:
        return f"{many}: {counts(sessions[0])}"
    reads, writes = sum(len(s.reads) for s in sessions), sum(s.written for s in sessions)
    return f"{many}: {number(reads)} reads, {number(writes)} writes"
