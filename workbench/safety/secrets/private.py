"""Private key blocks, masked as a whole."""

from bisect import bisect_left
from collections.abc import Iterator
from re import Match

from workbench.core.safety import Finding, secret
from workbench.safety.lowering import compiled

LONGEST = 16_000
"""Characters between the first line of a block and its last, at most."""

_HEAD = r"(?:[A-Z0-9]{1,12} ){0,4}PRIVATE KEY(?: BLOCK)?"
_BREAK = r"(?:\\r)?(?:\\n|\s)"
_LINES = rf"(?:{_BREAK}{{1,3}}[A-Za-z0-9+/=]{{16,}})*(?:(?:\\r)?(?:\\n|\n)[A-Za-z0-9+/=]{{1,63}}(?=[\s\\]|\Z))?"
_BEGIN = rf"-----BEGIN {_HEAD}-----|PuTTY-User-Key-File-\d:"
_END = rf"-----END {_HEAD}-----"
_MAC = r"Private-MAC: ?[0-9a-f]+"
_PUTTY_LINES = r"[^\n]{0,256}\n(?:(?!PuTTY-User)[^\n]{0,256}\n){0,80}"
_KEY = r"[A-Za-z0-9+/]{16}"


def find(text: str) -> Iterator[Finding]:
    """Yield the blocks in a text; one whose end is missing goes as far as its characters do."""
    if "PRIVATE KEY" not in text and "PuTTY-User-Key-File" not in text:
        return
    ends = {pattern: [end.span() for end in compiled(pattern).finditer(text)] for pattern in (_END, _MAC)}
    done = 0
    for begin in compiled(_BEGIN).finditer(text):
        if begin.start() < done:
            continue
        putty = begin.group().startswith("PuTTY")
        end = _end(begin, ends[_MAC if putty else _END], _PUTTY_LINES if putty else _LINES)
        # A sentence may name the first line and the last; only what holds key material is a secret.
        if compiled(_KEY).search(text, begin.start() + len("-----BEGIN "), end):
            done = end
            yield secret("private key", begin.start(), end)


def _end(begin: Match[str], ends: list[tuple[int, int]], lines: str) -> int:
    """Return where a block ends: with its last line, or as far as lines of a key follow."""
    place = bisect_left(ends, (begin.end(), 0))
    if place < len(ends) and ends[place][0] - begin.end() <= LONGEST:
        return ends[place][1]
    rest = compiled(lines).match(begin.string, begin.end())
    return begin.end() if rest is None else rest.end()
