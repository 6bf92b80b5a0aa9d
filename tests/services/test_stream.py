"""The stream: what a filter shows and in which order, and what a person does with one memory or
several.
"""

from collections.abc import Callable
from datetime import timedelta

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.services.conftest import NOON, Clock, Open, memory, put, write
from workbench.core.record import InvalidQuery, UnknownRecord, WorkbenchError
from workbench.core.stream.filter import parse_filter
from workbench.core.stream.memory import Source
from workbench.retrieval.fulltext import fuzzy
from workbench.services.open import Workbench
from workbench.services.stream import memory_lines, stream
from workbench.services.stream.memory_lines import searched

HOUR = timedelta(hours=1)


@pytest.fixture
def three(bench: Workbench) -> Workbench:
    put(
        bench,
        memory(
            "a",
            "The deploy failed at noon",
            NOON - 3 * HOUR,
            observation_type="error",
            session_id="s1",
        ),
        memory(
            "b",
            "Use pnpm in web",
            NOON - 2 * HOUR,
            summary="pnpm only",
            tags=("web",),
            session_id="s1",
        ),
        memory(
            "c", "Old news about deploys", NOON - HOUR, status="archived", archived_reason="done"
        ),
    )
    return bench


@pytest.fixture
def large(open_bench: Open) -> Callable[[], Workbench]:
    """Open a store that is large enough to have a read index, each time anew."""
    bench = open_bench()
    put(
        bench,
        *(memory(f"m{n}", f"number {n} {'and so on ' * 400}", NOON - n * HOUR) for n in range(300)),
    )
    bench.close()
    open_bench().keep_caches()
    return open_bench


def ids(bench: Workbench, text: str = "") -> list[str]:
    return [m.id for m in bench.stream.view(text).memories]


def test_the_newest_come_first_and_archived_ones_only_when_asked_for(three: Workbench) -> None:
    assert ids(three) == ["b", "a"]
    assert ids(three, "status:any") == ["c", "b", "a"]
    assert ids(three, "status:archived") == ["c"]
    assert three.stream.view("").total == 3


def test_words_forgive_a_typo_and_say_what_matched(three: Workbench) -> None:
    view = three.stream.view("deplyo")
    assert [m.id for m in view.memories] == ["a"]
    assert view.spans(view.memories[0]) == ((4, 10),)
    assert three.stream.view("type:error").spans(view.memories[0]) == ()


def test_a_view_follows_changes(three: Workbench) -> None:
    for text in ("", "type:error", "deploy"):
        view = three.stream.view(text)
        three.stream.edit("a", f"The deploy passed {text}")
        put(three, memory(f"new{text}", "fresh deploy", NOON - 2.5 * HOUR))
        updated = three.stream.updated(view, ["a", f"new{text}"], text)
        assert updated == three.stream.view(text)


def test_a_memory_is_found_by_an_id_it_was_merged_from(bench: Workbench) -> None:
    put(bench, memory("new", "text", aliases=("old",)))
    assert bench.stream.get("old").id == "new"
    with pytest.raises(UnknownRecord, match="no memory other"):
        bench.stream.get("other")


def test_a_second_equal_vote_on_one_takes_it_back(three: Workbench) -> None:
    assert three.stream.vote(["a"], "helpful").vote is not None
    assert three.stream.live_vote("a") == "helpful"
    result = three.stream.vote(["a"], "helpful")
    assert result.vote is None
    assert result.told() == "Took back your vote on a."
    assert three.stream.live_vote("a") == ""
    assert three.stream.get("a").helpful_votes == 0


def test_a_vote_on_several_sets_them_all_in_one_step(three: Workbench) -> None:
    three.stream.vote(["a"], "helpful")
    rev = three.library.journal.rev
    three.stream.vote(["a", "b"], "helpful")
    assert three.library.journal.rev == rev + 1
    assert [three.stream.get(id).helpful_votes for id in "ab"] == [1, 1]


def test_pinning_several_gives_them_all_the_first_ones_new_state(three: Workbench) -> None:
    three.stream.pin(["b"])
    assert three.stream.pin(["a", "b"]) is True
    assert [three.stream.get(id).pinned for id in "ab"] == [True, True]
    assert three.stream.pin(["a", "b"]) is False


def test_editing_keeps_the_summary_that_was_written_and_drops_the_one_that_was_cut(
    bench: Workbench,
) -> None:
    put(
        bench,
        memory("a", "A long text indeed", summary="A long…"),
        memory("b", "Some text", summary="Written"),
    )
    assert bench.stream.edit("a", "Another text\n")
    assert bench.stream.get("a").content == "Another text"
    assert bench.stream.get("a").summary == ""
    bench.stream.edit("b", "Other")
    assert bench.stream.get("b").summary == "Written"


def test_the_signals_among_memories_are_confirmed_in_one_step(
    bench: Workbench, clock: Clock
) -> None:
    fields = {"s1": "signal", "s2": "signal", "waits": "candidate", "known": "confirmed"}
    put(bench, *(memory(id, f"note {id}", status=status) for id, status in fields.items()))
    assert bench.stream.confirm(list(fields)) == ["s1", "s2"]
    assert [bench.stream.get(id).status for id in fields] == [
        "confirmed",
        "confirmed",
        "candidate",
        "confirmed",
    ]
    assert bench.stream.get("s1").review_after == NOON + timedelta(days=90)
    assert bench.history.undo() == "confirm 2 memories"
    assert [bench.stream.get(id).status for id in fields] == list(fields.values())
    with pytest.raises(WorkbenchError, match="Only a signal is confirmed here; waits: candidate"):
        bench.stream.confirm(["waits", "known"])


def test_forgetting_archives_and_restoring_brings_back(three: Workbench) -> None:
    put(three, memory("d", "confirmed", status="confirmed"))
    three.stream.forget(["a", "d"])
    assert three.stream.get("a").status == "archived"
    assert three.stream.get("a").archived_reason == "forgotten"
    assert ids(three) == ["b"]
    three.stream.restore(["a", "d"])
    assert [three.stream.get(id).status for id in "ad"] == ["signal", "confirmed"]


def test_citations_are_followed_both_ways(three: Workbench) -> None:
    put(three, memory("r", "So deploys fail", is_synthetic=True, citations=("a", "gone")))
    (reflection,) = three.stream.cited_by("a")
    assert reflection.id == "r"
    assert [(id, m and m.id) for id, m in three.stream.cited(reflection)] == [
        ("a", "a"),
        ("gone", None),
    ]
    three.stream.forget(["r"])
    assert [m.status for m in three.stream.cited_by("a")] == ["archived"]


def test_the_timeline_is_the_session_around_a_memory(bench: Workbench, clock: Clock) -> None:
    put(bench, *(memory(f"m{i}", f"step {i}", NOON + i * HOUR, session_id="s") for i in range(9)))
    put(bench, memory("lone", "no session"), memory("x", "other session", session_id="t"))
    assert [m.id for m in bench.stream.timeline("m4", around=2)] == ["m2", "m3", "m4", "m5", "m6"]
    assert [m.id for m in bench.stream.timeline("m0", around=2)] == ["m0", "m1", "m2"]
    assert [m.id for m in bench.stream.timeline("lone")] == ["lone"]


def plainly(bench: Workbench, text: str) -> list[str]:
    """What a filter finds, worked out from nothing: without what is kept from one key to the next."""
    chosen = parse_filter(text, bench.context.now())
    passes = chosen.predicate()
    kept = [
        m
        for m in sorted(bench.library.memories.all(), key=stream.newest, reverse=True)
        if passes(m)
    ]
    if not chosen.words:
        return [m.id for m in kept]
    query = " ".join(chosen.words)
    scores = fuzzy.FuzzyLines([searched(m) for m in kept]).scores(query)[0].tolist()
    shown = [any(at < len(m.line) for at, _ in fuzzy.spans_in(searched(m), query)) for m in kept]
    found = [at for at, score in enumerate(scores) if score]
    return [kept[at].id for at in sorted(found, key=lambda at: (-scores[at], not shown[at], at))]


TEXTS = (
    "deploy fails",
    "the deploy",
    "pnpm in web",
    "deplyo by night",
    "use pnpm\nand  deploy",
    "Straße ﬁnal",
)
FIELDS: dict[str, tuple[object, ...]] = {
    "observation_type": ("error", "general"),
    "status": ("signal", "archived"),
    "tags": ((), ("Web",), ("web", "night shift")),
    "session_id": ("", "s1"),
    "source": (Source(), Source("Stop", 1, "a/b.md", "Ann")),
    "importance_score": (5.0, 9.0),
    "pinned": (False, True),
}
FILTERS = (
    "",
    "deploy",
    "pnpm use",
    "depl",
    "deplyo",
    "type:error",
    "type:error deploy",
    '"the deploy"',
    "-pnpm e",
    "d",
    "status:any",
    "-status:archived type:error,general",
    "tag:web -tag:night*",
    "session:s1 d",
    "speaker:ann",
    "source:stop",
    "source:b.md",
    "importance:>7",
    "pinned:yes",
    "memory:episodic",
    "section:none",
    "confidence:>0",
    "-is:voted",
    "id:m1,m2",
    "since:2026-11-21T10:00",
    "-since:2026-11-21T10:00 until:2026-11-21T11:30",
    '"and deploy"',
    '"strasse"',
    '"final" -web',
    '-"the deploy" status:any',
)


@pytest.mark.slow
@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(data=st.data())
def test_filters_find_the_same_whatever_was_asked_and_changed_before(
    open_bench: Open,
    tmp_path_factory: pytest.TempPathFactory,
    monkeypatch: pytest.MonkeyPatch,
    data: st.DataObject,
) -> None:
    monkeypatch.setattr(memory_lines, "_PART", 2)
    monkeypatch.setattr(stream, "_MANY", 4)
    bench = open_bench(folder=tmp_path_factory.mktemp("stream") / "store")
    for _ in range(data.draw(st.integers(1, 12))):
        some = data.draw(st.lists(st.integers(0, 7), min_size=1, max_size=6, unique=True))
        if data.draw(st.booleans()):
            text, hours = data.draw(st.sampled_from(TEXTS)), data.draw(st.integers(0, 3))
            fields = data.draw(
                st.fixed_dictionaries({name: st.sampled_from(of) for name, of in FIELDS.items()})
            )
            made = [memory(f"m{n}", text, NOON - hours * HOUR, **fields) for n in some]
            put(bench, *made)
        else:
            with bench.library.transaction("test", "remove") as tx:
                for one in bench.library.memories.among(f"m{n}" for n in some):
                    tx.delete(one)
        if data.draw(st.booleans()):
            bench.stream.prepare(words=data.draw(st.booleans()))
        asked = data.draw(st.sampled_from(FILTERS))
        assert ids(bench, asked) == plainly(bench, asked)


def test_a_large_store_that_is_being_read_shows_its_newest_and_says_so(
    three: Workbench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stream, "SMALL", 1)
    monkeypatch.setattr(stream, "FIRST", 1)
    first = three.stream.view_at_once("deploy")
    assert first.memories == ()
    assert first.total == 3
    assert first.is_partial is True
    assert not three.stream.view_at_once("type:error").is_partial
    three.stream.prepare()
    view = three.stream.view_at_once("deploy")
    assert [m.id for m in view.memories] == ["a"]
    assert view.is_partial is False


@pytest.mark.slow
def test_a_large_store_lists_and_finds_all_of_it_from_its_index(
    large: Callable[[], Workbench],
) -> None:
    """The read index shows the newest at once, which is for a screen only: a command lists all
    there is.
    """
    bench = large()
    assert not bench.library.is_read
    assert bench.stream.view_at_once("").is_partial
    assert len(bench.stream.view_at_once("").memories) == stream.FIRST
    assert len(bench.stream.view("").memories) == 300
    assert len(large().stream.view("number 7").memories) >= 30


def test_memories_are_found_by_who_stored_them(three: Workbench) -> None:
    """By the journal, not by what a memory says of itself; also negated, in part, and after a
    change.
    """
    library = three.library
    with library.transaction("agent:Claude", "append") as tx:
        tx.put(memory("a1", content="by an agent"))
    with library.transaction("reflector:claude", "reflect") as tx:
        tx.put(memory("r1", content="concluded", source=Source(hook="Stop")))
    assert ids(three, "actor:agent") == ids(three, "actor:CLAUDE actor:agent:*") == ["a1"]
    assert ids(three, "actor:claude") == ["r1", "a1"]
    assert ids(three, "actor:reflection,agent") == ["r1", "a1"]
    with library.transaction("human", "write") as tx:
        tx.put(memory("p1", content="by a person"))
    assert ids(three, "actor:person") == ids(three, "actor:me actor:human") == ["p1"]
    assert set(ids(three, "-actor:agent,reflection")) == {"p1", "a", "b"}
    assert set(ids(three, "actor:unknown")) == {"a", "b"}
    three.stream.edit("a1", "by a person now")
    assert ids(three, "actor:agent") == []
    assert "a1" in ids(three, "actor:person")


def test_review_knows_who_stored_a_candidate_and_a_profile_may_not_ask(three: Workbench) -> None:
    write(three, memory("c1", content="maybe", status="candidate"), by="agent:claude")
    queue = three.review.queue()
    assert [p.id for p in three.review.matching(queue, "actor:claude")] == ["c1"]
    assert three.review.matching(queue, "actor:person") == ()
    with pytest.raises(InvalidQuery, match="cannot be used here"):
        parse_filter("actor:claude", NOON).predicate()
