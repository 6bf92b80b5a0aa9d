"""Which language a text is written in, and the words that say nothing in it.

Of those in Latin letters the language is told by its function words. A word in another script has the language of its
script: of several that share it, one stands for all.
"""

from collections.abc import Iterable, Mapping
from functools import cache, lru_cache
from pathlib import Path

from workbench.core.stopwords import STOP_WORDS
from workbench.core.words.scripts import Script, script_of
from workbench.core.words.splitting import split

ENGLISH = "en"
LATIN = ("de", "fr", "es", "it", "pt", "nl", "sv")
"""Languages in Latin letters that are told apart, besides English; a text in any other one counts as English."""

_OF_SCRIPT: Mapping[Script, str] = {
    "cyrillic": "ru", "arabic": "ar", "hebrew": "he", "indic": "hi", "greek": "el", "hangul": "ko", "cjk": "zh",
    "thai": "th",
}  # fmt: skip
_FIRST = "\u0370"
"""The first letter that is not Latin."""

_ALSO = {"ja": "zh"}
_ALSO_ENGLISH = frozenset({
    "no", "not", "yes", "oh", "got", "get", "like", "one", "two", "use", "used", "uses", "set", "let", "via", "new",
    "also", "run", "see", "per", "com", "org", "www", "http", "un", "al", "col", "ai", "aura", "bin", "come", "comment",
    "contra", "dig", "dir", "door", "dove", "era", "fast", "font", "hen", "io", "logo", "mag", "mai", "men", "min",
    "mon", "pendant", "plus", "prima", "sea", "sera", "solo", "state", "till", "ton", "var", "vi", "want", "word",
})  # fmt: skip
"""Words of English texts that are function words elsewhere, or stand in English beside few others."""
_HINTS = {
    "de": "äöüß", "fr": "éèêàçâîôûœ", "es": "ñáíóúé¿", "it": "èàòùì", "pt": "ãõçáâêé", "nl": "ëï", "sv": "åäö"
}  # fmt: skip
"""Letters that speak for a language whose words a text has."""

_WORD = 60
"""What a function word counts, and as much again, shared by the languages that have it; whole numbers add up alike."""

_LETTER = 30
"""What one counts that is a single letter."""

_HINTED = {letter: [name for name, some in _HINTS.items() if letter in some] for letter in "".join(_HINTS.values())}
_HINT = 90
"""What a letter counts that only one language has."""

_AHEAD = 90
"""What another language needs more than English where a text has words of both."""

_ALONE = 130
_FEW = 8
"""What one needs in a text of few words without an English one, and how many are few: a function word and a letter.

A function word alone may be a name or an abbreviation in an English title ("Los Angeles", "MIT license").
"""

_ENOUGH = 180
"""What a language needs: two words that it shares with another one, or one of its own and its letters."""


def language_of_word(word: str) -> str:
    """Return the language that a word has by the script of its first letter; nothing for one in Latin letters."""
    return "" if word < _FIRST else _language_of_letter(word[0])


@lru_cache(1 << 14)
def _language_of_letter(letter: str) -> str:
    return _OF_SCRIPT.get(script_of(letter), "")


def latin_language(text: str, words: Iterable[str]) -> str:
    """Return the language of a text in Latin letters, told by its words; nothing where it cannot be told.

    It takes two function words, or one and letters that fit; one that other languages do not have counts more.
    """
    known, said = _languages_of(), frozenset(words)
    # Most texts are English, and this is all that is asked of them.
    if said.isdisjoint(_not_english()):
        return "" if said.isdisjoint(known) else ENGLISH
    found = [(word, known[word]) for word in said if word in known]
    counts = dict.fromkeys((ENGLISH, *LATIN), 0)
    for word, languages in found:
        for language in languages:
            counts[language] += _WORD + _WORD // len(languages) if len(word) > 1 else _LETTER
    if not text.isascii():
        lower = set(text.lower())
        for language, hints in _HINTS.items():
            if counts[language]:
                counts[language] += sum(_HINT // len(_HINTED[letter]) for letter in lower.intersection(hints))
    best = max(counts, key=lambda language: counts[language])
    if counts[ENGLISH] and counts[best] - counts[ENGLISH] < _AHEAD:
        return ENGLISH
    enough = _ENOUGH if counts[ENGLISH] or len(said) > _FEW else _ALONE
    return best if counts[best] >= enough else ""


@cache
def stop_words() -> Mapping[str, frozenset[str]]:
    """Return the words, as `split` has them, that say nothing in a language, by language."""
    found: dict[str, set[str]] = {ENGLISH: set(STOP_WORDS)}
    for line in Path(__file__).with_name("stop_words.txt").read_text("utf-8").splitlines():
        language, _, some = line.partition(" ")
        found.setdefault(_ALSO.get(language, language), set()).update(split(some))
    return {language: frozenset(some) for language, some in found.items()}


@cache
def _languages_of() -> Mapping[str, tuple[str, ...]]:
    """Return the languages, of those in Latin letters, in which each function word is one."""
    found: dict[str, list[str]] = {}
    for language in (ENGLISH, *LATIN):
        for word in (*stop_words()[language], *(_ALSO_ENGLISH if language == ENGLISH else ())):
            found.setdefault(word, []).append(language)
    return {word: tuple(languages) for word, languages in found.items()}


@cache
def _not_english() -> frozenset[str]:
    return frozenset(word for word, languages in _languages_of().items() if ENGLISH not in languages)
