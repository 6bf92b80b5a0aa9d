"""Keys and tokens that tell by their form who issued them, as far as `providers` does not know them."""

from collections.abc import Iterator
from re import ASCII
from typing import NamedTuple

from workbench.core.safety import Finding, secret
from workbench.safety.lowering import compiled

_NOT_BEHIND = "[A-Za-z0-9]"
"""What stands before no key: it would be a part of a longer word."""


class KeyRule(NamedTuple):
    """One form of key: `pattern` is looked for only when a long word holds `hint`; with a group, the key is that."""

    rule: str
    hint: str
    pattern: str


_MIXED = r"(?=[a-zA-Z_\-]{0,64}+\d)(?=[a-z\d_\-]{0,64}+[A-Z])"

RULES = (
    KeyRule("Anthropic key", "sk-ant-", r"sk-ant-[\w\-]{16,}"),
    KeyRule("OpenRouter key", "sk-or-", r"sk-or-v1-[0-9a-f]{32,}"),
    KeyRule("OpenAI key", "sk-", rf"sk-(?:[0-9a-f]{{32,}}|{_MIXED}[\w\-]{{20,}})"),
    KeyRule("GitHub token", "github_pat_", r"github_pat_\w{22,}"),
    KeyRule("Google key", "AIza", r"AIza[\w\-]{30,}"),
    KeyRule("Google token", "ya29.", r"ya29\.[\w\-.]{20,}"),
    KeyRule("Google secret", "GOCSPX-", r"GOCSPX-[\w\-]{20,}"),
    KeyRule("Slack token", "xox", r"xox[a-z](?:\.xox[a-z])?-[\w\-]{10,}"),
    KeyRule("Slack token", "xapp-", r"xapp-\d-[\w\-]{20,}"),
    KeyRule("Stripe key", "k_test_", r"[rs]k_test_\w{16,}"),
    KeyRule("Stripe secret", "whsec_", r"whsec_[\w+/=]{24,}"),
    KeyRule("Hugging Face token", "hf_", r"hf_[A-Za-z0-9]{30,}"),
    KeyRule("npm token", ":_auth", r":_auth(?:Token)?=[\"']?((?:npm_[^\s\"']|[A-Za-z0-9+/\-]{16})[^\s\"']*)"),
    KeyRule("npm token", "npm_", r"npm_[A-Za-z0-9]{36,}"),
    KeyRule("Groq key", "gsk_", r"gsk_[A-Za-z0-9]{40,}"),
    KeyRule("xAI key", "xai-", r"xai-[A-Za-z0-9]{40,}"),
    KeyRule("DigitalOcean token", "_v1_", r"do[opr]_v1_[0-9a-f]{40,}"),
    KeyRule("Databricks token", "dapi", r"dapi[0-9a-f]{32}(?:-\d)?"),
    KeyRule("Vault token", "hvs.", r"hvs\.[\w\-]{24,}"),
    KeyRule("Shopify token", "shp", r"shp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}"),
    KeyRule("Docker token", "dckr_pat_", r"dckr_pat_[\w\-]{20,}"),
    KeyRule("Linear key", "lin_api_", r"lin_api_\w{32,}"),
    KeyRule("age key", "AGE-SECRET-KEY-", r"AGE-SECRET-KEY-1[0-9A-Z]{40,}"),
    KeyRule("Mailchimp key", "-us", r"[0-9a-f]{32}-us\d{1,2}(?!\w)"),
    KeyRule("Twilio key", "SK", r"SK[0-9a-f]{32}(?!\w)"),
    KeyRule("Telegram token", ":AA", r"\d{8,10}:AA[\w\-]{33,40}"),
    KeyRule("Discord token", ".", r"[MNO][\w\-]{23,27}\.[\w\-]{6}\.[\w\-]{27,60}"),
    KeyRule("Artifactory key", "AKC", r"AKC[a-zA-Z0-9]{10,}(?=[\s\"']|\Z)"),
)
"""The forms, the more particular one first."""


def find(text: str, words: str) -> Iterator[Finding]:
    """Yield the keys in a text; `words` are its long words, one of which a key must be in."""
    for rule in RULES:
        if rule.hint in words:
            for match in compiled(alone(rule), ASCII).finditer(text):
                yield secret(rule.rule, *match.span(match.lastindex or 0))


def alone(rule: KeyRule) -> str:
    """Return the pattern of a key at whose beginning no word goes on.

    Where that can be told behind the hint, the pattern begins with it: only then is a long text passed over at once.
    """
    hint = rule.hint.replace(".", r"\.")
    if rule.pattern.startswith(hint):
        return f"{hint}(?<!{_NOT_BEHIND}{hint}){rule.pattern.removeprefix(hint)}"
    return f"(?<!{_NOT_BEHIND}){rule.pattern}"
