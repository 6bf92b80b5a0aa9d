"""Keys and tokens in the forms that the detect-secrets library knows, which is loaded when a text hints at one.

Its detectors are asked for their patterns only, and only around a hint: on a whole line some of them look at every
character as often as the line is long. Its own scan works line by line on a global settings object, returns values
without places, of some tokens only the prefix, and of a JWT all but the signature.
"""

import importlib
from collections.abc import Iterator
from functools import cache, partial
from re import ASCII, Match, escape
from typing import Any, NamedTuple

from workbench.core.safety import Finding, secret
from workbench.safety.anchors import anchored
from workbench.safety.lowering import compiled


class Provider(NamedTuple):
    """A detector of the library, and when and where to ask it.

    A text must hold one of `hints`, and a long word of it match `gate`: both are far cheaper than loading the library.
    The hint stands in that word too, the key's own, unless it may stand `beside`. The detector is asked at each
    `anchor` (at the hints when empty): from `back` characters before it to `reach` behind it. With `group` the secret
    is what a pattern's first group holds, where it has one; otherwise the whole match.
    """

    rule: str
    module: str
    detector: str
    hints: tuple[str, ...]
    gate: str = ""
    group: bool = False
    beside: bool = False
    anchor: str = ""
    back: int = 0
    reach: int = 128


_GITLAB = (
    "glpat-", "gldt-", "glft-", "glsoat-", "glrt-", "GR1348941", "glcbt-", "glimt-", "glptt-", "glagent-", "gloas-",
)  # fmt: skip
_QUOTED = r"[\"'][0-9a-zA-Z/+]{40}[\"']"
_CLOUDANT = r"(?<![0-9A-Za-z])(?:[0-9a-fA-F]{64}|[a-zA-Z]{24})(?![0-9A-Za-z])"
_JWT = r"eyJ[\w\-=]{5,4000}+\.[\w\-=]"

PROVIDERS = (
    Provider("AWS key", "aws", "AWSKeyDetector", ("AKIA", "ASIA", "ABIA", "ACCA", "A3T"), r"[0-9A-Z]{20}"),
    Provider("AWS secret", "aws", "AWSKeyDetector", ("aws", "AWS", "Aws"), "", True, True, _QUOTED, 64),
    Provider("Azure key", "azure_storage_key", "AzureStorageKeyDetector", ("AccountKey=",)),
    Provider("Cloudant key", "cloudant", "CloudantDetector", ("cloudant",), "", True, True, _CLOUDANT, 96),
    Provider("GitHub token", "github_token", "GitHubTokenDetector", ("ghp_", "gho_", "ghu_", "ghs_", "ghr_")),
    Provider("GitLab token", "gitlab_token", "GitLabTokenDetector", _GITLAB, reach=1100),
    Provider("JWT", "jwt", "JwtTokenDetector", ("eyJ",), r"eyJ[\w\-=.]{8}", reach=8192),
    Provider("PyPI token", "pypi_token", "PypiTokenDetector", ("pypi-Ag",), reach=512),
    Provider("SendGrid key", "sendgrid", "SendGridDetector", ("SG.",), r"SG\.[\w\-]{22}\."),
    Provider("Slack webhook", "slack", "SlackDetector", ("hooks.slack.com/services/",), back=8, reach=160),
    Provider("Square token", "square_oauth", "SquareOAuthDetector", ("sq0csp-",)),
    Provider("Stripe key", "stripe", "StripeDetector", ("k_live_",), back=1),
)
"""What the library is asked for; the other forms, passwords and randomness have modules of their own."""


def find(text: str, words: str) -> Iterator[Finding]:
    """Yield the keys in a text, each to the end of its characters; `words` are the long words of the text."""
    for provider in PROVIDERS:
        place = text if provider.beside else words
        if any(map(place.__contains__, provider.hints)) and compiled(provider.gate, ASCII).search(words):
            anchor = provider.anchor or "|".join(map(escape, provider.hints))
            yield from anchored(text, anchor, partial(_asked, provider))


def _asked(provider: Provider, match: Match[str]) -> Iterator[Finding]:
    """Ask a detector around an anchor, within its line."""
    text, at = match.string, match.start()
    if provider.module == "jwt" and (_continues(text, at) or compiled(_JWT, ASCII).match(text, at) is None):
        return
    first = max(at - provider.back, text.rfind("\n", max(0, at - provider.back), at) + 1)
    end = text.find("\n", at, at + provider.reach)
    last = min(len(text), at + provider.reach) if end < 0 else end
    for pattern in _detector(provider.module, provider.detector).denylist:
        # Two things are read out of the AWS detector: ids, and secrets beside a name that tells.
        if provider.module == "aws" and bool(pattern.groups) != provider.group:
            continue
        key = pattern.search(text, first, last) if provider.back else pattern.match(text, first, last)
        if key is None or (provider.module == "jwt" and not _is_token(key.group())):
            continue
        group = 1 if provider.group and pattern.groups and key.group(1) else 0
        if group or not _continues(text, key.start()):
            yield secret(provider.rule, key.start(group), _whole(text, key.end(group)))
            return


def _is_token(key: str) -> bool:
    valid: bool = _detector("jwt", "JwtTokenDetector").is_formally_valid(key)
    return valid


def _continues(text: str, start: int) -> bool:
    """Tell whether a key only begins inside a longer word, so that it is none."""
    both = text[max(0, start - 1) : start + 1]
    return len(both) == 2 and both.isascii() and both.isalnum()


def _whole(text: str, end: int) -> int:
    """Return where a key really ends: newer ones are longer than the library's patterns expect."""
    tail = compiled(r"(?:(?<=[\w\-.])[\w\-]|\.(?=[\w\-]))*[+/=]*", ASCII).match(text, end)
    return end if tail is None else tail.end()


@cache
def _detector(module: str, name: str) -> Any:
    return getattr(importlib.import_module(f"detect_secrets.plugins.{module}"), name)()
