"""Private key blocks, masked as a whole."""

from collections.abc import Iterator

from workbench.safety.finding import Finding, secret
from workbench.safety.lowering import compiled

_HEAD = r"(?:[A-Z0-9]{1,12} ){0,4}PRIVATE KEY(?: BLOCK)?"
_BREAK = r"(?:\\r)?(?:\\n|\s)"
_LINES = rf"(?:{_BREAK}{{1,3}}[A-Za-z0-9+/=]{{16,}})*(?:(?:\\r)?(?:\\n|\n)[A-Za-z0-9+/=]{{1,63}}(?=[\s\\]|\Z))?"
_BLOCK = (
    rf"-----BEGIN {_HEAD}-----(?:[\s\S]{{0,16000}}?-----END {_HEAD}-----|{_LINES})"
    r"|PuTTY-User-Key-File-\d:(?:[\s\S]{0,16000}?Private-MAC: ?[0-9a-f]+|(?:[^\n]*\n){0,80})"
)
_KEY = r"[A-Za-z0-9+/]{16}"


def find(text: str) -> Iterator[Finding]:
    """Yield the blocks in a text; one whose end is missing goes as far as its characters do."""
    if "PRIVATE KEY" not in text and "PuTTY-User-Key-File" not in text:
        return
    for block in compiled(_BLOCK).finditer(text):
        # A sentence may name the first line and the last; only what holds key material is a secret.
        if compiled(_KEY).search(block.group(), len("-----BEGIN ")):
            yield secret("private key", *block.span())
