"""The offline reflector: what recurs and teaches, in the words of the memory that says it best. It invents no text.

Sentences that several memories from different times come near to are themes. Of each theme the best sentence is
proposed: much supported, from an important memory, specific, worded to last, and a lesson (`lessons`): what corrects
or instructs comes first, and what only passes is left out. What a user states for every time is proposed for itself.
It depends on nothing but the request and what is known.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from workbench.core.reflection.reflector import STOPPED, Cancelled, Insight, Preview, Reflection, Request, Step, Tell
from workbench.core.stream.memory import Memory
from workbench.reflect.extractive.lessons import Kind, Lesson, lesson_of
from workbench.reflect.extractive.sentences import Sentence, meaningful, sentences_of, standing_of
from workbench.reflect.extractive.themes import (
    LEAST,
    Near,
    Theme,
    Vectors,
    common_of,
    compare,
    theme_of,
    without_common,
)
from workbench.reflect.extractive.wording import quality
from workbench.reflect.known import KnownTexts

Embed = Callable[[Sequence[str]], Vectors]
"""Turns n texts into unit vectors, shape (n, dim)."""

NAME = "extractive"
MOST = 10
"""Themes that one reflection proposes."""

MOST_STANDING = 50
"""Instructions and preferences of users that one reflection proposes: more come with the next."""

_RESTATED = 0.9
"""Share of an instruction's words that another must hold to state it: short ones differ by a word."""

MOST_SENTENCES = 3_000
"""Sentences that are compared: of more the latest."""

MOST_CITED = 12
"""Memories that a proposal cites: of more the nearest."""

_OVERLAP, _FOCUSED_OVERLAP = 0.4, 0.8
"""Share of a theme's memories that may support themes before it; with a focus they are on one subject anyway."""

_TAUGHT_OVERLAP = 0.7
"""That share for what corrects or instructs: two lessons of one occasion are two."""

_NEARNESS = 0.46
"""How near its best supporters must be to a sentence."""

_TAUGHT_NEARNESS = 0.42
"""How near they must be to one that corrects or instructs."""

_WORDED = 0.4
"""Quality of the wording below which a sentence is not proposed, however much supports it."""

_HAPPENED = {
    "code_change": 0.6, "test_result": 0.5, "tool_output": 0.5, "error": 0.7, "general": 0.9, "test_failure": 0.7,
    "test_success": 0.5, "bug_fix": 0.6, "feature_implementation": 0.6, "refactoring": 0.6, "file_read": 0.5,
    "failure": 0.7, "discovery": 0.6, "instruction": 1.4, "convention": 1.5, "correction": 1.3, "gotcha": 1.3,
    "insight": 1.2, "pattern": 1.2,
}  # fmt: skip
"""What a sentence is worth by its memory: less where that tells what happened once, more where it says what holds."""

_TEACHES: Mapping[Kind, float] = {"corrects": 1.6, "instructs": 1.5, "generalises": 1.2}
_TELLS = 0.5
"""What a sentence is worth by what it teaches, and one that teaches nothing."""

_PLAIN, _OFTEN = 4.0, 1.5
_COUNTS: Mapping[Kind, float] = {"corrects": 1.5, "instructs": 1.5, "generalises": 1.0}
"""The importance of a sentence that teaches nothing, what each kind of lesson adds, and what coming up often adds."""

_LEAST_SHARE = 0.2
"""Share of the best one's score below which a sentence is left out: ten are not worth reading where five are good."""

TAUGHT = 2
"""Memories, from as many times or sessions, that make a theme of what corrects or instructs."""

_PART = 5
"""Letters from which a word of the focus may be a part of a longer one."""

_ON_FOCUS, _NEAR_FOCUS, _MOST_WORDS = 0.42, 0.2, 0.5
"""Cosines from which a sentence is about the focus without a word of it, and with one; and the share of its words
from which that alone will do."""


@dataclass(frozen=True, slots=True)
class _Ranked:
    """A proposable sentence with what supports it."""

    score: float
    place: int
    theme: Theme
    lesson: Lesson


class ExtractiveReflector:
    """Proposes recurring sentences verbatim. `known` are texts that are not to be proposed again."""

    name = NAME

    def __init__(self, embed: Embed, known: Iterable[str] = ()) -> None:
        self._embed = embed
        self._known = tuple(known)

    def preview(self, request: Request) -> Preview:
        """Return an empty preview: nothing leaves this machine."""
        del request
        return Preview(remark="Nothing leaves this machine.")

    def reflect(self, request: Request, tell: Tell, cancelled: Cancelled) -> Reflection:
        """Return what users state for every time, and up to ten recurring sentences with what supports them."""
        tell(Step("cluster"))
        standing = _standing(request, KnownTexts(self._known))
        if cancelled():
            return _reflection((), stopped=True)
        found = self._recurring(request, (*self._known, *(one.text for one in standing)), tell, cancelled)
        return replace(found, insights=(*standing, *found.insights))

    def _recurring(self, request: Request, known: Sequence[str], tell: Tell, cancelled: Cancelled) -> Reflection:
        sentences = sentences_of(request.memories)[-MOST_SENTENCES:]
        if len(sentences) < 2 or cancelled():
            return _reflection((), cancelled())
        vectors = self._embed([s.text for s in sentences])
        common = common_of(vectors)
        bare = without_common(vectors, common)
        about = self._about(request.focus, sentences, bare, common)
        focused = [share > 0 for share in about] if request.focus.strip() else ()
        near = compare(sentences, bare, _occasions(request.memories), focused)
        overlap = _FOCUSED_OVERLAP if focused else _OVERLAP
        found: list[Insight] = []
        themes = _ranked(request, sentences, near, about)
        for ranked in _apart(themes, near, KnownTexts(known), sentences, overlap):
            if cancelled():
                return _reflection(tuple(found), stopped=True)
            found.append(_insight(request, sentences[ranked.place], ranked))
            tell(Step("cluster", len(found), MOST, f"{found[-1].text}\n"))
            if len(found) == MOST:
                break
        return _reflection(tuple(found), stopped=False)

    def _about(self, focus: str, sentences: Sequence[Sentence], bare: Vectors, common: Vectors) -> list[float]:
        """Return how much each sentence is about the focus: 0 for not at all, 1 for everything without a focus."""
        if not focus.strip():
            return [1.0] * len(sentences)
        asked, stems = without_common(self._embed([focus]), common)[0], meaningful(focus)
        nearness = (bare @ asked).tolist()
        return [
            _share(_shared(stems, s.stems), stems, cosine if s.familiar else 0.0)
            for s, cosine in zip(sentences, nearness, strict=True)
        ]


def _standing(request: Request, known: KnownTexts) -> tuple[Insight, ...]:
    """Return the latest instructions and preferences that users state, each with the memories that hold it."""
    stems = meaningful(request.focus)
    stated = [
        (text, request.memories[row].id)
        for text, row in standing_of(request.memories)
        if (not stems or _shared(stems, meaningful(text))) and not known.says(text, _RESTATED)
    ]
    found: dict[str, list[str]] = {}
    for text, id in stated[-4 * MOST_STANDING :]:
        same = next((one for one in found if KnownTexts((one,)).says(text, _RESTATED)), text)
        found.setdefault(same, []).append(id)
    return tuple(
        Insight(text, tuple(dict.fromkeys(ids))[-MOST_CITED:], label=NAME, kinds=("instructs",), standing=True)
        for text, ids in list(found.items())[-MOST_STANDING:]
    )


def _shared(asked: frozenset[str], stems: frozenset[str]) -> frozenset[str]:
    """Return the words of a focus that a sentence holds, a long one also within a compound (Daten in Datenbank)."""
    return frozenset(
        word for word in asked if word in stems or (len(word) >= _PART and any(word in stem for stem in stems))
    )


def _share(shared: frozenset[str], stems: frozenset[str], cosine: float) -> float:
    """Return how much a sentence is about a focus with these `stems`, of which it has the `shared` ones."""
    words = len(shared) / max(1, len(stems))
    if cosine >= _ON_FOCUS or words > _MOST_WORDS or (shared and cosine >= _NEAR_FOCUS):
        return 0.5 + 0.5 * words + max(0.0, cosine)
    return 0.0


def _reflection(found: tuple[Insight, ...], stopped: bool) -> Reflection:
    return Reflection(NAME, found, complete=not stopped, stopped=STOPPED if stopped else "", by_person=stopped)


def _occasions(memories: Sequence[Memory]) -> list[int]:
    """Number the occasions of memories: those of one session within the same hour are one."""
    seen: dict[tuple[str, int], int] = {}
    keys = [(m.session_id, int(m.created_at.timestamp() // 3600)) for m in memories]
    return [seen.setdefault(key, len(seen)) for key in keys]


def _ranked(request: Request, sentences: Sequence[Sentence], near: Near, about: Sequence[float]) -> list[_Ranked]:
    """Return the sentences that recur, the best first."""
    counts = Counter(stem for s in sentences for stem in s.stems)
    found = []
    for place, sentence in enumerate(sentences):
        if not sentence.proposable or not about[place]:
            continue
        memory = request.memories[sentence.row]
        lesson = lesson_of(sentence.text, sentence.told, memory, sentence.language)
        if lesson.passes:
            continue
        theme = theme_of(near, place, sentence.row, TAUGHT if lesson.teaches else LEAST)
        wording = quality(sentence.text, sentence.told, sentence.language)
        nearness = _TAUGHT_NEARNESS if lesson.teaches else _NEARNESS
        if theme is None or wording < _WORDED or (theme.nearness < nearness and not request.focus.strip()):
            continue
        worth = wording * _specific(sentence, counts, len(sentences))
        worth *= _weight(memory) * _lesson_weight(lesson)
        score = math.log1p(theme.occasions) * theme.nearness * worth * about[place]
        found.append(_Ranked(round(score, 6), place, theme, lesson))
    found.sort(key=lambda ranked: (-ranked.score, ranked.place))
    return [ranked for ranked in found if ranked.score >= _LEAST_SHARE * found[0].score]


def _lesson_weight(lesson: Lesson) -> float:
    return max((_TEACHES[kind] for kind in lesson.kinds), default=_TELLS) * (1 + 0.1 * max(0, len(lesson.kinds) - 1))


def _weight(memory: Memory) -> float:
    return (0.5 + memory.importance_score / 10) * _HAPPENED.get(memory.observation_type, 1.0)


def _specific(sentence: Sentence, counts: Counter[str], total: int) -> float:
    """Return how rare its words are: 0.6 for everyday ones, up to 1.6."""
    rare = [math.log(total / counts[stem]) for stem in sentence.stems]
    return 0.6 + sum(rare) / len(rare) / max(1e-9, math.log(total))


def _apart(
    ranked: Sequence[_Ranked], near: Near, known: KnownTexts, sentences: Sequence[Sentence], overlap: float
) -> Iterator[_Ranked]:
    """Yield the best of each theme, leaving out what is known."""
    chosen: list[int] = []
    covered: set[int] = set()
    for one in ranked:
        rows = one.theme.rows
        alike = bool(chosen) and bool(np.any(near.cosines[one.place, chosen] >= near.threshold))
        most = max(overlap, _TAUGHT_OVERLAP) if one.lesson.teaches else overlap
        if alike or sum(row in covered for row in rows) > most * len(rows):
            continue
        if known.says(sentences[one.place].told):
            continue
        chosen.append(one.place)
        covered.update(rows)
        yield one


def _insight(request: Request, sentence: Sentence, ranked: _Ranked) -> Insight:
    cited = dict.fromkeys((sentence.row, *ranked.theme.rows))
    ids = tuple(request.memories[row].id for row in list(cited)[:MOST_CITED])
    kinds, occasions = ranked.lesson.kinds, ranked.theme.occasions
    told = (*kinds, *(("recurs",) if occasions >= LEAST else ()))
    return Insight(sentence.told, ids, importance=_importance(kinds, occasions), label=NAME, kinds=told)


def _importance(kinds: Sequence[Kind], occasions: int) -> float:
    """Return how much it counts, 0 to 10: by what it teaches, and by how often it came up."""
    return min(10.0, _PLAIN + sum(_COUNTS[kind] for kind in kinds) + min(_OFTEN, 0.5 * max(0, occasions - TAUGHT)))
