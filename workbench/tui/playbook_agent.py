"""What an agent would actually see of a playbook: its prompt text, exactly, to look at and to copy."""

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import ClassVar

from textual.binding import BindingType
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Static

from workbench.bench.playbook import BookView
from workbench.core.playbook import Playbook
from workbench.core.tokens import estimated_tokens
from workbench.formats.model import Parsed
from workbench.formats.outlets import outlet
from workbench.tui.actions import bindings
from workbench.tui.content import MUTED, assemble
from workbench.tui.export_parts import Pane
from workbench.tui.figures import number
from workbench.tui.playbook_actions import AGENT_VIEW
from workbench.tui.playbook_preview import whole_file
from workbench.tui.widgets.dialog import Dialog


class AgentDialog(Dialog[None]):
    """The prompt text, with or without counts, whole or as far as the budget goes."""

    BINDINGS: ClassVar[list[BindingType]] = bindings(AGENT_VIEW)
    DEFAULT_CSS = """
    AgentDialog {
        & > .dialog { width: 94%; height: 94%; }
        &.-narrow > .dialog { width: 100%; height: 100%; }
        & .dialog--title, & .dialog--keys { margin: 0; }
        & #agent-state { height: auto; max-height: 3; margin-bottom: 1; }
        & LineView { height: 1fr; background: $surface; }
    }
    """

    def __init__(self, view: BookView, copy: Callable[[str], None]) -> None:
        super().__init__(f"What an agent sees of {view.playbook.book.name}", [a for a in AGENT_VIEW if a.show])
        self._view = view
        self._copy = copy
        self._counts = False
        self._cut = view.cut is not None

    def contents(self) -> Iterable[Widget]:
        """Return what is shown, and the text."""
        return (Static(Content(""), id="agent-state"), Pane("agent-text"))

    def on_mount(self) -> None:
        """Show the text."""
        self.query_one(Pane).focus()
        self._show()

    @property
    def text(self) -> str:
        """The prompt text as it is shown."""
        kind = outlet("prompt-counts" if self._counts else "prompt")
        return kind.write(Parsed(kind.name, playbooks=(self._playbook(),)), None)

    def _playbook(self) -> Playbook:
        whole, cut = self._view.playbook, self._view.cut
        if cut is None or not self._cut:
            return whole
        return replace(whole, bullets=tuple(b for b in whole.bullets if b.id in frozenset(cut.inside)))

    def _show(self) -> None:
        text, shown = self.text, self._playbook()
        bullets = sum(b.state != "deprecated" for b in shown.bullets)
        gone = len(self._view.playbook.bullets) - bullets
        parts = [
            (f"{number(bullets)} bullets · {number(len(text))} characters", "bold"),
            (f" · ≈ {number(estimated_tokens(len(text)))} tokens (characters ÷ 4)", ""),
            (f" · {'with' if self._counts else 'without'} counts", MUTED),
        ]
        if self._view.cut is not None:
            parts.append((f" · {'cut where the budget ends' if self._cut else 'whole, beyond the budget'}", MUTED))
        if gone:
            parts.append((f"\n{number(gone)} bullets are not in it (deprecated, or below the cut).", "$text-warning"))
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
