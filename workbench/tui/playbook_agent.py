"""What an agent would actually see of a playbook: its prompt text, exactly, to look at and to copy."""

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import ClassVar

from textual.binding import BindingType
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Static

from workbench.bench.leaving import parts_of
from workbench.bench.outgoing import Choice, Rendered
from workbench.bench.safety import Held
from workbench.bench.texts import place_of
from workbench.bench.workbench import Workbench
from workbench.core.playbook import Bullet
from workbench.core.tokens import estimated_tokens
from workbench.tui.actions import bindings
from workbench.tui.content import MUTED, assemble
from workbench.tui.export_parts import Pane
from workbench.tui.figures import number
from workbench.tui.flag_view import FLAGGED
from workbench.tui.playbook_actions import AGENT_VIEW
from workbench.tui.playbook_preview import whole_file
from workbench.tui.playbook_rows import bullets_in
from workbench.tui.widgets.dialog import Dialog


class AgentDialog(Dialog[None]):
    """The prompt text, with or without counts, whole or as far as the budget goes."""

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
        super().__init__(f"What an agent sees of {self._view.playbook.book.name}", [a for a in AGENT_VIEW if a.show])
        self._bench = bench
        self._copy = copy
        self._counts = False
        self._cut = self._view.cut is not None
        self.text = ""

    def contents(self) -> Iterable[Widget]:
        """Return what is shown, and the text."""
        return (Static(Content(""), id="agent-state"), Pane("agent-text"))

    def on_mount(self) -> None:
        """Show the text."""
        self.query_one(Pane).focus()
        self._show()

    def _rendered(self) -> tuple[Rendered, tuple[Held, ...]]:
        """Return what an export with the same options gives without what is held back, and what that is."""
        name = "prompt-counts" if self._counts else "prompt"
        choice = Choice(self._view.playbook.book.id, within_budget=self._cut)
        whole = self._bench.exporter.render(name, choice)
        held = self._bench.safety.refusals(parts_of(whole.parsed))
        without = frozenset(place_of(one.record) for one in held)
        return (self._bench.exporter.render(name, replace(choice, without=without)) if held else whole), held

    def _show(self) -> None:
        rendered, held = self._rendered()
        self.text = text = rendered.text
        bullets = sum(b.state != "deprecated" for book in rendered.parsed.playbooks for b in book.bullets)
        flagged = sum(isinstance(one.record, Bullet) for one in held)
        gone = len(self._view.playbook.bullets) - bullets - flagged
        parts = [
            (f"{bullets_in(bullets)} · {number(len(text))} characters", "bold"),
            (f" ÷ 4 ≈ {number(estimated_tokens(len(text)))} tokens", ""),
            (f" · {'with' if self._counts else 'without'} counts", MUTED),
        ]
        if self._view.cut is not None:
            parts.append((f" · {'cut where the budget ends' if self._cut else 'whole, beyond the budget'}", MUTED))
        if gone:
            parts.append((f"\n{bullets_in(gone)} not in it: deprecated, or below the cut.", "$text-warning"))
        if flagged:
            parts.append((f"\n{FLAGGED} {bullets_in(flagged)} held back as flagged; X lets them out.", "$text-error"))
        if len(held) > flagged:
            parts.append((f"\n{FLAGGED} A heading is flagged: nothing is exported before X allows it.", "$text-error"))
        self.query_one("#agent-state", Static).update(assemble(parts))
        self.query_one(Pane).show(whole_file(text))

    def action_counts(self) -> None:
        """With counts, or without."""
        self._counts = not self._counts
        self._show()

    def action_cut(self) -> None:
        """The whole playbook, or what the budget leaves."""
        if self._view.cut is None:
            self.app.bell()
            return
        self._cut = not self._cut
        self._show()

    def action_copy(self) -> None:
        """Copy the text as it is shown."""
        self._copy(self.text)
