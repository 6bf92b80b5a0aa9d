"""Plans (source 000, algorithms 10 to 12): a goal in steps, when to leave it, and what to do next.

A plan is kept as text, a Markdown check list below its goal, so that whoever edits the text edits
the plan.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import accumulate
from typing import Literal, NamedTuple, get_args

from workbench.core.record import InvalidRecord
from workbench.core.text import one_line
from workbench.core.words import stop_words, words

State = Literal["open", "done", "skipped"]
Path = tuple[int, ...]
"""Where a step stands: its place among those of each level, from 0; the goal is the empty one."""

CHUNKS = (5, 15, 30, 60)
DEEPEST, MOST_PARTS, MOST_STEPS, LONGEST_STEP, MOST_MINUTES = 3, 8, 200, 300, 100_000
DAY, FEWEST_OF_DAY = 480, 5

_UNCHANGED = "Nothing was changed."
_MARKS: Mapping[State, str] = {"open": " ", "done": "x", "skipped": "-"}
_LINE = re.compile(r"([ \t]*)[-*+] (?:\[([ xX-])\] )?(.*)")
_DURATION = re.compile(r"\s*\((-?\d+(?:\.\d+)?) ?(min|h)\)$")


@dataclass(frozen=True, slots=True)
class Step:
    """A goal or one of its steps. What has steps lasts as long as they do together (0: not known)."""

    text: str
    minutes: int = 0
    state: State = "open"
    steps: tuple["Step", ...] = ()

    @property
    def total(self) -> int:
        return sum(one.total for one in self.steps) if self.steps else self.minutes

    @property
    def is_settled(self) -> bool:
        return all(one.is_settled for one in self.steps) if self.steps else self.state != "open"


def step_of(text: str) -> Step:
    """Return the step that a line states, such as “Write the test (30 min)”. Raises
    `InvalidRecord`.
    """
    line = one_line(text.strip(), len(text) + 1)
    said = _DURATION.search(line)
    minutes = round(float(said[1]) * (60 if said[2] == "h" else 1)) if said else 0
    line = line[: said.start()].strip() if said else line
    if not 0 < len(line) <= LONGEST_STEP:
        raise InvalidRecord(
            f"A goal or step has 1 to {LONGEST_STEP} characters, not {len(line):,}.", _UNCHANGED
        )
    return timed(Step(line), minutes)


def walk(plan: Step, path: Path = ()) -> Iterator[tuple[Path, Step]]:
    """Yield every step with its path, the goal first."""
    yield path, plan
    for place, one in enumerate(plan.steps):
        yield from walk(one, (*path, place))


def named(path: Path) -> str:
    """Return the number of a step as people write it: `2.1`."""
    return ".".join(str(place + 1) for place in path)


def path_of(number: str, plan: Step) -> Path:
    """Return where the step with a number stands. Raises `InvalidRecord`."""
    known = {named(path): path for path, _ in walk(plan) if path}
    if number.strip(". ") not in known:
        raise InvalidRecord(
            f"There is no step {number}.",
            f"Steps are: {', '.join(list(known)[:12]) or 'none yet'}.",
        )
    return known[number.strip(". ")]


def at(plan: Step, path: Path) -> Step:
    return at(plan.steps[path[0]], path[1:]) if path else plan


def current(plan: Step) -> Path | None:
    """Return where the first open step without steps of its own stands; `None` once all is settled."""
    return next((path for path, one in walk(plan) if not one.steps and one.state == "open"), None)


def progress(plan: Step) -> tuple[int, int]:
    """Return how many of the steps that have none of their own are settled, and how many there are."""
    leaves = [one for _, one in walk(plan) if not one.steps]
    return sum(one.is_settled for one in leaves), len(leaves)


def _too_deep() -> InvalidRecord:
    return InvalidRecord(f"A plan has at most {DEEPEST} levels of steps.", _UNCHANGED)


def checked(plan: Step) -> Step:
    """Return a plan that is not too large, and in which nothing is a part of itself. Raises
    `InvalidRecord`.
    """
    every = list(walk(plan))
    if len(every) > MOST_STEPS + 1:
        message = f"A plan has at most {MOST_STEPS} steps; this one would have {len(every) - 1:,}."
        raise InvalidRecord(message, "Choose a larger chunk, or make a plan for each part.")
    if max(len(path) for path, _ in every) > DEEPEST:
        raise _too_deep()
    for path, step in every:
        if any(
            at(plan, path[:end]).text.casefold() == step.text.casefold() for end in range(len(path))
        ):
            raise InvalidRecord(
                f"“{step.text}” cannot be a part of itself (step {named(path)}).", _UNCHANGED
            )
    return plan


# The text of a plan


def plan_text(plan: Step) -> str:
    lines = [_said(plan)]
    lines += [
        f"{'  ' * (len(path) - 1)}- [{_MARKS[state_of(one)]}] {_said(one)}"
        for path, one in walk(plan)
        if path
    ]
    return "\n".join(lines)


def _said(step: Step) -> str:
    return f"{step.text} ({step.total} min)" if step.total else step.text


def state_of(step: Step) -> State:
    """Return the state of a step: with steps of its own, theirs."""
    done = any(one.state == "done" for _, one in walk(step) if not one.steps)
    return "open" if not step.is_settled else "done" if done else "skipped"


def read_plan(text: str) -> Step:
    """Read a check list below its goal; what is indented is a part of what stands above. Raises
    `InvalidRecord`.
    """
    lines = [(number, line) for number, line in enumerate(text.splitlines(), 1) if line.strip()]
    if not lines:
        raise InvalidRecord("The goal is missing: it is the first line of a plan.", _UNCHANGED)
    found, indents = list[tuple[int, Step]](), list[int]()
    for number, line in lines[1:]:
        row = _LINE.fullmatch(line)
        if row is None:
            raise InvalidRecord(
                f"Line {number} is not a step.", "A step is written “- [ ] what to do (15 min)”."
            )
        indent = len(row[1].expandtabs(4))
        indents = [*(one for one in indents if one < indent), indent]
        if len(indents) > DEEPEST:
            raise _too_deep()
        state: State = next(
            (s for s, mark in _MARKS.items() if mark == (row[2] or " ").lower()), "open"
        )
        found.append((len(indents), replace(step_of(row[3]), state=state)))
    below = defaultdict[int, list[Step]](list)
    for depth, step in reversed(found):
        below[depth].insert(0, replace(step, steps=tuple(below.pop(depth + 1, ()))))
    return checked(replace(step_of(lines[0][1].lstrip("# ")), steps=tuple(below[1])))


# Changing a plan


def changed(plan: Step, path: Path, change: Callable[[Step], Sequence[Step]]) -> Step:
    """Return a plan with a step replaced by what a change makes of it: none, one, or several."""
    if not path:
        return checked(change(plan)[0])
    return checked(_changed(plan, path, change))


def _changed(plan: Step, path: Path, change: Callable[[Step], Sequence[Step]]) -> Step:
    place, steps = path[0], plan.steps
    new = change(steps[place]) if len(path) == 1 else (_changed(steps[place], path[1:], change),)
    return replace(plan, steps=(*steps[:place], *new, *steps[place + 1 :]))


def marked(step: Step, state: State) -> Step:
    """Return a step with all below it in one state."""
    return replace(step, state=state, steps=tuple(marked(one, state) for one in step.steps))


def added(plan: Step, under: Path, step: Step, place: int = MOST_STEPS) -> Step:
    """Return a plan with a step more below another, at a place among those there."""
    steps = list(at(plan, under).steps)
    steps.insert(place, step)
    return changed(plan, under, lambda one: (replace(one, steps=tuple(steps)),))


def reworded(step: Step, said: Step) -> Step:
    """Return a step with another text and duration. Raises `InvalidRecord` for another one than its
    steps take.
    """
    if step.steps and said.minutes not in (0, step.total):
        raise InvalidRecord(
            f"Its steps take {step.total} minutes together.", "Change the duration of one of them."
        )
    return replace(step, text=said.text, minutes=said.minutes)


def moved(plan: Step, path: Path, by: int) -> tuple[Step, Path]:
    """Return a plan with a step moved among its neighbours, and where it stands then."""
    above, place = at(plan, path[:-1]), path[-1]
    to = max(0, min(len(above.steps) - 1, place + by))
    steps = list(above.steps)
    steps.insert(to, steps.pop(place))
    return changed(plan, path[:-1], lambda one: (replace(one, steps=tuple(steps)),)), (
        *path[:-1],
        to,
    )


# Decomposition (algorithm 11)


def decomposed(goal: Step, chunk: int = 15, named: Sequence[Step] = ()) -> Step:
    """Part a goal until what is left is shorter than two chunks, or `DEEPEST` levels down;
    durations add up.

    Its own parts are those that are `named`, where there are enough. Raises `InvalidRecord`.
    """
    if chunk not in CHUNKS:
        raise InvalidRecord(
            f"A chunk has {', '.join(map(str, CHUNKS))} minutes, not {chunk}.", _UNCHANGED
        )
    return checked(_parted(timed(goal, goal.minutes), chunk, named, 0))


def timed(step: Step, minutes: int) -> Step:
    """Return a step of another duration. Raises `InvalidRecord`."""
    if not 0 <= minutes <= MOST_MINUTES:
        raise InvalidRecord(
            f"A step takes 0 to {MOST_MINUTES:,} minutes, not {minutes:,}.", _UNCHANGED
        )
    return replace(step, minutes=minutes)


def _parted(step: Step, chunk: int, named: Sequence[Step], depth: int) -> Step:
    if step.minutes < 2 * chunk or depth >= DEEPEST:
        return step
    most = min(MOST_PARTS, step.minutes // chunk)
    if len(named) < (FEWEST_OF_DAY if depth == 0 and step.minutes >= DAY else 2):
        named = [
            Step(
                one_line(f"{step.text}, part {number}" if depth else f"Part {number}", LONGEST_STEP)
            )
            for number in range(1, most + 1)
        ]
    rest = one_line("; ".join(one.text for one in named[most - 1 :]), LONGEST_STEP)
    parts = named if len(named) <= most else [*named[: most - 1], Step(rest)]
    shared = _shared(step.minutes, [one.minutes for one in parts])
    both = zip(parts, shared, strict=True)
    return replace(
        step,
        steps=tuple(
            _parted(replace(one, minutes=share), chunk, (), depth + 1) for one, share in both
        ),
    )


def _shared(total: int, wanted: Sequence[int]) -> list[int]:
    """Return parts of a total in the proportions that are wanted, even ones where one is not known."""
    weights = wanted if all(wanted) else [1] * len(wanted)
    ends = [round(total * end / sum(weights)) for end in accumulate(weights)]
    return [end - begin for begin, end in zip([0, *ends], ends, strict=False)]


# Deviation (algorithm 12)

Rule = Literal["error_detected", "user_instruction", "goal_satisfied", "blocked"]
RULES: tuple[Rule, ...] = get_args(Rule)
DEBOUNCE = timedelta(minutes=5)
COVERED = 0.6

_NO = r"(?:no|not|never|without|zero|0|nothing|isn't|wasn't|aren't|free of|fixed|resolved|solved)"
_BROKEN = r"(?:errors?|fail(?:ed|s|ing|ures?)|exceptions?)"
_WORDED: Mapping[Rule, re.Pattern[str]] = {
    "error_detected": re.compile(rf"\b{_BROKEN}\b(?!\s*[:=]\s*0\b|-free)", re.IGNORECASE),
    "user_instruction": re.compile(
        r"(?:^|[.!?]\s+)\W*(?:user|instruction)\s*:", re.IGNORECASE | re.MULTILINE
    ),
    "goal_satisfied": re.compile(r"\b(?:done|already|implemented|fixed|passes)\b", re.IGNORECASE),
    "blocked": re.compile(r"\b(?:blocked|missing)\b", re.IGNORECASE),
}
_NEGATED = re.compile(rf"(?<![\w.]){_NO}\s+(?:[\w'-]+\s+){{0,2}}\Z", re.IGNORECASE)


def keywords(text: str) -> frozenset[str]:
    return frozenset(word for word in words(text) if word not in stop_words())


def rule_for(step: str, observation: str) -> Rule | None:
    """Return the first rule by which an observation takes one off the current step; `None` to go
    on.
    """
    for rule in RULES:
        for found in _WORDED[rule].finditer(observation):
            if rule == "user_instruction":
                return rule
            before = observation[max(0, found.start() - 60) : found.start()]
            if _NEGATED.search(before):
                continue
            goal = keywords(step)
            opens = not before.strip(" \t\n*-✓✔[]x")
            if (
                rule != "goal_satisfied"
                or opens
                or len(goal & keywords(observation)) >= COVERED * max(1, len(goal))
            ):
                return rule
    return None


def is_debounced(fired: datetime | None, now: datetime) -> bool:
    """Tell whether a plan was left so lately that it is not left again; a clock set back does not
    count.
    """
    return fired is not None and timedelta(0) <= now - fired < DEBOUNCE


# Propose, evaluate, select (algorithm 10)

ActionType = Literal["retrieval", "reasoning", "learning", "grounding"]
MOST_CANDIDATES, MUCH_ACTIVITY, REASONING = 5, 100, 0.5


class Situation(NamedTuple):
    """What a decision rests on: the task, what is at hand in words, the goals with those finished,
    and the actions.
    """

    context: str
    known: str = ""
    goals: int = 1
    finished: int = 0
    actions: int = 0


@dataclass(frozen=True, slots=True)
class Candidate:
    """An action that was proposed, what proposes it (with the pattern's confidence), and its value
    with the reason.
    """

    type: ActionType
    action: str
    source: str = ""
    confidence: float = 0.0
    value: float = 0.0
    reason: str = ""


def evaluated(kind: ActionType, known: Situation) -> tuple[float, str]:
    """Return the value of an action of a type, and why."""
    if kind == "retrieval":
        asked = keywords(known.context)
        held = len(asked & keywords(known.known))
        return 1 - (
            held / len(asked) if asked else 1
        ), f"{held} of {len(asked)} keywords are in working memory"
    if kind == "grounding":
        finished = known.finished / known.goals if known.goals else 1.0
        return 1 - finished, f"{known.finished} of {known.goals} goals are finished"
    if kind == "learning":
        return min(
            1.0, known.actions / MUCH_ACTIVITY
        ), f"{known.actions} actions since the last lesson"
    return REASONING, "always worth the same"


def ranked(proposed: Sequence[Candidate], known: Situation) -> tuple[Candidate, ...]:
    """Return the first candidates with their values, the one to choose first: ties by confidence,
    then by order.
    """
    valued = []
    for one in proposed[:MOST_CANDIDATES]:
        value, reason = evaluated(one.type, known)
        valued.append(replace(one, value=round(value, 4), reason=reason))
    return tuple(sorted(valued, key=lambda one: (-one.value, -one.confidence)))
