"""The filter of the playbook: `is:unused section:pitfalls -wip "exact phrase" login`.

Words and phrases are looked for in a bullet's id, aliases, text and section; all must be there.
Commas part alternatives of a clause, a leading `-` negates a clause, a phrase or a word. A quote
that is not closed ends with the text, so that a filter can be read while it is being typed.
"""

import difflib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from workbench.core.playbook.book import (
    Bullet,
    Section,
    is_high_performing,
    is_problematic,
    is_unused,
)
from workbench.core.record import InvalidQuery
from workbench.core.stream.filter import TOKEN

HELP: tuple[tuple[str, str], ...] = (
    ("login token", "words in the id, text or section; all must match"),
    ('"exact phrase"', "exact phrase"),
    ("is:high", "⊕ high performing: more than 5 helpful and fewer than 2 harmful marks"),
    ("is:problematic", "⊖ problematic: at least as many harmful marks as helpful ones"),
    ("is:unused", "unused: no marks yet"),
    ("is:duplicate", "≈ duplicate of another bullet"),
    ("is:over", "beyond the token budget"),
    ("is:disputed", "⇅ votes and the outcomes of runs contradict each other"),
    ("is:helps  is:hurts", "runs succeed more often, or less often, with it"),
    ("is:pinned", "★ pinned; also is:voted (marked here) and is:deprecated (×)"),
    ("section:pitfalls", "the section; a comma means “or”"),
    ("-word  -is:unused", "a leading minus excludes"),
)
"""Rows for the help screen: what to type, and what it finds."""

FLAGS: dict[str, Callable[[Bullet], bool]] = {
    "high": is_high_performing,
    "problematic": is_problematic,
    "unused": is_unused,
    "pinned": lambda bullet: bullet.pinned,
    "voted": lambda bullet: bullet.helpful_votes + bullet.harmful_votes > 0,
    "deprecated": lambda bullet: bullet.state == "deprecated",
}

AMONG = ("duplicate", "over", "disputed", "helps", "hurts")
"""What only a look at the whole playbook tells; `matches` is given the ids."""

Among = Mapping[str, frozenset[str]]
"""For each word of `AMONG` the ids of the bullets it holds for."""

NOBODY: Among = {}


class BookClause(NamedTuple):
    """One `is:` or `section:` with its alternatives in folded case."""

    key: str
    values: tuple[str, ...]
    negated: bool = False

    def holds(self, bullet: Bullet, section: Section, among: Among = NOBODY) -> bool:
        if self.key == "is":
            found = any(
                FLAGS[value](bullet) if value in FLAGS else bullet.id in among.get(value, ())
                for value in self.values
            )
        else:
            places = (section.title.casefold(), section.key.casefold(), section.id.casefold())
            found = any(value in place for value in self.values for place in places)
        return found != self.negated


@dataclass(frozen=True, slots=True)
class BookFilter:
    """A parsed filter; without anything in it, it lets every bullet through."""

    clauses: tuple[BookClause, ...] = ()
    words: tuple[str, ...] = ()
    excluded: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.clauses or self.words or self.excluded)

    def asks(self, word: str) -> bool:
        """Tell whether an `is:` of the filter names `word`."""
        return any(clause.key == "is" and word in clause.values for clause in self.clauses)

    def matches(self, bullet: Bullet, section: Section, among: Among = NOBODY) -> bool:
        """Tell whether everything holds for a bullet of that section."""
        if not all(clause.holds(bullet, section, among) for clause in self.clauses):
            return False
        if not (self.words or self.excluded):
            return True
        said = (bullet.id, *bullet.aliases, section.title, bullet.content)
        text = "\n".join(said).casefold()
        return all(word in text for word in self.words) and not any(
            word in text for word in self.excluded
        )


def parse_book_filter(text: str) -> BookFilter:
    """Read a filter; raises `InvalidQuery` for an `is:` that is not known and for a clause without
    a value.
    """
    clauses: list[BookClause] = []
    words: list[str] = []
    excluded: list[str] = []
    for found in TOKEN.finditer(text):
        negated, key = bool(found["minus"]), (found["key"] or "").lower()
        said = found["body"] if found["phrase"] is None else found["phrase"]
        if key in ("is", "section"):
            clauses.append(_clause(key, found["values"], negated))
        elif (word := said.replace('"', "").casefold()).strip() and word != "-":
            (excluded if negated else words).append(word)
    return BookFilter(tuple(clauses), tuple(words), tuple(excluded))


def _clause(key: str, text: str, negated: bool) -> BookClause:
    values = tuple(
        value for part in text.split(",") if (value := part.replace('"', "").strip().casefold())
    )
    if not values:
        raise InvalidQuery(
            f"“{key}:” needs a value.",
            f"For example: {'is:unused' if key == 'is' else 'section:api'}.",
        )
    known = (*FLAGS, *AMONG)
    strange = next((value for value in values if key == "is" and value not in known), None)
    if strange is not None:
        near = [flag for flag in known if flag.startswith(strange)] or difflib.get_close_matches(
            strange, known, n=1
        )
        hint = f"Did you mean “is:{near[0]}”?" if near else f"It is one of: {', '.join(known)}."
        raise InvalidQuery(f"Unknown “is:{strange}”.", hint)
    return BookClause(key, values, negated)
