"""What agents did and learned has for a context: patterns that apply, what failed alike, and tasks like it.

Patterns ask for types of problems and domains, which hardly any task names: it is taken to be of those that the tasks
like it were of (source 004, section 4.1: the task's features are found before anything is asked for).
"""

from collections.abc import Collection, Iterable, Sequence
from typing import TYPE_CHECKING

from workbench.core.agents.episodes.criteria import summary_of
from workbench.core.agents.patterns.wording import text_of
from workbench.core.words import stop_words, words
from workbench.retrieval.patterns import words_of
from workbench.services.agents.context.finders import Answer, Asking
from workbench.services.agents.context.values import Found
from workbench.services.safety.secret_filter import SecretFilter
from workbench.services.safety.texts import texts_of

if TYPE_CHECKING:
    from workbench.core.agents.episodes.criteria import Strategy
    from workbench.core.agents.patterns.matching import Match, Task
    from workbench.services.agents.episodes.finding import FoundEpisode

PATTERNS, FAILURES, RECOVERIES, EPISODES = 3, 3, 3, 5
"""How many of each are given, at the most."""

CLOSE = 0.8
"""The part of the highest similarity that an episode must have: what is recent or went well is no more alike for it."""

TELLING = 0.5
"""The similarity from which a task tells of a failure by itself, where nobody says what failed."""

ALIKE = 3
"""Tasks like it whose types and domains a task is taken to be of."""

SHARED = 2
"""Words that a pattern has in common with a task that names nothing it asks for, at the least."""


def patterns(asking: Asking) -> Answer:
    """Find the patterns in use that apply to the task, the best first; what to do after a failure stands with those.

    Where something failed, patterns of other failures are none.
    """
    if not asking.task.strip() or not _any(asking, "patterns"):
        return Answer(())
    task = _task(asking, asking.task, similar(asking))
    asked = words_of(asking.error)
    fitting = [
        one
        for one in _applying(asking, task)
        if one.pattern.category != "recovery"
        and not (asked and one.pattern.category == "failure" and asked.isdisjoint(words_of(text_of(one.pattern))))
    ]
    return Answer(tuple(map(_pattern, fitting[:PATTERNS])))


def failures(asking: Asking) -> Answer:
    """Find what failed as the error did, or the task says, and before that the patterns of what helped then."""
    said = asking.error or asking.task
    if not said.strip():
        return Answer(())
    alike = failed_alike(asking, said)
    helped = recoveries(asking, said, alike) if alike or asking.error else []
    return Answer((*map(_pattern, helped), *(_episode(asking, one) for one in alike)))


def episodes(asking: Asking) -> Answer:
    """Find the episodes whose tasks were like this one, the most useful first."""
    return Answer(tuple(_episode(asking, one) for one in similar(asking)))


def similar(asking: Asking, k: int = EPISODES) -> "tuple[FoundEpisode, ...]":
    """Return the episodes that have to do with a task, the best first."""
    return _close(asking, asking.task, "semantic", 0.0)[:k] if asking.task.strip() else ()


def failed_alike(asking: Asking, said: str, k: int = FAILURES) -> "tuple[FoundEpisode, ...]":
    """Return the episodes in which something failed as is said, and that share words with that."""
    return _close(asking, said, "failure", 0.0 if asking.error else TELLING)[:k]


def _close(asking: Asking, text: str, strategy: "Strategy", least: float) -> "tuple[FoundEpisode, ...]":
    """Return the episodes that are about as like what is asked as the one that is most so, the best first."""
    if not _any(asking, "episodes"):
        return ()
    from workbench.services.agents.episodes.finding import LONGEST, EpisodeFinder

    found = asking.kept.get((strategy, text))
    if found is None:
        finder = EpisodeFinder(asking.context, lambda: asking.tuning.retriever)
        said = words_of(text) if strategy == "failure" else None
        found = finder.find(text[:LONGEST], strategy, k=EPISODES, close=CLOSE, sharing=said).found
        asking.kept[strategy, text] = found
    return found if any(one.terms is not None and one.terms.similarity >= least for one in found) else ()


def recoveries(asking: Asking, said: str, alike: "Sequence[FoundEpisode]") -> "list[Match]":
    """Return the patterns for a recovery by the words that they share with what failed; without any, none of them.

    What problems and domains one asks for is no obstacle: an error seldom names them. Of equal ones those that were
    applied in one of these episodes come first, then the best.
    """
    if not _any(asking, "patterns"):
        return []
    from workbench.core.agents.patterns.matching import USED, match, obstacle

    known, asked = asking.tuning.retriever.patterns.of(USED).recoveries, words_of(said)
    task, proven, now = _task(asking, said, alike), _applied_in(asking, alike), asking.context.now()
    facts, places, rows = task.every_fact, ("problem_type", "domain"), list["tuple[float, bool, float, Match]"]()
    for pattern, its in known:
        found = obstacle(pattern, task, facts)
        if len(asked & its) >= min(SHARED, max(1, len(asked) // 2)) and (found is None or found.obstacle in places):
            weight = sum(1 / sum(word in other for _, other in known) for word in asked & its)
            fitting = match(pattern, task, now)
            rows.append((-weight, pattern.id not in proven, -fitting.score, fitting))
    return [row[-1] for row in sorted(rows, key=lambda row: (*row[:3], row[3].pattern.id))[:RECOVERIES]]


def _applied_in(asking: Asking, alike: "Iterable[FoundEpisode]") -> set[str]:
    """Return the ids of what rests on these episodes: patterns that were applied in them, among others."""
    from workbench.services.agents.episodes.keeping import Episodes

    use_of = Episodes(asking.context).use_of
    return {id for one in alike for id in use_of(one.episode.id).referenced_by}


def _any(asking: Asking, table: str) -> bool:
    return len(asking.context.library.table_named(table)) > 0


def _task(asking: Asking, text: str, alike: "Iterable[FoundEpisode]") -> "Task":
    """Return a task with the features that its words name, and those of the tasks that are like it."""
    from workbench.core.agents.patterns.matching import USED, task_of

    named = asking.tuning.retriever.patterns.of(USED).features_in(text)
    near = [one.episode for one in alike][:ALIKE]
    types = {*named.get("problem_type", ()), *(one.type for one in near)}
    domains = {*named.get("domain", ()), *(one.domain for one in near)}
    return task_of(text, types, domains, facts={"error": asking.error} if asking.error else None)


def _applying(asking: Asking, task: "Task", proven: Collection[str] = ()) -> "list[Match]":
    """Return the patterns that apply to a task, the best first, but for those that would apply to any.

    Those that are `proven`, by their ids, in an episode like it have to do with it, too.
    """
    from workbench.services.agents.patterns.patterns import Patterns

    found = Patterns(asking.context, SecretFilter(), asking.tuning.retriever.patterns).find(task, None)
    said = set(words(task.text)) - stop_words()

    def has_to_do(one: "Match") -> bool:
        if one.met or one.pattern.id in proven:
            return True
        return len(said.intersection(words(one.pattern.content))) >= min(SHARED, max(1, len(said)))

    return [one for one in found.matches if has_to_do(one)]


def _pattern(one: "Match") -> Found:
    return Found(one.pattern, one.score, text_of(one.pattern), tuple(texts_of(one.pattern)))


def _episode(asking: Asking, one: "FoundEpisode") -> Found:
    masked, digest = asking.safety.masked, one.digest
    # Before it is cut: of the beginning of a secret nothing tells that it is one.
    clean = digest._replace(
        task=masked(digest.task),
        result=masked(digest.result),
        lessons=masked(digest.lessons),
        failure=masked(digest.failure),
    )
    beside = (one.digest.whole, one.digest.session, *texts_of(one.episode))
    return Found(one.episode, one.total, summary_of(clean), tuple(text for text in beside if text))
