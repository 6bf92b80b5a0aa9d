"""What an agent would like to have done: proposals that wait for a person, and the little it may do
itself.
"""

import json
import uuid
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from functools import partial

from workbench.core.agents.patterns.pattern import Pattern, PatternChange
from workbench.core.duplicates.groups import text_mark
from workbench.core.record import InvalidRecord
from workbench.core.review import lifecycle
from workbench.core.review.proposal import Proposal
from workbench.core.stream.memory import Memory
from workbench.core.text import named
from workbench.safety.secrets import mask
from workbench.services.context import Service
from workbench.services.review.kinds import marks_of, operation_of
from workbench.services.safety.secret_filter import SecretFilter
from workbench.services.stream.observation import Observation, cleaned, memory_of
from workbench.services.stream.returned import Purged

MOST = 20
"""How many memories one call may ask to have forgotten."""


class AgentRequests(Service):
    """Makes proposals as the context's agent."""

    def replace(self, old: Memory, observation: Observation) -> Proposal:
        """Ask to put an observation in the place of a memory.

        Raises `InvalidRecord` for an empty or too long text, and for one that was purged.
        """
        memory = memory_of(cleaned(observation, mask), "new", self._context.now())
        if Purged(self._library).find(memory.content) is not None:
            raise InvalidRecord(
                "A person erased this text.", "It is not stored; nothing was changed."
            )
        for known in self._library.waiting(Proposal, "open"):
            same = (
                known.kind == "supersede"
                and known.actor == self._context.actor
                and known.evidence == (old.id,)
            )
            if same and known.operation.get("content") == memory.content:
                return known  # it was asked already
        proposal = replace(
            self._wish("supersede", memory.line),
            evidence=(old.id,), importance=old.importance_score, texts=(text_mark(old.content),),
            operation=operation_of(memory),
        )  # fmt: skip
        with self._context.transaction(f"propose to replace {old.id}") as tx:
            tx.put(proposal)
        return proposal

    def forget(
        self, memories: Sequence[Memory], own: Collection[str], reason: str
    ) -> Mapping[str, object]:
        """Forget what is `own` at once and ask for the rest. Raises `InvalidRecord` for more than
        `MOST` at once.
        """
        if len(memories) > MOST:
            message = f"{len(memories):,} memories match, at most {MOST} go in one call."
            raise InvalidRecord(message, "Narrow the filter. Nothing was changed.")
        asked = {
            p.evidence[0]
            for p in self._library.waiting(Proposal, "open")
            if p.kind == "forget" and p.evidence
        }
        verb = "forget" if own else "propose to forget"
        what = named([memory.id for memory in memories], "memories")
        with self._context.transaction(f"{verb} {what}") as tx:
            # Looked at under the write lock: a person may have pinned or confirmed one a moment
            # ago.
            now = [self._library.memories.get(memory.id) for memory in memories]
            gone = [m for m in now if m.id in own and m.status == "signal" and not m.pinned]
            wished = [m for m in now if m not in gone and m.id not in asked]
            for memory in gone:
                tx.put(lifecycle.forget(memory))
            for memory in wished:
                wish = self._wish("forget", memory.line, reason)
                tx.put(replace(wish, evidence=(memory.id,), importance=memory.importance_score))
        return {
            "forgotten": [m.id for m in gone],
            "proposed": [m.id for m in wished],
            "already_proposed": [m.id for m in now if m.id in asked and m not in gone],
            "note": "A person decides; until then it is served as before." if wished else "",
        }

    def change_patterns(
        self,
        change: PatternChange,
        patterns: Sequence[Pattern],
        reason: str,
        patch: Mapping[str, object],
    ) -> Proposal:
        """Ask to change patterns; of `supersede`, the second one takes the place of the first."""
        ids, clean = (
            [one.id for one in patterns],
            partial(SecretFilter().cleaned, known=lambda _: False),
        )
        told = [f"{one.id}: {one.name} ({one.status.replace('_', ' ')})" for one in patterns]
        edits = json.loads(clean(json.dumps(patch, ensure_ascii=False)))
        told += [
            f"{name} → {json.dumps(value, ensure_ascii=False)}" for name, value in edits.items()
        ]
        title = f"{change} {' and '.join(one.name for one in patterns[:2])}"
        proposal = replace(
            self._wish("pattern-change", title, clean(reason)), texts=marks_of(patterns),
            operation={"change": change, "patterns": ids, "patch": edits, "lines": told},
        )  # fmt: skip
        with self._context.transaction(f"propose to {change} {len(ids):,} patterns") as tx:
            tx.put(proposal)
        return proposal

    def _wish(self, kind: str, title: str, reason: str = "") -> Proposal:
        return Proposal(
            f"{kind}-{uuid.uuid4().hex[:12]}", kind, self._context.actor, title, self._context.now(),
            reasons=(reason,) if reason else (),
        )  # fmt: skip
