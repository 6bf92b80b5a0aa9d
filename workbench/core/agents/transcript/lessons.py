"""What a session taught: lessons to be reviewed, and what was passed over as none, with the reason."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Literal

from workbench.core.agents.transcript.identity import print_of

Reason = Literal[
    "assertion", "own-work", "own-tool", "cancelled", "turned-down", "reader-limit", "looked-only", "said-nothing",
    "went-away", "not-resolved", "no-correction", "small-talk", "told-already", "known", "unreadable-line", "passing",
]  # fmt: skip
"""Why something is no lesson.

`assertion`: a test that is red while it is written · `own-work`: an error in what the agent is just writing ·
`own-tool`: the agent's own tool refused · `cancelled`: a call beside it failed, or somebody stopped it ·
`turned-down`: a person let it not happen and said no more · `reader-limit`: too long to be read at once ·
`looked-only`: nothing was found · `said-nothing`: it failed without a word · `went-away`: the same worked the next
time · `not-resolved`: nobody found out · `no-correction`: a prompt that asks for something · `small-talk`: too short
to tell anything · `told-already`: another lesson says it · `known`: it is in the store · `unreadable-line`: it is no
JSON of this kind · `passing`: what a summary tells of work that is over.
"""

Kind = Literal["correction", "rule", "failure", "fix", "insight", "decision", "open-work"]

TYPES: dict[Kind, str] = {
    "correction": "correction", "rule": "instruction", "failure": "failure", "fix": "bug_fix", "insight": "insight",
    "decision": "decision", "open-work": "general",
}  # fmt: skip
"""The observation type that a lesson becomes."""

_BASE: dict[Kind, float] = {
    "correction": 100, "rule": 90, "failure": 50, "insight": 42, "decision": 40, "fix": 34, "open-work": 5,
}  # fmt: skip
CANDIDATE = 32.0
"""Weight from which a lesson waits for a person's decision; what weighs less is only noted."""

WORTH = 24.0
"""Weight below which what a summary tells is not worth being noted."""

_SESSION, _MOST_SESSIONS = 20.0, 3
_COMMON_WORDS = """
the a an and or of to in on for with was were is are be by it its this that from as at not no failed worked what fixed
using used use added instead error errors need needs needed must should
"""
_COMMON = frozenset(_COMMON_WORDS.split())
_NAME = r"[\w$@:{}.\-]*[_/:.@][\w$@:{}.\-/]*[\w}]|--?[a-z][\w-]+"


@dataclass(frozen=True, slots=True)
class Lesson:
    """Something to remember, as it would be stored, and where it comes from.

    `ids` are the messages or tool uses that it was learned from, first to last, each with its session before a slash.
    `mark` tells the same lesson in another session; `weight` says what comes first. `needs` more than one session means
    that it is a lesson only when the same happened in so many: until then it is passed over for the `reason`.
    """

    kind: Kind
    text: str
    session: str
    ids: tuple[str, ...]
    at: datetime | None = None
    turn: int = 0
    speaker: str = "assistant"
    file: str = ""
    mark: str = ""
    extra: float = 0.0
    needs: int = 1
    reason: Reason = "own-work"

    @property
    def sessions(self) -> int:
        """In how many sessions it was learned."""
        return len({id.partition("/")[0] for id in self.ids})

    @property
    def weight(self) -> float:
        """How much it counts: a person's word most, then what several sessions ran into."""
        return _BASE[self.kind] + self.extra + _SESSION * (min(self.sessions, _MOST_SESSIONS) - 1)

    @property
    def waits(self) -> bool:
        """Whether it waits for a person's decision; what weighs less is only noted."""
        return self.weight >= CANDIDATE

    @property
    def observation_type(self) -> str:
        """The observation type that it is stored with."""
        return TYPES[self.kind]


@dataclass(frozen=True, slots=True)
class Passed:
    """Something that is no lesson, and why; `text` says in a few words what it was.

    `id` is that of its message or tool use, with its session before a slash where it was told beside other lessons.
    """

    reason: Reason
    text: str = ""
    id: str = ""


def ordered(lessons: Iterable[Lesson]) -> list[Lesson]:
    """Return lessons, those that count most first; of equals the latest."""
    return sorted(lessons, key=lambda one: (-one.weight, -(one.at.timestamp() if one.at else 0.0), one.ids))


def same_lesson(one: Lesson, other: Lesson) -> bool:
    """Tell whether two lessons say the same: by their mark, or since they name the same and share most words."""
    if one.mark and one.mark == other.mark:
        return True
    if "correction" in (one.kind, other.kind) or "rule" in (one.kind, other.kind):
        return _told(one.text) == _told(other.text)
    if one.kind == other.kind == "failure":
        return False
    shared = _names(one.text) & _names(other.text)
    mine, theirs = _told(one.text), _told(other.text)
    common = len(mine & theirs) / (min(len(mine), len(theirs)) or 1)
    return common >= (0.3 if any(len(name) >= 8 for name in shared) else 0.6)


def told_once(lessons: Iterable[Lesson]) -> tuple[list[Lesson], list[Passed]]:
    """Return lessons each told once, what several sessions say as one, and what fell away by that."""
    kept: list[Lesson] = []
    passed: list[Passed] = []
    for lesson in sorted(lessons, key=lambda one: -one.weight):
        place = next((at for at, other in enumerate(kept) if same_lesson(lesson, other)), None)
        if place is None:
            kept.append(lesson)
            continue
        other = kept[place]
        fresh = tuple(id for id in lesson.ids if print_of(id) not in set(map(print_of, other.ids)))
        ids = (*other.ids, *fresh)
        passed.extend(Passed("told-already", lesson.text[:120], id) for id in fresh)
        kept[place] = replace(other, ids=ids)
    ripe = [one for one in kept if one.sessions >= one.needs]
    passed += [Passed(one.reason, one.text[:120], one.ids[0]) for one in kept if one.sessions < one.needs]
    return ripe, passed


def _names(text: str) -> frozenset[str]:
    return frozenset(name.strip(".:-").lower() for name in re.findall(_NAME, text) if len(name) >= 5)


def _told(text: str) -> frozenset[str]:
    from workbench.core.words import words  # an event that teaches nothing is not to wait for it

    return frozenset(word for word in words(text) if word not in _COMMON and len(word) > 1)
