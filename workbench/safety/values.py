"""Whether what stands behind `password =` is a password, or a name, a call, a placeholder."""

from re import ASCII

from workbench.safety.lowering import compiled

_NOTHING = frozenset(
    {
        "password", "passwd", "pass", "pwd", "passphrase", "secret", "secrets", "token", "key", "credentials", "none",
        "null", "nil", "true", "false", "string", "str", "int", "bytes", "required", "optional", "missing", "invalid",
        "expired", "redacted", "hidden", "unset", "empty", "undefined", "default", "user", "username", "postgres",
        "root", "admin", "test", "demo", "example", "value", "text", "prompt",
    }
)  # fmt: skip
_STAND_IN = (
    r"[$%<{\[(*…]|\.\.\.|(.)\1*\Z|"
    r".*(?:your|example|placeholder|redacted|change.?me|xxxx|\*\*\*|dummy|insert|<|\$\{|\{\{)"
)
_NAMES = r".*(?:passw|passphrase|pwd|secret|token|credential|api_?key|access_?key|private_?key)"
_CODE = (
    r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+\Z|[A-Za-z_]*(?:[._\-/][A-Za-z_]*)*\Z|"
    r"(?:https?|file)://|[~.]{0,2}/|v?\d+(?:\.\d+)+"
)
_VARIABLE = r"[A-Za-z]+(?:_[A-Za-z]+)*_?\d{0,2}\Z"
_SYMBOLS = frozenset("!@#$%^&*+?~")


def is_placeholder(value: str) -> bool:
    """Tell whether a value only stands for one: `<password>`, `${DB_PASS}`, `xxxx`, `changeme`."""
    low = value.lower()
    return not low or low in _NOTHING or compiled(_STAND_IN).match(low) is not None


def is_password(value: str, *, quoted: bool) -> bool:
    """Tell whether a value may be a password that a person chose."""
    if len(value) < 6 or not _is_literal(value):
        return False
    if value.isdigit():
        return True
    if not quoted and "_" in value and compiled(_VARIABLE).match(value):
        return False
    return _has_digit_and_letter(value) or not _SYMBOLS.isdisjoint(value)


def is_key(value: str) -> bool:
    """Tell whether a value may be a key or token that a machine made."""
    if len(value) < 8 or not _is_literal(value) or compiled(_VARIABLE).match(value):
        return False
    return _has_digit_and_letter(value)


def _is_literal(value: str) -> bool:
    low = value.lower()
    if is_placeholder(value) or compiled(_CODE, ASCII).match(value):
        return False
    # A name such as `spotify_password` is a variable, while a password may well hold the word and more.
    return not (compiled(_NAMES).match(low) and compiled(r"[\w\-./]*[A-Za-z_]\d?\Z", ASCII).match(value))


def _has_digit_and_letter(value: str) -> bool:
    return any(c.isdigit() for c in value) and any(c.isalpha() for c in value)
