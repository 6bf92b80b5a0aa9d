"""Keys and tokens in the forms that the detect-secrets library knows, which is loaded when a text hints at one.

Its detectors are asked for their patterns only. Its own scan works line by line on a global settings object,
returns values without places, of some tokens only the prefix, and of a JWT all but the signature.
"""

import importlib
from collections.abc import Iterator
from functools import cache
from re import ASCII
from typing import Any, NamedTuple

from workbench.safety.finding import Finding, secret
from workbench.safety.lowering import compiled


class Provider(NamedTuple):
    """A detector of the library, and when to ask it.

    A text must hold one of `hints` and match `gate`, both far cheaper than loading the library. With `group`
    the secret is what a pattern's first group holds, where it has one; otherwise the whole match. The hint
    stands in a long word of the text, the key's own, unless it may stand `beside` that.
    """

    rule: str
    module: str
    detector: str
    hints: tuple[str, ...]
    gate: str = ""
    group: bool = False
    beside: bool = False


_GITLAB = (
    "glpat-", "gldt-", "glft-", "glsoat-", "glrt-", "GR1348941", "glcbt-", "glimt-", "glptt-", "glagent-", "gloas-",
)  # fmt: skip

PROVIDERS = (
    Provider("AWS key", "aws", "AWSKeyDetector", ("AKIA", "ASIA", "ABIA", "ACCA", "A3T"), r"[0-9A-Z]{20}", group=True),
    Provider("AWS secret", "aws", "AWSKeyDetector", ("aws", "AWS", "Aws"), r"[0-9a-zA-Z/+]{40}", True, True),
    Provider("Azure key", "azure_storage_key", "AzureStorageKeyDetector", ("AccountKey=",)),
    Provider("Cloudant key", "cloudant", "CloudantDetector", ("cloudant",), "", True, True),
    Provider("Artifactory key", "artifactory", "ArtifactoryDetector", ("AKC",), r"AKC[a-zA-Z0-9]{10}"),
    Provider("GitHub token", "github_token", "GitHubTokenDetector", ("ghp_", "gho_", "ghu_", "ghs_", "ghr_")),
    Provider("GitLab token", "gitlab_token", "GitLabTokenDetector", _GITLAB),
    Provider("JWT", "jwt", "JwtTokenDetector", ("eyJ",), r"eyJ[\w\-=]{5,}\.[\w\-=]"),
    Provider("npm token", "npm", "NpmDetector", (":_authToken",), group=True),
    Provider("OpenAI key", "openai", "OpenAIDetector", ("T3BlbkFJ",)),
    Provider("PyPI token", "pypi_token", "PypiTokenDetector", ("pypi-Ag",)),
    Provider("SendGrid key", "sendgrid", "SendGridDetector", ("SG.",), r"SG\.[\w\-]{22}\."),
    Provider("Slack webhook", "slack", "SlackDetector", ("hooks.slack.com/services/",)),
    Provider("Square token", "square_oauth", "SquareOAuthDetector", ("sq0csp-",)),
    Provider("Stripe key", "stripe", "StripeDetector", ("k_live_",)),
    Provider("Telegram token", "telegram_token", "TelegramBotTokenDetector", (":AA",), r"\d{8,10}:[\w\-]{35}"),
    Provider("Discord token", "discord", "DiscordBotTokenDetector", (".",), r"[MNO][\w\-]{23,25}\."),
)
"""What the library is asked for; passwords in addresses, assignments and randomness have modules of their own."""


def find(text: str, words: str) -> Iterator[Finding]:
    """Yield the keys in a text, line by line, each to the end of its characters.

    `words` are the long words of the text.
    """
    for provider in PROVIDERS:
        place = text if provider.beside else words
        if any(map(place.__contains__, provider.hints)) and compiled(provider.gate, ASCII).search(words):
            at = 0
            for line in text.splitlines(keepends=True):
                yield from _in_line(provider, line, at)
                at += len(line)


def _in_line(provider: Provider, line: str, at: int) -> Iterator[Finding]:
    if not any(map(line.__contains__, provider.hints)):
        return
    detector = _detector(provider.module, provider.detector)
    for pattern in detector.denylist:
        for match in pattern.finditer(line):
            # Two things are read out of the AWS detector: ids, and secrets beside a name that tells.
            if provider.module == "aws" and bool(pattern.groups) != (provider.rule == "AWS secret"):
                continue
            if provider.module == "jwt" and not detector.is_formally_valid(match.group()):
                continue
            group = 1 if provider.group and pattern.groups and match.group(1) else 0
            start, end = match.span(group)
            if not _continues(line, start, group):
                yield secret(provider.rule, at + start, at + _whole(line, start, end))


def _continues(line: str, start: int, group: int) -> bool:
    """Tell whether a key only begins inside a longer word, so that it is none."""
    both = line[max(0, start - 1) : start + 1]
    return group == 0 and len(both) == 2 and both.isascii() and both.isalnum()


def _whole(line: str, start: int, end: int) -> int:
    """Return where a key really ends: newer ones are longer than the library's patterns expect."""
    tail = compiled(r"(?:(?<=[\w\-.])[\w\-]|\.(?=[\w\-]))*[+/=]*", ASCII).match(line, end)
    return tail.end() if tail is not None and line[start:end].strip() == line[start:end] else end


@cache
def _detector(module: str, name: str) -> Any:
    return getattr(importlib.import_module(f"detect_secrets.plugins.{module}"), name)()
