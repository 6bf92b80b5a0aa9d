"""Batch deduplication: what is proposed, what is kept apart, and what a person said before."""

from datetime import timedelta

import pytest

from tests.services.conftest import NOON, memory, put, snapshot
from workbench.core.limits import BUNDLED
from workbench.core.record import InvalidRecord, WorkbenchError, WorkStopped
from workbench.core.stream.memory import FILE_KEY, Memory
from workbench.services.duplicates import memories
from workbench.services.duplicates.comparing import Group
from workbench.services.duplicates.plan import flags_of, reasons_of
from workbench.services.open import Workbench
from workbench.services.stream.observation import Observation

PERSON = "Deploys on Friday need a second person"
PNPM = "Use pnpm for installs in this repository"
APART = [
    ("always pnpm, never npm", "always npm, never pnpm"),
    ("all tests passed today", "all tests failed today"),
    ("raise timeout to 30s", "raise timeout to 60s"),
    ("set AUTH_SECRET", "set AUTH_TOKEN"),
    ("Prefer composition over inheritance", "Prefer inheritance over composition"),
]


def fill(bench: Workbench, *texts: str, **fields: object) -> None:
    """Store texts as m0, m1, …, the first the oldest."""
    at = NOON - timedelta(days=1)
    put(
        bench,
        *(
            memory(f"m{n}", text, at + timedelta(minutes=n), **fields)
            for n, text in enumerate(texts)
        ),
    )


def ids(groups: tuple[Group[Memory], ...]) -> list[set[str]]:
    return [set(g.ids) for g in groups]


@pytest.fixture
def store(bench: Workbench) -> Workbench:
    """A text three times, a paraphrase, and pairs that only look alike (m5 … m14)."""
    fill(
        bench,
        PERSON,
        PERSON,
        f"  {PERSON}\n",
        PNPM,
        f"{PNPM.replace('installs', 'the installs')}.",
        *sum(APART, ()),
    )
    return bench


def test_the_same_text_first_then_what_says_the_same(store: Workbench) -> None:
    plan = store.deduplication.plan()
    assert ids(plan.groups) == [{"m0", "m1", "m2"}, {"m3", "m4"}]
    assert [g.kind for g in plan.groups] == ["exact", "near"]
    assert (plan.exact, plan.surplus, plan.compared) == (1, 3, 15)
    assert plan.groups[0].members[0].id == "m0"
    paraphrase = plan.groups[1]
    assert "the same words in the same order" in reasons_of(paraphrase)
    assert BUNDLED.flag <= paraphrase.similarity < 1


def test_opposites_numbers_identifiers_and_order_are_never_in_a_group(store: Workbench) -> None:
    plan = store.deduplication.plan()
    pairs = [{f"m{n}", f"m{n + 1}"} for n in range(5, 15, 2)]
    assert all(pair in ids(plan.apart) for pair in pairs)
    assert not any(pair & set().union(*ids(plan.groups)) for pair in pairs)
    flags = {frozenset(g.ids): flags_of(g) for g in plan.apart}
    expected = [
        "negation differs",
        "opposite words",
        "numbers differ",
        "identifiers differ",
        "word order differs",
    ]
    for pair, flag in zip(pairs, expected, strict=True):
        assert flag in flags[frozenset(pair)]
    assert max(g.similarity for g in plan.apart) > 0.99


def test_what_is_proposed_waits_in_review_and_is_not_proposed_twice(store: Workbench) -> None:
    plan = store.deduplication.plan()
    made = store.deduplication.propose(plan)
    assert len(made) == 2
    event = next(store.history.events())
    assert (event.actor, event.label) == ("human", "propose 2 merges")
    again = store.deduplication.plan()
    assert (again.groups, again.waiting) == ((), 2)
    assert store.deduplication.propose(plan) == ()
    assert {p.id for p in store.review.queue()} == {p.id for p in made}
    exact = next(p for p in made if len(p.evidence) == 3)
    assert (exact.kind, exact.similarity, exact.flags) == ("merge", 1.0, ())


def test_an_accepted_group_becomes_one_and_undo_parts_it(store: Workbench) -> None:
    made = store.deduplication.propose(store.deduplication.plan())
    before = snapshot(store)
    store.review.approve([p.id for p in made])
    kept = store.stream.get("m0")
    assert set(kept.aliases) == {"m1", "m2"}
    assert store.stream.get("m1").archived_reason == "merged"
    assert store.stream.get("m3").content == f"{PNPM.replace('installs', 'the installs')}."
    assert store.deduplication.plan().groups == ()
    store.history.undo()
    assert snapshot(store) == before


@pytest.mark.parametrize("door", ["health", "review"])
def test_keep_both_is_remembered_until_a_text_changes(bench: Workbench, door: str) -> None:
    fill(bench, PNPM, f"{PNPM}.")
    (group,) = bench.deduplication.plan().groups
    if door == "health":
        bench.deduplication.keep_both(group)
    else:
        bench.deduplication.propose(bench.deduplication.plan())
        bench.review.reject([group.name])
    (kept,) = bench.library.kept_pairs.all()
    assert (kept.left, kept.right) == ("m0", "m1")
    assert kept.similarity == pytest.approx(group.similarity)
    assert (kept.actor, kept.at) == ("human", NOON)
    assert [p.state for p in bench.library.proposals.all()] == ["rejected"] * (door == "review")
    plan = bench.deduplication.plan()
    assert (plan.groups, plan.kept, plan.waiting) == ((), 1, 0)
    bench.stream.edit("m1", f"{PNPM}!")
    assert ids(bench.deduplication.plan().groups) == [{"m0", "m1"}]
    bench.stream.edit("m1", f"{PNPM}.")
    assert bench.deduplication.plan().groups == ()


def test_a_newcomer_is_grouped_with_one_of_those_kept_apart(bench: Workbench) -> None:
    fill(bench, PERSON, PERSON)
    bench.deduplication.keep_both(bench.deduplication.plan().groups[0])
    assert bench.deduplication.plan().groups == ()
    put(bench, memory("new", PERSON, NOON - timedelta(hours=1)))
    (group,) = bench.deduplication.plan().groups
    assert len(group.ids) == 2
    assert "new" in group.ids


def test_what_ingest_proposed_is_not_proposed_again(bench: Workbench) -> None:
    fill(bench, PNPM)
    found = bench.ingest.add(Observation(PNPM.replace("installs", "installing things")))
    assert found.outcome == "proposed"
    plan = bench.deduplication.plan()
    assert (plan.groups, plan.waiting) == ((), 1)
    (proposal,) = bench.library.proposals.all()
    bench.review.reject([proposal.id])
    assert (bench.deduplication.plan().groups, bench.library.proposals.all()[0].texts != ()) == (
        (),
        True,
    )
    bench.stream.edit("m0", PNPM.replace("installs", "installing the things"))
    assert len(bench.deduplication.plan().groups) == 1


def test_a_group_is_merged_at_once_with_its_proposal(bench: Workbench) -> None:
    fill(bench, PERSON, PERSON, PERSON)
    (group,) = bench.deduplication.plan().groups
    bench.deduplication.propose(bench.deduplication.plan())
    before = snapshot(bench)
    assert set(bench.deduplication.merge(group).aliases) == {"m1", "m2"}
    (proposal,) = bench.library.proposals.all()
    assert (proposal.state, bench.review.queue()) == ("accepted", ())
    with pytest.raises(WorkbenchError, match="changed since they were compared"):
        bench.deduplication.merge(group)
    bench.history.undo()
    assert snapshot(bench) == before


def test_a_group_that_changed_meanwhile_no_longer_stands(store: Workbench) -> None:
    plan = store.deduplication.plan()
    store.stream.edit("m4", "Something else entirely")
    store.stream.forget(["m1"])
    assert store.deduplication.standing(plan).groups == ()
    assert store.deduplication.propose(plan) == ()
    store.history.undo()
    assert ids(store.deduplication.standing(plan).groups) == [{"m0", "m1", "m2"}]


def test_only_what_is_served_and_of_one_type_is_compared(bench: Workbench) -> None:
    fill(bench, PERSON)
    put(
        bench,
        memory("candidate", PERSON, status="candidate"),
        memory("gone", PERSON, status="archived", archived_reason="forgotten"),
        memory("fact", PERSON, memory_type="semantic"),
        memory("later", PERSON, NOON + timedelta(days=1)),
    )
    plan = bench.deduplication.plan()
    assert (plan.groups, plan.compared) == ((), 2)


def test_a_raw_text_under_a_confirmed_memory_is_flagged(bench: Workbench) -> None:
    fill(bench, PNPM, status="confirmed")
    put(bench, memory("new", f"{PNPM}, please.", NOON - timedelta(hours=1)))
    (group,) = bench.deduplication.plan().groups
    assert group.members[0].id == "m0"
    assert "the newest text was never confirmed" in flags_of(group)


def test_the_threshold_decides_and_has_to_be_one(store: Workbench) -> None:
    assert ids(store.deduplication.plan(1.0).groups) == [{"m0", "m1", "m2"}]
    assert store.deduplication.plan(0.5).threshold == 0.5
    for wrong in (0.0, 1.5):
        with pytest.raises(InvalidRecord, match="not between 0 and 1"):
            store.deduplication.plan(wrong)


def test_it_tells_how_far_it_is_and_can_be_stopped(store: Workbench) -> None:
    store.retriever.load()
    steps: list[tuple[int, int]] = []
    store.deduplication.plan(progress=lambda done, total: steps.append((done, total)))
    assert steps[-1] == (12, 12)
    before = snapshot(store)
    with pytest.raises(WorkStopped):
        store.deduplication.plan(cancelled=lambda: True)
    assert snapshot(store) == before


def test_many_copies_make_groups_that_can_be_looked_at(
    bench: Workbench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(memories, "LARGEST_EXACT", 4)
    fill(bench, *[PERSON] * 9)
    plan = bench.deduplication.plan()
    assert sorted(len(g.ids) for g in plan.groups) == [4, 4]
    bench.deduplication.propose(plan)
    assert bench.deduplication.plan().groups == ()


def test_when_there_are_too_many_pairs_it_says_from_where_it_looked(
    bench: Workbench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(memories, "MOST", 3)
    fill(bench, *(f"{PNPM} {'and ' * n}today" for n in range(5)))
    plan = bench.deduplication.plan()
    assert plan.floor > plan.threshold


def named(id: str, name: str, text: str = PERSON) -> Memory:
    """Return a memory as the reader of an MCP server's file makes it."""
    return memory(
        id,
        text,
        NOON,
        metadata={FILE_KEY: {"format": "mcp-memory", "kind": "entity", "name": name}},
    )


def test_two_people_of_whom_the_same_is_said_are_never_proposed_as_one(bench: Workbench) -> None:
    put(
        bench,
        named("a", "Ann"),
        named("b", "Bob"),
        named("b2", "Bob"),
        named("c", "Cas", PERSON + "."),
    )
    plan = bench.deduplication.plan()
    assert ids(plan.groups) == [{"b", "b2"}]
    assert {frozenset(g.ids) for g in plan.apart} >= {frozenset(("a", "c"))}
    assert all("names differ" in flags_of(g) for g in plan.apart)


def test_one_text_about_many_things_hides_no_other_pair(
    bench: Workbench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(memories, "MOST", 100)
    put(bench, *(named(f"p{n}", f"Person {n}") for n in range(40)))
    put(bench, memory("x", PNPM, NOON), memory("y", PNPM.replace("installs", "the installs"), NOON))
    plan = bench.deduplication.plan()
    assert ids(plan.groups) == [{"x", "y"}]


def test_texts_that_the_model_does_not_know_are_compared_by_their_words(bench: Workbench) -> None:
    fill(
        bench,
        *("数据库迁移必须先运行再部署服务", "数据库的迁移必须先运行再部署服务"),
        *("部署前必须先执行单元测试脚本", "部署前不要执行单元测试脚本"),
        *("张三负责生产环境的监控告警", "李四负责生产环境的监控告警"),
        *("日志文件在服务器上保留7天", "日志文件在服务器上保留30天"),
        "今天的会议改到下午三点",
    )
    plan = bench.deduplication.plan()
    assert ids(plan.groups) == [{"m0", "m1"}]
    flags = {frozenset(g.ids): flags_of(g) for g in plan.apart}
    assert "negation differs" in flags[frozenset(("m2", "m3"))]
    assert frozenset(("m4", "m5")) in flags
    assert "numbers differ" in flags[frozenset(("m6", "m7"))]
    assert not any("m8" in pair for pair in flags)
