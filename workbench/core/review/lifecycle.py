"""The learning lifecycle: signal → candidate → confirmed → promoted → archived (source 001, section
3).

Every step is a function from memory to memory that raises `WorkbenchError` when the step is
impossible. The age rules only find; archiving and asking are proposals that a person decides.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Literal, NamedTuple, get_args

from workbench.core.limits import LIFECYCLE_LIMITS, LifecycleLimits
from workbench.core.record import InvalidRecord, WorkbenchError, moved, without
from workbench.core.review.proposal import Proposal
from workbench.core.stream.confidence import (
    arrived,
    confidence_of,
    doubted_once_more,
    keeping_word,
    scored,
    stood_by,
    times,
    times_applied,
)
from workbench.core.stream.memory import (
    ARCHIVED_FROM,
    ARCHIVED_REASONS,
    ArchivedReason,
    Memory,
    Status,
)

LADDER: tuple[Status, ...] = ("signal", "candidate", "confirmed", "promoted")
"""The statuses of a living memory, in the order they are climbed."""

UNCHANGED = "Nothing was changed."

SERVED_DAYS = 30.0
"""How long a signal that an agent was given is not proposed for archiving."""


class AgeFinding(NamedTuple):
    """What an age rule suggests for a memory, and why, in a few words."""

    action: Literal["archive", "review", "reconfirm"]
    reason: str


class Tombstone(NamedTuple):
    """The rejected memory that a candidate resembles most, with their cosine similarity."""

    rejected: Memory
    similarity: float


def approve(
    memory: Memory, now: datetime | None = None, limits: LifecycleLimits = LIFECYCLE_LIMITS
) -> Memory:
    """Confirm a signal or candidate; "still true?" is asked `confirmed_days` after `now` (default:
    its creation).
    """
    _require(memory, ("signal", "candidate"), "approved")
    review = None if now is None else now + timedelta(days=limits.confirmed_days)
    return replace(keeping_word(memory), status="confirmed", review_after=review)


def reject(memory: Memory) -> Memory:
    """Archive a signal or candidate as rejected; it stays as a tombstone for later look-alikes."""
    _require(memory, ("signal", "candidate"), "rejected")
    return archive(memory, "rejected")


def later(memory: Memory, review_after: datetime) -> Memory:
    """Put off the decision about a living memory until `review_after` (timezone-aware)."""
    _require(memory, LADDER, "put off")
    if review_after.tzinfo is None:
        raise InvalidRecord("The time of the next review has no timezone.", UNCHANGED)
    return replace(memory, review_after=review_after)


def reconfirm(memory: Memory, now: datetime, limits: LifecycleLimits = LIFECYCLE_LIMITS) -> Memory:
    """Answer "still true?" with yes: a confirmed memory is asked about again after
    `confirmed_days`.
    """
    _require(memory, ("confirmed",), "re-confirmed")
    return later(stood_by(memory), now + timedelta(days=limits.confirmed_days))


def contradict(memory: Memory) -> Memory:
    """Take one point of confidence, down to 0, from a living memory that was contradicted."""
    _require(memory, LADDER, "contradicted")
    return doubted_once_more(memory)


def moved_to(memory: Memory, status: Status, now: datetime) -> Memory:
    """Put a signal up for review, or confirm a signal or candidate; raises `WorkbenchError` for any
    other step.

    The other steps are made by what they are for: forgetting, promoting to a file, restoring, undo.
    """
    if status == "confirmed":
        return approve(memory, now)
    if status != "candidate":
        raise WorkbenchError(
            f"An edit cannot set the status {status}.", f"{UNCHANGED} {_WAYS[status]}"
        )
    _require(memory, ("signal",), "put up for review")
    return replace(memory, status="candidate")


_WAYS: Mapping[Status, str] = {
    "signal": "Use undo to go back.",
    "promoted": "Use promote, which writes it to files agents read.",
    "archived": "Use archive for that.",
}
"""How a status is reached that no edit gives."""


def forget(memory: Memory) -> Memory:
    """Archive a living memory as forgotten; `restore` brings it back."""
    _require(memory, LADDER, "forgotten")
    return archive(memory, "forgotten")


def archive(memory: Memory, reason: ArchivedReason) -> Memory:
    """Archive a living memory. Pinned and confirmed ones cannot be pruned: only a person lets go of
    them.
    """
    _require(memory, LADDER, "archived")
    if reason not in ARCHIVED_REASONS:
        raise InvalidRecord(f"“{reason}” is not a reason to archive.", UNCHANGED)
    if reason == "pruned" and (memory.pinned or memory.status == "confirmed"):
        what = "pinned" if memory.pinned else "confirmed"
        raise WorkbenchError(
            f"Memory {memory.id} is {what} and cannot be pruned.", "Forget it if it is not needed."
        )
    metadata = {**memory.metadata, ARCHIVED_FROM: memory.status}
    return replace(
        memory, status="archived", archived_reason=reason, review_after=None, metadata=metadata
    )


def promote(memory: Memory, to: str) -> Memory:
    """Mark a confirmed memory as graduated to a file or skill named `to`."""
    _require(memory, ("confirmed",), "promoted")
    if not to.strip():
        raise WorkbenchError(
            f"Memory {memory.id} was not promoted.", "Give a target, such as CLAUDE.md."
        )
    return replace(memory, status="promoted", promoted_to=to.strip(), review_after=None)


def restore(memory: Memory) -> Memory:
    """Bring an archived memory back to the status it had.

    When that status is unknown (an import), it returns as a candidate, so that an agent sees it
    only after a review. A merged original is given back by undoing the merge, not by this.
    """
    _require(memory, ("archived",), "restored")
    if memory.archived_reason == "merged":
        into = memory.metadata.get("merged_into", "another memory")
        raise WorkbenchError(
            f"Memory {memory.id} was merged into {into}.", "Undo the merge to get it back."
        )
    before = memory.metadata.get(ARCHIVED_FROM)
    fallback: Status = "promoted" if memory.promoted_to else "candidate"
    status = next((s for s in LADDER if s == before), fallback)
    metadata = without(memory.metadata, ARCHIVED_FROM)
    return replace(memory, status=status, archived_reason=None, metadata=metadata)


def age_finding(
    memory: Memory, now: datetime, limits: LifecycleLimits = LIFECYCLE_LIMITS
) -> AgeFinding | None:
    """Return what the age rules suggest at `now`, or `None`.

    Signals count from the last time they were touched (came here, read, voted on, put off),
    candidates and confirmed memories from when they came here, unless they have a `review_after`:
    then nothing is asked before it, and it is asked then. Pinned and confirmed memories, and what
    an agent was given in the last `SERVED_DAYS`, are never archived by age.
    """
    if memory.review_after is not None and memory.review_after > now:
        return None
    if memory.status == "signal":
        return _untouched(memory, now, limits)
    if memory.status == "candidate":
        limit, finding = limits.candidate_days, AgeFinding("review", _waiting(memory, now))
    elif memory.status == "confirmed":
        limit, finding = limits.confirmed_days, AgeFinding("reconfirm", _waiting(memory, now))
    else:
        return None
    return (
        finding if memory.review_after is not None or _days(arrived(memory), now) >= limit else None
    )


def waits_from(candidate: Memory, limits: LifecycleLimits = LIFECYCLE_LIMITS) -> datetime:
    """Return the moment from which a candidate waits long, whether it is put off or not (see
    `age_finding`).
    """
    return moved(arrived(candidate), timedelta(days=limits.candidate_days))


def earned_confirmation(memory: Memory, limits: LifecycleLimits = LIFECYCLE_LIMITS) -> bool:
    """Tell whether a signal or candidate was seen again, applied or marked helpful often enough to
    be confirmed.

    Each time that something spoke against it takes one away.
    """
    seen = memory.helpful_absorbed + times_applied(memory) + memory.helpful_votes
    if memory.status not in ("signal", "candidate") or seen < limits.sightings:
        return False
    return seen - scored(memory).against >= limits.sightings


def is_doubtful(
    memory: Memory, since: datetime | None, limits: LifecycleLimits = LIFECYCLE_LIMITS
) -> bool:
    """Tell whether a trusted memory was marked harmful until little is left of its confidence.

    `since` is when a person last said that it still is true: only what was marked after that
    counts.
    """
    if memory.status not in ("confirmed", "promoted") or not memory.harmful_votes:
        return False
    if since is not None and (memory.last_feedback_at is None or memory.last_feedback_at <= since):
        return False
    found = scored(memory)
    return found.value <= limits.doubtful and any(
        reason.rule.id == "harmful" for reason in found.reasons
    )


def is_skill_material(
    memory: Memory, *, resolved: bool, limits: LifecycleLimits = LIFECYCLE_LIMITS
) -> bool:
    """Tell whether a confirmed memory that the caller knows to be `resolved` has the
    cross-references of a skill.
    """
    return memory.status == "confirmed" and resolved and len(memory.related) >= limits.references


def resembling_rejections(
    candidate: Memory, similarities: Iterable[tuple[Memory, float]], threshold: float
) -> tuple[Tombstone, ...]:
    """Return the rejected memories that resemble `candidate` by `threshold` or more, the most alike
    first.

    `similarities` pairs other memories with their cosine to the candidate; those not rejected, and
    the candidate itself, are passed over. Equally similar ones come by id.
    """
    rejected = (
        Tombstone(memory, similarity)
        for memory, similarity in similarities
        if memory.archived_reason == "rejected"
        and memory.id != candidate.id
        and similarity >= threshold
    )
    return tuple(sorted(rejected, key=lambda t: (-t.similarity, t.rejected.id)))


def _require(memory: Memory, allowed: tuple[Status, ...], done: str) -> None:
    if memory.status not in allowed:
        was = f"archived ({memory.archived_reason})" if memory.archived_reason else memory.status
        hint = "Restore it first." if memory.status == "archived" else UNCHANGED
        raise WorkbenchError(f"Memory {memory.id} is {was} and cannot be {done}.", hint)


def _untouched(memory: Memory, now: datetime, limits: LifecycleLimits) -> AgeFinding | None:
    days = _days(_begun(memory, "prune"), now)
    served = memory.access_count > 0 and _days(memory.last_accessed_at, now) < SERVED_DAYS
    if memory.pinned or served or days < limits.signal_days:
        return None
    return AgeFinding("archive", f"untouched for {days:.0f} days")


def _waiting(memory: Memory, now: datetime) -> str:
    if memory.review_after is not None:
        return "its review date has passed"
    return f"{memory.status} for {_days(arrived(memory), now):.0f} days"


def _days(since: datetime, now: datetime) -> float:
    return (now - since).total_seconds() / 86_400


# What the lifecycle suggests for a memory (source 001, section 3): one finding each, and what
# deciding on it does.
#
# A finding names its occasion, so that a question that was answered is asked again only when
# something has changed or another period has passed.


UpkeepKind = Literal["replaces", "prune", "confirm", "reconfirm", "skill"]
UPKEEP_KINDS: tuple[UpkeepKind, ...] = get_args(UpkeepKind)

SKILL_TAG = "skill"
"""The tag of a memory that a person wants as a skill."""

CONTRADICTED = "contradicted"
"""The flag of a question that a newer memory raised."""

DOUBTFUL = "doubtful"
"""The flag of a question that votes raised."""


class Contradicted(NamedTuple):
    """A newer memory that says the opposite of another one: its id, a mark of both texts, and the
    reason.

    `replaces` tells that both settle the same thing, so that one of them holds.
    """

    by: str
    mark: str
    reason: str
    replaces: bool = False


class UpkeepFinding(NamedTuple):
    """What the lifecycle suggests for the memory `id`, and why.

    `occasion` stays the same as long as the question is the same one; `evidence` are further
    memories it rests on.
    """

    kind: UpkeepKind
    id: str
    reasons: tuple[str, ...]
    occasion: str
    flags: tuple[str, ...] = ()
    evidence: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The id of its proposal."""
        return f"{self.kind}-{self.id}-{self.occasion}"


def finding(
    memory: Memory,
    now: datetime,
    limits: LifecycleLimits = LIFECYCLE_LIMITS,
    *,
    decided: Mapping[str, datetime] | None = None,
    contradicted: Contradicted | None = None,
    resolved: bool = False,
    needed: bool = False,
) -> UpkeepFinding | None:
    """Return what the lifecycle suggests for `memory` at `now`, the most urgent thing only, or
    `None`.

    `decided` tells when the last question of a kind about it was answered: another one of that kind
    waits for a period of its own. Candidates get none, since they wait in Review already;
    `resolved` is what `is_skill_material` wants to know. What is `needed`, being cited or judged
    relevant, is never proposed for archiving.
    """
    answered = decided or {}
    if contradicted is not None and (asked := _contradicted(memory, contradicted)) is not None:
        return asked
    if memory.status == "signal" and earned_confirmation(memory, limits):
        return _earned(memory, limits)
    if is_doubtful(memory, answered.get("reconfirm"), limits):
        return _doubtful(memory)
    aged = age_finding(memory, now, limits)
    if aged is not None and aged.action in ("archive", "reconfirm"):
        kind: UpkeepKind = "prune" if aged.action == "archive" else "reconfirm"
        if kind == "prune" and needed:
            return None
        period = limits.signal_days if kind == "prune" else limits.confirmed_days
        last = answered.get(kind)
        if last is not None and (now - last).total_seconds() < period * 86_400:
            return None
        begun = max(t for t in (_begun(memory, kind), last) if t is not None)
        return UpkeepFinding(kind, memory.id, (aged.reason,), f"{begun:%Y%m%d%H%M%S}")
    if SKILL_TAG not in memory.tags and is_skill_material(memory, resolved=resolved, limits=limits):
        count = len(memory.related)
        return UpkeepFinding(
            "skill",
            memory.id,
            (f"confirmed, resolved, and {count} other memories refer to it",),
            f"{count}",
        )
    return None


def waits_long(memory: Memory, now: datetime, limits: LifecycleLimits = LIFECYCLE_LIMITS) -> bool:
    """Tell whether a candidate has waited so long that Review flags it, put off or not."""
    if memory.status != "candidate":
        return False
    return age_finding(replace(memory, review_after=None), now, limits) is not None


def accepted(kind: str, memory: Memory, now: datetime, limits: LifecycleLimits) -> Memory:
    """Return a memory as it is after a question of the lifecycle was answered with yes.

    Raises `WorkbenchError` when that is impossible by now.
    """
    match kind:
        case "prune":
            return archive(memory, "pruned")
        case "forget":
            return forget(memory)
        case "return":
            return restore(memory)
        case "skill":
            return replace(memory, tags=tuple(dict.fromkeys((*memory.tags, SKILL_TAG))))
        case "reconfirm" if memory.status == "promoted":
            return later(memory, now + timedelta(days=limits.confirmed_days))
        case "reconfirm":
            return reconfirm(memory, now, limits)
    return approve(memory, now, limits)


def doubted(proposal: Proposal, memory: Memory, now: datetime) -> tuple[Memory | Proposal, ...]:
    """Return what follows when “still true?” is answered with no.

    The memory loses a point of confidence, and a proposal to forget it takes the question's place.
    """
    if memory.status not in ("confirmed", "promoted"):
        return ()
    doubtful = contradict(memory)
    follow_up = Proposal(
        id=f"forget-{memory.id}-{now:%Y%m%d%H%M%S}",
        kind="forget",
        actor=proposal.actor,
        title=memory.line,
        created_at=now,
        evidence=proposal.evidence,
        importance=memory.importance_score,
        reasons=(
            "you said that it is no longer true",
            f"its confidence went from {confidence_of(memory)} to {confidence_of(doubtful)}",
        ),
    )
    return (doubtful, follow_up)


def is_resolved(memory: Memory, related: Iterable[Memory | None], disputed: bool) -> bool:
    """Tell whether nothing about a memory is open.

    `related` are the memories it refers to (`None`: gone); none of them may still wait as a
    candidate. `disputed` says that a proposal about it waits. A memory that was marked harmful as
    often as helpful is not resolved.
    """
    if disputed or (memory.harmful_count and memory.harmful_count >= memory.helpful_count):
        return False
    return all(other is None or other.status != "candidate" for other in related)


def _contradicted(memory: Memory, by: Contradicted) -> UpkeepFinding | None:
    """Return which question a contradiction raises, mostly whether the newer memory replaces this
    one.
    """
    occasion = f"{by.by}-{by.mark}"
    if by.replaces and memory.status in LADDER:
        return UpkeepFinding("replaces", memory.id, (by.reason,), occasion, (), (by.by,))
    if memory.status not in ("confirmed", "promoted"):
        return None
    reason = f"a newer memory contradicts it: {by.reason}"
    return UpkeepFinding("reconfirm", memory.id, (reason,), occasion, (CONTRADICTED,), (by.by,))


def _earned(memory: Memory, limits: LifecycleLimits) -> UpkeepFinding:
    parts = [
        (memory.helpful_absorbed, "seen again"),
        (times_applied(memory), "applied with success"),
        (memory.helpful_votes, "marked helpful"),
    ]
    seen = sum(count for count, _ in parts)
    told = " and ".join(f"{what} {times(count)}" for count, what in parts if count > 0)
    return UpkeepFinding("confirm", memory.id, (told,), f"{seen // max(1, limits.sightings)}")


def _doubtful(memory: Memory) -> UpkeepFinding:
    marks, value = memory.harmful_votes, confidence_of(memory)
    told = f"it was marked harmful {times(marks)}; its confidence is {value} of 5"
    return UpkeepFinding("reconfirm", memory.id, (told,), f"harmful-{marks}", (DOUBTFUL,))


def _begun(memory: Memory, kind: UpkeepKind) -> datetime:
    """Return when the period began after which the question is asked."""
    if kind == "prune":
        times = (
            arrived(memory),
            memory.last_accessed_at,
            memory.last_feedback_at,
            memory.review_after,
        )
        return max(t for t in times if t is not None)
    return memory.review_after or arrived(memory)
