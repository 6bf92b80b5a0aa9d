"""Follows a session event by event and tells what it taught; it can stop anywhere and go on later."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from hashlib import blake2b

from workbench.core.agents.transcript.events import Answer, Call, Event, Prompt, Summary, cut
from workbench.core.agents.transcript.failures import SHELLS, Failure, Failures, line_of, shown
from workbench.core.agents.transcript.lessons import Lesson, Passed, same_lesson
from workbench.core.agents.transcript.people import said_no, words_of, worth
from workbench.core.agents.transcript.summaries import told_in

Told = Lesson | Passed

_HOME = re.compile(
    r"(?<![\w.])(?:/home/[^/\s'\"`:]+|/Users/[^/\s'\"`:]+|/root|[A-Z]:\\Users\\[^\\\s'\"`]+)(?=[/\\\s'\"`:]|$)"
)


@dataclass(frozen=True, slots=True)
class Standing:
    """Where somebody stopped who follows a session: what is needed to go on.

    `turn` counts the prompts so far; `open` are the failures by conversation, `written` the files that were edited.
    """

    session: str = ""
    turn: int = 0
    last: str = ""
    open: Mapping[str, tuple[Failure, ...]] = field(default_factory=dict)
    written: tuple[str, ...] = ()


class Following:
    """Follows one session from where somebody `stopped`."""

    def __init__(self, session: str, stopped: Standing | None = None) -> None:
        before = stopped or Standing(session)
        self._session = session
        self._turn = before.turn
        self._last = before.last
        self._failures = {agent: Failures(session, waiting, before.written) for agent, waiting in before.open.items()}
        self._written = before.written

    @property
    def standing(self) -> Standing:
        """What is needed to go on later."""
        waiting = {agent: one.open for agent, one in self._failures.items() if one.open}
        written = [path for one in self._failures.values() for path in one.written]
        return Standing(
            self._session, self._turn, self._last, waiting, tuple(dict.fromkeys((*self._written, *written)))[-200:]
        )

    def take(self, events: Iterable[Event]) -> Iterator[Told]:
        """Yield what events teach, and what is passed over."""
        for event in events:
            yield from map(_shortened, self._taken(event))

    def end(self) -> Iterator[Told]:
        """Give up what waits to be resolved: the session is over."""
        for one in self._failures.values():
            yield from map(_shortened, one.given_up())

    def _taken(self, event: Event) -> Iterator[Told]:
        if isinstance(event, Prompt):
            yield from self._asked(event)
        elif isinstance(event, Call):
            self._of(event).called(event, self._turn)
            if event.tool in SHELLS and not event.agent:
                self._last = shown(line_of(event), event.cwd, 80)
        elif isinstance(event, Answer):
            yield from self._answered(event)
        elif isinstance(event, Summary):
            yield from self._summed_up(event)

    def _of(self, event: Event) -> Failures:
        if event.agent not in self._failures:
            self._failures[event.agent] = Failures(self._session, (), self._written)
        return self._failures[event.agent]

    def _asked(self, prompt: Prompt) -> Iterator[Told]:
        said = words_of(cut(prompt.text))
        if not said or prompt.agent:
            return
        self._turn += 1
        yield from self._corrected(said, prompt.at)

    def _corrected(self, said: str, at: datetime | None, *, refusing: bool = False) -> Iterator[Told]:
        found = worth(said, refusing=refusing)
        if isinstance(found, Passed):
            yield replace(found, id=identity(self._session, found.text))
            return
        for kind, text in found:
            after = f"\n(said after `{self._last}`)" if kind == "correction" and self._last else ""
            id = identity(self._session, text)
            mark = f"said: {' '.join(text.lower().split())}"
            yield Lesson(kind, text + after, self._session, (id,), at, self._turn, "user", mark=mark)

    def _answered(self, answer: Answer) -> Iterator[Told]:
        said = said_no(answer.text) if answer.failed else ""
        for told in self._of(answer).answered(answer):
            if isinstance(told, Passed) and told.reason == "turned down" and said and not answer.agent:
                yield from self._corrected(said, answer.at, refusing=True)
            else:
                yield replace(told, at=told.at or answer.at) if isinstance(told, Lesson) else told

    def _summed_up(self, summary: Summary) -> Iterator[Told]:
        for kind, text, extra in told_in(summary.text):
            id = identity(self._session, text)
            yield Lesson(
                kind,
                text,
                self._session,
                (id,),
                summary.at,
                self._turn,
                "assistant",
                mark=f"told: {text.lower()}",
                extra=extra,
            )


def identity(session: str, text: str) -> str:
    """Return what tells words of a session again, by whatever door they come: a hook gives no message id."""
    flat = " ".join(text.split()).encode(errors="replace")
    return f"{session}/text-{blake2b(flat, digest_size=8).hexdigest()}"


def told_once(lessons: Iterable[Lesson]) -> tuple[list[Lesson], list[Passed]]:
    """Return lessons each told once, what several sessions say as one, and what fell away by that."""
    kept: list[Lesson] = []
    passed: list[Passed] = []
    for lesson in sorted(lessons, key=lambda one: -one.weight):
        place = next((at for at, other in enumerate(kept) if same_lesson(lesson, other)), None)
        if place is None:
            kept.append(lesson)
            continue
        other = kept[place]
        ids = tuple(dict.fromkeys((*other.ids, *lesson.ids)))
        passed.extend(Passed("told already", lesson.text[:120], id) for id in lesson.ids if id not in other.ids)
        kept[place] = replace(other, ids=ids)
    ripe = [one for one in kept if one.sessions >= one.needs]
    passed += [
        Passed(one.reason, one.text[:120], one.ids[0].partition("/")[2]) for one in kept if one.sessions < one.needs
    ]
    return ripe, passed


def _shortened(told: Told) -> Told:
    """Return what was told with the folders of a person's home shortened."""
    return replace(told, text=short_paths(told.text))


def short_paths(text: str) -> str:
    """Return a text in which a home folder is `~`."""
    return _HOME.sub("~", text)
