"""What episodes say of patterns by themselves: those that they name, and those that were served to them in time."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import timedelta
from functools import cached_property

from workbench.core.agents.episodes.episode import Episode, EpisodeBody
from workbench.core.agents.episodes.episode import Outcome as Ended
from workbench.core.agents.patterns.pattern import Application, Basis, Outcome, Pattern
from workbench.core.duplicates.dedup import content_words
from workbench.services.agents.sessions import AgentSession, AgentSessions
from workbench.services.context import Context

OUTCOMES: Mapping[Ended, Outcome] = {"SUCCESS": "success", "PARTIAL": "partial", "FAILURE": "failure"}

APPLIED = ("metadata.patterns_applied", "metadata.strategies_applied")
"""Where an episode names the patterns that were applied in it, by their ids, names or approaches."""

MOST = 50
"""Patterns, and memories, that one episode may name."""

FOLLOWED, SAID = 1 / 2, 2 / 3
"""The share of a pattern's steps that a trace has to have, and the share of a step's words in one of its entries."""


class EpisodeEvidence:
    """Compares episodes with the patterns and readings of a store as they are now."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._patterns = context.library.table(Pattern)

    def of(self, episode: Episode, body: EpisodeBody) -> Iterator[Application]:
        """Yield a row for each pattern that an episode names or was served; `body` is the masked one."""
        if not len(self._patterns):
            return
        found: dict[str, Basis] = {}
        for one in self._served(body):
            found[one.id] = "followed" if follows(one, body) else "served"
        found |= {one.id: "named" for one in self._called(episode, body)}
        known = body.get("execution.duration")
        seconds = float(known) if isinstance(known, int | float) else None
        lasted = timedelta(seconds=0 if body.get("metadata.captured") else seconds or 0)
        at = min(episode.at + lasted, self._context.now())
        for id, basis in found.items():
            if basis != "served" and body.is_unproven:
                basis = "unproven"
            yield Application(
                f"{id}/{episode.id}", id, episode.id, OUTCOMES[episode.outcome], at, body.task, "", seconds, None,
                self._context.actor, basis=basis,
            )  # fmt: skip

    def _called(self, episode: Episode, body: EpisodeBody) -> Iterator[Pattern]:
        names = dict.fromkeys(name.strip().casefold() for path in APPLIED for name in body.texts(path))
        for name in list(names)[:MOST]:
            yield from (one for one in self._names.get(name, ()) if _calls(one, name, episode))

    @cached_property
    def _names(self) -> dict[str, list[Pattern]]:
        names = defaultdict[str, list[Pattern]](list)
        for one in self._patterns.all():
            if one.status != "deprecated":
                for name in {one.id.casefold(), one.name.casefold(), _approach(one)} - {""}:
                    names[name].append(one)
        return names

    def _served(self, body: EpisodeBody) -> Iterator[Pattern]:
        """Yield the patterns that the session of an episode was served before its outcome."""
        duration = body.get("execution.duration")
        end = self._context.now()
        if body.at is not None and isinstance(duration, int | float):
            # Capture notes when a task ended, an agent when it began.
            end = min(end, body.at if body.get("metadata.captured") else body.at + timedelta(seconds=duration))
        reads = [read for one in self._sessions.get(body.session, ()) for read in one.reads if read.at <= end]
        for id in dict.fromkeys(id for read in reads for id in read.documents):
            pattern = self._patterns.find(id)
            if pattern is not None and pattern.status != "deprecated":
                yield pattern

    @cached_property
    def _sessions(self) -> dict[str, list[AgentSession]]:
        """The sessions by their ids; a server's and that of its hooks are one."""
        found = defaultdict[str, list[AgentSession]](list)
        for one in AgentSessions(self._context).readings():
            for id in {one.id, *(read.session for read in one.reads)} - {""}:
                found[id].append(one)
        return found


def follows(pattern: Pattern, body: EpisodeBody) -> bool:
    """Tell whether at least half of what a pattern says to do stands in the trace of an episode."""
    trace = body.get("execution.trace")
    entries = [" ".join(_texts(one)) for one in (trace if isinstance(trace, list | tuple) else ())]
    done = [set(content_words(text)) for text in (*entries, *body.texts("metadata.tools_used"))]
    steps = [step for text in _steps(pattern) if (step := set(content_words(text)))]
    return bool(steps) and sum(_stands(step, done) for step in steps) >= FOLLOWED * len(steps)


def _stands(step: set[str], done: Iterable[set[str]]) -> bool:
    return any(len(step & entry) >= SAID * len(step) for entry in done)


def _steps(pattern: Pattern) -> Sequence[str]:
    """Return the steps of a pattern, or the tools that it needs where it has none."""
    body, found = pattern.body, list[str]()
    if body is not None and pattern.category != "failure":
        found += [step.text for step in (body.procedure.steps if body.procedure else ())]
        found += _parts(body.template.structure if body.template else None)
        found += [body.heuristic.action] if body.heuristic else []
        if body.strategy is not None:
            found += body.strategy.key_principles or body.strategy.approach.split("→")
    return found or pattern.applicability.task_features.required_capabilities


def _parts(value: object) -> Iterator[str]:
    """Yield what the parts of a template are called."""
    inner = value.values() if isinstance(value, Mapping) else value if isinstance(value, list | tuple) else ()
    if isinstance(value, Mapping):
        yield next((str(value[key]) for key in ("name", "task", "text", "id") if key in value), "")
    for item in inner:
        if not isinstance(item, str):
            yield from _parts(item)
        elif inner is value:
            yield item


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping | list | tuple):
        for item in value.values() if isinstance(value, Mapping) else value:
            yield from _texts(item)


def _approach(pattern: Pattern) -> str:
    """Return the approach of a strategy, by which an episode of its place may call it."""
    body = pattern.body
    return body.strategy.approach.casefold() if pattern.category == "strategy" and body and body.strategy else ""


def _calls(pattern: Pattern, name: str, episode: Episode) -> bool:
    if name in (pattern.id.casefold(), pattern.name.casefold()):
        return True
    where = pattern.applicability
    asked = ((where.problem_types, episode.type), (where.task_features.domain, episode.domain))
    return all(not names or had.casefold() in map(str.casefold, names) for names, had in asked)
