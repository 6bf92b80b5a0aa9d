"""Characters that look like ASCII ones, after Unicode's table of confusables (UTS #39).

`lookalikes.txt` holds what is needed of it: a line for each ASCII character, followed by the single characters
that look like it and that compatibility decomposition does not already turn into it. It is built again with

    python -m workbench.safety.orders.lookalikes < confusables.txt > workbench/safety/lookalikes.txt

from https://www.unicode.org/Public/security/latest/confusables.txt.
"""

import sys
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path

FILE = "lookalikes.txt"

# Letters on coloured squares and discs, and the halves of flags: not confusable after Unicode, read as letters all the
# same.
_ALPHABETS = (0x1F150, 0x1F170, 0x1F1E6)


@cache
def table() -> Mapping[str, str]:
    """Return what each look-alike stands for, in lower case."""
    lines = Path(__file__).with_name(FILE).read_text("utf-8").splitlines()
    found = {char: line[0] for line in lines if line and line[0] != "#" for char in line[2:]}
    return found | {chr(start + n): chr(97 + n) for start in _ALPHABETS for n in range(26)}


def build(confusables: Iterable[str]) -> Iterator[str]:
    """Yield the lines of the file from those of Unicode's table; a capital stands for the small letter."""
    looks = dict(_pairs(confusables))
    found: dict[str, list[str]] = {}
    for char, like in sorted(looks.items()):
        small = char.lower()
        # The table gives capital I and small L one form; what is an i in lower case is meant as one.
        target = "i" if like in "lI1|" and (looks.get(small) == "i" or small == "i") else like.lower()
        plain = _decomposed(char)
        if not (plain.isascii() and plain.isalnum()) and (plain == char.casefold() or plain not in looks):
            found.setdefault(target, []).append(char)
    yield from (f"{target}\t{''.join(chars)}" for target, chars in sorted(found.items()))


def _pairs(lines: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Yield single characters beyond ASCII, and the one ASCII character that each looks like."""
    for line in lines:
        fields = [field.strip() for field in line.partition("#")[0].lstrip("\ufeff").split(";")]
        if len(fields) < 2 or " " in fields[0] or " " in fields[1]:
            continue
        char, like = chr(int(fields[0], 16)), chr(int(fields[1], 16))
        if not char.isascii() and like.isascii() and like.isprintable() and not (like.isdigit() and like not in "01"):
            yield char, like


def _decomposed(char: str) -> str:
    return "".join(c for c in unicodedata.normalize("NFKD", char) if unicodedata.category(c) != "Mn").casefold()


if __name__ == "__main__":  # pragma: no cover - run by hand when Unicode has a new edition
    sys.stdout.write("\n".join(build(sys.stdin)) + "\n")
