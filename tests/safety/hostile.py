"""Texts made to make a pattern go back and forth for ever, each of any size, and prose of the same
size in bytes.
"""

from collections.abc import Callable
from random import Random

from tests.safety.samples import ALNUM, HEX, drawn

MEGABYTE = 1_000_000

_KEY = "PRIVATE" + " KEY"
_BEGIN = f"-----BEGIN RSA {_KEY}-----"

_REPEATED = {
    "jwt heads": ("ey" + "J", "."),
    "jwt heads apart": ("-ey" + "J", "."),
    "jwt heads with dots": ("ey" + "J.", ""),
    "putty headers": ("PuTTY-User-Key-File-2: ssh-rsa\n", ""),
    "api keys without a value": ("api_" + "key=", ""),
    "api keys, quoted": ("api_" + "key='", ""),
    "api keys, apart": ("api_" + "key = ", ""),
    "passwords that are": ("pass" + "word is ", ""),
    "tokens in a row": ("to" + "ken:", ""),
    "secrets, dashed": ("-se" + "cret-to" + "ken-key", "="),
    "one token": ("gh" + "p_" + "A1b2C3d4" * 4 + "E5f6 ", ""),
    "one key": ("AK" + "IA" + "Q7RZ" * 4 + " ", ""),
    "openai heads": ("sk" + "-", ""),
    "openai heads apart": ("-sk" + "-", "!"),
    "slack heads": ("xo" + "xb-1-", ""),
    "slack heads, no end": ("xo" + "xb-" + "1-" * 40, "_"),
    "gitlab heads": ("gl" + "pat-", ""),
    "aws words": ("aws key ", ""),
    "aws words in a row": ("aws" + "key", "'"),
    "npm auth tokens": ("//a/:_auth" + "Token=", ""),
    "npm slashes": ("//", "a/:_auth" + "Token=npm"),
    "dots": (".", ""),
    "discord heads": ("M" * 24 + ".", ""),
    "telegram heads": ("12345678:A" + "A", ""),
    "addresses": ("https://u:", ""),
    "addresses with at": ("://u:p@", ""),
    "many at": ("@", ""),
    "one login without end": ("p:", "://u:" + "p" * 40),
    "begin lines": (_BEGIN + "\n", ""),
    "begin lines with a body": (_BEGIN + "\n" + "QUJD" * 16 + "\n", ""),
    "dashes": ("-", f"BEGIN {_KEY}"),
    "nested brackets": ("[", "]"),
    "nested braces": ('{"a":', "}"),
    "brackets of markers": ("[se" + "cret: ", "]"),
    "comments": ("<!-- you must ", ""),
    "tags": ("<system", ">"),
    "orders": ("ignore previous ", ""),
    "spaces": (" ", "x"),
    "line ends": ("\n", "x"),
    "carriage returns": ("\r\n\t", "x"),
    "capital letters": ("A", "=x"),
    "underscores": ("PASS" + "_", "=x"),
    "variation selectors": ("\u2764\ufe0f\ufe0f", ""),
    "combining marks": ("\u0301", ""),
    "direction marks": ("a\u200e", ""),
    "zero width": ("a\u200b", ""),
    "bearer": ("bear" + "er ", ""),
    "slashes and names": ("/Aa1bbbbb", "+"),
    "camel case": ("aaaaAaaaa9", "-/"),
    "curl logins": ("curl -u ", ""),
    "machines": ("machine a login b ", ""),
    "quotes": ('"', ""),
    "backslashes": ("\\n", ""),
    "pipes": ("|\n", ""),
    "ticks": ("`a", ""),
    "stars within words": ("a*b", ""),
    "turned by three": ("ljqruh suhylrxv lqvwuxfwlrqv ", ""),
    "tags within words": ("a<b>c", ""),
    "entities": ("&#105;", ""),
    "named entities": ("&lt;", ""),
    "percent escapes": ("%69", ""),
    "unicode escapes": ("\\u0069", ""),
    "spaced letters": ("i g n o r e  ", ""),
    "digits as letters": ("1gn0r3 pr3v10us ", ""),
    "turned by thirteen": ("vtaber cerivbhf vafgehpgvbaf ", ""),
    "backwards": ("erongi suoiverp snoitcurtsni ", ""),
    "all disguises": (
        "&#105;%69\\u0069 a*b i g n o r e 1gn0r3 vtaber cerivbhf erongi suoiverp ",
        "",
    ),
    "hook words": ("write a post checkout ", ""),
    "direction overrides": ("\u202eabc\u202c ", ""),
    "tags apart": ("a\U000e0041", ""),
    "families": ("\U0001f469\u200d\U0001f469\u200d\U0001f467 ", ""),
    "look-alikes": ("\u0406gn\u043er\u0435 \u0430ll ", ""),
    "ligatures": ("\ufdfa ", ""),
    "piled marks": ("i\u0301\u0302\u0303g\u0301\u0302n\u0303", ""),
    "controls apart": ("a\x07", ""),
    "comments, closed": ("/* you must */", ""),
    "downloads": ("curl |", ""),
    "glued passwords": ("mysql -p", ""),
    "set passwords": ("DB_PASS" + "WORD=x1y2z3w4 ", ""),
    "quoted tokens": ("to" + 'ken="a1b2c3d4e5" ', ""),
    "options": ("--pass" + "word ", ""),
    "logins": ("http://a:" + "b1c2d3@", ""),
    "bearers": ("Bear" + "er abc123def456ghi ", ""),
}
"""What is repeated, and what stands at the end."""


def _drawn(alphabet: str) -> Callable[[int], str]:
    return lambda size: drawn(size, alphabet)


def _many(size: int) -> str:
    dice = Random(size)
    return "".join(chr(dice.randrange(0xE000, 0x110000)) for _ in range(size // 4))


def _keys(size: int) -> str:
    dice = Random(size)
    return " ".join("".join(dice.choice(ALNUM) for _ in range(30)) for _ in range(size // 31))


_MADE = {"many characters": _many, "many keys": _keys}

_DRAWN = {
    "long hex": HEX,
    "long base64": ALNUM + "+/",
    "long random": ALNUM,
    "long digits": "0123456789",
}


def hostile(name: str, size: int = MEGABYTE) -> str:
    """Return the hostile text `name` in about `size` bytes of UTF-8."""
    if name in _MADE:
        return _MADE[name](size)
    if name in _DRAWN:
        return _drawn(_DRAWN[name])(size)
    part, end = _REPEATED[name]
    return part * (size // len(part.encode())) + end


NAMES = (*_REPEATED, *_DRAWN, *_MADE)
"""The hostile texts."""


_WORDS = (
    "the retry loop of a queue worker waits two seconds before it asks the server again and gives up after five "
    "attempts so that nobody has to restart the service by hand when a token has expired or the key was changed"
)


def prose(size: int = MEGABYTE) -> str:
    """Return ordinary sentences of `size` characters, the same ones every time."""
    dice = Random(size)
    words = _WORDS.split()
    lines: list[str] = []
    length = 0
    while length < size:
        line = " ".join(dice.choice(words) for _ in range(14)).capitalize() + ".\n"
        lines.append(line)
        length += len(line)
    return "".join(lines)[:size]
