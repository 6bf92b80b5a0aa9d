"""What an agent did a moment ago, for the line at the top of every area."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from workbench.core.text import one_line
from workbench.services.context import Touched
from workbench.services.open import Workbench
from workbench.services.reflection.gauge import gauge_of
from workbench.tui.widgets.content import key_of
from workbench.tui.widgets.figures import since

RECENT = timedelta(minutes=10)
"""How long the line tells of it, and the pause after which counting begins anew."""

STEP = 10
"""Seconds in which the age of something recent is told: often enough to be true, seldom enough to
cost nothing.
"""

_LONGEST = 16
_ACTOR = "agent:"


@dataclass(frozen=True, slots=True)
class Doing:
    """How often an agent read and wrote without a long pause, and when it did last."""

    agent: str
    at: datetime
    reads: int = 0
    writes: int = 0

    def is_recent(self, now: datetime) -> bool:
        """Tell whether it is still worth a word."""
        return now - self.at < RECENT

    def wordings(self, now: datetime) -> tuple[str, ...]:
        """Return it in words, the longest wording first."""
        name, age = one_line(self.agent, _LONGEST), _age(self.at, now)
        counts = ((self.reads, "read"), (self.writes, "write"))
        done = ", ".join(f"{n} {what}{'' if n == 1 else 's'}" for n, what in counts if n)
        return (f"{name} · {done}, {age}", f"{name} · {done}", f"{name} · {age}", name)


def heard(before: Mapping[str, Doing], touched: Touched, now: datetime) -> Mapping[str, Doing]:
    """Return what agents did lately, with one more transaction, which may be nobody's."""
    agent = touched.actor.removeprefix(_ACTOR)
    if agent == touched.actor or touched.kind not in ("access", "edit"):
        return before
    known = before.get(agent)
    doing = known if known is not None and known.is_recent(now) else Doing(agent, now)
    if touched.kind == "access":
        asked = sum(table == "reads" for table, _ in touched.keys)
        doing = replace(doing, at=now, reads=doing.reads + max(1, asked))
    else:
        doing = replace(doing, at=now, writes=doing.writes + 1)
    kept = {name: one for name, one in before.items() if name != agent and one.is_recent(now)}
    return kept | {agent: doing}


def latest(doings: Mapping[str, Doing], now: datetime) -> Doing | None:
    """Return what was done last, while it is recent."""
    found = max(doings.values(), key=lambda doing: doing.at, default=None)
    return found if found is not None and found.is_recent(now) else None


def _age(at: datetime, now: datetime) -> str:
    seconds = int((now - at).total_seconds())
    if seconds < STEP:
        return "now"
    return f"{seconds // STEP * STEP}s ago" if seconds < 60 else since(at, now)


# Says once when a reflection becomes due.


_BECAUSE = {
    "importance": "much that is important has come in",
    "observations": "many observations have come in",
    "hours": "the last one is long ago",
}


class DueNotice:
    """Looks whether a reflection is due. That the last one is long ago is no news when the app is
    opened.
    """

    def __init__(self, bench: Workbench) -> None:
        self._context = bench.context
        due = gauge_of(self._context).due
        self.due, self._said = due is not None, due == "hours"

    def fresh(self) -> str:
        """Return a sentence the first time a reflection is due, and again after the next one."""
        due = gauge_of(self._context).due
        self.due = due is not None
        if due is None or self._said:
            self._said = due is not None
            return ""
        self._said = True
        why = _BECAUSE.get(due, "it is time")
        return f"A reflection is due: {why}. {key_of('app.reflect')} reflects."
