"""Votes by every door: one live vote per actor, record and session, counted once."""

import threading

import pytest

from tests.services.conftest import NOON, Clock, Open, memory, put
from workbench.core.playbook.book import Book, Bullet, Section
from workbench.core.record import InvalidRecord, UnknownRecord
from workbench.services.open import Workbench
from workbench.services.stream import votes
from workbench.services.stream.observation import Observation
from workbench.services.stream.votable import find_votable


@pytest.fixture
def one(bench: Workbench) -> Workbench:
    put(bench, memory("a", "text", helpful_imported=3))
    for book in ("x", "y"):
        put(
            bench,
            Book(book),
            Section("s", "s", "S", book=book),
            Bullet(f"only-{book}", "s", "text", book=book),
        )
        put(bench, Bullet("both", "s", "text", book=book, aliases=(f"was-{book}",)))
    return bench


def test_a_vote_is_counted_and_kept_as_an_event(one: Workbench) -> None:
    result = votes.cast(one.context, one.stream.get("a"), "helpful", reason="it held", session="s1")
    record = one.stream.get("a")
    assert record.helpful_votes == 1
    assert record.helpful_count == 4
    assert record.last_feedback_at == NOON
    (vote,) = one.library.votes.all()
    assert vote == result.vote
    assert vote.actor == "human"
    assert vote.verdict == "helpful"
    assert vote.reason == "it held"
    assert vote.session == "s1"
    assert vote.at == NOON


def test_the_same_vote_again_writes_nothing_unless_the_reason_is_new_and_another_replaces_it(
    one: Workbench, clock: Clock
) -> None:
    votes.cast(one.context, one.stream.get("a"), "helpful")
    rev = one.library.journal.rev
    clock.advance(hours=1)
    result = votes.cast(one.context, one.stream.get("a"), "helpful")
    assert result.changed is False
    assert result.told() == "You already voted helpful on a."
    assert one.library.journal.rev == rev
    assert votes.cast(one.context, one.stream.get("a"), "helpful", reason="why").changed
    assert one.stream.get("a").helpful_votes == 1
    result = votes.cast(one.context, one.stream.get("a"), "harmful")
    record = one.stream.get("a")
    assert record.helpful_votes == 0
    assert record.harmful_votes == 1
    assert len(one.library.votes) == 1
    assert result.told() == "Voted harmful on a instead of helpful."


def test_a_person_has_one_vote_whatever_door_it_comes_in_by(
    one: Workbench, open_bench: Open
) -> None:
    door = open_bench("cli")
    one.stream.vote(["a"], "helpful")
    votes.cast(door.context, door.stream.get("a"), "harmful")
    one.library.journal.refresh()
    assert one.stream.get("a").helpful_votes == 0
    assert one.stream.get("a").harmful_votes == 1
    assert one.stream.live_vote("a") == "harmful"


def test_two_processes_never_count_one_vote_twice(one: Workbench, open_bench: Open) -> None:
    doors = [open_bench("cli") for _ in range(4)]
    start = threading.Barrier(len(doors))

    def vote(door: Workbench) -> None:
        record = door.stream.get("a")
        start.wait()
        votes.cast(door.context, record, "helpful")

    threads = [threading.Thread(target=vote, args=(door,)) for door in doors]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    one.library.journal.refresh()
    assert one.stream.get("a").helpful_votes == 1
    assert len(one.library.votes) == 1


def test_a_vote_on_what_is_gone_raises(one: Workbench, open_bench: Open) -> None:
    record = one.stream.get("a")
    with one.library.transaction("setup", "purge") as tx:
        tx.delete(record)
    with pytest.raises(UnknownRecord):
        votes.cast(one.context, record, "helpful")
    assert len(one.library.votes) == 0


@pytest.mark.parametrize(
    ("name", "found"), [("a", "a"), ("only-x", "only-x"), ("y/both", "both"), ("was-y", "both")]
)
def test_what_is_voted_on_is_found_by_its_names(one: Workbench, name: str, found: str) -> None:
    assert find_votable(one.context, name).id == found


def test_a_name_of_two_bullets_has_to_be_made_clear(one: Workbench) -> None:
    with pytest.raises(InvalidRecord, match="x/both, y/both"):
        find_votable(one.context, "both")
    with pytest.raises(UnknownRecord, match="no memory or bullet none"):
        find_votable(one.context, "none")


def test_a_name_means_the_bullet_that_has_it_now_before_one_that_had_it_once(
    one: Workbench,
) -> None:
    put(one, Bullet("heir", "s", "text", book="x", aliases=("only-y",)))
    assert find_votable(one.context, "only-y") == one.playbooks.bullet("y", "only-y")
    assert find_votable(one.context, "was-x") == one.playbooks.bullet("x", "both")


def test_what_an_agent_votes_on_its_own_memory_is_not_counted(
    bench: Workbench, open_bench: Open
) -> None:
    agent = open_bench("agent:claude")
    made = agent.ingest.add(
        Observation("The staging database is reset on Mondays", "discovery")
    ).memory
    result = votes.cast(agent.context, made, "helpful", session="s-1")
    assert result.changed is False
    assert result.is_own is True
    assert "this agent's own" in result.told()
    assert agent.library.memories.get(made.id).helpful_votes == 0
    other = open_bench("agent:codex")
    assert votes.cast(other.context, made, "helpful").changed
    bench.library.refresh()
    bench.stream.edit(made.id, "A person corrected this")
    agent.library.refresh()
    assert votes.cast(
        agent.context, agent.library.memories.get(made.id), "harmful", session="s-1"
    ).changed
