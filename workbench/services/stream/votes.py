"""Voting, for every door: one live vote per actor, record and agent session."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from workbench.core.playbook.book import Bullet
from workbench.core.stream.confidence import apply_vote, retract_vote
from workbench.core.stream.memory import Memory, Verdict, Votable, Vote, vote_id
from workbench.services.context import Context
from workbench.store.records import key_of_record


class VoteResult(NamedTuple):
    """What a vote did: the live vote now (`None` when it was taken back) and the one before it."""

    key: str
    vote: Vote | None
    before: Vote | None
    is_own: bool = False
    """Whether an agent voted on what it wrote itself, which is not counted."""

    @property
    def changed(self) -> bool:
        """Whether anything was written."""
        return (self.vote and (self.vote.verdict, self.vote.reason)) != (
            self.before and (self.before.verdict, self.before.reason)
        )

    def told(self, name: str = "") -> str:
        """What happened, in words that call the record `name`, or by its key."""
        name = name or self.key
        if self.is_own:
            return f"{name} is this agent's own, so its vote was not counted."
        if self.vote is None:
            return f"Took back your vote on {name}."
        if not self.changed:
            return f"You already voted {self.vote.verdict} on {name}."
        replaced = self.before if self.before and self.before.verdict != self.vote.verdict else None
        instead = f" instead of {replaced.verdict}" if replaced else ""
        return f"Voted {self.vote.verdict} on {name}{instead}."


def cast(
    context: Context,
    record: Memory | Bullet,
    verdict: Verdict,
    *,
    reason: str = "",
    session: str = "",
    keep: Callable[[str], object] | None = None,
) -> VoteResult:
    """Vote on a memory or bullet; a second vote of the same actor and session replaces the first.

    `keep` is told the reason, in the same transaction, when it stays as a person typed it.
    """
    table, key = _place(record)
    name = vote_id(table, key, context.voter, session)
    vote = Vote(name, table, key, context.voter, verdict, context.now(), session, reason)
    known = VoteResult(key, vote, context.library.votes.find(name))
    if not known.changed:
        return known
    if _is_own(context, record):
        return VoteResult(key, known.before, known.before, is_own=True)
    with context.transaction(f"vote {verdict} on {key}") as tx:
        # Looked up under the write lock, so that two processes never count one vote twice.
        before = context.library.votes.find(name)
        result = VoteResult(key, vote, before)
        if result.changed:
            tx.put(apply_vote(_fresh(context, record), vote, before))
            tx.put(vote)
            if keep is not None:
                keep(reason)
    return result


def toggle(context: Context, record: Memory | Bullet, verdict: Verdict) -> VoteResult:
    """Vote, or take the vote back when it already says the same."""
    table, key = _place(record)
    name = vote_id(table, key, context.voter)
    before = context.library.votes.find(name)
    if before is None or before.verdict != verdict:
        return cast(context, record, verdict)
    with context.transaction(f"take back vote on {key}") as tx:
        before = context.library.votes.find(name)
        if before is not None:
            tx.put(retract_vote(_fresh(context, record), before, context.now()))
            tx.delete(before)
    return VoteResult(key, None, before)


def vote_on(context: Context, records: Sequence[Memory | Bullet], verdict: Verdict) -> VoteResult:
    """Vote on one record, or on several as one action; the same vote again on a single one takes it
    back.
    """
    if len(records) == 1:
        return toggle(context, records[0], verdict)
    what = "memories" if isinstance(records[0], Memory) else "bullets"
    with context.transaction(f"vote {verdict} on {len(records)} {what}"):
        return [cast(context, record, verdict) for record in records][-1]


def _is_own(context: Context, record: Memory | Bullet) -> bool:
    if not context.actor.startswith("agent:"):
        return False
    from workbench.services.safety.provenance import (
        is_own,
    )  # a person's vote does not wait for what reads the journal

    return is_own(context, record)


def _place(record: Memory | Bullet) -> tuple[Votable, str]:
    if isinstance(record, Memory):
        return "memories", record.id
    return "bullets", key_of_record("bullets", record)


def _fresh(context: Context, record: Memory | Bullet) -> Memory | Bullet:
    """Return the record as it is now, under the write lock; raises `UnknownRecord` when it is gone."""
    if isinstance(record, Memory):
        return context.library.memories.get(record.id)
    return context.library.bullets.get(f"{record.book}/{record.id}")
