"""The history of one record: who changed what, when, from what to what."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import ClassVar

from textual.binding import BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Static

from workbench.bench.history import FieldStep, Step
from workbench.core.text import printable
from workbench.tui.actions import bindings
from workbench.tui.areas import CANCEL
from workbench.tui.content import MUTED, assemble, word_diff
from workbench.tui.figures import absolute, ago
from workbench.tui.widgets.dialog import Dialog

_SHORT = 60
"""Longest value that is shown as "before → after"; longer texts are shown as a word diff."""


class HistoryDialog(Dialog[None]):
    """Every transaction that touched one record, newest first."""

    BINDINGS: ClassVar[list[BindingType]] = bindings((CANCEL,))
    DEFAULT_CSS = """
    HistoryDialog {
        & > .dialog { width: 100; }
        & VerticalScroll { height: auto; max-height: 30; scrollbar-size-vertical: 1; }
    }
    """

    def __init__(self, name: str, steps: Sequence[Step], now: datetime) -> None:
        super().__init__(f"History of {name}", (CANCEL,))
        self._steps = steps
        self._now = now

    def contents(self) -> Iterable[Widget]:
        """Return the scrolled list of steps."""
        text = Content("\n").join([part for step in self._steps for part in _step(step, self._now)])
        return (VerticalScroll(Static(text or Content("Nothing has changed it yet."))),)


def _step(step: Step, now: datetime) -> list[Content]:
    head = assemble(
        [
            (f"{ago(step.at, now):>6}  ", MUTED),
            (printable(step.label), "bold"),
            (f"  {printable(step.actor)} · {absolute(step.at)} · revision {step.rev}", MUTED),
        ]
    )
    if step.kind == "edit" and len(step.fields) > 1 and all(f.before is None for f in step.fields):
        created = assemble([("        ", ""), (f"first stored, {len(step.fields)} fields", MUTED)])
        return [head, created, Content("")]
    return [head, *(_field(f) for f in step.fields), Content("")]


def _field(step: FieldStep) -> Content:
    name = assemble([("        ", ""), (f"{printable(step.field)}: ", MUTED)])
    old, new = _shown(step.before), _shown(step.after)
    if max(len(old), len(new)) > _SHORT:
        return name + word_diff(old, new)
    arrow = f"{printable(old)} → {printable(new)}" if step.before is not None else printable(new)
    return name + Content(arrow)


def _shown(value: object) -> str:
    if value is None:
        return "–"
    return value if isinstance(value, str) else repr(value)
