"""What a query names beside what it asks: who said something, the month it was said in, that it was
a question.

And whether it is about who asks it, and how much of a text asks.
"""

import re
from collections.abc import Collection, Iterator
from typing import NamedTuple

MONTHS = (
    "january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november",
    "december",
)  # fmt: skip

HALF = 0.5
"""What a memory of the month has that was made on another day of it than the one named."""

_AMBIGUOUS = ("march", "may")
"""Months that are other words, too: with neither a day nor a year beside them they follow a
preposition.
"""

_BEFORE = "about|after|around|before|between|by|during|early|for|from|in|last|late|mid|next|of|on|since|this|until"
_DAY = r"(?P<day{0}>\d{{1,2}})(?:st|nd|rd|th)?"
_NAMED = re.compile(
    rf"(?:(?P<word>\b(?:{_BEFORE})\s+)|\b{_DAY.format(1)}\s+(?:of\s+)?)?\b(?P<month>{'|'.join(MONTHS)})\b"
    rf"(?:\s+{_DAY.format(2)}(?!\d))?(?:,?\s+(?P<year>\d{{4}})\b)?",
    re.IGNORECASE,
)
_ISO = re.compile(r"(?<![\w-])(?P<year>\d{4})-(?P<month>\d{2})(?:-(?P<day>\d{2}))?(?![\w-])")

_SENTENCE = re.compile(r"[^.!?\n]+(?P<end>[.!?]*)")

LONGEST_QUESTION = 20
"""Words of the longest sentence that asks; a longer one tells something before its question mark."""

_SELF = re.compile(r"(?<![\w./+-])(?:I|me|my|mine|myself)(?![\w/+-])", re.IGNORECASE)

USERS, ASSISTANTS = frozenset(("user", "human")), frozenset(("assistant", "ai", "model"))
"""The roles that speakers of a chat have, in lower case."""

_QUESTION = re.compile(r"\b(?:ask(?:s|ed|ing)?|questions?)\b", re.IGNORECASE)

_WORDS = """
agent amber angel april archer art ash assistant august autumn baker bill bishop blue bob brook brooks buck bud carol
carter chance chase chip christian clay cliff cole cook cooper crystal daisy dale dawn dean destiny dick dixie dot
drew duke earl eve faith fern flora forest frank gene ginger glen grace grant green guy harmony harry haven hazel
heath heather holly hope hunter iris ivy jack jade jasmine jay jewel joy june justice king lance lane laurel lily
linden lucky major man mark marina mark mason max may melody mercy miles misty moss myrtle nick norm olive opal page
pat patience patty pearl penny peter pierce pope poppy prince queenie rain ray reed rich river rob robin rocky rod
roger rose ruby rusty sage sandy savannah serenity sierra sky smith sonny star stone storm sue summer sunny system
temple terry tool trinity troy tuck user van victor violet wade ward west will willow winter woody young
"""
ORDINARY = frozenset(_WORDS.split())
"""Names and roles that are words as well: they name somebody only where they are capitalised within
a sentence.
"""


class Month(NamedTuple):
    """A month that a query names, 1…12, with its day and its year where it names them."""

    month: int
    day: int | None = None
    year: int | None = None


def months_named(query: str) -> tuple[Month, ...]:
    """Return the months that a query names, in its order: "May 8, 2023", "in March", "2023-05-08"."""
    return tuple(dict.fromkeys((*_worded(query), *_written(query))))


def actors_named(query: str, names: Collection[str]) -> frozenset[str]:
    """Return those of some names that a query names, by the whole name or by a first one that only
    one of them has.

    Letter case does not count, except for names that are ordinary words, too (`ORDINARY`).
    """
    firsts = [name.split()[0].casefold() for name in names if name.split()]
    found = []
    for name in names:
        ways = {name.strip()} | {
            first for first in name.split()[:1] if firsts.count(first.casefold()) == 1
        }
        if any(_stands_in(way, query) for way in ways if way):
            found.append(name)
    return frozenset(found)


def answering(query: str, speakers: Collection[str]) -> frozenset[str]:
    """Return those of some speakers who answer the user that a query is about: it says "I", "my" or
    "me".

    They are known by their role, and nobody answers where no speaker is the user.
    """
    roles = {name: name.strip().casefold() for name in speakers}
    if USERS.isdisjoint(roles.values()) or not _SELF.search(query):
        return frozenset()
    return frozenset(name for name, role in roles.items() if role in ASSISTANTS)


def names_question(query: str) -> bool:
    """Tell whether a query says that what it looks for was asked: "Ada asks Bob why", "the question
    about Lisbon".
    """
    return _QUESTION.search(query) is not None


def question_share(text: str) -> float:
    """Return the share of a text's characters that stand in short sentences with a question mark at
    their end, 0…1.
    """
    if "?" not in text:
        return 0.0
    asked = (found[0] for found in _SENTENCE.finditer(text) if found["end"].endswith("?"))
    return sum(
        len(sentence) for sentence in asked if len(sentence.split()) <= LONGEST_QUESTION
    ) / len(text)


def _worded(query: str) -> Iterator[Month]:
    for found in _NAMED.finditer(query):
        name, day = found["month"].lower(), found["day1"] or found["day2"]
        sure = (
            name not in _AMBIGUOUS
            or day
            or found["year"]
            or (found["word"] and found["month"][0].isupper())
        )
        if sure:
            yield Month(
                MONTHS.index(name) + 1,
                int(day) if day else None,
                int(found["year"]) if found["year"] else None,
            )


def _written(query: str) -> Iterator[Month]:
    for found in _ISO.finditer(query):
        if 1 <= int(found["month"]) <= 12:
            yield Month(
                int(found["month"]), int(found["day"]) if found["day"] else None, int(found["year"])
            )


def _stands_in(name: str, query: str) -> bool:
    pattern = rf"(?<!\w){re.escape(name)}(?!\w)"
    if name.casefold() not in ORDINARY:
        return re.search(pattern, query, re.IGNORECASE) is not None
    return any(
        found[0][0].isupper()
        and re.search(r"[\w,;:]['\"”’)]*\s+\W*$", query[: found.start()]) is not None
        for found in re.finditer(pattern, query, re.IGNORECASE)
    )
