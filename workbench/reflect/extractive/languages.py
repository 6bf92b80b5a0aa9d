"""Languages as the offline reflector knows them: the rules of some, everyday words, and what stands
for words.

English is known best. Of the languages that are told apart (`core.words`) the stop words are known,
so that articles and prepositions make no two sentences alike; of any other the words that stand in
too many sentences are left out.
"""

import re
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from workbench.core.duplicates.dedup import (
    conflicts,
    contained_in_recent,
    content_words,
    negations,
    opposites,
)
from workbench.core.words import ENGLISH, LATIN, latin_language, stop_words, words

# The rules are judgments, tried on transcripts of interviews, on conversations and on the notes of
# coding agents. A language that has none is judged by the types of its memories alone.


class Rules(NamedTuple):
    """How one language says what holds, and what passes, as `languages.toml` has it."""

    instructs: re.Pattern[str]
    corrects: re.Pattern[str]
    generalises: re.Pattern[str]
    habit: re.Pattern[str]
    """What tells of somebody that holds beyond a day."""
    labelled: re.Pattern[str]
    """How notes on the work in hand begin."""
    state: re.Pattern[str]
    plan: re.Pattern[str]
    once: re.Pattern[str]
    """Dates, and numbers of one run, one request or one commit."""
    first_person: re.Pattern[str]
    """How somebody begins to tell what they did."""
    answers: re.Pattern[str]
    """What answers somebody, or is about what they said."""
    thanks: re.Pattern[str]
    """What tells of a feeling at that moment, of gratitude or praise."""
    past: re.Pattern[str]
    holds: re.Pattern[str]
    """Verbs of what holds at any time."""
    about_before: re.Pattern[str]
    """How a sentence begins that is about something in the sentence before."""
    unresolved: re.Pattern[str]
    """What points at something that was said or shown before."""
    selves: frozenset[str]
    """Words by which somebody speaks of themselves."""
    ours: frozenset[str]
    """Words by which several do: notes on work use them, too."""
    lasting: frozenset[str]
    passing: frozenset[str]
    leaning: re.Pattern[str]
    """How a sentence begins that leans on the one before."""
    filling: re.Pattern[str]
    hedged: re.Pattern[str]
    pointing: frozenset[str]
    addressing: frozenset[str]


_PARTS = {
    "(?&named)": r"(?:[A-Z][\w.'’ -]{0,40}: )?",
    "(?&numbered)": r"\b(?:pr #?\d+|#\d+|inc-\d+|v?\d+\.\d+\.\d+|[0-9a-f]{7,40})\b|\d{4}-\d\d-\d\d",
}


@cache
def rules_for(language: str) -> Rules | None:
    """Return the rules of a language, or `None` where there are none."""
    table = tomllib.loads(Path(__file__).with_name("languages.toml").read_text("utf-8")).get(
        language
    )
    if table is None:
        return None
    found: dict[str, Any] = {name: frozenset(words(text)) for name, text in table["words"].items()}
    for name, pattern in table["patterns"].items():
        for part, meant in _PARTS.items():
            pattern = pattern.replace(part, meant)
        found[name] = re.compile(pattern, re.I)
    return Rules(**found)


def language_of(text: str) -> str:
    """Return the language of a text (`core.words`), told by a single word where there is no more;
    else English.
    """
    said = frozenset(words(text))
    most = max((ENGLISH, *LATIN), key=lambda language: len(said & stop_words(language)))
    return latin_language(text, said) or most


_EVERYDAY = """
able ago always april august back come day december even ever every february first friday get go going gone good got
great hour hours january july june know last let like lot made make many march mine minutes monday month months much
never new next nice november now october one per really saturday september since still sunday sure thing things think
thursday time today tomorrow tuesday use utc want way wednesday week weeks well year years yes yesterday yet
"""


@cache
def empty_for(language: str = ENGLISH) -> frozenset[str]:
    """Return the stems that say nothing about what a sentence is about."""
    said = {*words(_EVERYDAY), *stop_words(), *stop_words(language)}
    return frozenset(stem for word in said for stem in content_words(word))


PHATIC = re.compile(
    r"\s*(?:hi|hey|hello|howdy|yo|wow|aww+|haha\w*|oh|congrat\w*|thanks|thank you|thx|bye|goodbye|see you|take care|"
    r"(?:good|nice|great|glad|happy|lovely) to (?:see|hear|meet|know|be)|good (?:morning|evening|night|luck)|"
    r"(?:i'm|i am) (?:so |really |very )?(?:glad|happy|sorry|excited) (?:to hear|for you|you)|you're welcome|"
    r"(?:that|it) (?:sounds?|looks?|must)|that(?:'s| is|’s) (?:\w+ ){0,2}(?:great|good|awesome|amazing|cool|nice|"
    r"wonderful|fantastic|interesting|so|a)\b|sounds|sure|yeah|yep|yes|nope?|so far,?|yup|no, |"
    r"no problem|of course|absolutely|definitely|"
    r"no worries|let me know|keep (?:it )?up|appreciate|i (?:really )?appreciate your|what an?|how|"
    r"danke\w*|vielen dank|hallo|guten (?:morgen|tag|abend)|gern geschehen|tschüss|merci|bonjour|bonsoir|salut|"
    r"de rien|gracias|hola|buen[oa]s (?:días|tardes|noches)|de nada|grazie|ciao|buongiorno|obrigad[oa]|olá|bom dia)\b|"
    r"\s*(?:ありがとう|おはよう|こんにちは|こんばんは|お疲れ|すみません|すごい|はい、|いいえ|谢谢|謝謝|你好|早上好|감사합니다|안녕하세요)",
    re.I,
)
"""How greetings, thanks, congratulations and bare answers begin."""


# Scripts that put no space between words: what stands for words there, and how much of a text is
# how long.
#
# Chinese, Japanese and the scripts of South-East Asia are written without spaces. What carries
# meaning is taken in pieces: a run of katakana is a word, and of Han characters or Thai letters
# every two neighbours are one. Hiragana are mostly endings and particles and are left out. No
# dictionary is needed, and no text is changed.


_HAN = "\u3005\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_KATAKANA = "\u30a1-\u30fa\u30fc\u31f0-\u31ff"
_HIRAGANA = "\u3041-\u309f"
_SOUTH = "\u0e01-\u0e5b\u0e81-\u0edf\u1000-\u109f\u1780-\u17ff"
"""Thai, Lao, Burmese, Khmer."""

UNSPACED = f"{_HAN}{_KATAKANA}{_HIRAGANA}{_SOUTH}"
"""All of them, for a class of characters in a regular expression."""

_RUN = re.compile(f"([{_KATAKANA}]{{2,}})|([{_HAN}]+)|([{_SOUTH}]+)")
_ANY = re.compile(f"[{UNSPACED}]")


def terms(text: str) -> tuple[str, ...]:
    """Return the stems of the words of a text, as `content_words`, and the pieces of what has no
    spaces.
    """
    if text.isascii() or not _ANY.search(text):
        return content_words(text)
    return (*content_words(_ANY.sub(" ", text)), *_pieces(text))


def length(text: str) -> int:
    """Return how many Latin letters it takes to say about as much: two for a character of these
    scripts' words.
    """
    return len(text) if text.isascii() else len(text) + len(_ANY.findall(text))


def is_latin(text: str) -> bool:
    """Tell whether at least half of the letters of a text are Latin."""
    letters = [char for char in text if char.isalpha()] if not text.isascii() else []
    return 2 * sum(char < "\u0250" for char in letters) >= len(letters)


def _pieces(text: str) -> list[str]:
    found: list[str] = []
    for word, *runs in _RUN.findall(text):
        run = next((run for run in runs if run), "")
        found += [word] if word else [run[at : at + 2] for at in range(max(1, len(run) - 1))]
    return found


# Whether a sentence is known: something that a person has confirmed, is asked about, or rejected
# says it already.


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
        """Tell whether a known text holds the sentence, or nearly all of its words without turning
        it round.
        """
        asked = _read(sentence)
        return any(_holds(known, asked, covered) for known in self._known)

    def same(self, text: str) -> list[str]:
        """Return the known texts that are equal to a text or nearly so, without contradicting it."""
        asked = _read(text)
        near = (
            known
            for known in self._known
            if _holds(known, asked, NEARLY) and _holds(asked, known, NEARLY)
        )
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
