"""Follows a session event by event and tells what it taught; it can stop anywhere and go on later."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING

from workbench.core.agents.transcript.events import Answer, Call, Event, Prompt, Said, Summary, cut, short_paths
from workbench.core.agents.transcript.progress import Failure, SessionProgress
from workbench.core.agents.transcript.summaries import WORTH, Lesson, Passed, identity, said_no, taught, words_of

if TYPE_CHECKING:
    from workbench.core.agents.transcript.failures import Failures

Told = Lesson | Passed

_DECIDED = (
    r"(?im)(?:^|(?<=[.!?] ))(?=[^.!?\n]{20,300}[.!?\n])[^.!?\n]*\b(?:(?:i|we)(?:['’]ve| have)? (?:decided|chose|opted)"
    r"|(?:i|we)(?:['’]ll| will) (?:go with|keep|stick)|going with|instead of|rather than)\b[^.!?\n]*"
)
"""A sentence by which something is decided."""


class Following:
    """Follows one session from where somebody `stopped`; with `liberal` also what the agent changed and decided."""

    def __init__(self, session: str, stopped: SessionProgress | None = None, *, liberal: bool = False) -> None:
        before = stopped or SessionProgress(session)
        self._session = session
        self._liberal = liberal
        self._edits: dict[str, Call] = {}
        self._turn = before.turn
        self._last = before.last
        self._written = before.written
        self._failures = {agent: self._failures_of(waiting) for agent, waiting in before.open.items()}

    @property
    def standing(self) -> SessionProgress:
        """What is needed to go on later."""
        waiting = {agent: one.open for agent, one in self._failures.items() if one.open}
        written = [path for one in self._failures.values() for path in one.written]
        return SessionProgress(
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
            self._called(event)
        elif isinstance(event, Answer):
            yield from self._answered(event)
        elif isinstance(event, Summary):
            yield from self._summed_up(event)
        elif isinstance(event, Said) and self._liberal and not event.agent:
            yield from self._decided(event)

    def _called(self, call: Call) -> None:
        from workbench.core.agents.transcript.failures import EDITORS, line_of, shown

        if self._liberal and call.tool in EDITORS:
            self._edits[call.id] = call
        self._of(call).called(call, self._turn)
        if not call.agent and (line := line_of(call)):
            self._last = shown(line, call.cwd, 80)

    def _of(self, event: Event) -> "Failures":
        if event.agent not in self._failures:
            self._failures[event.agent] = self._failures_of(())
        return self._failures[event.agent]

    def _failures_of(self, waiting: Sequence[Failure]) -> "Failures":
        from workbench.core.agents.transcript.failures import Failures  # a prompt is not to wait for their patterns

        return Failures(self._session, waiting, self._written)

    def _asked(self, prompt: Prompt) -> Iterator[Told]:
        said = words_of(cut(prompt.text))
        if not said or prompt.agent:
            return
        self._turn += 1
        yield from self._corrected(said, prompt.at)

    def _corrected(self, said: str, at: datetime | None, *, refusing: bool = False) -> Iterator[Told]:
        yield from taught(said, self._session, self._turn, self._last, at, refusing=refusing)

    def _answered(self, answer: Answer) -> Iterator[Told]:
        said = said_no(answer.text) if answer.failed else ""
        edit = self._edits.pop(answer.id, None)
        if edit is not None and not answer.failed:
            yield self._changed(edit, answer.at)
        for told in self._of(answer).answered(answer):
            if isinstance(told, Passed) and told.reason == "turned-down" and said and not answer.agent:
                yield from self._corrected(said, answer.at, refusing=True)
            else:
                yield replace(told, at=told.at or answer.at) if isinstance(told, Lesson) else told

    def _changed(self, edit: Call, at: datetime | None) -> Lesson:
        """Tell what an edit changed, once for a file and a turn."""
        from workbench.core.agents.transcript.failures import edit_of, path_of

        mark = identity(self._session, f"{self._turn} {path_of(edit)}")
        ids = (f"{self._session}/{edit.id}",)
        return Lesson("change", f"Changed {edit_of(edit)}", self._session, ids, at, self._turn, "assistant", mark=mark)

    def _decided(self, said: Said) -> Iterator[Told]:
        """Tell what an agent says that it decided."""
        for text in re.findall(_DECIDED, said.text)[:2]:
            told = " ".join(text.split())
            id = identity(self._session, told)
            yield Lesson("choice", told, self._session, (id,), said.at, self._turn, "assistant", mark=id)

    def _summed_up(self, summary: Summary) -> Iterator[Told]:
        from workbench.core.agents.transcript.summaries import told_in

        for kind, text, extra in told_in(summary.text):
            id = identity(self._session, text)
            mark = identity("told", text.lower())
            lesson = Lesson(
                kind, text, self._session, (id,), summary.at, self._turn, "assistant", mark=mark, extra=extra
            )  # fmt: skip
            is_worth = kind == "open-work" or lesson.weight >= WORTH
            yield lesson if is_worth else Passed("passing", text, id)


def _shortened(told: Told) -> Told:
    """Return what was told with the folders of a person's home shortened."""
    return replace(told, text=short_paths(told.text))
