"""Replies of a language model as values. What cannot be read comes back as `UnreadReply`; nothing is
dropped.
"""

import re
from collections.abc import Callable, Sequence
from typing import NamedTuple, cast, get_args

from workbench.core.agents.plan import ActionType
from workbench.core.reflection.llm import UnreadReply
from workbench.core.reflection.reflector import Insight, Stage
from workbench.core.stream.memory import Memory

# Reading "(because of 1, 5, 3)" and its relatives at the end of an insight (source 000, algorithm
# 8).


_NOUN = r"(?:(?:memor(?:y|ies)|records?|statements?|observations?|items?|entries|entry|nos?\.?|numbers?)\s+)?"
_CAUSE = r"(?:because\s+of|based\s+on|supported\s+by|evidence|sources?|citations?|see|from)\s*:?\s+"
_LIST = r"#?\d+(?:\s*(?:,|;|&|and|to|through|-|–|—|\]\s*,?\s*\[)\s*(?:and\s+)?#?\d+)*"
_END = r"[\s.;]*\Z"

_WORDED = re.compile(
    rf"[\s,;–—-]{{0,9}}(?:\(\s*{_CAUSE}(?P<round>[^()]*)\)|\[\s*{_CAUSE}(?P<square>[^\[\]]*)\])",
    re.IGNORECASE,
)
_NAMED = re.compile(
    rf"(?:(?<!\w)\[\s*{_NOUN}(?P<square>{_LIST})\s*\]|\s*\(\s*(?P<noun>{_NOUN})(?P<round>{_LIST})\s*\)){_END}",
    re.IGNORECASE,
)
_OPEN = re.compile(
    rf"[\s,;–—-]{{0,9}}because\s+of\s+{_NOUN}(?P<round>{_LIST})(?P<square>){_END}", re.IGNORECASE
)
_RANGE = re.compile(r"#?(\d+)\s*(?:-|–|—|to|through)\s*#?(\d+)", re.IGNORECASE)
_SPLIT = re.compile(r"\s*(?:[,;&\[\]]|\band\b)\s*", re.IGNORECASE)
_NOUN_AT = re.compile(_NOUN, re.IGNORECASE)


class Cited(NamedTuple):
    """A text without its citations, the ids it cites, and what it cites that names no memory."""

    text: str
    ids: tuple[str, ...] = ()
    unresolved: tuple[str, ...] = ()


def read_citations(text: str, memories: Sequence[Memory]) -> Cited:
    """Part an insight from its citations.

    Memories are cited by their number, from 1 in the order given, or by id. Understood are (because
    of 1, 5, 3), [1, 5], [1][5], (memories 1 and 5), ranges such as 2-4, and "because of 1, 5"
    without brackets at the end. Bare numbers in round brackets count only when one of them is the
    number of a memory.
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
    return any(
        part in known or _RANGE.fullmatch(part) or part.lstrip("#").isdecimal() for part in parts
    )


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
            ids.update(
                (memories[n - 1].id, None) for n in range(max(1, low), min(high, len(memories)) + 1)
            )
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


# Reading the lists that language models write: `1.`, `1)`, `(1)`, `Q1:`, `Question 1:` and bullets.


_MARK = re.compile(
    r"""\s{0,8}(?:\*\*|__)?(?:
        \(?(?P<number>\d{1,3})[.):](?!\d)                     # 1.  1)  (1)  1:   but not 1.5
      | (?:Q|Question|Insight)\s?(?P<named>\d{1,3})\s?[.):]   # Q1:  Question 1:
      | [-*•–‣◦](?=\s)                                        # bullets
    )(?:\*\*|__)?\s*""",
    re.VERBOSE | re.IGNORECASE,
)
_EMPHASIS = re.compile(r"(\*\*|__)(.+?)\1")
_RULE = re.compile(r"\s*(?:[-*_=]\s*){3,}|\s*```\w*\s*")


class Item(NamedTuple):
    """One item: its text in one line without emphasis, and the lines it was read from."""

    text: str
    raw: str
    number: int | None = None


class Listing(NamedTuple):
    """The items of a list, and the other lines that say something."""

    items: tuple[Item, ...] = ()
    rest: tuple[str, ...] = ()


def _never(_item: str) -> bool:
    return False


def read_list(text: str, ended: Callable[[str], bool] = _never) -> Listing:
    """Read a list. An item goes on in the unmarked lines below it, until a blank one or until it
    has `ended`.

    Headings, rules, fences and lines that end in a colon ("Here are three questions:") are no
    content.
    """
    items: list[list[str]] = []
    rest: list[str] = []
    inside = False
    for line in text.splitlines():
        if not line.strip() or _RULE.fullmatch(line):
            inside = False
        elif _MARK.match(line):
            items.append([line])
            inside = True
        elif (items and line.startswith("   ")) or (
            inside and not ended(plain("\n".join(items[-1])))
        ):
            items[-1].append(line)
            inside = True
        elif not line.lstrip().startswith("#") and not line.rstrip(" *_").endswith(":"):
            rest.append(line.strip())
    found = [_item(lines) for lines in items]
    return Listing(tuple(item for item in found if item.text), tuple(rest))


def plain(text: str) -> str:
    """Return `text` in one line, without emphasis marks."""
    return _EMPHASIS.sub(r"\2", " ".join(text.split())).strip()


def _item(lines: list[str]) -> Item:
    mark = _MARK.match(lines[0])
    raw = "\n".join(lines)
    if mark is None:
        return Item(plain(raw), raw)
    digits = mark["number"] or mark["named"]
    # An opening emphasis that closes right behind the mark belongs to the mark.
    text = raw[mark.end() :]
    if raw[: mark.end()].count("**") == 1 and text.count("**") % 2:
        text = "**" + text
    return Item(plain(text), raw, int(digits) if digits else None)


CLAUDE = "claude"
"""The label of an insight that Claude worded."""

OUTSIDE = "This is outside the requested list."
NO_LIST = "The reply contains no list."

_RATING = re.compile(r"(?:rating|score)?\s*:?\s*(\d{1,2}(?:\.\d+)?)(?:\s*/\s*10)?\b", re.IGNORECASE)
_HEADING = re.compile(
    r"\A\s*(?:\*\*|#+\s*)?(?:refined\s+)?(?:insight|note|version)\s*:\s*(?:\*\*)?\s*", re.IGNORECASE
)
_QUOTES = (("“", "”"), ('"', '"'), ("```", "```"))


class Questions(NamedTuple):
    """Questions that were read."""

    texts: tuple[str, ...] = ()
    unread: tuple[UnreadReply, ...] = ()


class Insights(NamedTuple):
    """Insights that were read."""

    found: tuple[Insight, ...] = ()
    unread: tuple[UnreadReply, ...] = ()


def read_questions(reply: str, limit: int) -> Questions:
    """Read the first `limit` questions; without a list, the lines that end in a question mark."""
    listing = read_list(reply)
    texts = [item.text for item in listing.items]
    if not texts:
        texts = [line for line in listing.rest if line.endswith("?")]
        if not texts:
            return Questions((), (UnreadReply("questions", reply, NO_LIST),))
    distinct = tuple(dict.fromkeys(texts))
    surplus = (
        UnreadReply("questions", text, f"Only {limit} questions were requested.")
        for text in distinct[limit:]
    )
    rest = (
        UnreadReply("questions", line, OUTSIDE) for line in listing.rest if line not in distinct
    )
    return Questions(distinct[:limit], (*surplus, *rest))


def read_insights(reply: str, memories: Sequence[Memory], question: str = "") -> Insights:
    """Read insights with citations of `memories`, which were numbered from 1 in this order.

    An insight without citations, or with some that name no memory, is read all the same and says
    so. An item ends with its citations: a line below them that is not indented stands outside the
    list.
    """
    listing = read_list(reply, lambda item: read_citations(item, memories).text != item)
    if not listing.items:
        return Insights((), (UnreadReply("insights", reply, NO_LIST, question),))
    found: list[Insight] = []
    unread = [UnreadReply("insights", line, OUTSIDE, question) for line in listing.rest]
    for item in listing.items:
        cited = read_citations(item.text, memories)
        if cited.text:
            found.append(Insight(cited.text, cited.ids, cited.unresolved, question, label=CLAUDE))
        else:
            unread.append(
                UnreadReply("insights", item.raw, "The item has citations only.", question)
            )
    return Insights(tuple(found), tuple(unread))


def read_ratings(reply: str, count: int) -> tuple[dict[int, float], tuple[UnreadReply, ...]]:
    """Return the ratings (1–10) of items 0 to `count` − 1 by their place, and what could not be
    read.
    """
    ratings: dict[int, float] = {}
    unread: list[UnreadReply] = []
    listing = read_list(reply)
    for place, item in enumerate(listing.items):
        at = place if item.number is None else item.number - 1
        said = _RATING.match(item.text)
        value = float(said.group(1)) if said is not None else 0.0
        if not 0 <= at < count:
            unread.append(UnreadReply("rate", item.raw, "There is no insight with this number."))
        elif not 1 <= value <= 10:
            unread.append(UnreadReply("rate", item.raw, "A rating is a number from 1 to 10."))
        else:
            ratings.setdefault(at, value)
    if not listing.items:
        unread.append(UnreadReply("rate", reply, NO_LIST))
    unread += [UnreadReply("rate", line, OUTSIDE) for line in listing.rest if listing.items]
    return ratings, tuple(unread)


_TYPED = re.compile(rf"({'|'.join(get_args(ActionType))})\s*[:–—-]\s*(\S.*)", re.IGNORECASE)


def read_actions(reply: str) -> tuple[tuple[tuple[ActionType, str], ...], tuple[str, ...]]:
    """Read a list of `type: action`; return the actions, and the lines that name no type."""
    listing = read_list(reply)
    lines = [item.text for item in listing.items]
    typed = [_TYPED.fullmatch(line) for line in lines]
    odd = tuple(line for line, found in zip(lines, typed, strict=True) if found is None)
    return tuple((cast(ActionType, f[1].lower()), f[2]) for f in typed if f), (*odd, *listing.rest)


def read_text(reply: str) -> str:
    """Return a reply that is one text: without a heading, fence or quotation marks around it."""
    text = _HEADING.sub("", reply.strip(), count=1).strip()
    for opening, closing in _QUOTES:
        inner = text[len(opening) : -len(closing)]
        if text.startswith(opening) and text.endswith(closing) and inner and opening not in inner:
            return inner.strip()
    return text


def complete_lines(reply: str) -> tuple[str, str]:
    """Split a reply that was cut off into its complete lines and the beginning of the line that was
    not.
    """
    head, newline, tail = reply.rpartition("\n")
    return head + newline, tail


def cut_off(stage: Stage, tail: str, why: str, question: str = "") -> tuple[UnreadReply, ...]:
    """Return the line that was cut off as unread, if there is one."""
    return (
        (UnreadReply(stage, tail, f"{why} The line is not complete.", question),)
        if tail.strip()
        else ()
    )
