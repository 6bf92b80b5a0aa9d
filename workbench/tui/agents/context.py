"""What an agent would be given for a task: layer by layer, with what is left out and why, before any agent sees it."""

import json
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import ClassVar

from textual import on, work
from textual.binding import BindingType
from textual.content import Content
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Input, Static
from textual.worker import get_current_worker

from workbench.bench.agents.answers import Answering, text_of
from workbench.bench.agents.context.making import Material, gathered
from workbench.bench.agents.context.values import AgentContext, Layer, LeftOut
from workbench.bench.open import Workbench
from workbench.bench.safety.provenance import learn_all
from workbench.core.agents.layers import USUAL
from workbench.core.errors import WorkbenchError
from workbench.core.files.replacing import replace_file
from workbench.core.tuning.profile import Profile
from workbench.tui.agents.actions import CONTEXT
from workbench.tui.agents.drawing import bar
from workbench.tui.app.actions import bindings
from workbench.tui.app.asking import asking
from workbench.tui.widgets.bars.slider import CHANGED
from workbench.tui.widgets.choose import Choice, Choose
from workbench.tui.widgets.content import MUTED, assemble, body
from workbench.tui.widgets.dialog import Dialog
from workbench.tui.widgets.figures import number
from workbench.tui.widgets.lists.line_view import LineView
from workbench.tui.widgets.lists.reading_pane import ReadingPane
from workbench.tui.widgets.lists.row import Cell
from workbench.tui.widgets.texts.prompt import Prompt
from workbench.tui.widgets.texts.safe_input import SafeInput

STEP = 1_000
"""Tokens by which a key moves the budget."""

BAR = 16
_LEFT = 5
"""What was left out is named one by one up to so many in a layer; the rest is counted."""

NO_TASK = "Write what the agent is to do; without a task, what holds for every task is shown."
NOTHING = "Nothing here is relevant to the task itself."
NOT_TRUSTED = "This store is not trusted, so an agent is given nothing. `workbench trust` shows what came in."


class Gathered(Message):
    """A thread found what the layers have for a task, or `problem` says why not."""

    def __init__(self, task: str, material: Material | None, problem: str = "") -> None:
        super().__init__()
        self.task = task
        self.material = material
        self.problem = problem


class ContextDialog(Dialog[None]):
    """A task, the budget of each layer as a bar, and everything that an agent would be given. It counts no read."""

    BINDINGS: ClassVar[list[BindingType]] = bindings(CONTEXT)
    DEFAULT_CSS = """
    ContextDialog {
        & > .dialog { width: 94%; height: 94%; }
        &.-narrow > .dialog { width: 100%; height: 100%; }
        & .dialog--title, & .dialog--keys { margin: 0; }
        & SafeInput { background: $background; }
        & #context-said { height: auto; max-height: 3; margin-top: 1; }
        & #context-layers { height: auto; max-height: 9; margin-bottom: 1; background: $surface; }
        & #context-text { height: 1fr; }
    }
    """

    def __init__(self, bench: Workbench, agent: str, copy: Callable[[str], None], tell: Callable[[str], None]) -> None:
        shown = bench.safety.masked(agent)
        super().__init__(f"What {shown or 'an agent'} would be given", CONTEXT)
        self._bench = bench
        self._asker = replace(bench.context, actor=f"agent:{agent or 'preview'}")
        self._copy = copy
        self._tell = tell
        self._budget = USUAL
        self._budgets: dict[str, int] = {}
        self._profile: Profile | None = None
        self.rows: LineView[Layer | AgentContext] = LineView(self._draw, _key, id="context-layers")
        self._wanted = ""
        self._working = self._again = self._is_ready = False
        self._material: Material | None = None
        self.made: AgentContext | None = None

    def contents(self) -> Iterable[Widget]:
        """Return the task, the layers, and the text."""
        yield SafeInput(placeholder="what the agent is to do", id="context-task")
        yield Static(Content.styled(NO_TASK, MUTED), id="context-said")
        yield self.rows
        yield ReadingPane(id="context-text")

    def on_mount(self) -> None:
        """Ask for the task, and show what holds without one."""
        self.query_one("#context-task").focus()
        self._ask()

    @on(Input.Changed, "#context-task")
    def _typed(self, event: Input.Changed) -> None:
        self._wanted = event.value
        self._ask()

    @on(Input.Submitted, "#context-task")
    def _entered(self) -> None:
        self.query_one(ReadingPane).focus()

    # Finding it

    def _ask(self) -> None:
        """Have it found for the task as it stands; what is typed meanwhile is asked once after that."""
        if not self._bench.trust.standing.trusted:
            self._say(NOT_TRUSTED)
            return
        self._again = self._working
        if not self._working:
            self._working = True
            self._gather(self._wanted)

    @work(thread=True, group="context", description="what an agent would be given")
    def _gather(self, task: str) -> None:
        worker = get_current_worker()
        material, problem = None, ""
        try:
            bench = self._bench
            if not self._is_ready:
                # Once for all tasks: to look it up for what one of them finds takes as long.
                learn_all(bench.context)
                self._is_ready = True
            material = gathered(self._asker, bench.tuning, bench.playbooks, task, profile=self._profile)
        except WorkbenchError as error:
            problem = str(error)
        if not worker.is_cancelled:
            self.post_message(Gathered(task, material, problem))

    @on(Gathered)
    def _found(self, event: Gathered) -> None:
        self._working = False
        if self._again:
            self._ask()
        elif event.material is None:
            self._say(event.problem)
        else:
            self._material = event.material
            self._cut()

    def _say(self, sentence: str) -> None:
        self._material = self.made = None
        self.query_one("#context-said", Static).update(body(sentence, "$text-warning"))
        self.rows.set_rows([])
        self.query_one(ReadingPane).show(Content(""))

    # Showing it

    def _cut(self) -> None:
        """Show it under the budget; nothing is asked anew for that."""
        if self._material is None:
            return
        self.made = made = self._material.cut(self._budget, self._budgets)
        self.rows.set_rows([made, *made.layers])
        profile = self._profile.name if self._profile is not None else self._bench.context.settings.profile
        said = Content.styled(f"ranked under {profile}", MUTED)
        if made.is_empty:
            said = Content("\n").join([said, Content.styled(NOTHING, "$text-warning")])
        self.query_one("#context-said", Static).update(said)
        self.query_one(ReadingPane).show(_whole(made, self._bench.safety.masked), keep_place=True)

    def _draw(self, row: Layer | AgentContext, width: int) -> list[Cell]:  # noqa: ARG002 - as a list asks for its cells
        return [Cell(_layer(row, row.kind.id in self._budgets) if isinstance(row, Layer) else _total(row))]

    def action_less(self) -> None:
        """Give it, or the layer under the cursor, fewer tokens."""
        self._move(-STEP)

    def action_more(self) -> None:
        """Give it, or the layer under the cursor, more tokens."""
        self._move(STEP)

    def _move(self, step: int) -> None:
        row, made = self.rows.current, self.made
        if made is None:
            return
        if isinstance(row, Layer) and self.rows.has_focus:
            self._budgets[row.kind.id] = max(0, self._budgets.get(row.kind.id, row.own) + step)
        else:
            self._budget = max(0, self._budget + step)
        self._cut()

    def action_reset(self) -> None:
        """Take the budgets as they are set."""
        self._budget, self._budgets = USUAL, {}
        self._cut()

    def action_layers(self) -> None:
        """To the layers, whose budgets the keys move then, and back to the text."""
        (self.query_one(ReadingPane) if self.rows.has_focus else self.rows).focus()

    @asking
    async def action_profile(self) -> None:
        """Rank under another profile."""
        profiles = self._bench.tuning.profiles
        now = self._profile.name if self._profile is not None else self._bench.context.settings.profile
        choices = [Choice(name, name) for name in profiles.names()]
        chosen = await self.app.push_screen_wait(Choose("Rank what is found under", choices, now))
        if chosen is not None:
            try:
                self._profile = profiles.get(chosen)
            except WorkbenchError as error:
                self._tell(str(error))
            else:
                self._ask()

    def action_task(self) -> None:
        """Write another task."""
        self.query_one("#context-task").focus()

    def action_copy(self) -> None:
        """Copy what is given, as the agent gets it: Markdown."""
        if self.made is not None:
            self._copy(text_of(self.made))

    def action_copy_json(self) -> None:
        """Copy it as JSON, with what is left out, as an agent's door gives it."""
        if self.made is not None:
            self._copy(self._as_json(self.made))

    @asking
    async def action_export(self) -> None:
        """Write it to a new file, as JSON where the name says so, else as Markdown."""
        made = self.made
        if made is None:
            return

        def write(name: str) -> None:
            file = _file(name)
            replace_file(file, self._as_json(made) if file.suffix == ".json" else f"{text_of(made)}\n", None)

        ask = Prompt("Write it to a new file", "context.md", placeholder="context.md or context.json", take=write)
        written = await self.app.push_screen_wait(ask)
        if written:
            self._tell(f"Wrote {_file(written)}.")

    def _as_json(self, made: AgentContext) -> str:
        answer = Answering(self._asker, self._bench.safety).context(made)
        return json.dumps(answer, ensure_ascii=False, indent=2) + "\n"


def _file(name: str) -> Path:
    """Return the file that is named; raises `WorkbenchError` where its home is not known."""
    try:
        return Path.cwd() / Path(name).expanduser()
    except RuntimeError as error:
        raise WorkbenchError(f"{name} names a home folder that is not known.", "Nothing was written.") from error


def _total(made: AgentContext) -> Content:
    used = f"{number(made.tokens)} of {number(made.budget)} tokens"
    return assemble([(f"{'all':<14} ", "bold"), (used, "bold"), (f" · {number(len(made.given))} given", MUTED)])


def _key(row: Layer | AgentContext) -> str:
    return row.kind.id if isinstance(row, Layer) else ""


def _layer(layer: Layer, moved: bool) -> Content:
    share = layer.tokens / layer.budget if layer.budget else 0.0
    figures = f" {number(layer.tokens)} of {number(layer.budget)} · {number(len(layer.items))} given"
    out = f", {number(len(layer.left_out))} left out" if layer.left_out else ""
    mark = CHANGED if moved else " "
    return assemble([(f"{layer.kind.title:<14}{mark}", "")]) + bar(share, BAR) + assemble([(figures, ""), (out, MUTED)])


def _whole(made: AgentContext, mask: Callable[[str], str]) -> Content:
    parts: list[Content] = []
    for layer in made.layers:
        if not layer.items and not layer.left_out:
            continue
        parts.append(Content.styled(layer.kind.title, "bold $text-accent"))
        for item in layer.items:
            score = "" if item.score is None else f" · score {item.score:.3f}"
            parts += [body(f"{item.id} · {number(item.tokens)} tokens{score}", MUTED), body(item.text)]
        for left in layer.left_out[:_LEFT]:
            parts.append(body(f"✗ {mask(left.id)}: {why(left)}", "$text-warning"))
        if len(layer.left_out) > _LEFT:
            parts.append(Content.styled(f"✗ … and {number(len(layer.left_out) - _LEFT)} more left out", MUTED))
        parts.append(Content(""))
    if made.weak:
        parts.append(Content.styled(f"✗ {number(made.weak)} below the floor: any question finds as much", MUTED))
    return Content("\n").join(parts)


def why(left: LeftOut) -> str:
    """Say why something is left out."""
    return {
        "budget": f"over budget by {number(left.over)} tokens",
        "held": "held back: the text gives orders or hides characters",
        "unapproved": "not approved by a person",
        "weak": "below the floor",
        "given": "given by a layer above",
        "placed": "in a file that agents load",
        "untrusted": "nobody has looked at it: workbench documents DIR --trust",
    }[left.why]
