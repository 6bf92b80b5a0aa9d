"""Lower case without moving a character, so that a place in one text is a place in the other."""

from functools import cache
from re import Pattern, compile


def lowered(text: str) -> str:
    """Return the text in lower case, as long as the text; ASCII only where the full rules would lengthen it."""
    low = text.lower()
    return low if len(low) == len(text) else text.translate(_ascii())


@cache
def _ascii() -> dict[int, int]:
    return {upper: upper + 32 for upper in range(65, 91)}


@cache
def compiled(pattern: str, flags: int = 0) -> Pattern[str]:
    """Compile a pattern when it is first needed: a hook that meets clean text needs none of them."""
    return compile(pattern, flags)
