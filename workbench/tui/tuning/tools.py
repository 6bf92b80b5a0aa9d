"""What Tune does with judged queries: judging, the live verdict, metrics, auto-tune, pairs, comparisons."""

import asyncio
import time
from collections.abc import Callable
from contextlib import nullcontext
from typing import TypeVar

from textual import on, work
from textual.message import Message
from textual.worker import get_current_worker

from workbench.bench.tuning.evaluation import EvaluationCancelled, certificate
from workbench.bench.tuning.live import LiveSet, LiveVerdict, live_set
from workbench.bench.tuning.provenance import Birth
from workbench.bench.tuning.query_sets import JudgedSet, from_store
from workbench.core.errors import WorkbenchError
from workbench.core.tuning.judgment import SavedQuery
from workbench.core.tuning.profile import Profile
from workbench.evaluation.tuner import Proposal
from workbench.store.library import Touched
from workbench.tui.app.areas import TUNE
from workbench.tui.app.saving import Preview
from workbench.tui.duplicates.threshold import DuplicatesDialog
from workbench.tui.tuning.judging import verdict
from workbench.tui.tuning.judging.auto import AutoTune
from workbench.tui.tuning.judging.better import Better, Ground
from workbench.tui.tuning.judging.judge import Judge, JudgeDialog
from workbench.tui.tuning.judging.metrics import MetricsDialog
from workbench.tui.tuning.judging.verdict import VerdictLine
from workbench.tui.tuning.keeping import NO_QUERY, TuneKeeping
from workbench.tui.tuning.session import Desk

R = TypeVar("R")

REST_SECONDS = 0.03
"""How long the ranking gets to be painted before anything is measured."""

PATIENCE = 0.3
"""Seconds after which a measurement that is out of date is given up; a shorter one is shown while one slides."""


class Measured(Message):
    """The judged queries were measured; `problem` says why not, and both are absent when it was given up."""

    def __init__(self, live: LiveSet | None, version: int, found: LiveVerdict | None, problem: str) -> None:
        super().__init__()
        self.live = live
        self.version = version
        self.found = found
        self.problem = problem


class TuneTools(TuneKeeping):
    """The part of Tune that needs judgments; the screen itself gives the desk and the query."""

    _desk: Desk
    _text: str
    _saved_query: SavedQuery | None

    def _take_query(self, query: SavedQuery) -> None:
        raise NotImplementedError

    def __init__(self) -> None:
        super().__init__()
        self._version = 0
        self._live: LiveSet | None = None
        self._live_version = -1
        self._measuring = False
        self._measured: tuple[int, Profile, Profile] | None = None
        self._proposed: tuple[Proposal, JudgedSet] | None = None
        self._previews: dict[str, Preview] = {}

    # The verdict

    @property
    def _wanted(self) -> tuple[int, Profile, Profile]:
        return self._version, self._desk.saved, self._desk.profile

    def follow(self, touched: Touched) -> None:
        """Measure anew when memories, queries or judgments changed."""
        if any(table in ("memories", "queries", "judgments") for table, _ in touched.keys):
            self._version += 1
        super().follow(touched)
        if self._in_sight:
            self.want_verdict()

    def want_verdict(self) -> None:
        """Have the settings measured behind the screen, unless they are."""
        line = self.query_one(VerdictLine)
        if not self.bench.tuning.ready:
            line.say(verdict.WAITING)
        elif not self.bench.library.judgments.all():
            self._measured = None
            line.say(verdict.NOTHING_JUDGED)
        elif not self._measuring and self._measured != self._wanted:
            if self._measured is None:
                line.say(verdict.MEASURING)
            self._measuring, self._measured = True, self._wanted
            live = self._live if self._live_version == self._version else None
            self._measure(live, self._live, self._measured)

    @work(thread=True, group="verdict", description="verdict")
    def _measure(self, live: LiveSet | None, known: LiveSet | None, wanted: tuple[int, Profile, Profile]) -> None:
        time.sleep(REST_SECONDS)
        worker, begun = get_current_worker(), time.monotonic()
        version, saved, profile = wanted

        def given_up() -> bool:
            return worker.is_cancelled or (wanted != self._wanted and time.monotonic() - begun > PATIENCE)

        found, problem = None, ""
        try:
            if live is None:
                judged = from_store(self.bench.context)
                live = live_set(self.bench.evaluator, judged, known, lambda: worker.is_cancelled)
            found = live.against(saved, profile, given_up)
        except EvaluationCancelled:
            pass
        except WorkbenchError as error:
            problem = str(error)
        if not worker.is_cancelled:
            self.post_message(Measured(live, version, found, problem))

    @on(Measured)
    def _show_verdict(self, event: Measured) -> None:
        self._measuring = False
        if event.live is not None:
            self._live, self._live_version = event.live, event.version
        line = self.query_one(VerdictLine)
        if event.found is not None:
            line.show(event.found)
        elif event.problem:
            line.say(event.problem)
        elif self._measured is not None:
            # It was given up, so it must not pass for measured when the slider comes back.
            self._measured = (-1, *self._measured[1:])
        self.want_verdict()

    async def _current_set(self) -> LiveSet:
        """Return the judged queries as they are now; raises `InvalidQuery` when there are none."""
        if self._live is None or self._live_version != self._version:
            version, known = self._version, self._live
            judged = await asyncio.to_thread(from_store, self.bench.context)
            live = await asyncio.to_thread(live_set, self.bench.evaluator, judged, known, lambda: False)
            self._live, self._live_version = live, version
        # Each user gets its own, since a set measures for one thread at a time.
        return LiveSet(self._live.scored)

    async def birth(self, profile: Profile | None = None) -> Birth | None:
        """Return what to say about settings when they are saved; `None` when nothing can be measured."""
        desk, now = self._desk, self.bench.context.now()
        profile = profile or desk.profile
        if profile == desk.saved or not self.bench.tuning.ready:
            return None
        proposal, judged = self._proposed or (None, None)
        if proposal and judged and (proposal.start, proposal.profile) == (desk.saved, profile):
            how = f"cross-validated, {proposal.folds} folds; the same settings on all queries: {proposal.fitted:.4f}"
            return certificate(judged, proposal.verdict, proposal.start.name, proposal.metric, now, how)
        try:
            live = await self._current_set()
            found = await asyncio.to_thread(live.against, desk.saved, profile)
        except WorkbenchError:
            return None
        return certificate(live.judged, found.verdict, desk.saved.name, found.measures[0].name, now)

    # Judging

    @property
    def _query_now(self) -> SavedQuery | None:
        saved = self._saved_query
        return saved if saved is not None else self.bench.judging.find(self._text)

    def _is_ready(self, *, query: bool = True) -> bool:
        if not self.bench.tuning.ready:
            self.workbench_app.say("The model is still loading. Try again in a moment.")
        elif query and self._desk.question is None:
            self.workbench_app.say(NO_QUERY)
        else:
            return True
        return False

    @work
    async def action_judge(self) -> None:
        """Grade the pool of the query."""
        question = self._desk.question
        if not self._is_ready() or question is None:
            return
        saved, judging = self._query_now, self.bench.judging
        preview = None if saved else self._read_first("tune.judge", question.text)
        if saved is not None:
            text, now = saved.text, saved.now
        elif preview is not None:
            text, now = preview.stored, None
        else:
            return
        pool = await asyncio.to_thread(question.pool, self._desk.profile, self._desk.asked_at)
        if not pool:
            self.workbench_app.say("Nothing would be served for this query, so there is nothing to judge.")
            return

        def give(memory: str, grade: int) -> int | None:
            before = self.bench.library.revision
            first = preview if judging.find(text, now) is None else None
            with first.writing("judge a query") if first else nullcontext():
                judging.judge(text, now, memory, grade)
            after = self.bench.library.revision
            return after if after != before else None

        judge = Judge(
            grades=lambda: judging.grades(text, now),
            give=give,
            take_back=lambda rev: _nothing(self.bench.history.undo_revision(rev)),
        )
        await self.app.push_screen_wait(JudgeDialog(text, pool, judge, self._desk.asked_at, self.bench.safety.masked))
        judged = judging.find(text, now)
        self._saved_query = judged or self._saved_query
        if judged is not None and judged.text != self._text and preview is not None:
            self._take_query(judged)

    def action_save_query(self) -> None:
        """Save the query without judging it."""
        if not self._text.strip():
            self.workbench_app.say(NO_QUERY)
            return
        with self.workbench_app.reporting():
            if self._query_now is not None:
                self.workbench_app.say("This query is saved already. J judges it.")
                return
        text, preview = self._text, self._read_first("tune.save-query", self._text)
        if preview is None:
            return

        def save() -> None:
            with preview.writing("save a query"):
                saved = self.bench.judging.save_query(preview.stored)
            if self._text == text:
                self._saved_query = saved
                if saved.text != text:
                    self._take_query(saved)
            self.workbench_app.say("Saved the query. J judges it, f lists the saved ones.")

        self.workbench_app.change(save)

    def _read_first(self, action: str, text: str) -> Preview | None:
        """Show once how an action would save a query; then return what is meant by it."""
        if action not in self._previews:
            key = next(one.shown_key for one in self.as_mapped(TUNE) if one.id == action)
            self._previews[action] = Preview(self.bench, again=key, line=True)
        first = self._previews[action](text)
        if first is None:
            return self._previews[action]
        self.workbench_app.say(first, "warning")
        return None

    # Looking

    async def _looked_up(self, act: Callable[[LiveSet], R]) -> R | None:
        """Measure in a thread; errors become toasts."""
        if self._is_ready(query=False):
            with self.workbench_app.reporting():
                live = await self._current_set()
                return await asyncio.to_thread(act, live)
        return None

    @work
    async def action_metrics(self) -> None:
        """Show every metric of every judged query."""
        saved, profile = self._desk.saved, self._desk.profile
        found = await self._looked_up(lambda live: (live.against(saved, profile), live.judged.remarks))
        if found is not None:
            chosen = await self.app.push_screen_wait(MetricsDialog(*found, self.bench.safety.masked))
            query = None if chosen is None else self.bench.judging.find(chosen.query, chosen.now)
            if query is not None:
                self._take_query(query)

    @work
    async def action_duplicates(self) -> None:
        """Show which pairs would merge at a threshold."""
        if self._is_ready(query=False):
            bench = self.bench
            dialog = DuplicatesDialog(
                bench.retriever,
                bench.library.kept_apart,
                self.keep_thresholds,
                bench.safety.masked,
            )
            await self.app.push_screen_wait(dialog)

    # Searching

    @work
    async def action_auto(self) -> None:
        """Search the best settings for the judged queries."""
        live = await self._looked_up(lambda live: live)
        if live is None:
            return
        proposal = await self.app.push_screen_wait(AutoTune(live, self._desk.saved, self._desk.changed))
        if proposal is not None:
            self._proposed = proposal, live.judged
            self._put_profile(proposal.profile, self._desk.saved)
            self.workbench_app.say("The sliders stand as proposed. s saves them, r puts them back.")

    @work
    async def action_better(self) -> None:
        """Learn the weights from answers about pairs."""
        question = self._desk.question
        if not self._is_ready() or question is None:
            return
        saved = [(q.text, q.now or self.bench.context.now()) for q in self.bench.tuning.queries()]
        ground = Ground(question, self._desk.asked_at, tuple(saved), self._desk.profile)
        with self.workbench_app.reporting():
            profile = await self.app.push_screen_wait(Better(ground, self.bench.safety.masked))
            if profile is not None:
                self._put_profile(profile, self._desk.saved)
                self.workbench_app.say("The sliders stand where the answers lead. s saves them, r puts them back.")


def _nothing(_done: object) -> None:
    return None
