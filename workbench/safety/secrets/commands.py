"""Passwords as command lines and login files carry them: behind an option or a keyword, with no `=` to tell them by."""

import binascii
from base64 import b64decode
from collections.abc import Iterator
from re import ASCII, Match

from workbench.core.safety import Finding, secret
from workbench.safety.anchors import anchored
from workbench.safety.lowering import compiled
from workbench.safety.secrets.values import is_key, is_password, is_placeholder

LEAST = 3
"""Characters of a password that a command line is given."""

_LINE = 240
"""Characters of a line that are looked at before an option, for the command it belongs to."""

_SLASH = r"\\(?!\\{0,6}[\"'])"
"""A backslash that is part of a value: those before a quote escape it, in JSON within JSON several of them."""

_INSIDE = rf"((?:[^\"\\\n]|{_SLASH}){{1,200}})"
_ESCAPED = rf"\\{{1,7}}\"{_INSIDE}\\{{1,7}}\""
_BARE = rf"((?:[^\s\"'`;|&)\\]|{_SLASH}){{1,200}})"
_WORD = rf"(?:{_ESCAPED}|\"([^\"\n]{{1,200}})\"|'([^'\n]{{1,200}})'|{_BARE})"
"""A value: between quotes, which stand escaped where the command is a string in code or in JSON, or without any."""

_GLUED = ("mysql", "mariadb", "mycli", "7z ", "sshpass")
_APART = ("sshpass", "docker login", "podman login", "helm registry login", "mongo", "az login", "oc login", "cf login")
_LOGINS = ("curl", "http ", "https ", "wget")

_USER = r"[^\s:\"'/]{1,100}:"
_PAIR = rf"(?:\\{{0,7}}\"{_USER}{_INSIDE}|'{_USER}([^'\n]{{1,200}})|{_USER}{_WORD})"
_LOGIN = rf"(?:-u|--user|--proxy-user)[ =]{{0,2}}{_PAIR}"
_GIVEN = rf"\s-p(?P<apart> ?)(?![\d.:]{{1,20}}:\d{{2,5}}(?:/\w{{3}})?(?!\S)){_WORD}"
"""Not for ports that a container publishes, one for another."""

_REDIS = rf"\s-a ?{_WORD}"
_WHO = r"(?:\s{1,8}(?:login|account)\s{1,8}\S{1,100})"
_NETRC = rf"(?:machine\s{{1,8}}\S{{1,200}}{_WHO}{{0,3}}|default{_WHO}{{1,3}})\s{{1,8}}password\s{{1,8}}{_WORD}"
_OPTION = (
    rf"--[a-z\-]{{0,24}}?(?:password|passwd|passphrase|token|secret|api-?key|access-key|secret-key)\s{{1,3}}"
    rf"(?!--){_WORD}"
)
"""What begins like an option is the next one: no command takes it for a value."""

_PGPASS = r"(?::\d{2,5}|:\*):[\w*\-]{1,64}:[\w.*@\-]{1,64}:([^\s:]{4,100})(?=\s|\Z)"
_NAMES = ("passw", "passphrase", "token", "secret", "key")
_DOCKER = r"\"auth\"\s{0,3}:\s{0,3}\"([A-Za-z0-9+/]{8,400}={0,2})\""


def find(text: str, low: str) -> Iterator[Finding]:
    """Yield the passwords; `low` is the text in lower case."""
    if "machine" in low or "default" in low:
        yield from anchored(text, "machine|default", _netrc)
    if any(map(low.__contains__, _LOGINS)) and "-u" in text:
        yield from anchored(text, "-u|--user|--proxy-user", _login)
    if " -p" in text and any(map(low.__contains__, (*_GLUED, *_APART))):
        yield from anchored(text, r"\s-p", _given)
    if " -a" in text and "redis-cli" in text:
        yield from anchored(text, r"\s-a", _redis)
    if "--" in text and any(map(low.__contains__, _NAMES)):
        yield from anchored(text, r"--[a-z]", _option)
    if ":5432:" in text or ":*:" in text:
        yield from anchored(text, r":5432:|:\*:", _pgpass)
    if '"auth"' in text:
        yield from anchored(text, '"auth"', _docker)


def _netrc(anchor: Match[str]) -> Iterator[Finding]:
    yield from _said("password", compiled(_NETRC).match(anchor.string, anchor.start()))


def _login(anchor: Match[str]) -> Iterator[Finding]:
    given = compiled(_LOGIN).match(anchor.string, anchor.start())
    if given is not None and _is_of(anchor, _LOGINS):
        yield from _said("password", given)


def _given(anchor: Match[str]) -> Iterator[Finding]:
    """Yield the password behind `-p`: some commands want it glued to the option, some apart."""
    given = compiled(_GIVEN).match(anchor.string, anchor.start())
    if given is not None and _is_of(anchor, _APART if given["apart"] else _GLUED):
        yield from _said("password", given)


def _redis(anchor: Match[str]) -> Iterator[Finding]:
    if _is_of(anchor, ("redis-cli",)):
        yield from _said("password", compiled(_REDIS).match(anchor.string, anchor.start()))


def _option(anchor: Match[str]) -> Iterator[Finding]:
    """Yield the value of an option that says what it is: `--password X`, `--api-key X`."""
    given = compiled(_OPTION).match(anchor.string, anchor.start())
    for finding in _said("password", given):
        value = anchor.string[finding.start : finding.end]
        if is_key(value) or (
            "pass" in anchor.string[anchor.start() : finding.start] and is_password(value, quoted=True)
        ):
            yield finding


def _pgpass(anchor: Match[str]) -> Iterator[Finding]:
    yield from _said("password", compiled(_PGPASS, ASCII).match(anchor.string, anchor.start()))


def _docker(anchor: Match[str]) -> Iterator[Finding]:
    """Yield a login that is only encoded: `user:password` in Base64."""
    login = compiled(_DOCKER, ASCII).match(anchor.string, anchor.start())
    if login is not None:
        try:
            plain = b64decode(login.group(1), validate=True)
        except binascii.Error:
            return
        if b":" in plain and plain.isascii():
            yield secret("password", *login.span(1))


def _is_of(anchor: Match[str], commands: tuple[str, ...]) -> bool:
    """Tell whether one of the commands stands before an option in its line."""
    start = anchor.start()
    line = anchor.string[max(0, start - _LINE) : start].rpartition("\n")[2].lower()
    return any(map(line.__contains__, commands))


def _said(rule: str, match: Match[str] | None) -> Iterator[Finding]:
    """Yield the value that the last group to match holds, unless it only stands for one."""
    if match is not None and match.lastindex is not None:
        value = match.group(match.lastindex)
        if len(value) >= LEAST and not is_placeholder(value):
            yield secret(rule, *match.span(match.lastindex))
