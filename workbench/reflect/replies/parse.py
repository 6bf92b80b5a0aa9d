"""Replies of a language model as values. What cannot be read comes back as `Unread`; nothing is dropped."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from workbench.core.reflection.reflector import Insight, Stage, Unread
from workbench.core.stream.memory import Memory
from workbench.reflect.replies.citations import read_citations
from workbench.reflect.replies.lists import read_list

CLAUDE = "claude"
"""The label of an insight that Claude worded."""

OUTSIDE = "This stands outside the list that was asked for."
NO_LIST = "The reply holds no list."

_RATING = re.compile(r"(?:rating|score)?\s*:?\s*(\d{1,2}(?:\.\d+)?)(?:\s*/\s*10)?\b", re.IGNORECASE)
_HEADING = re.compile(r"\A\s*(?:\*\*|#+\s*)?(?:refined\s+)?(?:insight|note|version)\s*:\s*(?:\*\*)?\s*", re.IGNORECASE)
_QUOTES = (("“", "”"), ('"', '"'), ("```", "```"))


@dataclass(frozen=True, slots=True)
class Questions:
    """Questions that were read."""

    texts: tuple[str, ...] = ()
    unread: tuple[Unread, ...] = ()


@dataclass(frozen=True, slots=True)
class Insights:
    """Insights that were read."""

    found: tuple[Insight, ...] = ()
    unread: tuple[Unread, ...] = ()


def read_questions(reply: str, limit: int) -> Questions:
    """Read the first `limit` questions; without a list, the lines that end in a question mark."""
    listing = read_list(reply)
    texts = [item.text for item in listing.items]
    if not texts:
        texts = [line for line in listing.rest if line.endswith("?")]
        if not texts:
            return Questions((), (Unread("questions", reply, NO_LIST),))
    distinct = tuple(dict.fromkeys(texts))
    surplus = (Unread("questions", text, f"Only {limit} questions were asked for.") for text in distinct[limit:])
    rest = (Unread("questions", line, OUTSIDE) for line in listing.rest if line not in distinct)
    return Questions(distinct[:limit], (*surplus, *rest))


def read_insights(reply: str, memories: Sequence[Memory], question: str = "") -> Insights:
    """Read insights with citations of `memories`, which were numbered from 1 in this order.

    An insight without citations, or with some that name no memory, is read all the same and says so. An item ends with
    its citations: a line below them that is not indented stands outside the list.
    """
    listing = read_list(reply, lambda item: read_citations(item, memories).text != item)
    if not listing.items:
        return Insights((), (Unread("insights", reply, NO_LIST, question),))
    found: list[Insight] = []
    unread = [Unread("insights", line, OUTSIDE, question) for line in listing.rest]
    for item in listing.items:
        cited = read_citations(item.text, memories)
        if cited.text:
            found.append(Insight(cited.text, cited.ids, cited.unresolved, question, label=CLAUDE))
        else:
            unread.append(Unread("insights", item.raw, "The item holds citations only.", question))
    return Insights(tuple(found), tuple(unread))


def read_ratings(reply: str, count: int) -> tuple[dict[int, float], tuple[Unread, ...]]:
    """Return the ratings (1–10) of items 0 to `count` − 1 by their place, and what could not be read."""
    ratings: dict[int, float] = {}
    unread: list[Unread] = []
    listing = read_list(reply)
    for place, item in enumerate(listing.items):
        at = place if item.number is None else item.number - 1
        said = _RATING.match(item.text)
        value = float(said.group(1)) if said is not None else 0.0
        if not 0 <= at < count:
            unread.append(Unread("rate", item.raw, "There is no insight of this number."))
        elif not 1 <= value <= 10:
            unread.append(Unread("rate", item.raw, "A rating is a number from 1 to 10."))
        else:
            ratings.setdefault(at, value)
    if not listing.items:
        unread.append(Unread("rate", reply, NO_LIST))
    unread += [Unread("rate", line, OUTSIDE) for line in listing.rest if listing.items]
    return ratings, tuple(unread)


def read_text(reply: str) -> str:
    """Return a reply that is one text: without a heading, fence or quotation marks around it."""
    text = _HEADING.sub("", reply.strip(), count=1).strip()
    for opening, closing in _QUOTES:
        inner = text[len(opening) : -len(closing)]
        if text.startswith(opening) and text.endswith(closing) and inner and opening not in inner:
            return inner.strip()
    return text


def complete_lines(reply: str) -> tuple[str, str]:
    """Split a reply that was cut off into its complete lines and the beginning of the line that was not."""
    head, newline, tail = reply.rpartition("\n")
    return head + newline, tail


def cut_off(stage: Stage, tail: str, why: str, question: str = "") -> tuple[Unread, ...]:
    """Return the line that was cut off as unread, if there is one."""
    return (Unread(stage, tail, f"{why} The line is not complete.", question),) if tail.strip() else ()
