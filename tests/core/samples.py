"""Values and strategies that the tests of core share."""

from datetime import UTC, datetime, timedelta
from typing import Any

from hypothesis import strategies as st

from workbench.core.duplicates.dedup import PairVerdict, judge_pair, parted
from workbench.core.duplicates.groups import parted_by
from workbench.core.playbook.book import Book, Bullet, Playbook, Section
from workbench.core.stream.memory import (
    ARCHIVED_REASONS,
    MEMORY_TYPES,
    OBSERVATION_TYPES,
    STATUSES,
    Memory,
    Source,
)

NOW = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)


def days(count: float) -> timedelta:
    """A span of days."""
    return timedelta(days=count)


def memory(id: str = "mem-1", content: str = "use pnpm", **fields: Any) -> Memory:
    """A memory made at `NOW` unless `fields` say otherwise; it was last read when it was made."""
    created = fields.pop("created_at", NOW)
    read = fields.pop("last_accessed_at", created)
    return Memory(id=id, content=content, created_at=created, last_accessed_at=read, **fields)


def playbook() -> Playbook:
    """Two sections with three and one bullets, an empty third, comments and blank lines between
    them.
    """
    sections = (
        Section("rules", "rules", "RULES", order=0.0, raw="## RULES"),
        Section("apis", "apis", "APIS", order=1.0, raw="## APIS", lead=("",)),
        Section("others", "others", "OTHERS", order=2.0, raw="## OTHERS", lead=("",)),
    )
    bullets = (
        Bullet("rul-00001", "rules", "one", order=0.0, raw="[rul-00001] one"),
        Bullet(
            "rul-00002", "rules", "two", order=1.0, raw="[rul-00002] two", lead=("", "# about two")
        ),
        Bullet(
            "rul-00003",
            "rules",
            "three",
            order=2.0,
            raw="[rul-00003] three",
            lead=("# about three",),
        ),
        Bullet(
            "api-00004", "apis", "four", order=0.0, raw="[api-00004] four", lead=("# about four",)
        ),
    )
    return Playbook(Book(dialect="bare", tail=("",)), sections, bullets)


def assert_sound(playbook: Playbook) -> None:
    """Assert that ids are unique and every bullet's section exists."""
    sections, bullets = [s.id for s in playbook.sections], [b.id for b in playbook.bullets]
    assert len(set(sections)) == len(sections)
    assert len(set(bullets)) == len(bullets)
    assert {b.section for b in playbook.bullets} <= set(sections)


def read_pair(one: Memory, other: Memory, order: float = 100.0) -> PairVerdict:
    """Judge two memories, of which `other` is the newer; `order` is their ordered text similarity
    (0–100).
    """
    return parted_by(judge_pair(other.content, one.content, order), parted(one, other))


def file_lines(book: Playbook) -> list[str]:
    """The lines of the file that a playbook stands for; a line to be rendered anew shows as `<id>
    content`.
    """
    lines: list[str] = []
    for section in book.sections:
        lines += [*section.lead, section.raw or f"<{section.title}>"]
        for bullet in book.in_section(section.id):
            lines += [*bullet.lead, bullet.raw or f"<{bullet.id}> {bullet.content}"]
    return [*lines, *book.book.tail]


texts = st.text(st.characters(codec="utf-8"), max_size=30)
filled = texts.filter(lambda t: bool(t.strip()))
names = st.tuples(texts, texts).map(lambda pair: pair) | st.just(())
moments = st.datetimes(
    min_value=datetime(1970, 1, 2), max_value=datetime(2100, 1, 1), timezones=st.just(UTC)
)  # fmt: skip
counts = st.integers(0, 1000)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**9), 10**9) | st.floats(allow_nan=False) | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=5,
)
documents = st.dictionaries(texts, json_values, max_size=3)

memories: st.SearchStrategy[Memory] = st.builds(
    Memory,
    id=filled,
    content=filled,
    created_at=moments,
    last_accessed_at=moments,
    summary=texts,
    session_id=texts,
    memory_type=st.sampled_from(MEMORY_TYPES),
    observation_type=st.sampled_from(OBSERVATION_TYPES),
    section=texts,
    category=texts,
    tags=names,
    related=names,
    importance_score=st.floats(0, 10),
    helpful_imported=counts,
    helpful_created=counts,
    helpful_absorbed=counts,
    helpful_votes=counts,
    harmful_imported=counts,
    harmful_votes=counts,
    helpful_by_agents=counts,
    harmful_by_agents=counts,
    last_feedback_at=st.none() | moments,
    pinned=st.booleans(),
    status=st.sampled_from(STATUSES),
    confidence=st.integers(0, 5),
    promoted_to=st.none() | texts,
    archived_reason=st.none() | st.sampled_from(ARCHIVED_REASONS),
    review_after=st.none() | moments,
    is_synthetic=st.booleans(),
    citations=names,
    source=st.builds(
        Source, st.none() | texts, st.none() | counts, st.none() | texts, st.none() | filled
    ),
    access_count=counts,
    aliases=names,
    metadata=documents,
)

bullets: st.SearchStrategy[Bullet] = st.builds(
    Bullet,
    id=filled,
    section=texts,
    content=texts,
    book=texts,
    order=st.floats(-1e6, 1e6),
    helpful_imported=counts,
    helpful_absorbed=counts,
    helpful_votes=counts,
    harmful_imported=counts,
    harmful_votes=counts,
    neutral_count=counts,
    pinned=st.booleans(),
    state=st.sampled_from(["active", "deprecated"]),
    last_feedback_at=st.none() | moments,
    created_at=st.none() | moments,
    raw=st.none() | texts,
    lead=names,
    aliases=names,
    metadata=documents,
)
