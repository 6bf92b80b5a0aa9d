"""A kind of proposals that nobody else knows: proposed, listed, shown, accepted, edited, put off, turned down, undone.

The toy asks whether a memory is urgent: a yes tags it, a no is remembered with the memory. Its finder asks that of
every memory about smoke, without storing the question.
"""

import json
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from pathlib import Path

import pytest
from textual.content import Content

from tests.tui.support import NOW, app_over, screen_text
from tests.tui.waiting import until
from workbench.bench.open import Workbench, open_workbench
from workbench.bench.promotion.plan import Target
from workbench.bench.review.evidence import Evidence
from workbench.bench.review.finders.finder import Cancelled, Finder, Parts
from workbench.bench.review.kinds.handler import Handler, noted
from workbench.bench.stream.fields import FieldEdit
from workbench.cli.main import run
from workbench.config import paths
from workbench.core.errors import WorkbenchError
from workbench.core.review.kinds import KINDS, Kinds, ProposalKind
from workbench.core.review.proposal import Proposal
from workbench.core.stream.memory import Memory
from workbench.tui.review.views import Cites, Look, View


class Urgent(Handler):
    """What a decision does."""

    def becoming(self, proposal: Proposal) -> tuple[Memory, ...]:
        return (self.subject(proposal),)

    def subject(self, proposal: Proposal) -> Memory:
        memory = self._library.memories.get(self.about(proposal))
        return self.with_edits(proposal, replace(memory, tags=(*memory.tags, "urgent")))

    def turn_down(self, proposal: Proposal, reason: str, at: datetime) -> tuple[object, ...]:
        memory = self._library.memories.get(self.about(proposal))
        return (self.rejected(proposal, at), noted(memory, {"calm": reason or "no"}))


def _drawn(look: Look) -> Content:
    memory = look.shown(look.memory)
    assert memory is not None
    return Content(f"Drop everything? {memory.content}")


def _cited(evidence: Evidence, how: Cites) -> list[Content]:
    return [Content(f"{len(evidence.cited)} cited in {how.width} cells")]


def _smoke(parts: Parts, cancelled: Cancelled) -> tuple[Proposal, ...]:
    now, every = parts.context.now(), parts.context.library.memories.all()
    smoking = (memory for memory in every if "smoke" in memory.content and not cancelled())
    return tuple(Proposal(f"urgent-{one.id}", "urgent", "watcher", one.line, now, (one.id,)) for one in smoking)


FINDER = Finder(_smoke)
VIEW = View(_drawn, _cited, no_merge="Urgent things are not merged.")
URGENT = ProposalKind(
    "urgent", "urgent?", "Is this urgent?", "it is tagged “urgent”", "it is noted as calm", sign="‼",
    handler="tests.plug.test_proposal_kind:Urgent", view="tests.plug.test_proposal_kind:VIEW",
    settled_by_promotion=True, group="true", finder="tests.plug.test_proposal_kind:FINDER",
)  # fmt: skip

# Not at the end, so that nothing can rely on the order.
KNOWN = Kinds((*KINDS.entries[:2], URGENT, *KINDS.entries[2:]))

MEMORY = Memory("m-1", "The disk of the build host is full.", NOW, NOW, status="confirmed")
ASKED = Proposal("u-1", "urgent", "watcher", MEMORY.line, NOW, ("m-1",), flags=("look first",), reasons=("it grows",))


def opened(folder: Path, kinds: Kinds = KNOWN) -> Workbench:
    profiles, heads = folder / "profiles", paths.heads_dir()
    return open_workbench(folder / ".workbench", profiles=profiles, heads=heads, clock=lambda: NOW, kinds=kinds)


@pytest.fixture
def bench(tmp_path: Path) -> Workbench:
    bench = opened(tmp_path)
    with bench.library.transaction("agent:watcher", "propose") as tx:
        tx.put(MEMORY)
        tx.put(ASKED)
    return bench


def stored(bench: Workbench) -> Memory:
    return bench.library.memories.get("m-1")


def test_it_waits_and_shows_exactly_what_accepting_writes(bench: Workbench) -> None:
    assert [p.id for p in bench.review.queue()] == ["u-1"]
    (change,) = bench.review.get("u-1").changes
    assert [(name, field.after) for name, field in change.fields.items()] == [("tags", ["urgent"])]
    (after,) = bench.review.outcome(ASKED)
    bench.review.approve(["u-1"])
    assert (stored(bench).tags, stored(bench)) == (("urgent",), replace(after, version=stored(bench).version))
    assert (bench.review.waiting(), bench.library.proposals.get("u-1").state) == (0, "accepted")


def test_it_is_edited_put_off_turned_down_and_undone(bench: Workbench) -> None:
    bench.review.edit("u-1", FieldEdit("The disk is full."))
    assert (stored(bench).content, bench.review.waiting()) == (MEMORY.content, 1), "it still waits"
    bench.review.approve(["u-1"])
    assert (stored(bench).content, stored(bench).tags) == ("The disk is full.", ("urgent",))
    bench.history.undo()
    bench.history.undo()
    assert (stored(bench).content, stored(bench).tags) == (MEMORY.content, ())
    bench.review.later(["u-1"])
    assert (bench.review.waiting(), len(bench.review.queue())) == (0, 1)
    bench.history.undo()
    bench.review.reject(["u-1"], "seen to")
    assert (stored(bench).metadata["calm"], bench.review.queue()) == ("seen to", ())
    bench.history.undo()
    assert ("calm" in stored(bench).metadata, bench.review.waiting()) == (False, 1)


def test_the_command_line_lists_shows_and_decides(
    bench: Workbench, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bench.close()
    said = _command(tmp_path, capsys)
    assert "urgent?" in said("review", "list", "--kind", "urgent")
    assert "There are: reflection, merge, urgent, prune" in said("review", "list", "--kind", "calm", code=2)
    shown = said("review", "show", "u-1", "--quick")
    for text in ("Is this urgent?", "it is tagged “urgent”", "it is noted as calm", "it grows", "would change"):
        assert text in shown
    assert json.loads(said("review", "show", "u-1", "--quick", "--json"))["question"] == "Is this urgent?"
    said("review", "reject", "u-1", "--reason", "seen to")
    said("undo")
    said("review", "approve", "u-1")
    assert stored(opened(tmp_path)).tags == ("urgent",)


async def test_the_app_lists_draws_and_decides(bench: Workbench) -> None:
    app = app_over(bench)
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.press("2")
        await until(pilot, lambda: "Drop everything? The disk of the build host is full." in screen_text(app))
        assert "‼ The disk" in screen_text(app)
        assert "1 cited in" in screen_text(app)
        await pilot.press("m")
        await until(pilot, lambda: any("not merged" in note.message for note in app._notifications))
        await pilot.press("a")
        await until(pilot, lambda: stored(bench).tags == ("urgent",))
        await pilot.press("u")
        await until(pilot, lambda: bench.review.waiting() == 1)


@pytest.mark.slow
async def test_what_it_finds_waits_beside_what_is_stored(bench: Workbench, tmp_path: Path) -> None:
    with bench.library.transaction("agent:watcher", "see") as tx:
        tx.put(Memory("m-2", "There is smoke in the server room.", NOW, NOW))
    app = app_over(bench)
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.press("2")
        await until(pilot, lambda: "‼ There is smoke" in screen_text(app))
        assert "Still true?  2" in screen_text(app)
        assert bench.review.waiting() == 1
        await pilot.press("j", "a")
        await until(pilot, lambda: bench.library.memories.get("m-2").tags == ("urgent",))
        assert bench.library.proposals.get("urgent-m-2").state == "accepted"
        await pilot.press("u")
        await until(pilot, lambda: "‼ There is smoke" in screen_text(app))


def test_the_command_line_finds_it(bench: Workbench, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with bench.library.transaction("agent:watcher", "see") as tx:
        tx.put(Memory("m-2", "There is smoke in the server room.", NOW, NOW))
    bench.close()
    said = _command(tmp_path, capsys)
    assert "urgent-m-2" not in said("review", "list")
    assert "urgent-m-2" in said("review", "list", "--found", "--kind", "urgent")
    said("review", "approve", "urgent-m-2")
    assert opened(tmp_path).library.memories.get("m-2").tags == ("urgent",)


def test_a_promotion_of_its_memory_answers_it(bench: Workbench, tmp_path: Path) -> None:
    (tmp_path / "CLAUDE.md").write_text("# Notes\n", "utf-8")
    bench.promotion.carry_out(bench.promotion.plan(["m-1"], Target("block", "CLAUDE.md")))
    assert bench.library.proposals.get("u-1").state == "accepted"


@pytest.mark.slow
async def test_who_does_not_know_it_lists_it_and_turns_it_down(
    bench: Workbench, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bench.close()
    stranger = opened(tmp_path, KINDS)
    with pytest.raises(WorkbenchError, match="does not know what a proposal of the kind “urgent” does"):
        stranger.review.approve(["u-1"])
    app = app_over(stranger)
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.press("2")
        await until(pilot, lambda: "This version does not know what this proposes." in screen_text(app))
    stranger.close()
    said = _command(tmp_path, capsys, KINDS)
    assert "u-1" in said("review", "list")
    assert "This version does not know" in said("review", "show", "u-1", "--quick")
    said("review", "reject", "u-1")
    assert stored(opened(tmp_path)).tags == ()


def _command(folder: Path, capsys: pytest.CaptureFixture[str], kinds: Kinds = KNOWN) -> Callable[..., str]:
    def said(*arguments: str, code: int = 0) -> str:
        options = ["--store", str(folder / ".workbench"), *arguments]
        assert run(options, open_app=_no_app, cwd=folder, clock=lambda: NOW, kinds=kinds) == code
        out, err = capsys.readouterr()
        return out + err

    return said


def _no_app(store: Path, *, origin: str, demo: bool = False, **more: object) -> int:
    raise AssertionError(store, origin, demo)
