"""Whether what stands behind `password =` is a password, or a name, a call, a placeholder."""

from re import ASCII

from workbench.safety.lowering import compiled
from workbench.safety.repeated import of_repeated

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
_NAMES = (
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
        any(map(low.__contains__, _NAMES))
        and (is_slug(value) or compiled(r"[\w\-./]*[A-Za-z_]\d?\Z", ASCII).match(low) is not None)
    )


def _has_digit_and_letter(value: str) -> bool:
    return compiled(r"\d").search(value) is not None and compiled(r"[^\W\d_]").search(value) is not None
