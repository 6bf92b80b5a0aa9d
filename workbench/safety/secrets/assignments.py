"""Values behind a name that says what they are: `DB_PASSWORD=…`, `"api_key": "…"`, “the password is …”."""

from collections.abc import Callable, Iterator
from functools import partial
from re import ASCII, Match

from workbench.core.safety import Finding, secret
from workbench.safety.anchors import anchored
from workbench.safety.lowering import compiled
from workbench.safety.secrets.values import is_address, is_expression, is_key, is_password, is_placeholder, is_variable

_PASSWORD = ("password", "passwd", "passphrase", "passcode", "_pass")
_KEY = (
    "api_key", "apikey", "api-key", "api key", "access_key", "accesskey", "access-key", "auth_key", "private_key",
    "privatekey", "signing_key", "encryption_key", "account_key", "accountkey", "secret_key", "secretkey", "client_key",
    "master_key",
)  # fmt: skip
_NAMES = (
    ("pass", "password", _PASSWORD),
    ("pwd", "password", ("pwd",)),
    ("token", "access token", ("token",)),
    ("secret", "secret", ("secret",)),
    ("credential", "secret", ("credentials", "credential")),
    ("key", "API key", _KEY),
)
"""A stem that all names of a kind share, what their values are called, and the names."""

_UPPER = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"
_NAMING = _UPPER + _UPPER.lower() + "-"
_CAPITALS = frozenset(_UPPER)
_TAIL = r"(?:[_-]?(?:\d{1,3}|prod|production|dev|test|staging|live|value|b64|base64|key))?"
_SIGN = r"\\{0,3}[\"'`\])]{0,3}\s{0,4}(?P<sign>:=|=>|[=!]={1,2}|=|:)\s{0,4}"
_QUOTED = r"\\{0,3}(?P<quote>[\"'`])(?P<quoted>[^\n\"'`]{3,399}[^\n\"'`\\])\\{0,3}(?P=quote)"
"""A value in quotes; in JSON within JSON a backslash or three stand before each of them."""
_BARE = r"(?P<bare>[^\s\"'`,;<>(){}\[\]|]{4,400})(?P<next>.?)"
_VALUE = rf"@?(?:{_QUOTED}|{_BARE})"
_NEXT = r"(?:[&;,]|\\[nrt])(?:[A-Z]?[a-z]{3,}(?:[_\-]?[A-Z]?[a-z]+)*|[A-Z_]{3,})=|</|\\[nrt](?:[\w.\-]{1,40}:|\Z)"
"""What ends a value though no space does: the next parameter or assignment, a tag, the end of a line in a string."""

_PROSE = r"\s{1,2}(?P<verb>is|was|to|=)\s{1,2}[\"'`“]?(?P<said>[^\s\"'`“”]{6,100})"


def find(text: str, low: str) -> Iterator[Finding]:
    """Yield the values; `low` is the text in lower case, as long as the text."""
    if not ("=" in text or ":" in text or " is " in text or " was " in text):
        return
    for stem, rule, names in _NAMES:
        if stem in low:
            ask = _password if rule == "password" else partial(_assigned, rule)
            yield from anchored(low, "|".join(names), partial(_in, text, ask))


def _in(text: str, ask: Callable[[str, int], Iterator[Finding]], name: Match[str]) -> Iterator[Finding]:
    return ask(text, name.end())


def _password(text: str, at: int) -> Iterator[Finding]:
    yield from _assigned("password", text, at)
    said = compiled(_PROSE).match(text, at)
    if said is not None:
        value = _ended(text, *said.span("said")).rstrip(".,;:!?)")
        code = is_expression(text, said.start("said")) or (said["verb"] == "to" and is_address(value))
        if not code and is_password(value, quoted=True) and not (said["verb"] == "=" and is_variable(value)):
            yield secret("password", said.start("said"), said.start("said") + len(value))


def _assigned(rule: str, text: str, at: int) -> Iterator[Finding]:
    match = compiled(_TAIL + _SIGN + _VALUE, ASCII).match(text, at)
    if match is None:
        return
    fits = is_password if rule == "password" else _is_key
    if match["sign"] == ":" and text[match.end("sign")] in "-=?+" and _is_expansion(text, at):
        return  # what a shell takes when the variable is not set
    if match["quoted"] is not None:
        phrase = " " in match["quoted"].strip()
        if not phrase and fits(match["quoted"], quoted=True):
            yield secret(rule, *match.span("quoted"))
        return
    if _is_variable(text, at, match["sign"]):
        # A line of an .env file or a shell: everything to the next space is the value.
        rest = compiled(r"[^\s\"'`]{4,400}").match(text, match.start("bare"))
        assert rest is not None
        value = _ended(text, *rest.span()).rstrip(",;")
        if fits(value, quoted=True) and not is_expression(text, rest.start()):
            yield secret(rule, rest.start(), rest.start() + len(value))
        return
    # In an address the next parameter follows.
    value = compiled(r"&[\w.\-]+=").split(_ended(text, *match.span("bare")), maxsplit=1)[0].rstrip(".:!?")
    if "/" in value and _is_folder(text, at):
        return
    # Without quotes nobody compares with a password.
    code = match["next"] in ("(", "[", "{") or "==" in match["sign"] or is_expression(text, match.start("bare"))
    if not code and not is_placeholder(value) and fits(value, quoted=False):
        yield secret(rule, match.start("bare"), match.start("bare") + len(value))


def _is_key(value: str, *, quoted: bool) -> bool:  # noqa: ARG001 - asked as `is_password` is
    return is_key(value)


def _ended(text: str, start: int, end: int) -> str:
    """Return a value without what follows it: a parameter, a tag, a bracket that was opened before it in its line."""
    value = compiled(_NEXT).split(text[start:end], maxsplit=1)[0]
    line = text[max(0, start - 200) : start].rpartition("\n")[2]
    for opening, closing in ("()", "[]", "{}"):
        if opening in line and value.count(closing) > value.count(opening):
            value = value.rstrip(closing)
    return value


def _before(text: str, at: int) -> str:
    """Return what stands before the name that ends at `at`, and two characters at most."""
    head = text[max(0, at - 80) : at].rstrip(_NAMING)
    return head[-2:]


def _is_expansion(text: str, at: int) -> bool:
    """Tell whether the name before `at` is a variable in `${…}`."""
    return _before(text, at) == "${"


def _is_folder(text: str, at: int) -> bool:
    """Tell whether the name before `at` begins a part of a path, `…/token=abc123/notes.md`."""
    return _before(text, at)[-1:] == "/"


def _is_variable(text: str, at: int, sign: str) -> bool:
    """Tell whether the name before `at` is in capitals and `=` follows at once, as in a shell."""
    return text[at - 1] in _CAPITALS and sign == "=" and compiled(r"[A-Z0-9_]*+=\S", ASCII).match(text, at) is not None
