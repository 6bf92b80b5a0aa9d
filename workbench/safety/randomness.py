"""Words that look drawn at random: keys of nobody known."""

import math
from collections import Counter
from collections.abc import Iterator
from re import ASCII

from workbench.safety.finding import Finding, secret
from workbench.safety.lowering import compiled

RULE = "high-entropy string"

SHORTEST, LONGEST = 24, 256
"""Lengths of keys: shorter words are ids, longer ones are data."""

LEAST_ENTROPY = 3.6
"""Bits per character. Random letters and digits have 4.1 at 24 characters, English 3.5 to 4 at any length."""

LONGEST_PIECES = 2.7
"""Characters per piece of a word that is parted as a name in camel case: below 2.2 at random, 3.5 in a name."""

_RUN = rf"[\w\-+/]{{{SHORTEST},}}"
_BEFORE = r"(?:sha(?:1|224|256|384|512)[-:=]|md5[:=]|base64,|://\S*)\Z"
_KNOWN = (
    r"(?:toolu|msg|call|chatcmpl|req|resp|run|thread|asst|file|batch|evt|cus|prod|price|sub|ch|pi|srvtoolu)_"
    r"|(?:chatcmpl|call|msg|req)-|sha(?:1|224|256|384|512)-|iVBORw0KGgo|/9j/|R0lGOD|UklGR|JVBERi|H4sI|UEsDB"
)
"""Ids that services print, digests, and the first bytes of pictures and archives."""

_PIECE = r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+"
_WORD = r"[A-Z]?[a-z]{4,}"


def find(text: str, words: str) -> Iterator[Finding]:
    """Yield the random-looking words in a text, addresses and digests left out; `words` are its long words."""
    if not any(map(looks_random, compiled(_RUN, ASCII).findall(words))):
        return
    for run in compiled(_RUN, ASCII).finditer(text):
        start, end = run.span()
        if end - start <= LONGEST and looks_random(run.group()) and not _told(text, start, run.group()):
            padding = compiled("=*").match(text, end)
            yield secret(RULE, start, padding.end() if padding else end)


def looks_random(word: str) -> bool:
    """Tell whether a word mixes lower case, upper case and digits as only chance does."""
    if word.islower() or word.isupper():
        return False
    if "/" in word and (word[0] in "/-" or any(_is_name(part) for part in word.split("/"))):
        return False
    plain = [c for c in word if c.isalnum()]
    lower, digits = sum(c.islower() for c in plain), sum(c.isdigit() for c in plain)
    if digits < 2 or lower < 3 or len(plain) - lower - digits < 3:
        return False
    pieces = len(compiled(_PIECE).findall(word))
    joints = len(word) - len(plain)
    return (
        len(plain) <= LONGEST_PIECES * pieces and joints * 6 <= len(word) and entropy("".join(plain)) >= LEAST_ENTROPY
    )


def entropy(word: str) -> float:
    """Return the Shannon entropy of a word's characters, in bits per character."""
    counts = Counter(word)
    return -sum(n / len(word) * math.log2(n / len(word)) for n in counts.values())


def _told(text: str, start: int, word: str) -> bool:
    """Tell whether what stands before a word, or its own beginning, says that it is no secret."""
    if compiled(_KNOWN).match(word):
        return True
    return compiled(_BEFORE, ASCII).search(text[max(0, start - 300) : start].rpartition("\n")[2]) is not None


def _is_name(part: str) -> bool:
    return compiled(rf"{_WORD}(?:[-_]?{_WORD})*\d{{0,3}}\Z").match(part) is not None
