"""Secrets of 47 kinds, drawn anew for every seed: how one would type them, and what must not be
kept.
"""

import base64
import json
import random
import string
from collections.abc import Callable
from typing import NamedTuple

ALNUM = string.ascii_letters + string.digits
UPPER = string.ascii_uppercase + string.digits
LOWER = string.ascii_lowercase + string.digits
HEX = "0123456789abcdef"
URL = ALNUM + "-_"

Draw = Callable[[int, str], str]


class Fresh(NamedTuple):
    """A text as it is typed, in one line, and the part of it that is secret."""

    text: str
    secret: str


def _password(draw: Draw) -> str:
    return (
        draw(4, string.ascii_letters)
        + draw(2, "!%+")
        + draw(4, string.digits)
        + draw(2, string.ascii_letters)
    )


def _jwt(draw: Draw) -> str:
    parts = (
        base64.urlsafe_b64encode(json.dumps(part).encode()).decode().rstrip("=")
        for part in ({"alg": "HS256", "typ": "JWT"}, {"sub": draw(12, LOWER)})
    )
    return ".".join((*parts, draw(43, URL)))


def _block(draw: Draw, kind: str) -> str:
    mark = f"{kind}PRIVATE" + " KEY"
    return f"-----BEGIN {mark}-----\\n{draw(64, ALNUM + '+/')}\\n{draw(40, ALNUM + '+/')}\\n-----END {mark}-----"


_KEYS: dict[str, Callable[[Draw], str]] = {
    "aws key": lambda d: "AK" + "IA" + d(16, UPPER),
    "anthropic": lambda d: "sk-" + "ant-api03-" + d(93, URL) + "AA",
    "openai": lambda d: "sk-" + d(20, ALNUM) + "T3Blbk" + "FJ" + d(20, ALNUM),
    "openai project": lambda d: "sk-" + "proj-" + d(120, URL) + "a9Z",
    "openrouter": lambda d: "sk-" + "or-v1-" + d(64, HEX),
    "github": lambda d: "gh" + "p_" + d(36, ALNUM),
    "github fine": lambda d: "github" + "_pat_" + d(22, ALNUM) + "_" + d(59, ALNUM),
    "gitlab": lambda d: "gl" + "pat-" + d(20, ALNUM),
    "slack": lambda d: (
        "xo" + "xb-" + d(12, string.digits) + "-" + d(13, string.digits) + "-" + d(24, ALNUM)
    ),
    "slack hook": lambda d: (
        "https://hooks.sl" + f"ack.com/services/T{d(8, UPPER)}/B{d(8, UPPER)}/{d(24, ALNUM)}"
    ),
    "stripe": lambda d: "sk_" + "live_" + d(24, ALNUM),
    "google": lambda d: "AI" + "za" + d(35, URL[:62]),
    "hugging face": lambda d: "h" + "f_" + d(34, ALNUM),
    "npm": lambda d: "np" + "m_" + d(36, ALNUM),
    "pypi": lambda d: "py" + "pi-AgEIcHlwaS5vcmc" + d(90, URL),
    "sendgrid": lambda d: "S" + "G." + d(22, URL) + "." + d(43, URL),
    "telegram": lambda d: d(9, "123456789") + ":A" + "A" + d(33, ALNUM),
    "discord": lambda d: "M" + d(23, ALNUM) + "." + d(6, ALNUM) + "." + d(27, ALNUM),
    "mailchimp": lambda d: d(32, HEX) + "-us" + "12",
    "twilio": lambda d: "S" + "K" + d(32, HEX),
    "digitalocean": lambda d: "do" + "p_v1_" + d(64, HEX),
    "vault": lambda d: "hv" + "s." + d(30, ALNUM),
    "age": lambda d: "AGE-" + "SECRET-KEY-1" + d(58, UPPER),
    "jwt": _jwt,
    "random": lambda d: d(16, ALNUM) + "q7Z" + d(16, ALNUM) + "4kR",
}
"""Keys that tell by themselves what they are."""

_PLACED: dict[str, tuple[str, Callable[[Draw], str]]] = {
    "aws secret": ("aws_secret_access_" + "key = {}", lambda d: d(38, ALNUM) + "a7"),
    "azure": (
        "AccountName=x;Account" + "Key={};EndpointSuffix=y",
        lambda d: d(86, ALNUM + "+/") + "==",
    ),
    "password in a shell": ("export DB_PASS" + "WORD={}", _password),
    "password in yaml": ("pass" + "word: {}", _password),
    "password in json": ('{{"pass' + 'word": "{}"}}', _password),
    "password in prose": ("the pass" + "word is {} since May", _password),
    "password in an address": ("postgres://app:{}@db.internal:5432/app", _password),
    "api key in json": ('{{"api_' + 'key": "{}"}}', lambda d: d(20, LOWER) + "a1"),
    "client secret": ("client_" + "secret: {}", lambda d: d(28, HEX) + "a1"),
    "token in a query": ("https://x.org/a?access_" + "token={}&b=1", lambda d: d(30, HEX) + "a1"),
    "bearer": ("Authorization: Bear" + "er {}", lambda d: d(30, LOWER) + "a1"),
    "basic": (
        "Authorization: Ba" + "sic {}",
        lambda d: base64.b64encode(f"ada:{d(14, ALNUM)}7".encode()).decode(),
    ),
    "netrc": ("machine api.example.org login ada pass" + "word {}", _password),
    "mysqldump": ("mysqldump -h db -u root -p{} shop", _password),
    "curl": ("curl -u ada:{} https://x.org/a", _password),
    "curl in code": (
        'run("curl -u \\"ada:{}\\" https://x.org/a")',
        lambda d: d(8, ALNUM) + "&" + d(8, ALNUM) + "1z",
    ),
    "mysqldump in code": (
        'run("mysqldump -h db -p\\"{}\\" shop")',
        lambda d: d(4, ALNUM) + " 7" + d(8, ALNUM),
    ),
    "sshpass": ("sshpass -p {} ssh ada@host", _password),
    "docker login": ("docker login -u ada -p {} registry.x.org", _password),
    "option": ("deploy --api-" + "key {} --now", lambda d: d(20, LOWER) + "a1"),
    "pgpass": ("db.internal:5432:shop:ada:{}", _password),
}
"""Values that only their place tells, and how a line around them looks."""


def fresh(seed: str) -> dict[str, Fresh]:
    """Return a secret of every kind by its name, the same ones for the same seed."""
    dice = random.Random(seed)

    def draw(length: int, alphabet: str) -> str:
        return "".join(dice.choice(alphabet) for _ in range(length))

    found = {
        name: Fresh(f"It is {key} on staging", key)
        for name, make in _KEYS.items()
        if (key := make(draw))
    }
    for name, (line, make) in _PLACED.items():
        value = make(draw)
        found[name] = Fresh(line.format(value), value)
    for kind in ("RSA ", "OPENSSH ", "EC "):
        block = _block(draw, kind)
        found[f"{kind.strip().lower()} key"] = Fresh(f'{{"k": "{block}"}}', block.split("\\n")[1])
    return found


KINDS = tuple(fresh("names"))
"""The names of the kinds."""
