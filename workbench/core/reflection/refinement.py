"""When an insight is specific enough (source 000, algorithm 9)."""

from dataclasses import dataclass

from workbench.core.words import words

ACTIONABLE = frozenset(
    {"because", "when", "always", "never", "should", "avoid", "ensure", "verify", "use", "instead"}
)  # fmt: skip
"""Words of a rule one can follow; each counts once, and only as a whole word."""

ENOUGH_CHARACTERS = 100
ENOUGH_WORDS = 2


@dataclass(frozen=True, slots=True)
class Substance:
    """What an insight has to it: its length in characters and the distinct actionable words, in order."""

    characters: int
    actionable: tuple[str, ...]

    @property
    def enough(self) -> bool:
        """Whether it needs no further round."""
        return self.characters >= ENOUGH_CHARACTERS and len(self.actionable) >= ENOUGH_WORDS


def substance(text: str) -> Substance:
    """Measure an insight; white space around it does not count."""
    found = dict.fromkeys(word for word in words(text) if word in ACTIONABLE)
    return Substance(len(text.strip()), tuple(found))


def needs_round(text: str, made: int, limit: int) -> bool:
    """Tell whether to refine once more after `made` of at most `limit` rounds."""
    return made < limit and not substance(text).enough
