"""How a sitting in Review goes: what was decided and how, how fast, and what is left."""

from collections import Counter
from dataclasses import dataclass, replace
from datetime import datetime

PACE_OF = 12
"""Over how many of the latest decisions the pace is taken."""

PAUSE = 120.0
"""Seconds without a decision after which the pace starts anew."""


Part = tuple[int, str]
"""How much a part of the sentence matters, and what it says."""


def _joined(parts: list[Part]) -> str:
    return " · ".join(text for _, text in parts)


@dataclass(frozen=True, slots=True)
class Progress:
    """The ids decided in this sitting with the time of each and what was done, in order."""

    decided: tuple[tuple[str, datetime, str], ...] = ()

    def with_decided(self, ids: list[str], at: datetime, done: str = "decided") -> "Progress":
        """Count decisions; `done` is the word for what they were."""
        kept = tuple(d for d in self.decided if d[0] not in ids)
        return replace(self, decided=(*kept, *((id, at, done) for id in ids)))

    def without(self, waiting: frozenset[str]) -> "Progress":
        """Take back those that wait again, as after an undo."""
        if not any(id in waiting for id, _, _ in self.decided):
            return self
        return replace(self, decided=tuple(d for d in self.decided if d[0] not in waiting))

    @property
    def pace(self) -> float | None:
        """Decisions a minute since the last pause; `None` before the third one."""
        times = [at for _, at, _ in self.decided[-PACE_OF:]]
        since = 0
        for i in range(1, len(times)):
            if (times[i] - times[i - 1]).total_seconds() > PAUSE:
                since = i
        run = times[since:]
        seconds = (run[-1] - run[0]).total_seconds() if len(run) >= 3 else 0.0
        return (len(run) - 1) * 60 / seconds if seconds >= 1 else None

    def sentence(self, left: int, put_off: int, listed: int | None = None, room: int | None = None) -> str:
        """Return "12 decided · 8 left · 2 put off · 9 a minute", as much of it as there is `room` for, in cells.

        What nobody stored is left, too. The least that it says is what is left, and before that goes how many a
        filter lists.
        """
        parts = [(3, f"{listed} listed")] if listed is not None else []
        parts += [(2, f"{len(self.decided)} decided")] if self.decided else []
        parts.append((4, f"{left} {'left' if self.decided else 'to decide'}"))
        parts += [(1, f"{put_off} put off")] if put_off else []
        parts += [(0, f"{self.pace:.0f} a minute")] if self.pace is not None else []
        while room is not None and len(parts) > 1 and len(_joined(parts)) > room:
            parts.remove(min(parts))
        return _joined(parts)

    def done(self, put_off: int) -> str:
        """Return "Done for today: 12 approved, 3 rejected · 2 left for later"; empty while nothing was done."""
        counted = ", ".join(f"{count} {word}" for word, count in Counter(d[2] for d in self.decided).items())
        later = f"{put_off} left for later" if put_off else ""
        said = " · ".join(part for part in (counted, later) if part)
        return f"Done for today: {said}" if said else ""
