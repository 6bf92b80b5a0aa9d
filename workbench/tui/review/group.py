"""The question before a marked group is decided of which some were never opened: their texts, to the end."""

from collections.abc import Iterable, Sequence
from typing import ClassVar

from textual.binding import BindingType
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Static

from workbench.core.review.proposal import Proposal
from workbench.core.stream.memory import Memory
from workbench.tui.app.actions import bindings
from workbench.tui.review.actions import GROUP
from workbench.tui.review.candidate import facts, name
from workbench.tui.review.rows import flags_in_words
from workbench.tui.widgets.content import MUTED, body
from workbench.tui.widgets.dialog import Dialog
from workbench.tui.widgets.keys import key_of
from workbench.tui.widgets.lists.reading_pane import ReadingPane

SHOWN = 1500
"""Characters of one text that are shown; the rest can be read where it is opened alone."""


HIGH = 0.65
"""Share of the screen's height that the texts take at most."""


class GroupDialog(Dialog[bool]):
    """Ask whether to decide the group; the result is True only for a yes after the end was in sight.

    `unopened` are the members that were never opened, each with the memory it is about. A short group fits the box,
    so its end is in sight at once.
    """

    BINDINGS: ClassVar[list[BindingType]] = bindings(GROUP)
    DEFAULT_CSS = """
    GroupDialog {
        & > .dialog { width: 110; }
        & .dialog--title { margin-bottom: 0; }
        & ReadingPane { height: auto; border: none; border-top: solid $panel; padding: 0; }
        & ReadingPane:focus { border: none; border-top: solid $accent; }
        & .group--state { height: 1; }
        & .dialog--keys { margin-top: 0; }
    }
    """

    def __init__(self, verb: str, group: int, unopened: Sequence[tuple[Proposal, Memory | None]]) -> None:
        super().__init__(f"{verb} {group}, {len(unopened)} of which you never opened?", GROUP)
        self._verb = verb.lower()
        self._group = group
        self._unopened = unopened
        self._seen = False

    def contents(self) -> Iterable[Widget]:
        """Return the texts and the line that says whether their end was in sight."""
        return (ReadingPane(id="group"), Static(Content(""), classes="group--state"))

    def on_mount(self) -> None:
        """Show the texts."""
        pane = self.query_one(ReadingPane)
        total = len(self._unopened)
        blocks = [_block(place, total, *one) for place, one in enumerate(self._unopened, 1)]
        pane.show(Content("\n\n").join(blocks))
        pane.focus()
        self.watch(pane, "scroll_y", self._look, init=False)
        self.call_after_refresh(self._look)

    def on_resize(self) -> None:
        """Look again where the end is."""
        self.query_one(ReadingPane).styles.height = "auto"
        self.call_after_refresh(self._look)

    def _look(self) -> None:
        pane = self.query_one(ReadingPane)
        if pane.styles.height is None or pane.styles.height.is_auto:
            pane.fit(HIGH)
            self.call_after_refresh(self._look)
        elif pane.at_end:
            self._seen = True
        self.query_one(".group--state", Static).update(self._state())

    def _state(self) -> Content:
        if self._seen:
            return Content.styled(f"You saw them all. y: {self._verb} {self._group}; one undo takes all back.", "bold")
        pane = self.query_one(ReadingPane)
        share = round(100 * pane.scroll_offset.y / max(1, pane.max_scroll_y))
        return Content.styled(f"{share} % seen. Read on to the end, then {key_of('group.yes')} holds.", MUTED)

    def action_yes(self) -> None:
        """Decide, once everything was in sight; before that, read on."""
        if self._seen:
            self.dismiss(True)
        else:
            self.action_on()

    def action_on(self) -> None:
        """Scroll a page down."""
        self.query_one(ReadingPane).action_page_down()

    def action_no(self) -> None:
        """Leave the group as it is."""
        self.dismiss(False)


def _block(place: int, total: int, proposal: Proposal, memory: Memory | None) -> Content:
    text = proposal.title if memory is None else memory.content
    head = Content.styled(f"{place} of {total}  ", "bold $text-accent")
    is_candidate = memory is not None and memory.id == proposal.id
    told = facts((name(proposal.id), "" if is_candidate else proposal.kind, f"by {proposal.actor}"))
    lines = [head + told]
    if not is_candidate:
        lines.append(body(proposal.title, "bold"))
    if proposal.flags:
        lines.append(flags_in_words(proposal.flags))
    lines.append(body(text[:SHOWN]))
    if len(text) > SHOWN:
        lines.append(Content.styled(f"… {len(text) - SHOWN} more characters", MUTED))
    return Content("\n").join(lines)
