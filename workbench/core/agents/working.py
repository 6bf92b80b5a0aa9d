"""Working memory: what an agent keeps in mind for one task, as a frozen value, with its rules
(source 004, 1).
"""

import json
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Literal, NamedTuple, get_args

from workbench.core.document import Record
from workbench.core.record import InvalidRecord, as_object, iso, without
from workbench.core.stream.memory import MAX_CONTENT
from workbench.core.tokens import beginning, tokens_of

Scope = Literal["global", "task", "execution", "intermediate", "metadata", "retrieved"]
SCOPES: tuple[Scope, ...] = get_args(Scope)

JSON_KEYS: Mapping[str, Scope] = {
    "global": "global", "task_scope": "task", "execution_scope": "execution", "intermediate_values": "intermediate",
    "metadata": "metadata", "retrieved": "retrieved",
}  # fmt: skip
"""The names of the scopes in JSON (source 004, section 1.4)."""

KINDS: Mapping[str, Scope] = {"accumulator": "task", "control": "execution"}
"""Variables that are set by their kind: one is appended to, the other ends with the next state."""

LAYERS: Mapping[str, tuple[int, tuple[Scope, ...]]] = {
    "system": (2_000, ("global",)),
    "task": (5_000, ("task",)),
    "execution": (3_000, ("execution", "metadata")),
    "results": (8_000, ("intermediate",)),
    "retrieved": (2_000, ("retrieved",)),
}
"""The layers: their budgets in tokens, and the scopes that count in them."""

LIMIT = sum(budget for budget, _ in LAYERS.values())
HOT, WARM = 5_000, 10_000
"""Tokens of what is always in the context, and of what is where there is room."""

RECENT = 5
"""Results that stay, besides the latest, though no open step names them."""

MOST_STATES = 20
LONGEST_KEY = 200
DEEPEST = 40
_SUMMARY = 400

_GOALS = ("description", "primary_goal", "goal", "goals", "success_criteria", "constraints")
_DONE = frozenset(("done", "completed", "skipped", "cancelled"))

Temperature = Literal["hot", "warm", "cold"]


class Variable(Record, frozen=True):
    """A variable of a session. `n` counts up with every writing.

    One that is `cold` was pruned: it is no longer in the context, and becomes a part of the
    session's episode. Of one whose value is a summary, `whole` is what it was.
    """

    id: str
    session: str
    scope: Scope
    key: str
    at: datetime
    value: Any = None
    n: int = 0
    tokens: int = 0
    access_count: int = 0
    kind: str = ""
    pinned: bool = False
    cold: bool = False
    whole: Any = None
    version: int = 1

    @property
    def name(self) -> str:
        return f"{self.scope}.{self.key}"

    @property
    def full(self) -> Any:
        return self.value if self.whole is None else self.whole


@dataclass(frozen=True, slots=True)
class WorkingMemory:
    """The working memory of one agent session: its variables by name, such as `task.goal`."""

    session: str
    variables: Mapping[str, Variable] = field(default_factory=dict)

    def of(self, *scopes: Scope) -> list[Variable]:
        """Return the variables of some scopes that are in the context, the first written first."""
        found = [one for one in self.variables.values() if one.scope in scopes and not one.cold]
        return sorted(found, key=lambda one: one.n)

    def value(self, name: str, default: Any = None) -> Any:
        one = self.variables.get(name)
        return default if one is None else one.full

    def read(self, name: str) -> "WorkingMemory":
        """Count that a variable was read."""
        one = self.variables.get(name)
        return (
            self if one is None else self.with_([replace(one, access_count=one.access_count + 1)])
        )

    @property
    def is_blank(self) -> bool:
        """Whether there is nothing of a task in it."""
        return all(
            one.scope in ("global", "metadata", "retrieved") for one in self.variables.values()
        )

    def with_(self, variables: Iterable[Variable], without: Iterable[str] = ()) -> "WorkingMemory":
        left = (
            {name: one for name, one in self.variables.items() if name not in without}
            if without
            else self.variables
        )
        return replace(self, variables={**left, **{one.name: one for one in variables}})


class Pruned(NamedTuple):
    """What pruning came to: the names of results that left, of texts that were summarised, and of
    unused context.
    """

    memory: WorkingMemory
    moved: tuple[str, ...] = ()
    summarised: tuple[str, ...] = ()
    dropped: tuple[str, ...] = ()
    warning: str = ""


# Variables


def scope_of(name: str) -> tuple[Scope, str]:
    """Return the scope and the kind that a name means; raises `InvalidRecord`."""
    if name in KINDS:
        return KINDS[name], name
    found = next((scope for key, scope in JSON_KEYS.items() if name in (scope, key)), None)
    if found is None:
        raise InvalidRecord(
            f"Unknown scope “{name[:40]}”.", f"Scopes are: {', '.join((*SCOPES, *KINDS))}."
        )
    return found, ""


def put(memory: WorkingMemory, key: str, value: object, scope: str, at: datetime) -> WorkingMemory:
    """Set a variable; an accumulator appends. Raises `InvalidRecord` for what cannot be kept, and
    without room.
    """
    where, kind = scope_of(scope)
    if kind == "accumulator":
        value = [*_listed(memory.value(f"{where}.{key}", [])), *_listed(value)]
    return _within(memory, memory.with_([_made(memory, key, value, where, at, kind)]))


def find(memory: WorkingMemory, key: str, scope: str) -> Variable:
    """Return a variable; raises `InvalidRecord` when it is not there."""
    where, _ = scope_of(scope)
    found = memory.variables.get(f"{where}.{key}")
    if found is None:
        raise InvalidRecord(f"No variable “{key[:60]}” in scope {where}.", "Nothing was changed.")
    return found


def push_state(memory: WorkingMemory, state: Mapping[str, Any], at: datetime) -> WorkingMemory:
    """Begin a state: what it says takes the place of what was, control variables end, and the time
    is kept.
    """
    ended = [name for name, one in memory.variables.items() if one.kind == "control"]
    new = memory.with_(
        [_made(memory, str(key), value, "execution", at) for key, value in state.items()], ended
    )
    known = {key: state[key] for key in ("current_phase", "current_subtask") if key in state}
    states = [*_listed(memory.value("metadata.states", [])), {"at": iso(at), **known}][
        -MOST_STATES:
    ]
    return _within(memory, new.with_([_made(new, "states", states, "metadata", at)]))


def add_retrieved(
    memory: WorkingMemory, rows: Sequence[tuple[str, str]], at: datetime
) -> tuple[WorkingMemory, tuple[str, ...]]:
    """Add texts that were found, by their ids, as far as the layer has room, and return the ids of
    those added.

    What nobody read makes room first; a text of which only the beginning fits is cut.
    """
    ids = {id for id, _ in rows}
    new = memory.with_(
        (), [one.name for one in memory.of("retrieved") if one.key in ids or not _is_wanted(one)]
    )
    added = list[str]()
    for id, text in rows:
        room = LAYERS["retrieved"][0] - fill(new)["retrieved"] - tokens_of(id)
        if room < min(50, tokens_of(text)):
            break
        if tokens_of(text) > room:
            end = text.rpartition("\n")[2][-100:]  # of a text in a block, what closes that
            text = f"{beginning(text, room - tokens_of(end) - 2)}\n{end}"
        new = new.with_([_made(new, id, text, "retrieved", at)])
        added.append(id)
    return new, tuple(added)


def task_of(task: str | Mapping[str, Any]) -> dict[str, Any]:
    """Return the variables of a task: as they are named, or what its sentences say of goals and
    constraints.
    """
    if not isinstance(task, str):
        return {str(key): value for key, value in task.items()}
    sentences = [
        part for one in re.split(r"(?<=[.!?;])\s+|\n+", task) if (part := one.strip(" -*\t"))
    ]
    limits = [one for one in sentences if _LIMITS.search(one)]
    criteria = [one for one in sentences if one not in limits and _CRITERIA.search(one)]
    goals = [one for one in sentences if one not in limits and one not in criteria] or sentences
    found = {
        "description": task.strip(), "primary_goal": goals[0] if goals else "", "goals": goals[1:],
        "constraints": limits, "success_criteria": criteria, "target_files": list(dict.fromkeys(_FILES.findall(task))),
    }  # fmt: skip
    return {key: value for key, value in found.items() if value}


_LIMITS = re.compile(
    r"\b(must|never|don't|do not|without|only|should not|no more than|at most)\b", re.I
)
_CRITERIA = re.compile(
    r"\b(done when|so that|until|pass|passes|succeeds|is green|accepted when)\b", re.I
)
_FILES = re.compile(r"(?<![\w/.])(?:[\w.-]+/)*[\w-]+\.[a-z]{1,5}\b(?!\()")


def _made(
    memory: WorkingMemory, key: str, value: object, scope: Scope, at: datetime, kind: str = ""
) -> Variable:
    """Return a variable with a new value; raises `InvalidRecord` when that is no JSON value, or too
    long.
    """
    if not key.strip() or len(key) > LONGEST_KEY:
        raise InvalidRecord(
            f"The name of a variable has 1 to {LONGEST_KEY} characters.", "Nothing was set."
        )
    plain = _plain(key, value, DEEPEST)
    if (size := len(text_of(plain))) > MAX_CONTENT:
        message = (
            f"The value of {key} has {size:,} characters; a variable has at most {MAX_CONTENT:,}."
        )
        raise InvalidRecord(message, "Nothing was set: keep it in a file and store its path.")
    n = max((one.n for one in memory.variables.values()), default=0) + 1
    old = memory.variables.get(f"{scope}.{key}")
    made = Variable(
        f"{memory.session}:{scope}.{key}", memory.session, scope, key, at, plain, n, kind=kind
    )
    return _counted(
        made if old is None else replace(made, kind=kind or old.kind, pinned=old.pinned)
    )


def _counted(one: Variable) -> Variable:
    return replace(one, tokens=tokens_of(one.key) + tokens_of(text_of(one.value)))


def _plain(key: str, value: object, left: int) -> Any:
    if left and isinstance(value, Mapping):
        return {str(name): _plain(key, item, left - 1) for name, item in value.items()}
    if left and isinstance(value, list | tuple | set | frozenset):
        return [_plain(key, item, left - 1) for item in value]
    if (
        value is None
        or isinstance(value, str | bool)
        or (isinstance(value, int) and abs(value) < 1 << 63)
    ):
        return value
    if isinstance(value, float) and math.isfinite(value):
        return value
    raise InvalidRecord(
        f"The value of {key} is not a JSON value, or nested too deeply.", "Nothing was set."
    )


def _listed(value: object) -> list[object]:
    return list(value) if isinstance(value, list | tuple) else [value]


def text_of(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


# Layers, and what is always, perhaps, or never in the context


def fill(memory: WorkingMemory) -> dict[str, int]:
    """Return the tokens in each layer."""
    return {id: sum(one.tokens for one in memory.of(*scopes)) for id, (_, scopes) in LAYERS.items()}


def results(memory: WorkingMemory) -> list[Variable]:
    """Return the results of subtasks that are in the context, the latest first."""
    return memory.of("intermediate")[::-1]


def temperatures(memory: WorkingMemory) -> list[tuple[Variable, Temperature]]:
    """Return all variables by scope, each hot, warm or cold; results the latest first."""
    left, ages = (
        {"hot": HOT, "warm": WARM},
        {one.key: age for age, one in enumerate(results(memory))},
    )
    named, found = _open_steps(memory), list[tuple[Variable, Temperature]]()
    for scope in SCOPES:
        for one in results(memory) if scope == "intermediate" else memory.of(scope):
            age = ages.get(one.key, 0) if scope == "intermediate" else 1
            is_goal = (
                one.pinned
                or (scope == "task" and one.key in _GOALS)
                or one.name == "execution.current_subtask"
            )
            warmth: Temperature = "hot" if is_goal or scope == "global" or age == 0 else "warm"
            if scope == "metadata" or (age > RECENT and not named(one.key)):
                warmth = "cold"
            if warmth == "hot" and scope != "global" and one.tokens > left["hot"]:
                warmth = "warm"
            if warmth == "warm" and one.tokens > left["warm"]:
                warmth = "cold"
            if warmth != "cold" and scope != "global":
                left[warmth] -= one.tokens
            found.append((one, warmth))
    return [*found, *((one, "cold") for one in memory.variables.values() if one.cold)]


def _open_steps(memory: WorkingMemory) -> Callable[[str], bool]:
    """Return what tells whether an open step names a subtask: one in progress or failed, or of the
    rest of the plan.
    """
    done = set(map(str, _listed(memory.value("execution.completed", []))))
    steps = [
        memory.value(f"execution.{name}", "")
        for name in ("current_subtask", "in_progress", "failed")
    ]
    for step in _listed(memory.value("task.plan", [])):
        said = step if isinstance(step, Mapping) else {"id": step}
        if str(said.get("status", "")).lower() not in _DONE and str(said.get("id")) not in done:
            steps.append(step)
    text = text_of(steps)
    return lambda key: re.search(rf"(?<![\w-]){re.escape(key)}(?![\w-])", text) is not None


# Pruning


def _over(memory: WorkingMemory) -> list[str]:
    tokens = fill(memory)
    return [id for id, (budget, _) in LAYERS.items() if tokens[id] > budget]


def _within(before: WorkingMemory, memory: WorkingMemory) -> WorkingMemory:
    """Return a changed memory, pruned where a layer is over its budget; raises `InvalidRecord` when
    that is no help.
    """
    if not _over(memory):
        return memory
    now = prune(memory).memory
    was, tokens = fill(before), fill(now)
    for id in _over(now):
        if tokens[id] > was[id]:
            message = f"The {id} layer would have {tokens[id]:,} tokens; it has room for {LAYERS[id][0]:,}."
            raise InvalidRecord(
                message, "Nothing was set: drop variables, or keep the text in a file."
            )
    return now


def prune(memory: WorkingMemory) -> Pruned:
    """Take out what is cold, in this order, and summarise aggressively where a layer is still over
    its budget.

    Results more than five subtasks back that no open step names; traces of finished subtasks become
    summaries; retrieved context goes that nobody read.
    """
    named = _open_steps(memory)
    moved = [one for one in results(memory)[RECENT + 1 :] if not (one.pinned or named(one.key))]
    now, shorter = memory.with_([replace(one, cold=True) for one in moved]), list[Variable]()
    for one in results(now):
        trace = as_object(one.value).get("trace")
        if (
            trace
            and len(_lines(trace)) > _SUMMARY
            and one.key != memory.value("execution.current_subtask")
        ):
            shorter.append(_shortened(one, {**one.value, "trace": summary(_lines(trace))}))
    dropped = [one.name for one in now.of("retrieved") if not _is_wanted(one)]
    now, warning = now.with_(shorter, dropped), ""
    if over := _over(now):
        warning = f"Over the budget despite pruning: {', '.join(over)}. Texts were summarised."
        for id in over:
            for one in _longest(now, id):
                if fill(now)[id] > LAYERS[id][0]:
                    shorter.append(_shortened(one, summary(_lines(one.value))))
                    now = now.with_(shorter[-1:])
    return Pruned(
        now,
        tuple(one.name for one in moved),
        tuple(one.name for one in shorter),
        tuple(dropped),
        warning,
    )


def summary(text: str) -> str:
    """Return what a text comes to without a model: its first and last line, errors, paths and
    numbers.
    """
    lines = [line.strip()[:120] for line in text.splitlines() if line.strip()] or [""]
    parts = [lines[0], *[line for line in lines[1:-1] if _ERROR.search(line)][:2], *lines[1:][-1:]]
    for pattern in (_PATH, _NUMBER):
        found = [
            one
            for one in dict.fromkeys(pattern.findall(text))
            if not any(one in part for part in parts)
        ]
        parts += [", ".join(found[:5])] if found else []
    return " … ".join(parts)[:_SUMMARY]


_ERROR = re.compile(r"\b(\w*error|exception|failed|failure|fatal|traceback|denied|refused)\b", re.I)
_PATH = re.compile(r"(?<![\w/.])(?:[\w.~-]*/)+[\w.-]+|(?<![\w/.])[\w-]+\.[a-z]{1,5}\b")
_NUMBER = re.compile(r"(?<![\w.])\d[\d.,:]*\d%?|(?<![\w.])\d%?(?![\w.])")


def _lines(value: object) -> str:
    return "\n".join(map(text_of, value)) if isinstance(value, list) else text_of(value)


def _is_wanted(one: Variable) -> bool:
    return one.pinned or one.access_count > 0


def _shortened(one: Variable, value: object) -> Variable:
    return _counted(replace(one, value=value, whole=one.full))


def _longest(memory: WorkingMemory, layer: str) -> list[Variable]:
    """Return the variables of a layer that a summary makes shorter, the longest first; goals and
    pinned ones never.
    """
    kept = {one.name for one in results(memory)[:1]} | {f"task.{key}" for key in _GOALS}
    found = [
        one
        for one in memory.of(*LAYERS[layer][1])
        if one.name not in kept and not (one.pinned or one.kind)
    ]
    return sorted(
        (one for one in found if len(text_of(one.value)) > _SUMMARY), key=lambda one: -one.tokens
    )


def edited(memory: WorkingMemory, doc: Mapping[str, object], at: datetime) -> WorkingMemory:
    """Return a memory with what somebody changed in its JSON; what cannot be read there stays as it
    is.
    """
    new = memory
    for field_name, scope in JSON_KEYS.items():
        given, known = doc.get(field_name), {one.key: one for one in memory.of(scope)}
        if isinstance(given, Mapping):
            new = new.with_((), [one.name for key, one in known.items() if key not in given])
            for key, value in given.items():
                if key not in known or known[key].value != value:
                    with suppress(InvalidRecord):
                        new = new.with_([_made(new, key, value, scope, at)])
    return new


# The end of a task


def episode_of(memory: WorkingMemory, status: str, output: str) -> dict[str, object] | None:
    """Return the episode of a task, with the results that were pruned; `None` where there was no
    task.
    """
    if memory.is_blank:
        return None
    parts: dict[str, dict[str, Any]] = {scope: {} for scope in SCOPES}
    for one in sorted(memory.variables.values(), key=lambda one: one.n):
        parts[one.scope][one.key] = one.full
    task, values = parts["task"], parts["intermediate"].items()
    said = str(
        task.get("description") or task.get("primary_goal") or task.get("goal") or ""
    ).strip()
    trace = [
        {"subtask_id": key, **(v if isinstance(v, Mapping) else {"output": v})} for key, v in values
    ]
    context = without(task, *_GOALS, "plan")
    used = [one.key for one in memory.of("retrieved") if one.access_count]
    return {
        "task": {
            "original_input": said or f"Task of session {memory.session}",
            "parsed_goals": {
                key: task[key]
                for key in ("primary_goal", "goals", "success_criteria")
                if key in task
            },
            "constraints": _listed(task.get("constraints", [])),
            "context": context,
        },
        "execution": {"plan": task.get("plan"), "trace": trace, "state": parts["execution"]},
        "outcome": {
            "status": status.upper(),
            "primary_output": output or (trace[-1].get("output") if trace else ""),
        },
        "metadata": {
            "source": "working memory",
            "retrieved": used,
            "working_memory": parts["metadata"],
        },
    }
