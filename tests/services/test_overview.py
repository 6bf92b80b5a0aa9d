"""Counts, the one-line status, and what arrived since the last look."""

from dataclasses import replace

from tests.demo import JUDGMENTS, MEMORIES, QUERIES
from tests.services.conftest import Clock, Open
from workbench.services.open import Workbench
from workbench.services.stream.observation import Observation


def test_stats_count_every_kind(demo: Workbench) -> None:
    stats = demo.overview.stats()
    assert stats.memories == MEMORIES
    assert stats.bullets == 43
    assert stats.books == 1
    assert stats.queries == QUERIES
    assert stats.judgments == JUDGMENTS
    assert sum(stats.by_status.values()) == sum(stats.by_type.values()) == MEMORIES
    assert stats.pending == stats.by_status["candidate"] == 14
    demo.stream.vote(["mem-20260206-0000001"], "helpful")
    demo.review.later([demo.review.queue()[0].id])
    after = demo.overview.stats()
    assert after.votes == stats.votes + 1
    assert after.pending == 13
    assert after.revision == stats.revision + 2


def test_the_status_line_names_why_a_reflection_is_due(bench: Workbench, clock: Clock) -> None:
    assert bench.overview.status(None).line == "0 pending · 0 unseen"
    bench.ingest.add(Observation("The first thing"))
    assert bench.overview.status(None).line == "0 pending · 1 unseen"
    clock.advance(hours=25)
    assert (
        bench.overview.status(bench.library.journal.rev).line
        == "0 pending · reflection due (hours) · 0 unseen"
    )


def test_what_others_added_is_new_and_what_the_person_did_is_not(
    demo: Workbench, open_bench: Open
) -> None:
    rev = demo.library.journal.rev
    agent = open_bench("agent:claude")
    arrived = agent.ingest.add(Observation("An agent met something unheard of")).memory.id
    demo.ingest.add(Observation("The person wrote something down"))
    agent.stream.edit("mem-20260206-0000001", "edited, not new")
    demo.library.journal.refresh()
    since = demo.overview.since(rev)
    assert since.arrived == (arrived,)
    assert since.read == ()
    assert since.pending == 14
    assert since.sentence == "Since your last visit: 1 new · 14 to review"
    assert demo.overview.since(demo.library.journal.rev).sentence == ""


def test_reads_by_agents_are_told(demo: Workbench) -> None:
    rev = demo.library.journal.rev
    memory = demo.stream.get("mem-20260206-0000001")
    with demo.library.transaction("agent:claude", "served", kind="access") as tx:
        tx.put(replace(memory, access_count=memory.access_count + 1))
    since = demo.overview.since(rev)
    assert since.arrived == ()
    assert since.read == ("mem-20260206-0000001",)
    assert since.sentence == "Since your last visit: 1 read by agents · 14 to review"
