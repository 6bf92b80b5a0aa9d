"""Whether a sentence is known: something that a person has confirmed, is asked about, or rejected says it already."""

from collections.abc import Iterable
from dataclasses import dataclass

from workbench.core.duplicates.dedup import conflicts, contained_in_recent, negations, opposites
from workbench.reflect.extractive.scripts import terms

COVERED = 0.8
"""Share of a sentence's words that a known text must hold to say it."""

NEARLY = 0.85
"""Share of the words of either text that the other must hold for both to be nearly equal."""


@dataclass(frozen=True, slots=True)
class _Known:
    text: str
    stems: frozenset[str]
    negations: frozenset[str]


class KnownTexts:
    """Texts that need not be proposed again."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._known = [_read(text) for text in dict.fromkeys(texts)]

    def says(self, sentence: str, covered: float = COVERED) -> bool:
        """Tell whether a known text holds the sentence, or nearly all of its words without turning it round."""
        asked = _read(sentence)
        return any(_holds(known, asked, covered) for known in self._known)

    def same(self, text: str) -> list[str]:
        """Return the known texts that are equal to a text or nearly so, without contradicting it."""
        asked = _read(text)
        near = (known for known in self._known if _holds(known, asked, NEARLY) and _holds(asked, known, NEARLY))
        return [known.text for known in near if not conflicts(known.text, text)]


def _read(text: str) -> _Known:
    return _Known(text, frozenset(terms(text)), frozenset(negations(text)))


def _holds(known: _Known, asked: _Known, covered: float) -> bool:
    if not asked.stems or len(asked.stems & known.stems) < covered * len(asked.stems):
        return False
    if contained_in_recent(asked.text, [known.text]):
        return True
    # What the known text negates elsewhere says nothing about this sentence.
    negated = {stems for stems in known.negations if not stems or stems.split()[0] in asked.stems}
    return asked.negations == negated and not opposites(asked.text, known.text)
