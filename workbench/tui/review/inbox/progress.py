"""How a sitting in Review goes: what was decided and how, how fast, and what is left."""

from collections import Counter
from dataclasses import dataclass, replace
from datetime import datetime

PACE_OF = 12
"""Over how many of the latest decisions the pace is taken."""

PAUSE = 120.0
"""Seconds without a decision after which the pace starts anew."""


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

    def sentence(self, left: int, put_off: int, found: int = 0) -> str:
        """Return "12 decided · 5 left · 3 found · 2 put off · 9 a minute"; what is `found` is stored nowhere.

        What is only found is open, too: nothing is called left, or to decide, without it.
        """
        open_still = "left" if self.decided else "to decide"
        parts = [f"{len(self.decided)} decided"] if self.decided else []
        parts += [f"{left} {open_still}", f"{found} found"] if left and found else []
        parts += [f"{found or left}{' found' if found else ''} {open_still}"] if not (left and found) else []
        if put_off:
            parts.append(f"{put_off} put off")
        if self.pace is not None:
            parts.append(f"{self.pace:.0f} a minute")
        return " · ".join(parts)

    def done(self, put_off: int) -> str:
        """Return "Done for today: 12 approved, 3 rejected · 2 left for later"; empty while nothing was done."""
        counted = ", ".join(f"{count} {word}" for word, count in Counter(d[2] for d in self.decided).items())
        later = f"{put_off} left for later" if put_off else ""
        said = " · ".join(part for part in (counted, later) if part)
        return f"Done for today: {said}" if said else ""
