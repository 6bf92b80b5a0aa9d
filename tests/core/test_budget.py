"""What fits a budget: the costs of the parts, the order, and the cut."""

from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from workbench.core.playbook.book import Book, Bullet, Playbook, Section
from workbench.core.playbook.budget import (
    Standing,
    bullet_tokens,
    costs,
    fill,
    fit,
    heading_tokens,
    ranked,
    standing,
)
from workbench.core.tokens import tokens_of

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
    return sum(map(bullet_tokens, inside)) + sum(
        heading_tokens(s) for s in playbook.sections if s.id in used
    )


@given(BULLETS, st.integers(0, 700))
def test_nothing_costs_more_than_the_budget_and_nothing_is_lost(
    bullets: list[Bullet], budget: int
) -> None:
    playbook = book(bullets)
    living = [b.id for b in playbook.bullets if b.state != "deprecated"]
    fitting = fit(playbook, budget)
    assert fitting.tokens == spent(playbook, fitting.inside) <= budget
    assert sorted((*fitting.inside, *fitting.outside)) == sorted(living)
    assert [id for id in living if id in fitting.inside] == list(fitting.inside)


@given(BULLETS)
def test_the_whole_costs_what_lets_everything_in(bullets: list[Bullet]) -> None:
    playbook = book(bullets)
    total = costs(playbook).total
    assert not fit(playbook, total).outside
    assert total == fit(playbook, 1 << 40).tokens == spent(playbook, fit(playbook, total).inside)


@given(BULLETS, st.integers(0, 700))
def test_what_is_left_out_does_not_fit_beside_what_comes_before_it(
    bullets: list[Bullet], budget: int
) -> None:
    playbook = book(bullets)
    fitting = fit(playbook, budget)
    every = {b.id: b for b in playbook.bullets}
    for bullet in fitting.left_out:
        if standing(bullet) != "net harmful":
            assert spent(playbook, (*fitting.inside, bullet.id)) > budget
        elif spent(playbook, (*fitting.inside, bullet.id)) <= budget:
            assert any(standing(every[id]) != "net harmful" for id in fitting.outside)


def a(name: int, up: int = 0, down: int = 0, text: str = "w" * 50, **more: object) -> Bullet:
    """Return a bullet with votes."""
    return Bullet(f"x-{name:05d}", "a", text, helpful_imported=up, harmful_imported=down, **more)  # type: ignore[arg-type]


def test_what_decides_when_a_bullets_turn_comes() -> None:
    votes = {(2, 0): "proven", (5, 4): "proven", (1, 0): "untried", (3, 3): "untried", (0, 0): "untried",
             (0, 1): "net harmful", (1, 3): "net harmful"}  # fmt: skip
    assert {pair: standing(a(1, *pair)) for pair in votes} == votes
    assert standing(a(1, 0, 9, pinned=True)) == "pinned"


def test_pinned_come_first_then_proven_then_untried_and_net_harmful_last() -> None:
    day = datetime(2026, 11, 1, tzinfo=UTC)
    order = [
        a(1, 0, 2, pinned=True), a(2, 10, 0), a(3, 9, 0), a(4, 2, 0), a(5, 5, 4), a(6, created_at=day + timedelta(1)),
        a(7, created_at=day), a(9), a(8), a(10, 0, 1), a(11, 1, 3),
    ]  # fmt: skip
    assert [b.id for b in ranked(reversed(order))] == [b.id for b in order]


def test_of_proven_ones_that_are_equally_good_the_shorter_comes_first() -> None:
    long, short = a(1, 100, 0, "w" * 400), a(2, 98, 0, "w" * 40)
    assert ranked([long, short]) == [short, long]


def test_an_important_rule_stays_however_long_it_is_and_an_unused_one_goes() -> None:
    rule = a(1, 10, 0, "Never write to the production database from a script. " * 3)
    bullets = [rule, *(a(n) for n in range(2, 30))]
    fitting = fit(book(bullets), 3 * bullet_tokens(rule))
    assert rule.id in fitting.inside
    assert len(fitting.inside) < len(bullets)
    assert fitting.share == f"{len(fitting.inside)} of 29"
    assert fitting.went == f"{len(fitting.outside)} untried"


def test_a_net_harmful_one_is_below_an_untried_one_even_where_only_it_would_fit() -> None:
    untried, harmful = a(1, text="w" * 400), a(2, 1, 3, "w")
    assert fit(book([harmful, untried]), 90).outside == (harmful.id, untried.id)
    assert fit(book([harmful, untried]), 105).outside == (harmful.id,)
    assert not fit(book([harmful, untried]), 140).outside


def test_a_tenth_is_kept_for_untried_ones_where_there_are_any() -> None:
    def counted(untried: int, size: int) -> tuple[int, int]:
        """Return how many of 30 proven ones and of some untried ones fit 200 tokens."""
        every: list[tuple[Standing, int, str]] = [("proven", 10, "")] * 30
        inside, _ = fill([*every, *[("untried", size, "")] * untried], 200)  # type: ignore[list-item]
        return sum(place < 30 for place in inside), sum(place >= 30 for place in inside)

    assert counted(5, 10) == (18, 2)
    assert counted(1, 10) == (19, 1)
    assert counted(1, 50) == (20, 0), "it does not fit, and nothing is wasted"
    assert counted(0, 10) == (20, 0)


def test_the_parts_and_the_whole() -> None:
    playbook = book(
        [Bullet("x-00001", "a", "w" * 40), Bullet("x-00002", "b", "w" * 8, state="deprecated")]
    )
    found = costs(playbook)
    assert found.bullets["x-00001"] == tokens_of(
        "[x-00001] helpful=0 harmful=0 :: " + 40 * "w" + "\n"
    )
    assert found.sections == {
        "a": heading_tokens(SECTIONS[0]) + found.bullets["x-00001"],
        "b": heading_tokens(SECTIONS[1]),
    }
    assert found.total == found.sections["a"]
