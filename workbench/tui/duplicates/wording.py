"""Asking Claude for one text for a group of bullets; nothing is written until a person takes it."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from textual import work
from textual.content import Content
from textual.message import Message
from textual.worker import get_current_worker

from workbench.bench.duplicates.bullet_groups import BulletGroup
from workbench.bench.open import Workbench
from workbench.core.errors import WorkbenchError
from workbench.tui.app.actions import Action
from workbench.tui.widgets.content import MUTED, body
from workbench.tui.widgets.dialog import Dialog
from workbench.tui.widgets.figures import number
from workbench.tui.widgets.lists.reading_pane import ReadingPane

if TYPE_CHECKING:
    from workbench.reflect.model import Step


class Worded(Message):
    """Claude wrote one text for a group, or `said` says why not."""

    def __init__(self, group: BulletGroup, text: str, said: str) -> None:
        super().__init__()
        self.group = group
        self.text = text
        self.said = said


class Streamed(Message):
    """A piece of a reply came in."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.text = text


class AskingClaude(Dialog[None]):
    """A dialog over groups of bullets for which Claude may propose a text.

    `proposed` is another text than the kept bullet's own; `coming` is what Claude has written so far, `None` while
    nobody asks.
    """

    def __init__(self, title: str, offered: Iterable[Action], bench: Workbench) -> None:
        super().__init__(title, offered)
        self.bench = bench
        self.proposed: str | None = None
        self.coming: str | None = None

    @property
    def group(self) -> BulletGroup | None:
        """The group under the cursor."""
        raise NotImplementedError

    def say(self, content: Content) -> None:
        """Say something above the list."""
        raise NotImplementedError

    def show_text(self, *, keep_place: bool = False) -> None:
        """Show the group under the cursor."""
        raise NotImplementedError

    def action_preview(self) -> None:
        """Show what would leave this machine."""
        from workbench.tui.review.impact import ImpactDialog

        if self.group is None:
            return
        try:
            preview = self.bench.wording.preview([b.content for b in self.group.bullets])
        except WorkbenchError as error:
            self.say(body(str(error), "$text-warning"))
            return
        text = Content("\n\n").join([Content.styled(preview.remark, MUTED), *map(body, preview.texts)])
        self.app.push_screen(ImpactDialog("What would be sent", text))

    def action_ask(self) -> None:
        """Let Claude write one text that holds everything of all."""
        if self.bench.wording.missing:
            self.say(body(f"{self.bench.wording.missing} Until then, e writes the text by hand.", "$text-warning"))
        elif self.group is not None and self.coming is None:
            self.coming = ""
            self.say(Content.styled("Asking Claude for one text … esc stops.", MUTED))
            self._ask(self.group)

    @work(thread=True, exclusive=True, group="wording", exit_on_error=False, description="wording")
    def _ask(self, group: BulletGroup) -> None:
        worker = get_current_worker()

        def tell(step: "Step") -> None:
            if step.text and not worker.is_cancelled:
                self.post_message(Streamed(step.text))

        try:
            texts = [b.content for b in group.bullets]
            text, used = self.bench.wording.ask(texts, tell, lambda: worker.is_cancelled)
            message = Worded(
                group, text, f"Claude used {number(used)} tokens. m merges with its text, e edits it first."
            )
        except WorkbenchError as error:
            message = Worded(group, "", str(error))
        self.post_message(message)

    def on_streamed(self, event: Streamed) -> None:
        """Show the reply as it comes in."""
        if self.coming is not None:
            self.coming += event.text
            head = Content.styled("Claude writes …\n", "bold")
            self.query_one(ReadingPane).show(head + body(self.coming), keep_place=True)

    def on_worded(self, event: Worded) -> None:
        """Show the proposed text; nothing is written until somebody merges."""
        self.coming = None
        if event.text and self.group is event.group:
            self.proposed = event.text
        self.show_text()
        self.say(body(event.said, MUTED if event.text else "$text-warning"))
