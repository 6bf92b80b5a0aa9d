"""Working memories in the store: what an agent sets is volatile until its session takes a snapshot.

The records of the store are what counts. Beside them each session has a file,
`working/SESSION.json`, for others to read; what somebody edits in it is taken over with the next
change.
"""

import json
import re
import shlex
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

from msgspec import Meta

from workbench.core.agents import working
from workbench.core.agents.working import JSON_KEYS, LAYERS, LIMIT, Scope, Variable, WorkingMemory
from workbench.core.duplicates.groups import text_mark
from workbench.core.files.atomic import write_file
from workbench.core.record import InvalidQuery, InvalidRecord, UnknownRecord, cannot_write, without
from workbench.core.review.lifecycle import archive
from workbench.core.stream.memory import Memory
from workbench.core.text import clean_for_store, counted
from workbench.core.values import cleaned
from workbench.services.context import Context
from workbench.services.safety.secret_filter import SecretFilter
from workbench.store.entry import Kind
from workbench.store.files import TooLarge, read_regular
from workbench.store.library import Library

Json = dict[str, Any]
Change = Callable[[WorkingMemory], WorkingMemory]
Recall = Callable[[str, bool], Sequence[tuple[str, str]]]
"""Finds texts for a task, or else episodes for a query, with their ids."""

Name = Annotated[str, Meta(max_length=200)]
Page = Annotated[str, Meta(max_length=10_000)]
Query = Annotated[str, "what you want to know, in plain words"]
Key = Annotated[Name, "its name"]
VariableScope = Annotated[
    Literal[Scope, "accumulator", "control"], "how long it lives, and which layer it counts in"
]

_RECORDS = "working"
VOLATILE = "Kept in this process only until a snapshot."
SUMMARISED = "A layer was over its budget despite pruning: texts were summarised."
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,79}")
_TABLE = b'"table":"working"'


def sessions(library: Library) -> dict[str, WorkingMemory]:
    """Return the working memories that are stored, the one that was written last first."""
    found: dict[str, list[Variable]] = {}
    for one in sorted(library.table(Variable).all(), key=lambda one: one.at, reverse=True):
        found.setdefault(one.session, []).append(one)
    return {
        session: WorkingMemory(session).with_(variables) for session, variables in found.items()
    }


def unreadable(library: Library) -> Iterator[str]:
    """Yield the files of sessions that cannot be read; the next snapshot of such a session writes
    its file anew.
    """
    for path in sorted(library.surroundings.working.glob("*.json")):
        if _read(path) is None:
            yield f"{path.parent.name}/{path.name}"


def end_memories(context: Context, memories: Iterable[Memory]) -> None:
    """Archive those memories of a session that is over that are of type `working`, but for pinned
    ones.
    """
    ended = [
        m
        for m in memories
        if m.memory_type == "working" and m.status != "archived" and not m.pinned
    ]
    if ended:
        with context.transaction(f"end {counted(len(ended), 'working memory')}") as tx:
            for memory in ended:
                tx.put(archive(memory, "done"))


def doc_of(memory: WorkingMemory) -> Json:
    """Return a working memory as JSON has it (source 004, section 1.4), with the names of what was
    pruned.
    """
    doc: Json = {
        key: {one.key: one.value for one in memory.of(scope)} for key, scope in JSON_KEYS.items()
    }
    return {
        "session": memory.session,
        **doc,
        "cold": [one.name for one in memory.variables.values() if one.cold],
    }


def view_of(memory: WorkingMemory) -> Json:
    """Return a working memory with the fill of its layers, and what of it is hot, warm and cold."""
    tokens, warmth = working.fill(memory), working.temperatures(memory)
    layers = [
        {"layer": id, "tokens": tokens[id], "budget": budget} for id, (budget, _) in LAYERS.items()
    ]
    parts = {
        one: [variable.name for variable, how in warmth if how == one]
        for one in ("hot", "warm", "cold")
    }
    return {
        **doc_of(memory),
        **parts,
        "layers": layers,
        "tokens": sum(tokens.values()),
        "limit": LIMIT,
    }


class WorkingSession:
    """The working memory of one session, as the context's actor changes it. Raises
    `WorkbenchError`.
    """

    def __init__(self, context: Context, session: str, recall: Recall | None = None) -> None:
        self._context, self._library, self._recall = context, context.library, recall
        self._lock = threading.RLock()
        self._gate = SecretFilter()
        self._enter(session)

    def _enter(self, session: str) -> None:
        if not _NAME.fullmatch(session):
            raise InvalidRecord(
                f"“{session[:80]}” is not a valid session name.",
                "Use 1 to 80 letters, digits, dots and dashes.",
            )
        self.session = session
        self._changes: list[Change] = []
        self._reads: set[str] = set()
        self._seen = -1
        self._now = self._base = WorkingMemory(session)

    @property
    def memory(self) -> WorkingMemory:
        """What it is now, with what is volatile; what others stored since is taken in first."""
        with self._lock:
            self._library.refresh()
            if self._seen != self._library.revision:
                self._library.require_trust()
                before, self._base = self._base, self._load()
                is_same, self._seen = (
                    self._seen >= 0 and before == self._base,
                    self._library.revision,
                )
                if is_same:
                    return self._now
                self._now = self._base
                for change in self._changes:
                    self._now = change(self._now)
                for name in self._reads:
                    self._now = self._now.read(name)
            return self._now

    # The ten operations

    def init(
        self,
        task: str | Mapping[str, Any] = "",
        session: str = "",
        system: Mapping[str, Any] | None = None,
    ) -> Json:
        """Begin an empty working memory, perhaps of another session, with what always holds, and a
        task.
        """
        with self._lock:
            if session and session != self.session:
                self._enter(session)
            if not self.memory.is_blank:
                if not task:
                    return {"session": self.session, "resumed": True, **self._told()}
                message = f"The working memory of {self.session} already has a task."
                raise InvalidRecord(
                    message, "Clear it, which keeps it as an episode, or name another session."
                )
            for key, value in (system or {}).items():
                self.set(key, value, "global")
            self.set("started_at", self._context.now().isoformat(timespec="seconds"), "metadata")
            return {
                "session": self.session,
                **(self.load_task_context(task) if task else self._told()),
            }

    def load_task_context(self, task: str | Mapping[str, Any]) -> Json:
        """Set the variables of a task, and retrieve patterns and episodes for it."""
        found = working.task_of(task)
        for key, value in found.items():
            self.set(key, value, "task")
        words = " ".join(
            str(found[key]) for key in ("description", "primary_goal", "goal") if found.get(key)
        )
        return self._told(
            variables=sorted(found),
            retrieved=self._found(words, is_task=True) if words.strip() else [],
        )

    def set(self, key: Key, value: Any, scope: VariableScope = "task") -> Json:
        """Use to keep a value while you work. It is volatile: working_snapshot makes it durable.

        accumulator appends to a list; control ends with the next working_push_state.
        """
        self._gate.masked.clear()
        before, (key, value) = self.memory, self._clean([key, value])
        now = self._apply(
            lambda memory: working.put(memory, key, value, scope, self._context.now())
        )
        left = [
            name for name, one in before.variables.items() if _shrank(one, now.variables.get(name))
        ]
        is_short = any(name in now.variables and not now.variables[name].cold for name in left)
        more = {
            "pruned": left,
            "warning": SUMMARISED * is_short,
            "masked": list(dict.fromkeys(self._gate.masked)),
        }
        return self._told(**{name: value for name, value in more.items() if value})

    def get(self, key: str, scope: str = "task") -> object:
        """Return the value of a variable, `None` when there is none; what was pruned is still
        found.
        """
        name = f"{working.scope_of(scope)[0]}.{key}"
        with self._lock:
            one = self.memory.variables.get(name)
            self._now = self._now.read(name)
            self._reads.add(name)
        return None if one is None else self._clean(one.full)

    def push_state(
        self,
        state: Annotated[dict[str, Any], "current_phase, current_subtask, completed, …"],
    ) -> Json:
        """Use when a phase or subtask begins: what it says replaces what was, control variables end."""
        new: Json = self._clean(state)
        self._apply(lambda memory: working.push_state(memory, new, self._context.now()))
        return self._told()

    def add_intermediate(
        self,
        subtask_id: Key,
        output: Any,
        type: Name = "",
        trace: Annotated[Any, "how it came about; summarised when room is needed"] = None,
    ) -> Json:
        """Use when a subtask is done, to keep what came of it."""
        entry = {"output": output, "type": type, "trace": trace}
        return self.set(
            subtask_id,
            {name: value for name, value in entry.items() if value not in ("", None)},
            "intermediate",
        )

    def retrieve_from_episodic(self, query: Query) -> Json:
        """Use to bring past episodes for a question into the working memory; returns their ids."""
        return self._told(retrieved=self._found(query, is_task=False))

    def prune(self) -> Json:
        """Use to make room: old results, finished traces and unread context leave; working_get still finds results."""
        done: list[working.Pruned] = []

        def change(memory: WorkingMemory) -> WorkingMemory:
            done.append(working.prune(memory))
            return done[-1].memory

        self._apply(change)
        stored = self._commit(f"prune working memory {self.session}")
        return {
            **without(done[-1]._asdict(), "memory"),
            **stored,
        }

    def snapshot(self, label: Annotated[str, Meta(max_length=100)] = "") -> Json:
        """Use to make it durable; the revision it returns is what working_rollback goes back to."""
        said = f": {self._clean(label[:100])}" if label else ""
        return self._commit(f"snapshot working memory {self.session}{said}")

    def rollback(
        self,
        revision: Annotated[int, "of a snapshot; otherwise the last one", Meta(ge=0)] = 0,
    ) -> Json:
        """Use after a wrong turn: back to a snapshot."""
        with self._lock:
            if self._changes and not revision:
                self._changes, self._seen = [], -1
                return {
                    "durable": True,
                    "revision": self._library.revision,
                    "tokens": self._told()["tokens"],
                }
            past = self._revisions()
            target = revision or next((rev for rev in (*past[1:], past[0] - 1 if past else 0)), 0)
            if not past or not 0 < target <= self._library.revision:
                raise UnknownRecord(
                    f"There is no snapshot of {self.session} to go back to.", "Nothing was changed."
                )
            then = [
                one
                for one in self._library.past.records_at(Variable, target)
                if one.session == self.session
            ]
            self._changes = []
            self._apply(lambda _: WorkingMemory(self.session).with_(then))
            return self._commit(f"roll working memory {self.session} back to revision {target}")

    def clear(
        self,
        outcome: Literal["SUCCESS", "PARTIAL", "FAILURE"] = "PARTIAL",
        output: Annotated[Page, "what came of the task"] = "",
    ) -> Json:
        """Use when the task is over: it is kept as an episode, and of the working memory only the metadata."""
        episode, before = list[str](), WorkingMemory(self.session)

        def change(memory: WorkingMemory) -> WorkingMemory:
            nonlocal before
            before = memory
            return WorkingMemory(memory.session).with_(memory.of("metadata"))

        def end() -> None:
            from workbench.services.agents.episodes import Episodes

            if (doc := working.episode_of(before, outcome, output)) is not None:
                episode.append(Episodes(self._context).store(doc, session=self.session).episode.id)
            end_memories(
                self._context,
                [m for m in self._library.memories.all() if m.session_id == self.session],
            )

        with self._lock:
            self._apply(change)
            return {
                **self._commit(f"clear working memory {self.session}", end),
                "episode": next(iter(episode), None),
            }

    def show(self) -> Json:
        """Use to see what is in the working memory: the scopes, how full each layer is, what is hot, warm and cold."""
        return view_of(self.memory)

    # What a person corrects

    def pin(self, key: str, scope: str) -> Json:
        """Keep a variable from being pruned, or no longer; stored at once."""
        return self._correct("pin", key, scope, lambda one: replace(one, pinned=not one.pinned))

    def drop(self, key: str, scope: str) -> Json:
        """Remove a variable; stored at once."""
        return self._correct("drop", key, scope, lambda _: None)

    def correct(self, key: str, scope: VariableScope, value: object) -> Json:
        """Give a variable another value; stored at once."""
        working.find(self.memory, key, scope)
        self.set(key, value, scope)
        return self._commit(f"correct {scope}.{key} in working memory {self.session}")

    def _correct(
        self, verb: str, key: str, scope: str, to: Callable[[Variable], Variable | None]
    ) -> Json:
        def change(memory: WorkingMemory) -> WorkingMemory:
            one = working.find(memory, key, scope)
            new = to(one)
            return memory.with_((), [one.name]) if new is None else memory.with_([new])

        self._apply(change)
        return self._commit(f"{verb} {scope}.{key} in working memory {self.session}")

    # Changing and storing

    def _apply(self, change: Change) -> WorkingMemory:
        with self._lock:
            self._now = change(self.memory)
            self._changes.append(change)
            return self._now

    def _told(self, **more: object) -> Json:
        tokens = sum(working.fill(self.memory).values())
        return {**more, "tokens": tokens, "durable": False, "note": VOLATILE}

    def _clean(self, value: Any) -> Any:
        return cleaned(
            value, lambda text: self._gate.cleaned(clean_for_store(text), lambda _: False)
        )

    def _found(self, query: str, *, is_task: bool) -> list[str]:
        rows = self._recall(query, is_task) if self._recall is not None else ()
        added: list[str] = []

        def change(memory: WorkingMemory) -> WorkingMemory:
            new, added[:] = working.add_retrieved(memory, rows, self._context.now())
            return new

        self._apply(change)
        return added

    def _commit(self, label: str, also: Callable[[], None] | None = None) -> Json:
        """Store what differs as one transaction, on what others stored meanwhile, and write the
        session's file.
        """
        self._library.begin()
        with self._lock, self._library.turn():
            self._seen = -1
            now, stored = self.memory, self._stored()
            changed = [one for name, one in now.variables.items() if one != stored.get(name)]
            gone = [one for name, one in stored.items() if name not in now.variables]
            is_access = not gone and all(_is_read(one, stored.get(one.name)) for one in changed)
            kind: Kind = "access" if changed and is_access and also is None else "edit"
            changed = [] if is_access and also is not None else changed
            with self._context.transaction(label, kind=kind) as tx:
                for one in changed:
                    tx.put(one)
                for one in gone:
                    tx.delete(one)
                if also is not None:
                    also()
            self._changes, self._reads, self._seen = [], set(), -1
            self._write(WorkingMemory(self.session, self._stored()))
            tokens = sum(working.fill(self.memory).values())
            return {"durable": True, "revision": self._library.revision, "tokens": tokens}

    def _stored(self) -> dict[str, Variable]:
        return {
            one.name: one
            for one in self._library.table(Variable).all()
            if one.session == self.session
        }

    def _revisions(self) -> list[int]:
        """Return the revisions that changed this working memory, the latest first."""
        begin, library = f"{self.session}:", self._library
        return [
            entry.rev
            for entry in library.changes_back(_TABLE)
            if entry.kind != "access"
            and any(
                one.table == _RECORDS and library.key_of(one).startswith(begin)
                for one in entry.changes
            )
        ]

    # The file

    @property
    def _path(self) -> Path:
        return self._library.surroundings.working / f"{self.session}.json"

    def _load(self) -> WorkingMemory:
        """Return what is stored, with what somebody else edited in the file since it was written."""
        memory = WorkingMemory(self.session, self._stored())
        doc = _read(self._path)
        if not doc or doc.get("state") not in (None, self._state(memory)):
            return memory
        return working.edited(memory, self._clean(doc), self._context.now())

    def _state(self, memory: WorkingMemory) -> str:
        """Return what tells whether a file was written from these records."""
        said = sorted((one.id, one.n, one.pinned, one.cold) for one in memory.variables.values())
        return text_mark(repr(said))

    def _write(self, memory: WorkingMemory) -> None:
        doc = {"state": self._state(memory), **doc_of(memory)}
        try:
            self._path.parent.mkdir(mode=0o700, exist_ok=True)
            write_file(
                self._path,
                json.dumps(doc, indent=1, ensure_ascii=False).encode("utf-8", "replace"),
                durable=False,
            )
        except OSError as error:
            raise cannot_write(self._path.parent, error) from error


def _is_read(one: Variable, stored: Variable | None) -> bool:
    """Tell whether a variable was only read since it was stored."""
    return stored is not None and replace(one, access_count=stored.access_count) == stored


def _shrank(before: Variable, now: Variable | None) -> bool:
    return (
        now is None
        or (now.cold and not before.cold)
        or (now.whole is not None and before.whole is None)
    )


def _read(path: Path) -> Json | None:
    """Return what a session's file says; empty where there is none, `None` for one that cannot be
    read.
    """
    try:
        doc = json.loads(read_regular(path))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, RecursionError, TooLarge):
        return None
    return doc if isinstance(doc, dict) else None


# The operations as people and scripts call them: each takes words


class Operation(NamedTuple):
    """An operation and its words: “x?” may be left out, “--x” is an option where there are such."""

    about: str
    example: str
    words: tuple[str, ...]
    do: Callable[..., Json]


OPERATIONS: Mapping[str, Operation] = {
    "init": Operation(
        "start a working memory, or resume a session",
        '"Fix the token refresh. Tests must pass." --session s1', ("task?",),
        lambda m, task: m.init(_task_in(task)),
    ),
    "load-context": Operation(
        "store a task with goals and constraints, and retrieve for it", '"Fix the token refresh"', ("task",),
        lambda m, task: m.load_task_context(_task_in(task)),
    ),
    "set": Operation(
        "set a variable", "files_modified auth.py --scope accumulator", ("key", "value", "--scope"),
        lambda m, key, value, scope: m.set(key, value_in(value), scope or "task"),
    ),
    "get": Operation(
        "print a variable, even if it was pruned", "files_modified", ("key", "--scope"),
        lambda m, key, scope: {"value": m.get(key, scope or "task")},
    ),
    "push-state": Operation(
        "push a state (JSON object); control variables end", """'{"current_phase": "testing"}'""", ("state",),
        lambda m, state: m.push_state(_object_in(state)),
    ),
    "add-intermediate": Operation(
        "store the output of a subtask", "subtask_001 PyJWT --type library_choice",
        ("subtask", "output", "--type", "--trace"),
        lambda m, subtask, output, type, trace: m.add_intermediate(subtask, value_in(output), type, value_in(trace)),
    ),
    "retrieve": Operation(
        "retrieve past episodes", '"token refresh fails"', ("query",), lambda m, query: m.retrieve_from_episodic(query)
    ),
    "prune": Operation("prune cold items", "", (), lambda m: m.prune()),
    "snapshot": Operation("store the present state", "", (), lambda m: m.snapshot()),
    "rollback": Operation(
        "roll back to a revision, or by one change", "42", ("revision?",),
        lambda m, revision: m.rollback(_revision_in(revision)),
    ),
    "clear": Operation(
        "end the task and clear the memory",
        '--outcome SUCCESS --output "tokens are refreshed"', ("--outcome", "--output"),
        lambda m, outcome, output: m.clear(outcome or "PARTIAL", output),
    ),
}  # fmt: skip


def words_of(name: str, line: str) -> dict[str, str]:
    """Return the words of an operation that one line gives in their order. Raises `InvalidRecord`."""
    names = OPERATIONS[name].words
    try:
        given = [line] if len(names) == 1 else shlex.split(line)
    except ValueError as error:
        raise InvalidRecord(
            f"It cannot be read: {error}.", "Put a text with spaces in quotes."
        ) from error
    least = sum(one[0] != "-" and one[-1] != "?" for one in names)
    if not least <= len(list(filter(None, given))) <= len(names):
        message = f"Expected: {' '.join(names).upper() or 'no words'}."
        raise InvalidRecord(message, "Put a text with spaces in quotes.")
    return {
        one.strip("?-"): given[place] if place < len(given) else ""
        for place, one in enumerate(names)
    }


def value_in(text: str) -> object:
    """Return the JSON value that a text is, or else the text."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def _task_in(text: str) -> str | Json:
    found = value_in(text)
    return found if isinstance(found, dict) else text


def _object_in(text: str) -> Json:
    found = value_in(text)
    if not isinstance(found, dict):
        raise InvalidQuery("A state is a JSON object.", 'Such as {"current_phase": "testing"}.')
    return found


def _revision_in(text: str) -> int:
    if text and not text.isdecimal():
        raise InvalidRecord(
            f"“{text[:40]}” is not a revision.", "Leave it empty to go back by one change."
        )
    return int(text or 0)
