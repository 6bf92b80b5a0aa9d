"""Words that look drawn at random: keys of nobody known."""

import math
from collections.abc import Iterator
from functools import cache
from re import ASCII
from string import ascii_lowercase, ascii_uppercase
from string import digits as all_digits

from workbench.core.safety import Finding, secret
from workbench.safety.lowering import compiled

RULE = "high-entropy string"

SHORTEST, LONGEST = 24, 256
"""Lengths of keys: shorter words are ids, longer ones are data."""

LEAST_ENTROPY = 3.6
"""Bits per character. Random letters and digits have 4.1 at 24 characters, English 3.5 to 4 at any length."""

LONGEST_PIECES = 2.7
"""Characters per piece of a word that is parted as a name in camel case: below 2.2 at random, 3.5 in a name."""

_RUN = rf"[\w\-+/]{{{SHORTEST},}}"
_BEFORE = (
    r"(?ai:sha(?:1|224|256|384|512)[-:=_]|md5[-:=]|h1:|base64,|integrity[\"']?\s?[:=]\s?[\"']?|"
    r"(?:etag|if-(?:none-)?match|digest|checksum|fingerprint)[\"']?\s?[:=]?\s?(?:w/)?[\"'`]?(?:w/)?[\"'`]?)\Z"
)
_HINTS = (
    "sha1", "sha2", "sha3", "sha5", "md5", "h1:", "base64,", "integrity", "etag", "match", "digest", "checksum",
    "fingerprint",
)  # fmt: skip
"""What stands in each of those, in lower case: most texts hold none."""

_KNOWN = (
    r"(?:toolu|(?:agent_)?msg|call|chatcmpl|req|resp|run|thread|asst|file|batch|evt|cus|prod|price|sub|ch|pi|srvtoolu)_"
    r"|(?:chatcmpl|call|msg|req|file)-|AAAA[BCE][23][NV]|Qm[1-9A-HJ-NP-Za-km-z]{44}\b|sha(?:1|224|256|384|512)-|iVBORw0KGgo|/9j/|R0lGOD|UklGR|JVBERi|H4sI|UEsDB"
)
"""Ids that services print, digests, public keys, and the first bytes of pictures and archives."""

_JOINTS = b"-_+/"

_OF_A_KEY = (64, 70, 76)
"""Characters of a line of a key block: one that begins with a slash is no path."""

_KINDS = bytes.maketrans((ascii_lowercase + ascii_uppercase + all_digits).encode(), b"a" * 26 + b"A" * 26 + b"0" * 10)
"""Turns a word into the kinds of its characters."""

_PIECE = r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+"
_WORD = "[a-z]{4,}"


def find(text: str, words: str) -> Iterator[Finding]:
    """Yield the random-looking words in a text, addresses and digests left out; `words` are its long words."""
    random = {word for word in set(compiled(_RUN, ASCII).findall(words)) if len(word) <= LONGEST and looks_random(word)}
    if not random:
        return
    known, low = compiled(_KNOWN).match, text.lower()
    tells = "://" in text or any(map(low.__contains__, _HINTS))
    for run in compiled(_RUN, ASCII).finditer(text):
        word = run.group()
        if word in random and not known(word) and not (tells and _told(text, run.start())):
            start, end = run.span()
            while text.startswith("=", end):
                end += 1
            yield secret(RULE, start, end)


def looks_random(word: str) -> bool:
    """Tell whether a word (ASCII) mixes lower case, upper case and digits as only chance does."""
    if word.islower() or word.isupper():
        return False
    if "/" in word:
        is_path = word[0] == "-" or (word[0] == "/" and len(word) not in _OF_A_KEY)
        if is_path or any(_is_name(part) for part in word.split("/")):
            return False
    plain = word.encode("ascii")
    if not word.isalnum():
        plain = plain.translate(None, _JOINTS)
    size, kinds = len(plain), plain.translate(_KINDS)
    lower, digits = kinds.count(b"a"), kinds.count(b"0")
    if digits < 2 or lower < 3 or size - lower - digits < 3 or (len(word) - size) * 6 > len(word):
        return False
    if least_entropy(size, len(set(plain))) < LEAST_ENTROPY and entropy(plain) < LEAST_ENTROPY:
        return False
    return size <= LONGEST_PIECES * _least_pieces(kinds) or size <= LONGEST_PIECES * len(compiled(_PIECE).findall(word))


def _least_pieces(kinds: bytes) -> int:
    """Return how many pieces a word has at least: runs of small letters and of digits, and capitals before a digit.

    Mostly it is enough to tell, and quicker than to find the pieces.
    """
    small = kinds.count(b"Aa") + kinds.count(b"0a")
    numbers = kinds.count(b"a0") + (capitals := kinds.count(b"A0"))
    return small + numbers + capitals + (kinds[:1] != b"A")


def entropy(word: bytes) -> float:
    """Return the Shannon entropy of a word's characters, in bits per character."""
    size = len(word)
    return math.log2(size) - sum(map(_weight, map(word.count, set(word)))) / size


@cache
def least_entropy(size: int, kinds: int) -> float:
    """Return the least entropy that a word of so many characters can have with so many different ones.

    It has that when one of them is all that the others are not; mostly it is enough to tell.
    """
    return math.log2(size) - _weight(size - kinds + 1) / size


@cache
def _weight(count: int) -> float:
    return count * math.log2(count)


def _told(text: str, start: int) -> bool:
    """Tell whether what stands before a word says that it is no secret."""
    line = text[max(0, start - 300) : start].rpartition("\n")[2]
    return ("://" in line and "://" in _last_word(line)) or compiled(_BEFORE).search(line[-24:]) is not None


def _last_word(line: str) -> str:
    """Return the word that goes on to the end of a line; nothing when a space ends it."""
    return "" if line[-1:].isspace() else (line.split() or [""])[-1]


def _is_name(part: str) -> bool:
    return compiled(rf"[A-Z]?{_WORD}(?:[-_][A-Z]?{_WORD}|[A-Z]{_WORD})*\d{{0,3}}\Z").match(part) is not None
