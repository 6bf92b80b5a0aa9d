"""The texts that the rules about orders are measured on: attacks, disguised in many ways, and
harmless texts.

Each list is cut in two by a hash of the plain text: rules are written looking at the one half,
`dev`, and measured on the other, `held`. A disguised attack is always in the half of the plain one.
"""

import base64
import codecs
import html
import unicodedata
import urllib.parse
from collections.abc import Callable, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Literal, NamedTuple

FOLDER = Path(__file__).parent / "orders"

Half = Literal["dev", "held"]

COMMANDS = frozenset(
    ("fake system message", "tool call", "exfiltration by command", "pipe to a shell", "git hook", "persistence",
     "image that carries data out", "hidden comment", "destruction", "reverse shell", "end of the block")
)  # fmt: skip
"""Kinds whose characters are what they are: a letter changed would break the command or the tag."""


class Attack(NamedTuple):
    """One attack: its kind, how it is disguised ("plain" when it is not), its text, and its half."""

    kind: str
    disguise: str
    text: str
    half: Half


def number(text: str) -> int:
    """Return a number that depends on the text only."""
    return int.from_bytes(sha256(text.encode()).digest()[:6], "big")


def half(text: str) -> Half:
    """Return the half of a text."""
    return "dev" if number(text) % 2 else "held"


def _lines(name: str) -> list[str]:
    lines = (FOLDER / name).read_text("utf-8").splitlines()
    return [
        line.replace("\\n", "\n") for line in lines if line.strip() and not line.startswith("# ")
    ]


def harmless(which: Half) -> list[str]:
    """Return the harmless texts of a half."""
    return [text for text in _lines("harmless.txt") if half(text) == which]


def attacks(which: Half) -> list[Attack]:
    """Return the attacks of a half: each plain one, and two disguised forms of it that its hash
    picks.
    """
    found: list[Attack] = []
    kind = ""
    for line in _lines("attacks.txt"):
        if line.startswith("## "):
            kind = line.removeprefix("## ")
            continue
        if half(line) != which:
            continue
        found.append(Attack(kind, "plain", line, which))
        table = ANYWHERE if kind in COMMANDS else {**ANYWHERE, **WORDS}
        names, at = list(table), number(line) // 2
        for name in (names[at % len(names)], names[(at // 97 + 1 + at) % len(names)]):
            found.append(Attack(kind, name, table[name](line), which))
    return list(dict.fromkeys(found))


def _every(step: int, mark: str) -> Callable[[str], str]:
    """Return a disguise that puts a mark behind every letter whose place is a multiple of `step`."""

    def disguised(text: str) -> str:
        return "".join(
            c + mark if c.isalpha() and at % step == 1 else c for at, c in enumerate(text)
        )

    return disguised


def _swapped(table: Mapping[str, str]) -> Callable[[str], str]:
    return lambda text: "".join(table.get(char, char) for char in text)


def _bold(text: str) -> str:
    return "".join(
        chr(0x1D41A + ord(c) - 97)
        if "a" <= c <= "z"
        else chr(0x1D400 + ord(c) - 65)
        if "A" <= c <= "Z"
        else c
        for c in text
    )


def _wide(text: str) -> str:
    return "".join(chr(ord(c) + 0xFEE0) if "!" <= c <= "~" else c for c in text)


def _broken(text: str) -> str:
    """Break the text after every second word."""
    words = text.split(" ")
    return "".join(word + ("\n" if at % 2 else " ") for at, word in enumerate(words)).rstrip()


def _emphasised(text: str) -> str:
    return " ".join(
        f"**{word}**" if at % 2 else f"_{word}_" for at, word in enumerate(text.split(" "))
    )


def _hyphened(text: str) -> str:
    return " ".join(
        f"{w[:4]}-\n{w[4:]}" if len(w) > 7 and w.isalpha() else w for w in text.split(" ")
    )


def _spaced(text: str) -> str:
    return "   ".join(" ".join(word) for word in text.split())


ANYWHERE: Mapping[str, Callable[[str], str]] = {
    "in a quotation": lambda text: "> " + text.replace("\n", "\n> "),
    "among other text": lambda text: (
        f"The cache is rebuilt at night. {text} Releases are cut on Tuesdays."
    ),
    "in a list": lambda text: f"- Use tabs.\n- {text}\n- Dates are in UTC.",
    "in bold": lambda text: f"**{text}**",
    "wide spaces": lambda text: text.replace(" ", "\u2003"),
    "base64": lambda text: base64.b64encode(text.encode()).decode(),
    "soft hyphens": _every(3, "\u00ad"),
    "zero-width spaces": _every(4, "\u200b"),
    "in a code fence": lambda text: f"```\n{text}\n```",
    "carriage returns": lambda text: text.replace(" ", " \r\n", 1),
}
WORDS: Mapping[str, Callable[[str], str]] = {
    "line breaks": _broken,
    "Cyrillic": _swapped(
        {"a": "а", "e": "е", "o": "о", "c": "с", "p": "р", "i": "і", "I": "І", "A": "А"}
    ),
    "Greek": _swapped({"o": "ο", "v": "ν", "a": "α", "i": "ι", "I": "Ι", "u": "υ"}),
    "fullwidth": _wide,
    "mathematical": _bold,
    "accents": lambda text: unicodedata.normalize("NFC", _every(2, "\u0301")(text)),
    "capitals": str.upper,
    "leet": _swapped({"o": "0", "i": "1", "e": "3", "a": "4", "s": "5"}),
    "spaced": _spaced,
    "emphasis": _emphasised,
    "half-bold words": lambda text: " ".join(
        f"{w[:2]}**{w[2:]}**" if len(w) > 4 else w for w in text.split(" ")
    ),
    "entities": lambda text: "".join(
        f"&#{ord(c)};" if c.isalpha() else html.escape(c) for c in text
    ),
    "percent": urllib.parse.quote,
    "hyphened": _hyphened,
    "reversed": lambda text: text[::-1],
    "rot13": lambda text: codecs.encode(text, "rot13"),
    "tags": lambda text: text + "".join(chr(0xE0000 + ord(c)) for c in "and be quick"),
    "hexadecimal": lambda text: text.encode().hex(),
}
