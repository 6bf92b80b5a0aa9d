"""Asking Claude for one text for a group of bullets; nothing is written until a person takes it."""

from typing import TYPE_CHECKING

from textual.content import Content
from textual.dom import DOMNode
from textual.message import Message
from textual.worker import get_current_worker

from workbench.core.errors import WorkbenchError
from workbench.services.duplicates.bullet_groups import BulletGroup
from workbench.services.duplicates.wording import BookWording
from workbench.tui.widgets.content import MUTED, body
from workbench.tui.widgets.figures import number
from workbench.tui.widgets.keys import key_of

if TYPE_CHECKING:
    from workbench.core.reflection.reflector import Step


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


class AskingClaude:
    """Asks for a text, one group at a time, away from the keyboard; `node` is told by `Streamed` and `Worded`.

    `coming` is what Claude has written so far, `None` while nobody asks.
    """

    def __init__(self, node: DOMNode, wording: BookWording) -> None:
        self._node = node
        self._wording = wording
        self.coming: str | None = None

    def begin(self, group: BulletGroup) -> None:
        """Ask for one text that holds everything of all."""
        self.coming = ""
        self._node.run_worker(
            lambda: self._ask(group),
            group="wording",
            description="wording",
            exit_on_error=False,
            exclusive=True,
            thread=True,
        )

    def stop(self) -> None:
        """Let go of the reply; what came is told as an error."""
        self._node.workers.cancel_group(self._node, "wording")

    def _ask(self, group: BulletGroup) -> None:
        worker = get_current_worker()

        def tell(step: "Step") -> None:
            if step.text and not worker.is_cancelled:
                self._node.post_message(Streamed(step.text))

        try:
            texts = [b.content for b in group.bullets]
            text, used = self._wording.ask(texts, tell, lambda: worker.is_cancelled)
            message = Worded(
                group,
                text,
                f"Claude used {number(used)} tokens. {key_of('twins.merge')} merges with its text, "
                f"{key_of('twins.edit')} edits it first.",
            )
        except WorkbenchError as error:
            message = Worded(group, "", str(error))
        self._node.post_message(message)


def what_is_sent(wording: BookWording, group: BulletGroup) -> Content:
    """Return what would leave this machine; raises the error that says why nothing can."""
    preview = wording.preview([b.content for b in group.bullets])
    return Content("\n\n").join([Content.styled(preview.remark, MUTED), *map(body, preview.texts)])
