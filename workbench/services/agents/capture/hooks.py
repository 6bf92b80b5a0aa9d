"""One event of an agent's hook: what it teaches is stored without loading the store, each thing
once.

A process that lives for a tenth of a second: nothing here may import the store as a whole or the
numeric libraries, unless a session is met in its middle, and then once.
"""

import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from workbench.config import paths
from workbench.core.agents.hook_event import HookEvent
from workbench.core.agents.transcript.events import Answer, Call, Prompt, Said, Summary, short_paths
from workbench.core.agents.transcript.summaries import PASSED, Lesson, identity
from workbench.core.files.locks import Patience, StoreBusy, waiting
from workbench.core.record import InvalidRecord, UnreadableFile, WorkbenchError, iso
from workbench.services.agents.capture import progress as spool
from workbench.services.agents.capture.progress import (
    PATIENCE_S,
    HookFailure,
    Place,
    Progress,
    failures,
    folder_of,
    held,
    lessons_in,
    passed_over,
    plain,
    read,
    sessions,
    write,
)

if TYPE_CHECKING:
    from workbench.config.loading import Loaded
    from workbench.core.agents.transcript.events import Event
    from workbench.core.agents.transcript.following import Told
    from workbench.services.open import Workbench


# What an agent is given by its hooks, without asking: a brief when a session begins, and where
# wanted at prompts.


INJECTION_S = 2.0
"""Seconds that an agent waits for a brief that has to be made first; without it the session begins
without one.
"""


def injection(event: HookEvent, place: Place) -> str:
    """Return the text that an agent is given at an event, by the store that it works with; empty
    for none.

    A brief that is kept costs a look at the store; any other is made in a process of its own, which
    ends by itself and has it ready for the next session. A session that goes on was given it
    before. Raises `StoreProblem`.
    """
    if event.name == "UserPromptSubmit":
        return _recalled(event, place)
    if event.name != "SessionStart" or event.source in ("resume", "fork"):
        return ""
    from workbench.store.folder import is_store

    if not is_store(place.store):
        return ""
    from workbench.services.agents.reading_log import (
        given,
    )  # a session begins once, other events do without

    found = given(event, place)
    if found is None and _make(place.store, place.actor):
        found = given(event, place)
    return found or ""


def _recalled(event: HookEvent, place: Place) -> str:
    """Return what the store holds on a prompt, where the settings want that."""
    from workbench.store.folder import is_store

    loaded = _loaded(b"recall") if is_store(place.store) else None
    if loaded is None or not loaded.settings.agents.recall:
        return ""
    from workbench.services.agents.api import recalled
    from workbench.services.agents.reading_log import Asked, parent_process

    with _opened(place, loaded) as bench:
        return recalled(bench, event.text, Asked("hook", event.session, parent_process()))


def _loaded(word: bytes) -> "Loaded | None":
    """Return the settings where they speak of something: mostly they do not, and no event waits for
    them.
    """
    config = paths.config_dir() / "config.toml"
    with suppress(OSError):
        if word in config.read_bytes():
            from workbench.config import loading

            return loading.load(config)
    return None


def _make(store: Path, actor: str) -> bool:
    """Let the brief be made; tell whether it is there in time."""
    import select
    import subprocess

    name, whole = actor.removeprefix("agent:"), Path.cwd() / store
    # Nothing of the folder that the agent works in is imported, and nothing of the agent's waits
    # for its end: it says that the brief is kept, and goes on with what makes the next question
    # fast.
    asked = ("capture", "brief", "--for-agent", name, "--json")
    made = subprocess.Popen(
        [sys.executable, "-P", "-m", "workbench", "--store", str(whole), *asked],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
        cwd=whole.anchor,
    )
    assert made.stdout is not None
    with made.stdout as told:
        return bool(select.select([told], [], [], INJECTION_S)[0] and told.readline())


SMALL = 262_144
"""Bytes that are read of a transcript when a session ends, for which there is a second."""


def take(event: HookEvent, place: Place) -> str:
    """Take an event, and those that could not be stored before it; return the text that the agent
    is given.

    Raises `WorkbenchError`; where somebody else holds the store, the event is kept for the next
    one.
    """
    event = event._replace(session=plain(event.session), at=iso(place.clock()))
    if paths.team_address(place.store):
        return _put_off(event, place)
    ends = time.monotonic() + PATIENCE_S
    with waiting(Patience(PATIENCE_S, lambda: time.monotonic() > ends)):
        _capture(event, place)
        if event.name == "SessionEnd" and event.session:
            with suppress(WorkbenchError):  # they stay as they are
                _end_working(event.session, place)
    return injection(event, place) if event.name in place.told_at else ""


def _put_off(event: HookEvent, place: Place) -> str:
    """Keep an event of a team's store for another process, which has the time to connect; answer by
    what is on this machine.
    """
    from workbench.core.team import COPY, may_write
    from workbench.services.team.reach import offline, sync_later

    place = place._replace(shared=offline(place.store), heads=None)
    if event.name in _STEPS and event.session:
        if may_write(place.store / COPY):
            spool.keep(folder_of(place.captures, place.store), event, place.actor, durable=True)
        sync_later(place.store)
    return injection(event, place) if event.name in place.told_at else ""


def store_waiting(place: Place) -> int:
    """Store what the events teach that wait; return how many there were. Raises `WorkbenchError`."""
    folder, count = folder_of(place.captures, place.store), 0
    for path, actor, event in spool.waiting(folder):
        with suppress(UnreadableFile, InvalidRecord):  # it is never stored, and the later ones are
            _store(event, place._replace(actor=actor), folder)
            if event.name == "SessionEnd" and place.shared is not None:
                _end_working(event.session, place._replace(actor=actor))
        path.unlink(missing_ok=True)
        count += 1
    return count


def _capture(event: HookEvent, place: Place) -> None:
    """Store what events teach, this one last."""
    folder = folder_of(place.captures, place.store)
    try:
        store_waiting(place)
        _store(event, place, folder)
    except StoreBusy as error:
        if event.name in _STEPS and event.session:
            spool.keep(folder, event, place.actor)
            raise StoreBusy(
                error.folder, error.holder, error.seconds, "The next event stores this one."
            ) from error
        raise


def _store(event: HookEvent, place: Place, folder: Path) -> None:
    """Store what one event teaches. What was stored of it before is not stored again."""
    step = _STEPS.get(event.name)
    if step is None or not event.session:
        return
    with held(folder, event.session) as path:
        before = read(path, event.session)
        after, told = step(event, before)
        if told:
            from workbench.services.agents.capture.memories import store

            after = store(event, place, path, after, told)
        is_turn_over = event.name in _TURN_ENDS and bool(after.tasks)
        if is_turn_over and (after.tasks != before.tasks or not event.transcript):
            try:
                after = _with_episodes(place, after)
            except StoreBusy:
                raise  # the event waits, and all of it is read again
            except WorkbenchError:
                write(path, after)  # the tasks wait, and nothing else waits for them
                raise
        if after != before:
            write(path, after)
            if (
                here := folder_of(place.captures, place.store)
            ) != folder:  # the store was only made just now
                with held(here, event.session) as path:
                    write(path, after)


def _with_episodes(place: Place, progress: Progress) -> Progress:
    """Store the tasks that were followed as episodes, which takes the whole store: once for a turn
    of the agent.
    """
    if any(task.is_worth for task in progress.tasks):
        from workbench.services.agents.capture.transcripts import keep_episodes

        with _opened(place) as bench:
            keep_episodes(bench.context, progress.session, progress.tasks)
    return progress.stored


def _end_working(session: str, place: Place) -> None:
    """End the memories of type `working` of a session that is over; only a store that has such ones
    is opened.
    """
    if any(b'"working"' in path.read_bytes() for path in place.store.glob("*.json*")):
        from workbench.services.agents.working import end_memories

        with _opened(place) as bench:
            end_memories(
                bench.context, [m for m in bench.library.memories.all() if m.session_id == session]
            )


@contextmanager
def _opened(place: Place, loaded: "Loaded | None" = None) -> "Iterator[Workbench]":
    from workbench.services.open import open_workbench

    bench = open_workbench(
        place.store, profiles=paths.config_dir() / "profiles", cache=paths.cache_dir(), actor=place.actor,
        settings=loaded.settings if loaded else None, given=loaded.given if loaded else frozenset(), clock=place.clock,
        heads=place.heads, believed=paths.is_believed(place.store), shared=place.shared,
    )  # fmt: skip
    try:
        yield bench
    finally:
        bench.close()


Step = Callable[[HookEvent, Progress], "tuple[Progress, Sequence[Told]]"]


def _begun(event: HookEvent, progress: Progress) -> "tuple[Progress, Sequence[Told]]":
    """A session begins: of a new one the store holds nothing."""
    is_new = event.source in ("startup", "clear", "") and not progress.kept and not progress.offsets
    return (replace(progress, is_whole=True) if is_new else progress), ()


def _asked(event: HookEvent, progress: Progress) -> "tuple[Progress, Sequence[Told]]":
    """A person asks for something, or corrects."""
    event = _masked(event)
    asked = Prompt(event.tool_use, event.when, text=event.text)
    followed, told = _followed(event, progress, [asked])
    # What it is passed over for is counted where the transcript tells of the prompt again.
    return progress if event.transcript else followed, told


def _used(event: HookEvent, progress: Progress) -> "tuple[Progress, Sequence[Told]]":
    """A tool was used: it may fail, resolve a failure, or be a step on the way."""
    if event.transcript and not event.failed and not progress.tools.open:
        return progress, ()
    event = _masked(event)
    call = Call(event.tool_use or "?", event.when, "", event.tool, event.given, event.cwd)
    answer = Answer(call.id, call.at, "", event.response, event.failed)
    return _followed(event, progress, [call, answer])


def _said(event: HookEvent, progress: Progress) -> "tuple[Progress, Sequence[Told]]":
    """The agent answers."""
    return _followed(event, progress, [Said("", event.when, text=_masked(event).text)])


def _followed(
    event: HookEvent, progress: Progress, events: "Sequence[Event]"
) -> "tuple[Progress, Sequence[Told]]":
    """Follow a session by what its hooks tell; of its tasks only where no transcript tells the same
    again.
    """
    from workbench.core.agents.transcript.following import Following

    standing, tools = progress.standing, progress.tools
    if event.transcript:
        standing = replace(standing, open=tools.open, written=tools.written)
    running = progress.tasks[-1] if progress.tasks else None
    following = Following(event.session, standing, running, liberal=_is_liberal())
    told = lessons_in(following.take(events))
    if event.transcript:
        return replace(progress, tools=following.standing), told
    tasks = (*progress.tasks[:-1], *following.tasks)
    return replace(progress, standing=following.standing, tasks=tasks), told


def _read_on(
    event: HookEvent, progress: Progress, most: int | None = None
) -> "tuple[Progress, Sequence[Told]]":
    """Read on in the transcript, from where it was left."""
    if not event.transcript:
        return progress, ()
    from workbench.services.agents.capture.reading import read_on

    return read_on(Path(event.transcript).expanduser(), progress, most, liberal=_is_liberal())


def _is_liberal() -> bool:
    loaded = _loaded(b"liberal")
    return loaded is not None and loaded.settings.capture == "liberal"


def _ended(event: HookEvent, progress: Progress) -> "tuple[Progress, Sequence[Told]]":
    """A session ends: what is left of its transcript is read where that is little."""
    return _read_on(event, progress, SMALL)


def _summed_up(event: HookEvent, progress: Progress) -> "tuple[Progress, Sequence[Told]]":
    """A session was boiled down to a summary."""
    from workbench.core.agents.transcript.following import Following

    following = Following(event.session, progress.standing)
    return progress, following.take([Summary("", text=_masked(event).text)])


def _failed(event: HookEvent, progress: Progress) -> "tuple[Progress, Sequence[Told]]":
    """An agent says that something failed; nobody says what resolved it, so that it is noted and no
    more.
    """
    event = _masked(event)
    text = " ".join((event.text or event.response).split())[:1_000]
    if not text:
        return progress, ()
    mark = identity("failed", text)
    id = f"{event.session}/{event.tool_use}" if event.tool_use else identity(event.session, text)
    told = short_paths(text)
    return progress, [
        Lesson("failure", told, event.session, (id,), speaker="tool", mark=mark, extra=-25.0)
    ]


def _masked(event: HookEvent) -> HookEvent:
    """Return an event without secrets: once it is cut into commands and sentences, not every part
    tells by itself.
    """
    from workbench.safety.secrets import mask
    from workbench.services.safety.masking import (
        masked,
    )  # an event that tells nothing need not wait for the rules

    return masked(event, mask)


_STEPS: Mapping[str, Step] = {
    "SessionStart": _begun,
    "UserPromptSubmit": _asked,
    "Stop": _read_on,
    "PreCompact": _read_on,
    "PostCompact": _summed_up,
    "SessionEnd": _ended,
    "PostToolUse": _used,
    "PostToolUseFailure": _used,
    "AfterAgentResponse": _said,
    "Error": _failed,
}
"""What an event is taken for; of any other nothing is kept."""

_TURN_ENDS = frozenset({"Stop", "PreCompact", "SessionEnd"})
"""The events at which the tasks that were followed are stored as episodes."""


# How capturing went so far for a store: what was followed, what was passed over and why, and what
# went wrong.


class Past(NamedTuple):
    """How many sessions were followed, what was passed over in them by reason, and the latest
    failures of hooks.

    `waiting` is how many events the next one stores, since somebody else held the store. Failures
    are those of all stores: what went wrong may have kept a hook from finding its store.
    """

    sessions: int
    passed: Counter[str]
    failures: tuple[HookFailure, ...]
    waiting: int = 0

    @property
    def passed_words(self) -> tuple[str, ...]:
        """What was passed over, in words and numbers, the most first."""
        words: dict[str, str] = dict(PASSED.items())
        return tuple(
            f"{words.get(reason, reason)} ({count:,})"
            for reason, count in self.passed.most_common()
        )


def past(captures: Path, store: Path) -> Past:
    """Return how it went; files that cannot be read count as nothing. `captures` is the user's
    folder for it.
    """
    folder = folder_of(captures, store)
    return Past(sessions(folder), passed_over(folder), failures(captures), len(spool.files(folder)))
