"""The scale of a slider as a value: positions, steps, and the "off" stop beyond its upper end."""

import math
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Scale:
    """A range of values from `minimum` to `maximum`.

    `step` and `fine` are added on a linear scale; on a logarithmic one (`minimum` > 0) they multiply:
    0.1 means 10 %. With `off`, `None` is a value too and lies beyond the maximum.
    """

    minimum: float = 0.0
    maximum: float = 1.0
    step: float = 0.05
    fine: float = 0.01
    log: bool = False
    off: bool = False

    def clamped(self, value: float | None) -> float | None:
        """Return the value within the range; `None` stays only where "off" exists."""
        if value is None or math.isnan(value):
            return None if self.off else self.maximum
        return min(self.maximum, max(self.minimum, value))

    def fraction(self, value: float) -> float:
        """Return where a value lies, 0 at the minimum and 1 at the maximum."""
        value = min(self.maximum, max(self.minimum, value))
        if self.log:
            return math.log(value / self.minimum) / math.log(self.maximum / self.minimum)
        return (value - self.minimum) / (self.maximum - self.minimum)

    def at(self, fraction: float) -> float:
        """Return the value at a fraction of the range, on the grid of fine steps."""
        fraction = min(1.0, max(0.0, fraction))
        if self.log:
            return _digits(self.minimum * (self.maximum / self.minimum) ** fraction)
        exact = self.minimum + fraction * (self.maximum - self.minimum)
        return _tidy(self.minimum + round((exact - self.minimum) / self.fine) * self.fine)

    def cell(self, value: float | None, cells: int) -> int:
        """Return which of `cells` cells a value falls on; with `off` the last one is for `None`."""
        if value is None:
            return cells - 1
        return round(self.fraction(value) * (cells - 1 - self.off))

    def at_cell(self, cell: int, cells: int) -> float | None:
        """Return the value a cell stands for: the inverse of `cell`, as near as cells allow."""
        if self.off and cell >= cells - 1:
            return None
        return self.clamped(self.at(cell / max(1, cells - 1 - self.off)))

    def moved(self, value: float | None, direction: int, fine: bool = False) -> float | None:
        """Return the value one step down (−1) or up (+1); linear scales go to the next multiple of the step."""
        if value is None:
            return self.maximum if direction < 0 else None
        if direction > 0 and self.off and value >= self.maximum:
            return None
        step = self.fine if fine else self.step
        if self.log:
            return self.clamped(_digits(value * (1 + step) ** direction))
        steps = (value - self.minimum) / step
        goal = math.floor(steps + 1e-9) + 1 if direction > 0 else math.ceil(steps - 1e-9) - 1
        return self.clamped(_tidy(self.minimum + goal * step))


def _digits(value: float) -> float:
    return float(f"{value:.4g}")


def _tidy(value: float) -> float:
    """Undo the binary noise of a multiple of 0.01."""
    return round(value, 10) + 0.0
