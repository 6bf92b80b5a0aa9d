"""All secrets of a text, and the text without them."""

import binascii
import importlib
import math
from base64 import b64decode
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator
from functools import cache, partial
from re import ASCII, IGNORECASE, Match, escape
from string import ascii_lowercase, ascii_uppercase
from string import digits as all_digits
from typing import Any, NamedTuple

from workbench.core.safety import Finding, secret
from workbench.safety.folding import anchored, compiled, lowered
from workbench.safety.repeated import of_repeated

# Whether what stands behind `password =` is a password, or a name, a call, a placeholder.


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
_VALUES_NAMES = (
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
"""A call, an element, an attribute with other signs than points, and a type or name in camel case, as code has them."""
_CONCATENATED = r"\+\s?[A-Za-z_][\w.]*\s?\+\Z|\.\s?\$\w+\s?\.\Z"
_SLUG = r"(?:[A-Za-z]{2,}|\d{1,8}|[vV]\d{1,3})(?:[-_.](?:[A-Za-z]{2,}|\d{1,8}|[vV]\d{1,3})){2,}\Z"
_SYMBOLS = frozenset("!@#$%^&*+?~")


@of_repeated
def is_placeholder(value: str) -> bool:
    """Tell whether a value only stands for one: `<password>`, `${DB_PASS}`, `xxxx`, `changeme`."""
    low = value.lower()
    return (
        not low
        or low in _NOTHING
        or low[0] in "$%<{[(*…"
        or low.startswith(("...", "#{", "\\("))
        or low.count(low[0]) == len(low)
        or any(map(low.__contains__, _STAND_IN))
    )


@of_repeated
def is_password(value: str, *, quoted: bool) -> bool:
    """Tell whether a value may be a password that a person chose."""
    if len(value) < 6 or not (value.isdigit() or _has_digit_and_letter(value) or not _SYMBOLS.isdisjoint(value)):
        return False
    return _is_literal(value) and (quoted or "_" not in value or not is_variable(value))


@of_repeated
def is_key(value: str) -> bool:
    """Tell whether a value may be a key or token that a machine made."""
    return (
        len(value) >= 8
        and _has_digit_and_letter(value)
        and not is_variable(value)
        and not is_slug(value)
        and _is_literal(value)
    )


def is_expression(text: str, start: int) -> bool:
    """Tell whether a call, an element, an attribute or a type of code begins there."""
    return compiled(_EXPRESSION, ASCII).match(text, start) is not None


def is_variable(value: str) -> bool:
    """Tell whether a value is a name as code has them: `login_result2`."""
    return compiled(_VARIABLE).match(value) is not None


def is_address(value: str) -> bool:
    """Tell whether a value is an address of mail."""
    return compiled(r"[\w.+\-]+@[\w\-]+(?:\.[\w\-]+)*\.[A-Za-z]{2,24}\Z").match(value) is not None


def is_slug(value: str) -> bool:
    """Tell whether a value is a few words and numbers with hyphens between: `refresh-token-rotation-2024`."""
    return compiled(_SLUG, ASCII).match(value) is not None and compiled(r"[A-Za-z]{4}").search(value) is not None


def _is_literal(value: str) -> bool:
    low = value.lower().lstrip(":@&*")
    if is_placeholder(value) or compiled(_CODE, ASCII).match(value) or compiled(_CONCATENATED).match(value):
        return False
    # A name such as `spotify_password` is a variable, while a password may well hold the word and more.
    return not (
        any(map(low.__contains__, _VALUES_NAMES))
        and (is_slug(value) or compiled(r"[\w\-./]*[A-Za-z_]\d?\Z", ASCII).match(low) is not None)
    )


def _has_digit_and_letter(value: str) -> bool:
    return compiled(r"\d").search(value) is not None and compiled(r"[^\W\d_]").search(value) is not None


# Stretches of a long text that are secrets one after the other: known by their beginnings, and one finding each.
#
# A dump of ten thousands of keys is no text that anybody reads, and naming each of them costs many times what looking
# at
# prose of its length does.


RULE = "run of secrets"
"""What a stretch is called."""

LONG = 65_536
"""Characters from which a text is looked at for crowds."""

STRETCH, BEGINNING, CROWD = 16_384, 1_024, 16
"""Characters of a stretch and of its beginning, and how many secrets in that make a crowd of it."""

_BEYOND = 500
"""Characters around a stretch in which its first secret begins and its last one ends: at a line end, else a space."""

_CROWDS_LINE, _SPACE = r"[\r\n]", r"\s"

Find = Callable[[str, str], list[Finding]]


def crowds(text: str, low: str, find: Find) -> list[Finding]:
    """Return the crowded stretches of a text, in order; `low` is the text in lower case, `find` finds the secrets."""
    return list(_crowds(text, low, find)) if len(text) >= LONG else []


def _crowds(text: str, low: str, find: Find) -> Iterator[Finding]:
    at = done = 0
    while at < len(text):
        beginning = slice(at, at + BEGINNING)
        if len(find(text[beginning], low[beginning])) < CROWD:
            at += STRETCH
            continue
        start, end = max(done, _start_of_word(text, at)), _end_of_word(text, at + STRETCH)
        yield secret(RULE, start, end)
        at = done = end


def _start_of_word(text: str, at: int) -> int:
    """Return where the line begins that a place stands in, or the word, or the place itself when neither is near."""
    head = text[max(0, at - _BEYOND) : at]
    for edge in (_CROWDS_LINE, _SPACE):
        ends = [found.end() for found in compiled(edge).finditer(head)]
        if ends:
            return at - len(head) + ends[-1]
    return at


def _end_of_word(text: str, at: int) -> int:
    """Return where the line ends that a place stands in, or the word, or the place itself when neither does soon."""
    for edge in (_CROWDS_LINE, _SPACE):
        found: Match[str] | None = compiled(edge).search(text, at, at + _BEYOND)
        if found is not None:
            return found.start()
    return min(at, len(text))


def blanked(text: str, found: list[Finding]) -> str:
    """Return a text of the same length with spaces where something was found."""
    parts, at = [], 0
    for one in found:
        parts += [text[at : one.start], " " * (one.end - one.start)]
        at = one.end
    return "".join((*parts, text[at:]))


# Keys and tokens that tell by their form who issued them, as far as `providers` does not know them.


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


def find_keys(text: str, words: str) -> Iterator[Finding]:
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


# Private key blocks, masked as a whole.


LONGEST = 16_000
"""Characters between the first line of a block and its last, at most."""

_HEAD = r"(?:[A-Z0-9]{1,12} ){0,4}PRIVATE KEY(?: BLOCK)?"
_BREAK = r"(?:\\r)?(?:\\n|\s)"
_LINES = rf"(?:{_BREAK}{{1,3}}[A-Za-z0-9+/=]{{16,}})*(?:(?:\\r)?(?:\\n|\n)[A-Za-z0-9+/=]{{1,63}}(?=[\s\\]|\Z))?"
_BEGIN = rf"-----BEGIN {_HEAD}-----|PuTTY-User-Key-File-\d:"
_END = rf"-----END {_HEAD}-----"
_MAC = r"Private-MAC: ?[0-9a-f]+"
_PUTTY_LINES = r"[^\n]{0,256}\n(?:(?!PuTTY-User)[^\n]{0,256}\n){0,80}"
_PRIVATE_KEY = r"[A-Za-z0-9+/]{16}"


def find_private_keys(text: str) -> Iterator[Finding]:
    """Yield the blocks in a text; one whose end is missing goes as far as its characters do."""
    if "PRIVATE KEY" not in text and "PuTTY-User-Key-File" not in text:
        return
    ends = {pattern: [end.span() for end in compiled(pattern).finditer(text)] for pattern in (_END, _MAC)}
    done = 0
    for begin in compiled(_BEGIN).finditer(text):
        if begin.start() < done:
            continue
        putty = begin.group().startswith("PuTTY")
        end = _end(begin, ends[_MAC if putty else _END], _PUTTY_LINES if putty else _LINES)
        # A sentence may name the first line and the last; only what holds key material is a secret.
        if compiled(_PRIVATE_KEY).search(text, begin.start() + len("-----BEGIN "), end):
            done = end
            yield secret("private key", begin.start(), end)


def _end(begin: Match[str], ends: list[tuple[int, int]], lines: str) -> int:
    """Return where a block ends: with its last line, or as far as lines of a key follow."""
    place = bisect_left(ends, (begin.end(), 0))
    if place < len(ends) and ends[place][0] - begin.end() <= LONGEST:
        return ends[place][1]
    rest = compiled(lines).match(begin.string, begin.end())
    return begin.end() if rest is None else rest.end()


# Keys and tokens in the forms that the detect-secrets library knows, which is loaded when a text hints at one.
#
# Its detectors are asked for their patterns only, and only around a hint: on a whole line some of them look at every
# character as often as the line is long. Its own scan works line by line on a global settings object, returns values
# without places, of some tokens only the prefix, and of a JWT all but the signature.


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
_PROVIDERS_QUOTED = r"[\"'][0-9a-zA-Z/+]{40}[\"']"
_CLOUDANT = r"(?<![0-9A-Za-z])(?:[0-9a-fA-F]{64}|[a-zA-Z]{24})(?![0-9A-Za-z])"
_JWT = r"eyJ[\w\-=]{5,4000}+\.[\w\-=]"

PROVIDERS = (
    Provider("AWS key", "aws", "AWSKeyDetector", ("AKIA", "ASIA", "ABIA", "ACCA", "A3T"), r"[0-9A-Z]{20}"),
    Provider("AWS secret", "aws", "AWSKeyDetector", ("aws", "AWS", "Aws"), "", True, True, _PROVIDERS_QUOTED, 64),
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


def find_provider_tokens(text: str, words: str) -> Iterator[Finding]:
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


# Words that look drawn at random: keys of nobody known.


RANDOMNESS_RULE = "high-entropy string"

SHORTEST, RANDOMNESS_LONGEST = 24, 256
"""Lengths of keys: shorter words are ids, longer ones are data."""

LEAST_ENTROPY = 3.6
"""Bits per character. Random letters and digits have 4.1 at 24 characters, English 3.5 to 4 at any length."""

LONGEST_PIECES = 2.7
"""Characters per piece of a word that is parted as a name in camel case: below 2.2 at random, 3.5 in a name."""

_RUN = rf"[\w\-+/]{{{SHORTEST},}}"
_BEFORE = (
    r"(?ai:sha(?:1|224|256|384|512)[-:=_]|md5[-:=]|h1:|base64,|integrity[\"']?\s?[:=]\s?[\"']?|"
    r"(?:etag|if-(?:none-)?match|digest|checksum|fingerprint)[\"']?\s?[:=]?\s?(?:w/)?[\"'`]?(?:w/)?[\"'`]?)\Z"
)
_HINTS = (
    "sha1", "sha2", "sha3", "sha5", "md5", "h1:", "base64,", "integrity", "etag", "match", "digest", "checksum",
    "fingerprint",
)  # fmt: skip
"""What stands in each of those, in lower case: most texts hold none."""

_KNOWN = (
    r"(?:toolu|(?:agent_)?msg|call|chatcmpl|req|resp|run|thread|asst|file|batch|evt|cus|prod|price|sub|ch|pi|srvtoolu)_"
    r"|(?:chatcmpl|call|msg|req|file)-|AAAA[BCE][23][NV]|Qm[1-9A-HJ-NP-Za-km-z]{44}\b|sha(?:1|224|256|384|512)-|iVBORw0KGgo|/9j/|R0lGOD|UklGR|JVBERi|H4sI|UEsDB"
)
"""Ids that services print, digests, public keys, and the first bytes of pictures and archives."""

_JOINTS = b"-_+/"

_OF_A_KEY = (64, 70, 76)
"""Characters of a line of a key block: one that begins with a slash is no path."""

_KINDS = bytes.maketrans((ascii_lowercase + ascii_uppercase + all_digits).encode(), b"a" * 26 + b"A" * 26 + b"0" * 10)
"""Turns a word into the kinds of its characters."""

_PIECE = r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+"
_RANDOMNESS_WORD = "[a-z]{4,}"


def find_random_words(text: str, words: str) -> Iterator[Finding]:
    """Yield the random-looking words in a text, addresses and digests left out; `words` are its long words."""
    random = {
        word
        for word in set(compiled(_RUN, ASCII).findall(words))
        if len(word) <= RANDOMNESS_LONGEST and looks_random(word)
    }
    if not random:
        return
    known, low = compiled(_KNOWN).match, text.lower()
    tells = "://" in text or any(map(low.__contains__, _HINTS))
    for run in compiled(_RUN, ASCII).finditer(text):
        word = run.group()
        if word in random and not known(word) and not (tells and _told(text, run.start())):
            start, end = run.span()
            while text.startswith("=", end):
                end += 1
            yield secret(RANDOMNESS_RULE, start, end)


def looks_random(word: str) -> bool:
    """Tell whether a word (ASCII) mixes lower case, upper case and digits as only chance does."""
    if word.islower() or word.isupper():
        return False
    if "/" in word:
        is_path = word[0] == "-" or (word[0] == "/" and len(word) not in _OF_A_KEY)
        if is_path or any(_is_name(part) for part in word.split("/")):
            return False
    plain = word.encode("ascii")
    if not word.isalnum():
        plain = plain.translate(None, _JOINTS)
    size, kinds = len(plain), plain.translate(_KINDS)
    lower, digits = kinds.count(b"a"), kinds.count(b"0")
    if digits < 2 or lower < 3 or size - lower - digits < 3 or (len(word) - size) * 6 > len(word):
        return False
    if least_entropy(size, len(set(plain))) < LEAST_ENTROPY and entropy(plain) < LEAST_ENTROPY:
        return False
    return size <= LONGEST_PIECES * _least_pieces(kinds) or size <= LONGEST_PIECES * len(compiled(_PIECE).findall(word))


def _least_pieces(kinds: bytes) -> int:
    """Return how many pieces a word has at least: runs of small letters and of digits, and capitals before a digit.

    Mostly it is enough to tell, and quicker than to find the pieces.
    """
    small = kinds.count(b"Aa") + kinds.count(b"0a")
    numbers = kinds.count(b"a0") + (capitals := kinds.count(b"A0"))
    return small + numbers + capitals + (kinds[:1] != b"A")


def entropy(word: bytes) -> float:
    """Return the Shannon entropy of a word's characters, in bits per character."""
    size = len(word)
    return math.log2(size) - sum(map(_weight, map(word.count, set(word)))) / size


@cache
def least_entropy(size: int, kinds: int) -> float:
    """Return the least entropy that a word of so many characters can have with so many different ones.

    It has that when one of them is all that the others are not; mostly it is enough to tell.
    """
    return math.log2(size) - _weight(size - kinds + 1) / size


@cache
def _weight(count: int) -> float:
    return count * math.log2(count)


def _told(text: str, start: int) -> bool:
    """Tell whether what stands before a word says that it is no secret."""
    line = text[max(0, start - 300) : start].rpartition("\n")[2]
    return ("://" in line and "://" in _last_word(line)) or compiled(_BEFORE).search(line[-24:]) is not None


def _last_word(line: str) -> str:
    """Return the word that goes on to the end of a line; nothing when a space ends it."""
    return "" if line[-1:].isspace() else (line.split() or [""])[-1]


def _is_name(part: str) -> bool:
    return (
        compiled(
            rf"[A-Z]?{_RANDOMNESS_WORD}(?:[-_][A-Z]?{_RANDOMNESS_WORD}|[A-Z]{_RANDOMNESS_WORD})*\d{{0,3}}\Z"
        ).match(part)
        is not None
    )


# Passwords within addresses (`postgres://app:…@db`), and tokens in request headers.


_LOGIN = r"""://[^\s:/@"'<>`]{0,200}:([^\s/"'<>`]{1,400})@(?=[\w\[\-.$])"""
_HEADER = r"\b(?:bearer|authorization[\"']?\s{0,3}[:=]\s{0,3}[\"']?(?:basic|token|apikey))\s{1,3}([\w\-.~+/]{12,}=*)"


def find_addresses(text: str, low: str) -> Iterator[Finding]:
    """Yield the passwords and tokens of addresses and headers; `low` is the text in lower case."""
    if "://" in text and "@" in text:
        for match in compiled(_LOGIN).finditer(text):
            if not is_placeholder(match.group(1)):
                yield secret("password", *match.span(1))
    if "bearer" in low or "authorization" in low:
        for match in compiled(_HEADER, IGNORECASE | ASCII).finditer(text):
            value = match.group(1)
            if _is_drawn(value) and not is_placeholder(value):
                yield secret("access token", *match.span(1))


def _is_drawn(value: str) -> bool:
    """Tell whether a word behind `Bearer` can be a token: no word of a sentence has a digit or mixes its cases."""
    return any(c.isdigit() for c in value) or not (value.islower() or value.isupper() or value.istitle())


# Values behind a name that says what they are: `DB_PASSWORD=…`, `"api_key": "…"`, “the password is …”.


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


def find_assignments(text: str, low: str) -> Iterator[Finding]:
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


# Passwords as command lines and login files carry them: behind an option or a keyword, with no `=` to tell them by.


LEAST = 3
"""Characters of a password that a command line is given."""

_LINE = 240
"""Characters of a line that are looked at before an option, for the command it belongs to."""

_SLASH = r"\\(?!\\{0,6}[\"'])"
"""A backslash that is part of a value: those before a quote escape it, in JSON within JSON several of them."""

_INSIDE = rf"((?:[^\"\\\n]|{_SLASH}){{1,200}})"
_ESCAPED = rf"\\{{1,7}}\"{_INSIDE}\\{{1,7}}\""
_COMMANDS_BARE = rf"((?:[^\s\"'`;|&)\\]|{_SLASH}){{1,200}})"
_WORD = rf"(?:{_ESCAPED}|\"([^\"\n]{{1,200}})\"|'([^'\n]{{1,200}})'|{_COMMANDS_BARE})"
"""A value: between quotes, which stand escaped where the command is a string in code or in JSON, or without any."""

_GLUED = ("mysql", "mariadb", "mycli", "7z ", "sshpass")
_APART = ("sshpass", "docker login", "podman login", "helm registry login", "mongo", "az login", "oc login", "cf login")
_LOGINS = ("curl", "http ", "https ", "wget")

_USER = r"[^\s:\"'/]{1,100}:"
_PAIR = rf"(?:\\{{0,7}}\"{_USER}{_INSIDE}|'{_USER}([^'\n]{{1,200}})|{_USER}{_WORD})"
_COMMANDS_LOGIN = rf"(?:-u|--user|--proxy-user)[ =]{{0,2}}{_PAIR}"
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
_COMMANDS_NAMES = ("passw", "passphrase", "token", "secret", "key")
_DOCKER = r"\"auth\"\s{0,3}:\s{0,3}\"([A-Za-z0-9+/]{8,400}={0,2})\""


def find_command_secrets(text: str, low: str) -> Iterator[Finding]:
    """Yield the passwords; `low` is the text in lower case."""
    if "machine" in low or "default" in low:
        yield from anchored(text, "machine|default", _netrc)
    if any(map(low.__contains__, _LOGINS)) and "-u" in text:
        yield from anchored(text, "-u|--user|--proxy-user", _login)
    if " -p" in text and any(map(low.__contains__, (*_GLUED, *_APART))):
        yield from anchored(text, r"\s-p", _given)
    if " -a" in text and "redis-cli" in text:
        yield from anchored(text, r"\s-a", _redis)
    if "--" in text and any(map(low.__contains__, _COMMANDS_NAMES)):
        yield from anchored(text, r"--[a-z]", _option)
    if ":5432:" in text or ":*:" in text:
        yield from anchored(text, r":5432:|:\*:", _pgpass)
    if '"auth"' in text:
        yield from anchored(text, '"auth"', _docker)


def _netrc(anchor: Match[str]) -> Iterator[Finding]:
    yield from _said("password", compiled(_NETRC).match(anchor.string, anchor.start()))


def _login(anchor: Match[str]) -> Iterator[Finding]:
    given = compiled(_COMMANDS_LOGIN).match(anchor.string, anchor.start())
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


SHORTEST_KEY = 20
"""Characters that a key has at least: a text without so long a word holds none."""

ROUNDS = 6
"""How often a masked text is looked at again; what is found each time is masked, so it ends long before."""

_MARKER = r"\[secret: ([A-Za-z-]{2,16}(?: [A-Za-z-]{2,16}){0,3})\]"
"""A marker names a kind of secret, in words: what else stands in such brackets is looked at like all text."""

_SECRETS_NAMES = ("pass", "pwd", "secret", "token", "key", "credential", "://", "bearer", "authorization")

_OPTIONS = (" -", "machine", "default", ":5432:", ":*:", '"auth"')


def find_secrets(text: str, low: str) -> list[Finding]:
    """Return the secrets of a text in order, none within another; `low` is the text in lower case.

    What a marker names is no name of a value behind it, and no part of a secret.
    """
    if "[secret: " in text:
        text = _blank(text)
        low = lowered(text)
    crowded = crowds(text, low, _single)
    rest = (blanked(text, crowded), blanked(low, crowded)) if crowded else (text, low)
    found = [*crowded, *find_private_keys(text), *_single(*rest)]
    return list(_apart(found)) if found else found


def _single(text: str, low: str) -> list[Finding]:
    """Return the secrets that stand within a line or two; some may overlap."""
    found: list[Finding] = []
    long = [word for word in text.split() if len(word) >= SHORTEST_KEY]
    if long:
        words = "\n".join(long)
        found += [*find_keys(text, words), *find_provider_tokens(text, words), *find_random_words(text, words)]
    if any(map(low.__contains__, _SECRETS_NAMES)):
        found += [*find_addresses(text, low), *find_assignments(text, low)]
    if any(map(text.__contains__, _OPTIONS)):
        found += find_command_secrets(text, low)
    return found


def mask(text: str) -> str:
    """Return a text with each secret replaced by a marker that names it; line breaks stay where they are."""
    for _ in range(ROUNDS):
        found = find_secrets(text, lowered(text))
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


def _blank(text: str) -> str:
    """Return a text of the same length with nothing in the brackets of its markers."""
    parts = compiled(_MARKER).split(text)
    parts[1::2] = [f"[{' ' * len(f'secret: {name}')}]" for name in parts[1::2]]
    return "".join(parts)


def without(text: str, found: Iterable[Finding]) -> str:
    """Return a text with a marker for each finding; they are in order, none within another."""
    parts, at = [], 0
    for finding in found:
        parts += [text[at : finding.start], marker(finding.rule)]
        at = finding.end
        taken = text[finding.start : at]
        if "\r" in taken:
            parts.append("".join(c for c in taken if c in "\r\n"))
        elif "\n" in taken:
            parts.append("\n" * taken.count("\n"))
    return "".join((*parts, text[at:]))


def _apart(found: list[Finding]) -> Iterator[Finding]:
    """Yield findings in order; of those that overlap, one that covers them all under the first one's name."""
    ranked = sorted([(finding.start, order) for order, finding in enumerate(found)])
    last, place = found[ranked[0][1]], ranked[0][1]
    for start, order in ranked[1:]:
        finding = found[order]
        if start < last.end:
            named = last if place < order else finding
            place = min(place, order)
            last = named._replace(start=last.start, end=max(last.end, finding.end))
        else:
            yield last
            last, place = finding, order
    yield last
