"""What Tune does with judged queries: judging, metrics, thresholds of duplicates, auto-tune, pairs."""

import asyncio
from collections.abc import Callable
from contextlib import nullcontext
from typing import TypeVar

from workbench.core.duplicates.thresholds import Thresholds
from workbench.core.tuning.judgment import SavedQuery
from workbench.services.tuning.measuring import LiveSet, Measuring
from workbench.services.tuning.session import TuningSession
from workbench.tui.app.area import AreaScreen
from workbench.tui.app.saving import Preview
from workbench.tui.duplicates.dialog import DuplicatesDialog
from workbench.tui.tuning.actions import TUNE
from workbench.tui.tuning.judging.auto import AutoTune, Better, Ground, MetricsDialog
from workbench.tui.tuning.judging.judge import Judge, JudgeDialog
from workbench.tui.tuning.keeping import NO_QUERY, Put, is_ready
from workbench.tui.widgets.content import keyed

R = TypeVar("R")


class Tools:
    """Opens the views over the judged queries; `take` asks a saved query, `put` moves the sliders."""

    def __init__(
        self,
        area: AreaScreen,
        session: TuningSession,
        measuring: Measuring,
        put: Put,
        take: Callable[[SavedQuery], None],
        keep_thresholds: Callable[[Thresholds], bool],
    ) -> None:
        self._area, self._app, self._bench = area, area.workbench_app, area.bench
        self._session = session
        self._measuring = measuring
        self._put = put
        self._take = take
        self._keep_thresholds = keep_thresholds
        self._previews: dict[str, Preview] = {}

    # Judging

    @property
    def saved_query(self) -> SavedQuery | None:
        """The saved query that is asked, also where the line holds its words as they are stored."""
        saved = self._session.query
        return saved if saved is not None else self._bench.judging.find(self._session.text)

    async def judge(self) -> None:
        """Grade the pool of the query."""
        question = self._session.question
        if not is_ready(self._area, self._session) or question is None:
            return
        saved, judging = self.saved_query, self._bench.judging
        preview = None if saved else self._read_first("tune.judge", question.text)
        if saved is not None:
            text, now = saved.text, saved.now
        elif preview is not None:
            text, now = preview.stored, None
        else:
            return
        pool = await asyncio.to_thread(question.pool, self._session.profile, self._session.asked_at)
        if not pool:
            self._app.say("Nothing is served for this query, so there is nothing to judge.")
            return

        def give(memory: str, grade: int) -> int | None:
            before = self._bench.library.revision
            first = preview if judging.find(text, now) is None else None
            with first.writing("judge a query") if first else nullcontext():
                judging.judge(text, now, memory, grade)
            after = self._bench.library.revision
            return after if after != before else None

        judge = Judge(
            grades=lambda: judging.grades(text, now),
            give=give,
            take_back=lambda rev: _nothing(self._bench.history.undo_revision(rev)),
        )
        await self._app.push_screen_wait(
            JudgeDialog(text, pool, judge, self._session.asked_at, self._bench.safety.masked)
        )
        judged = judging.find(text, now)
        self._session.query = judged or self._session.query
        if judged is not None and judged.text != self._session.text and preview is not None:
            self._take(judged)

    def save_query(self) -> None:
        """Save the query without judging it."""
        if not self._session.text.strip():
            self._app.say(keyed(NO_QUERY))
            return
        with self._app.reporting():
            if self.saved_query is not None:
                self._app.say(keyed("This query is saved already. {tune.judge} judges it."))
                return
        text, preview = self._session.text, self._read_first("tune.save-query", self._session.text)
        if preview is None:
            return

        def save() -> None:
            with preview.writing("save a query"):
                saved = self._bench.judging.save_query(preview.stored)
            if self._session.text == text:
                self._session.query = saved
                if saved.text != text:
                    self._take(saved)
            self._app.say(keyed("Saved the query. {tune.judge} judges it, {tune.queries} lists the saved ones."))

        self._app.change(save)

    def _read_first(self, action: str, text: str) -> Preview | None:
        """Show once how an action would save a query; then return what is meant by it."""
        if action not in self._previews:
            key = next(one.shown_key for one in self._area.as_mapped(TUNE) if one.id == action)
            self._previews[action] = Preview(self._bench, again=key, line=True)
        first = self._previews[action](text)
        if first is None:
            return self._previews[action]
        self._app.say(first, "warning")
        return None

    # Looking

    async def _looked_up(self, act: Callable[[LiveSet], R]) -> R | None:
        """Measure in a thread; errors become toasts."""
        if is_ready(self._area, self._session, query=False):
            with self._app.reporting():
                live = await asyncio.to_thread(self._measuring.current)
                return await asyncio.to_thread(act, live)
        return None

    async def metrics(self) -> None:
        """Show every metric of every judged query."""
        saved, profile = self._session.saved, self._session.profile
        found = await self._looked_up(lambda live: (live.against(saved, profile), live.judged.remarks))
        if found is not None:
            chosen = await self._app.push_screen_wait(MetricsDialog(*found, self._bench.safety.masked))
            query = None if chosen is None else self._bench.judging.find(chosen.query, chosen.now)
            if query is not None:
                self._take(query)

    async def duplicates(self) -> None:
        """Show which pairs would merge at a threshold."""
        if is_ready(self._area, self._session, query=False):
            await self._app.push_screen_wait(DuplicatesDialog(self._bench, self._keep_thresholds))

    # Searching

    async def auto(self) -> None:
        """Search the best settings for the judged queries."""
        live = await self._looked_up(lambda live: live)
        if live is None:
            return
        session, own = self._session, self._bench.tuning.profiles
        answer = await self._app.push_screen_wait(AutoTune(live, session.profile, session.changed, own))
        if answer is None:
            return
        proposal = answer.proposal
        if answer.kept:
            self._app.say("The sliders stay where they are.")
        else:
            self._measuring.propose(proposal, live.judged)
            self._put(proposal.profile, self._session.saved)
            self._app.say(keyed("The sliders are set as proposed. {tune.save} saves them, {tune.revert} resets them."))

    async def better(self) -> None:
        """Learn the weights from answers about pairs."""
        question = self._session.question
        if not is_ready(self._area, self._session) or question is None:
            return
        saved = [(q.text, q.now or self._bench.context.now()) for q in self._bench.tuning.queries()]
        ground = Ground(question, self._session.asked_at, tuple(saved), self._session.profile)
        with self._app.reporting():
            profile = await self._app.push_screen_wait(Better(ground, self._bench.safety.masked))
            if profile is not None:
                self._put(profile, self._session.saved)
                self._app.say(
                    keyed(
                        "The sliders are set as your answers suggest. {tune.save} saves them, "
                        "{tune.revert} resets them."
                    )
                )


def _nothing(_done: object) -> None:
    return None
