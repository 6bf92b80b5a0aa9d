"""What an agent would actually see of a playbook: its prompt text, exactly, to look at and to copy."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import ClassVar

from textual import work
from textual.binding import BindingType
from textual.content import Content
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Static
from textual.worker import get_current_worker

from workbench.core.errors import WorkbenchError
from workbench.core.playbook.book import Bullet
from workbench.core.tokens import tokens_of
from workbench.services.files.diff import DiffLine
from workbench.services.files.exports.contents import Choice, Rendered
from workbench.services.files.exports.unsaved import parts_of
from workbench.services.open import Workbench
from workbench.services.safety.safety import Held
from workbench.services.safety.texts import place_of
from workbench.tui.app.actions import bindings
from workbench.tui.files.exports.parts import Pane
from workbench.tui.playbook.actions import AGENT_VIEW
from workbench.tui.playbook.preview import whole_file
from workbench.tui.playbook.rows import bullets_in
from workbench.tui.safety.flag_view import FLAGGED
from workbench.tui.widgets.content import MUTED, assemble, body
from workbench.tui.widgets.dialog import Dialog
from workbench.tui.widgets.figures import number
from workbench.tui.widgets.keys import key_of


class Made(Message):
    """A thread made the text: what an export gives, what is held back, and the lines of the text."""

    def __init__(self, rendered: Rendered, held: tuple[Held, ...], lines: Sequence[DiffLine]) -> None:
        super().__init__()
        self.rendered = rendered
        self.held = held
        self.lines = lines


class Unmade(Message):
    """The text could not be made."""

    def __init__(self, problem: str) -> None:
        super().__init__()
        self.problem = problem


class AgentDialog(Dialog[None]):
    """The prompt text, with or without counts, whole or what the budget keeps."""

    BINDINGS: ClassVar[list[BindingType]] = bindings(AGENT_VIEW)
    DEFAULT_CSS = """
    AgentDialog {
        & > .dialog { width: 94%; height: 94%; }
        &.-narrow > .dialog { width: 100%; height: 100%; }
        & .dialog--title, & .dialog--keys { margin: 0; }
        & #agent-state { height: auto; max-height: 5; margin-bottom: 1; }
        & LineView { height: 1fr; background: $surface; }
    }
    """

    def __init__(self, bench: Workbench, book: str, copy: Callable[[str], None]) -> None:
        self._view = bench.playbooks.view(book)
        name = bench.safety.masked(self._view.playbook.book.name)
        super().__init__(f"What an agent sees of {name}", [a for a in AGENT_VIEW if a.show])
        self._bench = bench
        self._copy = copy
        self._counts = False
        self._cut = self._view.cut is not None
        self.text = ""
        self._figures: list[tuple[str, str]] = []
        self._left_out: list[tuple[str, str]] = []

    def contents(self) -> Iterable[Widget]:
        """Return what is shown, and the text."""
        return (Static(Content(""), id="agent-state"), Pane("agent-text"))

    def on_mount(self) -> None:
        """Show the text."""
        self.query_one(Pane).focus()
        self._show()

    def _show(self) -> None:
        """Have the text made that is asked for now; until it is there, the figures of the one before are dim."""
        name = "prompt-counts" if self._counts else "prompt"
        self.text = ""
        if self._figures:
            self._say((text, MUTED) for text, _ in self._figures)
        self._make(name, Choice(self._view.playbook.book.id, within_budget=self._cut))

    @work(thread=True, exclusive=True, group="agent", exit_on_error=False, description="prompt")
    def _make(self, name: str, choice: Choice) -> None:
        """Make what an export with the same options gives without what is held back, away from the keyboard."""
        worker = get_current_worker()
        try:
            whole = self._bench.exporter.render(name, choice)
            held = self._bench.safety.refusals(parts_of(whole.parsed))
            without = frozenset(place_of(one.record) for one in held)
            rendered = self._bench.exporter.render(name, replace(choice, without=without)) if held else whole
        except WorkbenchError as error:
            self.post_message(Unmade(str(error)))
            return
        if not worker.is_cancelled:
            self.post_message(Made(rendered, held, whole_file(rendered.text)))

    def on_unmade(self, event: Unmade) -> None:
        """Say why there is no text."""
        self.query_one("#agent-state", Static).update(body(event.problem, "$text-warning"))

    def on_made(self, event: Made) -> None:
        """Show the text, and what is not in it."""
        rendered, held = event.rendered, event.held
        self.text = text = rendered.text
        bullets = sum(b.state != "deprecated" for book in rendered.parsed.playbooks for b in book.bullets)
        flagged = sum(isinstance(one.record, Bullet) for one in held)
        gone = len(self._view.playbook.bullets) - bullets - flagged
        self._figures = [
            (f"{bullets_in(bullets)} · {number(len(text))} characters", "bold"),
            (f" · ≈ {number(tokens_of(text))} tokens", ""),
        ]
        self._left_out = _left_out(gone, flagged, len(held))
        self._say(self._figures)
        self.query_one(Pane).show(event.lines)

    def _say(self, figures: Iterable[tuple[str, str]]) -> None:
        """Say what is asked for now, with figures of a text and what is not in it."""
        parts = [*figures, (f" · {'with' if self._counts else 'without'} counts", MUTED)]
        if self._view.cut is not None:
            kept = f"the budget keeps {self._view.cut.share}"
            parts.append((f" · {kept if self._cut else 'whole, beyond the budget'}", MUTED))
        self.query_one("#agent-state", Static).update(assemble([*parts, *self._left_out]))

    def action_counts(self) -> None:
        """With counts, or without."""
        self._counts = not self._counts
        self._show()

    def action_cut(self) -> None:
        """The whole playbook, or what the budget keeps."""
        if self._view.cut is None:
            self.app.bell()
            return
        self._cut = not self._cut
        self._show()

    def action_copy(self) -> None:
        """Copy the text as it is shown, once it is."""
        if self.text:
            self._copy(self.text)
        else:
            self.app.bell()


def _left_out(gone: int, flagged: int, held: int) -> list[tuple[str, str]]:
    """Say how many bullets are not in the text, and why: over budget, flagged, or (of all held) a heading is."""
    parts: list[tuple[str, str]] = []
    if gone:
        parts.append((f"\n{bullets_in(gone)} not in it: deprecated, or beyond the budget.", "$text-warning"))
    export = key_of("playbook.export")
    if flagged:
        parts.append(
            (f"\n{FLAGGED} {bullets_in(flagged)} held back as flagged; {export} lets them out.", "$text-error")
        )
    if held > flagged:
        told = f"\n{FLAGGED} A heading is flagged: nothing is exported before {export} allows it."
        parts.append((told, "$text-error"))
    return parts
