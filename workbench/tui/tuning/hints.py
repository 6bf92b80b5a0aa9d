"""What lies on the tuning screen, without the screen: the question, the settings, and the ranking they make."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from workbench.bench.tuning.question import Baseline, Explanation, Question
from workbench.core import record
from workbench.core.errors import UnknownRecord
from workbench.core.text import printable, words
from workbench.core.tuning.profile import FrozenBounds, Profile
from workbench.retrieval.fulltext.stopwords import STOP_WORDS
from workbench.retrieval.ranking.flips import Flip
from workbench.retrieval.ranking.outcome import Factor, Ranking
from workbench.tui.tuning.moves import Settings
from workbench.tui.tuning.parameters import HALF_LIVES, PARAMETERS, TIME_SCALE, Parameter, weight
from workbench.tui.tuning.rows import BEYOND, Line, lines_of
from workbench.tui.widgets.figures import number

NO_WEIGHTS = "All three weights are zero, so nothing would be ranked. Move one of them up."
NO_QUERY = "Press / and write what an agent might ask; the ranking follows while you type."
NO_QUERY_SAVED = "Press / and write what an agent might ask, or f for a saved query."
LOADING = "The embedding model is loading. Write on; the ranking comes by itself."
NO_MODEL = "The embedding model could not be loaded, so nothing can be ranked. Everything else works."
EMPTY_STORE = "No memories yet. `workbench import FILE` brings some in; agents add theirs with `workbench ingest`."
NONE_SERVED = (
    "None of the {count} memories would be served at this time: they are archived, wait for review, or are from later. "
    "The slider “now” moves the time."
)
NONE_CHOSEN = "The candidate filter “{filter}” lets none of the {count} memories take part. C changes it."


def only_stop_words(query: str) -> bool:
    """Tell whether full text finds nothing in a query, since it has only words that are in every text."""
    asked = words(query)
    return not asked or all(word in STOP_WORDS for word in asked)


@dataclass(frozen=True, slots=True)
class WayIn:
    """One parameter's value that would bring a memory into the top, and the value it has now."""

    label: str
    then: str
    now: str


@dataclass(frozen=True, slots=True)
class Hints:
    """What takes longer than a frame: where weights swap rows, what a step moves, what brings `memory` in."""

    flips: Mapping[Factor, tuple[Flip, ...] | None]
    steps: str
    memory: str
    ways: tuple[WayIn, ...]


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
        return record.moved(self.asked_at, timedelta(days=self.days))

    @property
    def settings(self) -> Settings:
        """Where the sliders stand."""
        return Settings(self.profile, self.days)

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

    def bounds(self) -> FrozenBounds | None:
        """Return the minimum and maximum of each factor in the ranking; `None` where nothing is normalised."""
        if self.ranking is None or not self.ranking.factors or self.profile.scorer != "factors":
            return None
        return FrozenBounds(**{name: (c.low, c.high) for name, c in self.ranking.factors.items()})

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
        count = len(self.ranking.pool)
        if count and self.profile.candidates:
            return NONE_CHOSEN.format(filter=printable(self.profile.candidates), count=number(count))
        return NONE_SERVED.format(count=number(count)) if count else EMPTY_STORE

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

    def ways(self, id: str) -> tuple[WayIn, ...]:
        """Return the weights that would bring a memory into the top, the smallest change first."""
        if self.question is None or self.ranking is None:
            return ()
        highs = [p.scale_for(self.profile).maximum for p in PARAMETERS if p.factor]
        ways = self.question.ways(self.ranking, id, highs)
        return tuple(WayIn(way.factor, weight(way.then), weight(way.now)) for way in ways)

    def other_ways(self, id: str, cancelled: Callable[[], bool]) -> tuple[WayIn, ...]:
        """Try every step of the parameters that are no weights; takes some hundred rankings."""
        found: list[tuple[int, WayIn]] = []
        for parameter in PARAMETERS:
            if not parameter.factor and not parameter.holds(self.profile):
                found += (hit for d in (-1, 1) if (hit := self._first(parameter, d, id, cancelled)))
        return tuple(way for _, way in sorted(found, key=lambda hit: hit[0]))

    def _first(
        self, parameter: Parameter, direction: int, id: str, cancelled: Callable[[], bool]
    ) -> tuple[int, WayIn] | None:
        """Return the first step to one side that brings a memory into the top, and how many steps it takes."""
        scale, here = parameter.scale_for(self.profile), parameter.get(self.profile)
        value, steps = here, 0
        while self.question and not cancelled() and (there := scale.moved(value, direction)) != value:
            value, steps = there, steps + 1
            profile = parameter.put(self.profile, value)
            place = self.question.rank(profile, self.now, 1).place_of(id)
            if place is not None and place <= profile.k:
                label = parameter.label if parameter.group != HALF_LIVES else f"half-life {parameter.label}"
                return steps, WayIn(label, parameter.text(value), parameter.text(here))
        return None

    def hints(
        self,
        parameter: Parameter | None,
        highs: Mapping[Factor, float],
        memory: str,
        cancelled: Callable[[], bool] = lambda: False,
    ) -> Hints | None:
        """Work out the hints for a slider (`None`: `now`) and a memory; `None` when it was cancelled.

        `highs` are the ends of the weights' scales. Is asked between the parts whether to go on, the quick ones first.
        """
        steps = "" if parameter and parameter.factor else self.steps(parameter)
        found: dict[Factor, tuple[Flip, ...] | None] = {}
        for factor, high in highs.items():
            if cancelled():
                return None
            found[factor] = self.flips(factor, high)
        if cancelled():
            return None
        ways = self.ways(memory) if memory else ()
        return None if cancelled() else Hints(found, steps, memory, ways)

    def flips(self, factor: Factor, high: float) -> tuple[Flip, ...] | None:
        """Return where the order changes along one weight; `None` when nothing is ranked."""
        if self.question is None or self.ranking is None or not self.ranking.ids:
            return None
        return self.question.flips(self.ranking, factor, high)

    def steps(self, parameter: Parameter | None) -> str:
        """Return how many of the top would change one step to either side of a parameter (`None`: `now`)."""
        if self.question is None or self.ranking is None or not self.ranking.ids:
            return ""
        here = self.days if parameter is None else parameter.get(self.profile)
        scale = TIME_SCALE if parameter is None else parameter.scale_for(self.profile)
        texts = []
        for arrow, direction in (("←", -1), ("→", 1)):
            there = scale.moved(here, direction)
            if there == here:
                continue
            profile = self.profile if parameter is None else parameter.put(self.profile, there)
            now = record.moved(self.asked_at, timedelta(days=there or 0.0)) if parameter is None else self.now
            moved = self.question.moved(self.ranking, profile, now)
            texts.append(f"{arrow} {moved or 'none'} of {self.profile.k} {'moves' if moved == 1 else 'move'}")
        return " · ".join(texts)
