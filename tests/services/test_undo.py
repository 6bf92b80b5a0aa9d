"""Every action of the bench is one step back and one step forth, also after the store was opened
anew.
"""

import json
from collections.abc import Callable
from datetime import timedelta

import pytest

from tests.services.conftest import Clock, Open, bring, memory, put, snapshot, write
from workbench.core.record import Conflict, WorkbenchError
from workbench.services.open import Workbench
from workbench.services.stream import votes
from workbench.services.stream.fields import FieldEdit
from workbench.services.stream.observation import Observation

Act = Callable[[Workbench], object]
A, B = "mem-20260206-0000001", "mem-20260206-0000002"
BOOK = "playbook"


def candidate(bench: Workbench, place: int = 0) -> str:
    return [m.id for m in bench.library.memories.all() if m.status == "candidate"][place]


def restorable(bench: Workbench) -> str:
    found = (
        m.id
        for m in bench.library.memories.all()
        if m.status == "archived" and m.archived_reason != "merged"
    )
    return next(found)


def section(bench: Workbench, place: int) -> str:
    return bench.playbooks.open(BOOK).sections[place].id


def import_one(bench: Workbench) -> None:
    path = bench.library.folder.parent / "one.jsonl"
    row = {"id": "x", "context": "imported", "type": "error", "timestamp": "2026-03-01"}
    bring(bench, path, json.dumps(row))


ACTIONS: dict[str, Act] = {
    "vote": lambda b: b.stream.vote([A], "helpful"),
    "vote on several": lambda b: b.stream.vote([A, B], "harmful"),
    "pin": lambda b: b.stream.pin([A]),
    "pin several": lambda b: b.stream.pin([A, B], True),
    "edit": lambda b: b.stream.edit(A, "another text"),
    "forget": lambda b: b.stream.forget([A, B]),
    "restore": lambda b: b.stream.restore([restorable(b)]),
    "approve": lambda b: b.review.approve([candidate(b)]),
    "approve several": lambda b: b.review.approve([candidate(b), candidate(b, 1)]),
    "edit a proposal": lambda b: b.review.edit(candidate(b), FieldEdit("better words")),
    "reject": lambda b: b.review.reject([candidate(b)], "too vague"),
    "later": lambda b: b.review.later([candidate(b)]),
    "merge into": lambda b: b.review.merge_into(candidate(b), A),
    "vote on a bullet": lambda b: b.playbooks.vote(BOOK, ["shr-00001"], "helpful"),
    "vote on bullets": lambda b: b.playbooks.vote(BOOK, ["shr-00001", "shr-00002"], "harmful"),
    "edit a bullet": lambda b: b.playbooks.edit(BOOK, "shr-00001", "Ask twice."),
    "add a bullet": lambda b: b.playbooks.add(BOOK, section(b, 0), "A new rule."),
    "delete bullets": lambda b: b.playbooks.delete(BOOK, ["shr-00001", "shr-00002"]),
    "move bullets": lambda b: b.playbooks.move(BOOK, ["shr-00001"], section(b, 1)),
    "shift a bullet": lambda b: b.playbooks.shift(BOOK, "shr-00001", 1),
    "pin a bullet": lambda b: b.playbooks.pin(BOOK, ["shr-00001"]),
    "add a section": lambda b: b.playbooks.add_section(BOOK, "NEW PITFALLS"),
    "ingest": lambda b: b.ingest.add(Observation("Nobody had ever written this down before")),
    "import": import_one,
}


@pytest.mark.slow
@pytest.mark.parametrize("name", ACTIONS)
def test_an_action_is_one_change_of_the_person_undone_and_redone(
    name: str, demo: Workbench, open_bench: Open
) -> None:
    before, rev = snapshot(demo), demo.library.revision
    ACTIONS[name](demo)
    after, step = snapshot(demo), next(demo.history.events())
    assert after != before
    by = "import:one.jsonl" if name == "import" else "human"
    assert step.actor == by
    assert step.kind == "edit"
    assert step.rev == rev + 1
    assert bool(step.fields)
    assert demo.library.revision == rev + 1
    label = demo.history.undo()
    assert label == step.label
    assert snapshot(demo) == before
    demo.close()
    again = open_bench()
    assert snapshot(again) == before
    assert again.history.redo() == label
    assert snapshot(again) == after


def test_undo_means_the_person_by_whatever_door_and_never_an_agent(
    demo: Workbench, open_bench: Open
) -> None:
    door, agent = open_bench("cli"), open_bench("agent:claude")
    demo.stream.pin([A], True)
    door.stream.edit(B, "from the command line")
    votes.cast(agent.context, agent.stream.get(A), "harmful")
    assert demo.history.undo() == f"edit {B}"
    assert demo.history.undo() == f"pin {A}"
    assert demo.stream.get(A).harmful_votes == 1
    demo.stream.edit(A, "mine")
    with pytest.raises(WorkbenchError, match="Nothing to redo"):
        demo.history.redo()
    agent.library.refresh()
    agent.stream.edit(A, "theirs")
    with pytest.raises(Conflict, match="content") as caught:
        demo.history.undo()
    assert caught.value.hint
    demo.library.refresh()
    assert demo.stream.get(A).content == "theirs"


def test_the_votes_on_a_deleted_bullet_go_and_come_back_with_it(demo: Workbench) -> None:
    books = demo.playbooks
    book = books.books()[0].book.id
    last = max(books.open(book).bullets, key=lambda b: int(b.id.rpartition("-")[2]))
    before = len(demo.library.votes)
    books.vote(book, [last.id], "helpful")
    books.delete(book, [last.id])
    assert len(demo.library.votes) == before
    again = books.add(book, last.section, "A new bullet under the old number")
    assert books.bullet(book, again).helpful_count == 0
    demo.history.undo()
    demo.history.undo()
    assert books.live_vote(book, last.id) == "helpful"


def test_all_that_an_agent_did_since_a_time_goes_as_one_action(
    bench: Workbench, open_bench: Open, clock: Clock
) -> None:
    put(bench, memory("a", "one"), memory("b", "two"))
    agent = open_bench("agent:claude")
    agent.stream.edit("a", "before the time")
    clock.advance(hours=1)
    since, before = clock.at, snapshot(agent)
    agent.stream.edit("a", "after it")
    agent.stream.edit("a", "and again")
    votes.cast(agent.context, agent.stream.get("b"), "harmful")
    agent.stream.edit("b", "what the person takes back first")
    bench.history.undo_revision(agent.library.revision)
    bench.library.refresh()
    after = snapshot(bench)
    upcoming = [one.label for one in bench.history.upcoming_of("agent:claude", since)]
    assert upcoming == ["vote harmful on b", "edit a", "edit a"]
    assert bench.history.undo_by("agent:claude", since) == (3, (), "")
    assert snapshot(bench) == before
    assert not bench.history.upcoming_of("agent:claude", since)
    with pytest.raises(WorkbenchError, match="Nothing that claude changed"):
        bench.history.undo_by("agent:claude", since)
    with pytest.raises(Conflict, match="already undone"):
        bench.history.undo_revision(bench.library.revision - 3)
    assert open_bench("human").history.undo() == "undo 3 changes by claude"
    bench.library.refresh()
    assert snapshot(bench) == after
    assert bench.history.undo_by("agent:claude", since).taken == 3


def test_what_a_person_took_back_again_is_nothing_an_agent_can_undo(
    bench: Workbench, open_bench: Open, clock: Clock
) -> None:
    put(bench, memory("a", "one"), memory("b", "two"))
    agent = open_bench("agent:claude")
    agent.stream.edit("b", "the change before")
    clock.advance(hours=1)
    since = clock.at
    agent.stream.edit("a", "taken back with all since then")
    bench.history.undo_by("agent:claude", since)
    bench.history.undo()
    bench.history.redo()
    assert agent.history.undo() == "edit b"


def test_a_change_with_an_older_date_hides_none_and_what_took_back_is_no_change(
    bench: Workbench, open_bench: Open, clock: Clock
) -> None:
    put(bench, memory("a", "one"), memory("b", "two"))
    agent, since = open_bench("agent:claude"), clock.at
    agent.stream.edit("a", "the first change")
    with agent.library.dated(since - timedelta(days=9)):
        put(agent, memory("c", "as a merge brings it"))
    agent.stream.edit("b", "the second change")
    assert agent.history.undo_by("agent:claude", since).taken == 2
    bench.library.refresh()
    with pytest.raises(WorkbenchError, match="Nothing that claude changed"):
        bench.history.undo_by("agent:claude", since)
    assert [bench.stream.get(id).content for id in "ab"] == ["one", "two"]


def test_what_later_changes_depend_on_stays_whole_and_is_named(
    bench: Workbench, open_bench: Open, clock: Clock
) -> None:
    agent = open_bench("agent:claude")
    since = clock.at
    write(agent, memory("a", "one"), memory("b", "two"))
    agent.stream.pin(["b"], True)
    bench.library.refresh()
    bench.stream.edit("a", "the person's words")
    done = bench.history.undo_by("agent:claude", since)
    assert done.taken == 1
    assert done.left == ("write",)
    assert bench.stream.get("a").content == "the person's words"
    assert not bench.stream.get("b").pinned
    with pytest.raises(WorkbenchError, match="depend on every change"):
        bench.history.undo_by("agent:claude", since)
    agent.library.refresh()
    with pytest.raises(WorkbenchError, match="can undo only its own changes"):
        open_bench("agent:codex").history.undo_by("agent:claude", since)
