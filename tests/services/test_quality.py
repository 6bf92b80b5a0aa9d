"""Whether memory gets better: each number of a past week is what a plain recount finds in the store
as it was then.
"""

from collections.abc import Callable
from datetime import UTC, timedelta
from pathlib import Path
from statistics import fmean, median

import pytest

from tests.services.conftest import Clock, Open, memory, put
from workbench.core.agents.read import AgentRead
from workbench.core.record import WorkStopped
from workbench.core.review.proposal import Proposal
from workbench.core.stream.memory import Vote
from workbench.core.tuning.measure import NDCG10
from workbench.services.health.quality import WEEK, Figure, Quality, Value, Weeks
from workbench.services.open import Workbench, open_workbench
from workbench.store.journal.engine import Options
from workbench.store.library import Library

WEEKS = 4
TEXTS = (
    "pnpm installs packages",
    "postgres runs in docker",
    "deploys need a review",
    "the clock is UTC",
)
Past = Callable[[int], Workbench]


@pytest.fixture
def past(tmp_path: Path, clock: Clock) -> Past:
    """Open the store as it was right after a revision."""

    def opened(rev: int) -> Workbench:
        folder = tmp_path / "store"
        return open_workbench(folder, profiles=tmp_path / "profiles", clock=clock, at=rev)

    return opened


def live(bench: Workbench, clock: Clock, *, weeks: int = WEEKS) -> list[int]:
    """Let weeks go by in which agents ask, and a person votes and decides; return the revision at
    the end of each.
    """
    ends = []
    for week in range(weeks):
        clock.advance(days=3)
        with bench.library.transaction("agent:claude", "observed") as tx:
            for n, text in enumerate(TEXTS):
                status = "candidate" if n % 2 else "signal"
                tx.put(memory(f"m{week}{n}", f"{text} {week}", clock.at, status=status))
        with bench.library.transaction("agent:claude", "read", kind="access") as tx:
            for n in range(12):
                empty = n > 4 + 2 * week
                served = () if empty else (f"m{week}0", f"m0{n % 4}")
                id, at = f"read-{week}-{n}", clock.at
                tx.put(AgentRead(id, "claude", at, "why", memories=served, is_empty=empty))
        clock.advance(days=2)
        bench.stream.vote([f"m{week}0", f"m{week}1"], "helpful" if week else "harmful")
        bench.stream.vote([f"m{week}2"], "harmful")
        bench.review.approve([f"m{week}1"])
        bench.judging.judge("how are packages installed", None, f"m{week}0", 3)
        bench.stream.edit(f"m{week}2", f"deploys wait for two reviews {week}")
        clock.advance(days=2)
        ends.append(bench.library.revision)
    return ends


def of(found: Weeks, name: str) -> Figure:
    return next(one for one in found.figures if one.kind.id == name)


def values(found: Weeks, name: str) -> list[float | None]:
    return [None if one is None else one.value for one in of(found, name).values]


def recounted(bench: Workbench, then: Workbench, number: int) -> dict[str, float]:
    """Count the last days of a store as it was, by its records."""
    at = bench.context.now() - WEEK * (WEEKS - 1 - number)

    def lately(when: object) -> bool:
        return at - WEEK < when <= at  # type: ignore[operator]

    reads = [one for one in then.library.table(AgentRead).all() if lately(one.at)]
    votes = [one for one in then.library.table(Vote).all() if lately(one.at)]
    memories = {one.id: one for one in then.library.memories.all()}
    served = {id for one in reads for id in one.memories} & memories.keys()
    alive = [one for one in memories.values() if one.status != "archived"]
    opened = [one for one in then.library.table(Proposal).all() if one.state == "open"]
    candidates = [one for one in memories.values() if one.status == "candidate"]
    profile = bench.tuning.profiles.used(bench.context.profile)
    ranker, gains = then.retriever.load(), []
    for query in bench.library.queries.all():
        grades = {
            one.memory: one.grade for one in bench.library.judgments.all() if one.query == query.id
        }
        ranking = ranker.rank(ranker.relevance(query.text), profile, at, 10)
        gains.append(NDCG10.of(ranking.ids, grades))
    return {
        "answered": sum(not one.is_empty for one in reads) / len(reads),
        "harmful": sum(one.verdict == "harmful" for one in votes) / len(votes),
        "used": len(served) / len(alive),
        "age": median((at - memories[id].created_at) / timedelta(days=1) for id in served),
        "debt": len(candidates) + len(opened),
        "ndcg": fmean(gains),
    }


def check(bench: Workbench, past: Past, ends: list[int]) -> Weeks:
    found = bench.quality.look(WEEKS, zone=UTC)
    for number, rev in enumerate(ends):
        for name, value in recounted(bench, past(rev), number).items():
            assert values(found, name)[number] == pytest.approx(value), (name, number)
    return found


def test_each_number_is_that_of_the_store_at_the_end_of_its_week(
    bench: Workbench, clock: Clock, past: Past
) -> None:
    found = check(bench, past, live(bench, clock))
    assert values(found, "answered") == pytest.approx([5 / 12, 7 / 12, 9 / 12, 11 / 12])
    assert values(found, "debt") == [1, 2, 3, 4]
    assert found.since is None
    assert found.purged is None
    assert found.ends[-1] == clock.at
    assert of(found, "answered").verdict == "better"
    assert of(found, "debt").verdict == "worse"
    assert "92% of 12 questions, 42% in the week to" in of(found, "answered").sentence


def test_a_packed_history_says_the_same(
    bench: Workbench, clock: Clock, past: Past, open_bench: Open
) -> None:
    ends = live(bench, clock)
    other = Library(bench.library.folder, clock, Options(segment_bytes=1))
    with other.transaction("cli", "closes the file of the journal") as tx:
        tx.put(memory("last", "the last one", clock.at))
    assert open_bench().care.compact()
    check(open_bench(), past, [*ends[:-1], ends[-1] + 1])


def test_what_was_purged_counts_in_no_week_and_that_is_said(
    bench: Workbench, clock: Clock, past: Past
) -> None:
    ends = live(bench, clock)
    bench.eraser.carry_out(bench.eraser.plan(["m02", "m13"]))
    found = check(bench, past, [*ends[:-1], bench.library.revision])
    assert found.purged == clock.at
    assert any("purged" in remark for remark in found.remarks)


def test_weeks_before_the_history_begins_are_not_known(bench: Workbench, clock: Clock) -> None:
    live(bench, clock, weeks=2)
    found = bench.quality.look(WEEKS, zone=UTC)
    assert values(found, "debt") == [None, None, 1, 2]
    assert found.since == clock.at - timedelta(days=11)
    assert "Known since" in found.remarks[0]


def test_weeks_before_a_gap_in_the_history_are_not_known(
    bench: Workbench, clock: Clock, open_bench: Open
) -> None:
    rev = live(bench, clock)[1]
    bench.close()
    journal = bench.library.folder / "journal.jsonl"
    lines = journal.read_bytes().splitlines(keepends=True)
    at = next(n for n, line in enumerate(lines) if b'"rev":%d,' % (rev + 1) in line)
    journal.write_bytes(b"".join((*lines[:at], b"x" + lines[at][1:], *lines[at + 1 :])))
    found = open_bench().quality.look(WEEKS, zone=UTC)
    assert values(found, "debt")[:2] == [None, None]
    assert values(found, "debt")[3] is not None
    assert found.since is not None


def test_an_empty_store_has_nothing_to_tell(bench: Workbench) -> None:
    found = bench.quality.look(2)
    assert {one.kind.id for one in found.figures if one.now is not None} <= {"debt"}
    assert "No judged queries yet" in found.remarks[0]


def test_few_cases_tell_nothing_and_a_look_can_be_stopped(bench: Workbench) -> None:
    kinds = {one.kind.id: one for one in bench.quality.look(2).figures}
    some = Figure(kinds["harmful"].kind, kinds["harmful"].ends, (Value(1.0, 2), Value(0.0, 30)))
    assert some.verdict == "too few to tell"
    put(bench, memory("m", "anything"))
    with pytest.raises(WorkStopped):
        Quality(bench.context, lambda: bench.retriever, lambda: bench.tuning.profiles).look(
            cancelled=lambda: True
        )


def test_changes_that_a_merge_brought_later_make_no_week_the_present(
    bench: Workbench, clock: Clock, past: Past
) -> None:
    ends = live(bench, clock)
    now, clock.at = clock.at, clock.at - timedelta(days=20)
    put(bench, memory("late", "written in a branch three weeks ago", clock.at))
    clock.at = now
    check(bench, past, [*ends[:-1], bench.library.revision])


def test_of_many_judged_queries_a_sample_is_asked_and_that_is_said(bench: Workbench) -> None:
    put(bench, *(memory(f"m{n}", f"rule {n} about packages") for n in range(30)))
    for n in range(30):
        bench.judging.judge(f"rule {n}", None, f"m{n}", 3)
    found = bench.quality.look(1)
    now = of(found, "ndcg").now
    assert now is not None
    assert now.of < 30
    assert f" {now.of} of the " in found.remarks[0]
