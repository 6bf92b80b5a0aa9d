"""What fits a budget: the costs of the parts, the cut in order, and the choice by value."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.core.playbook.book import Book, Bullet, Playbook, Section
from workbench.core.playbook.budget import bullet_tokens, by_value, costs, heading_tokens, in_order, worth

SECTIONS = (Section("a", "a", "ALPHA", order=0), Section("b", "b", "BETA", order=1))
BULLETS = st.lists(
    st.builds(
        lambda n, section, size, up, down, pinned, state: Bullet(
            f"x-{n:05d}", section, "w" * size, helpful_imported=up, harmful_imported=down, pinned=pinned, state=state
        ),
        st.integers(0, 99_999), st.sampled_from("ab"), st.integers(1, 300), st.integers(0, 9), st.integers(0, 9),
        st.booleans(), st.sampled_from(["active", "active", "deprecated"]),
    ),
    max_size=12,
    unique_by=lambda b: b.id,
)  # fmt: skip


def book(bullets: list[Bullet]) -> Playbook:
    """Return a playbook of the bullets, those of section a first."""
    return Playbook(Book(), SECTIONS, tuple(sorted(bullets, key=lambda b: b.section)))


def spent(playbook: Playbook, ids: tuple[str, ...]) -> int:
    """Return what some bullets cost with the headings above them."""
    inside = [b for b in playbook.bullets if b.id in ids]
    used = {b.section for b in inside}
    return sum(map(bullet_tokens, inside)) + sum(heading_tokens(s) for s in playbook.sections if s.id in used)


@given(BULLETS, st.integers(0, 700))
def test_nothing_costs_more_than_the_budget_and_nothing_is_lost(bullets: list[Bullet], budget: int) -> None:
    playbook = book(bullets)
    living = [b.id for b in playbook.bullets if b.state != "deprecated"]
    for fitting in (in_order(playbook, budget), by_value(playbook, budget)):
        assert fitting.tokens == spent(playbook, fitting.inside) <= budget
        assert sorted((*fitting.inside, *fitting.outside)) == sorted(living)
        assert [id for id in living if id in fitting.inside] == list(fitting.inside)


@pytest.mark.slow
@given(BULLETS, st.integers(0, 700))
def test_the_cut_parts_the_file_in_two(bullets: list[Bullet], budget: int) -> None:
    playbook = book(bullets)
    fitting = in_order(playbook, budget)
    living = [b.id for b in playbook.bullets if b.state != "deprecated"]
    assert tuple(living) == (*fitting.inside, *fitting.outside)


@pytest.mark.slow
@given(BULLETS, st.integers(0, 700))
def test_what_is_left_out_by_value_would_not_fit_or_is_worth_less(bullets: list[Bullet], budget: int) -> None:
    playbook = book(bullets)
    fitting = by_value(playbook, budget)
    every = {b.id: b for b in playbook.bullets}
    for id in fitting.outside:
        better = [every[i] for i in fitting.inside if _rank(every[i]) <= _rank(every[id])]
        assert spent(playbook, (*(b.id for b in better), id)) > budget


def _rank(bullet: Bullet) -> tuple[bool, float]:
    return not bullet.pinned, -worth(bullet) / bullet_tokens(bullet)


def test_votes_make_worth() -> None:
    def of(up: int, down: int) -> float:
        return worth(Bullet("x", "a", "t", helpful_imported=up, harmful_imported=down))

    assert of(0, 0) == 0.5
    assert of(9, 0) > of(1, 0) > of(0, 0) > of(0, 1) > of(0, 9)


def test_the_parts_and_the_file() -> None:
    playbook = book([Bullet("x-00001", "a", "w" * 40), Bullet("x-00002", "b", "w" * 8, state="deprecated")])
    found = costs(playbook, 400)
    assert found.total == 100
    assert (
        found.bullets["x-00001"]
        == bullet_tokens(playbook.bullets[0])
        == -(-(len("[x-00001] helpful=0 harmful=0 :: ") + 41) // 4)
    )
    assert found.sections == {
        "a": heading_tokens(SECTIONS[0]) + found.bullets["x-00001"],
        "b": heading_tokens(SECTIONS[1]),
    }
