"""Keeps what was asked of a language model: the tokens of each month, and the replies that could not be read."""

import uuid
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from workbench.core.files.locks import irreplaceable
from workbench.core.reflection.llm_run import LlmRun, UnreadReply, spent_in_month
from workbench.core.text import clean_for_store
from workbench.services.context import Context

if TYPE_CHECKING:
    from workbench.core.reflection.reflector import Unread, Usage
    from workbench.reflect.claude.budget import Budget

REFLECTING = frozenset({"questions", "insights", "refine", "rate"})
"""The stages whose replies become candidates."""

ACE_STAGES = frozenset({"analyse", "curate"})
"""The stages whose replies become suggestions for a playbook."""


@dataclass(frozen=True, slots=True)
class Waiting:
    """A reply that could not be read and still waits for somebody: the run's id and its place there."""

    run: str
    place: int
    reply: UnreadReply


class LlmRuns:
    """The uses of a language model in this store. Undoing what came of one gives no token back, so none undoes it."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._library = context.library

    def record(
        self,
        what: str,
        usage: "Usage",
        unread: "Sequence[Unread]" = (),
        memories: Sequence[str] = (),
        mask: Callable[[str], str] = clean_for_store,
    ) -> str:
        """Write down a use, and the replies that could not be read, masked; return the run's id, "" for no use.

        However long others hold the store: what was paid for is not given up.
        """
        if not usage.total and not unread:
            return ""
        kept = tuple(UnreadReply(u.stage, mask(u.reply), mask(u.reason), mask(u.question), u.memories) for u in unread)
        run = LlmRun(
            f"run-{uuid.uuid4().hex[:12]}", what, self._context.now(), usage.input, usage.output,
            kept, tuple(memories) if kept else (),
        )  # fmt: skip
        label = f"{what} used {usage.total:,} tokens"
        with irreplaceable(), self._library.transaction(f"reflector:{what}", label, kind="access") as tx:
            tx.put(run)
        return run.id

    def spent(self) -> int:
        """Return the tokens of this calendar month (UTC), sent and received."""
        return spent_in_month(self._library.runs.all(), self._context.now())

    def budget(self) -> "Budget":
        """Return the month's budget as it stands."""
        from workbench.reflect.claude.budget import Budget

        return Budget(self._context.settings.claude.monthly_tokens, self.spent())

    def waiting(self, stages: Collection[str] = REFLECTING) -> tuple[Waiting, ...]:
        """Return the replies of some stages that could not be read, the oldest first."""
        runs = sorted(self._library.runs.all(), key=lambda run: (run.made_at, run.id))
        every = (Waiting(run.id, place, reply) for run in runs for place, reply in enumerate(run.unread))
        return tuple(one for one in every if one.reply.stage in stages)

    def run(self, id: str) -> LlmRun:
        """Return a run; raises `UnknownRecord`."""
        return self._library.runs.get(id)

    def without(self, waiting: Waiting) -> LlmRun:
        """Return the run of a reply without that reply, to be stored by whoever has dealt with it."""
        run = self.run(waiting.run)
        return replace(run, unread=tuple(reply for reply in run.unread if reply != waiting.reply))
