"""What a store is expected to answer: read from a file, and held against it."""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, tzinfo
from pathlib import Path
from typing import Any, cast

from workbench.core.agents.read import UNKNOWN
from workbench.core.files.fresh import read_text_of
from workbench.core.record import InvalidQuery, UnreadableFile
from workbench.core.runtime import Cancelled, Progress
from workbench.core.stream.memory import hidden_because
from workbench.core.toml_text import parse_toml
from workbench.core.tuning.measure import (
    TOP,
    AnswerExpected,
    Checked,
    Expected,
    QualityExpected,
    Shortfall,
    parse_measure,
)
from workbench.core.tuning.profile import Profile
from workbench.services.agents.serving import Served, give
from workbench.services.context import Context
from workbench.services.safety.provenance import provenances
from workbench.services.safety.safety import Safety
from workbench.services.tuning.evaluation import Evaluator
from workbench.services.tuning.queries import JudgedSet, from_file
from workbench.services.tuning.tuning import Tuning

# Files of expectations: TOML with a table `[[expect]]` for each, or JSON lines with an object for
# each.


NOTHING = "Nothing was checked."

LARGEST = 16 << 20
"""Bytes of a file of expectations."""

_HEADER = re.compile(r"\s*\[\[\s*expect\s*\]\]")
_FIELD = re.compile(r"\s*([\w-]+)\s*=")

Row = tuple[int, Mapping[str, object], Mapping[str, int]]
"""An expectation as it is written, with its line and the lines of its fields."""


def read_expectations(path: Path, zone: tzinfo = UTC) -> tuple[Expected, ...]:
    """Return the expectations of a file, in its order; times without an offset are of `zone`.

    Raises `UnreadableFile`.
    """
    text = read_text_of(path, LARGEST, NOTHING).removeprefix("\ufeff")
    rows = _json_lines(path, text) if text.lstrip().startswith("{") else _toml(path, text)
    if not rows:
        hint = f'Write a table [[expect]] with a query and what it finds, or a JSON line {{"query": …}}. {NOTHING}'
        raise UnreadableFile(f"{path} has no [[expect]].", hint)
    return tuple(_expected(path, row, zone) for row in rows)


def _json_lines(path: Path, text: str) -> list[Row]:
    rows: list[Row] = []
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            try:
                row = json.loads(line)
            except (ValueError, RecursionError):
                row = None
            if not isinstance(row, dict):
                raise UnreadableFile(f"{path}:{number}: this is not a JSON object.", NOTHING)
            rows.append((number, row, {}))
    return rows


def _toml(path: Path, text: str) -> list[Row]:
    try:
        document = parse_toml(text.replace("\r\n", "\n"))
    except ValueError as error:
        raise UnreadableFile(f"{path} is neither TOML nor JSON lines: {error}.", NOTHING) from error
    strange = next((name for name in document if name != "expect"), "")
    if strange:
        raise UnreadableFile(
            f"{path}: there is no “{strange}” here, only tables [[expect]].", NOTHING
        )
    tables = document.get("expect", [])
    if not isinstance(tables, list) or not all(isinstance(table, dict) for table in tables):
        raise UnreadableFile(f"{path}: expect is not a list of tables [[expect]].", NOTHING)
    places: list[tuple[int, dict[str, int]]] = []
    for number, line in enumerate(text.split("\n"), 1):
        if _HEADER.match(line):
            places.append((number, {}))
        elif places and (field := _FIELD.match(line)) is not None:
            places[-1][1].setdefault(field[1], number)
    if len(places) != len(
        tables
    ):  # written in another way: the fields are named without their lines
        places = [(0, {})] * len(tables)
    return [(line, table, lines) for (line, lines), table in zip(places, tables, strict=True)]


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _are_ids(value: object) -> bool:
    ids = [value] if isinstance(value, str) else value
    return isinstance(ids, list) and all(isinstance(id, str) and id.strip() for id in ids)


def _is_share(value: object) -> bool:
    return type(value) in (int, float) and 0 <= cast("float", value) <= 1


_TEXT, _IDS = (_is_text, "is a text"), (_are_ids, "is an id or a list of ids")
_SHARE = (_is_share, "is a number from 0 to 1")

Fields = dict[str, tuple[Callable[[object], bool], str]]
"""What a field is, and how that is said, by its name."""

ANSWER: Fields = {
    "query": _TEXT, "finds": _IDS, "never": _IDS, "nothing": (lambda v: isinstance(v, bool), "is true or false"),
    "top": (lambda v: type(v) is int and 1 <= v <= 10_000, "is a whole number from 1 to 10,000"),
    "now": (lambda _: True, ""), "name": _TEXT,
}  # fmt: skip
QUALITY: Fields = {
    "queries": _TEXT,
    "ndcg": _SHARE,
    "metric": _TEXT,
    "at_least": _SHARE,
    "name": _TEXT,
}


def _expected(path: Path, written: Row, zone: tzinfo) -> Expected:
    """Return what a row expects. Raises `UnreadableFile`, which names the line and the field."""
    line, row, lines = written[0], dict[str, Any](written[1]), written[2]

    def wrong(field: str, why: str) -> UnreadableFile:
        at = lines.get(field, line)
        return UnreadableFile(f"{path}{f':{at}' if at else ''}: {field} {why}.", NOTHING)

    known = QUALITY if "queries" in row else ANSWER
    for name, value in row.items():
        if name not in known:
            raise wrong(name, f"is not a field; fields are {', '.join(known)}")
        fits, what = known[name]
        if not fits(value):
            raise wrong(name, what)
    return _quality(row, line, wrong) if known is QUALITY else _answer(row, line, zone, wrong)


Wrong = Callable[[str, str], UnreadableFile]


def _quality(row: dict[str, Any], line: int, wrong: Wrong) -> QualityExpected:
    short, queries = "ndcg" if "ndcg" in row else "at_least", row["queries"].strip()
    if not queries:
        raise wrong("queries", "is empty")
    if short == "ndcg" and ("at_least" in row or "metric" in row):
        raise wrong("ndcg", "replaces metric and at_least; leave those out")
    if short not in row:
        raise wrong(short, _SHARE[1])
    try:
        measure = parse_measure(row.get("metric") or "ndcg@10")
    except InvalidQuery as error:
        raise wrong("metric", "is one such as ndcg@10, recall@5, mrr@10 or p@3") from error
    return QualityExpected(queries, measure, float(row[short]), row.get("name", "").strip(), line)


def _answer(row: dict[str, Any], line: int, zone: tzinfo, wrong: Wrong) -> AnswerExpected:
    query, nothing = row.get("query", "").strip(), row.get("nothing", False)
    ids = (row.get(name, []) for name in ("finds", "never"))
    finds, never = (tuple(dict.fromkeys([one] if isinstance(one, str) else one)) for one in ids)
    if not query:
        raise wrong("query", "is missing")
    if nothing and (finds or never):
        raise wrong("nothing", "cannot be combined with finds and never")
    if not (nothing or finds or never):
        raise wrong("finds", "is missing, as are never and nothing")
    both = next((id for id in finds if id in never), "")
    if both:
        raise wrong("never", f"contains {both}, which is also expected")
    try:
        now = None if row.get("now") is None else datetime.fromisoformat(str(row["now"]))
        now = now and (now if now.tzinfo else now.replace(tzinfo=zone)).astimezone(UTC)
    except (ValueError, OverflowError) as error:
        raise wrong("now", "is an ISO 8601 time") from error
    return AnswerExpected(
        query, finds, never, nothing, row.get("top", TOP), now, row.get("name", "").strip(), line
    )


# Holding answers against them. It only looks: no reading is kept.


class Checking:
    """Checks expectations by what an agent is given under a profile.

    `context` is that of the agent (`agent:NAME`); `folder` is where the paths of query sets begin.
    """

    def __init__(
        self, context: Context, tuning: Tuning, evaluator: Evaluator, profile: Profile, folder: Path
    ) -> None:
        self._context = context
        self._tuning = tuning
        self._evaluator = evaluator
        self._profile = profile
        self._folder = folder
        self._sets: dict[str, JudgedSet] = {}

    def check(
        self, expectations: Sequence[Expected], progress: Progress, cancelled: Cancelled
    ) -> tuple[Checked, ...]:
        """Return how the store falls short of each; a query set that cannot be read raises before
        anything is asked.

        Raises `UnreadableFile`, `InvalidQuery`, and `NotTrusted` for a store of which no agent is
        given anything.
        """
        self._context.library.require_trust()
        for expected in expectations:
            if isinstance(expected, QualityExpected) and expected.queries not in self._sets:
                path = self._folder / Path(expected.queries).expanduser()
                self._sets[expected.queries] = from_file(self._context, path)
        done: list[Checked] = []
        for expected in expectations:
            if cancelled():
                break
            done.append(self._checked(expected, cancelled))
            progress(len(done), len(expectations))
        return tuple(done)

    @property
    def remarks(self) -> tuple[str, ...]:
        """What a person should know of the query sets before they read the figures."""
        return tuple(remark for judged in self._sets.values() for remark in judged.remarks)

    def _checked(self, expected: Expected, cancelled: Cancelled) -> Checked:
        if isinstance(expected, QualityExpected):
            scored = self._evaluator.score(self._sets[expected.queries], cancelled=cancelled)
            value = scored.measure(self._profile, (expected.measure,)).mean[expected.measure.name]
            short = () if value >= expected.at_least else (Shortfall("low", value=value),)
            return Checked(expected, short, value)
        return Checked(expected, tuple(self._shortfalls(expected)))

    def _shortfalls(self, expected: AnswerExpected) -> Iterator[Shortfall]:
        now = expected.now or self._context.now()
        context = replace(self._context, clock=lambda: now)
        safe = Safety(context)
        served = give(context, self._tuning, expected.query, expected.top, self._profile, safe)
        place = {id: number for number, id in enumerate(served.ranking.ids, 1)}
        if expected.nothing and place:
            yield Shortfall("relevant", next(iter(place)), 1)
        for id in map(self._living, expected.finds):
            if id not in place:
                yield self._missing(context, safe, served, id, now)
        for id in map(self._living, expected.never):
            if id in place:
                yield Shortfall("unwanted", id, place[id])

    def _living(self, id: str) -> str:
        """Return the id of what a memory was merged into, as long as that goes on; otherwise its
        own.
        """
        memories = self._context.library.memories
        found = memories.find(id)
        if found is not None and found.archived_reason != "merged":
            return id
        heir = next((memory for memory in memories.all() if id in memory.aliases), None)
        return id if heir is None else heir.id

    def _missing(
        self, context: Context, safe: Safety, served: Served, id: str, now: datetime
    ) -> Shortfall:
        """Say why a memory is not among what was given."""
        memory = context.library.memories.find(id)
        if memory is None:
            return Shortfall("unknown", id)
        if hidden_because(memory, now):
            return Shortfall("hidden", id)
        if served.floor.empty:
            return Shortfall("irrelevant", id)
        if safe.held_from_agents(memory):
            return Shortfall("held", id)
        if context.settings.agents.only_approved(context.actor) and not _approved(context, id):
            return Shortfall("unapproved", id)
        stands = self._tuning.rank(served.floor.scores.query, self._profile, now).place_of(id)
        if stands is None:
            return Shortfall("left out", id)
        return Shortfall("weak" if served.floor.is_weak(id) else "below", id, stands)


def _approved(context: Context, id: str) -> bool:
    return provenances(context, [context.library.memories.get(id)]).get(id, UNKNOWN).approved
