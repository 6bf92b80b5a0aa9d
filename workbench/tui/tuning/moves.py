"""The moves of the sliders since something was stored: each can be taken back, and made again."""

from collections.abc import Sequence
from dataclasses import dataclass

from workbench.core.tuning.profile import Profile
from workbench.tui.tuning.parameters import PARAMETERS, TIME, Parameter, day_offset


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


def label_of(slider: str, parameters: Sequence[Parameter] = PARAMETERS) -> str:
    """Return what a slider is called where it stands alone; "the sliders" without one."""
    parameter = next((p for p in parameters if p.id == slider), None)
    if parameter is None:
        return slider or "the sliders"
    return parameter.label if parameter.label == slider else f"{parameter.group}, {parameter.label}"


def value_of(slider: str, settings: Settings, parameters: Sequence[Parameter] = PARAMETERS) -> str:
    """Return where a slider stands, as it shows it; "where they stood" for several."""
    if slider == TIME:
        return day_offset(settings.days)
    parameter = next((p for p in parameters if p.id == slider), None)
    return "where they stood" if parameter is None else parameter.text(parameter.get(settings.profile))
