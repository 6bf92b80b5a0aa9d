"""Pairs and groups of memories that say the same."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.core.samples import NOW, days, memory, read_pair
from workbench.core.duplicates.groups import (
    common_words,
    complete_groups,
    group_mark,
    kept_first,
    much_alike,
    text_mark,
    word_set,
)


@pytest.mark.parametrize(
    ("one", "other", "conflict"),
    [
        ("always pnpm, never npm", "always npm, never pnpm", "negation differs"),
        ("tests passed", "tests failed", "opposite words"),
        ("raise timeout to 30s", "raise timeout to 60s", "numbers differ"),
        ("set AUTH_SECRET", "set AUTH_TOKEN", "identifiers differ"),
        (
            "Prefer composition over inheritance",
            "Prefer inheritance over composition",
            "word order differs",
        ),
        ("check a == b", "check a != b", "symbols differ"),
        (
            "highest degree your mom completed?",
            "highest degree your dad completed?",
            "words differ",
        ),
        ("Klaus Mueller is sleeping", "Klaus Mueller is idle", "words differ"),
        ("Nate: Bye Joanna!", "Nate: Bye Joanna! Good luck!", "only one says: good, luck"),
    ],
)
def test_what_says_something_else_stays_apart_at_any_similarity(
    one: str, other: str, conflict: str
) -> None:
    """Although a static model gives such pairs a cosine of up to 1.00."""
    assert much_alike(one, other, word_set(one), word_set(other))
    for a, b in ((one, other), (other, one)):
        pair = read_pair(memory(id="a", content=a), memory(id="b", content=b))
        assert any(each.startswith(conflict) for each in pair.conflicts)
        assert pair.reasons_against


@pytest.mark.parametrize(
    ("one", "other", "kind"),
    [
        ("Use pnpm in this project.", "use pnpm in this project", "absorb"),
        (
            "Deploys on Friday need a second person",
            "Deploys on Friday need a second person today",
            "propose",
        ),
    ],
)
def test_what_says_the_same_has_no_conflict(one: str, other: str, kind: str) -> None:
    pair = read_pair(memory(id="a", content=one), memory(id="b", content=other), 97.0)
    assert (pair.action, pair.conflicts) == (kind, ())


def test_related_texts_are_no_duplicates() -> None:
    one, other = (
        "The deploy job reads its key from the vault",
        "The deploy of Friday went well, Ines was happy",
    )
    assert not much_alike(one, other, word_set(one), word_set(other))
    assert common_words(frozenset(), frozenset()) == 1.0
    assert common_words(frozenset("ab"), frozenset("bc")) == pytest.approx(1 / 3)


def test_the_most_trusted_of_the_oldest_keeps_its_id() -> None:
    old, mid = (
        memory(id="old", created_at=NOW - days(3)),
        memory(id="mid", created_at=NOW - days(2)),
    )
    new = memory(id="new", created_at=NOW)
    assert [m.id for m in kept_first((mid, new, old))] == ["old", "new", "mid"]
    assert [m.id for m in kept_first((old, replace(mid, status="confirmed"), new))] == [
        "mid",
        "new",
        "old",
    ]
    pinned = replace(new, pinned=True)
    assert [m.id for m in kept_first((old, replace(mid, status="confirmed"), pinned))] == [
        "new",
        "mid",
        "old",
    ]


def test_a_mark_changes_with_the_text_and_not_with_the_order() -> None:
    one, other = memory(id="a", content="x"), memory(id="b", content="y")
    assert group_mark((one, other)) == group_mark((other, one))
    assert group_mark((one, other)) != group_mark((one, replace(other, content="z")))
    assert text_mark("\ud800") != text_mark("x")


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.tuples(st.integers(0, 9), st.integers(0, 9)).filter(lambda p: p[0] != p[1]), max_size=40
    ),
    st.integers(2, 6),
)
def test_in_a_group_every_two_fit(pairs: list[tuple[int, int]], most: int) -> None:
    """No chain of small steps joins two that do not; nobody is in two groups; a group of two is
    always found.
    """
    fitting = {frozenset(p) for p in pairs}
    groups = complete_groups(pairs, lambda a, b: frozenset((a, b)) in fitting, most)
    members = [m for group in groups for m in group]
    assert len(members) == len(set(members))
    for group in groups:
        assert 2 <= len(group) <= most
        assert all(frozenset((a, b)) in fitting for a in group for b in group if a < b)
    left = {m for p in pairs for m in p} - set(members)
    assert not any(p <= left for p in fitting)
