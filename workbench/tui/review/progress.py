"""How a sitting goes: what was decided, what is left, and how many a minute."""

from dataclasses import dataclass, replace
from datetime import datetime

PACE_OF = 12
"""Over how many of the latest decisions the pace is taken."""

PAUSE = 120.0
"""Seconds without a decision after which the pace starts anew."""


@dataclass(frozen=True, slots=True)
class Progress:
    """The ids decided in this sitting with the time of each, in order."""

    decided: tuple[tuple[str, datetime], ...] = ()

    def with_decided(self, ids: list[str], at: datetime) -> "Progress":
        """Count decisions."""
        kept = tuple(d for d in self.decided if d[0] not in ids)
        return replace(self, decided=(*kept, *((id, at) for id in ids)))

    def without(self, waiting: frozenset[str]) -> "Progress":
        """Take back those that wait again, as after an undo."""
        if not any(id in waiting for id, _ in self.decided):
            return self
        return replace(self, decided=tuple(d for d in self.decided if d[0] not in waiting))

    @property
    def pace(self) -> float | None:
        """Decisions a minute since the last pause; `None` before the third one."""
        times = [at for _, at in self.decided[-PACE_OF:]]
        since = 0
        for i in range(1, len(times)):
            if (times[i] - times[i - 1]).total_seconds() > PAUSE:
                since = i
        run = times[since:]
        seconds = (run[-1] - run[0]).total_seconds() if len(run) >= 3 else 0.0
        return (len(run) - 1) * 60 / seconds if seconds >= 1 else None

    def sentence(self, left: int, put_off: int) -> str:
        """Return "12 decided · 5 left · 2 put off · 9 a minute"."""
        parts = [f"{len(self.decided)} decided", f"{left} left"] if self.decided else [f"{left} to decide"]
        if put_off:
            parts.append(f"{put_off} put off")
        if self.pace is not None:
            parts.append(f"{self.pace:.0f} a minute")
        return " · ".join(parts)
