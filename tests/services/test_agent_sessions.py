"""What agents did, session by session."""

import os
from dataclasses import replace
from datetime import datetime, timedelta

from tests.services.conftest import Clock, Open, memory, put, write
from workbench.core.agents.read import AgentRead
from workbench.core.stream.memory import Vote
from workbench.services.agents.reading_log import keep, new_id, parent_process
from workbench.services.agents.sessions import AgentSession, Write
from workbench.services.open import Workbench
from workbench.services.stream.votes import cast


def read(at: datetime, query: str, session: str = "", agent: str = "claude") -> AgentRead:
    return AgentRead(new_id(), agent, at, query, session)


def ask(bench: Workbench, *reads: AgentRead) -> None:
    keep(bench.context, reads)


def queries(session: AgentSession) -> list[str]:
    return [one.query for one in session.reads]


def test_one_id_of_one_agent_is_one_session_and_the_latest_is_first(
    open_bench: Open, clock: Clock
) -> None:
    agent, at = open_bench("agent:claude"), clock.at
    ask(agent, read(at, "first", "s-1"), read(at + timedelta(hours=1), "other", "s-2"))
    ask(
        agent,
        read(at + timedelta(hours=2), "again", "s-1"),
        read(at, "codex's own", "s-1", "codex"),
    )
    found = agent.agent_sessions.look()
    told = [(s.agent, s.id, queries(s)) for s in found]
    assert told == [
        ("claude", "s-1", ["again", "first"]),
        ("claude", "s-2", ["other"]),
        ("codex", "s-1", ["codex's own"]),
    ]


def test_without_an_id_a_long_pause_parts_sessions_and_midnight_does_not(
    open_bench: Open, clock: Clock
) -> None:
    agent, late = open_bench("agent:claude"), clock.at.replace(hour=23, minute=50)
    ask(agent, read(late, "before midnight"), read(late + timedelta(minutes=20), "after midnight"))
    ask(agent, read(late + timedelta(minutes=51), "after a pause"))
    assert [queries(s) for s in agent.agent_sessions.look()] == [
        ["after a pause"],
        ["after midnight", "before midnight"],
    ]


def test_a_session_keeps_its_name_while_it_grows(open_bench: Open, clock: Clock) -> None:
    agent = open_bench("agent:claude")
    ask(agent, read(clock.at, "first"))
    (before,) = agent.agent_sessions.look()
    ask(agent, read(clock.at + timedelta(minutes=3), "second"))
    (after,) = agent.agent_sessions.look()
    assert before.key == after.key
    assert before.end < after.end


def test_what_an_agent_wrote_and_voted_stands_in_its_session(
    open_bench: Open, clock: Clock
) -> None:
    person, agent = open_bench(), open_bench("agent:claude")
    put(person, memory("m1", "typed by a person", clock.at))
    agent.library.refresh()
    write(agent, memory("m2", "the deploy runs at noon", clock.at, session_id="s-1"))
    clock.advance(minutes=1)
    cast(agent.context, agent.stream.get("m1"), "harmful", reason="out of date", session="s-1")
    (session,) = agent.agent_sessions.look()
    vote, written = session.acts
    assert isinstance(vote, Vote)
    assert vote.verdict == "harmful"
    assert vote.target == "m1"
    assert isinstance(written, Write)
    assert written.memories == ("m2",)
    assert written.session == "s-1"
    assert session.written == 1
    assert session.votes == 1
    assert len(session.reads) == 0


def test_a_memory_of_the_session_that_came_by_another_hand_belongs_to_it_once(
    open_bench: Open, clock: Clock
) -> None:
    agent = open_bench("agent:claude")
    ask(agent, read(clock.at, "how", "s-1"))
    person = open_bench()
    put(person, memory("m1", "brought in", clock.at - timedelta(minutes=1), session_id="s-1"))
    put(person, memory("m2", "of another", clock.at, session_id="s-2"))
    (session,) = person.agent_sessions.look()
    brought = session.acts[-1]
    assert isinstance(brought, Write)
    assert brought.memories == ("m1",)
    assert brought.rev == 0
    assert session.written == 1


def test_what_comes_later_is_found_too(open_bench: Open, clock: Clock) -> None:
    agent, person = open_bench("agent:claude"), open_bench()
    for number in (1, 2):
        write(agent, memory(f"m{number}", f"the deploy {number} runs at noon", clock.at))
        person.library.refresh()
        assert [s.written for s in person.agent_sessions.look()] == [number]
    assert person.agent_sessions.look() == open_bench().agent_sessions.look()


def test_a_purged_memory_leaves_no_trace_in_a_session(open_bench: Open, clock: Clock) -> None:
    agent, person = open_bench("agent:claude"), open_bench()
    write(agent, memory("m1", "nobody should know this", clock.at, session_id="s-1"))
    person.library.refresh()
    assert len(person.agent_sessions.look()) == 1
    person.eraser.carry_out(person.eraser.plan(["m1"]))
    assert not any(
        "m1" in getattr(act, "memories", ()) for s in person.agent_sessions.look() for act in s.acts
    )


def test_a_servers_session_is_that_of_the_hooks_of_the_same_parent_process(
    open_bench: Open, clock: Clock
) -> None:
    agent, at = open_bench("agent:claude"), clock.at
    brief = replace(read(at, "brief", "hook-1"), door="hook", parent="4711-1")
    mine = [
        replace(read(at + timedelta(minutes=n), f"q{n}", "mcp-a", "claude-code"), parent="4711-1")
        for n in (1, 2)
    ]
    ask(
        agent,
        brief,
        *mine,
        replace(read(at, "elsewhere", "mcp-b"), parent="4712-1"),
        read(at, "unknown", "mcp-c"),
    )
    told = {(s.agent, s.id): queries(s) for s in agent.agent_sessions.look()}
    assert told == {
        ("claude", "hook-1"): ["q2", "q1", "brief"], ("claude", "mcp-b"): ["elsewhere"],
        ("claude", "mcp-c"): ["unknown"],
    }  # fmt: skip


def test_two_sessions_of_hooks_with_one_parent_leave_the_servers_apart(
    open_bench: Open, clock: Clock
) -> None:
    agent, at = open_bench("agent:claude"), clock.at
    briefs = [replace(read(at, "brief", f"hook-{n}"), door="hook", parent="4711-1") for n in (1, 2)]
    ask(agent, *briefs, replace(read(at, "asked", "mcp-a"), parent="4711-1"))
    assert {s.id for s in agent.agent_sessions.look()} == {"hook-1", "hook-2", "mcp-a"}


def test_the_parent_process_is_known_by_its_number_and_its_beginning() -> None:
    known = parent_process()
    assert known.partition("-")[0] == str(os.getppid())
    assert parent_process() == known
