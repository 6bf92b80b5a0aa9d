"""Reading "(because of 1, 5, 3)" and its relatives at the end of an insight (source 000, algorithm 8)."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from workbench.core.stream.memory import Memory

_NOUN = r"(?:(?:memor(?:y|ies)|records?|statements?|observations?|items?|entries|entry|nos?\.?|numbers?)\s+)?"
_CAUSE = r"(?:because\s+of|based\s+on|supported\s+by|evidence|sources?|citations?|see|from)\s*:?\s+"
_LIST = r"#?\d+(?:\s*(?:,|;|&|and|to|through|-|–|—|\]\s*,?\s*\[)\s*(?:and\s+)?#?\d+)*"
_END = r"[\s.;]*\Z"

_WORDED = re.compile(
    rf"[\s,;–—-]{{0,9}}(?:\(\s*{_CAUSE}(?P<round>[^()]*)\)|\[\s*{_CAUSE}(?P<square>[^\[\]]*)\])", re.IGNORECASE
)
_NAMED = re.compile(
    rf"(?:(?<!\w)\[\s*{_NOUN}(?P<square>{_LIST})\s*\]|\s*\(\s*(?P<noun>{_NOUN})(?P<round>{_LIST})\s*\)){_END}",
    re.IGNORECASE,
)
_OPEN = re.compile(rf"[\s,;–—-]{{0,9}}because\s+of\s+{_NOUN}(?P<round>{_LIST})(?P<square>){_END}", re.IGNORECASE)
_RANGE = re.compile(r"#?(\d+)\s*(?:-|–|—|to|through)\s*#?(\d+)", re.IGNORECASE)
_SPLIT = re.compile(r"\s*(?:[,;&\[\]]|\band\b)\s*", re.IGNORECASE)
_NOUN_AT = re.compile(_NOUN, re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Cited:
    """A text without its citations, the ids it cites, and what it cites that names no memory."""

    text: str
    ids: tuple[str, ...] = ()
    unresolved: tuple[str, ...] = ()


def read_citations(text: str, memories: Sequence[Memory]) -> Cited:
    """Part an insight from its citations.

    Memories are cited by their number, from 1 in the order given, or by id. Understood are (because of 1, 5, 3),
    [1, 5], [1][5], (memories 1 and 5), ranges such as 2-4, and "because of 1, 5" without brackets at the end.
    Bare numbers in round brackets count only when one of them is the number of a memory.
    """
    worded = [found for found in _WORDED.finditer(text) if _cites(_parts(found), memories)]
    if worded:
        parts = [part for found in worded for part in _parts(found)]
        return _resolved(_tidy(_without(text, worded)), parts, memories)
    found = _NAMED.search(text) or _OPEN.search(text)
    if found is None:
        return Cited(text.strip())
    cited = _resolved(_tidy(_without(text, [found])), _parts(found), memories)
    bare = found.re is _NAMED and found["round"] and not found["noun"]
    return Cited(text.strip()) if bare and not cited.ids else cited


def _without(text: str, found: Sequence[re.Match[str]]) -> str:
    for match in reversed(found):
        text = text[: match.start()] + text[match.end() :]
    return text


def _cites(parts: Sequence[str], memories: Sequence[Memory]) -> bool:
    """Whether one of the parts is written like a citation, so that words in brackets stay words."""
    known = {memory.id for memory in memories}
    return any(part in known or _RANGE.fullmatch(part) or part.lstrip("#").isdecimal() for part in parts)


def _parts(found: re.Match[str]) -> list[str]:
    cited = found["round"] or found["square"] or ""
    parts = (_NOUN_AT.sub("", part.strip(" .#"), count=1).strip() for part in _SPLIT.split(cited))
    return [part for part in parts if part]


def _resolved(text: str, parts: Sequence[str], memories: Sequence[Memory]) -> Cited:
    ids: dict[str, None] = {}
    unresolved: dict[str, None] = {}
    known = {memory.id for memory in memories}
    for part in parts:
        span = _RANGE.fullmatch(part)
        if part in known:
            ids[part] = None
        elif span is not None:
            low, high = sorted((_number(span[1]), _number(span[2])))
            ids.update((memories[n - 1].id, None) for n in range(max(1, low), min(high, len(memories)) + 1))
            if low < 1 or high > len(memories):
                unresolved[part] = None
        elif _is_place(part, len(memories)):
            ids[memories[int(part.lstrip("#")) - 1].id] = None
        else:
            unresolved[part] = None
    return Cited(text, tuple(ids), tuple(unresolved))


def _is_place(part: str, count: int) -> bool:
    digits = part.lstrip("#")
    return digits.isascii() and digits.isdigit() and 1 <= _number(digits) <= count


def _number(digits: str) -> int:
    """Read digits; more of them than any memory has are read as a number past all."""
    return int(digits) if len(digits) <= 9 else 10**9


def _tidy(text: str) -> str:
    text = re.sub(r"\s+([.,;:])", r"\1", " ".join(text.split()))
    return text.strip().rstrip(",;–—-").rstrip()
