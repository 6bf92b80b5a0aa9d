"""What a ranking is made of: the factors that add up to a score, and the parts that make relevance.

Each of them is one entry. Ranker, sliders, bars, explanations, tuner and profile files read the entries
here; none of them knows a factor by its name. An entry names what carries it out as
`package.module:name`, which is imported when it is first used, so whoever only lists factors loads no numbers.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

RELEVANCE = "relevance"
"""The factor that the parts of relevance make."""

How = Literal["adds", "multiplies", "feeds"]
"""How a part takes part: what it makes is added to what there is so far, multiplies it, or is for later parts only."""


@dataclass(frozen=True, slots=True)
class Knob:
    """A number of a profile that a person can move.

    `key` is its dotted name in a profile's file and `default` what it is where a file leaves it out; `id` names its
    slider, which goes from 0 to `high` or, for a duration in `days`, from an hour to never (`None`). `fading` ones
    count only while recency fades with time, `by_word` ones only while full text counts word by word; `episodes`
    tells whether the score of episodes has it, and `talk` whether it is only for who counts words one by one.
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


@dataclass(frozen=True, slots=True)
class Factor:
    """One factor: its value, mapped to 0…1 over the pool, times its weight is added to the score.

    `weight` is the key of the weight in a profile, `glyph` its fill in bars, `words` say what the weight does.
    `columns` names what works it out (`retrieval.ranking.cases.Columns`): 0…1, the higher the better. `episodes` tells
    whether the score of episodes has terms under its weight.
    """

    id: str
    label: str
    columns: str
    weight: str
    glyph: str
    words: str
    knobs: tuple[Knob, ...] = ()
    episodes: bool = False


@dataclass(frozen=True, slots=True)
class RelevancePart:
    """One thing that relevance is made of, in the order of the list.

    `columns` names what works it out, with what that depends on (`retrieval.ranking.cases.PartColumns`), `explain`
    what tells its share in one memory's relevance
    (`retrieval.ranking.cases.Explain`). `words` is how the facts of that are said, with a place for each
    (`"said by {speaker}"`); empty where the figures say it all. A part that tells by itself how well a text matches
    has in `alone` the values of its parameters under which nothing else does. An `optional` one is not spoken of while
    its parameters are 0.
    """

    id: str
    label: str
    how: How
    columns: str
    explain: str
    parameters: tuple[Knob, ...] = ()
    words: str = ""
    alone: tuple[tuple[str, float], ...] = ()
    optional: bool = False


def _life(kind: str, words: str, *, episodes: bool = False) -> Knob:
    return Knob(
        f"half-life-{kind}", f"half_lives.{kind}", kind, "half-life of recency", words,
        default=None, days=True, fading=True, episodes=episodes,
    )  # fmt: skip


_COLUMNS, _PARTS, _TALKS = (f"workbench.retrieval.ranking.{name}" for name in ("columns", "relevance", "conversation"))


def _talk(id: str, label: str, how: How, knob: Knob, words: str) -> RelevancePart:
    columns = f"{_TALKS}:{id.upper()}"
    return RelevancePart(id, label, how, columns, f"{_TALKS}:{id}_share", (knob,), words, optional=True)


_BLEND = Knob("blend", "blend", "dense", RELEVANCE, "Cosine's share; BM25 has the rest.", default=1.0, episodes=True)

FACTORS = (
    Factor(
        "recency", "recency", f"{_COLUMNS}:RECENCY", weight="recency", glyph="▓",
        words="How much recent access counts.", episodes=True,
        knobs=(
            _life("episodic", "Events: until recency halves.", episodes=True),
            _life("working", "The task: until recency halves."),
            _life("semantic", "Facts: until recency halves."),
            _life("procedural", "How-to: until recency halves."),
        ),
    ),
    Factor(
        "importance", "importance", f"{_COLUMNS}:IMPORTANCE", weight="importance",
        glyph="░", words="How much importance counts.", episodes=True,
        knobs=(
            Knob("feedback", "feedback", "per vote", "votes", "Importance one vote gives.", 2.0, 0.1, 0.02, 0.5),
            Knob(
                "feedback-half-life", "feedback_half_life", "half-life", "votes", "Time until a vote counts half.",
                default=None, days=True,
            ),
        ),
    ),
    Factor(
        RELEVANCE, "relevance", f"{_PARTS}:RELEVANCE", weight="relevance", glyph="█",
        words="How much the match counts.", episodes=True,
    ),
)  # fmt: skip
"""What adds up to a score, in the order of adding: a profile says how much of each."""

RELEVANCE_PARTS = (
    _talk(
        "related", "related", "feeds",
        Knob(
            "related-words", "related_words", "related", RELEVANCE, "What words of like meaning count.",
            by_word=True, talk=True,
        ),
        words="{word} here ≈ {asked} ({cosine:.2f}, counts {counts:.2f})",
    ),
    _talk(
        "neighbours", "around", "feeds",
        Knob(
            "neighbour-words", "neighbour_words", "around", RELEVANCE, "What words of neighbours count.", 0.5,
            by_word=True, talk=True,
        ),
        words="{word} stands {steps} {where} it, counts {counts:.2f}",
    ),
    RelevancePart(
        "dense", "dense", "adds", f"{_PARTS}:DENSE", f"{_PARTS}:dense_share",
        parameters=(_BLEND,), alone=(("blend", 1.0),),
        words="the model does not know the language of the {what}: its words count alone",
    ),
    RelevancePart(
        "lexical", "lexical", "adds", f"{_PARTS}:LEXICAL", f"{_PARTS}:lexical_share",
        parameters=(
            _BLEND,
            Knob(
                "length", "length", "length", RELEVANCE, "What a long text loses.", 3.0, default=1.0,
                by_word=True, talk=True,
            ),
        ),
        alone=(("blend", 0.0), ("length", 1.0)),
    ),
    RelevancePart(
        "contiguity", "contiguity", "adds", f"{_PARTS}:CONTIGUITY",
        f"{_PARTS}:contiguity_share",
        parameters=(Knob("contiguity", "contiguity", "contiguity", RELEVANCE, "What a match gives neighbours."),),
    ),
    _talk(
        "carry", "carry", "adds",
        Knob("carry", "carry", "carry", RELEVANCE, "What an answer has of its question.", 2.0, talk=True),
        words="{gained:.2f} carried from {id}",
    ),
    _talk(
        "questions", "asks", "multiplies",
        Knob("questions", "questions", "asks", RELEVANCE, "What asking takes from it.", talk=True),
        words="asks {asks:.0%} of what it says",
    ),
    _talk(
        "other_actor", "speaker", "multiplies",
        Knob("other-actor", "other_actor", "speaker", RELEVANCE, "What takes who is not named.", talk=True),
        words="said by {speaker}, you named {named}",
    ),
    _talk(
        "role", "role", "multiplies",
        Knob("role", "role", "role", RELEVANCE, "What an assistant loses on “I” or “my”.", talk=True),
        words="said by {speaker}, you ask about yourself",
    ),
    _talk(
        "month", "month", "multiplies",
        Knob("month", "month", "month", RELEVANCE, "What a month not named takes.", talk=True),
        words="made in {made}, you named {named}",
    ),
)  # fmt: skip
"""What relevance is made of, in its order."""

PLAIN_PARTS = tuple(part for part in RELEVANCE_PARTS if part.alone)
"""Only those that match a text by itself, whatever stands beside it."""


def parameters_of(parts: Sequence[RelevancePart]) -> tuple[Knob, ...]:
    """Return every number that parts of relevance depend on, each once."""
    return tuple({knob.key: knob for part in parts for knob in part.parameters}.values())


PARAMETERS = parameters_of(RELEVANCE_PARTS)

KNOBS = tuple(knob for one in FACTORS for knob in (*one.knobs, *(PARAMETERS if one.id == RELEVANCE else ())))
"""Every number that a person can move beside the weights, in the order of factors and parts."""

WEIGHT_KEYS = tuple(factor.weight for factor in FACTORS)
"""The keys of the weights, in the order of the factors."""


def listed(*, without: str = "") -> str:
    """Return the factors as part of a sentence: "recency, importance and relevance"."""
    *most, last = (factor.label for factor in FACTORS if factor.id != without)
    return f"{', '.join(most)} and {last}" if most else last
