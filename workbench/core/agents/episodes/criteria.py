"""Which episodes are meant: by what their heads say, and by what else is searched of them."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, Literal, NamedTuple, get_args

from workbench.core.agents.episodes.episode import OUTCOMES, Episode, EpisodeBody
from workbench.core.agents.transcript.failures import mark_of
from workbench.core.document import Record
from workbench.core.duplicates.dedup import conflicts, differing, word_conflicts
from workbench.core.record import InvalidQuery, as_list, as_object, moved
from workbench.core.stream.times import instant
from workbench.core.text import one_line
from workbench.core.values import read_as, texts_in

# How old an episode is in its life (source 004, section 2.5), by its date alone: nothing is
# rewritten for that.


Phase = Literal["active", "mature", "aged", "archived", "deleted"]

BEGINS: Mapping[Phase, int] = {"active": 0, "mature": 30, "aged": 180, "archived": 365}
"""From which age, in days, an episode is in a phase."""

CLOSED: frozenset[Phase] = frozenset({"aged", "archived"})
"""Phases in which the trace is opened on request only."""

RETENTION = timedelta(days=30)
"""How long an episode is kept that a person deleted; after that it may be purged."""


def phase_of(episode: Episode, now: datetime) -> Phase:
    """Return the phase of an episode: a person's word, or else what its age says."""
    if episode.status != "active":
        return episode.status
    days = age_of(episode.at, now)
    return next(phase for phase, begin in reversed(tuple(BEGINS.items())) if days >= begin)


def phase_dates(episode: Episode) -> dict[Phase, datetime]:
    """Return when each phase begins, or began."""
    return {phase: moved(episode.at, timedelta(days=days)) for phase, days in BEGINS.items()}


def age_of(at: datetime, now: datetime) -> float:
    """Return an age in days; what is not yet is of none."""
    return max((now - at).total_seconds() / 86_400, 0.0)


def is_over(episode: Episode, now: datetime) -> bool:
    """Tell whether the retention of an episode that a person deleted is over."""
    return (
        episode.status == "deleted"
        and episode.deleted_at is not None
        and now - episode.deleted_at >= RETENTION
    )


# What tells a failure again: the names of errors, codes and tools in what was said of it, and its
# lines.


MOST = 32
"""Features of one failure at the most."""

_ERRORS = re.compile(r"\b[A-Za-z_][\w.]*(?:Error|Exception|Failure|Panic|Timeout|Fault)\b")
_NAMED = re.compile(r"^\s*[\w.]*(?:Error|Exception|Failure|error|fatal)\b:\s*")
_CODES = re.compile(
    r"\b(?:E[A-Z]{4,}|E\d{3,5}|[45]\d\d(?= |$|:|,)|TS\d{4}|SIG[A-Z]{3,4})\b|\bexit(?: code| status)? (\d+)"
)


def features_of(texts: Sequence[str], tools: Sequence[str] = ()) -> tuple[str, ...]:
    """Return the features of a failure, each once: `error:`, `code:` and `tool:` with a name,
    `line:` with a mark.

    A line's mark leaves out numbers, hashes and folders, which differ from run to run.
    """
    found: dict[str, None] = {}
    for text in texts:
        for match in _ERRORS.finditer(text):
            found[f"error:{match[0].rpartition('.')[2].lower()}"] = None
        for match in _CODES.finditer(text):
            found[f"code:exit {match[1]}" if match[1] else f"code:{match[0].lower()}"] = None
        for line in text.splitlines():
            plain = _NAMED.sub("", line).strip()
            if plain:
                found[f"line:{mark_of(plain)}"] = None
    for tool in tools:
        if tool.strip():
            found[f"tool:{tool.strip().lower()}"] = None
    return tuple(found)[:MOST]


def likeness(one: Sequence[str], other: Sequence[str]) -> float:
    """Return how much two failures have in common, 0–1: what both have, of what either has; a tool
    counts half.
    """
    left, right = frozenset(one), frozenset(other)
    if left.isdisjoint(right):
        return 0.0
    either = sum(map(_weight, left | right))
    return sum(map(_weight, left & right)) / either if either else 0.0


def shared(one: Sequence[str], other: Sequence[str]) -> tuple[str, ...]:
    """Return the features that both have, those that can be read first."""
    both = [feature for feature in one if feature in set(other)]
    return tuple(sorted(both, key=lambda feature: feature.startswith("line:")))


def _weight(feature: str) -> float:
    return 0.5 if feature.startswith("tool:") else 1.0


# What is searched of an episode, made of the file beside the store once, so that not every file is
# opened.


EDITION = 1
"""Goes up when other things are made of the same episode."""

_TASK, _PART, _WHOLE = 1_000, 800, 3_000
"""Characters of a task, of another part, and of all of them together that are searched."""

_LINE = 240
"""Characters of a part in a summary."""

_FAILED = frozenset({"error", "failed", "failure", "exception", "stderr", "traceback"})
"""Fields of an entry of a trace that say that it failed."""


class Digest(NamedTuple):
    """What is searched of an episode: its `task`, how it ended (`result`), what was learned, and
    the names in it.

    `failure` says what went wrong and `signature` tells that again; both are empty where nothing
    did. `duration` is in seconds.
    """

    task: str
    result: str
    lessons: str
    failure: str
    session: str
    domain: str
    type: str
    tools: tuple[str, ...]
    strategies: tuple[str, ...]
    signature: tuple[str, ...]
    duration: float | None = None

    @property
    def whole(self) -> str:
        names = " ".join((self.domain, self.type, *self.tools, *self.strategies))
        parts = (self.task, self.result, self.lessons, self.failure, names)
        return "\n".join(part for part in parts if part.strip())[:_WHOLE]


def digest_of(body: EpisodeBody) -> Digest:
    failures = list(_failures(body))
    goals = said(body.get("task.parsed_goals"), _PART)
    return Digest(
        task=_joined((body.task[:_TASK], goals), _TASK + _PART),
        result=_joined(
            (body.outcome.lower(), said(body.get("outcome.primary_output"), _PART)), _PART
        ),
        lessons=said(
            [body.get("reflection.insights"), body.get("reflection.performance_analysis")], _PART
        ),
        failure="\n".join(failures)[:_PART],
        session=body.session,
        domain=body.text("metadata.domain"),
        type=body.text("metadata.task_type"),
        tools=body.texts("metadata.tools_used"),
        strategies=body.texts("metadata.strategies_applied"),
        signature=features_of(failures, _failing_tools(body)) if failures else (),
        duration=body.number("execution.duration"),
    )


_LABELS = (("task", "Task"), ("result", "Outcome"), ("lessons", "Lessons"), ("failure", "Failure"))


def told(digest: Digest) -> str:
    """Return what is searched of an episode as a text to read."""
    parts = ((label, str(getattr(digest, name))) for name, label in _LABELS)
    return "\n".join(f"{label}: {text}" for label, text in parts if text)


def summary_of(digest: Digest) -> str:
    """Return an episode in at most four lines: its task, how it ended, what was learned, and what
    failed.
    """
    parts = (
        (label, one_line(" · ".join(str(getattr(digest, name)).splitlines()), _LINE))
        for name, label in _LABELS
    )
    return "\n".join(f"{label}: {text}" for label, text in parts if text)


def digest_from(values: object) -> Digest:
    """Return a digest of JSON values, as it stands in a file; raises `ValueError` for what is none."""
    return read_as(Digest, values)


def said(value: object, limit: int) -> str:
    """Return the texts in JSON values, in order, up to so many characters."""
    found, size = list[str](), 0
    for text in texts_in(value):
        found.append(text.strip()[: limit - size])
        size += len(found[-1]) + 1
        if size >= limit:
            break
    return "\n".join(text for text in found if text)


def _failures(body: EpisodeBody) -> Iterator[str]:
    """Yield what is said of failures: what was analysed, what an entry of the trace says, what a
    failed task gave.
    """
    for one in as_list(body.get("reflection.failures_analyzed")):
        text = said(one, _PART)
        if text:
            yield text
    for entry in _failed(body):
        text = said(
            [value for name, value in entry.items() if name in _FAILED or name == "result"], _PART
        )
        if text:
            yield text
    if body.outcome == "FAILURE":
        text = said(body.get("outcome.primary_output"), _PART)
        if text:
            yield text


def _failed(body: EpisodeBody) -> Iterator[Mapping[str, object]]:
    """Yield the entries of the trace that failed."""
    for entry in as_list(body.get("execution.trace")):
        if isinstance(entry, Mapping):
            ended = str(entry.get("status", "")).casefold()
            if (
                ended in _FAILED
                or entry.get("success") is False
                or any(entry.get(name) for name in _FAILED)
            ):
                yield entry


def _failing_tools(body: EpisodeBody) -> tuple[str, ...]:
    return tuple(
        str(entry["tool"]) for entry in _failed(body) if isinstance(entry.get("tool"), str)
    )


def _joined(parts: tuple[str, ...], limit: int) -> str:
    return "\n".join(part for part in parts if part.strip())[:limit]


Strategy = Literal["semantic", "structured", "hybrid", "temporal", "failure"]
STRATEGIES: tuple[Strategy, ...] = get_args(Strategy)
"""The ways to episodes (source 004, section 2.4): by meaning, attributes, both, time, and by how
they failed.
"""

PHASES = (*BEGINS, "deleted")

RECENT = timedelta(days=30)
"""How old an episode is at the most that counts as recent."""


@dataclass(frozen=True, slots=True)
class Criteria:
    """What an episode must be; what is empty asks for nothing. Names are compared without regard to
    case.

    Without a `phase` those are meant that nobody has to ask for: not archived, not deleted; `every`
    means all of them but the deleted ones.
    """

    domain: str = ""
    type: str = ""
    outcome: str = ""
    tag: str = ""
    phase: str = ""
    session: str = ""
    tool: str = ""
    strategy: str = ""
    since: datetime | None = None
    until: datetime | None = None
    prefer_recent: bool = False
    only_successful: bool = False
    every: bool = False

    @property
    def are_none(self) -> bool:
        """Whether no attribute of an episode is asked for."""
        return replace(self, prefer_recent=False, only_successful=False, every=False) == Criteria()


def checked(criteria: Criteria) -> Criteria:
    """Return criteria that can be met; raises `InvalidQuery`."""
    if criteria.outcome and criteria.outcome.upper() not in OUTCOMES:
        raise InvalidQuery(
            f"Unknown outcome “{criteria.outcome}”.", f"Outcomes are: {', '.join(OUTCOMES)}."
        )
    if criteria.phase and criteria.phase not in PHASES:
        raise InvalidQuery(
            f"Unknown phase “{criteria.phase}”.", f"Phases are: {', '.join(PHASES)}."
        )
    return criteria


_NAMED_IN = re.compile(
    r"(?<!\S)(domain|type|outcome|tag|phase|session|tool|strategy|since|until):(\S+)"
)


def criteria_in(text: str, now: datetime) -> tuple[str, Criteria]:
    """Return the words of a query, and what it asks for by name (`outcome:failure since:7d`).
    Raises `InvalidQuery`.
    """
    named: dict[str, Any] = dict(_NAMED_IN.findall(text))
    for name in named.keys() & {"since", "until"}:
        named[name] = instant(named[name], now, last=name == "until")
    return " ".join(_NAMED_IN.sub(" ", text).split()), checked(replace(Criteria(), **named))


# Episodes that say the same, held together under one of them; the others are kept, and found on
# request.


LEAST = 0.95
"""The cosine above which two episodes may say the same."""

WINDOW = timedelta(days=30)
"""How far apart in time two of one cluster lie at the most."""


class Variation(Record, frozen=True):
    """How an episode differs from the one that stands for it: the words that only it has, and its
    duration.
    """

    episode: str
    words: tuple[str, ...] = ()
    duration: float | None = None


class EpisodeCluster(Record, frozen=True):
    """Episodes of one type, domain, outcome and time that say the same (source 004, section 2.5).

    `representative` stands for them, the latest; `members` are all of them, it included, which stay
    as they are. `first_at` and `last_at` say when they were, `average_duration` how long they took
    (seconds).
    """

    id: str
    representative: str
    members: tuple[str, ...]
    variations: tuple[Variation, ...]
    first_at: datetime
    last_at: datetime
    made_at: datetime
    success_rate: float
    average_duration: float | None = None
    version: int = 1


def cluster_id(representative: str) -> str:
    """Return the id of the cluster that an episode stands for."""
    return f"{representative}:cluster"


def objection(one: Digest, other: Digest) -> bool:
    """Tell whether two much alike episodes say different things all the same: opposites reach a
    cosine of 1.00.
    """
    left, right = _told(one), _told(other)
    return bool(conflicts(left, right) or word_conflicts(left, right))


def variation(id: str, digest: Digest, representative: Digest) -> Variation:
    """Return how an episode differs from the one that stands for it."""
    return Variation(id, differing(_told(digest), _told(representative))[0], digest.duration)


def average(durations: Sequence[float | None]) -> float | None:
    """Return the mean of the durations that are known."""
    known = [one for one in durations if one is not None]
    return sum(known) / len(known) if known else None


def _told(digest: Digest) -> str:
    return "\n".join((digest.task, digest.result, digest.lessons, digest.failure))


def cluster_lines(cluster: EpisodeCluster, id: str) -> Iterator[str]:
    """Say what an episode stands for, or which one stands for it."""
    if cluster.representative != id:
        yield f"consolidated under {cluster.representative}"
        return
    when = f"{cluster.first_at:%Y-%m-%d} to {cluster.last_at:%Y-%m-%d}"
    mean = (
        ""
        if cluster.average_duration is None
        else f", mean duration {cluster.average_duration:,.0f} s"
    )
    yield f"consolidated: {len(cluster.members)} instances, {when}, {cluster.success_rate:.0%} succeeded{mean}"
    for one in cluster.variations:
        took = [] if one.duration is None else [f"{one.duration:,.0f} s"]
        words = [f"only here: {', '.join(one.words)}"] if one.words else ["the same words"]
        yield f"  {one.episode}  {' · '.join((*took, *words))}"


_COMPARED = (
    "task.original_input", "outcome.status", "outcome.evidence", "outcome.primary_output", "outcome.side_effects",
    "execution.duration", "metadata.domain", "metadata.task_type", "metadata.tools_used",
    "metadata.strategies_applied", "reflection.insights", "session_id",
)  # fmt: skip


def compared(one: EpisodeBody, other: EpisodeBody) -> Iterator[tuple[str, str, str]]:
    """Yield what two episodes say, part by part: its name, and the two texts; of lists what only
    one of them has.
    """
    for path in _COMPARED:
        left, right = one.get(path), other.get(path)
        if isinstance(left, list | tuple) and isinstance(right, list | tuple):
            left, right = [x for x in left if x not in right], [x for x in right if x not in left]
        one_text, other_text = (
            f"{v:,.0f} s" if isinstance(v, int | float) else ", ".join(said(v, 600).splitlines())
            for v in (left, right)
        )
        if one_text or other_text:
            yield path.rpartition(".")[2].replace("_", " "), one_text, other_text


def said_lines(value: object, indent: str = "", shown: Callable[[str], str] = str) -> Iterator[str]:
    """Yield what a part of an episode says, a line each; `shown` makes of a text what is printed of
    it.
    """
    if isinstance(value, Mapping):
        for name, item in value.items():
            if isinstance(item, Mapping | list | tuple) and item:
                yield f"{indent}{name}:"
                yield from said_lines(item, indent + "  ", shown)
            elif item not in (None, "", [], {}, ()):
                yield f"{indent}{name}: {shown(str(item))}"
    elif isinstance(value, list | tuple):
        for item in value:
            parts = as_object(item).items()
            yield f"{indent}- {shown(' · '.join(f'{name}: {part}' for name, part in parts) or str(item))}"
