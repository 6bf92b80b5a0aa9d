"""How sessions of agents and what was done in them look, as lines of a list and in words."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from textual.content import Content

from workbench.core.agents.read import AgentRead
from workbench.core.record import clock_time
from workbench.core.stream.memory import Memory, Vote
from workbench.core.text import printable
from workbench.services.agents.sessions import AgentSession, Write
from workbench.services.open import Workbench
from workbench.tui.safety import FLAGGED
from workbench.tui.safety import STYLE as FLAG_STYLE
from workbench.tui.stream.memory_view import SYMBOLS, marks_of
from workbench.tui.widgets.content import MUTED, assemble, body, clipped
from workbench.tui.widgets.figures import absolute, ago, amount, number, since
from workbench.tui.widgets.lists.row import Cell

# What an agent did in a session, as lines: a question and what was given for it, what it wrote, how it voted.


@dataclass(frozen=True, slots=True)
class Asked:
    """A question, above what was given for it."""

    read: AgentRead


@dataclass(frozen=True, slots=True)
class Given:
    """A memory that was given for a question; `place` counts from 0."""

    read: AgentRead
    place: int

    @property
    def memory(self) -> str:
        return self.read.memories[self.place]

    @property
    def relevance(self) -> float | None:
        """The relevance it had then, up to 1; `None` where it was not kept."""
        return self.read.relevances[self.place] if self.place < len(self.read.relevances) else None


@dataclass(frozen=True, slots=True)
class Written:
    """A memory that the agent added, or another change that it made, which has no `memory`."""

    write: Write
    memory: str = ""


@dataclass(frozen=True, slots=True)
class Voted:
    """A vote of the agent that holds."""

    vote: Vote

    @property
    def memory(self) -> str:
        """The id of the memory it is on; empty for a bullet."""
        return self.vote.target if self.vote.table == "memories" else ""


Line = Asked | Given | Written | Voted


def lines_of(session: AgentSession | None) -> list[Line]:
    """Return the lines of a session, the latest act first; what was given stands below its question."""
    return [] if session is None else [line for act in session.acts for line in _lines(act)]


def memory_id(line: Line | None) -> str:
    """Return the id of the memory a line is about; empty for none."""
    return "" if line is None or isinstance(line, Asked) else line.memory


def place_of(line: Line | None) -> tuple[str, str] | None:
    """Return table and key of the record a line is about; `None` for none."""
    if isinstance(line, Voted):
        return (line.vote.table, line.vote.target)
    id = memory_id(line)
    return ("memories", id) if id else None


def read_of(line: Line | None) -> AgentRead | None:
    """Return the question that a line is, or belongs to."""
    return line.read if isinstance(line, Asked | Given) else None


def key_of(line: Line) -> tuple[str, str, int]:
    """Name a line, so that the cursor stays on it while others come."""
    match line:
        case Asked(read):
            return ("read", read.id, -1)
        case Given(read, place):
            return ("read", read.id, place)
        case Written(write, memory):
            return ("write", memory or write.label, write.rev)
        case Voted(vote):
            return ("vote", vote.id, 0)


def is_heading(line: Line) -> bool:
    """Tell whether a line heads those below it."""
    return isinstance(line, Asked)


def _lines(act: AgentRead | Write | Vote) -> Iterator[Line]:
    match act:
        case AgentRead():
            yield Asked(act)
            yield from (Given(act, place) for place in range(len(act.memories)))
        case Write():
            yield from (Written(act, id) for id in act.memories or ("",))
        case Vote():
            yield Voted(act)


_WITH_QUESTION = 64
"""Columns from which the line of a session has room for what was asked last."""

_WITH_BAR = 44
GONE = "not in the store any more"
NOTHING = "nothing relevant, nothing served"
_LONGEST = 400


def session_cells(session: AgentSession, width: int, bench: Workbench) -> list[Cell]:
    """Return a session as the cells of one line: age, agent, what was done, and what was asked last."""
    mask = bench.safety.masked
    cells = [
        Cell(ago(session.end, bench.context.now()), 6, MUTED, "right"),
        Cell(mask(session.agent), 12 if width >= _WITH_QUESTION else 8, "bold"),
        Cell(counts(session), 26 if width >= _WITH_QUESTION else 0),
    ]
    if width >= _WITH_QUESTION:
        asked = next((mask(read.query) for read in session.reads if read.is_question), "")
        cells.append(Cell(asked, 0, MUTED))
    return cells


def counts(session: AgentSession) -> str:
    """Say in few words what was done in a session: "3 reads, 1 write, 1 vote"."""
    found = ((len(session.reads), "read"), (session.written, "write"), (session.votes, "vote"))
    return ", ".join(f"{number(n)} {what}{'' if n == 1 else 's'}" for n, what in found if n)


def outcome(read: AgentRead) -> str:
    """Say what became of a question: how many were given, and what was left out for which reason."""
    if read.is_empty:
        return NOTHING
    if not read.is_question and not read.memories:
        return ""
    left = ((read.held, "held back"), (read.unapproved, "unapproved"), (read.weak, "too weak"))
    parts = [f"{number(len(read.memories))} served" if read.memories else "nothing served"]
    return ", ".join([*parts, *(f"{number(n)} {what}" for n, what in left if n)])


def draw(line: Line, width: int, bench: Workbench) -> list[Cell]:
    if isinstance(line, Asked):
        return _asked(line.read, width, bench)
    if isinstance(line, Given):
        return _given(line, width, bench)
    if isinstance(line, Written):
        return _done(line.write.at, "wrote" if line.memory else "did", _text(line, bench), width)
    return _done(line.vote.at, f"voted {line.vote.verdict}", _text(line, bench), width)


def _asked(read: AgentRead, width: int, bench: Workbench) -> list[Cell]:
    said = outcome(read)
    room = max(12, min(len(said), width * 3 // 5))
    style = "$text-warning" if read.is_question and not read.memories else MUTED
    return [Cell(_clock(read.at), 5, MUTED), Cell(_query(read, bench), 0), Cell(said, room, style, "right")]


def _query(read: AgentRead, bench: Workbench) -> str:
    """Return the question, or what was looked up without one."""
    query = bench.safety.masked(read.query)[:_LONGEST]
    if read.is_question:
        return f"“{query}”"
    return f"read the {query}" if query else "looked up by id"


def _given(line: Given, width: int, bench: Workbench) -> list[Cell]:
    relevance = "" if line.relevance is None else f"{line.relevance:.3f}"
    cells = [Cell(str(line.place + 1), 5, MUTED, "right"), Cell(relevance, 5, "", "right")]
    if width >= _WITH_BAR:
        cells.append(Cell("" if line.relevance is None else bar(line.relevance, 8), 8))
    return [*cells, Cell(_text(line, bench))]


def bar(share: float, cells: int) -> Content:
    """Return a bar that is full at 1; what is above 0 shows at least one cell."""
    filled = 0 if share <= 0 else max(1, round(share * cells))
    return assemble([("▓" * filled, "$accent"), ("░" * (cells - filled), MUTED)])


def _done(at: datetime, what: str, text: Content, width: int) -> list[Cell]:
    return [Cell(_clock(at), 5, MUTED), Cell(what, min(13, max(5, width // 4)), "bold $text-accent"), Cell(text)]


def _text(line: Written | Given | Voted, bench: Workbench) -> Content:
    """Return the text of the memory a line is about, as it is now, or what else there is to say."""
    mask = bench.safety.masked
    memory = bench.library.memories.find(memory_id(line)) if memory_id(line) else None
    if memory is not None:
        return memory_line(memory, bench)
    if isinstance(line, Written) and not line.memory:
        return Content(printable(mask(line.write.label)[:_LONGEST]))
    if isinstance(line, Voted) and line.vote.table == "bullets":
        return _bullet(line.vote.target, bench)
    return assemble([(clipped(mask(memory_id(line)), 40).rstrip(), MUTED), (f" {GONE}", MUTED)])


def memory_line(memory: Memory, bench: Workbench) -> Content:
    """Return a memory in one line: whether it is flagged, its status and marks, and its text without secrets."""
    mark = f"{SYMBOLS[memory.status]} " + (f"{marks} " if (marks := marks_of(memory)) else "")
    flagged = (f"{FLAGGED} ", FLAG_STYLE) if bench.safety.flags(memory) else ("", "")
    return assemble([flagged, (mark, MUTED), (printable(bench.safety.masked(memory.line[:_LONGEST])), "")])


def _bullet(key: str, bench: Workbench) -> Content:
    bullet = bench.library.bullets.find(key)
    text = GONE if bullet is None else bench.safety.masked(bullet.content[:_LONGEST])
    return assemble([(f"[{printable(key.rpartition('/')[2][:40])}] ", MUTED), (printable(text), "")])


def _clock(at: datetime) -> str:
    return clock_time(at).strftime("%H:%M")


# In words, beside the list


def told(line: Line, bench: Workbench) -> Content:
    """Return what a line says besides the memory it is about: who did what, when, and what came of it."""
    now, mask = bench.context.now(), bench.safety.masked
    if isinstance(line, Asked):
        return _question(line.read, bench)
    if isinstance(line, Given):
        relevance = "" if line.relevance is None else f", relevance {line.relevance:.4f}"
        place = f"Given as {line.place + 1} of {len(line.read.memories)}{relevance}"
        by = f" by profile {mask(line.read.profile)}" if line.read.profile else ""
        head, at = f"{place}{by}", line.read.at
        more = [body(f"for {_query(line.read, bench)}" if line.read.is_question else _query(line.read, bench), MUTED)]
    elif isinstance(line, Written):
        agent, at, more = mask(line.write.agent), line.write.at, []
        head = f"Written by {agent}" if line.write.rev else f"Brought in as part of this session of {agent}"
        head = f"Done by {agent}: {mask(line.write.label)[:_LONGEST]}" if not line.memory else head
    else:
        at, reason = line.vote.at, mask(line.vote.reason)
        head = f"Voted {line.vote.verdict} by {mask(line.vote.actor.removeprefix('agent:'))}"
        more = [body(f"because {reason[:_LONGEST]}", MUTED)] if reason else []
    return Content("\n").join([body(head, "bold"), *more, Content.styled(_when(at, now), MUTED), Content("")])


def _question(read: AgentRead, bench: Workbench) -> Content:
    mask = bench.safety.masked
    facts = [f"by {mask(read.agent)}", f"through {mask(read.door)}"]
    facts += [f"session {mask(read.session)}"] if read.session else ["no session named"]
    facts += [f"profile {mask(read.profile)}"] if read.profile else []
    parts = [
        body(f"“{mask(read.query)}”" if read.is_question else _query(read, bench), "bold"),
        body(" · ".join(facts), MUTED),
        Content.styled(_when(read.at, bench.context.now()), MUTED),
        Content(""),
        *(Content(sentence) for sentence in _outcome_sentences(read)),
    ]
    return Content("\n").join(parts)


def _outcome_sentences(read: AgentRead) -> list[str]:
    if read.is_empty:
        return ["Nothing here was relevant, so nothing was served."]
    many = len(read.memories)
    if not read.is_question and not many:
        return ["It read all of it; no single memory was served."]
    told = [f"{amount(many, 'memory was', 'memories were')} served."]
    if read.held:
        told.append(f"{number(read.held)} higher-ranked held back: instructions to agents or hidden characters.")
    if read.unapproved:
        told.append(f"{number(read.unapproved)} higher-ranked not served: not written or approved by you.")
    if read.weak:
        told.append(f"{number(read.weak)} weak matches were not served.")
    return told


def _when(at: datetime, now: datetime) -> str:
    return f"{since(at, now)} · {absolute(at)}"
