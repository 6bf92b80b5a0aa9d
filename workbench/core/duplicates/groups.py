"""Groups of memories that say the same, for the batch deduplication (source 003): what joins them,
what parts them.

A high cosine never joins two memories by itself. Two texts join when most of their words are the
same and nothing in one says something else than the other: what is negated, opposite words,
numbers, identifiers, symbols, order, or a content word of each that the other does not hold (mom,
dad).
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from hashlib import blake2b
from itertools import combinations
from statistics import fmean
from typing import Any, NamedTuple

from workbench.core.document import Record
from workbench.core.duplicates.dedup import (
    PairVerdict,
    content_words,
    each_once,
    identifiers,
    identity_of,
    negations,
    numbers,
    opposites,
    symbols,
)
from workbench.core.playbook.book import Bullet
from workbench.core.record import UnknownRecord, WorkbenchError, as_list, iso
from workbench.core.review.lifecycle import LADDER, archive
from workbench.core.review.proposal import Proposal
from workbench.core.stream.memory import SERVED, Memory, Status

COMMON_WORDS = 0.5
"""Which share of all their words two memories need in common to be taken for the same; below it
they are related.
"""

SAME_TEXT = PairVerdict("absorb", ("the same text",))


def word_set(text: str) -> frozenset[str]:
    """Return the stems of a text's words, each once, without numbers and identifiers: those are
    compared apart.
    """
    named = {word for name in set(identifiers(text)) for word in content_words(name)}
    return frozenset(
        stem for stem in content_words(text) if stem not in named and not stem[0].isdigit()
    )


def common_words(one: frozenset[str], other: frozenset[str], opposed: int = 0) -> float:
    """Return which share of the words of two texts both have, 0…1 (two without words have all in
    common).

    Of so many `opposed` pairs, such as passed and failed, each counts as one word that both have.
    """
    together = len(one | other) - opposed
    return (len(one & other) + opposed) / together if together > 0 else 1.0


def much_alike(one: str, other: str, words: frozenset[str], other_words: frozenset[str]) -> bool:
    """Tell whether two texts have so many words in common that they may say the same, or the
    opposite.

    `words` and `other_words` are their word sets.
    """
    share = common_words(words, other_words)
    if share >= COMMON_WORDS:
        return True
    # Opposites are worth looking for only where they can make up for what is missing.
    return (
        share >= COMMON_WORDS / 2
        and common_words(words, other_words, len(opposites(one, other))) >= COMMON_WORDS
    )


class Rule(NamedTuple):
    """The words of a short text, and those of them that it rules out."""

    words: frozenset[str]
    ruled_out: frozenset[str]


def rule_of(text: str) -> Rule:
    return Rule(
        frozenset(content_words(text)),
        frozenset(w for said in negations(text) for w in content_words(said)),
    )


def two_sides(
    wanted: Rule, other: Rule, related: Callable[[str, str], bool]
) -> tuple[str, str] | None:
    """Return what one text wants in place of what the other rules out: "use pnpm", "don't use npm".

    The two words are related, or all that the texts say beside them is the same.
    """
    shared, mine, theirs = (
        wanted.words & other.words,
        wanted.words - other.words,
        other.words - wanted.words,
    )
    if (
        wanted.ruled_out
        or not shared
        or not mine
        or len(theirs) != 1
        or not theirs <= other.ruled_out
    ):
        return None
    (out,) = theirs
    alone = len(mine) == 1 and len(shared) > 1
    return next(((one, out) for one in sorted(mine) if alone or related(one, out)), None)


def facts_of(text: str) -> tuple[object, ...]:
    """Return what two texts that say the same must share exactly: numbers, negations, symbols."""
    return numbers(text), negations(text), symbols(text)


def parted_by(verdict: PairVerdict, differing: tuple[str, ...]) -> PairVerdict:
    """Return what is to do with two texts whose records are told apart by something else than their
    texts, if any.
    """
    if not differing:
        return verdict
    return verdict._replace(
        action="propose" if verdict.action == "absorb" else verdict.action,
        reasons_against=each_once(differing, verdict.reasons_against),
        conflicts=each_once(differing, verdict.conflicts),
    )


def by_age(memories: Iterable[Memory]) -> list[Memory]:
    """Return memories with the oldest first."""
    return sorted(memories, key=lambda m: (m.created_at, m.id))


def kept_first(memories: Iterable[Memory]) -> tuple[Memory, ...]:
    """Return first the one whose id a merge keeps, then the newest, and last the oldest.

    That is the one with a name, which its file knows it by; of several the most trusted, of those
    the oldest.
    """
    aged = by_age(memories)

    def rank(memory: Memory) -> tuple[bool, bool, int]:
        ladder = LADDER.index(memory.status) if memory.status in LADDER else -1
        return bool(identity_of(memory).names), memory.pinned, ladder

    kept = max(aged, key=rank)
    return (kept, *(m for m in reversed(aged) if m is not kept))


def text_mark(text: str, size: int = 8) -> str:
    """Return a short mark of a text, of so many bytes, equal only for equal texts."""
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=size).hexdigest()


def group_mark(members: Iterable[Memory | Bullet]) -> str:
    """Return a short mark of a group: the same as long as its members and their texts are."""
    names = sorted(f"{m.id}\0{text_mark(m.content)}" for m in members)
    return text_mark("\0".join(names))


def complete_groups(
    pairs: Iterable[tuple[int, int]], fits: Callable[[int, int], bool], most: int
) -> list[tuple[int, ...]]:
    """Join items into groups in which every two fit each other, at most `most` in each.

    `pairs` come with the closest first and fit; two groups become one only when all their members
    fit one another, so that no chain of small steps ever joins two that differ. Each group is in
    ascending order; the groups come in the order of their first pair.
    """
    groups: dict[int, list[int]] = {}
    for one, other in pairs:
        left, right = groups.setdefault(one, [one]), groups.setdefault(other, [other])
        if left is right or len(left) + len(right) > most:
            continue
        if all(fits(a, b) for a in left for b in right):
            left += right
            for item in right:
                groups[item] = left
    found = {id(group): group for group in groups.values() if len(group) > 1}
    return [tuple(sorted(group)) for group in found.values()]


# Merging near-duplicates of the stream (source 003, `merge_memory_group`).
#
# The newest content wins, every vote is counted once, importance is averaged, old ids live on as
# aliases. What was merged is noted in `metadata["merged"]`; the originals are archived, so that
# undoing the transaction splits them again.


MEMORY_COUNTS = (
    "helpful_imported", "helpful_created", "helpful_absorbed", "helpful_votes", "harmful_imported", "harmful_votes",
    "helpful_by_agents", "harmful_by_agents",
)  # fmt: skip


def merge_memories(
    group: Sequence[Memory], now: datetime, *, keep: str | None = None, content: str | None = None
) -> tuple[Memory, tuple[Memory, ...]]:
    """Return the merged memory and the archived originals of a group of duplicates.

    The id, the class and the metadata are those of `keep` (default: the newest), the content, its
    time and its summary those of the newest unless `content` overrides the text. The status is the
    one furthest along the lifecycle, and never one that takes a served memory out of service. A
    memory that occurs twice counts once, and so do votes that an earlier merge already brought in.
    Raises `WorkbenchError` for fewer than two memories or an archived one, `UnknownRecord` when
    `keep` is not in the group.
    """
    members = tuple({m.id: m for m in group}.values())
    _check(members, keep)
    newest = max(members, key=lambda m: (m.created_at, m.id))
    kept = newest if keep is None else next(m for m in members if m.id == keep)
    merged = _united(kept, newest, (kept, *(m for m in members if m is not kept)))
    text = newest.content if content is None else content
    summary = newest.summary if text == newest.content else ""
    note = merge_note(members, now, MEMORY_COUNTS)
    merged = replace(merged, content=text, summary=summary, metadata=with_note(kept.metadata, note))
    return merged, tuple(_archived(m, kept.id) for m in members if m is not kept)


def absorb(
    target: Memory, candidate: Memory, now: datetime, content: str | None = None
) -> tuple[Memory, tuple[Memory, ...]]:
    """Return `target` with what a candidate that nobody approved adds to it, and the archived
    candidate.

    It adds its votes, tags, citations and relations, and its id as an alias. The target's text
    (unless `content` is another one), its time, status, importance and standing stay its own.
    Raises as `merge_memories` does.
    """
    text = target.content if content is None else content
    merged, archived = merge_memories((candidate, target), now, keep=target.id, content=text)
    summaries = {candidate.content: candidate.summary, target.content: target.summary}
    return replace(
        merged, summary=summaries.get(text, ""), **{n: getattr(target, n) for n in _STANDING}
    ), archived


_STANDING = (
    "created_at", "last_accessed_at", "access_count", "importance_score", "status", "confidence", "pinned",
    "promoted_to", "is_synthetic",
)  # fmt: skip


def merge_note(
    members: Iterable[Memory | Bullet], now: datetime, counts: Sequence[str]
) -> dict[str, object]:
    """Describe what is merged, as JSON values: the time, and each record's id, content and counts."""
    records = [
        {"id": m.id, "content": m.content, "counts": {n: getattr(m, n) for n in counts}}
        for m in members
    ]
    return {"at": iso(now), "records": records}


def with_note(metadata: Mapping[str, object], note: Mapping[str, object]) -> dict[str, object]:
    """Return `metadata` with `note` added to its list of merges."""
    return {**metadata, "merged": [*merges_noted(metadata), note]}


def counted_before(record: Memory | Bullet, member: str, name: str) -> int:
    """Return how much of `member`'s count `name` an earlier merge already brought into `record`."""
    for note in reversed(merges_noted(record.metadata)):
        for entry in mappings_in(note, "records"):
            counts = entry.get("counts")
            if entry.get("id") == member and isinstance(counts, Mapping):
                value = counts.get(name)
                return value if type(value) is int else 0
    return 0


def summed(members: Sequence[Memory | Bullet], name: str) -> int:
    """Add up one count over the group, leaving out what a member holds from another member already."""
    total = sum(int(getattr(m, name)) for m in members)
    doubled = sum(
        min(int(getattr(part, name)), counted_before(whole, part.id, name))
        for whole in members
        if merges_noted(whole.metadata)
        for part in members
        if whole is not part
    )
    return max(0, total - doubled)


def union(*groups: Iterable[str], without: Iterable[str] = ()) -> tuple[str, ...]:
    """Return every string of `groups` once, in order of appearance, except those in `without`."""
    dropped = frozenset(without)
    return tuple(x for x in dict.fromkeys(x for group in groups for x in group) if x not in dropped)


def _check(members: Sequence[Memory], keep: str | None) -> None:
    if len(members) < 2:
        raise WorkbenchError(
            "A merge needs at least two different memories.", "Nothing was changed."
        )
    archived = next((m for m in members if m.status == "archived"), None)
    if archived is not None:
        raise WorkbenchError(
            f"Memory {archived.id} is archived and cannot be merged.", "Restore it first."
        )
    if keep is not None and all(m.id != keep for m in members):
        raise UnknownRecord(f"Memory {keep} is not among those to merge.", "Nothing was changed.")


def _united(kept: Memory, newest: Memory, members: Sequence[Memory]) -> Memory:
    ids = [m.id for m in members]
    counts: dict[str, Any] = {name: summed(members, name) for name in MEMORY_COUNTS}
    return replace(
        kept,
        created_at=newest.created_at,
        last_accessed_at=max(m.last_accessed_at for m in members),
        tags=union(*(m.tags for m in members)),
        related=union(*(m.related for m in members), without=ids),
        citations=union(*(m.citations for m in members), without=ids),
        aliases=union(*((*m.aliases, m.id) for m in members), without=[kept.id]),
        importance_score=fmean(m.importance_score for m in members),
        last_feedback_at=max(
            (m.last_feedback_at for m in members if m.last_feedback_at), default=None
        ),
        pinned=any(m.pinned for m in members),
        status=_status(members),
        confidence=max(m.confidence for m in members),
        promoted_to=next((m.promoted_to for m in members if m.promoted_to), None),
        is_synthetic=newest.is_synthetic,
        access_count=sum(m.access_count for m in members),
        **counts,
    )


def _status(members: Sequence[Memory]) -> Status:
    """Return the status furthest along; a candidate is above a signal, but it is not served."""
    statuses = [m.status for m in members]
    return max([s for s in statuses if s in SERVED] or statuses, key=LADDER.index)


def _archived(memory: Memory, into: str) -> Memory:
    shelved = archive(memory, "merged")
    return replace(shelved, metadata={**shelved.metadata, "merged_into": into})


def merges_noted(metadata: Mapping[str, object]) -> list[Mapping[str, object]]:
    return mappings_in(metadata, "merged")


def mappings_in(holder: Mapping[str, object], key: str) -> list[Mapping[str, object]]:
    """Return the mappings in a list value; anything else (an import may bring any shape) is left
    out.
    """
    return [entry for entry in as_list(holder.get(key)) if isinstance(entry, Mapping)]


# A decision to keep two records that resemble each other, and which records such decisions hold
# for.


class KeptPair(Record, frozen=True):
    """Two memories, or two bullets of one book, that a person keeps both, with their true cosine
    (−1…1) at the time.

    `book` is empty for memories. `texts` marks both texts: when one of them changes, the question
    is asked again; where it is empty nobody knows what they were, and it is never asked again.
    """

    id: str
    book: str
    left: str
    right: str
    similarity: float
    texts: str
    actor: str
    at: datetime
    version: int = 1


class KeptApart:
    """Which records somebody keeps apart, by the decisions that were made; called with two as they
    are now.
    """

    def __init__(self, pairs: Iterable[KeptPair]) -> None:
        self._texts: dict[tuple[str, str, str], set[str]] = {}
        for pair in pairs:
            self._texts.setdefault((pair.book, pair.left, pair.right), set()).add(pair.texts)

    def __call__(self, one: Memory | Bullet, other: Memory | Bullet) -> bool:
        """Tell whether somebody keeps two records apart whose texts are what they are now."""
        left, right = sorted((one.id, other.id))
        marks = self._texts.get((_book(one), left, right))
        return marks is not None and ("" in marks or texts_mark(one, other) in marks)

    def count(self, records: Iterable[Memory | Bullet]) -> int:
        """Return how many pairs of some records are kept apart."""
        known = {(_book(record), record.id): record for record in records}
        pairs = (
            (known.get((book, left)), known.get((book, right))) for book, left, right in self._texts
        )
        return sum(
            one is not None and other is not None and self(one, other) for one, other in pairs
        )


def kept_pair(
    one: Memory | Bullet, other: Memory | Bullet, similarity: float, actor: str, at: datetime
) -> KeptPair:
    """Return the decision to keep two records of one kind, whichever is named first."""
    left, right = sorted((one, other), key=lambda record: record.id)
    book, texts = _book(one), texts_mark(left, right)
    return KeptPair(
        _name(book, left.id, right.id, texts), book, left.id, right.id, similarity, texts, actor, at
    )


def pairs_kept_by(proposal: Proposal, actor: str) -> tuple[KeptPair, ...]:
    """Return the decisions that a proposal to merge memories stands for that `actor` turned down;
    of any other none.

    An old one does not say what the texts were.
    """
    if proposal.kind != "merge" or proposal.state != "rejected":
        return ()
    marks = proposal.texts if len(proposal.texts) == len(proposal.evidence) else None
    found: dict[str, KeptPair] = {}
    at, similarity = proposal.decided_at or proposal.created_at, proposal.similarity or 0.0
    for pair in combinations(zip(proposal.evidence, marks or proposal.evidence, strict=True), 2):
        (left, mark), (right, other) = sorted(pair)
        texts = "" if marks is None else f"{mark}-{other}"
        name = _name("", left, right, texts)
        if left != right:
            found[name] = KeptPair(name, "", left, right, similarity, texts, actor, at)
    return tuple(found.values())


def texts_mark(one: Memory | Bullet, other: Memory | Bullet) -> str:
    """Return a mark of both texts that changes with either."""
    # The store knows this record, but seldom needs its marks.
    left, right = sorted((one, other), key=lambda record: record.id)
    return f"{text_mark(left.content)}-{text_mark(right.content)}"


def _book(record: Memory | Bullet) -> str:
    return record.book if isinstance(record, Bullet) else ""


def _name(book: str, left: str, right: str, texts: str) -> str:
    """Name the one decision about two bullets, or the one about two memories with these texts,
    which may come back.
    """
    if book:
        return f"{book}/{left}|{right}"
    mark = blake2b(
        f"{left}\0{right}\0{texts}".encode("utf-8", "surrogatepass"), digest_size=8
    ).hexdigest()
    return f"{left}|{right}|{mark if texts else ''}"
