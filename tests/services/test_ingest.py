"""Taking in observations: what is new, what is said already, what is counted, what waits as a
merge.
"""

import pytest

from tests.services.conftest import NOON, Clock, Open, memory, put
from tests.services.ingested import RULE, WORDS, fill_up
from workbench.core.limits import BUNDLED
from workbench.core.record import InvalidRecord
from workbench.core.stream.memory import Source
from workbench.services.duplicates.plan import flags_of
from workbench.services.open import Workbench
from workbench.services.stream.observation import Observation


def test_an_observation_becomes_a_memory(bench: Workbench) -> None:
    seen = Observation(
        "Critical: tests failed",
        "error",
        "semantic",
        "s1",
        ("ci",),
        Source("PostToolUse", 3, "a.py"),
    )
    done = bench.ingest.add(seen)
    stored = bench.stream.get("mem-20261121-0000001")
    assert done.outcome == "created"
    assert done.memory == stored
    assert stored.content == "Critical: tests failed"
    assert stored.importance_score == 10.0
    assert stored.memory_type == "semantic"
    assert stored.session_id == "s1"
    assert stored.tags == ("ci",)
    assert stored.source == Source("PostToolUse", 3, "a.py")
    assert stored.helpful_created == 1
    assert stored.helpful_count == 1
    assert stored.created_at == NOON


def test_what_one_of_the_last_ten_says_is_skipped(bench: Workbench) -> None:
    first = bench.ingest.add(Observation(RULE)).memory
    rev = bench.library.journal.rev
    done = bench.ingest.add(Observation("lock_timeout 3s before every deploy"))
    assert done.outcome == "skipped"
    assert done.memory == first
    assert bench.library.journal.rev == rev
    fill_up(bench)
    assert bench.ingest.add(Observation("lock_timeout 3s before every deploy")).outcome != "skipped"


def test_a_sure_duplicate_is_counted_where_it_stands_with_its_text(
    bench: Workbench, clock: Clock
) -> None:
    first = bench.ingest.add(Observation(RULE)).memory
    fill_up(bench)
    clock.advance(hours=2)
    done = bench.ingest.add(Observation(RULE + ".", session_id="s9"))
    assert done.outcome == "absorbed"
    assert done.memory.id == first.id
    stored = bench.stream.get(first.id)
    assert stored.content == RULE
    assert stored.helpful_absorbed == 1
    assert stored.helpful_count == 2
    absorbed = stored.metadata["absorbed"]
    assert isinstance(absorbed, list)
    (note,) = absorbed
    assert note["text"] == RULE + "."
    assert note["session"] == "s9"
    assert note["at"] == "2026-11-21T14:00:00Z"
    assert note["similarity"] == pytest.approx(1, abs=0.02)
    assert len(bench.library.proposals) == 0


def test_an_archived_or_other_kind_of_memory_absorbs_nothing(bench: Workbench) -> None:
    bench.ingest.add(Observation(RULE, memory_type="semantic"))
    forgotten = bench.ingest.add(Observation(WORDS[0] + " " + RULE)).memory
    bench.stream.forget([forgotten.id])
    fill_up(bench)
    assert bench.ingest.add(Observation(RULE + "!")).outcome == "created"


def test_what_is_said_in_other_words_waits_as_the_merge_that_dedup_would_propose(
    bench: Workbench,
) -> None:
    first = bench.ingest.add(Observation("Use pnpm for installs in this repository")).memory
    fill_up(bench)
    done = bench.ingest.add(Observation("Use pnpm for installing things in this repository"))
    assert done.outcome == "proposed"
    assert done.other == first
    (waiting,) = bench.review.queue()
    assert waiting.kind == "merge"
    assert waiting.evidence == (done.memory.id, first.id)
    assert waiting.flags == done.verdict.reasons_against if done.verdict else False
    assert waiting.similarity is not None
    assert waiting.similarity >= BUNDLED.flag
    bench.history.undo()
    put(bench, done.memory)
    (group,) = bench.deduplication.plan().groups
    assert group.name == waiting.id
    assert flags_of(group) == waiting.flags


@pytest.mark.parametrize("trusted", [False, True])
def test_an_opposite_is_no_duplicate_and_doubts_what_is_trusted(
    bench: Workbench, clock: Clock, trusted: bool
) -> None:
    old = "always use pnpm, never npm, in the web folder"
    new = "always use npm, never pnpm, in the web folder"
    put(bench, memory("first", old, status="confirmed" if trusted else "signal"))
    fill_up(bench)
    clock.advance(hours=1)
    done = bench.ingest.add(Observation(new))
    first = bench.stream.get("first")
    assert done.outcome == ("contradicts" if trusted else "created")
    assert done.other == first
    assert done.verdict is not None
    assert done.verdict.conflicts
    waiting = [(p.kind, p.evidence, p.flags) for p in bench.review.queue()]
    asked = [("reconfirm", ("first", done.memory.id), ("contradicted",))]
    assert waiting == (asked if trusted else [])
    again = bench.upkeep.carry_out()
    assert again.of("reconfirm") == ()
    assert again.withdrawn == ()


def test_many_at_once_are_compared_with_the_store_and_with_each_other(bench: Workbench) -> None:
    first = bench.ingest.add(Observation(RULE)).memory
    fill_up(bench)
    rev = bench.library.journal.rev
    filler = [Observation(f"A note about {word} and nothing else") for word in WORDS]
    new = "The nightly backup of the billing database is copied to the second region"
    done = bench.ingest.add_many(
        [Observation(RULE + "."), Observation(new), Observation("copied to the second region"), *filler,
         Observation(new + "!"), Observation(new.replace("second", "third"))]
    )  # fmt: skip
    assert [one.outcome for one in done] == [
        "absorbed",
        "created",
        "skipped",
        *["created"] * 12,
        "absorbed",
        "created",
    ]
    assert bench.stream.get(first.id).helpful_absorbed == 1
    assert done[-2].memory.id == done[1].memory.id
    assert bench.stream.get(done[1].memory.id).helpful_absorbed == 1
    other = done[-1].other
    assert other is not None
    assert other.id == done[1].memory.id
    assert other.helpful_absorbed == 1
    assert bench.library.journal.rev == rev + 1
    assert bench.overview.gauge().conditions[1].value == 1 + 14
    assert bench.history.undo() == f"ingest {len(done)} observations"
    assert bench.stream.get(first.id).helpful_absorbed == 0


def test_one_bad_text_among_many_and_nothing_is_written(bench: Workbench) -> None:
    with pytest.raises(InvalidRecord):
        bench.ingest.add_many([Observation("good"), Observation(" ")])
    assert bench.library.journal.rev == 0
    assert bench.ingest.add_many([]) == []


def test_an_older_observation_of_another_can_be_taken_back(bench: Workbench) -> None:
    for word in WORDS[:3]:
        bench.ingest.add(Observation(f"Something about {word}", "decision"))
    bench.history.undo_revision(1)
    bench.history.undo_revision(2)
    importance, observations, _ = bench.overview.gauge().conditions
    assert importance.value == 8.0
    assert observations.value == 1
    assert len(bench.library.memories) == 1


def test_text_that_cannot_be_stored_is_cleaned(bench: Workbench) -> None:
    done = bench.ingest.add(Observation("  nul \x00 half \udc00 end \n"))
    assert done.memory.content == "nul \ufffd half \ufffd end"


def test_what_is_said_of_somebody_else_is_neither_skipped_nor_counted(bench: Workbench) -> None:
    put(bench, memory("ann", RULE, NOON, user_id="ann", source=Source(file="ann.md")))
    done = bench.ingest.add(Observation(RULE))
    assert done.outcome == "created"
    assert done.other is None
    fill_up(bench)
    assert bench.ingest.add(Observation(RULE)).memory.id == done.memory.id
    assert bench.stream.get("ann").helpful_absorbed == 0


def test_an_agent_that_repeats_itself_is_no_second_source(
    bench: Workbench, open_bench: Open
) -> None:
    claude, codex = open_bench("agent:claude"), open_bench("agent:codex")
    made = claude.ingest.add(Observation(RULE, "convention")).memory
    fill_up(bench)
    claude.library.refresh()
    again = claude.ingest.add(Observation(f"{RULE}.", "convention"))
    assert again.outcome == "absorbed"
    assert again.memory.id == made.id
    assert again.memory.helpful_absorbed == 0
    codex.library.refresh()
    other = codex.ingest.add(Observation(f"{RULE}!", "convention"))
    assert other.outcome == "absorbed"
    assert other.memory.helpful_absorbed == 1
