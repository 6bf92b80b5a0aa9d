"""Questions about a text that remember their last answers: what goes on and on mostly goes on with the same words."""

from collections.abc import Callable
from functools import lru_cache, wraps
from typing import Concatenate, ParamSpec, TypeVar

_AGAIN, _SHORT = 256, 1_000
"""Texts whose answer is remembered, and characters that they have at most."""

P = ParamSpec("P")
R = TypeVar("R")


def of_repeated(ask: Callable[Concatenate[str, P], R]) -> Callable[Concatenate[str, P], R]:
    """Let a question about a text remember its answers, those about short texts."""
    known = lru_cache(maxsize=_AGAIN)(ask)

    @wraps(ask)
    def asked(text: str, /, *args: P.args, **kwargs: P.kwargs) -> R:
        if len(text) > _SHORT:
            return ask(text, *args, **kwargs)
        return known(text, *args, **kwargs)  # type: ignore[arg-type]

    return asked
