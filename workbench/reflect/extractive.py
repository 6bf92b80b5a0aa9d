"""The offline reflector: what recurs and teaches, in the words of the memory that says it best. It
invents no text.

Sentences that several memories from different times come near to are themes. Of each theme the best
sentence is proposed: much supported, from an important memory, specific, worded to last, and a
lesson (`lessons`): what corrects or instructs comes first, and what only passes is left out. What a
user states for every time is proposed for itself. It depends on nothing but the request and what is
known.
"""

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from workbench.core.reflection.reflector import (
    STOPPED,
    Insight,
    Preview,
    Reflection,
    Request,
    Step,
    Tell,
)
from workbench.core.runtime import Cancelled
from workbench.core.stream.memory import Memory
from workbench.core.words import words
from workbench.reflect.languages import (
    LABEL,
    KnownTexts,
    Rules,
    Sentence,
    language_of,
    length,
    meaningful,
    rules_for,
    sentences_of,
    standing_of,
)

# What a sentence is as a lesson: whether it corrects, instructs or generalises, or only tells of a
# passing moment.
#
# The rules are those of the sentence's language (`languages`); where there are none, the type of
# its memory speaks alone. What passes, a state, a plan that was carried out, something that
# happened once, a command that was a mistake, is no lesson, however often the memories come back to
# it.


Kind = Literal["corrects", "instructs", "generalises"]

_TYPES: Mapping[str, tuple[Kind, ...]] = {
    "correction": ("corrects",), "instruction": ("instructs",), "convention": ("instructs",),
    "gotcha": ("generalises",), "insight": ("generalises",), "pattern": ("generalises",),
}  # fmt: skip
"""What the sentences of a memory are by its type, unless they tell of something else."""

_OUTCOMES = frozenset((
    "code_change", "test_result", "tool_output", "test_success", "test_failure", "file_read", "error", "failure",
    "bug_fix", "refactoring", "feature_implementation",
))  # fmt: skip
"""Types of memories that tell what came of something: a lesson of theirs says in words what to do."""


class Lesson(NamedTuple):
    """What a sentence is: its `kinds`, the most telling first, and whether it only `passes`."""

    kinds: tuple[Kind, ...]
    passes: bool

    @property
    def teaches(self) -> bool:
        """Whether it says by itself what to do, or what not to believe."""
        return "corrects" in self.kinds or "instructs" in self.kinds


def lesson_of(text: str, told: str, memory: Memory, language: str = "") -> Lesson:
    """Return what a sentence of a memory is; `told` is it as it would be proposed, with who says
    it.

    Without a `language` that of the sentence counts.
    """
    by_type = _TYPES.get(memory.observation_type, ())
    rules = rules_for(language or language_of(text))
    if rules is None:
        return Lesson(by_type, memory.observation_type in _OUTCOMES)
    spoken = told != text or _speaks(text, rules)
    # Who talks with somebody says "should" and "instead" of other things than of how to work.
    instructs, corrects = (
        not spoken and bool(one.search(text)) for one in (rules.instructs, rules.corrects)
    )
    general = bool((rules.habit if spoken else rules.generalises).search(text))
    found: tuple[tuple[Kind, bool], ...] = (
        ("corrects", corrects or "corrects" in by_type),
        ("instructs", instructs or "instructs" in by_type),
        ("generalises", general or "generalises" in by_type),
    )
    kinds = tuple(kind for kind, holds in found if holds)
    # What somebody says of themselves is worth keeping as a habit, a wish or a rule: the rest is
    # talk.
    return Lesson(
        kinds, (spoken and not kinds) or _passes(text, told, memory, rules, spoken=spoken)
    )


def _passes(text: str, told: str, memory: Memory, rules: Rules, *, spoken: bool) -> bool:
    """Tell whether a sentence is about a moment: a state, a plan, something that happened, or one
    run of something.
    """
    if any(one.search(text) for one in (rules.once, rules.state, rules.plan, rules.labelled)):
        return True
    if spoken and _is_small_talk(text, told, rules):
        return True
    if not spoken and (rules.first_person.match(text) or rules.about_before.match(text)):
        return True
    if memory.observation_type in _OUTCOMES and not rules.instructs.search(text):
        return True
    return bool(rules.past.search(text)) and not rules.holds.search(text)


def _is_small_talk(text: str, told: str, rules: Rules) -> bool:
    """Tell whether it answers somebody, is about what they showed, tells a feeling, or says nothing
    of who says it.
    """
    if any(one.search(text) for one in (rules.answers, rules.thanks, rules.unresolved)):
        return True
    return told != text and frozenset(words(text)).isdisjoint(rules.selves | rules.ours)


def _speaks(text: str, rules: Rules) -> bool:
    """Tell whether a person says it of themselves."""
    said = frozenset(words(text))
    return bool(said & rules.selves) or (LABEL.match(text) is not None and bool(said & rules.ours))


# How well a sentence is worded to be remembered: what holds beyond the moment, in plain words, by
# itself.
#
# Each rule multiplies a quality of 1 by a factor; the factors are judgments, tried on transcripts
# of interviews, on conversations and on the notes of coding agents. The words are those of the
# sentence's language (`languages`); where none are known, only its length, digits and signs count,
# and support and importance order what is proposed.


_DATED = re.compile(
    r"\d\d:\d\d|\d{4}-\d\d|\b\d{1,2}(?:st|nd|rd|th)? (?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)|#\d",
    re.I,
)
_OUTPUT = re.compile(r" -> |=> |\b\d+ (?:passed|failed|skipped)\b")
_DONE = re.compile(r"\A[A-Z]\w+ed\b")
_SHORT, _LONG = 60, 200
"""Characters between which a sentence has the length of something to remember."""


def quality(text: str, told: str, language: str = "") -> float:
    """Return how well a sentence would read as a memory: above 1 for a rule or a habit, near 0 for
    passing remarks.

    `told` is the text as it would be proposed, with the speaker's name in front where there is one.
    Without a `language` that of the sentence counts.
    """
    digits = sum(c.isdigit() for c in text) / len(text)
    factors = (
        0.6 if _DATED.search(text) else 1.0,
        0.7 if _DONE.match(told) else 1.0,
        0.5 if _OUTPUT.search(text) else 1.0,
        0.7 if "!" in text or "！" in text else 1.0,
        max(0.3, 1 - 4 * digits),
        min(1.0, length(text) / _SHORT) * min(1.0, _LONG / length(text)),
        *_worded(text, told, rules_for(language or language_of(text))),
    )
    return math.prod(factors)


def _worded(text: str, told: str, rules: Rules | None) -> tuple[float, ...]:
    """Return the factors of the words of a sentence."""
    if rules is None:
        return ()
    found = words(text)
    distinct = set(found)
    return (
        1 + 0.25 * min(len(distinct & rules.lasting), 2),
        0.75 ** min(len(distinct & rules.passing), 3),
        0.3 if rules.leaning.match(told) else 1.0,
        0.7 ** len(rules.filling.findall(text)),
        0.6 ** len(rules.hedged.findall(text)),
        0.9 ** min(sum(word in rules.pointing for word in found), 3),
        0.6 if distinct & rules.addressing else 1.0,
    )


# Recurring themes: for each sentence the memories that say something near it, and when they did.
#
# Leader clustering by cosine: any sentence may lead, and what is near it supports it. Static
# embeddings share a large common component, which is taken out first; what remains is compared with
# how near unrelated sentences come.


Vectors = NDArray[np.float32]

LEAST = 3
"""Memories, from as many times or sessions, that make a theme."""

_COMMON = 30.0
"""Sentences from which on their mean is mostly the common component, and not what they are about."""

_DEVIATIONS, _LOWEST, _HIGHEST = 3.0, 0.42, 0.6
"""Standard deviations of all cosines from which a pair counts as near, and the bounds of that
threshold.
"""

_CLEAR, _CERTAIN = 0.5, 0.65
"""Cosines from which one shared meaningful word makes two sentences near, and from which none is
needed.

Of other languages than English the vectors know letters rather than words, and too much is near:
two are needed.
"""

_ON_ONE_SUBJECT = 0.3
"""Cosine from which two sentences about the focus are near."""

_COMMONPLACE = 0.06
"""Share of all sentences above which a word says nothing about what two of them share."""


@dataclass(frozen=True, slots=True, eq=False)
class Near:
    """How near the sentences are: `cosines` (n, n), 0 where a pair is not near, and (n, m) per
    memory.

    `by_memory` also counts as near what has only the focus in common. `rows` are the m memories of
    the second, by their place in the request; `occasions` names when each was made.
    """

    cosines: NDArray[np.float32]
    by_memory: NDArray[np.float32]
    rows: NDArray[np.intp]
    occasions: NDArray[np.intp]
    threshold: float


class Theme(NamedTuple):
    """What supports a sentence: rows of the request by falling nearness, on how many occasions, and
    how near (0–1).
    """

    rows: tuple[int, ...]
    occasions: int
    nearness: float


def without_common(vectors: Vectors, mean: Vectors) -> Vectors:
    """Return unit vectors without the component that all share."""
    bare: Vectors = vectors - mean
    length = np.linalg.norm(bare, axis=1, keepdims=True)
    unit: Vectors = (bare / np.maximum(length, 1e-9)).astype(np.float32)
    return unit


def common_of(vectors: Vectors) -> Vectors:
    """Return what all vectors share, less of it the fewer they are."""
    count = len(vectors)
    common: Vectors = vectors.mean(axis=0) * np.float32(count / (count + _COMMON))
    return common


def compare(
    sentences: Sequence[Sentence],
    vectors: Vectors,
    occasions: Sequence[int],
    focused: Sequence[bool] = (),
) -> Near:
    """Compare every sentence with every other; `vectors` (n, dim) are bare, `occasions` is by row
    of the request.

    Sentences that are `focused` have their subject in common already, so that less makes two of
    them near.
    """
    cosines = np.clip(vectors @ vectors.T, -1.0, 1.0)
    threshold = _threshold(cosines)
    same = np.flatnonzero(np.array(focused, np.bool_))
    between = cosines[np.ix_(same, same)]
    _drop_what_shares_no_word(cosines, sentences, threshold)
    supported = cosines
    if len(same):
        supported = cosines.copy()
        supported[np.ix_(same, same)] = np.where(
            between >= _ON_ONE_SUBJECT, np.maximum(between, threshold), 0
        )
    rows = np.array([s.row for s in sentences], np.intp)
    starts = np.flatnonzero(np.r_[True, rows[1:] != rows[:-1]])
    by_memory = np.maximum.reduceat(supported, starts, axis=1)
    made = np.array([occasions[row] for row in rows[starts].tolist()], np.intp)
    return Near(cosines, by_memory, rows[starts], made, threshold)


def theme_of(near: Near, sentence: int, row: int, least: int = LEAST) -> Theme | None:
    """Return what supports a sentence of memory `row`, or `None` when fewer than `least` memories
    do.
    """
    column = near.by_memory[sentence]
    found = np.flatnonzero(column >= near.threshold)
    if len(found) < least:
        return None
    ordered = found[np.lexsort((near.rows[found], -column[found]))]
    first: dict[int, float] = {}
    for place in ordered.tolist():
        first.setdefault(int(near.occasions[place]), float(column[place]))
    if len(first) < least:
        return None
    own = near.occasions[near.rows == row]
    others = [value for occasion, value in first.items() if occasion not in own.tolist()][
        : LEAST + 1
    ]
    return Theme(tuple(near.rows[ordered].tolist()), len(first), sum(others) / max(1, len(others)))


def _threshold(cosines: NDArray[np.float32]) -> float:
    """Return from where on a pair is nearer than chance."""
    count = len(cosines)
    pairs = max(1, count * count - count)
    mean = (float(cosines.sum()) - count) / pairs
    variance = (float((cosines * cosines).sum()) - count) / pairs - mean * mean
    return float(min(_HIGHEST, max(_LOWEST, mean + _DEVIATIONS * max(0.0, variance) ** 0.5)))


def _drop_what_shares_no_word(
    cosines: NDArray[np.float32], sentences: Sequence[Sentence], threshold: float
) -> None:
    """Set pairs to 0 that only their vectors hold together: the less alike, the more words they
    have to share.
    """
    counts: dict[str, int] = {}
    for sentence in sentences:
        for stem in sentence.stems:
            counts[stem] = counts.get(stem, 0) + 1
    most = max(4.0, _COMMONPLACE * len(sentences))
    stems = [frozenset(stem for stem in s.stems if counts[stem] <= most) for s in sentences]
    familiar = np.array([s.familiar for s in sentences], np.bool_)
    certain = (cosines >= _CERTAIN) & (familiar[:, None] & familiar[None, :])
    left, right = np.nonzero(np.triu((cosines >= threshold) & ~certain, 1))
    clear = (cosines[left, right] >= _CLEAR) & familiar[left] & familiar[right]
    bad = [
        at
        for at, (a, b, one) in enumerate(
            zip(left.tolist(), right.tolist(), clear.tolist(), strict=True)
        )
        if len(stems[a] & stems[b]) < (1 if one else 2)
    ]
    cosines[left[bad], right[bad]] = 0
    cosines[right[bad], left[bad]] = 0


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
"""Share of a theme's memories that may support themes before it; with a focus they are on one
subject anyway.
"""

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
"""What a sentence is worth by its memory: less where that tells what happened once, more where it
says what holds.
"""

_TEACHES: Mapping[Kind, float] = {"corrects": 1.6, "instructs": 1.5, "generalises": 1.2}
_TELLS = 0.5
"""What a sentence is worth by what it teaches, and one that teaches nothing."""

_PLAIN, _OFTEN = 4.0, 1.5
_COUNTS: Mapping[Kind, float] = {"corrects": 1.5, "instructs": 1.5, "generalises": 1.0}
"""The importance of a sentence that teaches nothing, what each kind of lesson adds, and what coming
up often adds.
"""

_LEAST_SHARE = 0.2
"""Share of the best one's score below which a sentence is left out: ten are not worth reading where
five are good.
"""

TAUGHT = 2
"""Memories, from as many times or sessions, that make a theme of what corrects or instructs."""

_PART = 5
"""Letters from which a word of the focus may be a part of a longer one."""

_ON_FOCUS, _NEAR_FOCUS, _MOST_WORDS = 0.42, 0.2, 0.5
"""Cosines from which a sentence is about the focus without a word of it, and with one; and the
share of its words from which that alone will do.
"""


class _Ranked(NamedTuple):
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
        """Return what users state for every time, and up to ten recurring sentences with what
        supports them.
        """
        tell(Step("cluster"))
        standing = _standing(request, KnownTexts(self._known))
        if cancelled():
            return _reflection((), stopped=True)
        found = self._recurring(
            request, (*self._known, *(one.text for one in standing)), tell, cancelled
        )
        return replace(found, insights=(*standing, *found.insights))

    def _recurring(
        self, request: Request, known: Sequence[str], tell: Tell, cancelled: Cancelled
    ) -> Reflection:
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

    def _about(
        self, focus: str, sentences: Sequence[Sentence], bare: Vectors, common: Vectors
    ) -> list[float]:
        """Return how much each sentence is about the focus: 0 for not at all, 1 for everything
        without a focus.
        """
        if not focus.strip():
            return [1.0] * len(sentences)
        asked, stems = without_common(self._embed([focus]), common)[0], meaningful(focus)
        nearness = (bare @ asked).tolist()
        return [
            _share(_shared(stems, s.stems), stems, cosine if s.familiar else 0.0)
            for s, cosine in zip(sentences, nearness, strict=True)
        ]


def _standing(request: Request, known: KnownTexts) -> tuple[Insight, ...]:
    """Return the latest instructions and preferences that users state, each with the memories that
    hold it.
    """
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
        Insight(
            text,
            tuple(dict.fromkeys(ids))[-MOST_CITED:],
            label=NAME,
            kinds=("instructs",),
            standing=True,
        )
        for text, ids in list(found.items())[-MOST_STANDING:]
    )


def _shared(asked: frozenset[str], stems: frozenset[str]) -> frozenset[str]:
    """Return the words of a focus that a sentence holds, a long one also within a compound (Daten
    in Datenbank).
    """
    return frozenset(
        word
        for word in asked
        if word in stems or (len(word) >= _PART and any(word in stem for stem in stems))
    )


def _share(shared: frozenset[str], stems: frozenset[str], cosine: float) -> float:
    """Return how much a sentence is about a focus with these `stems`, of which it has the `shared`
    ones.
    """
    words = len(shared) / max(1, len(stems))
    if cosine >= _ON_FOCUS or words > _MOST_WORDS or (shared and cosine >= _NEAR_FOCUS):
        return 0.5 + 0.5 * words + max(0.0, cosine)
    return 0.0


def _reflection(found: tuple[Insight, ...], stopped: bool) -> Reflection:
    return Reflection(
        NAME, found, complete=not stopped, stopped=STOPPED if stopped else "", by_person=stopped
    )


def _occasions(memories: Sequence[Memory]) -> list[int]:
    """Number the occasions of memories: those of one session within the same hour are one."""
    seen: dict[tuple[str, int], int] = {}
    keys = [(m.session_id, int(m.created_at.timestamp() // 3600)) for m in memories]
    return [seen.setdefault(key, len(seen)) for key in keys]


def _ranked(
    request: Request, sentences: Sequence[Sentence], near: Near, about: Sequence[float]
) -> list[_Ranked]:
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
        if (
            theme is None
            or wording < _WORDED
            or (theme.nearness < nearness and not request.focus.strip())
        ):
            continue
        worth = wording * _specific(sentence, counts, len(sentences))
        worth *= _weight(memory) * _lesson_weight(lesson)
        score = math.log1p(theme.occasions) * theme.nearness * worth * about[place]
        found.append(_Ranked(round(score, 6), place, theme, lesson))
    found.sort(key=lambda ranked: (-ranked.score, ranked.place))
    return [ranked for ranked in found if ranked.score >= _LEAST_SHARE * found[0].score]


def _lesson_weight(lesson: Lesson) -> float:
    return max((_TEACHES[kind] for kind in lesson.kinds), default=_TELLS) * (
        1 + 0.1 * max(0, len(lesson.kinds) - 1)
    )


def _weight(memory: Memory) -> float:
    return (0.5 + memory.importance_score / 10) * _HAPPENED.get(memory.observation_type, 1.0)


def _specific(sentence: Sentence, counts: Counter[str], total: int) -> float:
    """Return how rare its words are: 0.6 for everyday ones, up to 1.6."""
    rare = [math.log(total / counts[stem]) for stem in sentence.stems]
    return 0.6 + sum(rare) / len(rare) / max(1e-9, math.log(total))


def _apart(
    ranked: Sequence[_Ranked],
    near: Near,
    known: KnownTexts,
    sentences: Sequence[Sentence],
    overlap: float,
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
    return Insight(
        sentence.told, ids, importance=_importance(kinds, occasions), label=NAME, kinds=told
    )


def _importance(kinds: Sequence[Kind], occasions: int) -> float:
    """Return how much it counts, 0 to 10: by what it teaches, and by how often it came up."""
    return min(
        10.0,
        _PLAIN
        + sum(_COUNTS[kind] for kind in kinds)
        + min(_OFTEN, 0.5 * max(0, occasions - TAUGHT)),
    )
