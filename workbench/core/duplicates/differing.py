"""Content words that only one of two texts holds: what lets two much alike sentences be about different things.

"Highest degree your mom completed" and "… your dad completed" share all but one word each, and no similarity tells
them apart. Function words, the forms of one word (use, using), British and American spelling, and words written as
one or as two (lock file, lockfile) make no difference here. A form that is missed keeps two texts apart, no more.
"""

from collections.abc import Iterable, Mapping
from functools import lru_cache
from itertools import pairwise

from workbench.core.duplicates.conflict import Conflict
from workbench.core.duplicates.dedup import identifiers
from workbench.core.duplicates.function_words import english, is_negation, said_words
from workbench.core.words import words

Differing = tuple[tuple[str, ...], tuple[str, ...]]
"""The content words that only the first, and that only the second text holds, in order."""

SHARED = 0.8
"""Which share of the longer text's content words the shorter one must hold to say the same."""

NAMED = 2
"""Words of each text that are named at most."""


def differing(one: str, other: str) -> Differing:
    """Return the content words of each text that stand in no form in the other; numbers and names of code are out."""
    left, right = _content(one), _content(other)
    mine = [word for word in left if word not in right]
    theirs = [word for word in right if word not in left]
    mine, theirs = _unjoined(mine, theirs, right), _unjoined(theirs, mine, left)
    return (
        tuple(word for word in mine if not any(same_word(word, each) for each in theirs)),
        tuple(word for word in theirs if not any(same_word(word, each) for each in mine)),
    )


def word_conflicts(one: str, other: str) -> tuple[str, ...]:
    """Name, in short words, what content words let two much alike texts say different things.

    Each has one of its own; or one says much more than the other; or what both say stands in another order.
    """
    mine, theirs = differing(one, other)
    if mine and theirs:
        return (f"words differ: {_named(mine)} / {_named(theirs)}",)
    left, right = _content(one), _content(other)
    more, held = mine or theirs, max(len(left), len(right))
    if more and (held - len(more)) / held < SHARED:
        return (f"only one says: {_named(more)}",)
    in_order = [word for word in left if word in right] == [word for word in right if word in left]
    return () if in_order else (Conflict.ORDER,)


def same_word(one: str, other: str) -> bool:
    """Tell whether two words are forms or spellings of one: "use" and "using", "colour" and "color"."""
    a, b = (_BASE.get(word, word) for word in (_spelled(english(one)), _spelled(english(other))))
    if a == b:
        return True
    shared = next((n for n, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))
    # "planned" and "plan": the doubled letter belongs to the ending.
    return any(
        {a[cut:], b[cut:]} <= tails for cut in range(max(_ROOT, shared - 1), shared + 1) for tails in _endings(a, cut)
    )


_ROOT = 2  # characters that the forms of one word share at least

_TAILS = (
    frozenset(("", "s", "es", "ed", "ing")),
    frozenset(("e", "es", "ed", "ing")),
    frozenset(("y", "ies", "ied", "ying")),
)
"""What the forms of a word end in; a noun and a verb form of one stem ("care", "car") share no row."""

_BASE = {
    form: base
    for base, forms in (
        ("make", "made"), ("run", "ran"), ("write", "wrote written"), ("build", "built"), ("break", "broke broken"),
        ("tell", "told"), ("say", "said"), ("go", "went gone goes"), ("get", "got gotten"), ("see", "saw seen"),
        ("take", "took taken"), ("give", "gave given"), ("know", "knew known"), ("find", "found"),
        ("think", "thought"), ("keep", "kept"), ("send", "sent"), ("leave", "left"), ("choose", "chose chosen"),
        ("begin", "began begun"), ("buy", "bought"), ("sleep", "slept"), ("meet", "met"), ("mean", "meant"),
        ("feel", "felt"), ("hold", "held"), ("come", "came"), ("speak", "spoke spoken"), ("teach", "taught"),
    )
    for form in forms.split()
}  # fmt: skip

_FUNCTION = frozenset(
    words(
        "a an the is are was were am be been being it its this that these those there here of for in at by as on to "
        "with from into onto about over and or but so if then than when while because also just really very quite "
        "too only even still again do does did doing have has had having will would can could shall should may might "
        "must please i i'm i've i'd i'll me my mine we we're we've our us you you're you've your it's that's there's "
        "what's who's let's"
    )
)

_SPELLINGS = (("isation", "ization"), ("ise", "ize"), ("ising", "izing"), ("yse", "yze"), ("our", "or"), ("ogue", "og"))


@lru_cache(maxsize=256)
def _content(text: str) -> Mapping[str, None]:
    """Return the content words of a text once each, in order; a text stands in many pairs, so the last are kept."""
    named = {word for name in set(identifiers(text)) if not name.isalpha() for word in words(name)}
    found = (word.removesuffix("'s") for word in said_words(text))
    return dict.fromkeys(
        word
        for word in found
        if english(word) not in _FUNCTION and word not in named and not word[0].isdigit() and not is_negation(word)
    )


def _unjoined(mine: list[str], theirs: list[str], other: Iterable[str]) -> list[str]:
    """Leave out words that the other text writes as one with a neighbour, or as two."""
    whole, parts = set(theirs), list(other)
    pairs = {first + second for first, second in pairwise(parts)}
    split = {word for two in pairwise(mine) if "".join(two) in whole for word in two}
    return [word for word in mine if word not in pairs and word not in split]


def _spelled(word: str) -> str:
    """Return the American spelling of a word."""
    for ending in ("", "s", "d", "ed", "ing"):
        stem = word.removesuffix(ending) if ending else word
        for british, american in _SPELLINGS:
            if word.endswith(ending) and stem.endswith(british) and len(stem) > len(british) + 2:
                return stem.removesuffix(british) + american + ending
    return word


def _endings(word: str, cut: int) -> tuple[frozenset[str], ...]:
    """Return the rows of endings after so many characters; a doubled consonant may stand before "ed" and "ing"."""
    last = word[cut - 1]
    return (*_TAILS, frozenset(("", "s", f"{last}ed", f"{last}ing")))


def _named(some: tuple[str, ...]) -> str:
    return ", ".join(some[:NAMED]) + (", …" if len(some) > NAMED else "")
