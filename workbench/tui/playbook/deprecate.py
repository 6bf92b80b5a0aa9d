"""Deprecating bullets: why, and which one replaces them, found by its words."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from textual import on
from textual.binding import BindingType
from textual.widget import Widget
from textual.widgets import Input, Static

from workbench.core.playbook.book import Bullet
from workbench.core.text import one_line, printable
from workbench.tui.app.actions import bindings
from workbench.tui.app.saving import Preview
from workbench.tui.app.waiting import change
from workbench.tui.playbook.actions import DEPRECATE
from workbench.tui.widgets.content import MUTED, body, find_words, highlight
from workbench.tui.widgets.dialog import Dialog
from workbench.tui.widgets.lists.line_view import LineView
from workbench.tui.widgets.lists.row import Cell
from workbench.tui.widgets.texts.safe_input import SafeInput

LEAST = 60.0
"""How well (0–100) a text must fit what is typed, when it does not hold the words themselves."""


@dataclass(frozen=True, slots=True)
class Deprecation:
    """Why, and the id of the bullet that replaces them; both may be empty."""

    reason: str
    replacement: str


Take = Callable[[Deprecation], None]


class DeprecateDialog(Dialog[Deprecation | None]):
    """Ask for a reason and a replacement. `masked` goes over texts before they are shown, `preview` over the reason.

    `take` does what changes the store while this is still open, so that nothing typed is lost when it cannot.
    """

    BINDINGS: ClassVar[list[BindingType]] = bindings(DEPRECATE)
    DEFAULT_CSS = """
    DeprecateDialog {
        & > .dialog { width: 110; }
        & SafeInput { background: $background; }
        & Static.label { color: $text-muted; }
        & LineView { height: 9; & > .line--cursor {
            background: $block-cursor-background; color: $block-cursor-foreground; } }
    }
    """

    def __init__(
        self, title: str, others: Sequence[Bullet], masked: dict[str, str], preview: Preview, take: Take
    ) -> None:
        enter = replace(DEPRECATE[0], id="deprecate.enter")  # the field has the key
        super().__init__(title, (enter, DEPRECATE[-1]))
        self._take = take
        self._others = others
        self._masked = masked
        self._preview = preview

    def contents(self) -> Iterable[Widget]:
        """Return the reason, the search and the bullets."""
        rows: LineView[Bullet | None] = LineView(self._draw, lambda bullet: bullet.id if bullet else "")
        rows.can_focus = False
        return (
            Static("Reason (optional)", id="why-label", classes="label"),
            SafeInput(placeholder="out of date since v2", id="why"),
            Static(id="instead-label", classes="label"),
            SafeInput(
                placeholder="tab goes here: words of the other bullet, or its id, to find it; ↑ ↓ choose", id="instead"
            ),
            rows,
        )

    def on_mount(self) -> None:
        """List every other bullet, the cursor on none of them."""
        self.query_one("#why").focus()
        self._rows.set_rows((None, *self._others), cursor=0)

    @property
    def _rows(self) -> LineView[Bullet | None]:
        return self.query_one(LineView)

    @property
    def _words(self) -> list[str]:
        return self.query_one("#instead", SafeInput).value.split()

    def _draw(self, bullet: Bullet | None, width: int) -> list[Cell]:
        if bullet is None:
            return [Cell("none", 0, MUTED)]
        text = printable(" ".join(self._masked[bullet.id][: 8 * width + 64].split()))
        return [Cell(printable(bullet.id[:18]), 12, MUTED), Cell(highlight(text, find_words(text, self._words)))]

    @on(Input.Changed, "#instead")
    def _narrow(self) -> None:
        self._rows.set_rows((None, *fitting(self._others, self._words)), cursor=0)

    @on(LineView.Highlighted)
    def _name_chosen(self) -> None:
        chosen = self._rows.current
        said = f"“{one_line(self._masked[chosen.id], 48)}”" if chosen else "none"
        self.query_one("#instead-label", Static).update(body(f"Replaced by (optional): {said}"))

    @on(Input.Submitted)
    @on(LineView.Opened)
    def action_do(self) -> None:
        """Take the reason and the bullet under the cursor."""
        chosen = self._rows.current
        if (first := self._preview(self.query_one("#why", SafeInput).value.strip())) is not None:
            self.query_one("#why-label", Static).update(body(first, "$text-warning"))
            return
        asked = Deprecation(self._preview.text, chosen.id if chosen else "")

        def take() -> None:
            self._take(asked)
            self.dismiss(asked)

        change(self, take)

    def action_up(self) -> None:
        """One bullet up."""
        self._rows.action_up()

    def action_down(self) -> None:
        """One bullet down."""
        self._rows.action_down()


def fitting(bullets: Sequence[Bullet], words: Sequence[str]) -> list[Bullet]:
    """Return the bullets that hold every word, then those that come close to them, the best first."""
    if not words:
        return list(bullets)
    from rapidfuzz import fuzz

    wanted = [word.casefold() for word in words]
    texts = {b.id: f"{b.id} {b.content[:2000]}".casefold() for b in bullets}
    sure = [b for b in bullets if all(word in texts[b.id] for word in wanted)]
    close = [(fuzz.partial_token_set_ratio(" ".join(wanted), texts[b.id]), b) for b in bullets if b not in sure]
    scored = [(fuzz.WRatio(" ".join(wanted), texts[b.id]), b) for score, b in close if score >= LEAST]
    return sure + [b for score, b in sorted(scored, key=lambda pair: -pair[0]) if score >= LEAST]
