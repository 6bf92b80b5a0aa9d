"""How far each session was followed, in the user's state folder: a small file for each, none of it
truth.

What a store holds says what was captured; the files only spare the reading of all of it. Without
them a session is read from its beginning, and nothing is stored twice all the same. No text stands
in them with its secrets.
"""

import contextlib
import json
import os
import re
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from msgspec import field

from workbench.config import paths
from workbench.core.agents.hook_event import HookEvent
from workbench.core.agents.transcript.events import Failure, SessionProgress, Task
from workbench.core.agents.transcript.summaries import Lesson, Passed
from workbench.core.document import Record, from_doc, to_doc
from workbench.core.files.atomic import write_file
from workbench.core.files.locks import FileLock
from workbench.core.record import InvalidRecord, StoreProblem, iso
from workbench.store.folder import id_of

if TYPE_CHECKING:
    from workbench.store.log import SharedLog

# What went wrong in hooks: a small file in the user's state folder, since a hook never says so to
# its agent.


FILE_NAME = "failures.jsonl"
LONGEST = 65_536
"""Bytes from which on the older half of the file goes."""


class HookFailure(NamedTuple):
    """One thing that went wrong: when, at which event of which agent, and what it was, in a
    sentence.
    """

    at: str
    agent: str
    event: str
    problem: str


def note(captures: Path, at: datetime, agent: str, event: str, problem: str) -> bool:
    """Note a failure; tell whether that could be done."""
    failure = HookFailure(iso(at), agent[:40], event[:40], problem[:400])
    line = f"{json.dumps(failure._asdict())}\n"
    path = captures / FILE_NAME
    with contextlib.suppress(OSError):
        captures.mkdir(mode=0o700, parents=True, exist_ok=True)
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | getattr(os, "O_NOFOLLOW", 0)
        handle = os.open(path, flags, 0o600)
        with os.fdopen(handle, "ab") as file:
            file.write(line.encode("ascii"))
        if path.stat().st_size > LONGEST:
            lines = path.read_bytes()[-LONGEST // 2 :].split(b"\n", 1)[-1]
            write_file(path, lines, durable=False)
        return True
    return False


def failures(captures: Path, most: int = 20) -> tuple[HookFailure, ...]:
    """Return the latest failures, newest first."""
    try:
        lines = (captures / FILE_NAME).read_bytes().splitlines()
    except OSError:
        return ()
    found = []
    for raw in reversed(lines):
        with contextlib.suppress(ValueError, RecursionError):
            doc = json.loads(raw)
            if isinstance(doc, Mapping):
                found.append(HookFailure(*(str(doc.get(name, "")) for name in HookFailure._fields)))
        if len(found) == most:
            break
    return tuple(found)


# Where what hooks capture goes.


class Place(NamedTuple):
    """Where captured things go: the store, the folder that says how far sessions were followed, and
    who acts.

    `heads` is where this machine remembers what it stored. `told_at` names the events at which the
    agent takes text. `shared` is the log of a team's store.
    """

    store: Path
    captures: Path
    actor: str
    clock: Callable[[], datetime]
    heads: Path | None = None
    told_at: frozenset[str] = frozenset({"SessionStart", "UserPromptSubmit"})
    shared: "SharedLog | None" = None


# Events of hooks that wait for a store that somebody else holds: files in the user's state folder,
# without secrets.


FOLDER = "waiting"


def keep(folder: Path, event: HookEvent, actor: str, *, durable: bool = False) -> None:
    """Keep an event for the next one to store, or for another process. Raises `StoreProblem`."""
    from workbench.services.safety.masking import (
        masked,
        masked_text,
    )  # hardly ever does a hook give up

    place = folder / FOLDER
    data = json.dumps({"actor": actor, **masked(event, masked_text)._asdict()})
    try:
        place.mkdir(mode=0o700, parents=True, exist_ok=True)
        write_file(
            place / f"{time.time_ns()}-{os.getpid()}.json",
            data.encode("ascii"),
            ".event-",
            durable=durable,
        )
    except OSError as error:
        raise _refused(place, error) from error


def waiting(folder: Path) -> Iterator[tuple[Path, str, HookEvent]]:
    """Yield the file, the actor and the event of each that waits, the oldest first; what is no
    event is removed.
    """
    for path in files(folder):
        try:
            doc = json.loads(path.read_bytes())
            actor = str(doc.pop("actor"))
            event = HookEvent(**doc)
        except FileNotFoundError:
            continue  # another hook stored it
        except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
            path.unlink(missing_ok=True)
            continue
        yield path, actor, event


def files(folder: Path) -> list[Path]:
    """Return the files of the events that wait, the oldest first."""
    with contextlib.suppress(OSError):
        return sorted(path for path in (folder / FOLDER).iterdir() if path.suffix == ".json")
    return []


MOST = 500
"""Sessions whose files are kept for a store; of more the oldest go."""

PATIENCE_S = 5.0
"""Seconds that an event waits for others of its session and for the store; then it waits for the
next event instead.
"""

_PLAIN = re.compile(r"[0-9a-f\-]{0,40}(?:\.jsonl)?")


class Progress(Record, frozen=True):
    """How far a session was followed.

    `offsets` say how far each of its files was read. `kept` are the prints of what was stored of
    it, all there is where it `is_whole`; `intended` of what may be stored or not, since nobody came
    back from storing it. `lessons` are those that were stored. `passed` counts what was passed
    over, by reason.
    """

    session: str = ""
    version: int = 1
    standing: SessionProgress = field(default_factory=SessionProgress)
    tools: SessionProgress = field(default_factory=SessionProgress)
    offsets: Mapping[str, int] = field(default_factory=dict)
    kept: tuple[str, ...] = ()
    intended: tuple[str, ...] = ()
    is_whole: bool = False
    lessons: tuple[Lesson, ...] = ()
    passed: Mapping[str, int] = field(default_factory=dict)
    tasks: tuple[Task, ...] = ()

    def passing(self, told: Iterable[Lesson | Passed]) -> "Progress":
        """Return it with what was passed over counted, too."""
        more = Counter(one.reason for one in told if isinstance(one, Passed))
        return replace(self, passed=dict(more + Counter(dict(self.passed))))

    @property
    def stored(self) -> "Progress":
        """How far it is once its episodes are stored: only the task that runs is needed."""
        tasks = tuple(replace(one, is_stored=one.is_worth) for one in self.tasks[-1:])
        return replace(self, tasks=tasks)


def lessons_in(told: Iterable[Lesson | Passed]) -> list[Lesson]:
    return [one for one in told if isinstance(one, Lesson)]


def folder_of(captures: Path, store: Path) -> Path:
    """Return where the files of a store's sessions lie; one that was made anew in the same place
    has none of them, and a team's goes by its address alone.
    """
    told = paths.team_address(store).encode()
    if not told:
        told = os.fsencode(os.path.realpath(store)) + b"\0" + id_of(store).encode(errors="replace")
    return captures / blake2b(told, digest_size=12).hexdigest()


def plain(session: str) -> str:
    """Return the name of a session, or of its file, as it may be kept: one that is a secret goes by
    another.
    """
    if _PLAIN.fullmatch(session):
        return session
    from workbench.safety.secrets import mask
    from workbench.services.safety.masking import masked_name  # hardly a session is called so

    return masked_name(session, mask)


@contextmanager
def held(folder: Path, session: str) -> Iterator[Path]:
    """Hold the file of a session for the block: one at a time follows it.

    Raises `StoreBusy` when others hold it for longer than this thread waits, and `StoreProblem`.
    """
    path = folder / f"{blake2b(session.encode(errors='replace'), digest_size=12).hexdigest()}.json"
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise _refused(folder, error) from error
    with FileLock(path.with_suffix(".lock"), refused=_refused).held():
        yield path


def _refused(path: Path, error: OSError) -> StoreProblem:
    return StoreProblem(
        f"{path} cannot be written: {error.strerror or error}.", "Nothing was captured."
    )


def read(path: Path, session: str) -> Progress:
    """Return how far a session was followed; a file that is missing or broken counts as its
    beginning.
    """
    found = _read(path)
    is_known = found is not None and found.session == session and found.version == 1
    return found if found is not None and is_known else Progress(session)


def _read(path: Path) -> Progress | None:
    with contextlib.suppress(OSError, ValueError, RecursionError, InvalidRecord, AttributeError):
        return from_doc(Progress, json.loads(path.read_bytes()))
    return None


def write(path: Path, progress: Progress) -> None:
    """Write how far a session was followed, in one step. Raises `StoreProblem`."""
    tools, standing = _without_secrets(progress.tools), _without_secrets(progress.standing)
    progress = replace(progress, tools=tools, standing=standing)
    try:
        is_new = not path.exists()
        write_file(path, json.dumps(to_doc(progress)).encode("ascii"), durable=False)
        if is_new:
            _tidy(path.parent)
    except OSError as error:
        raise _refused(path, error) from error


def passed_over(folder: Path) -> Counter[str]:
    """Return how much was passed over in the sessions of a store, by reason."""
    found = (_read(path) for path in _files(folder))
    return sum((Counter(dict(one.passed)) for one in found if one is not None), Counter[str]())


def sessions(folder: Path) -> int:
    """Return how many sessions of a store were followed."""
    return len(_files(folder))


def without_texts(captures: Path | None, store: Path) -> None:
    """Take every text out of the files of a store's sessions: some of them are to be gone. What is
    known stays known.

    Raises `StoreProblem`.
    """
    if captures is None:
        return
    folder = folder_of(captures, store)
    for event in files(folder):
        event.unlink(missing_ok=True)
    for file in _files(folder):
        known = _read(file)
        if known is None:
            file.unlink(missing_ok=True)
            continue
        with held(file.parent, known.session) as path:
            found = read(path, known.session)
            standing, tools = (
                SessionProgress(one.session, one.turn) for one in (found.standing, found.tools)
            )
            write(path, replace(found, standing=standing, tools=tools, lessons=(), tasks=()))


def _without_secrets(standing: SessionProgress) -> SessionProgress:
    """Return where somebody stopped as it may be written to a file."""
    if not standing.last and not standing.open:
        return standing
    from workbench.safety.secrets import mask  # most events leave nothing to look through

    return replace(
        standing,
        last=mask(standing.last),
        open={
            agent: tuple(_masked(one, mask) for one in failures)
            for agent, failures in standing.open.items()
        },
    )


def _masked(failure: Failure, mask: Callable[[str], str]) -> Failure:
    return replace(
        failure, line=mask(failure.line), error=mask(failure.error), edits=tuple(map(mask, failure.edits)),
        steps=tuple(map(mask, failure.steps)),
    )  # fmt: skip


def _files(folder: Path) -> list[Path]:
    try:
        return [path for path in folder.iterdir() if path.suffix == ".json"]
    except OSError:
        return []


def _tidy(folder: Path) -> None:
    """Remove the files of the sessions that nobody followed for longest."""
    files = _files(folder)
    if len(files) <= MOST:
        return
    with contextlib.suppress(OSError):
        for path in sorted(files, key=lambda one: one.stat().st_mtime)[: len(files) - MOST]:
            path.unlink(missing_ok=True)
            path.with_suffix(".lock").unlink(missing_ok=True)
