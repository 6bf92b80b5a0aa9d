"""What agents have before them: plans as trees of steps, and the working memories of their
sessions.
"""

import json
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import NamedTuple

from rich.text import Text
from textual import on
from textual.widget import Widget
from textual.widgets import Tree
from textual.widgets.tree import TreeNode

from workbench.core.agents import plan as rules
from workbench.core.agents.plan import Path, Step
from workbench.core.agents.working import LAYERS, LIMIT, Variable, WorkingMemory, fill, temperatures
from workbench.core.record import InvalidRecord
from workbench.core.stream.memory import MAX_CONTENT, Memory
from workbench.core.text import printable
from workbench.services.agents.api import operate
from workbench.services.agents.plans import Decision
from workbench.services.agents.working import OPERATIONS, WorkingSession, sessions, words_of
from workbench.services.open import Workbench
from workbench.tui.actions import MOVES, PLANS, WORKING
from workbench.tui.agents.browse import Browse, Parts, on_row
from workbench.tui.app.actions import bindings
from workbench.tui.app.waiting import asking
from workbench.tui.records.actions import area_below
from workbench.tui.widgets.content import MUTED, body, keyed
from workbench.tui.widgets.dialog import Choice, Choose, Prompt
from workbench.tui.widgets.editor import TextEditor
from workbench.tui.widgets.figures import absolute, amount, number
from workbench.tui.widgets.line_list import Cell

Place = tuple[str, Path]
"""A plan's id and where in it a step stands."""

SIGNS = {"open": "·", "done": "✓", "skipped": "-"}


class StepTree(Tree[Place]):
    """The plans of a store, moved through with the keys of a list."""

    BINDINGS = bindings(MOVES)
    action_up, action_down = Tree.action_cursor_up, Tree.action_cursor_down
    action_half_up, action_half_down = Tree.action_page_up, Tree.action_page_down

    def action_first(self) -> None:
        self.cursor_line = 0

    def action_last(self) -> None:
        self.cursor_line = self.last_line


class PlansDialog(Browse[None, Place]):
    """The plans of a store with their steps, and beside them how the one under the cursor goes."""

    BINDINGS = bindings(PLANS)
    EMPTY = "No plans yet: {plans.new} creates one from a goal and a duration."
    DEFAULT_CSS = "PlansDialog StepTree { width: 1fr; background: $surface; padding: 0; }"

    def __init__(self, bench: Workbench) -> None:
        super().__init__("Plans", bench, PLANS)
        self._plans: dict[str, Memory] = {}
        self._to: Place | None = None
        self.decision: Decision | None = None
        self.steps = StepTree("plans", id="browse-list", classes="pane")
        self.steps.border_title = " Steps "
        self.steps.show_root = False
        self.steps.guide_depth = 2

    @property
    def left(self) -> Widget:
        return self.steps

    @property
    def current(self) -> Place | None:
        """The plan and the step under the cursor."""
        node = self.steps.cursor_node
        return node.data if node is not None else None

    # Showing

    def key_of(self, row: Place) -> Hashable:
        return row[0]

    def draw(self, row: Place, width: int) -> Sequence[Cell]:
        raise NotImplementedError  # the tree draws its labels

    def gather(self) -> Callable[[], object]:
        raise NotImplementedError  # they are few, and the next key is for what this one changed

    def read(self) -> None:
        """Draw the plans as they are now; the cursor stays on its step, or goes to another."""
        wanted, line, self._to = self._to or self.current, self.steps.cursor_line, None
        self._plans = plans = {one.id: one for one in self.bench.plans.all()}
        self.steps.clear()
        nodes: dict[Place, TreeNode[Place]] = {}
        for id, memory in plans.items():
            for path, step in rules.walk(_read(memory) or Step(memory.line or id)):
                above = nodes[id, path[:-1]] if path else self.steps.root
                row, opened = (
                    (id, path),
                    not step.is_settled or (wanted is not None and wanted[0] == id),
                )
                nodes[row] = above.add(
                    self._label(step), row, expand=opened, allow_expand=bool(step.steps)
                )

        def go() -> None:
            if (node := nodes.get(wanted) if wanted is not None else None) is not None:
                self.steps.move_cursor(node)
            else:
                self.steps.cursor_line = max(0, min(line, self.steps.last_line))
            self._moved()

        self.call_after_refresh(go)

    def _label(self, step: Step) -> Text:
        state = rules.state_of(step)
        time = f"  {step.total} min" if step.total else ""
        text = f"{SIGNS[state]} {printable(self.bench.safety.masked(step.text))}{time}"
        return Text(text, style="" if state == "open" else "dim")

    @on(Tree.NodeHighlighted)
    def _moved(self) -> None:
        if self._plans:
            self.show()
        else:
            self.pane.show(body(keyed(self.EMPTY)))

    def text_of(self, row: Place) -> Parts:
        memory = self._plans[row[0]]
        plan = _read(memory)
        if plan is None:
            yield f"✗ It is not a check list.\n\n{memory.content}", ""
            return
        settled, count = rules.progress(plan)
        path = rules.current(plan)
        yield f"{plan.text}\n{plan.total} min · {settled} of {count} steps done\n\n", ""
        yield "All steps are done." if path is None else f"Next: {rules.at(plan, path).text}", ""
        for one in self.bench.plans.deviations(memory):
            late = " (within 5 minutes of another)" if one.debounced else ""
            yield f"\n! {one.rule.replace('_', ' ')}{late}: {one.text}", ""
        if self.decision is not None and self.decision.plan == memory.id:
            yield "\n\nWhat to do next\n", "bold"
            yield "\n".join(_candidates(self.decision)), ""

    # Changing

    @asking
    async def action_new(self) -> None:
        """Make a plan of a goal, parted as patterns say."""
        prompt = Prompt("Goal and duration", placeholder="Fix the login (90 min)", check=_wrong)
        if line := await self.app.push_screen_wait(prompt):
            goal = rules.step_of(line)
            self.say("Looking for patterns …")
            plan = await self.away(
                lambda: self.bench.plans.planned(rules.timed(goal, goal.minutes or 60))
            )
            if plan is not None:
                self.change(lambda: self._go_to(self.bench.plans.make(plan).id), "Created a plan.")

    def _go_to(self, id: str, path: Path = ()) -> None:
        self._to = (id, path)

    @asking
    async def action_add(self) -> None:
        """Add a step behind this one; on a goal, as its last."""
        await self._add(below=self.current is not None and not self.current[1])

    @asking
    async def action_below(self) -> None:
        """Add a step below this one."""
        await self._add(below=True)

    async def _add(self, *, below: bool) -> None:
        if (row := self.current) is None:
            self.complain(InvalidRecord("No plan yet.", keyed("{plans.new} creates one.")))
            return
        above, place = (row[1], rules.MOST_STEPS) if below else (row[1][:-1], row[1][-1] + 1)
        await self._ask(
            "New step", "", lambda plan, said: rules.added(plan, above, said, place), row
        )

    @on_row
    async def action_edit(self, row: Place) -> None:
        """Change the text and the duration of the goal or step."""
        if (step := self._step(row)) is not None:
            line = f"{step.text} ({step.total} min)" if step.total else step.text

            def reword(plan: Step, said: Step) -> Step:
                return rules.changed(plan, row[1], lambda one: (rules.reworded(one, said),))

            await self._ask("Text and duration", line, reword, row)

    async def _ask(
        self, title: str, value: str, step: Callable[[Step, Step], Step], row: Place
    ) -> None:
        """Ask for a line and change the plan by it while the prompt is open, which says what is
        wrong.
        """

        def take(line: str) -> None:
            self._change(row, lambda plan: step(plan, rules.step_of(line)))

        prompt = Prompt(
            title, value, placeholder="Write the test (15 min)", check=_wrong, take=take
        )
        await self.ask(prompt, "Changed.")

    @on_row
    def action_mark(self, row: Place, state: rules.State) -> None:
        """Mark the step done or skipped, or open again."""
        if (step := self._step(row)) is not None:
            to: rules.State = "open" if rules.state_of(step) == state else state
            self._do(row, lambda one: (rules.marked(one, to),), f"Marked {to}.")

    @on_row
    def action_delete(self, row: Place) -> None:
        """Delete the step; of a goal, archive the plan."""
        if row[1]:
            self._do(row, lambda _: (), "Deleted.")
        else:
            self.change(lambda: self.bench.stream.forget([row[0]]), "Archived the plan.")

    @on_row
    def action_move(self, row: Place, by: int) -> None:
        if row[1]:

            def move(plan: Step) -> Step:
                moved, path = rules.moved(plan, row[1], by)
                self._go_to(row[0], path)
                return moved

            self.change(lambda: self._change(row, move), "Moved.")

    @on_row
    def action_copy(self, row: Place) -> None:
        """Copy the plan as a check list."""
        area_below(self).copy(self.bench.safety.masked(self._plans[row[0]].content))

    @on_row
    async def action_decide(self, row: Place) -> None:
        """Propose what to do next, away from the keyboard."""
        self.say("Looking …")
        self.decision = await self.away(lambda: self.bench.plans.decide(id=row[0]))
        if self.decision is not None:
            self.done("")

    def _step(self, row: Place) -> Step | None:
        plan = _read(self._plans[row[0]])
        return None if plan is None else rules.at(plan, row[1])

    def _change(self, row: Place, step: Callable[[Step], Step]) -> None:
        self.bench.plans.change(row[0], step, "edit", expected=self._plans[row[0]].content)

    def _do(self, row: Place, step: Callable[[Step], Sequence[Step]], said: str) -> None:
        self.change(lambda: self._change(row, lambda plan: rules.changed(plan, row[1], step)), said)


def _read(memory: Memory) -> Step | None:
    try:
        return rules.read_plan(memory.content)
    except InvalidRecord:
        return None


def _candidates(found: Decision) -> Iterable[str]:
    for place, one in enumerate(found.candidates):
        yield f"{'>' if place == 0 else ' '} {one.value:.2f} {one.type}: {one.action}"
        sure = f" (confidence {one.confidence:.2f})" if one.confidence else ""
        yield f"       {one.reason}" + (f", by {one.source}{sure}" if one.source else "")


def _wrong(line: str) -> str | None:
    try:
        rules.step_of(line)
    except InvalidRecord as error:
        return error.message
    return None


# Working memory


STYLES = {"hot": "$text-error", "warm": "$text-warning", "cold": MUTED}
_BAR, _FOLLOW_S = 20, 1.0


class Row(NamedTuple):
    """A session, or one of its variables with its temperature."""

    memory: WorkingMemory
    variable: Variable | None = None
    warmth: str = ""

    def stored(self, bench: Workbench) -> WorkingSession:
        return WorkingSession(bench.context, self.memory.session)


class WorkingDialog(Browse[None, Row]):
    """The working memories as they were stored last, and what the variable under the cursor says."""

    BINDINGS = bindings(WORKING)
    STACKED = True
    EMPTY = (
        "No working memory yet. `workbench mcp --tools few,working` lets agents keep one, `workbench "
        "working init` starts one."
    )

    def __init__(self, bench: Workbench) -> None:
        super().__init__("Working memory", bench, WORKING)
        self._seen = self.since

    def on_mount(self) -> None:
        self.set_interval(_FOLLOW_S, self._follow)

    def _follow(self) -> None:
        """Look again when something was stored."""
        if self._seen != self.bench.library.revision:
            self.read()

    def key_of(self, row: Row) -> Hashable:
        return row.memory.session if row.variable is None else row.variable.id

    def is_heading(self, row: Row) -> bool:
        return row.variable is None

    def gather(self) -> Callable[[], object]:
        rows, self._seen = list[Row](), self.bench.library.revision
        for memory in sessions(self.bench.library).values():
            rows += [
                Row(memory),
                *(Row(memory, one, warmth) for one, warmth in temperatures(memory)),
            ]
        return lambda: self.listed(rows)

    def draw(self, row: Row, width: int) -> Sequence[Cell]:
        del width
        one = row.variable
        if one is None:
            said = f"{number(sum(fill(row.memory).values()))} of {number(LIMIT)}"
            return [Cell(row.memory.session, 0, "bold"), Cell(said, 16, MUTED, "right")]
        return [
            Cell("*" if one.pinned else "", 1),
            Cell(row.warmth, 4, STYLES[row.warmth], name="use"),
            Cell(one.name, 0, MUTED if row.warmth == "cold" else "", name="variable"),
            Cell(number(one.tokens), 6, MUTED, "right", "tokens"),
        ]

    def text_of(self, row: Row) -> Parts:
        one = row.variable
        if one is None:
            yield f"{row.memory.session}\n", "bold"
            for id, tokens in fill(row.memory).items():
                budget = LAYERS[id][0]
                bar = "█" * min(_BAR, -(-_BAR * tokens // budget))
                yield f"\n{id:<10} {bar:░<{_BAR}} {number(tokens):>6} of {number(budget)}", ""
            return
        facts = [
            row.warmth,
            one.kind,
            amount(one.tokens, "token"),
            absolute(one.at),
            "pinned" * one.pinned,
        ]
        yield f"{one.name}\n", "bold"
        yield " · ".join(filter(None, facts)), MUTED
        yield f"\n\n{_shown(one.value)}", ""
        if one.whole is not None:
            yield "\n\nbefore it was summarised\n", "bold"
            yield _shown(one.whole), ""

    @on_row
    def action_pin(self, row: Row) -> None:
        """Keep the variable from being pruned, or no longer."""
        if (one := row.variable) is not None:
            said = f"{one.name} is {'no longer pinned' if one.pinned else 'pinned'}."
            self.change(lambda: row.stored(self.bench).pin(one.key, one.scope), said)

    @on_row
    def action_drop(self, row: Row) -> None:
        """Remove the variable."""
        if (one := row.variable) is not None:
            self.change(
                lambda: row.stored(self.bench).drop(one.key, one.scope), f"{one.name} is removed."
            )

    @on_row
    async def action_correct(self, row: Row) -> None:
        """Write another value."""
        if (one := row.variable) is None:
            return
        is_text, text = isinstance(one.full, str), _shown(one.full)

        def wrong(typed: str) -> str | None:
            try:
                if not is_text:
                    json.loads(typed)
            except (ValueError, RecursionError):
                return "It must be JSON, like the present value."
            return None

        title = f"The value of {self.bench.safety.masked(one.name)}"
        typed = await self.app.push_screen_wait(
            TextEditor(title, text, limit=MAX_CONTENT, check=wrong)
        )
        if typed is not None and typed != text:
            value = typed if is_text else json.loads(typed)
            do = row.stored(self.bench).correct
            self.change(lambda: do(one.key, one.scope, value), f"{one.name} is changed.")

    @asking
    async def action_operate(self) -> None:
        """Carry out one of the operations that agents have, and store it."""
        choices = [Choice(id, id, one.about) for id, one in OPERATIONS.items() if id != "get"]
        chosen = await self.app.push_screen_wait(Choose("Working memory", choices))
        if chosen is None:
            return
        session = (
            self.current.memory.session if self.current is not None and chosen != "init" else "app"
        )

        def take(line: str) -> None:
            operate(self.bench, session, "app", "app", chosen, words_of(chosen, line))

        asked = " ".join(OPERATIONS[chosen].words).upper() or "enter applies it"
        prompt = Prompt(f"{chosen}: {session}", placeholder=asked, take=take)
        await self.ask(prompt, f"{chosen}: done.", lambda: take(""))


def _shown(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, indent=2, ensure_ascii=False)
