"""Retrieval profiles: every parameter of the ranking as one frozen value.

The built-in profiles are those of the published systems plus the workbench's own default;
a profile of a person's own is saved from the tuning screen.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, astuple, dataclass, replace
from datetime import UTC, datetime
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from workbench.core.document import Record
from workbench.core.record import InvalidQuery, InvalidRecord
from workbench.core.stream.memory import MemoryType
from workbench.core.text import one_line

if TYPE_CHECKING:
    from workbench.core.stream.filter import Filter

# The candidate filter of a profile: which of the memories that may be served take part in a
# ranking at all. It is written in the filter language of the stream. What an agent is never
# served stays out, whatever it says.


def candidate_filter(text: str, now: datetime) -> "Filter":
    """Read a candidate filter; relative times count from `now`, days are those of UTC, as in every
    ranking.

    Raises `InvalidQuery` when it cannot be read, or holds a word that only a search could rank by.
    """
    from workbench.core.stream.filter import parse_filter  # most profiles have no filter

    found = parse_filter(text, now, zone=UTC)
    if found.words:
        hint = f'Write type:error, -tag:wip or "{one_line(found.words[0], 20)}".'
        raise InvalidQuery(f"“{one_line(found.words[0], 20)}” is not a condition.", hint)
    return found


# What a ranking is made of: the factors that add up to a score, and the parts that make relevance.
#
# Each of them is one entry. Ranker, sliders, bars, explanations, tuner and profile files read the
# entries here; none of them knows a factor by its name. What carries it out is in
# `retrieval.ranking`, so whoever only lists factors loads no numbers.


RELEVANCE = "relevance"
"""The factor that the parts of relevance make."""

How = Literal["adds", "multiplies", "feeds"]
"""How a part takes part: what it makes is added to what there is so far, multiplies it, or is for
later parts only.
"""


class Knob(NamedTuple):
    """A number of a profile that a person can move.

    `key` is its dotted name in a profile's file and `default` what it is where a file leaves it
    out; `id` names its slider, which goes from 0 to `high` or, for a duration in `days`, from an
    hour to never (`None`). `fading` ones count only while recency fades with time, `by_word` ones
    only while full text counts word by word; `episodes` tells whether the score of episodes has it,
    and `talk` whether it is only for who counts words one by one.
    """

    id: str
    key: str
    label: str
    group: str
    words: str
    high: float = 1.0
    step: float = 0.05
    fine: float = 0.01
    default: float | None = 0.0
    days: bool = False
    fading: bool = False
    episodes: bool = False
    by_word: bool = False
    talk: bool = False


class Factor(NamedTuple):
    """One factor: its value, mapped to 0…1 over the pool, times its weight is added to the score.

    `weight` is the key of the weight in a profile, `glyph` its fill in bars, `words` say what the
    weight does. `episodes` tells whether the score of episodes has terms under its weight.
    """

    id: str
    label: str
    weight: str
    glyph: str
    words: str
    knobs: tuple[Knob, ...] = ()
    episodes: bool = False


class RelevancePart(NamedTuple):
    """One thing that relevance is made of, in the order of the list.

    `words` is how the facts of that are said, with a
    place for each (`"said by {speaker}"`); empty where the figures say it all. A part that tells by
    itself how well a text matches has in `alone` the values of its parameters under which nothing
    else does. An `optional` one is not spoken of while its parameters are 0.
    """

    id: str
    label: str
    how: How
    parameters: tuple[Knob, ...] = ()
    words: str = ""
    alone: tuple[tuple[str, float], ...] = ()
    optional: bool = False


def _life(kind: str, words: str, *, episodes: bool = False) -> Knob:
    return Knob(
        f"half-life-{kind}", f"half_lives.{kind}", kind, "half-life of recency", words,
        default=None, days=True, fading=True, episodes=episodes,
    )  # fmt: skip


def _talk(id: str, label: str, how: How, knob: Knob, words: str) -> RelevancePart:
    return RelevancePart(id, label, how, (knob,), words, optional=True)


_BLEND = Knob(
    "blend",
    "blend",
    "meaning",
    RELEVANCE,
    "Share of meaning (cosine); the rest goes by words (BM25).",
    default=1.0,
    episodes=True,
)

FACTORS = (
    Factor(
        "recency", "recency",  weight="recency", glyph="▓",
        words="Prefers what was read lately.", episodes=True,
        knobs=(
            _life("episodic", "Episodic: time until recency halves.", episodes=True),
            _life("working", "Working: time until recency halves."),
            _life("semantic", "Semantic: time until recency halves."),
            _life("procedural", "Procedural: time until recency halves."),
        ),
    ),
    Factor(
        "importance", "importance",  weight="importance",
        glyph="░", words="Prefers what is important or upvoted.", episodes=True,
        knobs=(
            Knob("feedback", "feedback", "per vote", "votes", "Importance a vote adds or takes.", 2.0, 0.1, 0.02, 0.5),
            Knob(
                "feedback-half-life", "feedback_half_life", "half-life", "votes", "Time until a vote counts half.",
                default=None, days=True,
            ),
        ),
    ),
    Factor(
        RELEVANCE, "relevance",  weight="relevance", glyph="█",
        words="Prefers what matches the query.", episodes=True,
    ),
)  # fmt: skip
"""What adds up to a score, in the order of adding: a profile says how much of each."""

RELEVANCE_PARTS = (
    _talk(
        "related", "related", "feeds",
        Knob(
            "related-words", "related_words", "related words", RELEVANCE, "How much words of similar meaning count.",
            by_word=True, talk=True,
        ),
        words="{word} here ≈ {asked} ({cosine:.2f}, counts {counts:.2f})",
    ),
    _talk(
        "neighbours", "around", "feeds",
        Knob(
            "neighbour-words", "neighbour_words", "neighbour text", RELEVANCE,
            "How much words count that stand in the memories before and after.", 0.5,
            by_word=True, talk=True,
        ),
        words="{word} is {steps} {where} it, counts {counts:.2f}",
    ),
    RelevancePart(
        "dense", "meaning", "adds",
        parameters=(_BLEND,), alone=(("blend", 1.0),),
        words="the model does not know the language of the {what}: its words count alone",
    ),
    RelevancePart(
        "lexical", "words", "adds",
        parameters=(
            _BLEND,
            Knob(
                "length", "length", "text length", RELEVANCE, "How much a long text loses.", 3.0, default=1.0,
                by_word=True, talk=True,
            ),
        ),
        alone=(("blend", 0.0), ("length", 1.0)),
    ),
    RelevancePart(
        "contiguity", "near match", "adds",

        parameters=(
            Knob(
                "contiguity", "contiguity", "near a match", RELEVANCE,
                "How much a match lifts the memories before and after it.",
            ),
        ),
    ),
    _talk(
        "carry", "question", "adds",
        Knob(
            "carry", "carry", "from question", RELEVANCE,
            "How much an answer gets from the question before it.", 2.0, talk=True,
        ),
        words="{gained:.2f} carried from {id}",
    ),
    _talk(
        "questions", "questions", "multiplies",
        Knob("questions", "questions", "questions", RELEVANCE, "How much a text loses that only asks.", talk=True),
        words="asks {asks:.0%} of what it says",
    ),
    _talk(
        "other_actor", "speaker", "multiplies",
        Knob(
            "other-actor", "other_actor", "speaker", RELEVANCE,
            "How much a text loses that somebody else said than the one you name.", talk=True,
        ),
        words="said by {speaker}, you named {named}",
    ),
    _talk(
        "role", "assistant", "multiplies",
        Knob(
            "role", "role", "assistant", RELEVANCE,
            "How much an assistant's text loses when you ask about yourself.", talk=True,
        ),
        words="said by {speaker}, you ask about yourself",
    ),
    _talk(
        "month", "month", "multiplies",
        Knob(
            "month", "month", "month", RELEVANCE,
            "How much a text loses of another month than the one you name.", talk=True,
        ),
        words="made in {made}, you named {named}",
    ),
)  # fmt: skip
"""What relevance is made of, in its order."""

PLAIN_PARTS = tuple(part for part in RELEVANCE_PARTS if part.alone)
"""Only those that match a text by itself, whatever stands beside it."""


def factors_parameters_of(parts: Sequence[RelevancePart]) -> tuple[Knob, ...]:
    """Return every number that parts of relevance depend on, each once."""
    return tuple({knob.key: knob for part in parts for knob in part.parameters}.values())


PARAMETERS = factors_parameters_of(RELEVANCE_PARTS)

KNOBS = tuple(
    knob for one in FACTORS for knob in (*one.knobs, *(PARAMETERS if one.id == RELEVANCE else ()))
)
"""Every number that a person can move beside the weights, in the order of factors and parts."""

WEIGHT_KEYS = tuple(factor.weight for factor in FACTORS)
"""The keys of the weights, in the order of the factors."""


def listed(*, without: str = "") -> str:
    """Return the factors as part of a sentence: "recency, importance and relevance"."""
    *most, last = (factor.label for factor in FACTORS if factor.id != without)
    return f"{', '.join(most)} and {last}" if most else last


RecencyMode = Literal["hours", "days", "rank", "off"]
RankOrder = Literal["newest", "oldest"]
Scope = Literal["pool", "top", "frozen"]
Scorer = Literal["factors", "episodic"]
PinnedHandling = Literal["fresh", "fades"]
LexicalRule = Literal["bm25", "absolute"]


Origin = Literal["flag", "environment", "store", "config.toml", "default"]
"""Where it is said which profile ranks; what comes first here goes first."""


class StoreSetting(Record, frozen=True):
    """A setting that a store has itself: its key (`id`), its value, and of a profile the `text` of
    its file, for machines that have none of that name.
    """

    id: str
    value: str
    text: str = ""
    version: int = 1


class ProfileInUse(NamedTuple):
    """Which profile ranks, where that is said, and its file as the store has it."""

    name: str
    origin: Origin
    text: str = ""

    def __str__(self) -> str:
        return f"{self.name} ({self.origin})"


@dataclass(frozen=True, slots=True)
class HalfLives:
    """Half-life of recency in days per memory type; `None` means it does not decay."""

    working: float | None = None
    episodic: float | None = None
    semantic: float | None = None
    procedural: float | None = None

    def of(self, kind: MemoryType) -> float | None:
        """Return the half-life, in days, of one memory type."""
        value: float | None = getattr(self, kind)
        return value


@dataclass(frozen=True, slots=True)
class FrozenBounds:
    """Minimum and maximum of each raw factor as they were when somebody froze them."""

    recency: tuple[float, float]
    importance: tuple[float, float]
    relevance: tuple[float, float]


_SOME_MOMENT = datetime(2026, 1, 1, tzinfo=UTC)
"""When a candidate filter is read to see whether it can be."""

ENGRAM_HALF_LIFE = math.log(0.5) / math.log(0.995) / 24
"""Half-life in days of the decay 0.995 per hour (source 000, algorithm 2): 5.76 days."""

FEEDBACK_HALF_LIFE = 29.0
"""Days after which a vote counts half: slower than recency, as source 000 (algorithm 5) means it."""

LITERAL_FEEDBACK_HALF_LIFE = math.log(0.5) / math.log(0.99) / 24
"""The printed constant of source 000, 0.99 per hour: 2.9 days, faster than recency."""


EPISODE_HALF_LIFE = 30 * math.log(2)
"""Half-life in days of exp(−age / 30 days) (source 004, section 2.4): 20.8 days."""


@dataclass(frozen=True, slots=True)
class Profile:
    """All parameters of one ranking.

    `recency`, `importance`, `relevance` are the weights (≥ 0, not all 0). Relevance is `blend` ·
    cosine + (1 − `blend`) · absolute BM25, plus `contiguity` · the larger excess relevance of the
    two neighbours in the same session. `feedback` is the importance a vote adds or takes (source
    000: 0.5). `scope` says whose minimum and maximum normalise: the whole pool's, only the `top_n`
    most relevant ones', or those of `frozen`, which stay the same whatever the query, the moment
    and the pool, so that totals can be compared. Recency mode "hours" counts from the last access,
    "days" from the day a memory was made (exp(−age / τ) has the half-life τ · ln 2); both fade by
    the half-life of its type, and `pinned` says whether pinned memories stay fresh. `rank_decay` is
    used by mode "rank". `lexical` says how full text counts: as absolute BM25, or by words whose
    length term the pool does not move. `candidates` is a filter (`core.candidates`) that a memory
    must pass to take part, empty for none. `scorer` "episodic" ranks episodes only, by the five
    terms of `core.tuning.episodic`.
    """

    name: str
    recency: float
    importance: float
    relevance: float
    about: str = ""
    mode: RecencyMode = "hours"
    half_lives: HalfLives = HalfLives()
    rank_decay: float = 0.99
    rank_order: RankOrder = "newest"
    feedback: float = 0.5
    feedback_half_life: float | None = FEEDBACK_HALF_LIFE
    blend: float = 1.0
    contiguity: float = 0.0
    scope: Scope = "pool"
    top_n: int = 100
    k: int = 10
    scorer: Scorer = "factors"
    frozen: FrozenBounds | None = None
    pinned: PinnedHandling = "fresh"
    candidates: str = ""
    lexical: LexicalRule = "bm25"
    related_words: float = 0.0
    neighbour_words: float = 0.0
    length: float = 1.0
    carry: float = 0.0
    questions: float = 0.0
    other_actor: float = 0.0
    role: float = 0.0
    month: float = 0.0

    @property
    def fades(self) -> bool:
        """Whether recency fades with time, by the half-lives."""
        return self.mode in ("hours", "days")


def value_of(profile: Profile, key: str) -> float | None:
    """Return a number of a profile by its dotted key."""
    found: float | None = attrgetter(key)(profile)
    return found


def weight_of(profile: Profile, key: str) -> float:
    """Return a weight by its key."""
    return value_of(profile, key) or 0.0


def with_value(profile: Profile, key: str, value: float | None) -> Profile:
    """Return the profile with another number under a dotted key."""
    table, _, name = key.rpartition(".")
    change: dict[str, Any] = {name: value}
    if table:
        change = {table: replace(getattr(profile, table), **change)}
    return replace(profile, **change)


def parameters_of(profile: Profile) -> dict[str, Any]:
    """Return everything that a profile holds under the name it has in files and JSON; tables as
    mappings, and what reads a conversation last, as far as it is moved.
    """
    found = asdict(profile)
    talk = {knob.key: (found.pop(knob.key), knob.default) for knob in KNOBS if knob.talk}
    return found | {
        key: value for key, (value, default) in sorted(talk.items()) if value != default
    }


CONVERSATION: Mapping[str, Any] = {
    "carry": 1.0, "length": 1.25, "month": 0.25, "neighbour_words": 0.2, "other_actor": 0.2, "questions": 0.3,
    "related_words": 0.4, "role": 0.1,
}  # fmt: skip
"""How much each part of relevance that reads a conversation counts where it does best on judged
conversations.

Measured with `lexical` "absolute" and no `contiguity`; settings around these do about as well.
"""

WORKBENCH = Profile(
    "workbench", 0.05, 0.05, 0.9,
    about="relevance first: meaning and words, read in the talk around them; recency and importance settle near-ties",
    half_lives=HalfLives(working=1.0, episodic=ENGRAM_HALF_LIFE), blend=0.5, lexical="absolute", **CONVERSATION,
)  # fmt: skip
"""The default: weights that are stated, and parts of relevance that were chosen on judged
conversations.

Every factor is normalised, so recency or importance moves a memory by at most its weight over that
of relevance: 0.05 / 0.9, an eighteenth of the pool's relevance range. The same old-to-new and
low-to-high spread can therefore decide between memories that match about equally well, and never
lifts one that does not match over one that does. Dense and lexical count the same (`blend`),
because each finds what the other misses.
"""

_ENGRAM_LIVES = HalfLives(ENGRAM_HALF_LIFE, ENGRAM_HALF_LIFE, ENGRAM_HALF_LIFE, ENGRAM_HALF_LIFE)

BUILT_IN: tuple[Profile, ...] = (
    WORKBENCH,
    Profile(
        "engram", 1 / 3, 1 / 3, 1 / 3,
        about="ENGRAM as published: equal weights, cosine only, 0.995 per hour since last access",
        half_lives=_ENGRAM_LIVES, feedback_half_life=None,
    ),
    Profile(
        "generative-agents", 0.5, 2.0, 3.0, mode="rank", feedback=0.0, feedback_half_life=None,
        about="Generative Agents: recency by rank, 0.99 per place, newest first",
    ),
    Profile(
        "episodic", 0.2, 0.25, 0.55, scorer="episodic", half_lives=HalfLives(episodic=EPISODE_HALF_LIFE),
        about="episodes only: similarity, age, success, use and domain, as the printed five-term score",
        feedback=0.0, feedback_half_life=None,
    ),
    Profile(
        "no-decay", 0.0, 0.0, 1.0, mode="off", blend=0.5, feedback=0.0, feedback_half_life=None,
        about="relevance alone: no decay, no access counting",
    ),
)  # fmt: skip


def check_profile(profile: Profile) -> None:
    """Raise `InvalidRecord` when a parameter is not finite, negative, or all weights are zero."""
    weights = [weight_of(profile, key) for key in WEIGHT_KEYS]
    knobs = {knob: value_of(profile, knob.key) for knob in KNOBS}
    plain = [value for knob, value in knobs.items() if not knob.days and knob.key != "blend"]
    numbers = [*weights, *plain, profile.rank_decay]
    days = [value for knob, value in knobs.items() if knob.days and value is not None]
    rules: tuple[tuple[bool, str], ...] = (
        (
            not all(math.isfinite(x or 0.0) and (x or 0.0) >= 0 for x in numbers),
            "a weight is negative or not a number",
        ),
        (not any(weights), "all three weights are zero, so nothing would be ranked"),
        (any(not (math.isfinite(x) and x > 0) for x in days), "a half-life is not above zero"),
        (not 0 <= profile.blend <= 1, "the blend is outside 0–1"),
        (not 0 < profile.rank_decay <= 1, "the rank decay is outside 0–1"),
        (profile.k < 1 or profile.top_n < 1, "k and top_n must be at least 1"),
    )
    problem = next((text for broken, text in rules if broken), None) or _frozen_problem(profile)
    problem = problem or _candidates_problem(profile)
    if problem:
        raise InvalidRecord(f"Profile “{profile.name}”: {problem}.", "The profile was not used.")


def _frozen_problem(profile: Profile) -> str | None:
    frozen = profile.frozen
    if frozen is None:
        return "it normalises by frozen bounds but has none" if profile.scope == "frozen" else None
    pairs = astuple(frozen)
    sound = all(math.isfinite(low) and math.isfinite(high) and low <= high for low, high in pairs)
    return None if sound else "a frozen minimum is above its maximum or not a number"


def _candidates_problem(profile: Profile) -> str | None:
    if not profile.candidates:
        return None
    try:
        candidate_filter(profile.candidates, _SOME_MOMENT)
    except InvalidQuery as error:
        return f"its candidate filter cannot be used ({error.message.rstrip('.')})"
    return None
