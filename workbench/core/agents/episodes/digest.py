"""What is searched of an episode, made of the file beside the store once, so that not every file is opened."""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from workbench.core.agents.episodes.schema import EpisodeBody
from workbench.core.agents.episodes.signature import features_of
from workbench.core.text import one_line

EDITION = 1
"""Goes up when other things are made of the same episode."""

_TASK, _PART, _WHOLE = 1_000, 800, 3_000
"""Characters of a task, of another part, and of all of them together that are searched."""

_LINE = 240
"""Characters of a part in a summary."""

_FAILED = frozenset({"error", "failed", "failure", "exception", "stderr", "traceback"})
"""Fields of an entry of a trace that say that it failed."""


class Digest(NamedTuple):
    """What is searched of an episode: its `task`, how it ended (`result`), what was learned, and the names in it.

    `failure` says what went wrong and `signature` tells that again; both are empty where nothing did. `duration` is
    in seconds.
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
        """All of it as one text."""
        names = " ".join((self.domain, self.type, *self.tools, *self.strategies))
        parts = (self.task, self.result, self.lessons, self.failure, names)
        return "\n".join(part for part in parts if part.strip())[:_WHOLE]


def digest_of(body: EpisodeBody) -> Digest:
    """Return what is searched of an episode."""
    failures = list(_failures(body))
    duration = body.get("execution.duration")
    goals = said(body.get("task.parsed_goals"), _PART)
    return Digest(
        task=_joined((body.task[:_TASK], goals), _TASK + _PART),
        result=_joined((body.outcome.lower(), said(body.get("outcome.primary_output"), _PART)), _PART),
        lessons=said([body.get("reflection.insights"), body.get("reflection.performance_analysis")], _PART),
        failure="\n".join(failures)[:_PART],
        session=body.session,
        domain=body.text("metadata.domain"),
        type=body.text("metadata.task_type"),
        tools=body.texts("metadata.tools_used"),
        strategies=body.texts("metadata.strategies_applied"),
        signature=features_of(failures, _failing_tools(body)) if failures else (),
        duration=float(duration) if isinstance(duration, int | float) else None,
    )


_LABELS = (("task", "Task"), ("result", "Outcome"), ("lessons", "Lessons"), ("failure", "Failure"))


def told(digest: Digest) -> str:
    """Return what is searched of an episode as a text to read."""
    parts = ((label, str(getattr(digest, name))) for name, label in _LABELS)
    return "\n".join(f"{label}: {text}" for label, text in parts if text)


def summary_of(digest: Digest) -> str:
    """Return an episode in at most four lines: its task, how it ended, what was learned, and what failed."""
    parts = ((label, one_line(" · ".join(str(getattr(digest, name)).splitlines()), _LINE)) for name, label in _LABELS)
    return "\n".join(f"{label}: {text}" for label, text in parts if text)


def packed(digest: Digest) -> list[object]:
    """Return a digest as JSON values."""
    return [list(value) if isinstance(value, tuple) else value for value in digest]


def unpacked(values: object) -> Digest:
    """Return a digest of JSON values; raises `ValueError` for what is none."""
    if not isinstance(values, list) or len(values) != len(Digest._fields):
        raise ValueError("this is no digest of an episode")
    texts, lists, duration = values[:7], values[7:10], values[10]
    if not all(isinstance(text, str) for text in texts) or not all(isinstance(one, list) for one in lists):
        raise ValueError("this is no digest of an episode")
    tools, strategies, signature = (tuple(map(str, one)) for one in lists)
    return Digest._make([*texts, tools, strategies, signature, None if duration is None else float(duration)])


def said(value: object, limit: int) -> str:
    """Return the texts in JSON values, in order, up to so many characters."""
    found, size = list[str](), 0
    for text in _strings(value):
        found.append(text.strip()[: limit - size])
        size += len(found[-1]) + 1
        if size >= limit:
            break
    return "\n".join(text for text in found if text)


def _failures(body: EpisodeBody) -> Iterator[str]:
    """Yield what is said of failures: what was analysed, what an entry of the trace says, what a failed task gave."""
    analysed = body.get("reflection.failures_analyzed")
    for one in analysed if isinstance(analysed, list | tuple) else ():
        text = said(one, _PART)
        if text:
            yield text
    for entry in _failed(body):
        text = said([value for name, value in entry.items() if name in _FAILED or name == "result"], _PART)
        if text:
            yield text
    if body.outcome == "FAILURE":
        text = said(body.get("outcome.primary_output"), _PART)
        if text:
            yield text


def _failed(body: EpisodeBody) -> Iterator[Mapping[str, object]]:
    """Yield the entries of the trace that failed."""
    trace = body.get("execution.trace")
    for entry in trace if isinstance(trace, list | tuple) else ():
        if isinstance(entry, Mapping):
            ended = str(entry.get("status", "")).casefold()
            if ended in _FAILED or entry.get("success") is False or any(entry.get(name) for name in _FAILED):
                yield entry


def _failing_tools(body: EpisodeBody) -> tuple[str, ...]:
    return tuple(str(entry["tool"]) for entry in _failed(body) if isinstance(entry.get("tool"), str))


def _joined(parts: tuple[str, ...], limit: int) -> str:
    return "\n".join(part for part in parts if part.strip())[:limit]


def _strings(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from _strings(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _strings(item)
