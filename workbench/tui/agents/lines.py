"""What an agent did in a session, as lines: a question and what was given for it, what it wrote, how it voted."""

from collections.abc import Iterator
from dataclasses import dataclass

from workbench.core.agents.read import AgentRead
from workbench.core.stream.vote import Vote
from workbench.services.agents.sessions import AgentSession, Write


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
        """The id of the memory."""
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
