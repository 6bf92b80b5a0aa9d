"""What a record is about beside its text: two people, services or files are never one, whatever is said of them.

Every comparison for duplicates asks here. A reader of another tool's file keeps what names a record in it under
`FILE_KEY`; a section names what it holds unless it is the one for all the rest; the file that a record was read from
is its place, the file that an agent looked at while it noticed something is not.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from enum import StrEnum
from functools import cached_property
from operator import attrgetter
from typing import Any, Generic, TypeVar

from workbench.core.playbook.book import Bullet
from workbench.core.stream.memory import FILE_KEY, Memory

# What lets two texts or records say different things, as the kinds that decisions are made by.


class Conflict(StrEnum):
    """One kind of difference in meaning; its value are the short words that flags and answers hold."""

    CONTRADICTION = "contradiction"
    OPPOSITES = "opposite words"
    NEGATION = "negation differs"
    NUMBERS = "numbers differ"
    IDENTIFIERS = "identifiers differ"
    SYMBOLS = "symbols differ"
    ORDER = "word order differs"
    FEW_WORDS = "few words in common"
    OWNERS = "owners differ"
    NAMES = "names differ"
    SECTIONS = "sections differ"
    FILES = "files differ"


R = TypeVar("R", Memory, Bullet)

NAMES = ("kind", "name", "from", "to", "key", "agent", "project")
"""Under which keys of `FILE_KEY` a reader keeps what names a record."""

_ANY_SECTION = frozenset({"", "others", "other", "general", "misc"})
"""Sections, in lower case, that only say that no other one fits."""

_ADDED_UP = ("helpful_", "harmful_")
"""How the counts begin that are added up where one of two equal records goes."""

_PLACES = frozenset({"id", "version", "order", "raw", "lead", "metadata"})
"""What tells where a record stands or how it was written, not what it says."""


@dataclass(frozen=True, slots=True)
class Identity:
    """Whose record it is, what names it, and where it belongs; each part is empty where nothing says so."""

    owner: str = ""
    names: tuple[tuple[str, str], ...] = ()
    section: str = ""
    path: str = ""

    def parted(self, other: "Identity") -> tuple[Conflict, ...]:
        """Name what tells two records apart; what only one of them says does not."""
        if self == other:
            return ()
        mine, theirs = dict(self.names), dict(other.names)
        named = any(mine[key] != theirs[key] for key in mine.keys() & theirs.keys())
        strangers = bool(mine and theirs) and not mine.keys() & theirs.keys()
        found = (
            (Conflict.OWNERS, bool(self.owner and other.owner) and self.owner != other.owner),
            (Conflict.NAMES, named or strangers),
            (Conflict.SECTIONS, bool(self.section and other.section) and self.section != other.section),
            (Conflict.FILES, bool(self.path and other.path) and self.path != other.path),
        )
        return tuple(conflict for conflict, differs in found if differs)


class Described(Generic[R]):
    """A record and what it is compared by, made once when it is asked for: many records may have one text."""

    def __init__(self, record: R) -> None:
        self.record: R = record

    @cached_property
    def identity(self) -> Identity:
        """What the record is about beside its text."""
        return identity_of(self.record)

    @cached_property
    def said(self) -> tuple[object, ...]:
        return all_said(self.record)

    def may_be_one(self, other: "Described[R]") -> bool:
        """Tell whether nothing parts two records but maybe their texts."""
        return not self.identity.parted(other.identity)


def identity_of(record: Memory | Bullet) -> Identity:
    """Return what a record is about beside its text."""
    section = record.section.strip()
    place = "" if section.casefold() in _ANY_SECTION else section
    if isinstance(record, Bullet):
        return Identity(record.book, (), place)
    source = record.source
    path = source.file if source.hook is None and source.turn is None else None
    return Identity(record.user_id, _names(record.metadata), place, path or "")


def parted(one: Memory | Bullet, other: Memory | Bullet) -> tuple[Conflict, ...]:
    """Name what tells two records apart whatever their texts are; empty when nothing does."""
    return identity_of(one).parted(identity_of(other))


def text_key(text: str) -> str:
    """Return what two texts have in common that differ in case and white space at most."""
    return " ".join(text.casefold().split())


def says_all_the_same(one: Memory | Bullet, other: Memory | Bullet) -> bool:
    """Tell whether two records are equal in everything but their ids and places: one may go, its counts added up.

    What only the file's form tells (the order of keys, a value written in another way) counts as well.
    """
    return type(one) is type(other) and all_said(one) == all_said(other)


def all_said(record: Memory | Bullet) -> tuple[object, ...]:
    """Return everything that a record says but for its id, its place and its counts, to be compared with another's."""
    told = _MEMORY if isinstance(record, Memory) else _BULLET
    return (*told(record), identity_of(record), _noted(record.metadata))


def _told(kind: type[Any]) -> Callable[[object], tuple[object, ...]]:
    names = (f.name for f in fields(kind) if f.name not in _PLACES and not f.name.startswith(_ADDED_UP))
    return attrgetter(*names)


_MEMORY, _BULLET = _told(Memory), _told(Bullet)


def _names(metadata: Mapping[str, object]) -> tuple[tuple[str, str], ...]:
    kept = metadata.get(FILE_KEY)
    if not isinstance(kept, Mapping):
        return ()
    return tuple((key, value) for key in NAMES if isinstance(value := kept.get(key), str) and value)


def _noted(metadata: Mapping[str, object]) -> dict[str, object]:
    """Return the notes of a record with the values that its file wrote in another form, without ids."""
    kept = metadata.get(FILE_KEY)
    forms = kept if isinstance(kept, Mapping) else {}
    written = [{k: v for k, v in form.items() if k != "id"} if isinstance(form := forms.get(name), Mapping) else {}
               for name in ("raw", "values")]  # fmt: skip
    return {**{key: value for key, value in metadata.items() if key != FILE_KEY}, FILE_KEY: written}
