"""What citations mean after merges, and the tree down to raw events."""

from tests.services.conftest import NOON, memory, put
from workbench.core.stream.memory import Memory
from workbench.services.open import Workbench
from workbench.services.review.queue import GONE, MAX_CITED, NO_EVIDENCE, Citations


def candidate(id: str, *citations: str) -> Memory:
    return memory(
        id, f"insight {id}", NOON, status="candidate", is_synthetic=True, citations=citations
    )


def reflection(id: str, *citations: str) -> Memory:
    return memory(
        id, f"reflection {id}", NOON, status="confirmed", is_synthetic=True, citations=citations
    )


def flags(bench: Workbench, id: str) -> tuple[str, ...]:
    return next(p.flags for p in bench.review.queue() if p.id == id)


def test_a_merged_memory_means_what_it_became_and_undo_parts_them(bench: Workbench) -> None:
    put(bench, memory("a", "one"), memory("b", "two"), memory("c", "three"), candidate("x", "a"))
    bench.review.queue()
    put(bench, candidate("m1"))
    bench.review.merge_into("m1", "b")
    citations = Citations(bench.library)
    (cited,) = citations.cited(["m1"])
    assert cited.merged is True
    assert (cited.memory and cited.memory.id) == "b"
    assert cited.gone == ""
    bench.history.undo()
    (cited,) = citations.cited(["m1"])
    assert cited.merged is False
    assert (cited.memory and cited.memory.id) == "m1"


def test_a_citation_that_was_merged_away_is_no_lost_evidence_until_its_heir_goes(
    bench: Workbench,
) -> None:
    put(bench, memory("b", "two"), candidate("m1"), candidate("x", "m1"))
    bench.review.merge_into("m1", "b")
    assert flags(bench, "x") == ()
    bench.stream.forget(["b"])
    assert flags(bench, "x") == (GONE,)
    bench.history.undo()
    assert flags(bench, "x") == ()


def test_an_id_that_only_lives_on_as_an_alias_is_found_also_when_it_comes_later(
    bench: Workbench,
) -> None:
    put(bench, candidate("x", "old"))
    assert flags(bench, "x") == (NO_EVIDENCE, GONE)
    put(bench, memory("heir", "says it all", aliases=("old",)))
    (cited,) = bench.review.cited(bench.review.get("x"))
    assert (cited.memory and cited.memory.id) == "heir"
    assert cited.merged is True


def test_the_tree_goes_down_to_raw_events_and_a_circle_ends(bench: Workbench) -> None:
    put(
        bench,
        memory("raw", "an event"),
        reflection("r1", "raw", "r2"),
        reflection("r2", "raw", "r1", "x"),
        candidate("x", "r1", "nowhere"),
    )
    found = bench.review.known(bench.review.get("x")).tree
    assert [(b.cited.id, b.depth, b.again) for b in found] == [
        ("r1", 0, False),
        ("raw", 1, False),
        ("r2", 1, False),
        ("raw", 2, True),
        ("r1", 2, True),
        ("x", 2, True),
        ("nowhere", 0, False),
    ]
    assert found[-1].cited.gone == "not in this store"


def test_a_tree_is_never_endless(bench: Workbench) -> None:
    put(bench, *(reflection(f"r{n}", f"r{n + 1}") for n in range(40)), candidate("x", "r0"))
    depths = [b.depth for b in bench.review.known(bench.review.get("x")).tree]
    assert depths == list(range(8))
    many = tuple(f"gone-{n}" for n in range(500))
    put(bench, candidate("y", *many))
    assert len(bench.review.known(bench.review.get("y")).tree) == MAX_CITED


def test_merges_that_point_at_each_other_mean_nothing(bench: Workbench) -> None:
    for id, into in (("a", "b"), ("b", "a")):
        notes = {"merged_into": into}
        put(bench, memory(id, id, status="archived", archived_reason="merged", metadata=notes))
    (cited,) = Citations(bench.library).cited(["a"])
    assert cited.gone
