"""Follows a session event by event and tells what it taught; it can stop anywhere and go on later."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from hashlib import blake2b
from itertools import groupby
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from workbench.core.agents.transcript.events import (
    Answer,
    Call,
    Event,
    Failure,
    Prompt,
    Said,
    SessionProgress,
    Step,
    Summary,
    Task,
    Verdict,
    cut,
    short_paths,
)
from workbench.core.agents.transcript.failures import (
    BACKGROUND,
    EDITORS,
    SHELLS,
    Command,
    commands_in,
    failure_of,
    line_of,
    missing_command,
    path_of,
    refusal,
    shown,
    trouble_in,
)
from workbench.core.agents.transcript.summaries import (
    WORTH,
    Lesson,
    Passed,
    identity,
    said_no,
    taught,
    words_of,
)
from workbench.core.words import stop_words, words

if TYPE_CHECKING:
    from workbench.core.agents.transcript.failures import Failures


Told = Lesson | Passed

_DECIDED = (
    r"(?im)(?:^|(?<=[.!?] ))(?=[^.!?\n]{20,300}[.!?\n])[^.!?\n]*\b(?:(?:i|we)(?:['’]ve| have)? (?:decided|chose|opted)"
    r"|(?:i|we)(?:['’]ll| will) (?:go with|keep|stick)|going with|instead of|rather than)\b[^.!?\n]*"
)
"""A sentence by which something is decided."""


class Following:
    """Follows one session from where somebody `stopped`; with `liberal` also what the agent changed
    and decided.
    """

    def __init__(
        self, session: str, stopped: SessionProgress | None = None, *, liberal: bool = False
    ) -> None:
        before = stopped or SessionProgress(session)
        self._session = session
        self._liberal = liberal
        self._edits: dict[str, Call] = {}
        self._turn = before.turn
        self._last = before.last
        self._written = before.written
        self._failures = {
            agent: self._failures_of(waiting) for agent, waiting in before.open.items()
        }

    @property
    def standing(self) -> SessionProgress:
        """What is needed to go on later."""
        waiting = {agent: one.open for agent, one in self._failures.items() if one.open}
        written = [path for one in self._failures.values() for path in one.written]
        return SessionProgress(
            self._session,
            self._turn,
            self._last,
            waiting,
            tuple(dict.fromkeys((*self._written, *written)))[-200:],
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
        from workbench.core.agents.transcript.failures import (
            Failures,
        )  # a prompt is not to wait for their patterns

        return Failures(self._session, waiting, self._written)

    def _asked(self, prompt: Prompt) -> Iterator[Told]:
        said = words_of(cut(prompt.text))
        if not said or prompt.agent:
            return
        self._turn += 1
        yield from self._corrected(said, prompt.at)

    def _corrected(
        self, said: str, at: datetime | None, *, refusing: bool = False
    ) -> Iterator[Told]:
        yield from taught(said, self._session, self._turn, self._last, at, refusing=refusing)

    def _answered(self, answer: Answer) -> Iterator[Told]:
        said = said_no(answer.text) if answer.failed else ""
        edit = self._edits.pop(answer.id, None)
        if edit is not None and not answer.failed:
            yield self._changed(edit, answer.at)
        for told in self._of(answer).answered(answer):
            if (
                isinstance(told, Passed)
                and told.reason == "turned-down"
                and said
                and not answer.agent
            ):
                yield from self._corrected(said, answer.at, refusing=True)
            else:
                yield replace(told, at=told.at or answer.at) if isinstance(told, Lesson) else told

    def _changed(self, edit: Call, at: datetime | None) -> Lesson:
        """Tell what an edit changed, once for a file and a turn."""
        from workbench.core.agents.transcript.failures import edit_of, path_of

        mark = identity(self._session, f"{self._turn} {path_of(edit)}")
        ids = (f"{self._session}/{edit.id}",)
        return Lesson(
            "change",
            f"Changed {edit_of(edit)}",
            self._session,
            ids,
            at,
            self._turn,
            "assistant",
            mark=mark,
        )

    def _decided(self, said: Said) -> Iterator[Told]:
        """Tell what an agent says that it decided."""
        for text in re.findall(_DECIDED, said.text)[:2]:
            told = " ".join(text.split())
            id = identity(self._session, told)
            yield Lesson(
                "choice", told, self._session, (id,), said.at, self._turn, "assistant", mark=id
            )

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


# Tasks of a session: where one begins, what was done in it, and how it ended by the evidence there
# is.


_TEXT, _SAID, _ACTION, _ERROR = 2_000, 1_000, 160, 240
_SHORT = 3
"""Words of topic up to which a prompt that says "it" or "that" means the running task."""

_STEPS, _TOOLS, _FILES, _WORDS = 200, 60, 100, 400

_TELLING = ("learn_from_episode", "store_episode")
"""Tools by which an agent says itself what it did."""

_GENERIC_WORDS = """
add added again ahead also app apply bug build case change changelog check class clean code commit continue create do
done edge edit empty ensure error feature file fine finish fix format function go going good handle hello hey
implement issue keep lib lint linter make merge method missing module need new next now okay please problem proceed
project pull push repo rerun resume retry run save script simplify sorry src start still stop sure task test thank
thing try unit update use using want well work works write yes
"""
_GENERIC = frozenset(_GENERIC_WORDS.split())
"""Words that name no topic: a prompt of them alone goes on with what runs."""

_COMMAND = r"<command-name>/?(\S+?)</command-name>.*?(?:<command-args>(.*?)</command-args>|\Z)"
_OWN_COMMANDS = r"clear|compact|model|cost|exit|quit|help|login|logout|resume|config|status|memory"
_REQUEST = (
    r"^\W*(?:can|could|would|will) you (?!explain|tell|show|describe|say)|\bplease\b|"
    r"^(?:let'?s|how about|shall we)\b"
)
_AGAIN = r"^\W*(?:and|but|plus|again|still|instead|no|wait|actually|additionally|hmm+|same)\b|\b(?:also|too|as well)\b"
_REFERS = r"\b(?:it|its|them|they|that|this|those|these)\b"
_GREETS = r"\W*(?:hi|hello|hey|good (?:morning|day|evening)|thanks?|thank you|ok(?:ay)?)\W*"
_ACCEPTS = (
    r"\W*(?:(?:ok(?:ay)?|yes|yep|yeah|cool|ah)\W+)?(?:great|perfect|excellent|awesome|lgtm|brilliant|nice|exactly"
    r"|looks (?:good|great|right|fine)|(?:that|it|this|all)(?:['’]s| is)? (?:works?|good|great|perfect|correct|right"
    r"|fine)\b(?!\?)|works(?: now| great| fine)?(?=\W|$)(?! only)|well done|good (?:job|work)|thank(?:s| you)|ship it"
    r"|approved|accepted)\b(?: (?:to me|so far|as is|now|again|so much|a lot|for (?:that|this)))*[.!,;:]*\s*"
)
_REJECTS = (
    r"\bstill (?:fails?|failing|broken|crash\w*|wrong|does ?n[o'’]t|not)\b"
    r"|\b(?:does not|doesn['’]?t|did not|didn['’]?t) work"
    r"|\bnot what i (?:wanted|asked|meant)|\b(?:that|this|it)(?:['’]s| is) (?:wrong|not right|broken|useless)"
    r"|\b(?:revert|undo|discard) (?:it|that|this|your|everything|all)\b"
    r"|\b(?:throw|roll) (?:it|that|this) (?:away|back)\b"
    r"|\b(?:give up|forget it|never ?mind|abandon this)\b"
)
_TESTS = r"tests?|specs?|pytest|unittest|jest|vitest|rspec|phpunit|mocha|tox|nox|nextest"
_BUILDS = r"build|compile|tsc|check|typecheck|assemble|bundle|make"
_COUNTS = r"^.*\b\d+ (?:tests?|doctests?|passed|passing|examples?|specs?|failed|failing|failures?|errors?)\b.*$"
_COUNTS_RED = r"\b[1-9]\d* (?:tests? |specs? )?(?:failed|failing|failures?|errors?)\b|\bFAILED\b"
_FAILED = r"^(?:FAILED|BUILD FAILED|FAIL|FAILURES!)(?=\W|$)"
_BROKEN = r"^(?:error\b|fatal\b|Traceback|npm ERR!)|\berror(?:\[\w+\])?: |\berror TS\d+"
_IN_PLACE = r"\bsed\b.*\s-i|\bperl\b.*\s-\w*i|\bgit apply\b|\bapply_patch\b|\bpatch\b.*<"
_FILE = r"[\w./-]*\w\.[A-Za-z]\w{0,5}\b"
_PROSE = frozenset({".md", ".mdx", ".rst", ".adoc"})


class TaskFollowing:
    """Follows the tasks of a session from where somebody stopped; `done` are over, `running` is
    what goes on.
    """

    def __init__(self, session: str, running: Task | None = None) -> None:
        self.done: list[Task] = []
        self.running = running
        self._session = session
        self._calls: dict[str, Call] = {}

    def take(self, events: Iterable[Event]) -> None:
        """Follow events, in their order. Those of subagents count where they stand among the
        session's own.
        """
        for event in events:
            if isinstance(event, Prompt) and not event.agent:
                self._asked(event)
            elif isinstance(event, Said) and not event.agent:
                self._told(event)
            elif isinstance(event, Call):
                self._calls[event.id] = event
            elif isinstance(event, Answer):
                call = self._calls.pop(event.id, None)
                if call is not None and self.running is not None:
                    self.running = _answered(self.running, call, event)

    def _asked(self, prompt: Prompt) -> None:
        typed, task = _typed(prompt.text, self.running is None), self.running
        if typed is None:
            self._end()
        mark = blake2b(
            " ".join((typed or "").split()).encode(errors="replace"), digest_size=8
        ).hexdigest()
        if not typed or (task is not None and task.prompt == mark):
            return  # a machine's words, or a prompt that waited and is told twice
        rest = re.sub(rf"\A(?:{_ACCEPTS})+", "", typed, count=1, flags=re.IGNORECASE)
        verdict: Verdict = "" if rest in (typed, "?") else "accepted"
        if re.search(_REJECTS, typed, re.IGNORECASE) and not _is_question(typed):
            verdict = "rejected"
        asks = _is_question(rest) or bool(re.fullmatch(_GREETS, typed, re.IGNORECASE))
        if task is not None and (asks or not _is_new(rest, task)):
            task = replace(
                task, prompt=mark, is_asked=asks, words=_joined(task.words, _topic(rest), _WORDS)
            )
            self.running = _judged(task, verdict, typed) if verdict else task
            return
        if asks:
            return
        self._end(verdict if verdict == "accepted" else "", typed)
        told = f"{self._session}/{prompt.at}/{mark}" if not prompt.id else prompt.id
        name = blake2b(told.encode(errors="replace"), digest_size=6).hexdigest()
        id = f"ep-{prompt.at:%Y%m%d}-{name}" if prompt.at else f"ep-{name}"
        self.running = Task(
            id, short_paths(rest[:_TEXT]), prompt.at, prompt.at, mark, tuple(_topic(rest)), tuple(_files(rest))
        )  # fmt: skip

    def _end(self, verdict: Verdict = "", typed: str = "") -> None:
        """The running task is over; who begins another one may accept it."""
        if self.running is not None:
            self.done.append(_judged(self.running, verdict, typed) if verdict else self.running)
        self.running = None

    def _told(self, said: Said) -> None:
        task = self.running
        if task is not None and not task.is_asked and said.text.strip():
            self.running = replace(
                task, said=short_paths(said.text.strip()[:_SAID]), ended=said.at or task.ended
            )


def _judged(task: Task, verdict: Verdict, typed: str) -> Task:
    return replace(
        task,
        verdict=verdict,
        evidence=f"you said: “{' '.join(typed.split())[:200]}”",
        is_tested=False,
    )


def _answered(task: Task, call: Call, answer: Answer) -> Task:
    """Return a task after a use of a tool."""
    text, line = cut(answer.text), line_of(call)
    if answer.failed and refusal(text[:2_000]) is not None:
        return task
    path, commands = path_of(call), commands_in(line) if call.tool in SHELLS else ()
    action = shown(line or path or _first(call), call.cwd, _ACTION)
    reason, error = failure_of(call, line, text) if answer.failed else (None, None)
    told = short_paths(error.text[:_ERROR]) if error and reason is None else ""
    step = Step(call.tool, short_paths(action), answer.failed, told)
    acting = [" ".join(c.head) for c in commands if not c.is_reader]
    tools = [*acting] if commands else [call.tool]
    topic = (*_topic(action), *_topic(str(call.given.get("description") or "")))
    task = replace(
        task,
        ended=answer.at or call.at or task.ended,
        calls=task.calls + (not call.agent),
        is_told=task.is_told or (call.tool.endswith(_TELLING) and not answer.failed),
        trace=_appended(task.trace, step),
        tools=tuple(name for name, _ in groupby((*task.tools, *tools)))[:_TOOLS],
        words=_joined(task.words, topic, _WORDS),
        files=_joined(task.files, [shown(path, call.cwd)] if path else [], _FILES),
    )
    if not answer.failed and (call.tool in EDITORS or re.search(_IN_PLACE, line)):
        task = replace(
            task,
            edited=_joined(task.edited, [short_paths(shown(path or line, call.cwd, 100))], _FILES),
        )
        if PurePosixPath(path).suffix not in _PROSE:
            task = replace(task, verdict="", evidence="", is_tested=False)
    return _checked(task, call, commands, text, failed=answer.failed)


def _checked(
    task: Task, call: Call, commands: Sequence[Command], text: str, *, failed: bool
) -> Task:
    """Return a task with what a test or a build says of it, where one was run."""
    text = re.sub(r"\x1b\[[0-9;]*m", "", text)
    runs = [(c, is_test) for c in commands if (is_test := _check_of(c)) is not None]
    if task.background and task.background[0] in str(call.given):
        counts = re.findall(_COUNTS, text, re.MULTILINE)
        return (
            _ran(task, task.background[1], counts[-1], failed=failed, is_test=True)
            if counts
            else task
        )
    if not runs:
        return task
    command, is_test = runs[-1]
    label, trouble = shown(command.line, call.cwd, 80), trouble_in(text) if failed else None
    if re.match(BACKGROUND, text):
        known = re.search(r"\bID: (\w+)", text)
        return replace(task, background=(known[1], label)) if known else task
    if trouble is not None and missing_command(trouble):
        return task
    counts = re.findall(_COUNTS, text, re.MULTILINE)
    if not failed and "|" in line_of(call):  # the exit code is that of another command
        failed = bool(re.search(_FAILED if counts else f"{_FAILED}|{_BROKEN}", text, re.MULTILINE))
    told = (
        trouble.text.partition("\n")[0]
        if trouble is not None
        else "failed"
        if failed
        else "succeeded"
    )
    said = counts[-1] if counts else told
    return _ran(task, label, said, failed=failed, is_test=is_test)


def _ran(task: Task, label: str, said: str, *, failed: bool, is_test: bool) -> Task:
    if task.is_tested and not is_test:
        return task
    red, told = failed or bool(re.search(_COUNTS_RED, said)), said.strip()[:200]
    return replace(
        task, verdict="failed" if red else "passed", evidence=short_paths(f"`{label}`: {told}"), is_tested=is_test
    )  # fmt: skip


def _check_of(command: Command) -> bool | None:
    """Return whether a command runs tests, or only builds; `None` where it does neither."""
    if command.is_reader:
        return None
    parts = re.split(r"[^a-z]+", " ".join((*command.head, *command.args[:1])).lower())
    if command.is_test or any(re.fullmatch(_TESTS, part) for part in parts):
        return True
    return False if re.fullmatch(_BUILDS, command.head[-1]) else None


def _typed(text: str, is_first: bool) -> str | None:
    """Return what a person asks for, empty where nobody does; `None` where they clear the
    conversation.
    """
    found = re.search(_COMMAND, text, re.DOTALL)
    if found is None:
        return words_of(cut(text))
    name, given = found[1], (found[2] or "").strip()
    if re.fullmatch(_OWN_COMMANDS, name):
        return None if name == "clear" else ""
    return f"/{name} {given}".strip() if given or is_first else ""


def _is_question(text: str) -> bool:
    """Tell whether a prompt only asks for an answer."""
    sentences = [one for one in re.split(r"(?<=[.!?])\s+|\n+", text.strip()) if one.strip()]
    return (
        bool(sentences)
        and not re.search(_REQUEST, text, re.IGNORECASE)
        and all(s.endswith("?") for s in sentences)
    )


def _is_new(text: str, task: Task) -> bool:
    """Tell whether a prompt has neither its topic nor a file in common with the running task."""
    topic = set(_topic(text))
    names = {PurePosixPath(path).name for path in task.files}
    if (
        not topic
        or " " not in text
        or re.search(_AGAIN, text, re.IGNORECASE)
        or names & {PurePosixPath(f).name for f in _files(text)}
    ):
        return False
    is_short = len(topic) <= _SHORT or re.search(_REJECTS, text, re.IGNORECASE)
    if is_short and re.search(_REFERS, text, re.IGNORECASE) and not _files(text):
        return False
    return len(topic & set(task.words)) * 3 < len(topic)


def _topic(text: str) -> list[str]:
    """Return the words of a text that say what it is about, each once."""
    found = (word.strip("'’").removesuffix("s") if len(word) > 3 else word for word in words(text))
    return [
        w
        for w in dict.fromkeys(found)
        if len(w) > 2 and w not in _GENERIC and w not in stop_words() and not w.isdigit()
    ]


def _files(text: str) -> list[str]:
    return re.findall(_FILE, text)


def _first(call: Call) -> str:
    return next((value for value in call.given.values() if isinstance(value, str)), "")


def _joined(known: tuple[str, ...], more: Iterable[str], most: int) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*known, *more)))[:most]


def _appended(trace: tuple[Step, ...], step: Step) -> tuple[Step, ...]:
    """Return a trace with one more step; of a long one the middle goes."""
    return (
        (*trace, step)
        if len(trace) < _STEPS
        else (*trace[: _STEPS // 2], *trace[_STEPS // 2 + 1 :], step)
    )
