"""Claude asked as Curator and Reflector through the real client: what is sent, what is kept, what
it costs.
"""

import json
import threading
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tests.reflect.server import MessagesServer, Reply
from tests.services.conftest import bring
from workbench.core.playbook.operations import Add, BulletTag
from workbench.core.record import UnreadableFile
from workbench.core.reflection.llm import UnreadableReply
from workbench.core.reflection.reflector import ReflectionProblem, Step
from workbench.core.stream.memory import Memory
from workbench.services.open import Workbench, open_workbench
from workbench.services.playbook.curation import LATEST, CurationPlan, read_episode

TEXT = """## RULES
[r-00001] helpful=2 harmful=0 :: Look before you leap.
[r-00002] helpful=1 harmful=0 :: The password: hunter2-Xy9-kk41 opens the vault.
## OTHERS
"""
CURATION = json.dumps({
    "reasoning": "Paging is missing.",
    "operations": [{"type": "ADD", "section": "RULES", "content": "Stop at an empty page.", "reason": "Missed."}],
})  # fmt: skip
ANALYSIS = json.dumps({
    "key_insight": "Always page on.", "correct_approach": "Ask until a page is empty.",
    "bullet_tags": [{"id": "r-00001", "tag": "harmful"}],
})  # fmt: skip
RUN = {
    "question": "How many songs?", "reasoning": "I added page 0.", "answer": 20, "ground_truth": "60",
    "feedback": "Too low.", "bullets": ["[r-00001]", {"id": "zz-00009"}],
}  # fmt: skip
START = datetime(2026, 11, 20, 12, tzinfo=UTC)


class Clock:
    """A clock that moves a second with every look."""

    now = START

    def __call__(self) -> datetime:
        self.now += timedelta(seconds=1)
        return self.now


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Workbench]:
    bench = open_workbench(tmp_path / "store", profiles=tmp_path / "profiles", clock=Clock())
    bring(bench, tmp_path / "book.txt", TEXT)
    yield bench
    bench.close()


def remember(bench: Workbench, *texts: str, status: str = "confirmed") -> list[Memory]:
    with bench.library.transaction("human", "remember") as tx:
        now = bench.context.now()
        made = [Memory(tx.new_memory_id(now), text, now, now, status=status) for text in texts]  # type: ignore[arg-type]
        for memory in made:
            tx.put(memory)
    return made


def quiet(_step: Step) -> None:
    """Hear of progress and do nothing."""


def never() -> bool:
    return False


def planned(bench: Workbench) -> CurationPlan:
    """The curation of what is new."""
    return bench.curation.plan("book", bench.curation.unseen("book"))


def told(bench: Workbench) -> list[str]:
    return [memory.content for memory in bench.curation.unseen("book").memories]


def test_without_a_key_it_says_how_to_get_one_and_still_shows_what_would_be_sent(
    bench: Workbench,
) -> None:
    assert "ANTHROPIC_API_KEY" in bench.curation.missing
    remember(bench, "Pages start at 0.")
    assert "Pages start at 0." in planned(bench).preview.texts[0]


@pytest.mark.slow
def test_what_is_sent_is_what_the_preview_shows_with_secrets_masked(
    bench: Workbench, claude: MessagesServer, script: list[Reply]
) -> None:
    script.append(Reply(CURATION))
    remember(bench, "The key is AKIAIOSFODNN7EXAMPLE for paging.")
    plan = planned(bench)
    asked = bench.curation.ask(plan, quiet, never)
    sent = claude.requests[0].prompt
    assert plan.preview.texts == (sent,)
    assert "AKIAIOSFODNN7EXAMPLE" not in sent
    assert "hunter2-Xy9-kk41" not in sent
    assert "[r-00001] helpful=2 harmful=0 :: Look before you leap." in sent
    assert [part for part, _ in asked.replies[0].parts] == [Add("RULES", "Stop at an empty page.")]
    assert asked.usage.total == 160
    assert bench.curation.runs.spent() == 160


def test_the_next_curation_tells_only_what_was_confirmed_since(
    bench: Workbench, claude: MessagesServer, script: list[Reply]
) -> None:
    remember(bench, *(f"Lesson {n}." for n in range(LATEST + 4)))
    (waiting,) = remember(bench, "A candidate of before.", status="candidate")
    remember(bench, "Only a signal.", status="signal")
    first = bench.curation.unseen("book")
    assert len(first.memories) == LATEST
    assert first.left_out == 4
    assert first.since is None
    script += [Reply(CURATION), Reply(CURATION)]
    bench.curation.ask(bench.curation.plan("book", first), quiet, never)
    assert told(bench) == []
    assert len(bench.curation.latest().memories) == LATEST
    remember(bench, "New.")
    bench.review.approve([waiting.id])
    assert told(bench) == ["A candidate of before.", "New."]
    bench.curation.ask(bench.curation.plan("book", bench.curation.latest()), quiet, never)
    assert told(bench) == ["A candidate of before.", "New."], (
        "the latest are no curation of what is new"
    )
    assert len(claude.requests) == 2


def test_a_curation_that_does_not_count_leaves_all_to_be_told(
    bench: Workbench, claude: MessagesServer, script: list[Reply]
) -> None:
    assert claude.url
    remember(bench, "One.")
    script.append(Reply(CURATION))
    bench.curation.ask(planned(bench), quiet, never, covers=False)
    assert bench.curation.unseen("book").since is None
    with pytest.raises(ReflectionProblem):
        bench.curation.ask(planned(bench), quiet, never)
    assert bench.curation.unseen("book").since is None


def test_a_reply_that_cannot_be_read_is_kept_and_read_again_once_edited(
    bench: Workbench, claude: MessagesServer, script: list[Reply]
) -> None:
    assert claude.url
    remember(bench, "One.")
    script.append(Reply(CURATION[:-3]))
    asked = bench.curation.ask(planned(bench), quiet, never)
    (kept,) = asked.unread
    assert asked.problem is not None
    assert kept.reply.reply == CURATION[:-3]
    assert kept.reply.stage == "curate"
    assert bench.curation.waiting("other") == ()
    assert bench.reflecting.runs.waiting() == (), "no candidates can be made of it"
    assert bench.curation.unseen("book").since is None
    with pytest.raises(UnreadableReply):
        bench.curation.read_again(kept, "still nothing")
    assert bench.curation.waiting("book") == (kept,)
    assert len(bench.curation.read_again(kept, CURATION).parts) == 1
    assert bench.curation.waiting("book") == ()
    assert told(bench) == []
    bench.history.undo()
    assert bench.curation.waiting("book") == (kept,)
    bench.curation.dismiss(kept)
    assert bench.curation.waiting("book") == ()
    assert told(bench) == ["One."]


def test_cancelling_keeps_what_came_in(
    bench: Workbench, claude: MessagesServer, script: list[Reply]
) -> None:
    assert claude.url
    remember(bench, "One.")
    hold, stop = threading.Event(), threading.Event()
    script.append(Reply(CURATION, hold=hold))

    def tell(step: Step) -> None:
        if step.text:
            stop.set()

    asked = bench.curation.ask(planned(bench), tell, stop.is_set)
    hold.set()
    assert asked.replies == ()
    assert CURATION.startswith(asked.unread[0].reply.reply)


def test_a_run_is_analysed_and_what_was_learned_is_told_the_curator(
    bench: Workbench, claude: MessagesServer, script: list[Reply], tmp_path: Path
) -> None:
    (tmp_path / "run.json").write_text(json.dumps(RUN))
    script += [Reply(ANALYSIS), Reply(CURATION)]
    plan = bench.curation.plan_run("book", read_episode(tmp_path / "run.json"))
    assert [b.id for b in plan.used] == ["r-00001"]
    assert plan.unknown == ("zz-00009",)
    asked = bench.curation.ask(plan, quiet, never)
    first, second = (seen.prompt for seen in claude.requests)
    assert plan.preview.texts == (first,)
    assert all(
        part in first
        for part in ("How many songs?", "I added page 0.", "20", "Feedback: Too low.", "60")
    )
    assert "1. Always page on.\n2. What to do instead: Ask until a page is empty." in second
    reflector, curator = asked.replies
    assert [part for part, _ in reflector.parts] == [BulletTag("r-00001", "harmful")]
    assert [part for part, _ in curator.parts] == [Add("RULES", "Stop at an empty page.")]
    assert bench.curation.unseen("book").since is None


def test_a_curator_that_fails_after_the_reflector_loses_no_mark(
    bench: Workbench, claude: MessagesServer, script: list[Reply], tmp_path: Path
) -> None:
    assert claude.url
    (tmp_path / "run.json").write_text(json.dumps(RUN))
    script.append(Reply(ANALYSIS))
    asked = bench.curation.ask(
        bench.curation.plan_run("book", read_episode(tmp_path / "run.json")), quiet, never
    )
    assert [reply.actor for reply in asked.replies] == ["reflector"]
    assert asked.problem is not None
    assert bench.curation.runs.spent() == 160


def test_the_room_left_in_the_playbooks_budget_is_said(bench: Workbench) -> None:
    remember(bench, "One.")
    used = bench.playbooks.view("book").tokens
    bench.playbooks.set_budget("book", used + 500)
    plan = planned(bench)
    assert plan.room == 500
    assert "at most 500 tokens" in plan.preview.texts[0]


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (lambda _run: "{", "is not JSON"),
        (lambda _run: "[]", "not contain a JSON object"),
        (lambda run: json.dumps({**run, "question": ""}), "is not a run"),
        (lambda run: json.dumps({**run, "bullets": "r-1"}), "not a list of ids"),
        (lambda run: json.dumps({**run, "bullets": [3]}), "not a list of ids"),
    ],
)
def test_a_file_that_is_no_run_says_why(
    tmp_path: Path, spoil: Callable[[dict[str, object]], str], said: str
) -> None:
    path = tmp_path / "run.json"
    path.write_text(spoil(dict(RUN)))
    with pytest.raises(UnreadableFile, match=said) as caught:
        read_episode(path)
    assert "run.json" in caught.value.message
