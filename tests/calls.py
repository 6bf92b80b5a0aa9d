"""How often functions are called: what work is done, whatever the machine is busy with."""

import sys
from collections import Counter
from collections.abc import Callable, Sequence
from types import CodeType, FrameType, FunctionType
from typing import Any


def calls_of(functions: Sequence[Callable[..., Any]], do: Callable[[], object]) -> list[int]:
    """Return how often this thread calls each function, under whatever name, while it does
    something.
    """
    found = Counter[CodeType]()

    def look(frame: FrameType, event: str, _: object) -> None:
        if event == "call":
            found[frame.f_code] += 1

    _watched(look, do)
    codes = [function.__code__ for function in functions if isinstance(function, FunctionType)]
    assert len(codes) == len(functions), "only functions written in Python can be counted"
    return [found[code] for code in codes]


def steps_of(do: Callable[[], object]) -> int:
    """Return how many calls this thread makes while it does something, those of what is built in
    too.
    """
    found = Counter[str]()

    def look(_: FrameType, event: str, __: object) -> None:
        found[event] += 1

    _watched(look, do)
    return found["call"] + found["c_call"]


def _watched(look: Callable[[FrameType, str, object], None], do: Callable[[], object]) -> None:
    before = sys.getprofile()
    sys.setprofile(look)
    try:
        do()
    finally:
        sys.setprofile(before)
