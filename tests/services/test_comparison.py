"""The one engine against a plain reading of its rules: every pair of records, compared one by one."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.services.conftest import NOON, memory
from workbench.core.duplicates.dedup import Conflict, PairVerdict, judge_pair, parted
from workbench.core.duplicates.groups import much_alike, parted_by, word_set
from workbench.core.limits import DedupThresholds
from workbench.core.playbook.book import Bullet
from workbench.core.stream.memory import Memory
from workbench.retrieval.arrays import Vectors
from workbench.retrieval.fulltext.fuzzy import order_similarity
from workbench.services.duplicates.comparing import (
    BULLETS,
    MEMORIES,
    NEAR,
    Comparison,
    Judge,
    classes,
)

LIMITS = DedupThresholds()
WORDS = (
    "always",
    "never",
    "use",
    "avoid",
    "pnpm",
    "npm",
    "for",
    "the",
    "installs",
    "30s",
    "60s",
    "deploys",
    "NODE_ENV",
)

texts = st.lists(st.sampled_from(WORDS), min_size=1, max_size=6).map(" ".join)
stores = st.lists(
    st.tuples(texts, st.sampled_from(("episodic", "semantic"))), min_size=2, max_size=9
)


def vectors_of(count: int, seed: int) -> Vectors:
    """Return unit vectors of which many are close."""
    drawn = np.random.default_rng(seed).normal(size=(count, 4)) + 1.5
    made: Vectors = (drawn / np.linalg.norm(drawn, axis=1, keepdims=True)).astype(np.float32)
    return made


def plain_verdict(old: Memory | Bullet, new: Memory | Bullet) -> PairVerdict:
    order = order_similarity(old.content, new.content)
    return parted_by(judge_pair(new.content, old.content, order, LIMITS.order), parted(old, new))


def has_words(one: str, other: str) -> bool:
    return much_alike(one, other, word_set(one), word_set(other))


def never(*_: object) -> bool:
    return False


@pytest.mark.slow
@given(stores, st.integers(0, 1000), st.sampled_from((0.6, 0.8, 0.95)))
def test_memories_in_a_group_are_close_and_nothing_speaks_against_any_two(
    drawn: list[tuple[str, str]], seed: int, limit: float
) -> None:
    memories = [
        memory(f"m{n}", text, NOON, memory_type=kind) for n, (text, kind) in enumerate(drawn)
    ]
    vectors = vectors_of(len(memories), seed)
    judge = Judge(MEMORIES, LIMITS)
    found = Comparison(memories, vectors, judge, never, floor=limit, most=1000)

    def fits(a: int, b: int) -> bool:
        one, other = memories[a], memories[b]
        close = float(vectors[a] @ vectors[b]) >= limit and one.memory_type == other.memory_type
        return (
            close
            and has_words(one.content, other.content)
            and not plain_verdict(one, other).conflicts
        )

    pairs = {place for place in combinations(range(len(memories)), 2) if fits(*place)}
    near = {place for place in found.cosines if found.relation(place) == "near"}
    assert near == pairs
    groups = found.complete(NEAR, limit)
    assert all(place in pairs for group in groups for place in combinations(group, 2))
    members = [row for group in groups for row in group]
    assert len(members) == len(set(members))
    assert {row for place in pairs for row in place} >= set(members)
    # Whoever stands alone fits no other who does, for those two would be a group.
    assert not any(a not in members and b not in members for a, b in pairs)
    for place in found.cosines:
        assert judge.verdict(memories[place[0]], memories[place[1]]) == plain_verdict(
            *(memories[n] for n in place)
        )


@pytest.mark.slow
@given(
    st.lists(texts, min_size=2, max_size=9), st.integers(0, 1000), st.sampled_from((0.6, 0.8, 0.95))
)
def test_every_close_pair_of_bullets_is_in_a_group_of_its_kind_or_beside_one(
    drawn: list[str], seed: int, limit: float
) -> None:
    bullets = [Bullet(f"b{n}", "misc", text) for n, text in enumerate(drawn)]
    vectors = vectors_of(len(bullets), seed)
    found = Comparison(bullets, vectors, Judge(BULLETS, LIMITS), never, floor=0.6, most=1000)
    groups = found.groups(limit)
    place = {bullet.id: row for row, bullet in enumerate(bullets)}
    for group in groups:
        assert group.kind in ("near", "opposed", "apart")
        assert len(group.pairs) == len(list(combinations(group.members, 2)))
        for pair in group.pairs:
            cosine = float(vectors[place[pair.left.id]] @ vectors[place[pair.right.id]])
            assert pair.similarity == pytest.approx(cosine, abs=1e-6)
            assert pair.similarity >= limit
            plain = plain_verdict(pair.left, pair.right)
            assert set(plain.conflicts) <= set(pair.verdict.conflicts)
            alike = has_words(pair.left.content, pair.right.content)
            assert (group.kind == "near") == (alike and not plain.conflicts)
            assert (Conflict.CONTRADICTION in pair.verdict.conflicts) == (group.kind == "opposed")


@given(st.lists(texts, min_size=1, max_size=9))
def test_the_classes_of_one_form_hold_every_record_once(drawn: list[str]) -> None:
    bullets = [Bullet(f"b{n}", "misc", text) for n, text in enumerate(drawn)]
    for form in BULLETS.forms:
        found = classes(bullets, BULLETS, form)
        assert sorted(b.id for part in found for b in part) == sorted(b.id for b in bullets)
        assert len(found) == len({form(text) for text in drawn})
        assert all(len({form(b.content) for b in part}) == 1 for part in found)
