"""The editor that parts a candidate: it counts the parts while they are written."""

from collections.abc import Callable

from workbench.bench.review.rewriting import check_parts, parts_of
from workbench.core.errors import WorkbenchError
from workbench.core.stream.memory import MAX_CONTENT
from workbench.core.text import one_line
from workbench.tui.app.drafting import Drafting
from workbench.tui.widgets.content import MUTED
from workbench.tui.widgets.texts.editor import TextEditor

HOW = "A blank line, or a line of ---, begins the next part."


class SplitEditor(TextEditor):
    """Edit the parts of a text; `save` takes them as one text, or says why it cannot."""

    def __init__(self, title: str, text: str, save: Callable[[str], str | None], draft: Drafting | None = None) -> None:
        super().__init__(title, text, limit=10 * MAX_CONTENT, check=lambda t: _problem(t) or save(t), draft=draft)

    def _show_state(self) -> None:
        parts = parts_of(self._area.text)
        if len(parts) < 2:
            self._say(f"1 part. {HOW}", MUTED)
            return
        opened = " · ".join(f"{n} {one_line(part, 24)}" for n, part in enumerate(parts[:4], 1))
        more = f" · {len(parts) - 4} more" if len(parts) > 4 else ""
        self._say(f"{len(parts)} parts, each with all citations: {opened}{more}", "$text-accent")


def _problem(text: str) -> str | None:
    try:
        check_parts(parts_of(text))
    except WorkbenchError as error:
        return str(error)
    return None
