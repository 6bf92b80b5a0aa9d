"""Values behind a name that says what they are: `DB_PASSWORD=…`, `"api_key": "…"`, “the password is …”."""

from collections.abc import Iterator
from re import ASCII

from workbench.safety.finding import Finding, secret
from workbench.safety.lowering import compiled
from workbench.safety.values import is_key, is_password, is_placeholder

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
    ("credential", "secret", ("credential", "credentials")),
    ("key", "API key", _KEY),
)
"""A stem that all names of a kind share, what their values are called, and the names."""

_TAIL = r"(?:[_-]?(?:\d{1,3}|prod|production|dev|test|staging|live|value|b64|base64|key))?"
_SIGN = r"[\"'`\])]{0,3}\s{0,4}(?P<sign>:=|=>|[=!]={1,2}|=|:)\s{0,4}"
_QUOTED = r"(?P<quote>[\"'`])(?P<quoted>[^\n\"'`]{4,400})(?P=quote)"
_BARE = r"(?P<bare>[^\s\"'`,;<>(){}\[\]|]{4,400})(?P<next>.?)"
_VALUE = rf"@?(?:{_QUOTED}|{_BARE})"
_PROSE = r"\s{1,2}(?:is|was|to|=)\s{1,2}[\"'`“]?(?P<said>[^\s\"'`“”]{6,100})"


def find(text: str, low: str) -> Iterator[Finding]:
    """Yield the values; `low` is the text in lower case, as long as the text."""
    if not ("=" in text or ":" in text or " is " in text or " was " in text):
        return
    for stem, rule, names in _NAMES:
        if stem in low:
            for at in (at for name in names for at in _places(low, name)):
                yield from _password(text, at) if rule == "password" else _assigned(text, at, rule)


def _places(low: str, name: str) -> Iterator[int]:
    """Yield where a name ends, wherever it occurs."""
    at = low.find(name)
    while at >= 0:
        yield at + len(name)
        at = low.find(name, at + 1)


def _password(text: str, at: int) -> Iterator[Finding]:
    yield from _assigned(text, at, "password")
    said = compiled(_PROSE).match(text, at)
    if said is not None:
        value = said["said"].rstrip(".,;:!?)")
        if is_password(value, quoted=True):
            yield secret("password", said.start("said"), said.start("said") + len(value))


def _assigned(text: str, at: int, rule: str) -> Iterator[Finding]:
    match = compiled(_TAIL + _SIGN + _VALUE, ASCII).match(text, at)
    if match is None:
        return
    fits = is_password if rule == "password" else _is_key
    if match["quoted"] is not None:
        phrase = " " in match["quoted"].strip()
        if not phrase and fits(match["quoted"], quoted=True):
            yield secret(rule, *match.span("quoted"))
        return
    if _is_variable(text, at, match["sign"]):
        # A line of an .env file or a shell: everything to the next space is the value.
        rest = compiled(r"[^\s\"'`]{4,400}").match(text, match.start("bare"))
        assert rest is not None
        if fits(rest.group(), quoted=True):
            yield secret(rule, *rest.span())
        return
    # In an address the next parameter follows.
    value = compiled(r"&[\w.\-]+=").split(match["bare"], maxsplit=1)[0].rstrip(".:!?")
    if match["next"] not in ("(", "[", "{") and not is_placeholder(value) and fits(value, quoted=False):
        yield secret(rule, match.start("bare"), match.start("bare") + len(value))


def _is_key(value: str, *, quoted: bool) -> bool:  # noqa: ARG001 - asked as `is_password` is
    return is_key(value)


def _is_variable(text: str, at: int, sign: str) -> bool:
    """Tell whether the name before `at` is in capitals and `=` follows at once, as in a shell."""
    name = compiled(r"[A-Z0-9_]+\Z", ASCII).search(text[max(0, at - 40) : at])
    return name is not None and sign == "=" and compiled(r"[A-Z0-9_]*=\S", ASCII).match(text, at) is not None
