"""Follows a session event by event: what it taught, and its tasks; it can stop anywhere and go on
later.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import datetime
from hashlib import blake2b
from itertools import groupby
from pathlib import PurePosixPath

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
    has,
    short_paths,
)
from workbench.core.agents.transcript.failures import (
    EDITORS,
    SHELLS,
    STANDING,
    Command,
    Trouble,
    Use,
    edit_of,
    holds,
    line_of,
    missing_command,
    path_of,
    refusal,
    resolved,
    shown,
    steps_in,
    trouble_of,
)
from workbench.core.agents.transcript.summaries import (
    WORTH,
    Kind,
    Lesson,
    Passed,
    Reason,
    identity,
    said_no,
    taught,
    told_in,
    words_of,
)
from workbench.core.words import stop_words, words

Told = Lesson | Passed

PATIENCE = 60
"""Tool uses after which nobody is thought to come back to a failure."""

MOST_OPEN = 12
"""Failures that are waited for at the same time; of more the oldest are given up."""

_DECIDED = (
    r"(?im)(?:^|(?<=[.!?] ))(?=[^.!?\n]{20,300}[.!?\n])[^.!?\n]*\b(?:(?:i|we)(?:['’]ve| have)? (?:decided|chose|opted)"
    r"|(?:i|we)(?:['’]ll| will) (?:go with|keep|stick)|going with|instead of|rather than)\b[^.!?\n]*"
)
"""A sentence by which something is decided."""

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
_TESTS = r"(?<![a-z])(?:tests?|specs?|pytest|unittest|jest|vitest|rspec|phpunit|mocha|tox|nox|nextest)(?![a-z])"
_BUILDS = r"build|compile|tsc|check|typecheck|assemble|bundle|make"
_COUNTS = r"^.*\b\d+ (?:tests?|doctests?|passed|passing|examples?|specs?|failed|failing|failures?|errors?)\b.*$"
_COUNTS_RED = r"\b[1-9]\d* (?:tests? |specs? )?(?:failed|failing|failures?|errors?)\b|\bFAILED\b"
_FAILED = r"^(?:FAILED|BUILD FAILED|FAIL|FAILURES!)(?=\W|$)"
_BROKEN = r"^(?:error\b|fatal\b|Traceback|npm ERR!)|\berror(?:\[\w+\])?: |\berror TS\d+"
_IN_PLACE = r"\bsed\b.*\s-i|\bperl\b.*\s-\w*i|\bgit apply\b|\bapply_patch\b|\bpatch\b.*<"
_FILE = r"[\w./-]*\w\.[A-Za-z]\w{0,5}\b"
_PROSE = frozenset({".md", ".mdx", ".rst", ".adoc"})


class Following:
    """Follows one session from where somebody `stopped`; with `liberal` also what the agent changed
    and decided.

    `done` are the tasks that are over, `running` is the one that goes on.
    """

    def __init__(
        self,
        session: str,
        stopped: SessionProgress | None = None,
        running: Task | None = None,
        *,
        liberal: bool = False,
    ) -> None:
        before = stopped or SessionProgress(session)
        self.done: list[Task] = []
        self.running = running
        self._session, self._liberal = session, liberal
        self._turn, self._last, self._written = before.turn, before.last, before.written
        self._open = dict(before.open)
        self._calls: dict[str, tuple[Call, int]] = {}

    @property
    def standing(self) -> SessionProgress:
        """What is needed to go on later."""
        waiting = {agent: failures for agent, failures in self._open.items() if failures}
        return SessionProgress(self._session, self._turn, self._last, waiting, self._written)

    @property
    def tasks(self) -> tuple[Task, ...]:
        """The tasks that are over, and then the one that goes on."""
        return (*self.done, *([self.running] if self.running else []))

    def take(self, events: Iterable[Event], *, beside: bool = False) -> list[Told]:
        """Return what events teach, and what is passed over.

        Those of subagents count to a task where they stand among the session's own; those of a file
        `beside` it do not, which tells nothing of the order.
        """
        return [
            replace(told, text=short_paths(told.text))
            for event in events
            for told in self._taken(event, beside)
        ]

    def _taken(self, event: Event, beside: bool) -> Iterator[Told]:
        match event:
            case Prompt(agent=""):
                if not beside:
                    self._begin(event)
                yield from self._asked(event)
            case Call():
                self._called(event)
            case Answer():
                call, turn = self._calls.pop(event.id, (None, 0))
                if call is not None:
                    yield from self._used(Use.of(call, event), turn, event.at, beside)
            case Summary():
                for kind, text, extra in told_in(event.text):
                    yield self._summed_up(kind, text, extra, event.at)
            case Said(agent=""):
                yield from self._said(event, beside)

    def _called(self, call: Call) -> None:
        self._calls[call.id] = call, self._turn
        if not call.agent and (line := line_of(call)):
            self._last = shown(line, call.cwd, 80)

    def _asked(self, prompt: Prompt) -> Iterator[Told]:
        said = words_of(cut(prompt.text))
        if said:
            self._turn += 1
            yield from taught(said, self._session, self._turn, self._last, prompt.at)

    def _said(self, said: Said, beside: bool) -> Iterator[Told]:
        """Take what an agent says: it may be the end of the task, and a decision."""
        task, whole = self.running, said.text.strip()
        if task is not None and not beside and not task.is_asked and whole:
            ended = said.at or task.ended
            self.running = replace(task, said=short_paths(whole[:_SAID]), ended=ended)
        for text in re.findall(_DECIDED, said.text)[:2] if self._liberal else ():
            told = " ".join(text.split())
            id = identity(self._session, told)
            yield self._noted("choice", told, said.at, id, id)

    def _summed_up(self, kind: Kind, text: str, extra: float, at: datetime | None) -> Told:
        id, mark = identity(self._session, text), identity("told", text.lower())
        lesson = self._noted(kind, text, at, id, mark, extra)
        is_worth = kind == "open-work" or lesson.weight >= WORTH
        return lesson if is_worth else Passed("passing", text, id)

    def _noted(
        self, kind: Kind, text: str, at: datetime | None, id: str, mark: str, extra: float = 0.0
    ) -> Lesson:
        """Return what an agent said or did, as a lesson."""
        return Lesson(
            kind, text, self._session, (id,), at, self._turn, "assistant", mark=mark, extra=extra
        )

    def _used(self, use: Use, turn: int, at: datetime | None, beside: bool) -> Iterator[Told]:
        """Take a use of a tool: it may fail, resolve a failure, or be a step on the way."""
        call, refused = use.call, refusal(use)
        if refused is not None:
            said = said_no(use.text)
            if refused == "turned-down" and said and not call.agent:
                yield from taught(said, self._session, self._turn, self._last, at, refusing=True)
            else:
                yield Passed(refused, use.brief, call.id)
            return
        if use.line and not use.goes_on:
            yield from self._resolved(use)
        trouble = trouble_of(use) if use.failed else None
        if isinstance(trouble, Trouble):
            yield from self._failed(use, trouble, turn, at)
        elif trouble is not None:
            yield Passed(trouble, use.brief, call.id)
        else:
            yield from self._stepped(use, at)
        if self.running is not None and not beside:
            self.running = _after(self.running, use, trouble, at)

    def _stepped(self, use: Use, at: datetime | None) -> Iterator[Told]:
        """Note what may have resolved what is open: an edit, or something that was set up."""
        call = use.call
        waiting, steps = self._open.get(call.agent, ()), steps_in(use.commands, call.cwd)
        if call.tool in EDITORS:
            path, edit = path_of(call), edit_of(call)
            self._written = (*(one for one in self._written if one != path), path)[-200:]
            waiting = tuple(replace(one, edits=(*one.edits, edit)[-12:]) for one in waiting)
            if self._liberal:
                mark = identity(self._session, f"{self._turn} {path}")
                id = f"{self._session}/{call.id}"
                yield self._noted("change", f"Changed {edit}", at, id, mark)
        elif steps:
            waiting = tuple(replace(one, steps=(*one.steps, *steps)[-8:]) for one in waiting)
        self._open[call.agent] = waiting

    def _resolved(self, use: Use) -> Iterator[Told]:
        """Yield the failures that a use shows to be resolved, and those that are not waited for any
        longer.
        """
        still: list[Failure] = []
        for failure in self._open.get(use.call.agent, ()):
            told = None
            if not holds(use.text, failure.mark):
                told = resolved(failure, use, self._session)
            if told is not None:
                yield told
            elif failure.age >= PATIENCE:
                yield Passed("not-resolved", failure.line or failure.tool, failure.id)
            else:
                still.append(replace(failure, age=failure.age + 1))
        self._open[use.call.agent] = tuple(still)

    def _failed(self, use: Use, trouble: Trouble, turn: int, at: datetime | None) -> Iterator[Told]:
        """Wait for what resolves a failure."""
        call, waiting = use.call, self._open.get(use.call.agent, ())
        if any((one.mark, one.tool) == (trouble.mark, call.tool) for one in waiting):
            return  # the same error once more: it is the first try that was resolved in the end
        names = (path.rpartition("/")[2] for path in self._written if path)
        is_own = trouble.cause == "assertion" or (
            trouble.cause not in STANDING and any(name in use.text for name in names)
        )
        failure = Failure(
            call.id, call.tool, use.line, trouble.text, trouble.cause, trouble.mark, call.at or at, turn, call.cwd,
            is_own,
        )  # fmt: skip
        if len(waiting) == MOST_OPEN:
            yield Passed("not-resolved", waiting[0].line, waiting[0].id)
        self._open[call.agent] = (*waiting, failure)[-MOST_OPEN:]

    def _begin(self, prompt: Prompt) -> None:
        """Go on with the running task, or begin another one; who does may accept the one before."""
        typed, task = _typed(prompt.text, self.running is None), self.running
        mark = blake2b(
            " ".join((typed or "").split()).encode(errors="replace"), digest_size=8
        ).hexdigest()
        if typed is None and task is not None:
            self.done.append(task)
            self.running = None
        if not typed or (task is not None and task.prompt == mark):
            return  # a machine's words, or a prompt that waited and is told twice
        rest = re.sub(rf"\A(?:{_ACCEPTS})+", "", typed, count=1, flags=re.IGNORECASE)
        verdict: Verdict = "" if rest in (typed, "?") else "accepted"
        if has(_REJECTS, typed) and not _is_question(typed):
            verdict = "rejected"
        asks = _is_question(rest) or bool(re.fullmatch(_GREETS, typed, re.IGNORECASE))
        goes_on = task is not None and (asks or not _is_new(rest, task))
        if task is not None and verdict and (goes_on or verdict == "accepted"):
            said = " ".join(typed.split())[:200]
            task = replace(task, verdict=verdict, evidence=f"you said: “{said}”", is_tested=False)
        if task is not None and goes_on:
            known = _joined(task.words, _topic(rest), _WORDS)
            self.running = replace(task, prompt=mark, is_asked=asks, words=known)
        elif not asks:
            self.done += [task] if task is not None else []
            told = prompt.id or f"{self._session}/{prompt.at}/{mark}"
            name = blake2b(told.encode(errors="replace"), digest_size=6).hexdigest()
            self.running = Task(
                f"ep-{prompt.at:%Y%m%d}-{name}" if prompt.at else f"ep-{name}", short_paths(rest[:_TEXT]), prompt.at,
                prompt.at, mark, tuple(_topic(rest)), tuple(re.findall(_FILE, rest)),
            )  # fmt: skip


def _after(task: Task, use: Use, trouble: Trouble | Reason | None, at: datetime | None) -> Task:
    """Return a task after a use of a tool."""
    call, path = use.call, path_of(use.call)
    line, commands = (use.line, use.commands) if call.tool in SHELLS else ("", ())
    first = next((value for value in call.given.values() if isinstance(value, str)), "")
    action = shown(line or path or first, call.cwd, _ACTION)
    error = short_paths(trouble.text[:_ERROR]) if isinstance(trouble, Trouble) else ""
    step = Step(call.tool, short_paths(action), use.failed, error)
    acting = [" ".join(c.head) for c in commands if not c.is_reader]
    tools = (*task.tools, *(acting if commands else [call.tool]))
    topic = (*_topic(action), *_topic(str(call.given.get("description") or "")))
    # Of a long trace the middle goes.
    is_long = len(task.trace) >= _STEPS
    kept = (*task.trace[: _STEPS // 2], *task.trace[_STEPS // 2 + 1 :]) if is_long else task.trace
    task = replace(
        task,
        ended=at or call.at or task.ended,
        calls=task.calls + (not call.agent),
        is_told=task.is_told or (call.tool.endswith(_TELLING) and not use.failed),
        trace=(*kept, step),
        tools=tuple(name for name, _ in groupby(tools))[:_TOOLS],
        words=_joined(task.words, topic, _WORDS),
        files=_joined(task.files, [shown(path, call.cwd)] if path else [], _FILES),
    )
    if not use.failed and (call.tool in EDITORS or re.search(_IN_PLACE, line)):
        edited = short_paths(shown(path or line, call.cwd, 100))
        task = replace(task, edited=_joined(task.edited, [edited], _FILES))
        if PurePosixPath(path).suffix not in _PROSE:
            task = replace(task, verdict="", evidence="", is_tested=False)
    return _checked(task, use, trouble)


def _checked(task: Task, use: Use, trouble: Trouble | Reason | None) -> Task:
    """Return a task with what a test or a build says of it, where one was run."""
    text, failed = re.sub(r"\x1b\[[0-9;]*m", "", use.text), use.failed
    runs = [(c, is_test) for c in use.commands if (is_test := _check_of(c)) is not None]
    is_later = bool(task.background) and task.background[0] in str(use.call.given)
    if not runs and not is_later:
        return task
    counts = re.findall(_COUNTS, text, re.MULTILINE)
    if is_later:
        label, is_test = task.background[1], True
        if not counts:
            return task
    else:
        command, is_test = runs[-1]
        label = shown(command.line, use.call.cwd, 80)
        if use.goes_on:
            known = re.search(r"\bID: (\w+)", text)
            return replace(task, background=(known[1], label)) if known else task
        if isinstance(trouble, Trouble) and missing_command(trouble.text):
            return task
        if not failed and "|" in use.line:  # the exit code is that of another command
            broken = _FAILED if counts else f"{_FAILED}|{_BROKEN}"
            failed = bool(re.search(broken, text, re.MULTILINE))
    if task.is_tested and not is_test:
        return task
    told = "failed" if failed else "succeeded"
    if isinstance(trouble, Trouble):
        told = trouble.text.partition("\n")[0]
    told = (counts[-1] if counts else told).strip()[:200]
    red = failed or re.search(_COUNTS_RED, told)
    return replace(
        task, verdict="failed" if red else "passed", evidence=short_paths(f"`{label}`: {told}"), is_tested=is_test
    )  # fmt: skip


def _check_of(command: Command) -> bool | None:
    """Return whether a command runs tests, or only builds; `None` where it does neither."""
    if command.is_reader:
        return None
    said = " ".join((*command.head, *command.args[:1])).lower()
    if command.is_test or re.search(_TESTS, said):
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
    return bool(sentences) and not has(_REQUEST, text) and all(s.endswith("?") for s in sentences)


def _is_new(text: str, task: Task) -> bool:
    """Tell whether a prompt has neither its topic nor a file in common with the running task."""
    topic, files = set(_topic(text)), re.findall(_FILE, text)
    known = {PurePosixPath(path).name for path in task.files}
    if not topic or " " not in text or has(_AGAIN, text):
        return False
    if any(PurePosixPath(path).name in known for path in files):
        return False
    is_short = len(topic) <= _SHORT or has(_REJECTS, text)
    if is_short and not files and has(_REFERS, text):
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


def _joined(known: tuple[str, ...], more: Iterable[str], most: int) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*known, *more)))[:most]
