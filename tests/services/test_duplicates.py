"""Duplicates of memories and of a playbook: what is proposed, what is kept apart and why, merged with
votes summed once, taken apart again, and what a person said before.
"""

from datetime import timedelta
from itertools import combinations
from pathlib import Path

import pytest

from tests.services.conftest import NOON, Open, bring, holding, memory, put, snapshot
from workbench.config.loading import Settings
from workbench.core.duplicates.groups import KeptPair, pairs_kept_by
from workbench.core.limits import BUNDLED, DedupThresholds
from workbench.core.record import InvalidRecord, WorkbenchError, WorkStopped
from workbench.core.review.proposal import Proposal
from workbench.core.stream.memory import FILE_KEY, Memory
from workbench.formats import ace
from workbench.services.duplicates import memories
from workbench.services.duplicates.comparing import FLOOR, Group
from workbench.services.duplicates.plan import flags_of, reasons_of
from workbench.services.open import Workbench, open_workbench
from workbench.services.stream.observation import Observation

PERSON = "Deploys on Friday need a second person"
PNPM = "Use pnpm for installs in this repository"
THE_INSTALLS = f"{PNPM.replace('installs', 'the installs')}."
APART = (
    "always pnpm, never npm", "always npm, never pnpm",
    "all tests passed today", "all tests failed today",
    "raise timeout to 30s", "raise timeout to 60s",
    "set AUTH_SECRET", "set AUTH_TOKEN",
    "Prefer composition over inheritance", "Prefer inheritance over composition",
)  # fmt: skip


def fill(bench: Workbench, *texts: str, **fields: object) -> None:
    """Store texts as m0, m1, …, the first the oldest."""
    at = NOON - timedelta(days=1)
    for n, text in enumerate(texts):
        put(bench, memory(f"m{n}", text, at + timedelta(minutes=n), **fields))


def ids(groups: tuple[Group[Memory], ...]) -> list[set[str]]:
    return [set(g.ids) for g in groups]


def grouped(bench: Workbench) -> list[set[str]]:
    return ids(bench.deduplication.plan().groups)


@pytest.fixture
def store(bench: Workbench) -> Workbench:
    """A text three times, a paraphrase, and pairs that only look alike (m5 … m14)."""
    fill(bench, PERSON, PERSON, f"  {PERSON}\n", PNPM, THE_INSTALLS, *APART)
    return bench


# Memories


def test_the_same_text_first_then_what_says_the_same(store: Workbench) -> None:
    plan = store.deduplication.plan()
    assert ids(plan.groups) == [{"m0", "m1", "m2"}, {"m3", "m4"}]
    assert [g.kind for g in plan.groups] == ["exact", "near"]
    assert plan.exact == 1
    assert plan.surplus == 3
    assert plan.compared == 15
    assert plan.groups[0].members[0].id == "m0"
    assert "the same words in the same order" in reasons_of(plan.groups[1])
    assert BUNDLED.flag <= plan.groups[1].similarity < 1
    flags = {frozenset(g.ids): flags_of(g) for g in plan.apart}
    expected = ("negation", "opposite words", "numbers", "identifiers", "word order")
    for n, why in zip(range(5, 15, 2), expected, strict=True):
        assert any(flag.startswith(why) for flag in flags[frozenset((f"m{n}", f"m{n + 1}"))])


def test_what_is_proposed_waits_in_review_and_is_not_proposed_twice(store: Workbench) -> None:
    plan = store.deduplication.plan()
    made = store.deduplication.propose(plan)
    event = next(store.history.events())
    assert event.actor == "human"
    assert event.label == "propose 2 merges"
    again = store.deduplication.plan()
    assert again.groups == ()
    assert again.waiting == 2
    assert store.deduplication.propose(plan) == ()
    assert {p.id for p in store.review.queue()} == {p.id for p in made}
    exact = next(p for p in made if len(p.evidence) == 3)
    assert exact.kind == "merge"
    assert exact.similarity == 1.0
    assert exact.flags == ()
    before = snapshot(store)
    store.review.approve([p.id for p in made])
    assert set(store.stream.get("m0").aliases) == {"m1", "m2"}
    assert store.stream.get("m1").archived_reason == "merged"
    assert store.stream.get("m3").content == THE_INSTALLS
    assert grouped(store) == []
    store.history.undo()
    assert snapshot(store) == before


def test_a_group_is_merged_at_once_with_its_proposal(bench: Workbench) -> None:
    fill(bench, PERSON, PERSON, PERSON)
    (group,) = bench.deduplication.plan().groups
    bench.deduplication.propose(bench.deduplication.plan())
    before = snapshot(bench)
    assert set(bench.deduplication.merge(group).aliases) == {"m1", "m2"}
    (proposal,) = bench.library.proposals.all()
    assert proposal.state == "accepted"
    assert bench.review.queue() == ()
    with pytest.raises(WorkbenchError, match="changed since the comparison"):
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
    assert plan.groups == ()
    assert plan.compared == 2


def test_a_raw_text_under_a_confirmed_memory_is_flagged(bench: Workbench) -> None:
    fill(bench, PNPM, status="confirmed")
    put(bench, memory("new", f"{PNPM}, please.", NOON - timedelta(hours=1)))
    (group,) = bench.deduplication.plan().groups
    assert group.members[0].id == "m0"
    assert "the newest text was never confirmed" in flags_of(group)


def test_the_threshold_decides_and_a_plan_tells_how_far_it_is_and_can_be_stopped(
    store: Workbench,
) -> None:
    assert ids(store.deduplication.plan(1.0).groups) == [{"m0", "m1", "m2"}]
    assert store.deduplication.plan(0.5).threshold == 0.5
    for wrong in (0.0, 1.5):
        with pytest.raises(InvalidRecord, match="not between 0 and 1"):
            store.deduplication.plan(wrong)
    steps: list[tuple[int, int]] = []
    store.deduplication.plan(progress=lambda *at: steps.append(at))
    store.deduplication.likeness(progress=lambda *at: steps.append(at))
    assert steps[0][1] == 12
    assert all(done <= every for done, every in steps)
    for look in (store.deduplication.plan, store.deduplication.likeness):
        with pytest.raises(WorkStopped):
            look(cancelled=lambda: True)


def test_the_preview_agrees_with_the_plan_at_every_threshold(
    store: Workbench, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = store.deduplication.likeness()
    for threshold in (1.0, found.limits.review, found.limits.flag):
        near = [set(group.ids) for group in found.groups(threshold) if group.ordinary]
        assert near == ids(store.deduplication.plan(threshold).groups)
    store.deduplication.keep_both(store.deduplication.plan().groups[1])
    kept = store.deduplication.likeness()
    assert kept.kept == 1
    assert not any({"m3", "m4"} <= set(group.ids) for group in kept.groups(FLOOR))
    monkeypatch.setattr(memories, "MOST", 3)
    assert store.deduplication.likeness().floor > FLOOR
    plan = store.deduplication.plan()
    assert plan.floor > plan.threshold, "of too many pairs it says from where it looked"


def test_many_copies_make_groups_that_can_be_looked_at(
    bench: Workbench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(memories, "LARGEST_EXACT", 4)
    fill(bench, *[PERSON] * 9)
    plan = bench.deduplication.plan()
    assert sorted(len(g.ids) for g in plan.groups) == [4, 4]
    bench.deduplication.propose(plan)
    assert grouped(bench) == []


def test_of_many_pairs_that_only_look_alike_some_are_listed(
    bench: Workbench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(memories, "APART", 5)
    fill(bench, *(f"Set QUEUE_{n} before the workers start in the morning" for n in "ABCDEFGHIJ"))
    plan = bench.deduplication.plan()
    assert plan.groups == ()
    assert len(plan.apart) == 5


def named(id: str, name: str, text: str = PERSON) -> Memory:
    """Return a memory as the reader of an MCP server's file makes it."""
    origin = {"format": "mcp-memory", "kind": "entity", "name": name}
    return memory(id, text, NOON, metadata={FILE_KEY: origin})


def test_what_is_said_of_two_people_is_never_one_and_hides_no_other_pair(
    bench: Workbench, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(
        bench,
        named("a", "Ann"),
        named("b", "Bob"),
        named("b2", "Bob"),
        named("c", "C", PERSON + "."),
    )
    plan = bench.deduplication.plan()
    assert ids(plan.groups) == [{"b", "b2"}]
    assert {"a", "c"} in ids(plan.apart)
    assert all("names differ" in flags_of(g) for g in plan.apart)
    monkeypatch.setattr(memories, "MOST", 100)
    put(bench, *(named(f"p{n}", f"Person {n}") for n in range(40)))
    put(bench, memory("x", PNPM), memory("y", THE_INSTALLS))
    assert {"x", "y"} in grouped(bench)


def test_texts_that_the_model_does_not_know_are_compared_by_their_words(bench: Workbench) -> None:
    fill(
        bench, "数据库迁移必须先运行再部署服务", "数据库的迁移必须先运行再部署服务", "部署前必须先执行单元测试脚本",
        "部署前不要执行单元测试脚本", "张三负责生产环境的监控告警", "李四负责生产环境的监控告警",
        "日志文件在服务器上保留7天", "日志文件在服务器上保留30天", "今天的会议改到下午三点",
    )  # fmt: skip
    plan = bench.deduplication.plan()
    assert ids(plan.groups) == [{"m0", "m1"}]
    flags = {frozenset(g.ids): flags_of(g) for g in plan.apart}
    assert "negation differs" in flags[frozenset(("m2", "m3"))]
    assert frozenset(("m4", "m5")) in flags
    assert "numbers differ" in flags[frozenset(("m6", "m7"))]
    assert not any("m8" in pair for pair in flags)


def test_pairs_are_judged_by_the_order_that_the_settings_ask_for(tmp_path: Path) -> None:
    for order, action in ((95.0, "propose"), (90.0, "absorb")):
        settings = Settings(thresholds=DedupThresholds(order=order))
        made = open_workbench(tmp_path / action, profiles=tmp_path, settings=settings)
        put(made, memory("a", PNPM), memory("b", THE_INSTALLS[:-1]))
        (group,) = made.deduplication.plan().groups
        assert [pair.verdict.action for pair in group.pairs] == [action]
        made.close()


# What a person keeps apart


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
    assert kept.left == "m0"
    assert kept.right == "m1"
    assert kept.actor == "human"
    assert kept.at == NOON
    assert kept.similarity == pytest.approx(group.similarity)
    assert [p.state for p in bench.library.proposals.all()] == ["rejected"] * (door == "review")
    plan = bench.deduplication.plan()
    assert plan.groups == ()
    assert plan.kept == 1
    assert plan.waiting == 0
    bench.stream.edit("m1", f"{PNPM}!")
    assert grouped(bench) == [{"m0", "m1"}]
    bench.stream.edit("m1", f"{PNPM}.")
    assert grouped(bench) == []


def test_a_newcomer_is_grouped_with_one_of_those_kept_apart(bench: Workbench) -> None:
    fill(bench, PERSON, PERSON)
    bench.deduplication.keep_both(bench.deduplication.plan().groups[0])
    put(bench, memory("new", PERSON, NOON - timedelta(hours=1)))
    (group,) = grouped(bench)
    assert len(group) == 2
    assert "new" in group


def test_what_ingest_proposed_is_not_proposed_again(bench: Workbench) -> None:
    fill(bench, PNPM)
    found = bench.ingest.add(Observation(PNPM.replace("installs", "installing things")))
    assert found.outcome == "proposed"
    plan = bench.deduplication.plan()
    assert plan.groups == ()
    assert plan.waiting == 1
    (proposal,) = bench.library.proposals.all()
    bench.review.reject([proposal.id])
    assert grouped(bench) == []
    bench.stream.edit("m0", PNPM.replace("installs", "installing the things"))
    assert len(grouped(bench)) == 1


def test_every_two_of_a_group_are_kept_apart_until_one_is_erased(bench: Workbench) -> None:
    fill(bench, PNPM, f"{PNPM}.", f"{PNPM}!")
    (group,) = bench.deduplication.plan().groups
    bench.deduplication.propose(bench.deduplication.plan())
    bench.deduplication.keep_both(group)
    pairs = bench.library.kept_pairs.all()
    assert {(p.left, p.right) for p in pairs} == set(combinations(("m0", "m1", "m2"), 2))
    assert all(pair.similarity >= group.similarity for pair in pairs)
    assert [p.state for p in bench.library.proposals.all()] == ["rejected"]
    bench.history.undo()
    assert len(bench.library.kept_pairs) == 0
    assert len(bench.review.queue()) == 1
    bench.history.redo()
    assert grouped(bench) == []
    assert bench.deduplication.plan().kept == 3
    mark = bench.library.proposals.all()[0].texts[0]
    bench.eraser.carry_out(bench.eraser.plan(["m0", "m1"]))
    assert bench.library.kept_pairs.all() == []
    assert holding(bench.library.folder, mark) == []


def test_a_rejected_merge_stands_for_the_pairs_of_its_memories() -> None:
    def kept(kind: str, state: str, *ids: str, **more: object) -> list[KeptPair]:
        proposal = Proposal("p", kind, "workbench", "?", NOON, evidence=ids, state=state, **more)  # type: ignore[arg-type]
        return list(pairs_kept_by(proposal, "human"))

    unknown = kept("merge", "rejected", "b", "a", "c", similarity=0.9)
    assert [(pair.id, pair.texts) for pair in unknown] == [("a|b|", ""), ("b|c|", ""), ("a|c|", "")]
    (pair,) = kept("merge", "rejected", "b", "a", texts=("2", "1"))
    assert pair == KeptPair(pair.id, "", "a", "b", 0.0, "1-2", "human", NOON)
    assert pair.id.startswith("a|b|")
    assert "1-2" not in pair.id
    for kind, state in (("merge", "open"), ("merge", "accepted"), ("prune", "rejected")):
        assert kept(kind, state, "a", "b") == []


# Bullets


TEXT = """## RULES
[r-00001] helpful=2 harmful=0 :: Always run the database migrations before the integration tests start.
[r-00002] helpful=5 harmful=1 :: Always run the database migrations before the integration tests start.
[r-00003] helpful=0 harmful=0 :: ALWAYS run the database migrations before the integration tests start.
[r-00004] helpful=1 harmful=0 :: Always run the database migrations before any integration tests start.
[r-00005] helpful=1 harmful=0 :: Never run the database migrations before the integration tests start.

## OTHERS
[o-00006] helpful=0 harmful=0 :: Ask the person who owns the file before deleting it.
"""


@pytest.fixture
def book(open_bench: Open, tmp_path: Path) -> Workbench:
    """A playbook with an exact, a folded, a near duplicate and an opposite."""
    bench = open_bench()
    bring(bench, tmp_path / "book.txt", TEXT)
    return bench


def counts(bench: Workbench) -> dict[str, tuple[int, int]]:
    return {b.id: (b.helpful_count, b.harmful_count) for b in bench.playbooks.open("book").bullets}


def alike(bench: Workbench, limit: float) -> set[frozenset[str]]:
    return {frozenset(g.ids) for g in bench.bullet_duplicates.groups("book", limit)}


def test_equal_texts_become_one_in_one_step_without_a_model(book: Workbench) -> None:
    exact, case = book.bullet_duplicates.same("book")
    assert exact.kind == "exact"
    assert list(exact.ids) == ["r-00002", "r-00001"]
    assert case.kind == "case"
    assert set(case.ids) == {"r-00002", "r-00003"}
    assert not book.retriever.ready
    book.bullet_duplicates.merge_same("book", [exact])
    kept = book.playbooks.bullet("book", "r-00002")
    assert kept.helpful_count == 7
    assert kept.harmful_count == 1
    assert kept.aliases == ("r-00001",)
    book.bullet_duplicates.merge_same("book", [])
    book.history.undo()
    assert ace.write_playbook(book.playbooks.open("book")) == TEXT
    book.playbooks.edit("book", "r-00001", "Something else.")
    with pytest.raises(WorkbenchError, match="changed meanwhile"):
        book.bullet_duplicates.merge_same("book", [exact])
    book.history.undo()
    book.playbooks.deprecate("book", ["r-00001"], "old", "r-00002")
    assert [g.kind for g in book.bullet_duplicates.same("book")] == ["case"]


def test_an_opposite_is_never_offered_as_a_duplicate(book: Workbench) -> None:
    groups = book.bullet_duplicates.groups("book", 0.6)
    assert not any("r-00005" in g.ids for g in groups if g.ordinary)
    opposed = [g for g in groups if g.kind == "opposed"]
    assert {frozenset(g.ids) for g in opposed} == {
        frozenset(("r-00002", "r-00005")), frozenset(("r-00004", "r-00005")),
    }  # fmt: skip
    assert all("contradiction" in g.conflicts for g in opposed)
    assert any("“always”" in told for told in opposed[0].pairs[0].verdict.reasons_against)
    assert not any("o-00006" in g.ids for g in groups)


def test_a_merge_of_a_merge_is_parted_step_by_step(book: Workbench) -> None:
    was = counts(book)
    book.bullet_duplicates.merge("book", ["r-00001", "r-00002"], "One.", "r-00001")
    book.bullet_duplicates.merge("book", ["r-00001", "r-00003"], "Two.", "r-00001")
    book.playbooks.vote("book", ["r-00001"], "helpful")
    assert book.bullet_duplicates.part("book", "r-00001") == ("r-00001", "r-00003")
    assert counts(book) == {**{k: v for k, v in was.items() if k != "r-00002"}, "r-00001": (8, 1)}
    book.bullet_duplicates.part("book", "r-00001")
    assert counts(book) == {**was, "r-00001": (3, 0)}
    kept = book.playbooks.bullet("book", "r-00001")
    assert kept.content == "Two."
    assert kept.aliases == ()
    assert book.playbooks.bullet("book", "r-00003").content.startswith("ALWAYS run")
    with pytest.raises(InvalidRecord, match="not made by a merge"):
        book.bullet_duplicates.part("book", "r-00001")


def test_what_is_kept_apart_in_a_playbook_stays_until_a_text_changes(book: Workbench) -> None:
    for _ in range(10):  # who is kept may resemble somebody else
        for group in book.bullet_duplicates.groups("book", 0.8):
            book.bullet_duplicates.keep_both(group)
    kept = book.library.kept_pairs.all()
    assert all(0.8 <= decision.similarity <= 1 for decision in kept)
    assert book.bullet_duplicates.likeness("book").kept == len(kept)
    near = next(decision for decision in kept if decision.similarity < 0.999)
    book.playbooks.vote("book", [near.left], "helpful")
    book.playbooks.move("book", [near.left], "others")
    assert alike(book, 0.8) == set(), "only a text that changes asks again"
    text = book.playbooks.bullet("book", near.left).content
    book.playbooks.edit("book", near.left, f"{text} Please.")
    assert any(near.left in group for group in alike(book, 0.8))


def test_one_text_in_two_sections_is_left_to_a_person(bench: Workbench, tmp_path: Path) -> None:
    text = "helpful=1 harmful=0 :: Restart the workers after every deploy.\n"
    bring(bench, tmp_path / "book.txt", f"## BILLING\n[b-00001] {text}## SEARCH\n[s-00002] {text}")
    assert bench.bullet_duplicates.same("book") == ()
    (group,) = bench.bullet_duplicates.groups("book", 0.6)
    assert group.kind == "apart"
    assert group.ordinary is False
    assert "sections differ" in group.conflicts
