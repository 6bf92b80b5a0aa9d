"""From memories to candidates in Review: what is stored, what is taken back by undo, what is never
lost.
"""

from dataclasses import replace
from datetime import timedelta

import pytest

from tests.busy_store import go_on, stopped_holder
from tests.reflect.server import NO_RETRY, MessagesServer, Reply, error_reply
from tests.services.conftest import NOON, Clock, Open, memory, put, snapshot
from workbench.core.files.locks import Patience, waiting
from workbench.core.limits import LlmSettings
from workbench.core.record import InvalidRecord, WorkbenchError
from workbench.core.reflection.reflector import Insight, ReflectionProblem, Step, Usage
from workbench.core.reflection.trigger import ReflectionState
from workbench.core.stream.memory import MAX_CONTENT, Source
from workbench.reflect.claude.asker import Budget
from workbench.reflect.claude.reflector import ClaudeReflector
from workbench.services.open import Workbench
from workbench.services.reflection.gauge import state_of
from workbench.services.reflection.reflection import (
    CLAUDE,
    EXTRACTIVE,
    Outcome,
    Plan,
    Reflecting,
    drafts_of,
)
from workbench.services.stream.observation import Observation, append

QUESTION = "1. Why do the checks fail in CI only?"
SAID = "Always map the secret, because called workflows get none"
INSIGHT = f"1. {SAID} (because of 1, 2)"
PROSE = "The team learns quickly and finds most of it late."


def quiet(step: Step) -> None:
    """Hear of progress."""


def never() -> bool:
    return False


NONE_ALIKE = Reply("No two of them.")
"""What Claude says of signals of which none teach the same."""


def made(reflecting: Reflecting, plan: Plan | None = None) -> Outcome:
    return reflecting.reflect(plan or reflecting.plan(reflecting.default()), quiet, never)


@pytest.fixture
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-test")


@pytest.fixture
def claude(bench: Workbench, key: None, server: MessagesServer) -> Reflecting:
    """Reflecting over three memories, with a Claude on this machine that is given no second chance."""
    put(
        bench,
        memory("m1", "CI run 4812 fails: AUTH_SECRET is missing", NOON - timedelta(hours=3)),
        memory("m2", "A called workflow gets no secrets by default", NOON - timedelta(hours=2)),
        memory("m3", "The nightly run is green", NOON - timedelta(hours=1)),
        ReflectionState(150.0, 20, NOON - timedelta(hours=30)),
    )

    def connect(budget: Budget) -> ClaudeReflector:
        settings = bench.context.settings.claude
        return ClaudeReflector(settings, budget, server.url, "sk-test", retries=0)

    return Reflecting(bench.context, lambda: bench.retriever, connect=connect)


# On this machine


@pytest.mark.slow
def test_the_demo_gets_candidates_with_evidence_that_is_there(demo: Workbench) -> None:
    outcome = made(demo.reflecting)
    assert 5 <= len(outcome.candidates) <= 10
    waiting = {p.id: p for p in demo.review.queue()}
    for candidate in outcome.candidates:
        assert candidate == demo.library.memories.get(candidate.id)
        assert candidate.status == "candidate"
        assert candidate.memory_type == "semantic"
        assert candidate.is_synthetic is True
        assert 4.0 <= candidate.importance_score <= 10.0
        assert candidate.metadata["label"] == candidate.metadata["reflector"] == "extractive"
        assert len(candidate.citations) >= 2
        assert all(id in demo.library.memories for id in candidate.citations)
        assert waiting[candidate.id].flags == ()
        assert waiting[candidate.id].actor == "extractive"
    first = outcome.candidates[0]
    assert f"; {len(first.citations)} memories, " in str(first.metadata["why"])
    assert len({candidate.importance_score for candidate in outcome.candidates}) > 2


@pytest.mark.slow
def test_a_dry_run_stores_nothing_and_says_what_the_real_one_stores(demo: Workbench) -> None:
    reflecting, before = demo.reflecting, snapshot(demo)
    plan = reflecting.plan(EXTRACTIVE)
    rev = demo.library.journal.rev
    dry = reflecting.dry_run(plan, quiet, never)
    assert snapshot(demo) == before
    assert demo.library.journal.rev == rev
    real = made(reflecting, plan)
    assert [replace(c, id="") for c in real.candidates] == list(dry.candidates)
    assert real.reflection == dry.reflection


@pytest.mark.slow
def test_one_undo_takes_back_the_candidates_and_the_gauge(demo: Workbench) -> None:
    before = snapshot(demo)
    made(demo.reflecting)
    entry = next(iter(demo.history.events()))
    assert entry.actor == "reflector:extractive"
    assert demo.reflecting.gauge().due is None
    demo.history.undo_revision(entry.rev)
    assert snapshot(demo) == before
    assert demo.reflecting.gauge().due is not None


def test_candidates_are_not_read_and_reflections_are(bench: Workbench, clock: Clock) -> None:
    put(
        bench,
        memory("old", "Seen first", NOON - timedelta(days=2)),
        memory(
            "thought",
            "A reflection",
            NOON - timedelta(days=1),
            is_synthetic=True,
            status="confirmed",
        ),
        memory("new", "Seen last", NOON - timedelta(hours=1)),
        memory(
            "waits", "A candidate", NOON - timedelta(hours=1), status="candidate", is_synthetic=True
        ),
        memory("gone", "Forgotten", NOON, status="archived", archived_reason="forgotten"),
        memory("later", "From tomorrow", NOON + timedelta(days=1)),
    )
    plan = bench.reflecting.plan(EXTRACTIVE)
    assert [m.id for m in plan.request.memories] == ["old", "thought", "new"]
    assert plan.since == NOON - timedelta(days=2)


@pytest.mark.slow
def test_observations_made_meanwhile_stay_on_the_gauge(demo: Workbench, open_bench: Open) -> None:
    plan = demo.reflecting.plan(EXTRACTIVE)
    agent = open_bench("agent:claude")
    agent.ingest.add(Observation("Something nobody has ever noticed happened to the lighthouse"))
    demo.library.journal.refresh()
    made(demo.reflecting, plan)
    state = state_of(demo.context)
    assert state.observations_since_last == 1
    assert state.accumulated_importance == 5.0


def test_reflections_do_not_move_the_gauge_and_appending_does(
    bench: Workbench, open_bench: Open
) -> None:
    put(
        bench,
        *(memory(f"m{i}", f"Deploys of the api need the lock, attempt {i}") for i in range(4)),
    )
    made(bench.reflecting)
    assert state_of(bench.context).observations_since_last == 0
    append(
        bench.library.folder,
        Observation("A hook saw an error", "error"),
        "agent:hook",
        lambda: NOON,
    )
    bench.library.journal.refresh()
    state = state_of(bench.context)
    assert state.observations_since_last == 1
    assert state.accumulated_importance == 9.0


def test_a_cancelled_one_stores_nothing_when_nothing_was_found(demo: Workbench) -> None:
    before = snapshot(demo)
    outcome = demo.reflecting.reflect(demo.reflecting.plan(EXTRACTIVE), quiet, lambda: True)
    assert outcome.candidates == ()
    assert outcome.reflection.complete is False
    assert snapshot(demo) == before


def test_what_a_user_states_for_every_time_is_pinned_by_approving_it(bench: Workbench) -> None:
    put(
        bench,
        memory("m1", "User: Never deploy on Fridays. Thanks!", NOON - timedelta(hours=3)),
        memory(
            "m2",
            "I prefer short answers.",
            NOON - timedelta(hours=2),
            source=Source(speaker="user"),
        ),
        memory(
            "m3",
            "Always remember to log out.",
            NOON - timedelta(hours=1),
            source=Source(speaker="assistant"),
        ),
    )
    found = made(bench.reflecting).candidates
    assert [(m.content, m.citations, m.status, m.pinned) for m in found] == [
        ("Never deploy on Fridays.", ("m1",), "candidate", True),
        ("I prefer short answers.", ("m2",), "candidate", True),
    ]
    bench.review.approve([found[0].id])
    kept = bench.library.memories.get(found[0].id)
    assert kept.status == "confirmed"
    assert kept.pinned is True
    assert not made(bench.reflecting).candidates


# With Claude


def test_claude_is_the_default_when_there_is_a_key(
    bench: Workbench, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert bench.reflecting.default() == EXTRACTIVE
    with pytest.raises(ReflectionProblem, match="No API key for Claude"):
        bench.reflecting.plan(CLAUDE)
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-test")
    assert bench.reflecting.default() == CLAUDE
    with pytest.raises(WorkbenchError, match="reflector “oracle”"):
        bench.reflecting.plan("oracle")


def test_what_claude_finds_waits_in_review(
    bench: Workbench, claude: Reflecting, script: list[Reply]
) -> None:
    script += [Reply(QUESTION), Reply(INSIGHT + "\n2. Reviews are short (because of 99)")]
    steps: list[Step] = []
    outcome = claude.reflect(claude.plan(CLAUDE), steps.append, never)
    mapped, bare = outcome.candidates
    assert mapped.content == SAID
    assert mapped.citations == ("m1", "m2")
    assert mapped.metadata["question"] == "Why do the checks fail in CI only?"
    assert bare.metadata["unresolved"] == ["99"]
    flags = {p.id: p.flags for p in bench.review.queue()}
    assert flags == {mapped.id: (), bare.id: ("no evidence",)}
    assert claude.runs.spent() == outcome.reflection.usage.total == 320
    assert "".join(step.text for step in steps).startswith(QUESTION)
    assert next(iter(bench.history.events())).actor == "reflector:claude"
    assert not claude.gauge().due


def test_what_claude_found_is_not_given_up_while_others_hold_the_store(
    bench: Workbench, claude: Reflecting, script: list[Reply]
) -> None:
    script += [Reply(QUESTION), Reply(INSIGHT)]
    plan = claude.plan(CLAUDE)
    with stopped_holder(bench.library.folder) as holder:
        impatient = Patience(0, gives_up=lambda: True, waits_for=lambda _: go_on(holder))
        with waiting(impatient):
            outcome = made(claude, plan)
    assert [m.id for m in outcome.candidates] == [
        m.id for m in bench.library.memories.all() if m.status == "candidate"
    ]
    assert outcome.candidates
    assert claude.runs.spent()


@pytest.mark.parametrize(
    "reworded", [SAID.lower() + ".", "Always map each secret: called workflows get none"]
)
def test_what_waits_or_was_approved_is_seen_again_by_what_is_cited_beyond_it(
    bench: Workbench, claude: Reflecting, script: list[Reply], reworded: str
) -> None:
    script += [Reply(QUESTION), Reply(INSIGHT), NONE_ALIKE] * 2
    script += [Reply(QUESTION), Reply(f"1. {reworded} (because of 2, 3)")]
    (first,) = made(claude).candidates
    second = made(claude)
    assert second.candidates == ()
    assert second.again == (first,)
    bench.review.approve([first.id])
    third = made(claude)
    assert third.candidates == ()
    assert [m.id for m in third.again] == [first.id]
    seen = bench.library.memories.get(first.id)
    assert seen.status == "confirmed"
    assert seen.content == SAID
    assert seen.citations == ("m1", "m2", "m3")
    assert seen.helpful_absorbed == 1
    assert state_of(bench.context).observations_since_last == 0


def test_what_was_rejected_is_raised_only_with_new_evidence(
    bench: Workbench, claude: Reflecting, script: list[Reply]
) -> None:
    bare = f"1. {SAID}"
    for reply in (INSIGHT, INSIGHT, bare, f"{bare} (because of 3)", f"{bare} (because of 1, 3)"):
        script += [Reply(QUESTION), Reply(reply), NONE_ALIKE]
    found = []
    for _ in range(5):
        outcome = made(claude)
        found.append([m.citations for m in outcome.candidates])
        if outcome.candidates:
            bench.review.reject([m.id for m in outcome.candidates])
    assert found == [[("m1", "m2")], [], [], [("m3",)], []]


def test_the_memories_that_bear_most_on_a_question_are_sent(
    bench: Workbench, claude: Reflecting, script: list[Reply], server: MessagesServer
) -> None:
    old = [
        memory(f"a{i}", f"The lamp of the lighthouse failed, case {i}", NOON - timedelta(days=9))
        for i in range(9)
    ]
    new = [
        memory(f"b{i}", f"Order {i} was packed and shipped", NOON - timedelta(days=1))
        for i in range(80)
    ]
    put(bench, *old, *new)
    script += [
        Reply("1. Why does the lamp of the lighthouse fail?"),
        Reply("1. Lamps age (because of 9)\nIt may rain."),
    ]
    outcome = made(claude)
    first, second, _ = (seen.prompt for seen in server.requests)
    assert first.count("packed and shipped") == 80
    assert first.count("lighthouse") == 9
    assert second.count("the lighthouse failed, case") == 9
    assert second.count("[2026-") == 50
    assert [m.citations for m in outcome.candidates] == [("a8",)]
    (waiting,) = outcome.unread
    assert waiting.reply.reply == "It may rain."
    (edited,) = claude.read_again(waiting, "1. Rain makes the lamp fail (because of 1)")
    assert edited.citations == ("a0",)


def test_signals_that_teach_one_thing_are_proposed_as_one(
    bench: Workbench, claude: Reflecting, script: list[Reply], server: MessagesServer
) -> None:
    """Tier 2 with a key (source 001, 3.3)."""
    put(bench, memory("m4", "Map the secrets", NOON, status="confirmed"))
    grouped = (
        "1. Map AUTH_SECRET: a called workflow gets none (because of 1, 2)\n2. Green (because of 3)"
    )
    script += [Reply(QUESTION), Reply(INSIGHT), Reply(grouped)]
    plan = claude.plan(CLAUDE)
    assert "3 signals" in plan.preview.remark
    outcome = made(claude, plan)
    assert "Map the secrets" not in server.requests[2].prompt, "that is no signal"
    assert outcome.reflection.usage.total == 3 * 160
    (merge,) = (one for one in bench.review.queue() if one.kind == "merge")
    assert set(merge.evidence) == {"m1", "m2"}
    assert merge.actor == "reflector:claude"
    assert bench.library.memories.get("m1").status == "signal"
    bench.review.approve([merge.id])
    left = bench.library.memories.get(merge.evidence[-1])
    assert left.content == "Map AUTH_SECRET: a called workflow gets none"
    assert left.status == "signal"


def test_undo_gives_no_token_back(
    bench: Workbench, claude: Reflecting, script: list[Reply]
) -> None:
    script += [Reply(QUESTION), Reply(INSIGHT)]
    made(claude)
    entry = next(iter(bench.history.events()))
    bench.history.undo_revision(entry.rev)
    assert bench.review.waiting() == 0
    assert claude.gauge().due
    assert claude.runs.spent() == 320
    assert bench.overview.since(0).read == (), "what Claude cost is no read of a memory"


def test_only_masked_text_is_sent_and_stored(
    bench: Workbench, claude: Reflecting, script: list[Reply], server: MessagesServer
) -> None:
    put(bench, memory("m4", "The password is hunter2", NOON))
    script += [Reply(QUESTION), Reply("1. The password hunter2 is weak (because of 4)")]
    hiding = Reflecting(bench.context, lambda: bench.retriever, _without_password, claude._connect)
    plan = hiding.plan(CLAUDE, "Is hunter2 safe?")
    outcome = made(hiding, plan)
    assert plan.preview.texts[0] == server.requests[0].prompt
    assert "Is ••• safe?" in plan.preview.texts[0]
    assert not any("hunter2" in seen.prompt for seen in server.requests)
    assert outcome.candidates[0].content == "The password ••• is weak"


def _without_password(text: str) -> str:
    return text.replace("hunter2", "•••")


def test_a_month_that_is_used_up_stops_before_anything_is_sent(
    bench: Workbench, claude: Reflecting, server: MessagesServer, clock: Clock
) -> None:
    claude.runs.record("claude", Usage(900_000, 99_999))
    with pytest.raises(ReflectionProblem, match="999,999 of this month's 1,000,000 are used"):
        made(claude)
    assert server.requests == []
    clock.advance(days=10)
    assert claude.runs.spent() == 0, "in December there is a new month"


def test_what_was_found_before_a_failure_is_kept(
    bench: Workbench, claude: Reflecting, script: list[Reply]
) -> None:
    script += [
        Reply(QUESTION + "\n2. What else?"),
        Reply(INSIGHT),
        error_reply(500, "api_error", "down", NO_RETRY),
    ]
    outcome = made(claude)
    assert [c.content for c in outcome.candidates] == [SAID]
    assert not outcome.reflection.complete
    assert outcome.reflection.stopped
    assert not claude.gauge().due


@pytest.fixture
def unread(bench: Workbench, claude: Reflecting, script: list[Reply]) -> Outcome:
    """A reflection whose only reply with insights could not be read."""
    script += [Reply(QUESTION), Reply(PROSE)]
    return made(claude)


def test_a_reply_that_could_not_be_read_is_kept_as_it_came(
    bench: Workbench, claude: Reflecting, unread: Outcome, open_bench: Open
) -> None:
    (waiting,) = unread.unread
    assert waiting.reply.reply == PROSE
    assert waiting.reply.stage == "insights"
    assert waiting.reply.reason
    assert unread.candidates == ()
    again = open_bench().reflecting.runs.waiting()
    assert again == (waiting,), "it is there after a restart"


def test_it_can_be_asked_again_and_stays_when_that_fails(
    claude: Reflecting, unread: Outcome, script: list[Reply], server: MessagesServer
) -> None:
    script += [error_reply(500, "api_error", "down", NO_RETRY), Reply(INSIGHT)]
    with pytest.raises(ReflectionProblem):
        claude.ask_again(unread.unread[0], quiet, never)
    assert claude.runs.waiting() == unread.unread
    outcome = claude.ask_again(unread.unread[0], quiet, never)
    assert [c.citations for c in outcome.candidates] == [("m1", "m2")]
    assert "Why do the checks fail in CI only?" in server.requests[-1].prompt
    assert claude.runs.waiting() == ()
    assert claude.runs.spent() == 480


def test_it_can_be_edited_into_candidates_or_let_go_of_and_back(
    bench: Workbench, claude: Reflecting, unread: Outcome
) -> None:
    (waiting,) = unread.unread
    with pytest.raises(InvalidRecord, match="No text for a candidate"):
        claude.read_again(waiting, "  \n\n ")
    claude.dismiss(waiting)
    assert claude.runs.waiting() == ()
    bench.history.undo()
    assert claude.runs.waiting() == (waiting,)
    (stored,) = claude.read_again(waiting, "- Most of it is found late (because of 1, 3)")
    assert stored.content == "Most of it is found late"
    assert stored.citations == ("m1", "m3")
    assert claude.runs.waiting() == ()
    bench.history.undo()
    assert claude.runs.waiting() == (waiting,)
    assert bench.review.waiting() == 0
    loose = claude.read_again(waiting, "First thing.\n\nSecond thing.")
    assert [c.content for c in loose] == ["First thing.", "Second thing."]
    assert all(p.flags == ("no evidence",) for p in bench.review.queue())


def test_the_settings_say_how_much_is_read(bench: Workbench, claude: Reflecting) -> None:
    few = replace(
        bench.context, settings=bench.context.settings._replace(claude=LlmSettings(memories=2))
    )
    plan = Reflecting(few, lambda: bench.retriever, connect=claude._connect).plan(CLAUDE)
    assert [m.id for m in plan.request.memories] == ["m2", "m3"]


# Drafts


def test_drafts_are_fit_to_be_stored() -> None:
    insights = [
        Insight("  Text\0 with a hole  ", importance=11.0),
        Insight("x" * (MAX_CONTENT + 5), importance=-1.0, rounds=("first", "second")),
        Insight("   "),
    ]
    drafts = drafts_of(insights, "claude", NOON, lambda id: None, lambda text: text)
    assert [len(d.content) for d in drafts] == [len("Text\ufffd with a hole"), MAX_CONTENT]
    assert [d.importance_score for d in drafts] == [10.0, 0.0]
    assert drafts[1].metadata["rounds"] == ["first", "second"]
    assert "why" not in drafts[0].metadata


def test_what_is_said_twice_becomes_one_candidate_that_rests_on_both() -> None:
    said = [
        Insight("Pin  it.", ("a", "b")),
        Insight("Other", ("a",)),
        Insight("pin it.\n", ("b", "c"), ("9",)),
    ]
    drafts = drafts_of(said, "claude", NOON, lambda id: None, lambda text: text)
    assert [(draft.content, draft.citations) for draft in drafts] == [
        ("Pin  it.", ("a", "b", "c")),
        ("Other", ("a",)),
    ]
    assert drafts[0].metadata["unresolved"] == ["9"]
