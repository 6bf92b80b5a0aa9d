"""A tuning session: the question, the settings, the ranking they make, and the moves of the sliders."""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from workbench.core import record
from workbench.core.errors import UnknownRecord
from workbench.core.tuning.factors import WEIGHT_KEYS, Factor
from workbench.core.tuning.flips import Flip
from workbench.core.tuning.judgment import SavedQuery
from workbench.core.tuning.profile import FrozenBounds, Profile, weight_of
from workbench.retrieval.ranking.outcome import Ranking
from workbench.services.tuning.floor.against import AgainstFloor
from workbench.services.tuning.question import Baseline, Explanation, Question, Standing

BEYOND = 40
"""How many memories are ranked below those that are served."""


@dataclass(frozen=True, slots=True)
class Settings:
    """Where the sliders stand: the profile, and the days that `now` is moved by."""

    profile: Profile
    days: float = 0.0


@dataclass(frozen=True, slots=True)
class Move:
    """One slider (its id; empty when several moved at once) from where it stood to where it stands."""

    slider: str
    before: Settings
    after: Settings


class Moves:
    """The last moves; steps of one slider in a row are one move."""

    def __init__(self) -> None:
        self._done: list[Move] = []
        self._undone: list[Move] = []
        self._open = False

    def note(self, slider: str, before: Settings, after: Settings) -> None:
        """Remember a step; what was taken back cannot be made again after it."""
        if before == after:
            return
        self._undone.clear()
        if self._open and slider and self._done and self._done[-1].slider == slider:
            before = self._done.pop().before
        if before != after:
            self._done.append(Move(slider, before, after))
        self._open = True

    def back(self) -> Move | None:
        """Return the move to take back, `None` when none is left."""
        return self._shift(self._done, self._undone)

    def again(self) -> Move | None:
        """Return the move to make again, `None` when none was taken back."""
        return self._shift(self._undone, self._done)

    def clear(self) -> None:
        """Forget every move."""
        self._done.clear()
        self._undone.clear()

    def _shift(self, source: list[Move], target: list[Move]) -> Move | None:
        self._open = False
        if not source:
            return None
        target.append(source.pop())
        return target[-1]


@dataclass(slots=True)
class TuningSession:
    """The settings (`profile`, against `saved`), the question, and `now`: `asked_at` moved by `days`.

    `text` is what is asked, `query` the saved query that it is. `watched` is
    a memory that somebody asked about.
    `ranking` and `baseline` are there when there is something to rank, and follow every change of what they are made
    of; so does `against`, the query held against the floor. `moves` are those since something was stored.
    """

    saved: Profile
    profile: Profile
    asked_at: datetime
    days: float = 0.0
    text: str = ""
    query: SavedQuery | None = None
    watched: str | None = None
    question: Question | None = None
    ranking: Ranking | None = None
    baseline: Baseline | None = None
    against: AgainstFloor | None = None
    moves: Moves = field(default_factory=Moves)

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

    def copy(self) -> "TuningSession":
        """Return the session as it is now, for another thread."""
        return replace(self)

    # Asking

    def moment(self, present: datetime) -> datetime:
        """Return when the query is asked: in the present, unless it was saved with a moment of its own."""
        return present if self.query is None or self.query.now is None else self.query.now

    def put(self, question: Question | None, asked_at: datetime) -> None:
        """Take another question, or the same one over a store that changed."""
        self._ask(question, asked_at)
        self.rerank()

    def take(self, ranked: "TuningSession") -> None:
        """Take what a copy was put on another thread, with its ranking unless the settings moved meanwhile."""
        self._ask(ranked.question, ranked.asked_at)
        if (ranked.settings, ranked.saved) == (self.settings, self.saved):
            self.ranking, self.baseline, self.against = ranked.ranking, ranked.baseline, ranked.against
        else:
            self.rerank()

    def _ask(self, question: Question | None, asked_at: datetime) -> None:
        self.question, self.asked_at, self.baseline, self.against = question, asked_at, None, None
        if question is not None and self.watched not in question.ranker.pool.row_of:
            self.watched = None

    # Moving

    def move(self, slider: str, settings: Settings) -> None:
        """Put one slider elsewhere; its id makes its steps in a row one move."""
        self.moves.note(slider, self.settings, settings)
        self._stand(settings)

    def load(self, profile: Profile, saved: Profile, days: float | None = None) -> None:
        """Put all sliders elsewhere at once. Against another saved profile, no move before leads back."""
        settings = Settings(profile, self.days if days is None else days)
        if saved == self.saved:
            self.moves.note("", self.settings, settings)
        else:
            self.moves.clear()
        self.saved = saved
        self._stand(settings)

    def revert(self) -> None:
        """Put everything back to the saved profile, and `now` to the time of the query."""
        self.load(self.saved, self.saved, 0.0)

    def undo(self) -> Move | None:
        """Take back the last move since something was stored; `None` when there is none."""
        move = self.moves.back()
        if move is not None:
            self._stand(move.before)
        return move

    def redo(self) -> Move | None:
        """Make the move again that was taken back; `None` when there is none."""
        move = self.moves.again()
        if move is not None:
            self._stand(move.after)
        return move

    def _stand(self, settings: Settings) -> None:
        self.profile, self.days = settings.profile, settings.days
        self.rerank()

    def is_kept(self, profiles: Iterable[Profile | None]) -> bool:
        """Tell whether the settings are those of the saved profile, or among these."""
        return not self.changed or self.profile in profiles

    # Ranking

    def rerank(self) -> None:
        """Rank anew; costs a pass over a few columns, no embedding."""
        self.ranking = None
        profile = self.profile
        if self.question is None or not any(weight_of(profile, key) for key in WEIGHT_KEYS):
            return
        if self.baseline is None or (self.baseline.profile, self.baseline.now) != (self.saved, self.asked_at):
            self.baseline = self.question.baseline(self.saved, self.asked_at)
        moved = self.against is None or self.against.now != self.now
        self.ranking = self.question.rank(profile, self.now, profile.k + BEYOND)
        if moved:
            self.against = self.question.against(self.ranking)

    def watch(self, memory: str | None) -> None:
        """Let a memory stand in the list whatever its place; one that takes no part, and `None`, end that."""
        takes_part = self.ranking is not None and memory in self.ranking.pool.row_of
        self.watched = memory if takes_part else None

    def standings(self) -> tuple[Standing, ...]:
        """Return the memories in the order of the ranking, with how far each moved."""
        if self.question is None or self.ranking is None or self.baseline is None:
            return ()
        return self.question.standings(self.ranking, self.baseline)

    def watched_standing(self) -> Standing | None:
        """Return where the memory stands that somebody asked about."""
        if self.question is None or self.ranking is None or self.baseline is None or self.watched is None:
            return None
        return self.question.standing(self.ranking, self.baseline, self.watched)

    def explain(self, id: str) -> Explanation | None:
        """Say where every figure of a memory's score comes from."""
        if self.question is None or self.ranking is None or self.baseline is None:
            return None
        try:
            return self.question.explain(self.ranking, self.baseline, id)
        except UnknownRecord:
            return None

    def flips(self, factor: Factor, high: float) -> tuple[Flip, ...] | None:
        """Return where the order changes along one weight; `None` when nothing is ranked."""
        if self.question is None or self.ranking is None or not self.ranking.ids:
            return None
        return self.question.flips(self.ranking, factor, high)

    def bounds(self) -> FrozenBounds | None:
        """Return the minimum and maximum of each factor in the ranking; `None` where nothing is normalised."""
        if self.ranking is None or not self.ranking.factors or self.profile.scorer != "factors":
            return None
        return FrozenBounds.by_factor({name: (c.low, c.high) for name, c in self.ranking.factors.items()})
