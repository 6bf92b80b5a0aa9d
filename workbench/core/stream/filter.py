"""The filter language of the stream: `type:error,failure since:7d -tag:wip "exact phrase" auth`.

A clause is `key:value`; commas part alternatives, quotes group, and a leading `-` negates a clause,
a phrase or a word. All clauses and phrases must hold. Words left over are for the fuzzy ranking,
not for `matches`. Archived memories are hidden unless `is:archived` or a `status:` clause asks
(`status:any` asks for all). A quote that is not closed ends with the text, so that a filter can be
read while it is being typed.
"""

import difflib
import operator
import re
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime, tzinfo
from functools import partial
from typing import NamedTuple

from workbench.core.record import InvalidQuery, clock_time
from workbench.core.stream.confidence import confidence_of
from workbench.core.stream.memory import MEMORY_TYPES, OBSERVATION_TYPES, STATUSES, Memory
from workbench.core.stream.times import instant

Predicate = Callable[[Memory], bool]

ANY = "any"

HELP: tuple[tuple[str, str], ...] = (
    ("type:error,failure", "observation type; a comma means “or”"),
    ("memory:semantic", "memory type: " + ", ".join(MEMORY_TYPES)),
    (
        "status:confirmed",
        "status: " + ", ".join(STATUSES) + ", or any; archived is hidden unless asked for",
    ),
    (
        "tag:auth  tag:auth*",
        "a tag, or a prefix with *; also category:, section:, session:, id:",
    ),
    ('tag:"two words"', "quotes keep a value together"),
    ('speaker:user  speaker:"Ann Lee"', "who said it: user, assistant, tool or a name"),
    ("source:SessionEnd", "where it was captured: the hook, or a file by its name or path"),
    (
        "actor:claude  actor:person",
        "who stored it: an agent by name, person, import, reflection, hook",
    ),
    ("importance:>7  confidence:>2", "more than; also >=, <, <= or the number itself"),
    (
        "since:7d  until:yesterday",
        "when it was made: 36h, 7d, 2w, 3mo, now, yesterday, monday, 2026-11, 2026-11-21",
    ),
    ("pinned:yes", "pinned or not: yes, no"),
    ("is:reflection", "reflection, voted, harmful, pinned, or a status, such as is:archived"),
    ('"exact phrase"', "exact phrase in content, summary or tags"),
    ("-tag:wip  -word", "a leading minus excludes"),
    ("auth tokn", "any other word is searched for, forgiving typing errors"),
)
"""Rows for the help screen: what to type, and what it finds."""


ACTOR = "actor"
"""The key that asks who stored a memory: the journal knows, the memory does not."""


class Clause(NamedTuple):
    """One `key:value`; `values` are alternatives in folded case, `at` is the instant of `since` and
    `until`.
    """

    key: str
    values: tuple[str, ...]
    negated: bool = False
    at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Filter:
    """A parsed filter. `words` are ranked elsewhere; `excluded` are words and phrases that may not
    occur.

    `unknown` are keys that do not exist, each with the one that is probably meant; what they stand
    in is among `words`.
    """

    clauses: tuple[Clause, ...] = ()
    words: tuple[str, ...] = ()
    phrases: tuple[str, ...] = ()
    excluded: tuple[str, ...] = ()
    unknown: tuple[tuple[str, str], ...] = ()

    @property
    def actors(self) -> tuple[Clause, ...]:
        """The clauses about who stored a memory, which only its history can answer."""
        return tuple(clause for clause in self.clauses if clause.key == ACTOR)

    @property
    def shows_archived(self) -> bool:
        """Whether archived memories can match: only when a clause `status:` or `is:archived` asks
        for them.
        """
        return any(
            not clause.negated
            and (clause.key == "status" or (clause.key == "is" and "archived" in clause.values))
            for clause in self.clauses
        )

    def without_actors(self) -> "Filter":
        """Return the rest of it, which the memories themselves can answer."""
        return replace(
            self, clauses=tuple(clause for clause in self.clauses if clause.key != ACTOR)
        )

    def predicate(self) -> Predicate:
        """Compile the test of `matches` once, for many memories."""
        return _every(self.tests())

    def tests(self) -> list[Predicate]:
        """Compile the tests of clauses and phrases, all of which must hold; raises `InvalidQuery`
        for `actors`.
        """
        if self.actors:
            raise InvalidQuery(
                "“actor:” cannot be used here.",
                "It works in the Stream, Review, `list` and `export`.",
            )
        found: list[Predicate] = [] if self.shows_archived else [_is_not_archived]
        found += map(_compile, self.clauses)
        found += map(_contains, self.phrases)
        return [*found, *(_negate(_contains(phrase)) for phrase in self.excluded)]


def parse_filter(
    text: str, now: datetime, *, forgiving: bool = False, zone: tzinfo | None = None
) -> Filter:
    """Read a filter; relative times count from `now`, days are those of `zone`, the machine's when
    none is given.

    Raises `InvalidQuery` for a value that cannot be read and for a key that looks like a typing
    error, unless it is `forgiving`: then that is a word, and the filter says so. Other text with a
    colon, such as an address, is a word.
    """
    clauses: list[Clause] = []
    words: list[str] = []
    phrases: list[str] = []
    excluded: list[str] = []
    unknown: list[tuple[str, str]] = []
    for found in TOKEN.finditer(text):
        negated = bool(found["minus"])
        if found["phrase"] is not None:
            if phrase := _flat(found["phrase"]):
                (excluded if negated else phrases).append(phrase)
        elif found["key"] and _is_key(
            found["key"], found["values"], unknown if forgiving else None
        ):
            clauses.append(_clause(found["key"].lower(), found["values"], negated, now, zone))
        elif (word := found["body"].replace('"', "")) and word != "-":
            if negated:
                excluded.append(_flat(word))
            else:
                words.append(word)
    return Filter(tuple(clauses), tuple(words), tuple(phrases), tuple(excluded), tuple(unknown))


def fits(clause: Clause, names: Collection[str]) -> bool:
    """Tell whether one of some names, in folded case, is one of a clause's, or begins as one that
    ends in `*`.
    """
    starts = tuple(value[:-1] for value in clause.values if value.endswith("*"))
    found = any(name in clause.values or name.startswith(starts) for name in names)
    return found != clause.negated


def matches(memory: Memory, flt: Filter) -> bool:
    """Tell whether all clauses and phrases hold for `memory`; the fuzzy words are not looked at."""
    return flt.predicate()(memory)


TOKEN = re.compile(
    r"""(?P<minus>-(?=[^\s-]))?
    (?P<body>
        "(?P<phrase>[^"]*)"?
      | (?P<key>[A-Za-z]+):(?P<values>(?:"[^"]*"?|[^\s"])*+)
      | \S+
    )""",
    re.VERBOSE,
)
_VALUE = re.compile(r'(?:"[^"]*"?|[^,"])+')


def _has_status(status: str, memory: Memory) -> bool:
    return memory.status == status


_FLAGS: dict[str, Predicate] = {
    "reflection": lambda memory: memory.is_synthetic,
    "voted": lambda memory: bool(memory.helpful_votes or memory.harmful_votes),
    "harmful": lambda memory: memory.harmful_count > 0,
    "pinned": lambda memory: memory.pinned,
    **{status: partial(_has_status, status) for status in STATUSES},
}
_EXAMPLES = {
    "type": "type:error,failure",
    "memory": "memory:semantic",
    "status": "status:confirmed",
    "tag": "tag:auth",
    "category": "category:decision",
    "section": "section:strategies",
    "source": "source:SessionEnd",
    ACTOR: "actor:claude",
    "importance": "importance:>7",
    "confidence": "confidence:>2",
    "session": "session:s1*",
    "speaker": "speaker:user",
    "since": "since:7d",
    "until": "until:yesterday",
    "pinned": "pinned:yes",
    "id": "id:mem-20261121-0000001",
    "is": "is:reflection",
}
_NUMBER = re.compile(r"(>=|<=|>|<|)(\d{1,3}(?:\.\d{1,3})?)")
_COMPARE: dict[str, Callable[[float, float], bool]] = {
    ">": operator.gt,
    ">=": operator.ge,
    "<": operator.lt,
    "<=": operator.le,
    "": operator.eq,
}
_NUMBERS: dict[str, Callable[[Memory], float]] = {
    "importance": lambda memory: memory.importance_score,
    "confidence": confidence_of,
}
_CLOSED: dict[str, tuple[str, ...]] = {
    "memory": MEMORY_TYPES,
    "status": (*STATUSES, ANY),
    "pinned": ("yes", "no"),
    "is": tuple(_FLAGS),
}


def _is_key(key: str, values: str, unknown: list[tuple[str, str]] | None) -> bool:
    """Tell a clause from a word that holds a colon; note what looks like a mistyped key, or raise
    for it.
    """
    name = key.lower()
    if name in _EXAMPLES:
        return True
    if not values or values.startswith(("/", ":", "\\")):
        return False
    near = [known for known in _EXAMPLES if len(name) >= 3 and known.startswith(name)]
    near = near or difflib.get_close_matches(name, _EXAMPLES, n=1, cutoff=0.75)
    if near and unknown is not None:
        unknown.append((key, near[0]))
    elif near:
        raise InvalidQuery(
            f"Unknown filter “{key}:”.",
            f'Did you mean “{near[0]}:”? Or quote it: "{key}:…".',
        )
    return False


def _clause(key: str, text: str, negated: bool, now: datetime, zone: tzinfo | None) -> Clause:
    raw = (part.replace('"', "").strip() for part in _VALUE.findall(text))
    values = tuple(_flat(part) for part in raw if part)
    if not values:
        raise InvalidQuery(f"“{key}:” needs a value.", f"For example: {_EXAMPLES[key]}.")
    if key in ("since", "until"):
        if len(values) > 1:
            raise InvalidQuery(
                f"“{key}:” takes one time, not {len(values)}.", f"For example: {_EXAMPLES[key]}."
            )
        try:
            at = instant(values[0], now, last=key == "until", zone=zone)
        except InvalidQuery as error:
            raise InvalidQuery(
                f"“{values[0]}” after “{key}:” is not a time.", error.hint
            ) from error
        return Clause(key, values, negated, at)
    for value in values:
        _check(key, value)
    return Clause(key, values, negated)


def _check(key: str, value: str) -> None:
    """Raise for a value outside a closed set, and for one that looks like a mistyped observation
    type.
    """
    if key in _NUMBERS and not _NUMBER.fullmatch(value):
        raise InvalidQuery(f"“{value}” cannot follow “{key}:”.", f"For example: {_EXAMPLES[key]}.")
    closed = _CLOSED.get(key)
    known = closed or (OBSERVATION_TYPES if key == "type" else ())
    if not known or value in known:
        return
    near = difflib.get_close_matches(value, known, n=1, cutoff=0.6 if closed else 0.75)
    if near:
        raise InvalidQuery(f"“{value}” cannot follow “{key}:”.", f"Did you mean “{near[0]}”?")
    if closed:
        raise InvalidQuery(
            f"“{value}” cannot follow “{key}:”.", f"It is one of: {', '.join(closed)}."
        )


def _compile(clause: Clause) -> Predicate:
    test = _positive(clause)
    return _negate(test) if clause.negated else test


def _positive(clause: Clause) -> Predicate:
    values = frozenset(clause.values)
    if clause.at is not None:
        at = clock_time(clause.at, UTC)
        if clause.key == "since":
            return lambda memory: memory.created_at >= at
        return lambda memory: memory.created_at <= at
    match clause.key:
        case "type":
            return lambda memory: memory.observation_type.casefold() in values
        case "memory":
            return lambda memory: memory.memory_type in values
        case "status":
            return (lambda _: True) if ANY in values else (lambda memory: memory.status in values)
        case "pinned":
            wanted = frozenset(value == "yes" for value in values)
            return lambda memory: memory.pinned in wanted
        case "is":
            return _some([_FLAGS[value] for value in clause.values])
        case key if key in _NUMBERS:
            return _some([_compared(_NUMBERS[key], value) for value in clause.values])
        case key:
            return _text_clause(key, clause.values)


def _compared(number: Callable[[Memory], float], value: str) -> Predicate:
    """Compare a number of a memory with one behind a sign; without a sign, as equal."""
    found = _NUMBER.fullmatch(value)
    if found is None:
        raise InvalidQuery(f"“{value}” is not a number to compare with.")
    compare, limit = _COMPARE[found[1]], float(found[2])
    return lambda memory: compare(number(memory), limit)


def _text_clause(key: str, values: tuple[str, ...]) -> Predicate:
    """Compare tags, section, session, speaker or ids as a whole; a value that ends in `*` compares
    the beginning.
    """
    whole = frozenset(values)
    starts = tuple(value[:-1] for value in values if value.endswith("*"))

    def fits(text: str) -> bool:
        folded = text.casefold()
        return folded in whole or folded.startswith(starts)  # an empty tuple never fits

    match key:
        case "tag" if not starts:
            return lambda memory: not whole.isdisjoint(map(str.casefold, memory.tags))
        case "tag":
            return lambda memory: any(map(fits, memory.tags))
        case "category":
            return lambda memory: fits(memory.category)
        case "source":
            return lambda memory: any(map(fits, _sources(memory)))
        case "section":
            return lambda memory: fits(memory.section)
        case "session":
            return lambda memory: fits(memory.session_id)
        case "speaker":
            return lambda memory: memory.source.speaker is not None and fits(memory.source.speaker)
        case _:
            return lambda memory: fits(memory.id) or any(map(fits, memory.aliases))


def _sources(memory: Memory) -> Iterator[str]:
    """Yield the names of where a memory was captured: the hook, and the file by its path and its
    name.
    """
    if memory.source.hook:
        yield memory.source.hook
    if memory.source.file:
        yield memory.source.file
        yield memory.source.file.replace("\\", "/").rpartition("/")[2]


def _contains(phrase: str) -> Predicate:
    """Look for a flat phrase in content, summary and each tag, whatever the case and the white
    space.
    """
    first, *more = phrase.split()

    def holds(memory: Memory) -> bool:
        # In one piece: no phrase has a line break, and four times three steps cost more than a
        # longer text.
        folded = "\n".join(_said(memory)).casefold()
        if phrase in folded:
            return True
        # Flattening is slow, so it happens only where other white space may have hidden the phrase.
        return (
            bool(more) and first in folded and any(phrase in _flat(text) for text in _said(memory))
        )

    return holds


def _said(memory: Memory) -> tuple[str, ...]:
    return memory.content, memory.summary, *memory.tags


def _is_not_archived(memory: Memory) -> bool:
    return memory.status != "archived"


def _negate(test: Predicate) -> Predicate:
    return lambda memory: not test(memory)


def _every(tests: list[Predicate]) -> Predicate:
    def holds(memory: Memory) -> bool:
        for test in tests:  # noqa: SIM110 - a generator would cost as much as the tests themselves
            if not test(memory):
                return False
        return True

    return holds if len(tests) > 1 else tests[0] if tests else _any


def _any(_: Memory) -> bool:
    return True


def _some(tests: list[Predicate]) -> Predicate:
    return tests[0] if len(tests) == 1 else lambda memory: any(test(memory) for test in tests)


def _flat(text: str) -> str:
    return " ".join(text.casefold().split())
