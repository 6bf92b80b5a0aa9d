"""Reading citations of memories that were numbered from 1."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.reflect.samples import memory
from workbench.reflect.replies import Cited, read_citations

MEMORIES = tuple(memory(n, f"text {n}") for n in range(1, 11))


def ids(*numbers: int) -> tuple[str, ...]:
    return tuple(MEMORIES[n - 1].id for n in numbers)


@pytest.mark.parametrize(
    ("written", "numbers"),
    [
        ("(because of 1, 5, 3)", (1, 5, 3)),
        ("(because of 1, 5 and 3).", (1, 5, 3)),
        ("(Because of: 1; 5)", (1, 5)),
        ("(because of memories 1, 5)", (1, 5)),
        ("(because of #1 & #2)", (1, 2)),
        ("(because of [1], [5])", (1, 5)),
        ("[because of 1, 5]", (1, 5)),
        ("(based on 2-4)", (2, 3, 4)),
        ("(because of 4–2, 2)", (2, 3, 4)),
        ("(records 2 to 4)", (2, 3, 4)),
        ("(evidence: 7)", (7,)),
        ("[1, 5]", (1, 5)),
        ("[1][5].", (1, 5)),
        ("[2-3]", (2, 3)),
        ("(1, 5)", (1, 5)),
        ("because of 1, 5.", (1, 5)),
        ("— because of records 1 and 2", (1, 2)),
    ],
)
def test_the_ways_to_cite(written: str, numbers: tuple[int, ...]) -> None:
    cited = read_citations(f"Use f(x) and list[3] {written}", MEMORIES)
    assert (cited.ids, cited.unresolved) == (ids(*numbers), ())
    assert cited.text.rstrip(".") == "Use f(x) and list[3]"


def test_a_memory_can_be_cited_by_its_id() -> None:
    assert read_citations(f"x (because of {MEMORIES[6].id} and 2)", MEMORIES).ids == ids(7, 2)


@pytest.mark.parametrize(
    ("text", "numbers", "unresolved"),
    [
        ("x (because of 2, 40)", (2,), ("40",)),
        ("x (because of 0)", (), ("0",)),
        ("x (because of 9-30)", (9, 10), ("9-30",)),
        ("x (because of 1-99999999999999999999)", tuple(range(1, 11)), ("1-99999999999999999999",)),
        ("x [99]", (), ("99",)),
        ("x (because of 3 and the docs)", (3,), ("the docs",)),
    ],
)
def test_what_names_no_memory_is_told(
    text: str, numbers: tuple[int, ...], unresolved: tuple[str, ...]
) -> None:
    assert read_citations(text, MEMORIES) == Cited("x", ids(*numbers), unresolved)


@pytest.mark.parametrize(
    "text",
    [
        "The release of spring (2019)",
        "It failed (because of the outage) twice",
        "Prefer list[1]",
        "See the docs (see issue 12)",
        "Nothing is cited",
        "",
    ],
)
def test_other_brackets_stay_in_the_text(text: str) -> None:
    assert read_citations(text, MEMORIES) == Cited(text)


def test_citations_in_the_middle_are_taken_out() -> None:
    cited = read_citations("Use pnpm (because of 2), not npm (because of 4).", MEMORIES)
    assert cited == Cited("Use pnpm, not npm.", ids(2, 4))


def test_long_nonsense_cites_nothing_that_is_not_there() -> None:
    for text in (
        "(" * 20_000,
        ", " * 20_000 + "x",
        "(because of " * 4_000,
        "[" + "1," * 20_000,
        "1 and " * 8_000,
    ):
        assert set(read_citations(text, MEMORIES).ids) <= {memory.id for memory in MEMORIES}


@given(st.text(alphabet="ab ()[]1290,-and#;because of"))
def test_ids_are_always_ids_of_the_memories(text: str) -> None:
    cited = read_citations(text, MEMORIES)
    assert set(cited.ids) <= {m.id for m in MEMORIES}
    assert len(set(cited.ids)) == len(cited.ids)


@given(st.lists(st.integers(-3, 20).filter(lambda n: n >= 0), min_size=1, max_size=8))
def test_every_number_is_resolved_or_told(numbers: list[int]) -> None:
    cited = read_citations(f"x (because of {', '.join(map(str, numbers))})", MEMORIES)
    assert set(cited.ids) == set(ids(*[n for n in numbers if 1 <= n <= 10]))
    assert set(cited.unresolved) == {str(n) for n in numbers if not 1 <= n <= 10}
