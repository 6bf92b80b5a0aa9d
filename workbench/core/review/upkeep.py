"""What the lifecycle suggests for a memory (source 001, section 3): one finding each, and what deciding on it does.

A finding names its occasion, so that a question that was answered is asked again only when something has changed
or another period has passed.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Literal, get_args

from workbench.core.limits import LIFECYCLE_LIMITS, LifecycleLimits
from workbench.core.review import lifecycle
from workbench.core.review.proposal import Proposal
from workbench.core.stream.confidence import arrived, confidence_of, times, times_applied
from workbench.core.stream.memory import Memory

UpkeepKind = Literal["replaces", "prune", "confirm", "reconfirm", "skill"]
UPKEEP_KINDS: tuple[UpkeepKind, ...] = get_args(UpkeepKind)

SKILL_TAG = "skill"
"""The tag of a memory that a person wants as a skill."""

CONTRADICTED = "contradicted"
"""The flag of a question that a newer memory raised."""

DOUBTFUL = "doubtful"
"""The flag of a question that votes raised."""


@dataclass(frozen=True, slots=True)
class Contradicted:
    """A newer memory that says the opposite of another one: its id, a mark of both texts, and the reason.

    `replaces` tells that both settle the same thing, so that one of them holds.
    """

    by: str
    mark: str
    reason: str
    replaces: bool = False


@dataclass(frozen=True, slots=True)
class UpkeepFinding:
    """What the lifecycle suggests for the memory `id`, and why.

    `occasion` stays the same as long as the question is the same one; `evidence` are further memories it rests on.
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
    """Return what the lifecycle suggests for `memory` at `now`, the most urgent thing only, or `None`.

    `decided` tells when the last question of a kind about it was answered: another one of that kind waits for a
    period of its own. Candidates get none, since they wait in Review already; `resolved` is what `is_skill_material`
    wants to know. What is `needed`, being cited or judged relevant, is never proposed for archiving.
    """
    answered = decided or {}
    if contradicted is not None and (asked := _contradicted(memory, contradicted)) is not None:
        return asked
    if memory.status == "signal" and lifecycle.earned_confirmation(memory, limits):
        return _earned(memory, limits)
    if lifecycle.is_doubtful(memory, answered.get("reconfirm"), limits):
        return _doubtful(memory)
    aged = lifecycle.age_finding(memory, now, limits)
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
    if SKILL_TAG not in memory.tags and lifecycle.is_skill_material(memory, resolved=resolved, limits=limits):
        count = len(memory.related)
        return UpkeepFinding(
            "skill", memory.id, (f"confirmed, resolved, and {count} other memories refer to it",), f"{count}"
        )
    return None


def waits_long(memory: Memory, now: datetime, limits: LifecycleLimits = LIFECYCLE_LIMITS) -> bool:
    """Tell whether a candidate has waited so long that Review flags it, put off or not."""
    if memory.status != "candidate":
        return False
    return lifecycle.age_finding(replace(memory, review_after=None), now, limits) is not None


def accepted(kind: str, memory: Memory, now: datetime, limits: LifecycleLimits) -> Memory:
    """Return a memory as it is after a question of the lifecycle was answered with yes.

    Raises `WorkbenchError` when that is impossible by now.
    """
    match kind:
        case "prune":
            return lifecycle.archive(memory, "pruned")
        case "forget":
            return lifecycle.forget(memory)
        case "return":
            return lifecycle.restore(memory)
        case "skill":
            return replace(memory, tags=tuple(dict.fromkeys((*memory.tags, SKILL_TAG))))
        case "reconfirm" if memory.status == "promoted":
            return lifecycle.later(memory, now + timedelta(days=limits.confirmed_days))
        case "reconfirm":
            return lifecycle.reconfirm(memory, now, limits)
    return lifecycle.approve(memory, now, limits)


def doubted(proposal: Proposal, memory: Memory, now: datetime) -> tuple[Memory | Proposal, ...]:
    """Return what follows when “still true?” is answered with no.

    The memory loses a point of confidence, and a proposal to forget it takes the question's place.
    """
    if memory.status not in ("confirmed", "promoted"):
        return ()
    doubtful = lifecycle.contradict(memory)
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

    `related` are the memories it refers to (`None`: gone); none of them may still wait as a candidate. `disputed`
    says that a proposal about it waits. A memory that was marked harmful as often as helpful is not resolved.
    """
    if disputed or (memory.harmful_count and memory.harmful_count >= memory.helpful_count):
        return False
    return all(other is None or other.status != "candidate" for other in related)


def _contradicted(memory: Memory, by: Contradicted) -> UpkeepFinding | None:
    """Return which question a contradiction raises, mostly whether the newer memory replaces this one."""
    occasion = f"{by.by}-{by.mark}"
    if by.replaces and memory.status in lifecycle.LADDER:
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
    told = f"it was marked harmful {times(marks)}, and its confidence is {value} of 5"
    return UpkeepFinding("reconfirm", memory.id, (told,), f"harmful-{marks}", (DOUBTFUL,))


def _begun(memory: Memory, kind: UpkeepKind) -> datetime:
    """Return when the period began after which the question is asked."""
    if kind == "prune":
        times = (arrived(memory), memory.last_accessed_at, memory.last_feedback_at, memory.review_after)
        return max(t for t in times if t is not None)
    return memory.review_after or arrived(memory)
