"""Plans in the stream: made of patterns, changed step by step, checked against what comes in, and
what to do next.
"""

import contextlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from datetime import datetime
from typing import NamedTuple

from workbench.core.agents import plan as rules
from workbench.core.agents.actors import stands_by
from workbench.core.agents.layers import LAYERS
from workbench.core.agents.patterns.pattern import Pattern
from workbench.core.agents.plan import ActionType, Candidate, Rule, Situation, Step
from workbench.core.agents.working import Variable, text_of
from workbench.core.record import (
    Conflict,
    InvalidRecord,
    UnknownRecord,
    WorkbenchError,
    as_object,
    iso,
    parse_time,
)
from workbench.core.reflection.reflector import Preview, Tell, Usage
from workbench.core.runtime import Cancelled
from workbench.core.stream.memory import NO_SOURCE, Memory, Source
from workbench.core.text import clean_for_store, one_line
from workbench.services.agents.context import gathered
from workbench.services.context import Context
from workbench.services.playbook.playbook import Playbooks
from workbench.services.reflection.gauge import state_of
from workbench.services.reflection.reflection import AsksClaude, Connect
from workbench.services.safety.safety import Safety
from workbench.services.stream.fields import with_text
from workbench.services.stream.observation import Observation, cleaned, memory_of
from workbench.services.tuning.tuning import Tuning

PLAN = "plan"
"""The observation type of a plan, and the metadata key of where its checking begins."""

_EXPERIENCE = [kind for kind in LAYERS if kind.id in ("patterns", "failures", "episodes")]
_TOKENS, _SESSION = 4_000, 100


class Deviation(NamedTuple):
    """That an observation (its memory's id, empty for one that is not stored) takes one off the
    current step.

    A `debounced` one came within five minutes of another, and asks for no new plan.
    """

    rule: Rule
    text: str
    at: datetime
    memory: str = ""
    debounced: bool = False


class Decision(NamedTuple):
    """What to do next: the candidates, the one to choose first; `unread` is what of a reply was
    left out.
    """

    candidates: tuple[Candidate, ...]
    plan: str = ""
    usage: Usage | None = None
    unread: tuple[str, ...] = ()


class Plans(AsksClaude):
    """The plans of a store, for the context's actor."""

    def __init__(
        self,
        context: Context,
        safety: Safety,
        around: Callable[[], tuple[Tuning, Playbooks]],
        connect: Connect | None = None,
    ) -> None:
        super().__init__(context, safety.masked, connect)
        self._safety, self._around = safety, around

    def all(self) -> tuple[Memory, ...]:
        """Return the plans that are not archived, the newest first."""
        every = (one for one in self._library.memories.all() if one.observation_type == PLAN)
        return tuple(reversed([one for one in every if one.status != "archived"]))

    def current(self, session: str = "") -> Memory | None:
        """Return the newest plan that has an open step; one of a session before all others."""
        going = [one for one in self.all() if _is_open(one)]
        own = (one for one in going if session and one.session_id == session)
        return next(own, going[0] if going else None)

    def get(self, id: str = "", session: str = "") -> Memory:
        """Return a plan, or the current one. Raises `UnknownRecord`."""
        found = self._library.memories.find(id) if id else self.current(session)
        if found is None or found.observation_type != PLAN:
            what = f"There is no plan {id}." if id else "No plan has an open step."
            raise UnknownRecord(what, "`workbench plan list` lists plans, `plan make` creates one.")
        return found

    def make(self, plan: Step, session: str = "", source: Source = NO_SOURCE) -> Memory:
        """Store a plan. Raises `InvalidRecord` for one that is too long."""
        text = rules.plan_text(rules.checked(plan))
        seen = cleaned(Observation(text, PLAN, session_id=session, source=source), self._mask)
        with self._context.transaction("make a plan") as tx:
            now = self._context.now()
            made = memory_of(seen, tx.new_memory_id(now), now)
            made = self._begun(
                replace(made, metadata={**made.metadata, PLAN: {"by": self._context.actor}})
            )
            tx.put(made)
            tx.relabel(f"make plan {made.id}")
        return made

    def planned(self, goal: Step, chunk: int = 15) -> Step:
        """Return a goal in steps: those that a pattern in use names for it, or else equal parts."""
        named = (_steps(one) for one in self._patterns(goal.text))
        return rules.decomposed(goal, chunk, next((steps for steps in named if len(steps) > 1), ()))

    def change(
        self, id: str, change: Callable[[Step], Step], what: str, expected: str | None = None
    ) -> Memory:
        """Change a plan; what came in until then is checked no more. Raises `Conflict`,
        `InvalidRecord`.

        An agent changes only its own ones. Raises `WorkbenchError` otherwise.
        """
        if not (
            stands_by(self._context.actor) or _note(self.get(id)).get("by") == self._context.actor
        ):
            raise WorkbenchError(
                "An agent changes only its own plans.", "It can mark steps of any plan."
            )
        return self._change(id, change, what, expected)

    def _change(
        self, id: str, change: Callable[[Step], Step], what: str, expected: str | None = None
    ) -> Memory:
        with self._context.transaction(f"{what} of plan {id}") as tx:
            before = self.get(id)
            if expected is not None and before.content != expected:
                raise Conflict(
                    f"{id} was changed by someone else meanwhile.", "Nothing was changed."
                )
            text = rules.plan_text(rules.checked(change(rules.read_plan(before.content))))
            after = self._begun(with_text(before, self._mask(text)))
            tx.put(after)
        return after

    def mark(self, id: str, number: str, state: rules.State) -> Memory:
        def marked(plan: Step) -> Step:
            path = rules.path_of(number, plan) if number else rules.current(plan)
            if path is None:
                raise InvalidRecord("Every step of this plan is done.", "Nothing was changed.")
            return rules.changed(plan, path, lambda step: (rules.marked(step, state),))

        return self._change(id, marked, f"mark step {number or 'current'} {state}")

    def _begun(self, memory: Memory) -> Memory:
        """Return a plan whose checking begins with what is stored after now, whatever the clock
        says then.
        """
        latest = self._library.memories.latest(1)
        note = {"by": _note(memory).get("by"), "after": latest[0].id if latest else ""}
        return replace(memory, metadata={**memory.metadata, PLAN: note})

    # Deviation

    def deviations(self, plan: Memory) -> tuple[Deviation, ...]:
        """Return which observations since a plan was last changed take one off its current step,
        oldest first.
        """
        step, fired = _current(plan), _fired(plan)
        found = list[Deviation]()
        for one in self._observed(plan):
            rule = rules.rule_for(step, one.content)
            if rule is None:
                continue
            late = rules.is_debounced(fired, one.created_at)
            fired = fired if late else one.created_at
            found.append(Deviation(rule, one.line, one.created_at, one.id, late))
        return tuple(found)

    def check(self, plan: Memory, text: str) -> Deviation | None:
        """Check an observation that is not stored; when it fires, the next five minutes ask for no
        other plan.
        """
        now, rule = self._context.now(), rules.rule_for(_current(plan), clean_for_store(text))
        if rule is None:
            return None
        before = [one.at for one in self.deviations(plan) if not one.debounced]
        late = any(rules.is_debounced(at, now) for at in (*before, _fired(plan)))
        if not late:
            with self._context.transaction(f"{rule} for plan {plan.id}") as tx:
                stored = self.get(plan.id)
                tx.put(
                    replace(
                        stored,
                        metadata={**stored.metadata, PLAN: {**_note(stored), "fired": iso(now)}},
                    )
                )
        return Deviation(rule, text, now, debounced=late)

    def _observed(self, plan: Memory) -> list[Memory]:
        every = self._library.memories.all()
        after = (_note(plan).get("after"), plan.id)
        begin = max((place for place, one in enumerate(every) if one.id in after), default=-1)
        return [
            one for one in every[begin + 1 :]
            if one.observation_type != PLAN and not one.is_synthetic and one.status != "archived"
            and plan.session_id in ("", one.session_id)
        ]  # fmt: skip

    # Propose, evaluate, select

    def decide(
        self,
        task: str = "",
        session: str = "",
        known: str = "",
        actions: int | None = None,
        id: str = "",
    ) -> Decision:
        """Propose what to do next for a task, or else for a plan or the current one. Raises
        `UnknownRecord`.
        """
        situation, plan = self._situation(task, session, known, actions, id)
        return Decision(
            rules.ranked(self._proposed(situation, plan), situation), plan.id if plan else ""
        )

    def _situation(
        self, task: str, session: str, known: str, actions: int | None = None, id: str = ""
    ) -> tuple[Situation, Memory | None]:
        plan = None if task.strip() else self.get(id, session)
        finished, goals = rules.progress(rules.read_plan(plan.content)) if plan else (0, 1)
        latest = self._library.memories.latest(_SESSION) if session else []
        seen = [
            one.content
            for one in latest
            if one.session_id == session and one.observation_type != PLAN
        ]
        if session:
            seen += held(
                one for one in self._library.table(Variable).all() if one.session == session
            )
        context = (
            f"{rules.read_plan(plan.content).text}: {_current(plan)}" if plan else task.strip()
        )
        done = state_of(self._context).observations_since_last if actions is None else actions
        return Situation(context, "\n".join((known, *seen)), goals, finished, max(0, done)), plan

    def _proposed(self, known: Situation, plan: Memory | None) -> list[Candidate]:
        source = plan.id if plan else ""
        step = Candidate("grounding", _current(plan) if plan else known.context, source)
        found = [_of_pattern(one) for one in self._patterns(known.context)]
        lacking = rules.keywords(known.context) - rules.keywords(known.known)
        asked = " ".join(word for word in known.context.split() if rules.keywords(word) & lacking)
        alike = next(
            (
                id
                for id in self._experience(known.context)
                if id not in self._library.table(Pattern)
            ),
            "",
        )
        think = f"Compare the task with {alike}" if alike else "Analyse what is known of the task"
        return [
            *([step, *found] if plan else [*found, step])[:2],
            Candidate("retrieval", f"Search memory for: {asked or known.context}", source),
            Candidate("reasoning", think, alike),
            Candidate("learning", "Store a lesson from the latest actions"),
        ]

    def _patterns(self, task: str) -> list[Pattern]:
        return self._library.table(Pattern).among(self._experience(task))

    def _experience(self, task: str) -> list[str]:
        """Return the ids of the patterns and episodes that an agent would be served for a task."""
        actor = (
            self._context.actor if self._context.actor.startswith("agent:") else "agent:workbench"
        )
        asking = replace(self._context, actor=actor)
        made = gathered(asking, *self._around(), task, _EXPERIENCE).cut(_TOKENS)
        return [item.id for item in made.given]

    # With Claude

    def preview(self, task: str = "", session: str = "", known: str = "") -> Preview:
        """Return what would be sent to ask Claude for candidates, and what it costs; nothing is
        sent.
        """
        from workbench.reflect.claude import asks

        return self._claude().preview_of(
            asks.propose(*self._told(self._situation(task, session, known)))
        )

    def ask(
        self, tell: Tell, cancelled: Cancelled, task: str = "", session: str = "", known: str = ""
    ) -> Decision:
        """Let Claude propose the candidates; they are valued here. Raises `ReflectionProblem`."""
        found, claude = self._situation(task, session, known), self._claude()
        try:
            read, unread = claude.propose(*self._told(found), tell, cancelled)
        finally:
            self.runs.record("decide", claude.used, (), (), self._mask)
        mask, made, odd = self._mask, list[Candidate](), list(map(self._mask, unread))
        for kind, text in read:
            line = one_line(mask(clean_for_store(text)), rules.LONGEST_STEP)
            bad = {one.kind for one in self._safety.findings(line)} & {"injection", "hidden"}
            (odd.append(line) if bad else made.append(Candidate(kind, line, "claude")))
        situation, plan = found
        return Decision(
            rules.ranked(made, situation), plan.id if plan else "", claude.used, tuple(odd)
        )

    def _told(self, found: tuple[Situation, Memory | None]) -> tuple[str, str, str]:
        """Return the context, the goals and what is known, masked."""
        (situation, plan), mask = found, self._mask
        text = plan.content if plan else ""
        return mask(situation.context), mask(text), mask(situation.known)[-_TOKENS:]


def held(variables: Iterable[Variable]) -> list[str]:
    """Return what a working memory knows beside its task, which is what more is to be known of."""
    return [
        text_of(one.value)
        for one in variables
        if one.scope not in ("task", "metadata") and not one.cold
    ]


def _current(plan: Memory) -> str:
    whole = rules.read_plan(plan.content)
    path = rules.current(whole)
    return rules.at(whole, path if path is not None else ()).text


def _is_open(plan: Memory) -> bool:
    try:
        return not rules.read_plan(plan.content).is_settled
    except InvalidRecord:  # somebody wrote another text in its place
        return False


def _note(plan: Memory) -> Mapping[str, object]:
    return as_object(plan.metadata.get(PLAN))


def _fired(plan: Memory) -> datetime | None:
    with contextlib.suppress(ValueError):
        return parse_time(str(_note(plan)["fired"])) if "fired" in _note(plan) else None
    return None


def _steps(pattern: Pattern) -> tuple[Step, ...]:
    """Return the steps of a procedure, or the parts of a template for a decomposition, its
    parameters as they stand.
    """
    body, texts = pattern.body, list[str]()
    if body is not None and body.procedure is not None:
        texts = [one.text for one in body.procedure.steps]
    elif body is not None and body.template is not None and pattern.category == "decomposition":
        texts = [one for one in body.template.structure.values() if isinstance(one, str)]
    return tuple(Step(one_line(text, rules.LONGEST_STEP)) for text in texts if text.strip())


def _of_pattern(pattern: Pattern) -> Candidate:
    """Return what a pattern proposes: its first step, its rule of thumb, or to think along its
    lines.
    """
    rule, steps = pattern.body.heuristic if pattern.body is not None else None, _steps(pattern)
    kind: ActionType = "grounding" if steps or rule else "reasoning"
    said = steps[0].text if steps else rule.action if rule else pattern.line
    return Candidate(
        kind, one_line(said, rules.LONGEST_STEP), pattern.id, pattern.support.confidence_score
    )


def plan_json(plan: Memory) -> dict[str, object]:
    """Return a plan as values: its goal and each step by its number, and which one is next."""
    whole = rules.read_plan(plan.content)
    settled, count = rules.progress(whole)
    path = rules.current(whole)
    steps = [
        {
            "number": rules.named(at),
            "text": one.text,
            "minutes": one.total,
            "state": rules.state_of(one),
        }
        for at, one in rules.walk(whole)
        if at
    ]
    return {"id": plan.id, "goal": whole.text, "minutes": whole.total, "settled": settled, "of": count,
            "current": None if path is None else rules.named(path), "steps": steps}  # fmt: skip
