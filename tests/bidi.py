"""How a terminal that orders lines itself draws one: the Unicode bidirectional algorithm without
embeddings.
"""

import unicodedata
from itertools import groupby

_STRONG = {"L": "L", "R": "R", "AL": "R"}


def drawn(line: str, base: str = "L") -> str:
    """Return the characters of a line from left to right, marks of direction left out; `base` opens
    the paragraph.
    """
    kinds = _resolved([unicodedata.bidirectional(char) for char in line], base)
    levels = [{"L": 0, "R": 1, "N": 2}[kind] for kind in kinds]
    order = list(range(len(line)))
    for level in (2, 1):
        shuffled: list[int] = []
        for turned, group in groupby(order, [other >= level for other in levels].__getitem__):
            run = list(group)
            shuffled += reversed(run) if turned else run
        order = shuffled
    return "".join(
        line[at]
        for at in order
        if unicodedata.bidirectional(line[at]) != "BN" and line[at] != "\u200e"
    )


def _resolved(kinds: list[str], base: str) -> list[str]:
    """Return `L`, `R` or `N` (a number beside right-to-left text) for each character."""
    strong, out = base, list[str]()
    for kind in kinds:
        strong = _STRONG.get(kind, strong)
        if kind == "NSM":
            out.append(out[-1] if out else base)
        else:
            out.append(
                _STRONG.get(kind)
                or ({"EN": "L" if strong == "L" else "N", "AN": "N"}.get(kind, "?"))
            )
    for at, kind in enumerate(out):
        if kind == "?":
            behind = next((other for other in out[at:] if other != "?"), base)
            before = out[at - 1] if at else base
            out[at] = "R" if "L" not in (before, behind) else "L"
    return out
