"""Candidates out of insights: what a reflection would put into Review."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from datetime import datetime

from workbench.core.reflection.reflector import Insight
from workbench.core.reflection.tree import depth_citing
from workbench.core.stream.memory import MAX_CONTENT, Memory
from workbench.core.text import clean_for_store

Find = Callable[[str], Memory | None]
Mask = Callable[[str], str]


_STATED = "the user states it for every time"


def drafts_of(
    insights: Sequence[Insight], reflector: str, now: datetime, find: Find, mask: Mask, run: str = ""
) -> tuple[Memory, ...]:
    """Return the candidates that insights become, still without ids; an insight without text becomes none.

    What was said twice, in answer to two questions, becomes one candidate that rests on what both cite.
    """
    made = (_draft(insight, reflector, now, find, mask, run) for insight in _once(insights))
    return tuple(draft for draft in made if draft is not None)


def why(citations: Sequence[Memory]) -> str:
    """Say in a few words what a reflection rests on: "7 memories, 5 sessions, 6 February to 19 March"."""
    if not citations:
        return ""
    sessions = len({m.session_id for m in citations if m.session_id})
    first, last = (pick(m.created_at for m in citations) for pick in (min, max))
    year = "" if first.year == last.year else " %Y"
    days = _day(first, year) if first.date() == last.date() else f"{_day(first, year)} to {_day(last, year)}"
    parts = [_counted(len(citations), "memory", "memories")]
    if sessions:
        parts.append(_counted(sessions, "session", "sessions"))
    return ", ".join((*parts, days))


def _teaches(kinds: Sequence[str]) -> str:
    """Say what an insight is as a lesson: "it corrects and instructs"."""
    return f"it {' and '.join(kinds)}" if kinds else ""


def _once(insights: Sequence[Insight]) -> Iterable[Insight]:
    """Return insights of the same words as one, in the order they came."""
    found: dict[str, Insight] = {}
    for insight in insights:
        words = " ".join(insight.text.split()).casefold()
        first = found.setdefault(words, insight)
        if first is not insight:
            found[words] = replace(
                first,
                citations=tuple(dict.fromkeys((*first.citations, *insight.citations))),
                unresolved=tuple(dict.fromkeys((*first.unresolved, *insight.unresolved))),
                importance=max(first.importance, insight.importance),
            )
    return found.values()


def _draft(insight: Insight, reflector: str, now: datetime, find: Find, mask: Mask, run: str) -> Memory | None:
    text = clean_for_store(mask(insight.text)).strip()[:MAX_CONTENT].rstrip()
    if not text:
        return None
    cited = [memory for id in insight.citations if (memory := find(id)) is not None]
    notes: dict[str, object] = {
        "reflector": reflector,
        "run": run,
        "label": insight.label,
        "question": clean_for_store(mask(insight.question)),
        "why": "; ".join(filter(None, (_STATED if insight.standing else "", _teaches(insight.kinds), why(cited)))),
        "kinds": list(insight.kinds),
        "rounds": [clean_for_store(mask(text)) for text in insight.rounds],
        "unresolved": [clean_for_store(one) for one in insight.unresolved],
        "depth": depth_citing(insight.citations, find),
    }
    return Memory(
        id="",
        content=text,
        created_at=now,
        last_accessed_at=now,
        memory_type="semantic",
        observation_type="insight",
        importance_score=min(10.0, max(0.0, insight.importance)),
        status="candidate",
        is_synthetic=True,
        citations=insight.citations,
        pinned=insight.standing,
        metadata={name: value for name, value in notes.items() if value},
    )


def _day(at: datetime, year: str) -> str:
    return f"{at.day} {at.strftime('%B' + year)}"


def _counted(number: int, one: str, many: str) -> str:
    return f"{number} {one if number == 1 else many}"
