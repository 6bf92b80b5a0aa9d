"""What waits until the hand rests: the decay curve, the verdict, and the hints, which a thread works out."""

from functools import partial

from textual.screen import Screen
from textual.timer import Timer
from textual.worker import get_current_worker

from workbench.core.tuning.factors import Factor
from workbench.services.tuning.session import TuningSession
from workbench.tui.tuning.hints import Hints, hints_of
from workbench.tui.tuning.judging.verdict import VerdictLine
from workbench.tui.tuning.parameters import Parameter
from workbench.tui.tuning.sliders import TuneSliders
from workbench.tui.tuning.why.pane import WhyPane

REST_SECONDS = 0.12
"""How long the hand rests before anything but the ranking is worked out."""


class Debounced:
    """Puts off what is slow until nothing has moved for a moment; `waiting` until the hints of the last move show."""

    def __init__(
        self, screen: Screen[object], session: TuningSession, sliders: TuneSliders, why: WhyPane, verdict: VerdictLine
    ) -> None:
        self._screen, self._session = screen, session
        self._sliders, self._why, self._verdict = sliders, why, verdict
        self._moves = 0
        self._timer: Timer | None = None
        self.waiting = False

    def start(self) -> None:
        """Begin to wait, once the screen stands."""
        self._timer = self._screen.set_interval(REST_SECONDS, self._at_rest, pause=True)

    def touch(self) -> None:
        """Wait anew: something has moved."""
        self._moves += 1
        self.waiting = True
        if self._timer is not None:
            self._timer.reset()
            self._timer.resume()

    def _at_rest(self) -> None:
        if self._timer is not None:
            self._timer.pause()
        self._why.show_curve()
        self._verdict.rest()
        asked = (self._moves, self._session.copy(), self._sliders.parameter, self._sliders.highs, self._why.memory)
        self._screen.run_worker(
            partial(self._work_out, *asked), thread=True, exclusive=True, group="hints", description="hints"
        )

    def _work_out(
        self, moves: int, session: TuningSession, parameter: Parameter | None, highs: dict[Factor, float], memory: str
    ) -> None:
        worker = get_current_worker()
        hints = hints_of(session, parameter, highs, memory, lambda: worker.is_cancelled or moves != self._moves)
        if hints is not None and not worker.is_cancelled:
            self._screen.call_later(self._show, moves, hints)

    def _show(self, moves: int, hints: Hints) -> None:
        if moves == self._moves:
            self.waiting = False
            self._sliders.show_hints(hints)
            self._why.show_ways(hints.memory, hints.ways)
