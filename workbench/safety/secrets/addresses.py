"""Passwords within addresses (`postgres://app:…@db`), and tokens in request headers."""

from collections.abc import Iterator
from re import ASCII, IGNORECASE

from workbench.core.safety import Finding, secret
from workbench.safety.lowering import compiled
from workbench.safety.secrets.values import is_placeholder

_LOGIN = r"""://[^\s:/@"'<>`]{0,200}:([^\s/"'<>`]{1,400})@(?=[\w\[\-.$])"""
_HEADER = r"\b(?:bearer|authorization[\"']?\s{0,3}[:=]\s{0,3}[\"']?(?:basic|token|apikey))\s{1,3}([\w\-.~+/]{12,}=*)"


def find(text: str, low: str) -> Iterator[Finding]:
    """Yield passwords and tokens; `low` is the text in lower case."""
    if "://" in text and "@" in text:
        for match in compiled(_LOGIN).finditer(text):
            if not is_placeholder(match.group(1)):
                yield secret("password", *match.span(1))
    if "bearer" in low or "authorization" in low:
        for match in compiled(_HEADER, IGNORECASE | ASCII).finditer(text):
            value = match.group(1)
            if _is_drawn(value) and not is_placeholder(value):
                yield secret("access token", *match.span(1))


def _is_drawn(value: str) -> bool:
    """Tell whether a word behind `Bearer` can be a token: no word of a sentence has a digit or mixes its cases."""
    return any(c.isdigit() for c in value) or not (value.islower() or value.isupper() or value.istitle())
