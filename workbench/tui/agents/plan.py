"""Plans: a tree of goals and steps edited in place, what takes one off them, and what to do next with its reasons."""

import asyncio
import time
from collections.abc import Callable, Iterable
from functools import partial
from typing import ClassVar, TypeVar, cast

from rich.text import Text
from textual import on
from textual.binding import BindingType
from textual.containers import Horizontal
from textual.widget import Widget
from textual.widgets import Static, Tree
from textual.widgets.tree import TreeNode

from workbench.core.agents import plan as rules
from workbench.core.agents.plan import Path, Step
from workbench.core.record import InvalidRecord, WorkbenchError
from workbench.core.reflection.reflector import Step as Stage
from workbench.core.stream.memory import Memory
from workbench.core.text import printable
from workbench.services.agents.plans import Decision
from workbench.services.open import Workbench
from workbench.tui.agents.actions import PLANS
from workbench.tui.app.actions import bindings
from workbench.tui.app.host import Host
from workbench.tui.app.surviving import survives
from workbench.tui.app.waiting import asking, change
from workbench.tui.reflection.dialog import RunDialog
from workbench.tui.widgets.actions import MOVES
from workbench.tui.widgets.content import body, keyed
from workbench.tui.widgets.dialog import Confirm, Dialog
from workbench.tui.widgets.lists.reading_pane import ReadingPane
from workbench.tui.widgets.texts.prompt import Prompt

Row = tuple[str, Path]
"""A plan's id and where in it a step stands."""

Found = TypeVar("Found")

EMPTY = "No plans yet: {plans.new} makes one of a goal and its duration."
SIGNS = {"open": "·", "done": "✓", "skipped": "-"}


@survives
class StepTree(Tree[Row]):
    """The plans of a store, moved through with the keys of a list."""

    BINDINGS: ClassVar[list[BindingType]] = bindings(MOVES)
    action_up, action_down = Tree.action_cursor_up, Tree.action_cursor_down
    action_half_up, action_half_down = Tree.action_page_up, Tree.action_page_down

    def action_first(self) -> None:
        self.cursor_line = 0

    def action_last(self) -> None:
        self.cursor_line = self.last_line


class PlansDialog(Dialog[None]):
    """The plans of a store with their steps, and beside them how the one under the cursor goes."""

    BINDINGS: ClassVar[list[BindingType]] = bindings(PLANS)
    DEFAULT_CSS = """
    PlansDialog {
        & > .dialog { width: 94%; height: 94%; }
        &.-narrow > .dialog { width: 100%; height: 100%; }
        & #plans-body { height: 1fr; }
        & #plans-tree { width: 3fr; background: $surface; padding: 0; }
        & #plans-text { width: 2fr; border-left: solid $panel; }
        & #plans-line { height: auto; max-height: 3; color: $text-warning; }
    }
    """

    def __init__(self, bench: Workbench, copy: Callable[[str], None]) -> None:
        super().__init__("Plans: goals in steps", [one for one in PLANS if one.show])
        self._bench, self._copy, self._since = bench, copy, bench.library.revision
        self._plans: dict[str, Memory] = {}
        self.decision: Decision | None = None
        self.steps: StepTree = StepTree("plans", id="plans-tree")
        self.steps.show_root = False
        self.steps.guide_depth = 2

    def contents(self) -> Iterable[Widget]:
        yield Horizontal(self.steps, ReadingPane(id="plans-text"), id="plans-body")
        yield Static(id="plans-line")

    def on_mount(self) -> None:
        self.steps.focus()
        self._read()

    # Showing

    def _read(self, to: Row | None = None) -> None:
        """Draw the plans as they are now; the cursor stays on its step, or goes to another."""
        wanted, line = to or self.row, self.steps.cursor_line
        self._plans = {one.id: one for one in self._bench.plans.all()}
        self.steps.clear()
        nodes: dict[Row, TreeNode[Row]] = {}
        for id, memory in self._plans.items():
            try:
                plan = rules.read_plan(memory.content)
            except InvalidRecord:  # the text pane says why
                plan = Step(memory.line or id)
            for path, step in rules.walk(plan):
                above = nodes[id, path[:-1]] if path else self.steps.root
                row, opened = (id, path), not step.is_settled or (wanted is not None and wanted[0] == id)
                nodes[row] = above.add(self._label(step), row, expand=opened, allow_expand=bool(step.steps))

        def go() -> None:
            if (node := nodes.get(wanted) if wanted is not None else None) is not None:
                self.steps.move_cursor(node)
            else:
                self.steps.cursor_line = max(0, min(line, self.steps.last_line))
            self._show()

        self.call_after_refresh(go)

    def _label(self, step: Step) -> Text:
        state = rules.state_of(step)
        time = f"  {step.total} min" if step.total else ""
        text = f"{SIGNS[state]} {printable(self._bench.safety.masked(step.text))}{time}"
        return Text(text, style="" if state == "open" else "dim")

    @property
    def row(self) -> Row | None:
        """The plan and the step under the cursor."""
        node = self.steps.cursor_node
        return node.data if node is not None else None

    @on(Tree.NodeHighlighted)
    def _show(self) -> None:
        row = self.row
        memory = self._plans.get(row[0]) if row else None
        pane = self.query_one(ReadingPane)
        if memory is None:
            pane.show(body("" if self._plans else keyed(EMPTY)))
            return
        mask, lines = self._bench.safety.masked, list[str]()
        try:
            plan = rules.read_plan(memory.content)
            settled, count = rules.progress(plan)
            path = rules.current(plan)
            lines += [mask(plan.text), f"{plan.total} min · {settled} of {count} steps settled", ""]
            lines.append("All is settled." if path is None else f"Next: {mask(rules.at(plan, path).text)}")
            found = self._bench.plans.deviations(memory)
        except InvalidRecord as error:
            lines, found = [f"✗ {error}", "", mask(memory.content)], ()
        for one in found:
            late = " (within 5 minutes of another)" if one.debounced else ""
            lines.append(f"! {one.rule.replace('_', ' ')}{late}: {mask(one.text)}")
        if self.decision is not None and self.decision.plan == memory.id:
            lines += ["", "What to do next", *_candidates(self.decision, mask)]
        pane.show(body("\n".join(lines)))

    # Changing

    @asking
    async def action_new(self) -> None:
        """Make a plan of a goal, parted as patterns say."""
        prompt = Prompt("Goal and duration", placeholder="Fix the login (90 min)", check=_wrong)
        if line := await self.app.push_screen_wait(prompt):
            goal = rules.step_of(line)
            self._say("Looking for patterns …")
            await self._away(lambda: self._bench.plans.planned(rules.timed(goal, goal.minutes or 60)), self._make)

    def _make(self, plan: Step) -> None:
        change(self, lambda: self._done("Made a plan.", (self._bench.plans.make(plan).id, ())), self._complain)

    @asking
    async def action_add(self) -> None:
        """Add a step behind this one; on a goal, as its last."""
        await self._add(below=self.row is not None and not self.row[1])

    @asking
    async def action_below(self) -> None:
        """Add a step below this one."""
        await self._add(below=True)

    async def _add(self, *, below: bool) -> None:
        if (row := self.row) is None:
            self._complain(InvalidRecord("There is no plan yet.", keyed("{plans.new} makes one.")))
            return
        above, place = (row[1], rules.MOST_STEPS) if below else (row[1][:-1], row[1][-1] + 1)
        await self._ask("New step", "", lambda plan, said: rules.added(plan, above, said, place), row)

    @asking
    async def action_edit(self) -> None:
        """Change the text and the duration of the goal or step."""
        if (row := self.row) is not None and (plan := self._plan(row)) is not None:
            step = rules.at(plan, row[1])
            line = f"{step.text} ({step.total} min)" if step.total else step.text

            def reword(plan: Step, said: Step) -> Step:
                return rules.changed(plan, row[1], lambda one: (rules.reworded(one, said),))

            await self._ask("Text and duration", line, reword, row)

    async def _ask(self, title: str, value: str, step: Callable[[Step, Step], Step], row: Row) -> None:
        """Ask for a line and change the plan by it while the prompt is open, which says what is wrong."""

        def take(line: str) -> None:
            self._change(row, lambda plan: step(plan, rules.step_of(line)))

        prompt = Prompt(title, value, placeholder="Write the test (15 min)", check=_wrong, take=take)
        if await self.app.push_screen_wait(prompt):
            self._done("Changed.")

    def action_done(self) -> None:
        """Mark the step done, or open again."""
        self._mark("done")

    def action_skip(self) -> None:
        """Mark the step skipped, or open again."""
        self._mark("skipped")

    def _mark(self, state: rules.State) -> None:
        if (row := self.row) is not None and (plan := self._plan(row)) is not None:
            to: rules.State = "open" if rules.state_of(rules.at(plan, row[1])) == state else state
            self._do(
                row, lambda plan: rules.changed(plan, row[1], lambda one: (rules.marked(one, to),)), f"Marked {to}."
            )

    def action_delete(self) -> None:
        """Delete the step; of a goal, archive the plan."""
        if (row := self.row) is None:
            return
        if row[1]:
            self._do(row, lambda plan: rules.changed(plan, row[1], lambda _: ()), "Deleted.")
            return

        def archive() -> None:
            self._bench.stream.forget([row[0]])
            self._done("Archived the plan.")

        change(self, archive, self._complain)

    def action_move(self, by: int) -> None:
        if (row := self.row) is not None and row[1] and (plan := self._plan(row)) is not None:
            _, path = rules.moved(plan, row[1], by)
            self._do(row, lambda plan: rules.moved(plan, row[1], by)[0], "Moved.", (row[0], path))

    @asking
    async def action_undo(self) -> None:
        await cast(Host, self.app).take_back(self._done, self._since)

    def action_copy(self) -> None:
        """Copy the plan as a check list."""
        if (row := self.row) is not None:
            self._copy(self._bench.safety.masked(self._plans[row[0]].content))

    def action_pane(self) -> None:
        """To the text, and back."""
        pane = self.query_one(ReadingPane)
        (self.steps if pane.has_focus else pane).focus()

    @asking
    async def action_decide(self) -> None:
        """Propose what to do next, away from the keyboard."""
        if (row := self.row) is not None:
            self._say("Looking …")
            await self._away(lambda: self._bench.plans.decide(id=row[0]), self._decided)

    @asking
    async def action_ask(self) -> None:
        """Let Claude propose, after a look at what is sent and what that costs."""
        plans, row = self._bench.plans, self.row
        if row is None or plans.missing:
            self._say(f"✗ {plans.missing or keyed(EMPTY)}")
            return
        sent = plans.preview(id=row[0])
        cost = f"{sent.remark} About {sent.estimate.total:,} tokens in and out."
        detail = body("\n\n".join((cost, *sent.texts)))
        question = Confirm("Let Claude propose what to do next?", clock=time.monotonic, detail=detail)
        if await self.app.push_screen_wait(question):
            run: RunDialog[Decision] = RunDialog(partial(plans.ask, id=row[0]), Stage("propose"), "Claude proposes")
            if (found := await self.app.push_screen_wait(run)) is not None:
                self._decided(found)

    def _decided(self, found: Decision) -> None:
        self.decision = found
        self._say("")
        self._show()

    async def _away(self, look: Callable[[], Found], then: Callable[[Found], object]) -> None:
        """Look for something on a thread, and go on with it here."""
        try:
            then(await asyncio.to_thread(look))
        except WorkbenchError as error:
            self._complain(error)

    # Helpers

    def _plan(self, row: Row) -> Step | None:
        try:
            return rules.read_plan(self._plans[row[0]].content)
        except InvalidRecord as error:
            self._complain(error)
            return None

    def _change(self, row: Row, step: Callable[[Step], Step]) -> None:
        self._bench.plans.change(row[0], step, "edit", expected=self._plans[row[0]].content)

    def _do(self, row: Row, step: Callable[[Step], Step], said: str, to: Row | None = None) -> None:
        def done() -> None:
            self._change(row, step)
            self._done(said, to)

        change(self, done, self._complain)

    def _done(self, said: str, to: Row | None = None) -> None:
        self._say(said)
        self._read(to)

    def _say(self, said: str) -> None:
        self.query_one("#plans-line", Static).update(body(self._bench.safety.masked(said)))

    def _complain(self, error: WorkbenchError) -> None:
        self._say(f"✗ {error}")
        self._read()


def _candidates(found: Decision, mask: Callable[[str], str]) -> Iterable[str]:
    for place, one in enumerate(found.candidates):
        yield f"{'>' if place == 0 else ' '} {one.value:.2f} {one.type}: {mask(one.action)}"
        sure = f" (confidence {one.confidence:.2f})" if one.confidence else ""
        yield f"       {one.reason}" + (f", by {mask(one.source)}{sure}" if one.source else "")


def _wrong(line: str) -> str | None:
    try:
        rules.step_of(line)
    except InvalidRecord as error:
        return error.message
    return None
