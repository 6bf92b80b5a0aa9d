"""Scripts that put no space between words: what stands for words there, and how much of a text is how long.

Chinese, Japanese and the scripts of South-East Asia are written without spaces. What carries meaning is taken in
pieces: a run of katakana is a word, and of Han characters or Thai letters every two neighbours are one. Hiragana are
mostly endings and particles and are left out. No dictionary is needed, and no text is changed.
"""

import re

from workbench.core.duplicates.dedup import content_words

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
    """Return the stems of the words of a text, as `content_words`, and the pieces of what has no spaces."""
    if text.isascii() or not _ANY.search(text):
        return content_words(text)
    return (*content_words(_ANY.sub(" ", text)), *_pieces(text))


def length(text: str) -> int:
    """Return how many Latin letters it takes to say about as much: two for a character of these scripts' words."""
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
