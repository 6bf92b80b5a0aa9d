"""The secrets of a text, and the text without them.

What a secret looks like is the table `RULES`, a row for each form. What follows a name
(`DB_PASSWORD=…`) and what looks drawn at random takes more than an expression to tell from code and
ids.
"""

import binascii
import math
from base64 import b64decode
from collections.abc import Callable, Iterable, Iterator
from re import Match
from typing import NamedTuple

from workbench.core.safety import Finding, secret
from workbench.safety.folding import compiled

# Whether a value is a password or a key, or a name, a call, a placeholder.


_NOTHING = frozenset(
    {
        "password", "passwd", "pass", "pwd", "passphrase", "secret", "secrets", "token", "key", "credentials", "none",
        "null", "nil", "true", "false", "string", "str", "int", "bytes", "required", "optional", "missing", "invalid",
        "expired", "redacted", "hidden", "unset", "empty", "undefined", "default", "user", "username", "postgres",
        "root", "admin", "guest", "test", "demo", "example", "value", "text", "prompt",
    }
)  # fmt: skip
_STAND_IN = (
    "your", "example", "placeholder", "redacted", "changeme", "change-me", "change_me", "change me", "xxxx", "***",
    "dummy", "insert", "<", "${", "{{",
)  # fmt: skip
_NAME_OF_VALUE = (
    "passw", "passphrase", "pwd", "secret", "token", "credential", "apikey", "api_key", "accesskey", "access_key",
    "privatekey", "private_key",
)  # fmt: skip
_CODE = (
    r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+\Z|[A-Za-z_]*(?:[._\-/][A-Za-z_]*)*\Z|"
    r"(?:https?|file)://|[~.]{0,2}/|v?\d+(?:\.\d+)+"
)
_VARIABLE = r"[A-Za-z]+(?:_[A-Za-z]+)*_?\d{0,2}\Z|[a-z]+\d{0,2}(?:_[a-z]+\d{0,2})+\Z"
_PATH = r"[&*]?[A-Za-z_$@][\w$]{0,80}(?:(?:[?!]?\.|->|::)[A-Za-z_]\w{0,80}){0,8}"
_EXPRESSION = (
    rf"{_PATH}(?:<[\w\s.:?]{{1,60}}>)?(?:\([^\n]{{0,400}}?\)|\[[\w\s+\-*:.,\"'$()]{{0,80}}\])(?![\w!@#$%^~])|"
    rf"{_PATH}\([^\n]{{0,200}},[ \t]*\n|"
    r"[A-Za-z_]\w{0,80}(?:\.\w{1,80}){0,8}(?:(?:\?\.|->)[a-z_]\w*|::\w+)[\w.?]{0,80}!?(?=[\s,;)\]}]|\Z)|"
    r"[A-Za-z][a-z]{0,20}\d{1,5}(?:[A-Z][a-z]{1,20}){0,5}"
    r"(?:Array|Buffer|Bytes|Client|Hash|Id|Key|Secret|Str|String|Token|Type|Value)\d?(?=[\s,;)\]}=?|]|\Z)"
)
"""A call, an element, an attribute with other signs than points, and a type or name in camel case,
as code has them.
"""
_CONCATENATED = r"\+\s?[A-Za-z_][\w.]*\s?\+\Z|\.\s?\$\w+\s?\.\Z"
_SLUG = r"(?:[A-Za-z]{2,}|\d{1,8}|[vV]\d{1,3})(?:[-_.](?:[A-Za-z]{2,}|\d{1,8}|[vV]\d{1,3})){2,}\Z"
_MAIL = r"[\w.+\-]+@[\w\-]+(?:\.[\w\-]+)*\.[A-Za-z]{2,24}\Z"


def is_placeholder(value: str) -> bool:
    """Tell whether a value only stands for one: `<password>`, `${DB_PASS}`, `xxxx`, `changeme`."""
    low = value.lower()
    return (
        low in _NOTHING
        or low.startswith(("$", "%", "<", "{", "[", "(", "*", "…", "...", "#{", "\\("))
        or low.count(low[:1]) == len(low)
        or any(map(low.__contains__, _STAND_IN))
    )


def is_password(value: str, *, quoted: bool = True) -> bool:
    """Tell whether a value may be a password that a person chose."""
    if len(value) < 6 or not (
        value.isdigit() or _is_mixed(value) or any(char in "!@#$%^&*+?~" for char in value)
    ):
        return False
    return _is_literal(value) and (quoted or "_" not in value or not _is_variable(value))


def is_key(value: str, *, quoted: bool = True) -> bool:  # noqa: ARG001 - asked as `is_password` is
    """Tell whether a value may be a key or token that a machine made."""
    return (
        len(value) >= 8
        and _is_mixed(value)
        and not _is_variable(value)
        and not _is_slug(value)
        and _is_literal(value)
    )


def _is_expression(text: str, start: int) -> bool:
    """Tell whether a call, an element, an attribute or a type of code begins there."""
    return compiled(_EXPRESSION).match(text, start) is not None


def _is_variable(value: str) -> bool:
    """Tell whether a value is a name as code has them: `login_result2`."""
    return compiled(_VARIABLE).match(value) is not None


def _is_slug(value: str) -> bool:
    """Tell whether a value is a few words and numbers with hyphens between:
    `refresh-token-rotation-2024`.
    """
    return (
        compiled(_SLUG).match(value) is not None
        and compiled(r"[A-Za-z]{4}").search(value) is not None
    )


def _is_literal(value: str) -> bool:
    low = value.lower().lstrip(":@&*")
    if is_placeholder(value) or compiled(f"{_CODE}|{_CONCATENATED}").match(value):
        return False
    # A name such as `spotify_password` is a variable, while a password may well hold the word and
    # more.
    return not (
        any(map(low.__contains__, _NAME_OF_VALUE))
        and (_is_slug(value) or compiled(r"[\w\-./]*[A-Za-z_]\d?\Z").match(low) is not None)
    )


def _is_mixed(value: str) -> bool:
    return any(char.isdigit() for char in value) and any(char.isalpha() for char in value)


# What has a form of its own: keys whose beginning tells who issued them, blocks, logins and
# headers, and passwords that command lines carry.


def _is_given(_found: str, value: str) -> bool:
    """Tell whether something stands behind an option, and not only in the place of it."""
    return len(value) >= 3 and not is_placeholder(value)


def _is_option(found: str, value: str) -> bool:
    return _is_given(found, value) and (is_key(value) or ("pass" in found and is_password(value)))


def _is_login(_found: str, value: str) -> bool:
    """Tell whether a login is only encoded: `user:password` in Base64."""
    try:
        plain = b64decode(value, validate=True)
    except binascii.Error:
        return False
    return b":" in plain and plain.isascii()


def _is_drawn(_found: str, value: str) -> bool:
    """Tell whether a word behind `Bearer` can be a token: no word of a sentence has a digit or
    mixes its cases.
    """
    mixed = any(char.isdigit() for char in value) or not (
        value.islower() or value.isupper() or value.istitle()
    )
    return mixed and not is_placeholder(value)


def _is_block(_found: str, value: str) -> bool:
    """Tell whether there is key material: a sentence may name the first line of a block and the
    last.
    """
    return compiled(r"[A-Za-z0-9+/]{16}").search(value, len("-----BEGIN ")) is not None


class Rule(NamedTuple):
    """One form of secret: what stands in the last group that matches, or else the whole match.

    It is looked for where a text holds `hint`, and counts when the line before it names one of the
    `commands`, if there are any, and what was found and the value in it fit.
    """

    rule: str
    hint: str
    pattern: str
    fits: Callable[[str, str], bool] | None = None
    commands: tuple[str, ...] = ()


_MIXED = r"(?=[a-zA-Z_\-]{0,64}+\d)(?=[a-z\d_\-]{0,64}+[A-Z])"

KEYS = (
    Rule("Anthropic key", "sk-ant-", r"sk-ant-[\w\-]{16,}"),
    Rule("OpenRouter key", "sk-or-", r"sk-or-v1-[0-9a-f]{32,}"),
    Rule("OpenAI key", "sk-", rf"sk-(?:[0-9a-f]{{32,}}|{_MIXED}[\w\-]{{20,}})"),
    Rule("GitHub token", "gh", r"gh[pousr]_\w{36,}|github_pat_\w{22,}"),
    Rule("GitHub token", "github_pat_", r"github_pat_\w{22,}"),
    Rule("GitLab token", "gl", r"gl(?:pat|dt|ft|soat|rt|cbt|imt|ptt|agent|oas)-[\w\-]{20,}"),
    Rule("GitLab token", "GR1348941", r"GR1348941[\w\-]{20,}"),
    Rule("AWS key", "A", r"(?:A3T[A-Z0-9]|ABIA|ACCA|AKIA|ASIA)[0-9A-Z]{16,}"),
    Rule("Azure key", "AccountKey=", r"AccountKey=[A-Za-z0-9+/=]{88}"),
    Rule("Google key", "AIza", r"AIza[\w\-]{30,}"),
    Rule("Google token", "ya29.", r"ya29\.[\w\-.]{20,}"),
    Rule("Google secret", "GOCSPX-", r"GOCSPX-[\w\-]{20,}"),
    Rule("Slack token", "xox", r"xox[a-z](?:\.xox[a-z])?-[\w\-]{10,}"),
    Rule("Slack token", "xapp-", r"xapp-\d-[\w\-]{20,}"),
    Rule("Slack webhook", "hooks.slack.com", r"https://hooks\.slack\.com/services/T\w+/B\w+/\w+"),
    Rule("Stripe key", "k_", r"[rs]k_(?:live|test)_\w{16,}"),
    Rule("Stripe secret", "whsec_", r"whsec_[\w+/=]{24,}"),
    Rule("Square token", "sq0csp-", r"sq0csp-[\w\-\\]{43,}"),
    Rule("SendGrid key", "SG.", r"SG\.[\w\-]{22}\.[\w\-]{43,}"),
    Rule("Hugging Face token", "hf_", r"hf_[A-Za-z0-9]{30,}"),
    Rule(
        "npm token",
        ":_auth",
        r":_auth(?:Token)?=[\"']?((?:npm_[^\s\"']|[A-Za-z0-9+/\-]{16})[^\s\"']*)",
    ),
    Rule("npm token", "npm_", r"npm_[A-Za-z0-9]{36,}"),
    Rule("PyPI token", "pypi-Ag", r"pypi-Ag[\w\-]{70,}"),
    Rule("Groq key", "gsk_", r"gsk_[A-Za-z0-9]{40,}"),
    Rule("xAI key", "xai-", r"xai-[A-Za-z0-9]{40,}"),
    Rule("DigitalOcean token", "_v1_", r"do[opr]_v1_[0-9a-f]{40,}"),
    Rule("Databricks token", "dapi", r"dapi[0-9a-f]{32}(?:-\d)?"),
    Rule("Vault token", "hvs.", r"hvs\.[\w\-]{24,}"),
    Rule("Shopify token", "shp", r"shp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}"),
    Rule("Docker token", "dckr_pat_", r"dckr_pat_[\w\-]{20,}"),
    Rule("Linear key", "lin_api_", r"lin_api_\w{32,}"),
    Rule("age key", "AGE-SECRET-KEY-", r"AGE-SECRET-KEY-1[0-9A-Z]{40,}"),
    Rule("Mailchimp key", "-us", r"[0-9a-f]{32}-us\d{1,2}(?!\w)"),
    Rule("Twilio key", "SK", r"SK[0-9a-f]{32}(?!\w)"),
    Rule("Telegram token", ":AA", r"\d{8,10}:AA[\w\-]{33,40}"),
    Rule("Discord token", ".", r"[MNO][\w\-]{23,27}\.[\w\-]{6}\.[\w\-]{27,60}"),
    Rule("Artifactory key", "AKC", r"AKC[a-zA-Z0-9]{10,}(?=[\s\"']|\Z)"),
    Rule("JWT", "eyJ", r"eyJ[\w\-=]{15,4000}+\.[\w\-=]{8,}(?:\.[\w\-.+/=]*)?"),
)
"""Keys that a text holds in a long word, the more particular ones first; no word goes on at their
beginning.
"""

_SLASH = r"\\(?!\\{0,6}[\"'])"
"""A backslash that is part of a value: those before a quote escape it, in JSON within JSON several
of them.
"""
_INSIDE = rf"((?:[^\"\\\n]|{_SLASH}){{1,200}})"
_ARGUMENT = (
    rf"(?:\\{{1,7}}\"{_INSIDE}\\{{1,7}}\"|\"([^\"\n]{{1,200}})\"|'([^'\n]{{1,200}})'|"
    rf"((?:[^\s\"'`;|&)\\]|{_SLASH}){{1,200}}))"
)
"""A value: between quotes, which stand escaped where the command is a string in code or in JSON, or
without any.
"""
_USER = r"[^\s:\"'/]{1,100}:"
_PAIR = rf"(?:\\{{0,7}}\"{_USER}{_INSIDE}|'{_USER}([^'\n]{{1,200}})|{_USER}{_ARGUMENT})"
_NO_PORTS = r"(?![\d.:]{1,20}:\d{2,5}(?:/\w{3})?(?!\S))"
"""Not for ports that a container publishes, one for another."""
_WHO = r"(?:\s{1,8}(?:login|account)\s{1,8}\S{1,100})"
_NETRC = r"\s{1,8}password\s{1,8}"
_OPTIONS = r"(?:password|passwd|passphrase|token|secret|api-?key|access-key|secret-key)"
_HEAD = r"(?:[a-z0-9]{1,12} ){0,4}private key(?: block)?"
_BREAK = r"(?:\\r)?(?:\\n|\s)"
_KEY_LINES = rf"(?:{_BREAK}{{1,3}}[a-z0-9+/=]{{16,}})*(?:(?:\\r)?(?:\\n|\n)[a-z0-9+/=]{{1,63}}(?=[\s\\]|\Z))?"
_PUTTY = r"putty-user-key-file-\d:"

PLACED = (
    Rule(
        "private key", "private key",
        rf"-----begin {_HEAD}-----(?:(?:(?!-----begin)[\s\S]){{0,16000}}?-----end {_HEAD}-----|{_KEY_LINES})",
        _is_block,
    ),
    Rule(
        "private key", "putty-user-key-file",
        rf"{_PUTTY}(?:(?:(?!{_PUTTY})[\s\S]){{0,16000}}?private-mac: ?[0-9a-f]+|"
        rf"[^\n]{{0,256}}\n(?:(?!{_PUTTY})[^\n]{{0,256}}\n){{0,80}})",
        _is_block,
    ),
    Rule("AWS secret", "aws", r"aws.{0,20}?(?:key|pwd|pw|pass|token).{0,20}?[\"']([0-9a-z/+]{40})[\"']"),
    Rule("password", "://", r"""://[^\s:/@"'<>`]{0,200}:([^\s/"'<>`]{1,400})@(?=[\w\[\-.$])""", _is_given),
    Rule("access token", "bearer", r"\bbearer\s{1,3}([\w\-.~+/]{12,}=*)", _is_drawn),
    Rule(
        "access token", "authorization",
        r"\bauthorization[\"']?\s{0,3}[:=]\s{0,3}[\"']?(?:basic|token|apikey)\s{1,3}([\w\-.~+/]{12,}=*)", _is_drawn,
    ),
    Rule("password", "machine", rf"machine\s{{1,8}}\S{{1,200}}{_WHO}{{0,3}}{_NETRC}{_ARGUMENT}", _is_given),
    Rule("password", "default", rf"default{_WHO}{{1,3}}{_NETRC}{_ARGUMENT}", _is_given),
    Rule(
        "password", "-u", rf"(?:-u|--user|--proxy-user)[ =]{{0,2}}{_PAIR}", _is_given,
        ("curl", "http ", "https ", "wget"),
    ),
    Rule("password", " -p", rf"\s-p{_NO_PORTS}{_ARGUMENT}", _is_given, ("mysql", "mariadb", "mycli", "7z ", "sshpass")),
    Rule(
        "password", " -p ", rf"\s-p {_NO_PORTS}{_ARGUMENT}", _is_given,
        ("sshpass", "docker login", "podman login", "helm registry login", "mongo", "az login", "oc login", "cf login"),
    ),
    Rule("password", " -a", rf"\s-a ?{_ARGUMENT}", _is_given, ("redis-cli",)),
    Rule("password", "--", rf"--[a-z\-]{{0,24}}?{_OPTIONS}\s{{1,3}}(?!--){_ARGUMENT}", _is_option),
    Rule("password", ":5432:", r":5432:[\w*\-]{1,64}:[\w.*@\-]{1,64}:([^\s:]{4,100})(?=\s|\Z)", _is_given),
    Rule("password", ":*:", r":\*:[\w*\-]{1,64}:[\w.*@\-]{1,64}:([^\s:]{4,100})(?=\s|\Z)", _is_given),
    Rule("password", '"auth"', r"\"auth\"\s{0,3}:\s{0,3}\"([a-z0-9+/]{8,400}={0,2})\"", _is_login),
)  # fmt: skip
"""Secrets that are told by what stands around them; looked for in the text in lower case."""

_LINE = 240
"""Characters of a line that are looked at before an option, for the command it belongs to."""


def _ruled(text: str, low: str) -> Iterator[Finding]:
    """Yield what the rules find; `low` is the text in lower case, as long as the text."""
    if compiled(r"\S{20}").search(text):
        for rule in KEYS:
            if rule.hint in text:
                yield from _matches(rule, rf"(?<![A-Za-z0-9])(?:{rule.pattern})", text, text)
    for rule in PLACED:
        if rule.hint in low:
            yield from _matches(rule, rule.pattern, text, low)


def _matches(rule: Rule, pattern: str, text: str, where: str) -> Iterator[Finding]:
    at = 0
    while (match := compiled(pattern).search(where, at)) is not None:
        start, end = match.span(match.lastindex or 0)
        if _names_command(match, rule.commands) and (
            rule.fits is None or rule.fits(match.group(), text[start:end])
        ):
            yield secret(rule.rule, start, end)
            at = end
        else:  # what does not fit may hold the beginning of what does
            at = match.start() + 1


def _names_command(match: Match[str], commands: tuple[str, ...]) -> bool:
    line = match.string[max(0, match.start() - _LINE) : match.start()].rpartition("\n")[2]
    return not commands or any(map(line.__contains__, commands))


# Values behind a name that says what they are: `DB_PASSWORD=…`, `"api_key": "…"`, “the password is
# …”.


_CAPITALS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"
_NAMING = f"{_CAPITALS}{_CAPITALS.lower()}-"

_NAMES = (
    ("password", ("pass", "pwd"), "password|passwd|passphrase|passcode|_pass|pwd"),
    ("access token", ("token",), "token"),
    ("secret", ("secret", "credential"), "secret|credentials|credential"),
    (
        "API key",
        ("key",),
        "(?:api|access|account|private|secret)[_-]?key|api key|(?:auth|signing|encryption|client|master)_key",
    ),
)
"""What values are called, what all names of a kind hold, and the names."""

_TAIL = r"(?:[_-]?(?:\d{1,3}|prod|production|dev|test|staging|live|value|b64|base64|key))?"
_SIGN = r"\\{0,3}[\"'`\])]{0,3}\s{0,4}(?P<sign>:=|=>|[=!]={1,2}|=|:)\s{0,4}"
_QUOTED = r"\\{0,3}(?P<quote>[\"'`])(?P<quoted>[^\n\"'`]{3,399}[^\n\"'`\\])\\{0,3}(?P=quote)"
"""A value in quotes; in JSON within JSON a backslash or three stand before each of them."""
_BARE = r"(?P<bare>[^\s\"'`,;<>(){}\[\]|]{4,400})(?P<next>.?)"
_PROSE = r"\s{1,2}(?P<verb>is|was|to|=)\s{1,2}[\"'`“]?(?P<said>[^\s\"'`“”]{6,100})"
_NEXT = r"(?:[&;,]|\\[nrt])(?:[A-Z]?[a-z]{3,}(?:[_\-]?[A-Z]?[a-z]+)*|[A-Z_]{3,})=|</|\\[nrt](?:[\w.\-]{1,40}:|\Z)"
"""What ends a value though no space does: the next parameter or assignment, a tag, the end of a
line in a string.
"""


def _named(text: str, low: str) -> Iterator[Finding]:
    """Yield the values behind names; `low` is the text in lower case, as long as the text."""
    if not any(sign in text for sign in ("=", ":", " is ", " was ")):
        return
    for rule, stems, names in _NAMES:
        fits = is_password if rule == "password" else is_key
        at = 0
        name = compiled(names).search(low) if any(map(low.__contains__, stems)) else None
        while name is not None:
            at = name.start() + 1
            for start, end in _values(text, name.end(), fits):
                yield secret(rule, start, end)
                at = max(at, end)
            name = compiled(names).search(low, at)


Fits = Callable[..., bool]


def _values(text: str, at: int, fits: Fits) -> Iterator[tuple[int, int]]:
    """Yield where the value stands of a name that ends at `at`: one that is assigned, or that a
    sentence says.
    """
    assigned = compiled(rf"{_TAIL}{_SIGN}@?(?:{_QUOTED}|{_BARE})").match(text, at)
    if assigned is not None and (span := _assigned(assigned, fits)) is not None:
        yield span
    said = compiled(_PROSE).match(text, at) if fits is is_password else None
    if said is not None:
        start = said.start("said")
        value = _ended(text, *said.span("said")).rstrip(".,;:!?)")
        code = _is_expression(text, start) or (
            said["verb"] == "to" and compiled(_MAIL).match(value) is not None
        )
        if not code and is_password(value) and not (said["verb"] == "=" and _is_variable(value)):
            yield start, start + len(value)


def _assigned(match: Match[str], fits: Fits) -> tuple[int, int] | None:
    text, at, sign = match.string, match.start(), match["sign"]
    before = text[max(0, at - 80) : at].rstrip(_NAMING)[-2:]
    if before == "${" and sign == ":" and text[match.end("sign")] in "-=?+":
        return None  # what a shell takes when the variable is not set
    if match["quoted"] is not None:
        value = match["quoted"]
        return match.span("quoted") if " " not in value.strip() and fits(value) else None
    start = match.start("bare")
    code = _is_expression(text, start)
    if text[at - 1] in _CAPITALS and sign == "=" and compiled(r"[A-Z0-9_]*+=\S").match(text, at):
        # A line of an .env file or a shell: everything to the next space is the value.
        rest = compiled(r"[^\s\"'`]{4,400}").match(text, start)
        value = _ended(text, start, rest.end() if rest else match.end("bare")).rstrip(",;")
        return (start, start + len(value)) if not code and fits(value) else None
    # In an address the next parameter follows.
    value = (
        compiled(r"&[\w.\-]+=")
        .split(_ended(text, *match.span("bare")), maxsplit=1)[0]
        .rstrip(".:!?")
    )
    # A part of a path, `…/token=abc123/notes.md`; and without quotes nobody compares with a
    # password.
    if (
        (before[-1:] == "/" and "/" in value)
        or code
        or match["next"] in ("(", "[", "{")
        or "==" in sign
    ):
        return None
    return (
        (start, start + len(value))
        if not is_placeholder(value) and fits(value, quoted=False)
        else None
    )


def _ended(text: str, start: int, end: int) -> str:
    """Return a value without what follows it: a parameter, a tag, a bracket that was opened before
    it in its line.
    """
    value = compiled(_NEXT).split(text[start:end], maxsplit=1)[0]
    line = text[max(0, start - 200) : start].rpartition("\n")[2]
    for opening, closing in ("()", "[]", "{}"):
        if opening in line and value.count(closing) > value.count(opening):
            value = value.rstrip(closing)
    return value


# Words that look drawn at random: keys of nobody known.


LEAST_ENTROPY = 3.6
"""Bits per character. Random letters and digits have 4.1 at 24 characters, English 3.5 to 4 at any
length.
"""

LONGEST_PIECES = 2.7
"""Characters per piece of a word that is parted as a name in camel case: below 2.2 at random, 3.5
in a name.
"""

_RUN = r"[\w\-+/]{24,}"
"""Shorter words are ids; longer ones than 256 characters are data."""

_TOLD = (
    r"(?i:sha(?:1|224|256|384|512)[-:=_]|md5[-:=]|h1:|base64,|integrity[\"']?\s?[:=]\s?[\"']?|"
    r"(?:etag|if-(?:none-)?match|digest|checksum|fingerprint)[\"']?\s?[:=]?\s?(?:w/)?[\"'`]?(?:w/)?[\"'`]?)\Z"
)
_KNOWN = (
    r"(?:toolu|(?:agent_)?msg|call|chatcmpl|req|resp|run|thread|asst|file|batch|evt|cus|prod|price|sub|ch|pi|srvtoolu)_"
    r"|(?:chatcmpl|call|msg|req|file)-|AAAA[BCE][23][NV]|Qm[1-9A-HJ-NP-Za-km-z]{44}\b|sha(?:1|224|256|384|512)-|iVBORw0KGgo|/9j/|R0lGOD|UklGR|JVBERi|H4sI|UEsDB"
)
"""Ids that services print, digests, public keys, and the first bytes of pictures and archives."""

_PIECE = r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+"
_NAME = r"[A-Z]?[a-z]{4,}(?:[-_][A-Z]?[a-z]{4,}|[A-Z][a-z]{4,})*\d{0,3}\Z"


def _random(text: str) -> Iterator[Finding]:
    """Yield the random-looking words in a text, addresses and digests left out."""
    for run in compiled(_RUN).finditer(text):
        start, end = run.span()
        if (
            end - start <= 256
            and looks_random(run.group())
            and not compiled(_KNOWN).match(text, start)
        ):
            line = text[max(0, start - 300) : start].rpartition("\n")[2]
            address = line[-1:].strip() and "://" in line.split()[-1]
            if not address and compiled(_TOLD).search(line[-24:]) is None:
                while text.startswith("=", end):
                    end += 1
                yield secret("high-entropy string", start, end)


def looks_random(word: str) -> bool:
    """Tell whether a word (ASCII) mixes lower case, upper case and digits as only chance does."""
    if "/" in word:
        # A line of a key block that begins with a slash is no path.
        is_path = word[0] == "-" or (word[0] == "/" and len(word) not in (64, 70, 76))
        if is_path or any(compiled(_NAME).match(part) for part in word.split("/")):
            return False
    plain = [char for char in word if char.isalnum()]
    lower, upper, digits = (
        sum(map(kind, plain)) for kind in (str.islower, str.isupper, str.isdigit)
    )
    if digits < 2 or lower < 3 or upper < 3 or (len(word) - len(plain)) * 6 > len(word):
        return False
    return entropy(plain) >= LEAST_ENTROPY and len(plain) <= LONGEST_PIECES * len(
        compiled(_PIECE).findall(word)
    )


def entropy(word: str | list[str]) -> float:
    """Return the Shannon entropy of a word's characters, in bits per character."""
    counts = [word.count(char) for char in set(word)]
    return math.log2(len(word)) - sum(count * math.log2(count) for count in counts) / len(word)


_MARKER = r"\[secret: ([A-Za-z-]{2,16}(?: [A-Za-z-]{2,16}){0,3})\]"
"""A marker names a kind of secret, in words: what else stands in such brackets is looked at like
all text.
"""


def lowered(text: str) -> str:
    """Return the text in lower case, as long as the text; ASCII only where the full rules would
    lengthen it.
    """
    low = text.lower()
    return (
        low
        if len(low) == len(text)
        else text.translate({upper: upper + 32 for upper in range(65, 91)})
    )


def find_secrets(text: str) -> list[Finding]:
    """Return the secrets of a text in order, none within another.

    What a marker names is no name of a value behind it, and no part of a secret.
    """
    if "[secret: " in text:
        text = compiled(_MARKER).sub(lambda marked: f"[{' ' * (len(marked.group()) - 2)}]", text)
    low = lowered(text)
    found: list[Finding] = []
    for finding in sorted(
        (*_ruled(text, low), *_named(text, low), *_random(text)), key=lambda one: one.start
    ):
        if found and finding.start < found[-1].end:
            # The name of the one that begins first stays: forms are more particular than names and
            # chance.
            found[-1] = found[-1]._replace(end=max(found[-1].end, finding.end))
        else:
            found.append(finding)
    return found


def mask(text: str) -> str:
    """Return a text with each secret replaced by a marker that names it; line breaks stay where
    they are.
    """
    for _ in range(6):  # what only shows once the first secrets are gone is masked as well
        found = find_secrets(text)
        if not found:
            break
        text = without(text, found)
    return text


def marker(rule: str) -> str:
    """Return what stands in the place of a secret."""
    return f"[secret: {rule}]"


def masked_rules(text: str) -> tuple[str, ...]:
    """Return what the markers in a text stand for, each once, in order."""
    return tuple(dict.fromkeys(compiled(_MARKER).findall(text)))


def without(text: str, found: Iterable[Finding]) -> str:
    """Return a text with a marker for each finding; they are in order, none within another."""
    parts, at = [], 0
    for finding in found:
        breaks = compiled(r"[\r\n]").findall(text, finding.start, finding.end)
        parts += [text[at : finding.start], marker(finding.rule), *breaks]
        at = finding.end
    return "".join((*parts, text[at:]))
