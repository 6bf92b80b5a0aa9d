"""What an agent is given, as it is printed: what no person wrote or approved stands in a block that
names its source.

The block's mark is drawn anew for each answer, so that no stored text can end its own block. It is
made of digits, so that it costs as many tokens in each.
"""

import secrets
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import Any, Literal, TypeAlias, TypeVar

from workbench.core.agents.read import UNKNOWN, Provenance
from workbench.core.record import StoreProblem
from workbench.core.stream.memory import Memory
from workbench.core.text import one_line
from workbench.services.context import Context
from workbench.services.safety.masking import masked, served_name
from workbench.services.safety.provenance import begin_of, end_of, provenances_of
from workbench.services.safety.safety import Safety
from workbench.services.safety.texts import Outward
from workbench.store.library import Library

Json: TypeAlias = dict[str, Any]
Value = TypeVar("Value")

Refusal = Literal["held", "unapproved"]
"""Why an agent is not given something: for what its text says, or because this agent gets only what
a person approved.
"""


def require_trusted(library: Library) -> None:
    """Raise `StoreProblem` for a store of which no agent is served anything."""
    library.refresh()
    if library.is_missing:
        message = "The store is missing: it was removed, renamed, or made unreadable."
        raise StoreProblem(
            message, "Nothing was served or written; serving resumes when it is back."
        )
    if not library.standing.trusted:
        message = "This store came from elsewhere and was not reviewed, so nothing of it is served."
        raise StoreProblem(message, "A person can review it: `workbench trust`.")


class Guard:
    """Tells what the context's agent is given, and how it sees that: without secrets, and under
    plain names.

    What a person allowed as it is, is given as it is.
    """

    def __init__(self, context: Context, safety: Safety) -> None:
        self._context, self._safety = context, safety
        self.only_approved = context.settings.agents.only_approved(context.actor)

    def refused(
        self, record: Outward | None, texts: Iterable[str], origin: Provenance
    ) -> Refusal | None:
        """Return why the agent is not given a record that says some texts; `None` when it is."""
        speaks = any(f.kind != "secret" for text in texts if text for f in self._safety.sorts(text))
        if speaks and not self.allows(record):
            return "held"
        return "unapproved" if self.only_approved and not origin.approved else None

    def refusals(self, memories: Sequence[Memory]) -> dict[str, Refusal]:
        """Return why the agent is not given some of these memories, by their ids."""
        why: dict[str, Refusal] = {
            memory.id: "held" for memory in memories if self._safety.held_from_agents(memory)
        }
        rest = [m for m in memories if m.id not in why] if self.only_approved else []
        known = provenances_of(self._context, rest)
        return why | {id: "unapproved" for (_, id), one in known.items() if not one.approved}

    def allows(self, record: Outward | None) -> bool:
        """Tell whether a person allowed a record as it is."""
        return record is not None and self._safety.override(record) is not None

    def name(self, name: str) -> str:
        """Return an id, a session or a source as the agent sees it."""
        return served_name(name, self._safety.findings)

    def text(self, text: str, record: Outward | None = None) -> str:
        """Return a text of a record as the agent sees it."""
        return text if self.allows(record) else self._safety.masked(text)

    def shown(self, record: Value) -> Value:
        """Return a record as the agent sees it."""
        return record if self.allows(record) else masked(record, self._safety.masked)  # type: ignore[arg-type]

    def origin(self, record: Outward) -> Provenance:
        return next(iter(self.origins([record]).values()), UNKNOWN)

    def origins(self, records: Sequence[Outward]) -> dict[str, Provenance]:
        """Return where records come from and what disputes them, by their keys."""
        from workbench.services.health.upkeep import disputes

        known = provenances_of(self._context, records)
        memories = [one for one in records if isinstance(one, Memory)]
        said = disputes(self._context, memories) if memories else {}
        return {
            id: replace(one, name=self.name(one.name), disputed=said.get(id, ""))
            for (_, id), one in known.items()
        }


def framed(rows: Iterable[tuple[str, Provenance]], mark: str) -> Iterator[str]:
    """Yield rows with where each comes from; neighbours of one source that nobody stands by share
    one block.
    """
    for begin, some in groupby(rows, lambda row: "" if row[1].approved else begin_of(mark, row[1])):
        lines = (line for line, _ in some)
        yield from (begin, *lines, end_of(mark)) if begin else lines


def new_mark() -> str:
    """Draw the mark of an answer's blocks."""
    return f"{secrets.randbelow(10**12):012}"


@dataclass(frozen=True, slots=True)
class Blocks:
    """The `mark` of one answer, and the names and texts in it as the agent may see them.

    `origins` tells where each text comes from, `names` has the ids and sessions that are shown in
    another way.
    """

    origins: Mapping[str, Provenance] = field(default_factory=dict)
    names: Mapping[str, str] = field(default_factory=dict)
    mark: str = field(default_factory=new_mark)

    def name(self, id: str) -> str:
        """Return an id or a session as the agent may see it."""
        return self.names.get(id, id)

    def around(self, id: str, line: str) -> tuple[str, ...]:
        """Return the line of a memory, with those that open and close its block and what disputes
        it, if any.
        """
        known = self.origins[id]
        disputed = (f"[{known.disputed}]",) if known.disputed else ()
        return (
            *disputed,
            *((line,) if known.approved else (begin_of(self.mark, known), line, end_of(self.mark))),
        )

    def enclosed(self, id: str, text: str) -> str:
        """Return a text of a memory within its block, after what disputes it; an empty one as it
        is.
        """
        return "\n".join(self.around(id, text)) if text else text

    def json(self, id: str, row: Mapping[str, object]) -> dict[str, object]:
        """Return a row of an answer with its texts in blocks, its names as served, and where it
        comes from.
        """
        known = self.origins[id]
        texts = {name: self.enclosed(id, str(row[name])) for name in ("content", "summary")}
        tags = [] if not known.approved else row["tags"]
        names = {"id": self.name(id), "session_id": self.name(str(row["session_id"]))}
        source = {
            "approved": known.approved,
            "source": known.kind,
            "name": one_line(known.name, 40),
            "mark": self.mark,
        }
        source |= {"disputed": known.disputed} if known.disputed else {}
        return {**row, **names, **texts, "tags": tags, "provenance": source}
