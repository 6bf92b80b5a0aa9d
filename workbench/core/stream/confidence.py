"""How sure a memory is, 0 to 5: what was said of it, and by rules what has spoken for it and
against it since.

Nothing is stored for it but what somebody said: a store of old has its confidence by the same
rules, and a vote that is taken back takes its point along. What an agent says of its own memories
is counted nowhere (`services.stream.votes`, `services.stream.ingest`), and so counts nothing here.
"""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from functools import lru_cache
from typing import Literal, NamedTuple, TypeVar

from msgspec.structs import replace

from workbench.core.playbook.book import Bullet
from workbench.core.record import as_list, as_object, iso, parse_time, without
from workbench.core.stream.memory import APPROVED, ARCHIVED_FROM, FILE_KEY, Memory, Vote
from workbench.core.tuning.recency import hours_between, recency

# When a memory came into this store and from which file, where what it tells of was earlier or
# elsewhere.


ARRIVED = "arrived"
"""Metadata key of when a memory came into the store, as ISO 8601; left out where that was when it
was made.
"""

IMPORT = "import"
"""Key in `FILE_KEY` of an import: its time (`at`), the file (`path`), and a trusted status that
only the file states (`as`).
"""


def imported(metadata: Mapping[str, object]) -> Mapping[str, object]:
    """Return what is known of the import that brought a memory; empty when none did."""
    return as_object(as_object(metadata.get(FILE_KEY)).get(IMPORT))


def brought(memory: Memory, path: str, now: datetime, *, before: Memory | None = None) -> Memory:
    """Return a memory as an import stores it, in place of the one `before`."""
    status = memory.status
    part = {"at": iso(now)} if before is None else {**imported(before.metadata)}
    part["path"] = path
    if status in APPROVED and (before is None or before.status != status):
        part["as"] = status
    return _with_import(memory, part)


def unmarked(metadata: Mapping[str, object]) -> Mapping[str, object]:
    """Return the metadata of a memory without what is known of its import."""
    file = as_object(metadata.get(FILE_KEY))
    if IMPORT not in file:
        return metadata
    kept = without(file, IMPORT)
    rest = without(metadata, FILE_KEY)
    return {**rest, FILE_KEY: kept} if kept else rest


def stood_by(memory: Memory) -> Memory:
    """Return a memory whose status is by now a person's own word, whatever a file said first."""
    part = imported(memory.metadata)
    if "as" not in part:
        return memory
    return _with_import(memory, without(part, "as"))


def _with_import(memory: Memory, part: Mapping[str, object]) -> Memory:
    file = as_object(memory.metadata.get(FILE_KEY))
    return replace(memory, metadata={**memory.metadata, FILE_KEY: {**file, IMPORT: part}})


def arrived(memory: Memory) -> datetime:
    """Return from when on a memory waits for a person: when it came here, else when it was made."""
    said = memory.metadata.get(ARRIVED) or imported(memory.metadata).get("at")
    try:
        at = parse_time(said) if isinstance(said, str) else memory.created_at
    except ValueError:
        return memory.created_at
    return max(at, memory.created_at)


IMPORTED = "imported"
"""The name of the rule for a trusted status that an import brought."""

SUREST = 5
"""The most there is; 0 is the least, and what nothing speaks for."""

SAID = "confidence_said"
"""The metadata key under which stands what was known of a memory when a person said how sure it is."""

CONTRADICTED = "contradicted"
"""The metadata key under which is counted how often a person said that a memory no longer is true."""

APPLIED = "applied_in"
"""The metadata key under which stand the ids of the episodes that went by a memory and succeeded,
at most `_KEPT`.
"""

NOTES = frozenset((SAID, CONTRADICTED, APPLIED))
"""The metadata that is there for the confidence alone."""

_LOOKED_AT = NOTES | {ARCHIVED_FROM}

_KEPT = 50


class ConfidenceFacts(NamedTuple):
    """What the rules look at: fields of a memory, by their names there; of agents' votes at most
    one of each kind.

    Agents' harmful votes count nothing on what a person pinned or approved.
    """

    confidence: int
    status: str
    helpful_votes: int
    helpful_absorbed: int
    harmful_votes: int
    metadata: Mapping[str, object]


class Rule(NamedTuple):
    """One thing that raises the confidence, or lowers it (`points` below 0), each time that it
    holds.

    `held` says how often, of which at most `most` count. `words` name it in a list of reasons, with
    a place for how often; `why` is the reason for the rule.
    """

    id: str
    points: int
    most: int
    words: str
    why: str
    held: Callable[[ConfidenceFacts], int]


class Reason(NamedTuple):
    """A rule that holds for a memory: how often it `held`, and how many points it gives or takes."""

    rule: Rule
    held: int
    points: int


class Confidence(NamedTuple):
    """How sure a memory is: its `value`, what was `said` of it (`None`: nothing), and the `reasons`
    for the rest.

    `said` is a person's word, or a file's; it stays, and what has happened since is added.
    """

    value: int
    said: int | None
    reasons: tuple[Reason, ...]

    @property
    def against(self) -> int:
        """How many times something spoke against it."""
        return sum(reason.held for reason in self.reasons if reason.points < 0)


def _approved(standing: ConfidenceFacts) -> int:
    return int(_status(standing) in APPROVED and not _imported(standing))


def is_imported(memory: Memory) -> bool:
    """Tell whether only the file that brought a memory says that it is confirmed or promoted."""
    return bool(_imported(standing_of(memory)))


def _imported(standing: ConfidenceFacts) -> int:
    """Tell whether only a file says that the memory is confirmed or promoted."""
    return int(
        standing.status == IMPORTED or imported(standing.metadata).get("as") == _status(standing)
    )


def _status(standing: ConfidenceFacts) -> object:
    """Return the status of a memory, of an archived one that which it had."""
    return (
        standing.metadata.get(ARCHIVED_FROM) if standing.status == "archived" else standing.status
    )


def _contradicted(standing: ConfidenceFacts) -> int:
    return _number(standing.metadata.get(CONTRADICTED))


def _applied(standing: ConfidenceFacts) -> int:
    return len(_episodes(standing.metadata))


RULES = (
    Rule(
        "approved", 2, 1, "approved", "you read and approved it",
        _approved,
    ),
    Rule(
        IMPORTED, 0, 1, "imported", "imported as confirmed, not confirmed here",
        _imported,
    ),
    Rule(
        "helpful", 1, 2, "marked helpful {times}", "marked helpful, by you or by agents (agents count once)",
        lambda standing: standing.helpful_votes,
    ),
    Rule(
        "applied", 1, 2, "applied with success {times}", "a task applied it successfully",
        _applied,
    ),
    Rule(
        "seen", 1, 2, "seen again {times}", "seen again from another source",
        lambda standing: standing.helpful_absorbed,
    ),
    Rule(
        "harmful", -1, 99, "marked harmful {times}", "marked harmful, by you or by agents (agents count once)",
        lambda standing: standing.harmful_votes,
    ),
    Rule(
        "contradicted", -1, 99, "said to be no longer true {times}", "“still true?” was answered with no",
        _contradicted,
    ),
)  # fmt: skip
"""What counts, and how much. What speaks for a memory fills it up to the most; what speaks against
it is taken off.
"""


def scored(memory: Memory) -> Confidence:
    """Return how sure a memory is, and why."""
    return score(standing_of(memory))


def confidence_of(memory: Memory) -> int:
    """Return how sure a memory is, 0 to 5."""
    return value_of(standing_of(memory))


def value_of(standing: ConfidenceFacts) -> int:
    """Return the value of a confidence without its reasons: a hundred thousand are looked through
    at once.
    """
    if _LOOKED_AT.isdisjoint(standing.metadata):
        status = IMPORTED if _imported(standing) else standing.status
        return _plain(standing.confidence, status, *standing[2:-1])
    return score(standing).value


@lru_cache(4096)
def _plain(confidence: int, status: str, helpful: int, absorbed: int, harmful: int) -> int:
    """Return it for a memory without notes, of which there are few kinds."""
    return score(ConfidenceFacts(confidence, status, helpful, absorbed, harmful, {})).value


def score(standing: ConfidenceFacts) -> Confidence:
    """Return the confidence of what is known of a memory."""
    known = _known_then(standing)
    reasons = []
    for rule in RULES:
        count = max(0, rule.held(standing) - known.get(rule.id, 0))
        if count:
            reasons.append(Reason(rule, count, rule.points * min(count, rule.most)))
    raised = sum(reason.points for reason in reasons if reason.points > 0)
    lowered = sum(reason.points for reason in reasons if reason.points < 0)
    said = standing.confidence if standing.confidence or SAID in standing.metadata else None
    return Confidence(max(0, min(SUREST, (said or 0) + raised) + lowered), said, tuple(reasons))


def told(found: Confidence) -> tuple[str, ...]:
    """Return why a memory is as sure as it is, in words, each with its points; nothing where
    nothing is known.
    """
    said = () if found.said is None else (f"said to be {found.said}",)
    return (*said, *(f"{_words(one)} ({one.points:+d})".replace("-", "−") for one in found.reasons))


def times(count: int) -> str:
    """Return how often, in words."""
    return {1: "once", 2: "twice"}.get(count, f"{count} times")


def said_to_be(memory: Memory, confidence: int) -> Memory:
    """Return a memory of which a person says how sure it is: what is known of it now counts no
    more.
    """
    standing = standing_of(memory)
    known = {rule.id: count for rule in RULES if (count := rule.held(standing))}
    return replace(memory, confidence=confidence, metadata={**memory.metadata, SAID: known})


def doubted_once_more(memory: Memory) -> Memory:
    """Return a memory of which a person says that it no longer is true."""
    times = _number(memory.metadata.get(CONTRADICTED)) + 1
    return replace(memory, metadata={**memory.metadata, CONTRADICTED: times})


def applied_in(memory: Memory, episode: str) -> Memory:
    """Return a memory that a task went by which succeeded; the same episode counts once."""
    known = _episodes(memory.metadata)
    if episode in known or len(known) >= _KEPT:
        return memory
    return replace(memory, metadata={**memory.metadata, APPLIED: [*known, episode]})


def times_applied(memory: Memory) -> int:
    """Return how many episodes are known that went by a memory and succeeded."""
    return len(_episodes(memory.metadata))


def keeping_word(memory: Memory) -> Memory:
    """Return a memory that is about to be approved: what a file said of it is what it was sure of
    before.
    """
    if not memory.confidence or SAID in memory.metadata:
        return memory
    return replace(memory, metadata={**memory.metadata, SAID: {}})


def standing_of(memory: Memory) -> ConfidenceFacts:
    """Return what the rules look at in a memory."""
    helpful = _bounded(memory.helpful_votes, memory.helpful_by_agents, 1)
    kept = memory.pinned or memory.status in APPROVED
    harmful = _bounded(memory.harmful_votes, memory.harmful_by_agents, 0 if kept else 1)
    return ConfidenceFacts(
        memory.confidence, memory.status, helpful, memory.helpful_absorbed, harmful, memory.metadata
    )


def standing_in(doc: Mapping[str, object]) -> ConfidenceFacts:
    """Return what the rules look at in a memory as it is stored."""
    status = str(doc.get("status", ""))
    most = 0 if doc.get("pinned") or status in APPROVED else 1
    return ConfidenceFacts(
        _number(doc.get("confidence")), status,
        _bounded(_number(doc.get("helpful_votes")), _number(doc.get("helpful_by_agents")), 1),
        _number(doc.get("helpful_absorbed")),
        _bounded(_number(doc.get("harmful_votes")), _number(doc.get("harmful_by_agents")), most),
        as_object(doc.get("metadata")),
    )  # fmt: skip


def _bounded(votes: int, by_agents: int, most: int) -> int:
    """Return how many votes count, of which at most so many are agents'."""
    return votes - max(0, min(votes, by_agents) - most)


def _episodes(metadata: Mapping[str, object]) -> tuple[str, ...]:
    found = as_list(metadata.get(APPLIED))
    return tuple(dict.fromkeys(id for id in found if isinstance(id, str)))


def _words(reason: Reason) -> str:
    return reason.rule.words.format(times=times(reason.held))


def _known_then(standing: ConfidenceFacts) -> Mapping[str, int]:
    """Return how often each rule held when it was said how sure the memory is.

    A file that says so of a confirmed one says it of what is confirmed; votes it brings are counted
    apart.
    """
    known = standing.metadata.get(SAID)
    if isinstance(known, Mapping):
        return {str(name): _number(count) for name, count in known.items()}
    return {"approved": 1} if standing.confidence else {}


def _number(value: object) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0


# The orders in which memories can be listed, and how their dates are written: values that a saved
# view keeps.


Dates = Literal["", "relative", "absolute"]
"""How dates are written; "" leaves it to what they say."""

DATES: tuple[Dates, ...] = ("", "relative", "absolute")


class Order(NamedTuple):
    """One order: its name, and what stands first in it, and first when it is turned round.

    `key` makes the greatest stand first; `None` where a ranking says how much each memory is worth.
    Equals keep the order in which they were found.
    """

    id: str
    first: str
    turned: str
    key: Callable[[Memory], tuple[float, ...]] | None


def _votes(memory: Memory) -> tuple[float, ...]:
    return (memory.helpful_count - memory.harmful_count, memory.helpful_count)


def _read(memory: Memory) -> tuple[float, ...]:
    return (memory.last_accessed_at.timestamp(),) if memory.access_count else (float("-inf"),)


SCORE = "score"

ORDERS = (
    Order("made", "newest first", "oldest first", lambda m: (m.created_at.timestamp(),)),
    Order("read", "last read first", "never or longest ago read first", _read),
    Order(
        "importance",
        "most important first",
        "least important first",
        lambda m: (m.importance_score,),
    ),
    Order("votes", "most helpful first", "most harmful first", _votes),
    Order(
        "confidence",
        "highest confidence first",
        "lowest confidence first",
        lambda m: (confidence_of(m),),
    ),
    Order(SCORE, "best score first", "worst score first", None),
)
"""Those that are known."""

TURNED = "-"
"""What stands before the name of an order that is turned round."""


class Arranged(NamedTuple):
    """How a list is arranged: by an order (`-` before its name turns it round, "" as it was found),
    and its dates.
    """

    order: str = ""
    dates: Dates = ""

    @property
    def by(self) -> Order | None:
        """The order, or `None` for as it was found."""
        return find_order(self.order)

    @property
    def is_turned(self) -> bool:
        """Whether the order is turned round."""
        return self.order.startswith(TURNED)


def find_order(name: str) -> Order | None:
    """Return the order of a name, turned round or not; `None` when there is none."""
    return next((order for order in ORDERS if order.id == name.removeprefix(TURNED)), None)


def ordered(
    found: Sequence[Memory], arranged: Arranged, scores: Mapping[str, float] | None = None
) -> Sequence[Memory]:
    """Return memories in an order; by score as far as `scores` know them, what they do not know
    last.
    """
    by = arranged.by
    if by is None:
        return found
    key = by.key
    if key is not None:
        return sorted(found, key=key, reverse=not arranged.is_turned)
    if not scores:
        return found
    known = [memory for memory in found if memory.id in scores]
    known.sort(key=lambda memory: scores[memory.id], reverse=not arranged.is_turned)
    return [*known, *(memory for memory in found if memory.id not in scores)]


class SavedView(NamedTuple):
    """A filter that a person gave a name, with how its list is arranged."""

    name: str
    filter: str
    arranged: Arranged = Arranged()


# Votes and the importance they make (source 000, algorithm 5).


Voted = TypeVar("Voted", bound=Memory | Bullet)


def effective_importance(
    memory: Memory, now: datetime, weight: float = 0.5, half_life: float | None = None
) -> float:
    """Return clamp(base + (helpful − harmful) · weight, 0, 10), in which agents' votes are bounded.

    With a `half_life` in days the marks fade from `last_feedback_at` (or the creation, if it was
    never voted on).
    """
    delta = memory.net_marks * weight
    if half_life is not None and delta:
        delta *= recency(
            hours_between(memory.last_feedback_at or memory.created_at, now), half_life
        )
    return min(10.0, max(0.0, memory.importance_score + delta))


def apply_vote(record: Voted, vote: Vote, previous: Vote | None) -> Voted:
    """Return `record` with `vote` counted, and `previous` (the same actor's live vote) taken back
    first.
    """
    if previous is not None:
        record = _counted(record, previous, -1)
    return replace(_counted(record, vote, 1), last_feedback_at=vote.at)


def retract_vote(record: Voted, vote: Vote, now: datetime) -> Voted:
    """Return `record` without `vote`, which was counted in it."""
    return replace(_counted(record, vote, -1), last_feedback_at=now)


def _counted(record: Voted, vote: Vote, step: int) -> Voted:
    """Return `record` with one vote more or less; of a memory it is kept apart which are agents'."""
    names = [f"{vote.verdict}_votes"]
    if isinstance(record, Memory) and vote.actor.startswith("agent:"):
        names.append(f"{vote.verdict}_by_agents")
    return replace(record, **{name: max(0, getattr(record, name) + step) for name in names})
