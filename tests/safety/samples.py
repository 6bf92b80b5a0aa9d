"""Secrets that are put together when they are asked for, so that no scanner finds one in the
repository.
"""

import base64
import json
import random
import string

ALNUM = string.ascii_letters + string.digits
UPPER = string.ascii_uppercase + string.digits
HEX = "0123456789abcdef"


def drawn(length: int, alphabet: str = ALNUM, seed: int = 7) -> str:
    """Return random characters, the same ones every time."""
    dice = random.Random(f"{seed}:{length}:{alphabet}")
    return "".join(dice.choice(alphabet) for _ in range(length))


def jwt() -> str:
    """Return a token of three parts, as a server would sign it."""
    head, body = ({"alg": "HS256", "typ": "JWT"}, {"sub": "42", "name": "Ada"})
    parts = (
        base64.urlsafe_b64encode(json.dumps(part).encode()).decode().rstrip("=")
        for part in (head, body)
    )
    return ".".join((*parts, drawn(43, ALNUM + "-_")))


def private_key(kind: str = "RSA ", lines: int = 3) -> str:
    """Return a private key block; what is between its lines is random."""
    mark = "PRIVATE" + " KEY"
    body = "\n".join(drawn(64, ALNUM + "+/", seed) for seed in range(lines))
    return f"-----BEGIN {kind}{mark}-----\n{body}\n-----END {kind}{mark}-----"


def keys() -> dict[str, tuple[str, str]]:
    """Return keys by a name of ours: the rule that must find each, and the key."""
    return {
        "aws": ("AWS key", "AK" + "IA" + drawn(16, UPPER)),
        "anthropic": ("Anthropic key", "sk-" + "ant-api03-" + drawn(93, ALNUM + "-_")),
        "openai": ("OpenAI key", "sk-" + drawn(20) + "T3Blbk" + "FJ" + drawn(20)),
        "openai project": ("OpenAI key", "sk-" + "proj-" + drawn(120, ALNUM + "-_")),
        "openrouter": ("OpenRouter key", "sk-" + "or-v1-" + drawn(64, HEX)),
        "github": ("GitHub token", "gh" + "p_" + drawn(36)),
        "github fine": ("GitHub token", "github" + "_pat_" + drawn(22) + "_" + drawn(59)),
        "gitlab": ("GitLab token", "gl" + "pat-" + drawn(20)),
        "slack": ("Slack token", "xo" + "xb-123456789012-1234567890123-" + drawn(24)),
        "slack app": ("Slack token", "xa" + "pp-1-A012345-1234567890-" + drawn(64, HEX)),
        "slack hook": (
            "Slack webhook",
            "https://hooks.sl" + f"ack.com/services/T{drawn(8)}/B{drawn(8)}/{drawn(24)}",
        ),
        "stripe": ("Stripe key", "sk_" + "live_" + drawn(24)),
        "stripe long": ("Stripe key", "sk_" + "live_51" + drawn(97)),
        "stripe test": ("Stripe key", "rk_" + "test_" + drawn(24)),
        "google": ("Google key", "AI" + "za" + drawn(35)),
        "google secret": ("Google secret", "GOC" + "SPX-" + drawn(28)),
        "hugging face": ("Hugging Face token", "h" + "f_" + drawn(34)),
        "npm": ("npm token", "np" + "m_" + drawn(36)),
        "pypi": ("PyPI token", "py" + "pi-AgEIcHlwaS5vcmc" + drawn(90)),
        "sendgrid": ("SendGrid key", "S" + "G." + drawn(22) + "." + drawn(43)),
        "telegram": ("Telegram token", "123456789:" + "AA" + drawn(33)),
        "discord": ("Discord token", "M" + drawn(23) + "." + drawn(6) + "." + drawn(27)),
        "azure": ("Azure key", "Account" + "Key=" + drawn(86) + "=="),
        "mailchimp": ("Mailchimp key", drawn(32, HEX) + "-us" + "12"),
        "twilio": ("Twilio key", "S" + "K" + drawn(32, HEX)),
        "digitalocean": ("DigitalOcean token", "do" + "p_v1_" + drawn(64, HEX)),
        "jwt": ("JWT", jwt()),
        "random": ("high-entropy string", drawn(40, seed=11)),
    }
