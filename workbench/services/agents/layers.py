"""What agents did and learned has for a context: patterns that apply, what failed alike, and tasks
like it.

Patterns ask for types of problems and domains, which hardly any task names: it is taken to be of
those that the tasks like it were of (source 004, section 4.1: the task's features are found before
anything is asked for).
"""

import os
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property, lru_cache
from math import log
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from workbench.core.agents.document import Document, citation
from workbench.core.agents.episodes.criteria import summary_of
from workbench.core.agents.patterns.matching import USED, match, obstacle, task_of, text_of
from workbench.core.duplicates.dedup import is_negation, said_words
from workbench.core.files.fresh import open_handle
from workbench.core.playbook.book import Bullet
from workbench.core.playbook.budget import STANDINGS, standing
from workbench.core.record import UnreadableFile
from workbench.core.review.lifecycle import LADDER
from workbench.core.stream.memory import Memory
from workbench.core.tuning.profile import WORKBENCH, Profile
from workbench.core.words import stop_words, words
from workbench.formats.external import spoken
from workbench.retrieval.arrays import Mask
from workbench.retrieval.patterns import telling, words_of
from workbench.retrieval.ranking.episodic import most_important
from workbench.retrieval.ranking.pool import Pool
from workbench.services.agents.documents.documents import Documents
from workbench.services.agents.documents.instructions import (
    DocumentFolder,
    Entry,
    decoded,
    open_folder,
    read_document,
)
from workbench.services.agents.serving import Found, LeftOut, Served, Why, give
from workbench.services.context import Context
from workbench.services.safety.safety import Safety
from workbench.services.safety.secret_filter import SecretFilter
from workbench.services.safety.texts import texts_of
from workbench.services.tuning.tuning import Tuning

if TYPE_CHECKING:
    from workbench.core.agents.episodes.criteria import Strategy
    from workbench.core.agents.patterns.matching import Match, Task
    from workbench.services.agents.episode_finding import FoundEpisode


# What finds the items of each layer, the most important first.


MOST = 40
"""How many memories are looked at for what was retrieved, and for what is known."""

MOST_BULLETS = 5_000
"""Bullets of which is known how near to the task they are."""

NEAR, SHARED = 0.4, 2.0
"""How near a bullet is that has to do with a task, and how much the words that both have count
beside the cosine.
"""

DECISIONS = ("decision", "architectural_decision")
"""The types of observations that a later one of them may replace."""

FIRST = 40
"""Characters of a rule whose first words are looked at."""


@dataclass(frozen=True)
class Asking:
    """Who asks for what: the store, the ranking, the task in words, and a profile in place of the
    settings'.

    `pool` returns the memories as columns, by which a layer finds its own without reading all of
    them; `error` is what just failed, where something did. `kept` is what one layer worked out and
    another one asks for, too.
    """

    context: Context
    tuning: Tuning
    safety: Safety
    task: str
    playbook: Callable[[], tuple[Bullet, ...]]
    pool: Callable[[], Pool]
    profile: Profile | None = None
    error: str = ""
    kept: "dict[tuple[str, str], tuple[FoundEpisode, ...]]" = field(default_factory=dict)

    @property
    def said(self) -> str:
        """The task, with what just failed in it."""
        return f"{self.task}\n{self.error}".strip()

    @cached_property
    def served(self) -> Served | None:
        """What the ranking gives for what is said, under the profile of the settings; nothing
        without a task.
        """
        if not self.task.strip():
            return None
        profile = self.profile or self.tuning.default()
        return give(self.context, self.tuning, self.said, MOST, profile, self.safety)

    @cached_property
    def settled(self) -> list[Memory]:
        """The most important of what was confirmed of facts and ways of working."""
        pool, now = self.pool(), self.context.now()
        rows = np.flatnonzero(_of_knowledge(pool, now))
        return pool.memories_at(most_important(pool, rows, MOST, WORKBENCH, now))


class Answer(NamedTuple):
    """What a finder found, the ranking behind it where there is one, and what is not even looked
    at.
    """

    found: tuple[Found, ...]
    served: Served | None = None
    refused: tuple[LeftOut, ...] = ()


def pinned(asking: Asking) -> Answer:
    """Find what must never be done, and the pinned memories, the newest first."""
    pool = asking.pool()
    every: list[Bullet | Memory] = [*asking.playbook(), *asking.settled]
    rules = [one for one in every if _forbids(one.content) and not _is_harmful(one)]
    held = pool.memories_at(np.flatnonzero(pool.is_pinned() & pool.served(asking.context.now())))
    held = sorted(held, key=lambda m: (m.created_at, m.id), reverse=True)
    return Answer((*map(Found, rules), *map(Found, held)))


def playbook(asking: Asking) -> Answer:
    """Find the bullets of the playbook in the order in which a budget takes them.

    For a task those of one class stand by how near to it they are, and those that were voted
    harmful are left out.
    """
    every = [Found(one, standing=standing(one)) for one in asking.playbook()]
    if not (every and asking.task.strip()):
        return Answer(tuple(every))
    near = _near(asking)
    refused = tuple(LeftOut(one.id, "harmful") for one in every if _is_harmful(one.record))
    rows = [one._replace(fits=near[one.id] >= NEAR) for one in every if not _is_harmful(one.record)]
    rows.sort(key=lambda one: (STANDINGS.index(one.standing or "untried"), -near[one.id]))
    return Answer(tuple(rows), refused=refused)


def _near(asking: Asking) -> dict[str, float]:
    """Return how near to what is said each bullet is: by its meaning, and by the words, rare ones
    more.
    """
    masked, bullets = asking.safety.masked, asking.playbook()
    known = asking.tuning.retriever.nearest_bullets(asking.said, MOST_BULLETS, masked)
    cosines = {(bullet.book, bullet.id): cosine for bullet, cosine in known}
    texts, counts = _words_of(tuple(masked(one.content) for one in bullets))
    weights = {word: log(1 + len(texts) / counts.get(word, 1)) for word in words_of(asking.said)}
    most = sum(weights.values()) or 1.0
    return {
        f"{one.book}/{one.id}": cosines.get((one.book, one.id), 0.0)
        + SHARED * sum(weights[word] for word in weights.keys() & its) / most
        for one, its in zip(bullets, texts, strict=True)
    }


@lru_cache(2)
def _words_of(texts: tuple[str, ...]) -> tuple[list[frozenset[str]], Counter[str]]:
    """Return the words that tell texts apart, and in how many of them each stands."""
    found = telling(*texts)
    return found, Counter(word for some in found for word in some)


def known(asking: Asking) -> Answer:
    """Find what was confirmed of facts and ways of working: what the task is about first, then the
    most important.
    """
    memories, served = asking.settled, asking.served
    if served is None or served.floor.empty:
        return Answer(tuple(map(Found, memories)))
    pool, floor = served.floor.pool, served.floor
    rows = np.flatnonzero(_of_knowledge(pool, asking.context.now()))
    rows = rows[floor.strong(rows)]
    best = pool.memories_at(rows[np.argsort(-floor.scores.relevance[rows], kind="stable")[:MOST]])
    about = [Found(memory, relevance=floor.relevance(memory.id)) for memory in best]
    ids = {one.id for one in about}
    rest = (Found(memory, fits=False) for memory in memories if memory.id not in ids)
    return Answer((*about, *rest)[:MOST])


def _of_knowledge(pool: Pool, now: datetime) -> Mask:
    return pool.settled & pool.is_of("semantic", "procedural") & pool.served(now)


def _forbids(text: str) -> bool:
    """Tell whether a rule begins with what must not be done."""
    first = said_words(text[:FIRST].lower())[:2]
    return any(map(is_negation, first[:1])) or first == ["do", "not"]


def retrieved(asking: Asking) -> Answer:
    """Find what the ranking gives for the task, under the profile of the settings; what tools
    printed comes last.
    """
    served = asking.served
    if served is None:
        return Answer(())
    best = sorted(
        zip(served.ranking.top, served.relevances, strict=True),
        key=lambda one: one[0].memory.observation_type == "tool_output",
    )
    gone: dict[str, Why] = {one.memory.id: "harmful" for one, _ in best if _is_harmful(one.memory)}
    valid = [one.memory for one, _ in best if one.memory.id not in gone]
    approved = {id for id, origin in served.blocks.origins.items() if origin.approved}
    gone |= dict.fromkeys(_replaced(valid, approved), "replaced")
    found = (
        Found(one.memory, one.total, relevance=near)
        for one, near in best
        if one.memory.id not in gone
    )
    return Answer(tuple(found), served, tuple(LeftOut(id, why) for id, why in gone.items()))


_REPLACES = re.compile(r"\b(?:replac(?:es|ed)|supersedes?|new decision|no longer)\b|\(was ", re.I)
"""By what a decision says that it takes the place of another one."""


def _replaced(memories: Iterable[Memory], approved: Collection[str]) -> Iterator[str]:
    """Yield the ids of decisions in whose place a later one of no lower status says that it stands:
    of those before it that have a tag in common with it, the one with most words in common.

    What a person wrote or approved is replaced by the like alone.
    """
    told = [one for one in memories if one.observation_type in DECISIONS and one.tags]
    told.sort(key=lambda one: one.created_at)
    for place, later in enumerate(told):
        rank, tags = LADDER.index(later.status), set(later.tags)
        before = [
            one
            for one in told[:place]
            if LADDER.index(one.status) <= rank
            and not (one.pinned or tags.isdisjoint(one.tags))
            and (one.id not in approved or later.id in approved)
        ]
        if before and _REPLACES.search(later.content):
            own, *its = telling(later.content, *(one.content for one in before))
            shared = [len(own & some) for some in its]
            if max(shared) >= COMMON:
                yield before[shared.index(max(shared))].id


def _is_harmful(record: object) -> bool:
    """Tell whether a memory or bullet was voted harmful as often as helpful."""
    return isinstance(record, Memory | Bullet) and 0 < record.harmful_count >= record.helpful_count


# What the external memory of a project's last session has for a context: its overview, and what was
# said last.
#
# Only what a person has looked at: of raw messages that went on since, nothing, for their last
# turns are those.


TURNS = 20
"""Turns that are looked at, the last ones."""

_TAIL = 256 << 10
"""Bytes at the end of raw messages in which they are looked for."""


def overview(asking: Asking) -> Answer:
    """Find the overview of the last session."""
    documents, folder = _last(asking)
    entry = (
        None
        if folder is None
        else next((one for one in folder.entries if one.scope == "overview"), None)
    )
    if folder is None or entry is None:
        return Answer(())
    try:
        opened = read_document(entry)
    except UnreadableFile:
        return Answer(())
    if not documents.seen(folder).trusts(opened):
        return Answer((), refused=(LeftOut(entry.path, "untrusted"),))
    return Answer(_fitting(asking, [opened.document]) if opened.document.content.strip() else ())


def turns(asking: Asking) -> Answer:
    """Find the last turns of the last session, the latest first."""
    documents, folder = _last(asking)
    entry = None if folder is None else folder.messages
    if folder is None or entry is None:
        return Answer(())
    if not documents.seen(folder).is_unchanged(entry):
        return Answer((), refused=(LeftOut(entry.path, "untrusted"),))
    return Answer(_fitting(asking, _turns(entry)))


def _fitting(asking: Asking, documents: Sequence[Document]) -> tuple[Found, ...]:
    """Return documents, with whether each has a word of what is said."""
    asked, its = words_of(asking.said), telling(*(one.content for one in documents))
    return tuple(
        Found(one, fits=not asked.isdisjoint(some))
        for one, some in zip(documents, its, strict=True)
    )


def _last(asking: Asking) -> tuple[Documents, DocumentFolder | None]:
    documents = Documents(asking.context)
    session = documents.last_session()
    try:
        return documents, None if session is None else open_folder(session)
    except UnreadableFile:
        return documents, None


def _turns(entry: Entry) -> list[Document]:
    """Return the last messages, the latest first, each cited by its line."""
    try:
        with os.fdopen(open_handle(entry.file, os.O_RDONLY), "rb") as file:
            before = sum(
                file.read(min(_TAIL, left)).count(b"\n")
                for left in range(entry.size - _TAIL, 0, -_TAIL)
            )
            lines = file.read(_TAIL).split(b"\n")
    except OSError:
        return []
    numbered = list(enumerate(lines, before + 1))
    found: list[Document] = []
    for number, line in reversed(numbered if entry.size <= _TAIL else numbered[1:]):
        said = spoken(decoded(line)[0]) if line.strip() else None
        if said is not None and said[1].strip():
            text, name = f"{said[0]}: {said[1]}", citation(entry.path, number)
            found.append(Document(name, text, entry.changed_at, entry.changed_at, str(entry.file)))
        if len(found) == TURNS:
            break
    return found


PATTERNS, FAILURES, RECOVERIES, EPISODES = 3, 3, 3, 5
"""How many of each are given, at the most."""

CLOSE = 0.8
"""The part of the highest similarity that an episode must have: what is recent or went well is no
more alike for it.
"""

TELLING = 0.5
"""The similarity from which a task tells of a failure by itself, where nobody says what failed."""

ALIKE = 3
"""Tasks like it whose types and domains a task is taken to be of."""

COMMON = 2
"""Words that a pattern has in common with a task that names nothing it asks for, at the least."""


def patterns(asking: Asking) -> Answer:
    """Find the patterns in use that apply to the task, the best first; what to do after a failure
    stands with those.

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
        and not (
            asked
            and one.pattern.category == "failure"
            and asked.isdisjoint(words_of(text_of(one.pattern)))
        )
    ]
    return Answer(tuple(map(_pattern, fitting[:PATTERNS])))


def failures(asking: Asking) -> Answer:
    """Find what failed as the error did, or the task says, and before that the patterns of what
    helped then.
    """
    said = asking.error or asking.task
    if not said.strip():
        return Answer(())
    # Those that share words with what is said; a task tells of a failure only when it is very like.
    alike = _close(asking, said, "failure", 0.0 if asking.error else TELLING)[:FAILURES]
    helped = recoveries(asking, said, alike) if alike or asking.error else []
    return Answer((*map(_pattern, helped), *(_episode(asking, one) for one in alike)))


def episodes(asking: Asking) -> Answer:
    """Find the episodes whose tasks were like this one, the most useful first."""
    return Answer(tuple(_episode(asking, one) for one in similar(asking)))


def similar(asking: Asking) -> "tuple[FoundEpisode, ...]":
    """Return the episodes that have to do with a task, the best first."""
    return _close(asking, asking.task, "semantic", 0.0) if asking.task.strip() else ()


def _close(
    asking: Asking, text: str, strategy: "Strategy", least: float
) -> "tuple[FoundEpisode, ...]":
    """Return the episodes that are about as like what is asked as the one that is most so, the best
    first.
    """
    if not _any(asking, "episodes"):
        return ()
    from workbench.services.agents.episode_finding import LONGEST, EpisodeFinder

    found = asking.kept.get((strategy, text))
    if found is None:
        finder = EpisodeFinder(asking.context, lambda: asking.tuning.retriever)
        said = words_of(text) if strategy == "failure" else None
        found = finder.find(text[:LONGEST], strategy, k=EPISODES, close=CLOSE, sharing=said).found
        asking.kept[strategy, text] = found
    return (
        found
        if any(one.terms is not None and one.terms.similarity >= least for one in found)
        else ()
    )


def recoveries(asking: Asking, said: str, alike: "Sequence[FoundEpisode]") -> "list[Match]":
    """Return the patterns for a recovery by the words that they share with what failed; without
    any, none of them.

    What problems and domains one asks for is no obstacle: an error seldom names them. Of equal ones
    those that were applied in one of these episodes come first, then the best.
    """
    if not _any(asking, "patterns"):
        return []
    known, asked = asking.tuning.retriever.patterns.of(USED).recoveries, words_of(said)
    task, proven, now = _task(asking, said, alike), _applied_in(asking, alike), asking.context.now()
    facts, places, rows = (
        task.every_fact,
        ("problem_type", "domain"),
        list["tuple[float, bool, float, Match]"](),
    )
    for pattern, its in known:
        found = obstacle(pattern, task, facts)
        if len(asked & its) >= min(COMMON, max(1, len(asked) // 2)) and (
            found is None or found.obstacle in places
        ):
            weight = sum(1 / sum(word in other for _, other in known) for word in asked & its)
            fitting = match(pattern, task, now)
            rows.append((-weight, pattern.id not in proven, -fitting.score, fitting))
    return [
        row[-1] for row in sorted(rows, key=lambda row: (*row[:3], row[3].pattern.id))[:RECOVERIES]
    ]


def _applied_in(asking: Asking, alike: "Iterable[FoundEpisode]") -> set[str]:
    """Return the ids of what rests on these episodes: patterns that were applied in them, among
    others.
    """
    from workbench.services.agents.episodes import Episodes

    use_of = Episodes(asking.context).use_of
    return {id for one in alike for id in use_of(one.episode.id).referenced_by}


def _any(asking: Asking, table: str) -> bool:
    return len(asking.context.library.table_named(table)) > 0


def _task(asking: Asking, text: str, alike: "Iterable[FoundEpisode]") -> "Task":
    """Return a task with the features that its words name, and those of the tasks that are like it."""
    named = asking.tuning.retriever.patterns.of(USED).features_in(text)
    near = [one.episode for one in alike][:ALIKE]
    types = {*named.get("problem_type", ()), *(one.type for one in near)}
    domains = {*named.get("domain", ()), *(one.domain for one in near)}
    return task_of(text, types, domains, facts={"error": asking.error} if asking.error else None)


def _applying(asking: Asking, task: "Task") -> "list[Match]":
    """Return the patterns that apply to a task, the best first, but for those that would apply to
    any.
    """
    from workbench.services.agents.patterns import Patterns

    found = Patterns(asking.context, SecretFilter(), asking.tuning.retriever.patterns).find(
        task, None
    )
    said = set(words(task.text)) - stop_words()

    def has_to_do(one: "Match") -> bool:
        return bool(one.met) or len(said.intersection(words(one.pattern.content))) >= min(
            COMMON, max(1, len(said))
        )

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


FINDERS: Mapping[str, Callable[[Asking], Answer]] = {
    "pinned": pinned, "failures": failures, "patterns": patterns, "episodes": episodes, "known": known,
    "playbook": playbook, "overview": overview, "turns": turns, "retrieved": retrieved,
}  # fmt: skip
"""What finds the items of each layer, by its id."""
