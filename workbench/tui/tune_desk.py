"""What lies on the tuning screen, without the screen: the question, the settings, and the ranking they make."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from workbench.bench.question import Baseline, Explanation, Question, Way
from workbench.core.errors import UnknownRecord
from workbench.core.profile import Profile
from workbench.retrieval.flips import Flip
from workbench.retrieval.ranking import Factor, Ranking
from workbench.tui.tune_parameters import PARAMETERS, TIME_SCALE, Parameter
from workbench.tui.tune_rows import BEYOND, Line, lines_of

NO_WEIGHTS = "All three weights are zero, so nothing would be ranked. Move one of them up."
NO_QUERY = "Press / and write what an agent might ask; the ranking follows while you type."
NO_QUERY_SAVED = "Press / and write what an agent might ask, or f for a saved query."
LOADING = "The embedding model is loading. Write on; the ranking comes by itself."
NO_MODEL = "The embedding model could not be loaded, so nothing can be ranked. Everything else works."
EMPTY_STORE = "No memories yet. `workbench import FILE` brings some in; agents add theirs with `workbench ingest`."
NONE_SERVED = "An agent asking at this time would be served nothing: . goes on to later, 2 opens what waits for review."


@dataclass(slots=True)
class Desk:
    """The settings (`profile`, against `saved`), the question, and `now`: `asked_at` moved by `days`.

    `watched` is a memory that somebody asked about. `ranking` and `baseline` are there when
    there is something to rank; `rerank` after every change.
    """

    saved: Profile
    profile: Profile
    asked_at: datetime
    days: float = 0.0
    watched: str | None = None
    question: Question | None = None
    ranking: Ranking | None = None
    baseline: Baseline | None = None

    @property
    def now(self) -> datetime:
        """The moment that is ranked at."""
        return self.asked_at + timedelta(days=self.days)

    @property
    def changed(self) -> bool:
        """Whether the settings differ from the saved profile."""
        return self.profile != self.saved

    def rerank(self) -> None:
        """Rank anew; costs a pass over a few columns, no embedding."""
        self.ranking = None
        profile = self.profile
        if self.question is None or not (profile.recency or profile.importance or profile.relevance):
            return
        if self.baseline is None or (self.baseline.profile, self.baseline.now) != (self.saved, self.asked_at):
            self.baseline = self.question.baseline(self.saved, self.asked_at)
        self.ranking = self.question.rank(profile, self.now, profile.k + BEYOND)

    def put(self, question: Question | None, asked_at: datetime) -> None:
        """Take another question, or the same one over a store that changed."""
        self.question, self.asked_at, self.baseline = question, asked_at, None
        if question is not None and self.watched not in question.ranker.pool.row_of:
            self.watched = None
        self.rerank()

    def obstacle(self) -> str:
        """Return why there is a question but no ranking, or an empty text."""
        if self.question is None or (self.ranking is not None and self.ranking.ids):
            return ""
        if self.ranking is None:
            return NO_WEIGHTS
        return NONE_SERVED if len(self.ranking.pool) else EMPTY_STORE

    def lines(self) -> list[Line]:
        """Return the rows of the list."""
        if self.question is None or self.ranking is None or self.baseline is None:
            return []
        standings = self.question.standings(self.ranking, self.baseline)
        watched = self.question.standing(self.ranking, self.baseline, self.watched) if self.watched else None
        return lines_of(standings, self.profile.k, watched) if standings or watched else []

    def explain(self, id: str) -> Explanation | None:
        """Say where every figure of a memory's score comes from."""
        if self.question is None or self.ranking is None or self.baseline is None:
            return None
        try:
            return self.question.explain(self.ranking, self.baseline, id)
        except UnknownRecord:
            return None

    def ways(self, id: str) -> tuple[Way, ...]:
        """Return the weights that would bring a memory into the top."""
        if self.question is None or self.ranking is None:
            return ()
        highs = [p.scale_for(self.profile).maximum for p in PARAMETERS if p.factor]
        return self.question.ways(self.ranking, id, highs)

    def flips(self, factor: Factor, high: float) -> tuple[Flip, ...] | None:
        """Return where the order changes along one weight; `None` when nothing is ranked."""
        if self.question is None or self.ranking is None:
            return None
        return self.question.flips(self.ranking, factor, high)

    def steps(self, parameter: Parameter | None) -> str:
        """Return how many of the top would change one step to either side of a parameter (`None`: `now`)."""
        if self.question is None or self.ranking is None:
            return ""
        here = self.days if parameter is None else parameter.get(self.profile)
        scale = TIME_SCALE if parameter is None else parameter.scale_for(self.profile)
        texts = []
        for arrow, direction in (("←", -1), ("→", 1)):
            there = scale.moved(here, direction)
            if there == here:
                continue
            profile = self.profile if parameter is None else parameter.put(self.profile, there)
            now = self.asked_at + timedelta(days=there or 0.0) if parameter is None else self.now
            moved = self.question.moved(self.ranking, profile, now)
            texts.append(f"{arrow} {moved or 'none'} of {self.profile.k} {'moves' if moved == 1 else 'move'}")
        return " · ".join(texts)
