"""What can go wrong with a call, in sentences. Never holds a key."""

import re
from dataclasses import dataclass
from typing import Literal
from urllib.parse import urlsplit

from workbench.core.reflection.llm import LlmSettings
from workbench.core.text import one_line
from workbench.reflect.claude.keys import HOW_TO

Kind = Literal[
    "status", "connection", "timeout", "dropped", "malformed", "no key", "credentials", "broken", "refusal", "cut",
    "empty", "cancelled",
]  # fmt: skip

DEFAULT_URL = "https://api.anthropic.com"
NOWHERE = "an address that names no host"
KEPT = "Nothing in the store was changed."
FEWER = "Lower claude.memories in the config, or mark fewer memories."
_KEY = re.compile(r"sk-ant-[\w-]+")


@dataclass(frozen=True, slots=True)
class Trouble:
    """One failed call. `status` is the HTTP status, `type` the API's name of the error, `said` its own words."""

    kind: Kind
    status: int = 0
    type: str = ""
    said: str = ""


def scrubbed(text: str, secrets: tuple[str, ...]) -> str:
    """Return `text` in one line of at most 200 characters, without any of the secrets or anything like a key."""
    for secret in secrets:
        text = text.replace(secret, "…") if secret else text
    return one_line(_KEY.sub("…", text), 200)


def host_of(url: str | None) -> str:
    """Return the host a call goes to, without names and passwords that an address may hold."""
    return _named_host(url) or NOWHERE


def _named_host(url: str | None) -> str | None:
    try:
        return urlsplit(url or DEFAULT_URL).hostname
    except ValueError:
        return None


def sentences(trouble: Trouble, settings: LlmSettings, url: str | None) -> tuple[str, str]:
    """Return what happened, and what to do."""
    if trouble.kind == "status":
        return _of_status(trouble, settings)
    host = host_of(url)
    if _named_host(url) is None and trouble.kind in ("connection", "timeout", "malformed"):
        hint = f"Unset ANTHROPIC_BASE_URL, or set an address such as {DEFAULT_URL}. {KEPT}"
        return "The address set for Claude names no host, so nothing was sent.", hint
    known: dict[Kind, tuple[str, str]] = {
        "connection": (f"Claude cannot be reached at {host}.", f"Check the network or a proxy. {KEPT}"),
        "timeout": (f"Claude at {host} did not answer in time.", f"Try again later. {KEPT}"),
        "dropped": ("The connection to Claude ended in the middle of the reply.", f"Try again. {KEPT}"),
        "malformed": (f"What came from {host} is no reply of Claude.", f"Check ANTHROPIC_BASE_URL. {KEPT}"),
        "no key": ("There is no API key for Claude.", HOW_TO),
        "credentials": ("The credentials for Claude could not be loaded.", f"Check the profile, or: {HOW_TO}"),
        "broken": ("The call to Claude failed for an unforeseen reason.", KEPT),
        "refusal": ("Claude declined to answer.", f"Reflect on other memories, or word the focus differently. {KEPT}"),
        "cut": (
            f"The reply of Claude was cut off at {settings.max_tokens:,} tokens.",
            "Raise claude.max_tokens in the config.",
        ),
        "empty": ("The reply of Claude was empty.", f"Try again. {KEPT}"),
        "cancelled": ("The call to Claude was cancelled.", KEPT),
    }
    return known.get(trouble.kind, known["broken"])


def _of_status(trouble: Trouble, settings: LlmSettings) -> tuple[str, str]:
    said = f": {trouble.said.rstrip('.')}." if trouble.said else "."
    if trouble.status in (408, 504) or trouble.type == "timeout_error":
        return "Claude did not answer in time.", f"Try again later. {KEPT}"
    if trouble.status == 529 or trouble.type == "overloaded_error":
        return "Claude is overloaded, and stayed so after several tries.", f"Try again in a few minutes. {KEPT}"
    if trouble.status == 429 or trouble.type == "rate_limit_error":
        return "Claude accepts no more requests for now (rate limit).", f"Try again in a few minutes. {KEPT}"
    if trouble.status >= 500 or trouble.type == "api_error":
        return f"Claude's server failed (status {trouble.status}).", f"Try again later. {KEPT}"
    if trouble.status == 413 or "too long" in trouble.said.lower():
        return "What would be sent to Claude is too large.", f"{FEWER} {KEPT}"
    known = {
        401: ("Claude did not accept the API key.", f"{HOW_TO} {KEPT}"),
        402: (f"Claude asks for a payment{said}", f"See the billing page of your account. {KEPT}"),
        403: (
            f"The API key may not use the model {settings.model}{said}",
            f"Set another claude.model in the config. {KEPT}",
        ),
        404: (f"Claude has no model “{settings.model}”.", f"Set claude.model in the config. {KEPT}"),
    }
    other = (f"Claude did not accept the request{said}", f"Check claude.model and claude.temperature. {KEPT}")
    return known.get(trouble.status, other)
